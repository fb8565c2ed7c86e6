"""What the lines are that answers name by number.

The machine tells, until it forgets rows and numbers its lines anew. Then those are noted of which
answers speak that somebody still has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakSet

import numpy as np

from horai.engine.answer import Instance
from horai.engine.core.layout import Relation
from horai.temporal.spans import Ints


class Lines:
    """The lines of a machine, with the instances that have been told by line."""

    def __init__(self, machine: Any, columns: Sequence[Relation]) -> None:
        self.instances: dict[int, Instance] = {}
        self.logs: WeakSet[ChangeLog] = WeakSet()
        """What came and went, in answers that somebody has."""
        self._machine: Any = machine
        self._columns = columns
        self._lines = self._numbers = np.empty(0, np.int64)  # those that are noted
        self._keys = np.empty((0, 0), np.int64)

    def columns(self, lines: Ints) -> Ints:
        """The numbers of their columns."""
        if self._machine is None:
            found: Ints = self._numbers[np.searchsorted(self._lines, lines)]
            return found
        found = np.empty(len(lines), np.int64)
        self._machine.describe(lines, found)
        return found

    def keys(self, lines: Ints, width: int) -> Ints:
        """The words of their keys, of lines of one table."""
        if self._machine is None:
            noted: Ints = self._keys[np.searchsorted(self._lines, lines), :width]
            return noted
        found = np.empty((len(lines), width), np.int64)
        self._machine.keys(lines, found)
        return found

    def instance(self, line: int) -> tuple[int, list[int]]:
        """The number of the column of one line, and the words of its key."""
        if self._machine is None:
            one = np.array([line], np.int64)
            number = int(self.columns(one)[0])
            return number, self.keys(one, len(self._columns[number].keys))[0].tolist()
        found: tuple[int, list[int]] = self._machine.instance(line)
        return found

    def note(self) -> None:
        """The machine is about to number its lines anew."""
        some = [rows[:, 1] for log in list(self.logs) for rows in log.rows()]
        lines = np.unique(np.concatenate(some)) if some else self._lines
        numbers = self.columns(lines)
        widest = max((len(one.keys) for one in self._columns), default=0)
        keys = np.zeros((len(lines), widest), np.int64)
        for number in np.unique(numbers).tolist():
            width = len(self._columns[number].keys)
            mine = np.flatnonzero(numbers == number)
            keys[mine, :width] = self.keys(lines[mine], width)
        self._lines, self._numbers, self._keys = lines, numbers, keys
        self._machine = None


class ChangeLog:
    """What came and went at a query time: rows of spans and of events, by line.

    They are read from the machine when they are asked for, and at the latest before it goes on.
    """

    def __init__(self, lines: Lines, read: Callable[[], tuple[Ints, Ints]]) -> None:
        self.lines, self._read = lines, read
        self._rows: tuple[Ints, Ints] | None = None
        lines.logs.add(self)

    def rows(self) -> tuple[Ints, Ints]:
        """(sign, line, value, start, end) of spans, (sign, line, time) of events."""
        if self._rows is None:
            self._rows = self._read()
        return self._rows
