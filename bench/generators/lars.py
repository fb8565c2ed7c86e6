"""Programs and streams to measure LARS engines with, after the evaluation of Ticker.

H. Beck, Expressive Rule-based Stream Reasoning (TU Wien, 2018), section 7.4: BASIC asks for a
signal in one window, REACH for paths whose edges have been seen, STRATEGY for how to cache, CONTENT
for the best source of an item. All are deterministic by seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from horai.lang.core.terms import Constant, Int
from horai.lang.lars.syntax import Atom

FORMS = {
    "t@": "@T {} [{}]",
    "t some": "{} [{}]",
    "t always": "always {} [{}]",
    "# @": "@T {} [{} #]",
    "# some": "{} [{} #]",
    "# always": "always {} [{} #]",
}


class Story(NamedTuple):
    """A program, and what comes at each point of time, in order."""

    text: str
    ticks: list[list[Atom]]


def basic(form: str, n: int, k: int, p: float, points: int, seed: int = 1) -> Story:
    """Each of n signals comes at each point with probability p."""
    facts = " ".join(f"g({i})." for i in range(1, n + 1))
    rule = f"a(X) :- g(X), {FORMS[form].format('sig(X)', k)}."
    atoms = [Atom("sig", (Int(i),)) for i in range(1, n + 1)]
    return Story(f"{rule}\n{facts}\n", list(_chosen(atoms, p, points, seed)))


def reach(form: str, n: int, k: int, p: float, points: int, seed: int = 1) -> Story:
    """A path of n edges, each of which is seen at each point with probability p."""
    facts = " ".join(f"edge({i},{i + 1})." for i in range(n))
    seen = FORMS[form].format("sig(X,Y)", k)
    rules = (
        f"reach(X,Y) :- edge(X,Y), {seen}, X < Y.\n"
        "reach(X,Z) :- reach(X,Y), reach(Y,Z), X < Y, Y < Z.\n"
    )
    atoms = [Atom("sig", (Int(i), Int(i + 1))) for i in range(n)]
    return Story(f"{rules}{facts}\n", list(_chosen(atoms, p, points, seed)))


def strategy(n: int, k: int, p: float, points: int, seed: int = 1) -> Story:
    """A value that moves by one with probability p, and what its last values advise."""
    text = f"""
nMax(V) :- value(V), value(V2), V2 > V.
max(V) :- value(V), not nMax(V).
third(V) :- value(V), max(M), V = M / 3.
upper(V) :- value(V), third(X), value(Y), Y = 2 * X, Y < V.
lower(V) :- value(V), third(X), V <= X.
middle(V) :- value(V), not upper(V), not lower(V).
@T high :- @T alpha(V) [{k}], upper(V).
@T mid :- @T alpha(V) [{k}], middle(V).
@T low :- @T alpha(V) [{k}], lower(V).
lfu :- always high [{k}].
lru :- always mid [{k}].
fifo :- always low [{k}].
specific :- lfu.
specific :- lru.
specific :- fifo.
random :- not specific.
value(1..{n}).
"""
    return Story(text, list(_moving(n, p, points, Random(seed))))


def content(n: int, i: int, k: int, points: int, seed: int = 1) -> Story:
    """Nodes that ask for items, hold items, and have a quality that moves."""
    text = f"""
need(I,N) :- item(I), node(N), req(I,N) [{k}].
avail(I,N) :- item(I), node(N), cache(I,N) [{k}].
src(I,N,M) :- need(I,N), not avail(I,N), avail(I,M), N != M.
getFrom(I,N,M) :- src(I,N,M), not dism(I,N,M).
dism(I,N,M) :- node(M), getFrom(I,N,M2), M != M2.
dism(I,N,M) :- src(I,N,M), src(I,N,M2), worseThan(M,M2).
worseThan(N,N2) :- minQ(N,Q), minQ(N2,Q2), N != N2, Q < Q2.
minQ(N,Q) :- node(N), qLev(Q), qual(N,Q) [{k}], not nMinQ(N,Q).
nMinQ(N,Q) :- node(N), qLev(Q), qLev(Q2), qual(N,Q) [{k}], qual(N,Q2) [{k}], Q2 < Q.
node(1..{n}). item(1..{i}). qLev(1..5).
"""
    return Story(text, list(_content(n, i, points, Random(seed))))


def diamond(n: int, points: int, seed: int = 1) -> Story:
    """Two ways of two edges between nodes, by 200 triples a point; one of them is still told."""
    text = """
d(A,B,C,D) :- t(A,p,B) [20], t(A,q,C) [20], t(B,p,D) [20], t(C,q,D) [20], B != C.
kept(A,B) :- always t(A,p,B) [1], d(A,B,_,_).
"""
    random = Random(seed)
    kinds = (Constant("p"), Constant("q"))

    def triple() -> Atom:
        ends = Int(random.randrange(n)), Int(random.randrange(n))
        return Atom("t", (ends[0], random.choice(kinds), ends[1]))

    return Story(text, [[triple() for _ in range(200)] for _ in range(points)])


def _chosen(atoms: list[Atom], p: float, points: int, seed: int) -> Iterator[list[Atom]]:
    random = Random(seed)
    for _ in range(points):
        yield [atom for atom in atoms if random.random() < p]


def _moving(n: int, p: float, points: int, random: Random) -> Iterator[list[Atom]]:
    value = random.randint(1, n)
    for _ in range(points):
        if random.random() < p:
            value = _step(value, n, random)
        yield [Atom("alpha", (Int(value),))]


def _step(value: int, most: int, random: Random) -> int:
    """One more or one less; at either end there is one way only."""
    step = random.choice((-1, 1))
    return value + step if 1 <= value + step <= most else value - step


def _content(n: int, i: int, points: int, random: Random) -> Iterator[list[Atom]]:
    levels = [random.randint(1, 5) for _ in range(n)]
    for _ in range(points):
        here: list[Atom] = []
        for node in range(n):
            if random.random() < 0.5:
                levels[node] = _step(levels[node], 5, random)
                here.append(Atom("qual", (Int(node + 1), Int(levels[node]))))
            if random.random() < 0.5:
                here.append(Atom("cache", (Int(random.randint(1, i)), Int(node + 1))))
        here.append(Atom("req", (Int(random.randint(1, i)), Int(random.randint(1, n)))))
        yield here
