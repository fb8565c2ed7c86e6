"""Where the rows of a table are that grows, without an index over all of it whenever it does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, codes_of
from horai.engine.hashing import Index, build, first
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints

SMALLER = 2  # an index that is no larger, compared with what has come since, becomes one with it


class Segment(NamedTuple):
    """An index over some of the rows."""

    first: int
    last: int
    found: Index


class Directory:
    """Indexes over a table of different rows, each of which stays where it is."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._segments: list[Segment] = []

    def rows_of(self, asked: Relation, known: Relation, since: int = 0) -> Ints:
        """The rows of what is asked for, from one row on; -1 for what is not known."""
        found = np.full(asked.rows, -1)
        if not asked.rows or known.rows <= since:
            return found
        if not asked.columns:
            return np.zeros(asked.rows, np.int64)
        keys = [codes_of(column, self._symbols) for column in asked.columns]
        if since:
            there = first(keys, self._index(known, since))
            return np.where(there >= 0, there + since, -1)
        self._grow(known)
        for segment in self._segments:
            left = np.flatnonzero(found < 0)
            there = first([key[left] for key in keys], segment.found)
            found[left] = np.where(there >= 0, there + segment.first, -1)
        return found

    def _grow(self, known: Relation) -> None:
        segments = self._segments
        begin = segments[-1].last if segments else 0
        if begin == known.rows:
            return
        while segments and segments[-1].last - segments[-1].first <= SMALLER * (known.rows - begin):
            begin = segments.pop().first
        segments.append(Segment(begin, known.rows, self._index(known, begin)))

    def _index(self, known: Relation, since: int) -> Index:
        columns = (Column(column.kind, column.data[since:]) for column in known.columns)
        return build([codes_of(column, self._symbols) for column in columns])
