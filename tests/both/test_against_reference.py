"""Both languages together say what the definition says, whatever the engine and the query times."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.both.definition import settle
from tests.both.pairs import END, Pair, known_items, pairs
from tests.weights import examples

import horai
from horai.io import AnswerRow
from horai.lang.core.diagnostics import RulesError
from horai.lang.core.terms import children, functor
from horai.lang.lars.clock import Clock
from horai.lang.lars.syntax import Atom
from horai.lang.lars.walk import in_points
from horai.rules import Rules
from horai.runtime.values import plain

Row = tuple[str, str, tuple[object, ...], object, int, float]


def loaded(pair: Pair) -> Rules:
    """The pair, unless its rules do not fit together."""
    try:
        both = horai.combine(
            horai.loads(pair.description), horai.loads(pair.program, language="lars")
        )
        errors = [finding for finding in both.check() if finding.severity == "error"]
    except RulesError:
        errors = [None]  # type: ignore[list-item]
    assume(not errors)
    return both


def expected(both: Rules, pair: Pair, query: int) -> set[Row]:
    """All rows as the reference knows them at a query time."""
    ordered = known_items(pair, query)
    program = in_points(both.program, Clock.parse("1s"))
    found = settle(both.description, program, ordered, 0, query)
    rows: set[Row] = set()
    for (fluent, value), spans in found.description.all_spans.items():
        key = functor(fluent)
        assert key is not None
        if both.is_output(*key, True):
            args = tuple(map(plain, children(fluent)))
            rows |= {("fluent", key[0], args, plain(value), s, float(e)) for s, e in spans}
    for event, times in found.description.all_events.items():
        key = functor(event)
        assert key is not None
        if both.is_output(*key, False):
            args = tuple(map(plain, children(event)))
            rows |= {("event", key[0], args, None, time, float(time)) for time in times}
    points: dict[Atom, list[int]] = {}
    for time, atoms in found.atoms.items():
        for atom in atoms:
            points.setdefault(atom, []).append(time)
    for atom, times in points.items():
        args = tuple(map(plain, atom.args))
        rows |= {("atom", atom.name, args, None, s, float(e)) for s, e in spelled(sorted(times))}
    return rows


def spelled(times: list[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for time in times:
        if found and found[-1][1] == time:
            found[-1] = (found[-1][0], time + 1)
        else:
            found.append((time, time + 1))
    return found


def rows_of(rows: list[AnswerRow]) -> set[Row]:
    return {
        (
            row.kind,
            row.name,
            tuple(row.args),
            row.value,
            row.time if row.start is None else row.start,  # type: ignore[misc]
            float(row.time if row.time is not None else "inf" if row.end is None else row.end),
        )
        for row in rows
    }


@examples("heavy")
@given(pairs(), st.sampled_from([None, 1, 2, 4]), st.sampled_from(["auto", "asp", "reference"]))
def test_every_engine_says_what_the_definition_says(
    pair: Pair, step: int | None, engine: str
) -> None:
    both = loaded(pair)
    result = both.run(pair.lines(), start=0, end=END, step=step, engine=engine)
    assert rows_of(result.rows()) == expected(both, pair, END)


@examples("heavy")
@given(pairs(), st.sampled_from([1, 2, 3]))
def test_at_every_query_time_all_that_is_known_counts(pair: Pair, step: int) -> None:
    both = loaded(pair)
    result = both.run(pair.lines(), start=0, end=END, step=step)
    for answer in result.answers:
        assert rows_of(answer.rows("windows")) == expected(both, pair, answer.query)


@examples("normal")
@given(pairs(), st.sampled_from([1, 2, 3]), st.sampled_from(["auto", "tms"]))
def test_changes_add_up_to_the_answer(pair: Pair, step: int, engine: str) -> None:
    both = loaded(pair)
    try:
        result = both.run(pair.lines(), start=0, end=END, step=step, engine=engine)
    except horai.UsageError:
        assume(False)
    held: set[tuple[object, ...]] = set()
    for row in result.rows("changelog"):
        told = (row.kind, row.name, tuple(row.args), row.value, row.start, row.end, row.time)
        assert (told in held) == (row.op == "-")
        held = held - {told} if row.op == "-" else held | {told}
    final = {
        (r.kind, r.name, tuple(r.args), r.value, r.start, r.end, r.time) for r in result.rows()
    }
    assert held == final


@examples("normal")
@given(pairs(late=False), st.sampled_from([1, 2, 3]), st.integers(3, 9))
def test_a_window_costs_nothing_when_nothing_is_late(pair: Pair, step: int, window: int) -> None:
    both = loaded(pair)
    whole = both.run(pair.lines(), start=0, end=END)
    slid = both.run(pair.lines(), start=0, end=END, step=step, window=window)
    if both.classification.features & {"future"}:
        return  # what is final cannot look ahead any more
    assert rows_of(slid.rows()) == rows_of(whole.rows())


@pytest.mark.slow
@examples("normal")
@given(
    pairs(),
    st.sampled_from([None, 1, 2, 3, 4, 5]),
    st.sampled_from(["auto", "plan", "asp", "reference"]),
)
def test_many_pairs(pair: Pair, step: int | None, engine: str) -> None:
    both = loaded(pair)
    result = both.run(pair.lines(), start=0, end=END, step=step, engine=engine)
    assert rows_of(result.rows()) == expected(both, pair, END)
    for answer in result.answers:
        assert rows_of(answer.rows("windows")) == expected(both, pair, answer.query)
