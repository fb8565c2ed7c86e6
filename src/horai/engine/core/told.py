"""What was told before rules changed: the first answer of the new ones says what differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from horai.engine.answer import EventTable, FluentTable, Part
from horai.engine.columns import Column
from horai.engine.core.words import Words
from horai.temporal.spans import Ints

Key = tuple[str, int]
Row = tuple[int, ...]


class Told(NamedTuple):
    """What was told of the time after a border, as columns; the next answer is compared with it."""

    border: int
    fluents: list[tuple[str, tuple[Column, ...], Column, Ints, Ints]]
    events: list[tuple[str, tuple[Column, ...], Ints]]

    @classmethod
    def of(cls, border: int, part: Part) -> Told:
        """What a part of an answer says."""
        fluents = [(t.name, t.args, t.value, t.start, t.end) for t in part.fluents]
        return cls(border, fluents, [(t.name, t.args, t.time) for t in part.events])

    @property
    def part(self) -> Part:
        """The same as a part of an answer."""
        fluents = [FluentTable(*table) for table in self.fluents]
        return Part(fluents, [EventTable(*table) for table in self.events])

    def compared(self, now: Part, words: Words) -> tuple[Part, Part]:
        """What is new, and what is gone."""
        before, after = _rows(self.part, words), _rows(now, words)
        return _without(now, before, words), _without(self.part, after, words)


def _matrix(table: FluentTable | EventTable, words: Words) -> Ints:
    """The words and times of rows."""
    if isinstance(table, FluentTable):
        columns = [words.of_column(column) for column in (*table.args, table.value)]
        return np.column_stack([*columns, table.start, table.end])
    return np.column_stack([*map(words.of_column, table.args), table.time])


def _tables(part: Part) -> Iterator[tuple[Key, FluentTable | EventTable]]:
    for fluents in part.fluents:
        yield (fluents.name, len(fluents.args)), fluents
    for events in part.events:
        yield (events.name, -1 - len(events.args)), events


def _rows(part: Part, words: Words) -> dict[Key, set[Row]]:
    found: dict[Key, set[Row]] = {}
    for key, table in _tables(part):
        found.setdefault(key, set()).update(map(tuple, _matrix(table, words).tolist()))
    return found


def _without(part: Part, others: dict[Key, set[Row]], words: Words) -> Part:
    """The rows that are not among others."""
    fluents, events = [], []
    for key, table in _tables(part):
        known = others.get(key, set())
        rows = _matrix(table, words).tolist()
        left = np.array([at for at, row in enumerate(rows) if tuple(row) not in known], np.int64)
        if not len(left):
            continue
        args = tuple(column.take(left) for column in table.args)
        if isinstance(table, FluentTable):
            value = table.value.take(left)
            fluents.append(FluentTable(table.name, args, value, table.start[left], table.end[left]))
        else:
            events.append(EventTable(table.name, args, table.time[left]))
    return Part(fluents, events)
