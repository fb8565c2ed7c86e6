"""Why an answer was revised: the late or retracted row that changed it between two query times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from horai.errors import UsageError, counted
from horai.explain.proof import Place, Proof, RowChange
from horai.explain.trial import tried
from horai.io import AnswerRow
from horai.lang.core.terms import Term, children
from horai.runtime.inputs import row_text
from horai.runtime.values import plain

if TYPE_CHECKING:
    from horai.result import Result

MOST_NAMED = 5
"""So many rows are named where none of them alone has changed the answer."""


class Turn(NamedTuple):
    """A query time at which it became known that something is so, or is not; and the one before."""

    query: int
    before: int
    is_so: bool


def why_revised(result: Result, text: str, entity: Term, value: Term | None, t: int) -> Proof:
    """Which rows have changed what was known about a time, once it had been answered."""
    turns = _turns(result, entity, value, t)
    if not turns:
        problem = f"what was said of {text} at {result.prover.time(t)} was not revised"
        raise UsageError(problem, "ask why it is so, or with --not why it is not")
    time = result.prover.time
    node = Proof("revised", f"{text} at {time(t)} was revised", time=time)
    told = tuple(_told(result, text, (entity, value, t), turn) for turn in turns)
    return replace(node, premises=told)


def _turns(result: Result, entity: Term, value: Term | None, t: int) -> list[Turn]:
    """When the answer about a time has changed, after the first one."""
    name = getattr(entity, "name", "")
    wanted = (name, tuple(map(plain, children(entity))), None if value is None else plain(value))
    changes: dict[int, list[AnswerRow]] = {}
    for row in result.changelog:
        if (row.name, tuple(row.args), row.value) == wanted and _covers(row, t):
            changes.setdefault(row.query or 0, []).append(row)
    turns: list[Turn] = []
    is_so = False
    queries = [answer.query for answer in result.answers]
    for number, query in enumerate(queries):
        ops = [row.op for row in changes.get(query, ())]
        now = ops[-1] == "+" if ops else is_so  # what is taken back comes before what is new
        if now != is_so and number and queries[number - 1] >= t:
            turns.append(Turn(query, queries[number - 1], now))
        is_so = now
    return turns


def _covers(row: AnswerRow, t: int) -> bool:
    if row.kind == "event":
        return row.time == t
    return row.start is not None and row.start <= t and (row.end is None or t < row.end)


def _told(result: Result, text: str, about: tuple[Term, Term | None, int], turn: Turn) -> Proof:
    """A change of the answer, with the rows behind it."""
    (entity, value, t), time = about, result.prover.time

    def still(rows: Sequence[Place]) -> bool:
        """Would it be as before without the rows?"""
        changes = [RowChange("-", str(row)) for row in rows]
        other = tried(result, changes, end=turn.query).prover
        return other.is_so(entity, value, t) != turn.is_so

    found = _few(_candidates(result, turn), still)
    verb = "is so" if turn.is_so else "is not so"
    node = Proof("revised", f"{text} at {time(t)} {verb} since the query time {time(turn.query)}")
    named = found[:MOST_NAMED]
    premises = tuple(Proof("item", row.text, row=row, note=note) for row, note in named)
    more = len(found) - MOST_NAMED
    note = "no late row is behind it: it became known as time passed" if not found else ""
    if more > 0:
        note = f"and {counted(more, 'row')} more, all together"
    return replace(node, premises=premises, note=note)


def _candidates(result: Result, turn: Turn) -> dict[Place, str]:
    """The rows that came late, or took something back, between two query times."""
    found: dict[Place, str] = {}
    for table in result.basis.items():
        columns = {name: table.table.column(name).to_numpy() for name in ("op", "arrival", "start")}
        came = (columns["arrival"] > turn.before) & (columns["arrival"] <= turn.query)
        rows = (came & ((columns["op"] < 0) | (columns["start"] <= turn.before))).nonzero()[0]
        for item in replace(table, table=table.table.take(rows)).items():
            what = "a retraction" if item.op < 0 else "late"
            note = f"{what}: arrived at {result.prover.time(item.arrival)}"
            found[Place(item.file, item.line, row_text(item))] = note
    return found


def _few(
    candidates: dict[Place, str], still: Callable[[Sequence[Place]], bool]
) -> list[tuple[Place, str]]:
    """Few rows without which it would be as before, found by halves; none if they do not matter."""
    rows = list(candidates)
    if not rows or not still(rows):
        return []
    while len(rows) > 1:
        halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
        half = next((one for one in halves if still(one)), None)
        if half is None:
            break  # it takes rows of both
        rows = half
    return [(row, candidates[row]) for row in rows]
