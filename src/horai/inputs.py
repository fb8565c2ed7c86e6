"""From what people hand in to the items an engine takes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from horai import io
from horai.engines import Dropped, Item
from horai.errors import UsageError
from horai.io.formats import FORMATS
from horai.io.letters import BadRow
from horai.lang.ec.syntax import EventDescription, Grounding
from horai.lang.terms import functor, make
from horai.plan.entities import Entities, Kind
from horai.values import to_term


@dataclass(frozen=True, slots=True)
class Batch:
    """Items, the rows that were none, and the times they name (None without items)."""

    items: list[Item] = field(default_factory=list)
    dead_letters: list[io.DeadLetter] = field(default_factory=list)
    extent: tuple[int, int] | None = None


def input_schema(description: EventDescription, entities: Entities) -> io.InputSchema:
    """The rows that the rules can use."""
    types = [
        io.InputType(entity.name, _kind(entity.kind), entity.arity, entity.form)
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


def _kind(kind: Kind) -> io.Kind:
    return "event" if kind is Kind.EVENT else "fluent"


def read_input(
    given: object,
    schema: io.InputSchema,
    *,
    tick: int = 1,
    unit: io.Unit | None = None,
    time_in: io.Unit | None = None,
    format: io.Format | None = None,
    strict: bool = False,
) -> Batch:
    """Files, narrative text or lines, dicts, tables or data frames as items."""
    if is_files(given):
        narrative = io.read(
            _paths(given), schema, format=format, unit=unit, time_in=time_in, strict=strict
        )
    elif _are_engine_items(given):
        items = list(cast(Iterable[Item], given))
        return Batch(items, [], _extent_of(items))
    else:
        narrative = io.read_object(given, schema, unit=unit, time_in=time_in, strict=strict)
    rows = list(narrative.items())
    items = [engine_item(row, tick) for row in rows]
    return Batch(items, list(narrative.dead_letters), _extent(rows))


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


def _paths(given: object) -> list[str]:
    many = [given] if isinstance(given, str | os.PathLike) else cast(Sequence[Any], given)
    return [str(path) if path == "-" else str(Path(path)) for path in many]


def _are_engine_items(given: object) -> bool:
    return isinstance(given, list | tuple) and bool(given) and isinstance(given[0], Item)


def engine_item(row: io.Item, tick: int) -> Item:
    """An item as engines take it; its tag is the row."""
    entity = make(row.name, *(to_term(arg) for arg in row.args))
    value = None if row.value is None else to_term(row.value)
    end: float = float("inf") if row.end is None else row.end
    if row.form == "points":
        # A value at a point holds until the next point; an event has no length.
        end = row.start if value is None else row.start + tick - row.start % tick
    return Item(entity, value, row.start, end, row.arrival, row.op < 0, row)


def _extent(rows: Iterable[io.Item]) -> tuple[int, int] | None:
    """The first occurrence and the last time that the rows name."""
    rows = list(rows)
    if not rows:
        return None
    ends = (row.end for row in rows if row.end is not None)
    last = max([*(row.arrival for row in rows), *(row.start for row in rows), *ends])
    return min(row.start for row in rows), last


def _extent_of(items: list[Item]) -> tuple[int, int]:
    ends = (int(item.end) for item in items if item.end != float("inf"))
    last = max([*(item.arrival for item in items), *(item.start for item in items), *ends])
    return min(item.start for item in items), last


def letter_of(dropped: Dropped) -> io.DeadLetter:
    """The dead letter of an item that the engine could not use, or not in full."""
    row = dropped.item.tag
    if not isinstance(row, io.Item):
        return io.DeadLetter("<memory>", 0, repr(dropped.item), dropped.text, str(dropped.reason))
    return io.DeadLetter(row.file, row.line, row_text(row), dropped.text, str(dropped.reason))


def row_text(row: io.Item) -> str:
    """A row as a line of a narrative."""
    fields: list[object] = [("-" if row.op < 0 else "") + row.name, row.arrival, row.start]
    if row.form == "intervals":
        fields.append("inf" if row.end is None else row.end)
    if row.value is not None:
        fields.append(row.value)
    return "|".join(str(part) for part in [*fields, *row.args])


def time_point(given: int | str | None, unit: io.Unit | None, what: str) -> int | None:
    """A time as people give it: a time-point, or ISO 8601 when a unit is set."""
    if given is None:
        return None
    try:
        return io.Clock(unit).point(given)
    except BadRow as bad:
        raise UsageError(f"{what}: {bad.reason}") from None


def checked_clock(unit: str | None, time_in: str | None) -> io.Clock:
    """How times become time-points, or a kind error."""
    length, given = _unit(unit), _unit(time_in)
    if given is not None and length is None:
        hint = "say also how long a time-point is, for example unit s"
        raise UsageError(f"times in {time_in} need a unit", hint)
    return io.Clock(length, given)


def _unit(name: str | None) -> io.Unit | None:
    for known in io.UNITS:
        if name == known:
            return known
    if name is None:
        return None
    raise UsageError(f"unknown unit of time {name!r}", f"the units are {', '.join(io.UNITS)}")


def checked_format(name: str | None) -> io.Format | None:
    """One of the formats of input, or a kind error."""
    for known in FORMATS:
        if name == known:
            return known
    if name is None:
        return None
    raise UsageError(f"unknown format of input {name!r}", f"the formats are {', '.join(FORMATS)}")
