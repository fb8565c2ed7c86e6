"""A step with few items is taken without tables, and nobody can tell."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai import io

RULES = """
initiatedAt(at(V)=A, T) :- happensAt(enters(V, A), T).
terminatedAt(at(V)=A, T) :- happensAt(leaves(V, A), T).
initiatedAt(fast(V)=true, T) :- happensAt(moves(V, S), T), S > 5, holdsAt(on(V)=true, T).
terminatedAt(fast(V)=true, T) :- happensAt(moves(V, S), T), S =< 5.
happensAt(seen(V, W), T) :- happensAt(meets(V, W), T), holdsAt(at(V)=port, T).
holdsFor(busy(V)=low, I) :- holdsFor(at(V)=port, P), holdsFor(on(V)=true, O), union_all([P, O], I).
holdsFor(busy(V)=high, I) :-
    holdsFor(at(V)=port, P), holdsFor(on(V)=true, O), intersect_all([P, O], I).
initiatedAt(near(pair(V, W))=true, T) :- happensAt(meets(V, W), T).
initiatedAt(said(V)=X, T) :- happensAt(says(V, X), T), X \\= nothing.
"""
VESSELS = st.sampled_from(["a", "b", "Big One", "7", "2.5", "-", "é"])
SPEEDS = st.sampled_from(["3", "5", "5.5", "-7", "9.25", "1e3", "09", "fast", ""])
PLACES = st.sampled_from(["port", "sea", "Port", "12"])
TIMES = st.integers(1, 60)


def line(name: str, time: int, delay: int, *rest: object) -> str:
    """A row that arrives some time after it happens, or before."""
    return "|".join(map(str, (name, max(time + delay, 0), time, *rest)))


DELAYS = st.sampled_from([0, 0, 0, 0, 0, 3, 25, -10])
EVENTS = st.one_of(
    st.builds(line, st.sampled_from(["enters", "leaves"]), TIMES, DELAYS, VESSELS, PLACES),
    st.builds(line, st.just("moves"), TIMES, DELAYS, VESSELS, SPEEDS),
    st.builds(line, st.just("says"), TIMES, DELAYS, VESSELS, SPEEDS),
    st.builds(line, st.just("meets"), TIMES, DELAYS, VESSELS, VESSELS),
)
FLUENTS = st.builds(
    lambda time, delay, length, vessel: line("on", time, delay, length, "true", vessel),
    *(TIMES, DELAYS, st.sampled_from(["inf", "61", "40", "5", "x"]), VESSELS),
)
ODD = st.sampled_from(['moves|4|4|"a"|3', "unknown|4|4|a", "moves|4|x|a|3", "", "moves|4|4|a|3\n"])
LINES = st.lists(st.one_of(EVENTS, EVENTS, EVENTS, EVENTS, FLUENTS, ODD), max_size=12)


def batches(lines: list[str], back: set[int]) -> list[list[str]]:
    """Rows step by step; some are taken back by the step after."""
    found: list[list[str]] = [[] for _ in range(8)]
    for number, text in enumerate(lines):
        fields = text.split("|")
        arrival = int(fields[1]) if len(fields) > 2 and fields[1].isdigit() else 0
        step = min(arrival // 10, 6)
        found[step].append(text)
        if number in back and text.count("|") > 2:
            found[step + 1].append("-" + text)
    return found


def as_items(lines: list[str], session: Any) -> list[Any]:
    """The rows as items, if all can be read."""
    read = session._read(lines)
    return [item for table in read for item in table.items()]


@pytest.mark.parametrize("form", ["lines", "items"])
@examples("light")
@given(st.data())
def test_few_items_are_taken_like_many(form: str, data: st.DataObject) -> None:
    """Rows of changes, dead letters, metrics and warnings are those of columns."""
    lines = data.draw(LINES)
    back = data.draw(st.sets(st.integers(0, 11), max_size=2))
    rules = horai.loads(RULES)
    window = data.draw(st.sampled_from([15, 40]))
    few, many = (
        rules.session(window=window, answers="changelog", engine="compiled") for _ in range(2)
    )
    for step, batch in enumerate(batches(lines, back), 1):
        read = many._read(batch)
        given: list[Any] = batch if form == "lines" else as_items(batch, rules.session())
        one, other = few.advance(10 * step, given), many.take(10 * step, read)
        assert one.changes == other.rows("changelog")
        assert one.rows("changelog") == other.rows("changelog")
    ends = few.finish(), many.finish()
    assert ends[0].rows() == ends[1].rows()
    if form == "lines":  # what is wrong with rows is told when they are read
        assert ends[0].metrics == ends[1].metrics
        assert ends[0].dead_letters == ends[1].dead_letters
        assert ends[0].warnings == ends[1].warnings


def test_few_items_are_known_to_those_that_come_as_columns() -> None:
    """A retraction finds what came before in either way."""
    rules = horai.loads(RULES)
    session = rules.session(window=100, answers="changelog", engine="compiled")
    session.advance(10, ["enters|3|3|a|port"])
    session.advance(20, ["moves|12|12|a|3"])
    gone = session.advance(30, ["-enters|21|3|a|port"])
    assert [(row.op, row.name, row.start) for row in gone.changes if row.name == "at"] == [
        ("-", "at", 4)
    ]
    assert not session.dead_letters


def test_spellings_of_few_items_are_told_with_their_rows() -> None:
    rules = horai.loads("initiatedAt(f(V)=true, T) :- happensAt(e(V, work), T).")
    session = rules.session(window=100, answers="changelog", engine="compiled")
    for step in range(1, 4):
        session.advance(10 * step, [f"e|{10 * step}|{10 * step}|a|home", f"e|{step}|{step}|a|Work"])
    (warning,) = session.result().warnings
    assert "first in <memory>:2" in str(warning.note)


def test_what_few_items_brought_can_be_asked_in_every_form() -> None:
    rules = horai.loads(RULES)
    session = rules.session(window=100, answers="changelog", engine="compiled")
    first = session.advance(
        10, [io.Item(1, "enters", "event", "points", 3, 3, None, None, ("a", 7))]
    )
    assert [row.value for row in first.changes] == [7]
    assert [row.value for row in first.spans] == [7]
    second = session.advance(20, [])
    assert second.changes == [] and first.rows("changelog") == first.changes
