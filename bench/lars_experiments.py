"""The experiments of Ticker's evaluation: tables B.1 to B.13, each a list of configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from generators.lars import FORMS, Story, basic, content, reach, strategy
from generators.lars_static import Static, Window, static

SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
SIZES = (1, 5, 10, 50, 100, 500)
SIZES_0 = (0, *SIZES)
TWO = ("t some", "# some")
MANY = (1, 2, 4, 8, 16, 32, 64)


class Configuration(NamedTuple):
    """A row of a table: what is fixed and what varies, and how to make it."""

    form: str
    varied: str
    size: int  # of windows
    story: Callable[[int], Story]
    static: Callable[[], Static]


class Table(NamedTuple):
    """A table of the thesis."""

    title: str
    rows: list[Configuration]
    engines: tuple[str, ...] = ("plan", "asp", "tms")


def of_basic(form: str, varied: str, n: int, k: int, p: float) -> Configuration:
    """A row about BASIC."""
    window = Window("w", "sig", 1, form, k)
    body = "w(X,T)" if "@" in form else "w(X)"
    rules = f"a(X) :- g(X), {body}. g(1..{n})."
    return Configuration(
        form,
        varied,
        k,
        lambda points: basic(form, n, k, p, points),
        lambda: static(rules, [window]),
    )


def of_reach(form: str, varied: str, n: int, k: int, p: float) -> Configuration:
    """A row about REACH."""
    body = "w(X,Y,T)" if "@" in form else "w(X,Y)"
    rules = (
        f"reach(X,Y) :- edge(X,Y), {body}, X<Y. reach(X,Z) :- reach(X,Y), reach(Y,Z), X<Y, Y<Z. "
        + " ".join(f"edge({i},{i + 1})." for i in range(n))
    )
    window = Window("w", "sig", 2, form, k)
    return Configuration(
        form,
        varied,
        k,
        lambda points: reach(form, n, k, p, points),
        lambda: static(rules, [window]),
    )


_LEVELS = """
nMax(V) :- value(V), value(V2), V2 > V. max(V) :- value(V), not nMax(V).
third(V) :- value(V), max(M), V = M/3.
upper(V) :- value(V), third(X), value(Y), Y = 2*X, Y < V.
lower(V) :- value(V), third(X), V <= X. middle(V) :- value(V), not upper(V), not lower(V).
high_at(T) :- w(V,T), upper(V). mid_at(T) :- w(V,T), middle(V). low_at(T) :- w(V,T), lower(V).
specific :- lfu. specific :- lru. specific :- fifo. random :- not specific.
"""


def of_strategy(varied: str, n: int, k: int, p: float) -> Configuration:
    """A row about STRATEGY."""
    windows = [Window("w", "alpha", 1, "t@", k)]
    names = (("lfu", "high"), ("lru", "mid"), ("fifo", "low"))
    windows += [Window(name, signal, 0, "t always", k) for name, signal in names]
    rules = f"{_LEVELS} value(1..{n})."
    return Configuration(
        f"n={n}",
        varied,
        k,
        lambda points: strategy(n, k, p, points),
        lambda: static(rules, windows),
    )


_CONTENT = """
need(I,N) :- item(I), node(N), w1(I,N). avail(I,N) :- item(I), node(N), w2(I,N).
src(I,N,M) :- need(I,N), not avail(I,N), avail(I,M), N != M.
getFrom(I,N,M) :- src(I,N,M), not dism(I,N,M). dism(I,N,M) :- node(M), getFrom(I,N,M2), M != M2.
dism(I,N,M) :- src(I,N,M), src(I,N,M2), worseThan(M,M2).
worseThan(N,N2) :- minQ(N,Q), minQ(N2,Q2), N != N2, Q < Q2.
minQ(N,Q) :- node(N), qLev(Q), w3(N,Q), not nMinQ(N,Q).
nMinQ(N,Q) :- node(N), qLev(Q), qLev(Q2), w3(N,Q), w3(N,Q2), Q2 < Q. qLev(1..5).
"""


def of_content(varied: str, n: int, i: int, k: int) -> Configuration:
    """A row about CONTENT."""
    names = (("w1", "req"), ("w2", "cache"), ("w3", "qual"))
    windows = [Window(name, signal, 2, "t some", k) for name, signal in names]
    rules = f"{_CONTENT} node(1..{n}). item(1..{i})."
    return Configuration(
        f"i={i}", varied, k, lambda points: content(n, i, k, points), lambda: static(rules, windows)
    )


def tables(p: float = 0.1) -> dict[str, Table]:
    """All tables by name; p is that of STRATEGY, which the thesis does not tell."""

    def ways(forms: tuple[str, ...] = tuple(FORMS)) -> Iterator[str]:
        return iter(forms)

    solver = ("asp", "tms")
    return {
        "B.1": Table(
            "BASIC n=1, k=50", [of_basic(f, f"p={p_}", 1, 50, p_) for f in ways() for p_ in SHARES]
        ),
        "B.2": Table(
            "BASIC n=32, k=50",
            [of_basic(f, f"p={p_}", 32, 50, p_) for f in ways() for p_ in SHARES],
        ),
        "B.3": Table(
            "BASIC n=1, p=.5", [of_basic(f, f"k={k}", 1, k, 0.5) for f in ways() for k in SIZES]
        ),
        "B.4": Table(
            "BASIC n=32, p=.5", [of_basic(f, f"k={k}", 32, k, 0.5) for f in ways() for k in SIZES]
        ),
        "B.5": Table(
            "BASIC n=32, p=.01", [of_basic(f, f"k={k}", 32, k, 0.01) for f in TWO for k in SIZES]
        ),
        "B.6": Table(
            "BASIC k=50, p=.5", [of_basic(f, f"n={n}", n, 50, 0.5) for f in TWO for n in MANY]
        ),
        "B.7": Table(
            "REACH n=8, k=50", [of_reach(f, f"p={p_}", 8, 50, p_) for f in ways() for p_ in SHARES]
        ),
        "B.8": Table(
            "REACH n=8, p=.5", [of_reach(f, f"k={k}", 8, k, 0.5) for f in ways() for k in SIZES]
        ),
        "B.9": Table(
            "REACH n=32, p=.5", [of_reach(f, f"k={k}", 32, k, 0.5) for f in TWO for k in SIZES]
        ),
        "B.10": Table(
            "REACH k=50, p=.5", [of_reach(f, f"n={n}", n, 50, 0.5) for f in TWO for n in MANY]
        ),
        "B.11": Table(
            f"STRATEGY p={p}",
            [of_strategy(f"k={k}", n, k, p) for n in (3, 9, 30, 90) for k in SIZES_0],
        ),
        "B.12": Table(
            "CONTENT n=10",
            [of_content(f"k={k}", 10, i, k) for i in (4, 8, 16, 32, 64) for k in SIZES_0],
            solver,
        ),
        "B.13": Table(
            "CONTENT n=20",
            [of_content(f"k={k}", 20, i, k) for i in (4, 8, 16, 32, 64) for k in SIZES_0],
            solver,
        ),
    }
