"""Answers as rows: what is written to files, in one order whatever the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, get_args

from horai.engines import EngineAnswer
from horai.errors import UsageError
from horai.io import AnswerRow
from horai.lang.terms import Term
from horai.values import name_and_args, plain

Answers = Literal["final", "windows", "changelog"]
ANSWERS: tuple[Answers, ...] = get_args(Answers)

# Does an event (False) or a fluent (True) belong into the answer?
Wanted = Callable[[Term, bool], bool]


def answers_named(name: str) -> Answers:
    """One of the forms of answer, or a kind error."""
    for known in ANSWERS:
        if name == known:
            return known
    raise UsageError(f"there is no form of answer {name!r}", f"the forms are {', '.join(ANSWERS)}")


def final_rows(answer: EngineAnswer, wanted: Wanted) -> list[AnswerRow]:
    """Everything the run knows at this query time."""
    return sorted(_rows(answer.all_spans, answer.all_events, None, wanted), key=sort_key)


def window_rows(answer: EngineAnswer, wanted: Wanted) -> list[AnswerRow]:
    """What holds and happens in the window of this query time."""
    return sorted(_rows(answer.spans, answer.events, answer.query, wanted), key=sort_key)


def change_rows(answer: EngineAnswer, wanted: Wanted) -> list[AnswerRow]:
    """How the run's answer differs from the one before."""
    query = answer.query
    changes = [
        *(("-", span) for span in answer.gone_spans),
        *(("+", span) for span in answer.new_spans),
    ]
    rows = [
        _span_row(fluent, value, start, end, query, op)
        for op, (fluent, value, (start, end)) in changes
        if wanted(fluent, True)
    ]
    happenings = [
        *(("-", happening) for happening in answer.gone_events),
        *(("+", happening) for happening in answer.new_events),
    ]
    rows += [
        _event_row(event, time, query, op)
        for op, (event, time) in happenings
        if wanted(event, False)
    ]
    return sorted(rows, key=sort_key)


def _rows(
    spans: dict[tuple[Term, Term], list[tuple[int, int | float]]],
    events: dict[Term, list[int]],
    query: int | None,
    wanted: Wanted,
) -> Iterator[AnswerRow]:
    for (fluent, value), intervals in spans.items():
        if wanted(fluent, True):
            for start, end in intervals:
                yield _span_row(fluent, value, start, end, query)
    for event, times in events.items():
        if wanted(event, False):
            for time in times:
                yield _event_row(event, time, query)


def _span_row(
    fluent: Term,
    value: Term,
    start: int,
    end: int | float,
    query: int | None,
    op: str | None = None,
) -> AnswerRow:
    name, args = name_and_args(fluent)
    until = None if end == float("inf") else int(end)
    return AnswerRow("fluent", name, args, plain(value), start, until, None, query, op)


def _event_row(event: Term, time: int, query: int | None, op: str | None = None) -> AnswerRow:
    name, args = name_and_args(event)
    return AnswerRow("event", name, args, None, None, None, time, query, op)


SortKey = tuple[object, ...]


def sort_key(row: AnswerRow) -> SortKey:
    """Query time, kind, name, arguments, value, start; what is taken back before what is new."""
    start = row.start if row.start is not None else row.time
    return (
        0 if row.query is None else row.query,
        row.kind,
        row.name,
        tuple(_value_key(arg) for arg in row.args),
        _value_key("" if row.value is None else row.value),
        0 if start is None else start,
        row.op == "+",
        float("inf") if row.end is None else row.end,
    )


def _value_key(value: str | int | float) -> tuple[int, float, str, str]:
    """Numbers come before text; what looks alike but differs stays apart."""
    if isinstance(value, int | float):
        return (0, value, "", type(value).__name__)
    return (1, 0, str(value), type(value).__name__)
