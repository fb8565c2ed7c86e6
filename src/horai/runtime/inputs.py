"""From what people hand in to the tables of items an engine takes, and back to dead letters."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from horai import io
from horai.engine.admission import Dropped, Reason
from horai.engine.arrow_items import Source
from horai.errors import UsageError, counted
from horai.lang.core.terms import functor
from horai.lang.ec.syntax import EventDescription, Grounding
from horai.lang.lars.clock import Clock
from horai.plan.ec.entities import Entities, Kind
from horai.settings import text

InputColumns = Mapping[str, str | Sequence[str]]
"""For types, which columns of a table are their arguments; see `horai.io.items.read`."""


def input_schema(description: EventDescription, entities: Entities) -> io.InputSchema:
    """The rows that the rules can use."""
    types = [
        io.InputType(
            entity.name,
            "event" if entity.kind is Kind.EVENT else "fluent",
            entity.arity,
            entity.form,
        )
        for entity in entities.inputs
    ]
    # An event that only has a grounding still puts its arguments into dynamic domains.
    for rule in description.rules:
        key = functor(rule.entity) if isinstance(rule, Grounding) else None
        if isinstance(rule, Grounding) and key is not None:
            table = entities.events if rule.value is None else entities.fluents
            if key not in table:
                types.append(
                    io.InputType(key[0], "event" if rule.value is None else "fluent", key[1])
                )
    return io.InputSchema.of(types, {entity.name for entity in entities.outputs})


def read_input(
    given: object,
    schema: io.InputSchema,
    clock: io.TimeScale,
    *,
    format: io.Format | None = None,
    strict: bool = False,
    columns: InputColumns | None = None,
) -> io.Narrative:
    """Files, narrative text or lines, dicts, tables or data frames as tables of items."""
    unit, time_in = clock.unit, clock.time_in
    columns = checked_columns(columns, schema)
    if isinstance(given, io.Narrative):
        return given  # read already
    if is_files(given):
        paths = _paths(given)
        return io.read(
            paths,
            schema,
            format=format,
            unit=unit,
            time_in=time_in,
            strict=strict,
            columns=columns,
        )
    return io.read_object(given, schema, unit=unit, time_in=time_in, strict=strict, columns=columns)


def checked_columns(
    columns: InputColumns | None, schema: io.InputSchema
) -> dict[str, list[str]] | None:
    """The columns of types, if these are types of the input, or a kind error."""
    if not columns:
        return None
    found = {}
    for type_, given in columns.items():
        names = [given] if isinstance(given, str) else list(given)
        if not all(str(name).strip() for name in names or [""]):
            hint = f"name them in order: {type_}=vessel,knots"
            raise UsageError(f"the columns of {type_} are names of columns", hint)
        if not schema.lookup(type_):
            raise UsageError(f"columns of {type_}: {schema.why_unknown(type_)[1]}")
        arities = sorted({known.arity for known in schema.lookup(type_)})
        count = len(io.TypeColumns.of(names).args)
        if count not in arities:
            takes = " or ".join([*map(str, arities[:-1]), counted(arities[-1], "argument")])
            raise UsageError(
                f"columns of {type_}: it takes {takes}, but these are {counted(count, 'column')}",
                f"parts besides arguments are written time:COLUMN; they are {', '.join(io.PARTS)}",
            )
        found[type_] = names
    return found


def is_files(given: object) -> bool:
    """True for paths. A text with `|` or a line break in it is a narrative, no path.

    >>> is_files("day.csv"), is_files("go_to|9|9|chris|work"), is_files(["a.csv", "b.csv"])
    (True, False, True)
    """
    if isinstance(given, os.PathLike):
        return True
    if isinstance(given, str):
        return bool(given.strip()) and "|" not in given and "\n" not in given
    if isinstance(given, list | tuple):
        return bool(given) and all(
            isinstance(path, str | os.PathLike) and is_files(path) for path in given
        )
    return False


def files_of(given: object) -> list[str]:
    """The names of the files that are given, if there are any."""
    if not is_files(given):
        return []
    many = [given] if isinstance(given, str | os.PathLike) else list(given)  # type: ignore[call-overload]
    return ["<stdin>" if path == "-" else str(Path(path)) for path in many]


def _paths(given: object) -> list[str]:
    many = [given] if isinstance(given, str | os.PathLike) else cast(Sequence[Any], given)
    # The name of a topic is no path: two slashes in it are not one.
    return [path if isinstance(path, str) and "://" in path else str(Path(path)) for path in many]


def item_table_of(source: Source) -> io.ItemTable:
    """The items of a source, which an engine knows as something that has a table."""
    return io.ItemTable(source.name, source.arity, source.kind, source.form, source.table)


class DroppedRow(NamedTuple):
    """A row that was not used, where rows come one by one."""

    row: io.Item
    reason: Reason
    text: str


def letters_of(dropped: Sequence[Dropped | DroppedRow]) -> list[io.DeadLetter]:
    """The dead letters of items that the engine could not use, or not in full."""
    alone = [one for one in dropped if isinstance(one, DroppedRow)]
    if alone:
        return [_letter(one, one.row) for one in alone]
    return _letters([one for one in dropped if isinstance(one, Dropped)])


def _letters(dropped: Sequence[Dropped]) -> list[io.DeadLetter]:
    by_table: dict[int, list[Dropped]] = {}
    for one in dropped:
        by_table.setdefault(id(one.origin), []).append(one)
    rows: dict[tuple[int, int], io.Item] = {}
    for key, some in by_table.items():
        origin, places = some[0].origin, [one.row for one in some]
        few = origin.table.take(pa.array(places, pa.int64()))
        items = replace(item_table_of(origin), table=few).items()
        rows.update(zip(((key, place) for place in places), items, strict=True))
    return [_letter(one, rows[id(one.origin), one.row]) for one in dropped]


def _letter(dropped: Dropped | DroppedRow, row: io.Item) -> io.DeadLetter:
    return io.DeadLetter(row.file, row.line, row_text(row), dropped.text, str(dropped.reason))


def row_text(row: io.Item) -> str:
    """A row as a line of a narrative."""
    fields: list[object] = [("-" if row.op < 0 else "") + row.name, row.arrival, row.start]
    if row.form == "intervals":
        fields.append("inf" if row.end is None else row.end)
    if row.value is not None:
        fields.append(row.value)
    return "|".join(str(part) for part in [*fields, *row.args])


DEFAULT_CLOCK = "1s"


def clock_for(clock: str | None, unit: str | None) -> Clock:
    """How long a time point of a program is: one unit, where times of the input have a unit."""
    if unit is None:
        return clock_of(clock or DEFAULT_CLOCK)
    found = clock_of(clock or f"1{unit}")
    if found != clock_of(f"1{unit}"):
        hint = f"with unit={unit} time points are 1 {unit} long; leave out the clock"
        raise UsageError(f"the clock {found} does not fit times in {unit}", hint)
    return found


def clock_of(given: str) -> Clock:
    """The length of a time point that a text says, or a kind error."""
    hint = "for example 500ms, 1s, 5min"
    try:
        return Clock.parse(text(given, "clock", hint))
    except UsageError:
        raise
    except ValueError as wrong:
        raise UsageError(str(wrong), hint) from None
