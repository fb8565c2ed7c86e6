"""A run again with other rows or other rules, and what that changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from horai import io
from horai.errors import UsageError
from horai.explain.proof import Place, RowChange
from horai.runtime.inputs import read_input, row_text
from horai.runtime.lars.signals import MEMORY

if TYPE_CHECKING:
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


def tried(
    result: Result,
    changes: Collection[RowChange],
    rules: Rules | None = None,
    end: int | None = None,
) -> Result:
    """The run again, over the same time or up to an earlier end, with rows added or left out."""
    settings = result.basis.settings
    tables = list(result.basis.items())
    gone = [change.row for change in changes if change.op == "-"]
    if gone:
        tables = [left for table in tables if len(left := _without(table, gone))]
    added = [change.row for change in changes if change.op == "+"]
    tables += _read(result, added)
    known = {name: value for name, value in settings.to_dict().items() if name in _AS_BEFORE}
    end = result.extent[1] if end is None else end
    return (rules or result.rules).run(io.Narrative(tuple(tables), []), **known, end=end)


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


def _without(table: io.ItemTable, gone: Sequence[str]) -> io.ItemTable:
    """A table without some rows, which are named by their text or as FILE:LINE."""
    kept = np.array([not _is_one_of(item, gone) for item in table.items()], bool)
    return table if kept.all() else replace(table, table=table.table.filter(pa.array(kept)))


def _is_one_of(item: io.Item, named: Sequence[str]) -> bool:
    place = Place(item.file, item.line, row_text(item))
    return place.text in named or str(place) in named


def rows_named(result: Result, name: str) -> int:
    """How many rows a text, or FILE:LINE, names."""
    return sum(_is_one_of(item, [name]) for table in result.basis.items() for item in table.items())


def what_if(
    result: Result,
    added: Sequence[str] = (),
    without: Sequence[str] = (),
    rules: Rules | None = None,
) -> list[io.AnswerRow]:
    """What comes (`op` is `+`) and what goes (`-`) with other rows, or other rules."""
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
    other = tried(result, changes, rules)
    for letter in other.dead_letters:
        if letter.text in texts and letter.file == MEMORY:
            raise UsageError(f"the row {letter.text} would not be used: {letter.reason}")
    before, after = result.rows("spans"), other.rows("spans")
    had, has = set(before), set(after)
    gone = [row._replace(op="-") for row in before if row not in has]
    return gone + [row._replace(op="+") for row in after if row not in had]
