"""Rows of readings from tick to tick, found by the values of some columns."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

Row = tuple[int, ...]  # codes of terms, and of the point for readings that name one
Change = tuple[Row, bool]  # it came, or it went
Index = dict[Any, dict[Row, None]]  # by the value of a column, or by those of several


class Table:
    """The rows of a reading. Rules hold on to `rows` and to indexes, so these stay the same."""

    def __init__(self) -> None:
        self.rows: dict[Row, None] = {}
        self._indexes: dict[tuple[int, ...], tuple[Callable[[Row], Any], Index]] = {}

    def index(self, places: tuple[int, ...]) -> Index:
        """The rows by the values of some columns, kept up to date from now on."""
        if places not in self._indexes:
            key, index = itemgetter(*places), Index()
            for row in self.rows:
                index.setdefault(key(row), {})[row] = None
            self._indexes[places] = (key, index)
        return self._indexes[places][1]

    def add(self, row: Row) -> None:
        """One more row."""
        self.rows[row] = None
        for key, index in self._indexes.values():
            index.setdefault(key(row), {})[row] = None

    def remove(self, row: Row) -> None:
        """One row less."""
        del self.rows[row]
        for key, index in self._indexes.values():
            value = key(row)
            del index[value][row]
            if not index[value]:
                del index[value]
