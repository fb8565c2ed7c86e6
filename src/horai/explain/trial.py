"""A run with other rows or other rules, and what that changes.

An engine that remembers everything takes other rows in and works out only what they change: it is
the same whether a row is there from the start or comes last. With a window it is not, nor are late
rows and retractions among the items the same; then, and with other rules, everything runs again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai import io
from horai.errors import UsageError
from horai.explain.proof import Place, RowChange
from horai.lang.ec.errors import EngineError
from horai.runtime.inputs import letters_of, read_input, row_text
from horai.runtime.lars.signals import MEMORY

if TYPE_CHECKING:
    from horai.engine.core.session import CompiledSession
    from horai.result import Result
    from horai.rules import Rules

_AS_BEFORE = (
    *(
        "start",
        "window",
        "step",
        "tick",
        "allen_memory",
        "engine",
        "unit",
        "time_in",
    ),
    *("clock", "allowed_lateness", "models", "reasoning", "least_change"),
)


class Trials:
    """A run that takes in some rows more and less, and is put back before the next ones."""

    def __init__(self, result: Result, core: CompiledSession) -> None:
        self._result, self._core = result, core
        self._before: list[io.ItemTable] = []  # what puts the run back

    def tried(self, changes: Collection[RowChange]) -> Result | None:
        """The run with rows added or left out; None if they are not for an engine that has ended.

        Raises `EngineError` where the rules then make no answer possible.
        """
        result, core = self._result, self._core
        items, gone, added = _changed(result, changes)
        if not all(map(self._counts, (*gone, *added))):
            return None
        if self._before:
            core.revise(self._before)
        self._before = [*map(_taken_back, added), *gone]
        raw = core.revise([*map(_taken_back, gone), *added])
        return type(result)(
            result.rules,
            [result.steps[-1].instead(raw)],
            [*result.dead_letters, *letters_of(raw.dropped)],
            unit=result.unit,
            engine=result.engine,
            basis=result.basis._replace(items=lambda: items, core=None),
        )

    def _counts(self, table: io.ItemTable) -> bool:
        """Are these plain rows, about times of the run, that have come by its end?"""
        op, arrival, start = (table.table.column(name) for name in ("op", "arrival", "start"))
        first, last = self._core.start, self._core.query
        return bool(
            pc.min(op).as_py() > 0
            and pc.max(arrival).as_py() <= last
            and pc.min(start).as_py() > first
            and pc.max(start).as_py() <= last
        )


def trials_of(result: Result) -> Trials | None:
    """The run as one that takes other rows in; None where that is not the same as to run again."""
    settings, items, core = result.basis
    if result.rules.language != "ec" or result.engine != "compiled" or len(result.steps) != 1:
        return None
    if settings.window is not None or settings.allen_memory is not None:
        return None
    tables = [table for table in items() if len(table)]
    if any(pc.min(table.table.column("op")).as_py() < 0 for table in tables):
        return None
    if core is None:
        from horai.runtime.compiled import CompiledEngine

        core = CompiledEngine(
            result.rules.description,
            start=settings.start or 0,
            tick=settings.tick,
            predicates=result.rules.predicates,
        )
        if not settings.include_input:
            core.hide_input()
        core.advance(result.last.query, tables)
    return Trials(result, core)


def tried(
    result: Result,
    changes: Collection[RowChange],
    rules: Rules | None = None,
    end: int | None = None,
) -> Result:
    """The run, over the same time or up to an earlier end, with rows added or left out."""
    found = _revised(result, changes) if rules is None and end is None else None
    return found or _again(result, changes, rules, end)


def _revised(result: Result, changes: Collection[RowChange]) -> Result | None:
    """The run with other rows, by an engine that works out only what they change."""
    try:
        return None if result.trials is None else result.trials.tried(changes)
    except EngineError:  # the engine is of no use any more; to run again says what is wrong
        result.trials = None
        return None


def _again(
    result: Result, changes: Collection[RowChange], rules: Rules | None, end: int | None
) -> Result:
    items = tuple(_changed(result, changes).items)
    known = {
        name: value for name, value in result.basis.settings.to_dict().items() if name in _AS_BEFORE
    }
    end = result.extent[1] if end is None else end
    return (rules or result.rules).run(io.Narrative(items, []), **known, end=end)


class Changed(NamedTuple):
    """The items of a run with rows added or left out, and these rows."""

    items: list[io.ItemTable]
    gone: list[io.ItemTable]
    added: list[io.ItemTable]


def _changed(result: Result, changes: Collection[RowChange]) -> Changed:
    names = [change.row for change in changes if change.op == "-"]
    added = list(_read(result, [change.row for change in changes if change.op == "+"]))
    kept, gone = [], []
    for table in result.basis.items():
        rows = _named(table, names)
        if not rows:
            kept.append(table)
            continue
        left = np.ones(len(table), bool)
        left[rows] = False
        gone.append(table.where(~left))
        if left.any():
            kept.append(table.where(left))
    return Changed([*kept, *added], gone, added)


def _taken_back(table: io.ItemTable) -> io.ItemTable:
    """The retractions of some items."""
    names = table.table.schema.names
    op = pa.array(np.full(len(table), -1), table.table.schema.field("op").type)
    field = table.table.schema.field("op")
    return replace(table, table=table.table.set_column(names.index("op"), field, op))


def _read(result: Result, rows: Sequence[str]) -> Sequence[io.ItemTable]:
    """Rows that come in addition."""
    for row in rows:
        if "|" not in row:  # else it would be taken for the name of a file
            hint = "write it as a narrative has it: name|arrival|time|argument"
            raise UsageError(f"{row or 'an empty text'} is no row", hint)
    if not rows:
        return ()
    read = read_input(rows, result.rules.schema, result.basis.settings.scale)
    if read.dead_letters:
        letter = read.dead_letters[0]
        raise UsageError(f"the row {letter.text} cannot be read: {letter.reason}")
    return read.tables


def _named(table: io.ItemTable, names: Sequence[str]) -> list[int]:
    """The rows that are named by their text or as FILE:LINE: looked at by line and time first."""
    found = np.zeros(len(table), bool)
    column = {name: table.table.column(name).to_numpy() for name in ("line", "arrival", "start")}
    for name in names:
        if (line := name.rpartition(":")[2]).isdecimal():
            found |= column["line"] == int(line)
        fields = name.split("|")
        with suppress(ValueError, IndexError):
            arrival, start = int(fields[1]), int(fields[2])
            found |= (column["arrival"] == arrival) & (column["start"] == start)
    rows: list[int] = np.flatnonzero(found).tolist()
    few = zip(rows, table.where(found).items(), strict=True)
    return [row for row, item in few if _is_one_of(item, names)]


def _is_one_of(item: io.Item, named: Sequence[str]) -> bool:
    place = Place(item.file, item.line, row_text(item))
    return place.text in named or str(place) in named


def rows_named(result: Result, name: str) -> int:
    """How many rows a text, or FILE:LINE, names."""
    return sum(len(_named(table, [name])) for table in result.basis.items())


def what_if(
    result: Result,
    added: Sequence[str] = (),
    without: Sequence[str] = (),
    rules: Rules | None = None,
) -> list[io.AnswerRow]:
    """What comes (`op` is `+`) and what goes (`-`) with other rows, or other rules."""
    for name, rows in (("added", added), ("without", without)):
        if isinstance(rows, str):
            raise UsageError(f"{name} must be a list of rows, not a text", f"write [{rows!r}]")
    if not (added or without or rules):
        raise UsageError("nothing would be different", "name rows to add or to leave out, or rules")
    for name in without:
        if not rows_named(result, name):
            hint = "write it as the input has it, or name its place: day.csv:4"
            raise UsageError(f"no row of the input is {name}", hint)
    if rules is not None and rules.language != result.rules.language:
        spoken = {"ec": "the Event Calculus", "lars": "LARS", "combined": "both languages"}
        problem = f"the rules of the run are of {spoken[result.rules.language]}"
        raise UsageError(f"{problem}, and the others of {spoken[rules.language]}")
    texts = {row_text(item) for table in _read(result, added) for item in table.items()}
    changes = [RowChange("-", row) for row in without] + [RowChange("+", row) for row in added]
    revised = _revised(result, changes) if rules is None else None
    other = revised or _again(result, changes, rules, None)
    for letter in other.dead_letters:
        if letter.text in texts and letter.file == MEMORY:
            raise UsageError(f"the row {letter.text} would not be used: {letter.reason}")
    if revised is not None:
        changed = sorted(revised.changelog, key=lambda row: row.op != "-")
        return [row._replace(query=None) for row in changed]
    before, after = result.rows("spans"), other.rows("spans")
    had, has = set(before), set(after)
    gone = [row._replace(op="-") for row in before if row not in has]
    return gone + [row._replace(op="+") for row in after if row not in had]
