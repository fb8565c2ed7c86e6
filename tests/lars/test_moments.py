"""Points that stand for all others show when a formula holds; there are few on long timelines."""

from __future__ import annotations

from bisect import bisect_right

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from tests.lars.story import formula, stream

from horai.lang.core.terms import Int
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
from horai.oracle.lars.entailment import Structure, moments
from horai.oracle.lars.stream import Stream, select

ATOMS = st.sampled_from([lars.Atom("a"), lars.Atom("b")])
DURATIONS = (st.integers(0, 6) | st.none()).map(Duration)
POINTS = st.integers(0, 16).map(Int)
COUNTS = st.integers(0, 3)
PATTERNS = st.just((lars.Pattern("a"),))
ONLY_A = lars.FilterWindow((lars.Pattern("a"),))
WINDOWS: SearchStrategy[lars.Window] = st.one_of(
    st.builds(lars.TimeWindow, DURATIONS, DURATIONS),
    st.builds(lars.TimeWindow, DURATIONS, DURATIONS, st.just(Duration(3))),
    st.builds(lars.TupleWindow, COUNTS, COUNTS),
    st.builds(lars.PartitionWindow, COUNTS, COUNTS, PATTERNS),
    st.builds(lars.FilterWindow, PATTERNS),
    st.builds(lars.IntervalWindow, POINTS, POINTS),
)


def _larger(inner: SearchStrategy[lars.Formula]) -> SearchStrategy[lars.Formula]:
    pairs = st.tuples(inner, inner)
    element = inner.map(lambda one: lars.Element((Int(1),), (one,)))
    return st.one_of(
        inner.map(lars.Not),
        pairs.map(lars.And),
        pairs.map(lars.Or),
        st.builds(lars.Implies, inner, inner),
        inner.map(lars.Some),
        inner.map(lars.Always),
        st.builds(lars.At, POINTS, inner),
        st.builds(lars.Within, WINDOWS, inner),
        inner.map(lars.Reset),
        element.map(lambda one: lars.Aggregate("count", (one,), ">", Int(0))),
    )


FORMULAS: SearchStrategy[lars.Formula] = st.recursive(ATOMS, _larger, max_leaves=4)
PAIRS = st.tuples(st.integers(1, 15), ATOMS)
STREAMS = st.builds(
    lambda signals, derived: Stream(1, 15, tuple(sorted(signals, key=lambda p: p[0])), derived),
    st.lists(PAIRS, max_size=4),
    st.frozensets(PAIRS, max_size=3),
)


@given(FORMULAS, STREAMS, WINDOWS, st.integers(1, 15))
@example(formula("a [+3]"), stream(1, 15, {9: "a"}), ONLY_A, 9)
@example(formula("@9 true [3]"), stream(1, 15, {}), ONLY_A, 9)
@example(formula("always a [3]"), stream(1, 15, {2: "a", 3: "a", 4: "a", 5: "a"}), ONLY_A, 9)
@example(formula("always a [+3]"), stream(1, 15, {13: "a", 14: "a", 15: "a"}), ONLY_A, 9)
@example(formula("reset a [3]"), stream(1, 15, {2: "a", 9: "b"}), lars.TimeWindow(Duration(5)), 9)
def test_a_formula_holds_as_at_the_last_moment_before(
    asked: lars.Formula, data: Stream, window: lars.Window, time: int
) -> None:
    structure, part = Structure(data), (select(window, data, time),)
    known = sorted(moments(asked, part, structure.whole))
    for point in part[0].timeline:
        last = known[bisect_right(known, point) - 1]
        assert structure.holds(asked, part, point) == structure.holds(asked, part, last)


@pytest.mark.parametrize(
    "text",
    ["a", "not a [500]", "a [500, +300]", "count { 1 : always a [7] } > 0", "a [3 #]", "@9 b [5]"],
)
def test_there_are_few_on_a_long_timeline(text: str) -> None:
    data = stream(0, 10**15, {7: "a", 10**9: "a", 10**14: "b"})
    structure = Structure(data)
    assert len(list(moments(formula(text), (data,), structure.whole))) < 50
    assert structure.entails(lars.Some(lars.Or((formula(text), lars.Not(formula(text))))), 0)


def test_windows_in_windows_and_ones_that_hop_are_looked_at_everywhere() -> None:
    data = stream(0, 99, {7: "a"})
    for text in ("[9] always a [3]", "a [9 hop 3]"):
        assert moments(formula(text), (data,), (data,)) == range(100)
