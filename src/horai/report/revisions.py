"""Revisions: intervals of earlier answers that late rows have changed.

An interval that was open at a query time, or ended with the run so far, goes on as time does; that
it is longer at the next query time is no revision.
"""

from __future__ import annotations

from typing import Any

from horai.errors import UsageError
from horai.io import AnswerRow, AnswerTable, to_source
from horai.io.terms import Term
from horai.report.pack import Pack
from horai.result import Result
from horai.runtime.lars.answers import PointAnswers

MOST = 2_000
"""Of more revisions the first ones are listed; all are counted."""
Key = tuple[int | None, str, tuple[str, ...], str | None]


def packed_revisions(pack: Pack, result: Result, base: int) -> dict[str, Any]:
    """How many there are, and what became of what."""
    try:
        listed = [] if _only_goes_on(result) else _changes(result.table("changelog"))
    except UsageError as gone:
        return {"known": False, "reason": gone.problem}
    queries = sorted({row.query for row in listed if row.query is not None})
    before = dict(zip(queries[1:], queries, strict=False))
    came: dict[Key, list[AnswerRow]] = {}
    for row in listed:
        if row.op == "+":
            came.setdefault(_key(row), []).append(row)
    found, went_on = [], 0
    for row in listed:
        if row.op != "-":
            continue
        now = came.get(_key(row), [])
        known = before.get(row.query or 0, row.query or 0)
        if any(new.start == row.start and _later(row, known) and _later(new, known) for new in now):
            went_on += 1
            continue
        found.append((row, [new for new in now if _meets(row, new)]))
    return {
        "known": True,
        "number": len(found),
        "wentOn": went_on,
        "rows": [_told(pack, row, now, base) for row, now in found[:MOST]],
    }


def _only_goes_on(result: Result) -> bool:
    """Does a LARS program give each query time one answer, which is never revised?"""
    raws = [answer.raw for answer in result.steps]
    return any(isinstance(raw, PointAnswers) and not raw.revisable for raw in raws)


def _changes(changes: AnswerTable) -> list[AnswerRow]:
    """The rows of changes, if anything was taken back at all."""
    gone = [block for block in changes.blocks if block.op is not None]
    if not any("-" in block.op.to_pylist() for block in gone if block.op is not None):
        return []
    return [row for row in changes.rows() if row.kind in ("fluent", "atom", "event")]


def _key(row: AnswerRow) -> Key:
    value = None if row.value is None else to_source(row.value)
    return (row.query, row.name, tuple(map(to_source, row.args)), value)


def _later(row: AnswerRow, query: int) -> bool:
    return row.kind != "event" and (row.end is None or row.end > query)


def _meets(old: AnswerRow, new: AnswerRow) -> bool:
    if old.kind == "event":
        return False
    ends = [float("inf") if row.end is None else row.end for row in (old, new)]
    starts = [row.start or 0 for row in (old, new)]
    return starts[0] < ends[1] and starts[1] < ends[0]


def _told(pack: Pack, row: AnswerRow, now: list[AnswerRow], base: int) -> dict[str, Any]:
    return {
        "query": (row.arrived or row.query or 0) - base,
        "text": pack.text(text_of(row.name, row.args, row.value)),
        "was": _span(row, base),
        "now": [_span(new, base) for new in now],
    }


def _span(row: AnswerRow, base: int) -> list[int | None]:
    start = row.time if row.start is None else row.start
    point = (row.query or 0) if start is None else start
    if row.kind == "event" or start is None:
        return [point - base, point + 1 - base]
    return [point - base, None if row.end is None else row.end - base]


def text_of(name: str, args: Any, value: Term | None) -> str:
    """A fluent and its value, an atom or an event, as rules write it."""
    listed = ",".join(map(to_source, args))
    told = f"{name}({listed})" if args else name
    return told if value is None else f"{told}={to_source(value)}"
