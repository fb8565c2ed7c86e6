"""A changelog is exactly the difference of answers, and all changes together are the final answer.

Random descriptions over random streams with late items, items that are too late, and retractions,
on both engines. The slow tests try thousands more.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.api.running import KINDS, any_run, rules_of, run_it
from tests.weights import examples
from tests.whole import WHOLE

import horai
from horai.io import AnswerRow

Row = tuple[object, ...]
ENGINES = WHOLE


def plain(rows: Iterable[AnswerRow]) -> set[Row]:
    """Rows without what a changelog says besides; none may be there twice."""
    listed = [
        (row.kind, row.name, *map(_strict, (*row.args, row.value)), row.start, row.end, row.time)
        for row in rows
    ]
    found: set[Row] = set(listed)
    assert len(found) == len(listed)
    return found


def _strict(term: object) -> tuple[str, object]:
    """1 and 1.0 are different terms, and so are an atom and a text."""
    return type(term).__name__, term


def split(rows: Iterable[AnswerRow]) -> tuple[set[Row], set[Row]]:
    """What is taken back, and what is new."""
    listed = list(rows)
    return plain(r for r in listed if r.op == "-"), plain(r for r in listed if r.op == "+")


def added_up(rows: Iterable[AnswerRow]) -> set[Row]:
    """All changes in their order: at one query time what is taken back comes first."""
    found: set[Row] = set()
    by_query: dict[int | None, list[AnswerRow]] = {}
    for row in rows:
        by_query.setdefault(row.query, []).append(row)
    for some in by_query.values():
        gone, new = split(some)
        found = (found - gone) | new
    return found


# --- the laws ------------------------------------------------------------------------------------


def changes_lead_from_answer_to_answer(result: horai.Result) -> None:
    """Only what was there is taken back, only what was not is new, and then nothing is missing."""
    before: set[Row] = set()
    for answer in result.answers:
        gone, new = split(answer.changes)
        assert gone <= before
        assert not new & before
        assert not gone & new
        before = (before - gone) | new
        assert before == plain(answer.everything)
        assert {row.query for row in answer.changes} <= {answer.query}
    event(f"{min(len(before), 5)} rows")


def what_leaves_the_window_is_not_taken_back(result: horai.Result) -> None:
    """An interval or event that no longer shows in the window, but still is so, has not changed."""
    seen: set[Row] = set()
    for answer in result.answers:
        shown, everything = plain(answer.rows()), plain(answer.everything)
        gone, _ = split(answer.changes)
        slid = (seen - shown) & everything
        assert not slid & gone
        assert shown <= everything
        seen = shown
        event("slides out" if slid else "all stays")


def the_sum_of_all_changes_is_final(result: horai.Result, changes: horai.Result) -> None:
    """Also when nothing else is kept; and it says how many answers were revised."""
    rows = changes.rows()
    assert rows == result.changelog
    assert added_up(rows) == plain(result.rows("final"))
    taken_back = sum(row.op == "-" for row in rows)
    assert result.metrics.run.revised == changes.metrics.run.revised == taken_back
    event(f"{min(taken_back, 5)} revised")


def all_laws_hold(data: st.DataObject, kind: str, engine: str) -> None:
    """All laws for one random run."""
    run = any_run(data, kind)
    rules = rules_of(run)
    setting = {"engine": engine, "include_input": data.draw(st.booleans())}
    result = run_it(run, rules, **setting)
    changes = run_it(run, rules, answers="changelog", **setting)
    assert (result is None) == (changes is None)
    if result is None or changes is None:
        event("refused")
        return
    changes_lead_from_answer_to_answer(result)
    what_leaves_the_window_is_not_taken_back(result)
    the_sum_of_all_changes_is_final(result, changes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
@examples("heavy")
@given(data=st.data())
def test_laws(kind: str, engine: str, data: st.DataObject) -> None:
    all_laws_hold(data, kind, engine)


# --- an example ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interval_that_has_slid_out_of_the_window_stays(engine: str) -> None:
    rules = horai.loads(
        "initiatedAt(on=true, T) :- happensAt(up, T).\n"
        "terminatedAt(on=true, T) :- happensAt(down, T)."
    )
    session = rules.session(start=0, window=10, engine=engine)
    told = [
        [(row.op, row.start, row.end) for row in session.advance(query, rows).changes]
        for query, rows in [
            (10, ["up|3|3"]),
            (20, ["down|15|12"]),  # the open interval was no more than what was known by then
            (30, []),  # it leaves the window now: it is final, and nothing is said
            (40, ["up|35|33", "down|36|36"]),
            (50, ["-down|48|36", "down|48|42"]),  # 36 and the window (40,50]: too late
        ]
    ]
    assert told == [
        [("+", 4, None)],
        [("-", 4, None), ("+", 4, 13)],
        [],
        [("+", 34, 37)],
        [],
    ]
    result = session.finish()
    assert added_up(result.changelog) == plain(result.rows("final"))
    assert result.holds_for("on=true") == [(4, 13), (34, 37)]
