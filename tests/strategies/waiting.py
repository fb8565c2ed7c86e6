"""Random cycles whose rules and delayed effects ask others about other times, and late items.

What others say matters to such rules long before or after it happens, and where a delayed effect
asks, long after its attempt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.engine.comparing import at

from horai.oracle.ec.session import OracleItem

# Closed to a cycle, and to others: `c` asks what `m` is, `m` what `c` is, and `k` and `j` nobody.
BASE = """
    initiatedAt(m(X)=V, T) :- happensAt(put(X, V), T).
    initiatedAt(m(X)=3, T) :- happensAt(sing(X), T), holdsAt(c(X)=_, T).
    initiatedAt(k(X)=V, T) :- happensAt(tune(X, V), T).
    terminatedAt(k(X)=V, T) :- happensAt(hush(X), T).
    initiatedAt(j(X)=true, T) :- happensAt(put(X, _), T).
    terminatedAt(c(X)=V, T) :- happensAt(start(m(X)=V), T).
    initiatedAt(c(X)=9, T) :- happensAt(hush(X), T), holdsAt(m(X)=3, T).
    often(X) :- happensAt(tune(X, _), _).
"""
ASKED = ("happensAt(tune(X, _), {u})", "holdsAt(k(X)=2, {u})", "happensAt(start(k(X)=_), {u})")
TIMES = ("U is T - {n}", "U is T + {n}", "U < T, T < U + {n}", "T < U, U < T + {n}", "U > T", "")
RULES = (
    "initiatedAt(c(X)=V, T) :- happensAt(start(m(X)=V), T), {c}.",
    "initiatedAt(c(X)=V, T) :- happensAt(o(X, V), T). "
    "happensAt(o(X, V), T) :- happensAt(start(m(X)=V), T), {c}.",
    "initiatedAt(c(X)=V, T) :- happensAt(put(X, _), T), holdsAt(m(X)=V, T), {c}.",
    "fi(m(X)=V, m(X)=5, {r}) :- holdsAt(j(X)=_, T), {c}. fi(m(X)=5, m(X)=4, {n}).",
    "fi(m(X)=V, c(X)=V, {r}) :- holdsAt(j(X)=_, T), {c}.",
    "ft(m(X)=_, {r}) :- holdsAt(c(X)=_, T), {c}.",
    "fi(m(X)=V, m(X)=5, R) :- holdsAt(k(X)=V2, T), R is {r} + V2, {c}.",
    "ft(m(X)=_, {r}) :- often(X).",
)


class LateRun(NamedTuple):
    """Rules, items, query times, and a window."""

    text: str
    items: list[OracleItem]
    queries: list[int]
    window: int | None


@st.composite
def _condition(draw: Draw) -> str:
    when = draw(st.sampled_from(TIMES)).format(n=draw(st.integers(1, 25)))
    asked = draw(st.sampled_from(ASKED)).format(u="U" if when else "T")
    together = ", ".join(filter(None, (asked, when)))
    return f"\\+ ({together})" if draw(st.booleans()) else together


@st.composite
def late_runs(draw: Draw) -> LateRun:
    """One or two such rules, and items of which many are late."""
    rules = draw(st.lists(st.sampled_from(RULES), min_size=1, max_size=2, unique=True))
    numbers = st.integers(1, 25)
    text = BASE + "\n".join(
        rule.format(c=draw(_condition()), r=draw(numbers), n=draw(numbers)) for rule in rules
    )
    items = []
    for _ in range(draw(st.integers(3, 9))):
        what = draw(
            st.sampled_from(("put({},1)", "put({},2)", "tune({},2)", "sing({})", "hush({})"))
        )
        time = draw(st.integers(1, 40))
        arrival = time + draw(st.sampled_from((0, 0, 7, 15, 30)))
        items.append(at(what.format(draw(st.sampled_from("xxy"))), time, arrival))
        if draw(st.integers(0, 5)) == 5:
            gone = arrival + draw(st.integers(0, 20))
            items.append(replace(items[-1], arrival=gone, retract=True))
    window = draw(st.sampled_from((None, 31, 45)))
    return LateRun(text, items, list(range(5, 71, draw(st.sampled_from((5, 8))))), window)
