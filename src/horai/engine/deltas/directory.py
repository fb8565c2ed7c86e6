"""Where the rows of a table are that grows, without an index over all of it whenever it does."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import Column, codes_of
from horai.engine.hashing import Matrix, hashed, matrix, same
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints

ROOM = 64  # rows at first
FREE = 2  # a hash table has at least so many times as many slots as rows


class Directory:
    """A hash table over different rows, each of which stays where it is."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._keys: Matrix | None = None  # with room for more
        self._slots: Ints = np.full(FREE * ROOM, -1)
        self._known = 0

    def rows_of(self, asked: Relation, known: Relation, since: int = 0) -> Ints:
        """The rows of what is asked for, from one row on; -1 for what is not known."""
        if not asked.rows or known.rows <= since:
            return np.full(asked.rows, -1)
        if not asked.columns:
            return np.zeros(asked.rows, np.int64)
        keys = self._grown(known)
        codes = matrix([codes_of(column, self._symbols) for column in asked.columns])
        found: Ints = _found(codes, keys, self._slots)
        if since:
            found[found < since] = -1
        return found

    def _grown(self, known: Relation) -> Matrix:
        """The keys of all rows, new ones included."""
        keys, before = self._keys, self._known
        if keys is None or keys.shape[1] < known.rows:
            room = max(ROOM, 2 * known.rows)
            larger = np.empty((len(known.columns), room), np.int64)
            if keys is not None:
                larger[:, :before] = keys[:, :before]
            self._keys = keys = larger
            self._slots, self._known = np.full(_power(FREE * room), -1), 0
        for place, column in enumerate(known.columns):
            new = Column(column.kind, column.data[before : known.rows])
            keys[place, before : known.rows] = codes_of(new, self._symbols)
        if self._known < known.rows:
            _enter(keys, self._known, known.rows, self._slots)
            self._known = known.rows
        return keys


def _power(size: int) -> int:
    """The next power of two."""
    return 1 << (size - 1).bit_length()


@kernel
def _enter(keys: Matrix, first: int, after: int, slots: Ints) -> None:
    mask = len(slots) - 1
    for row in range(first, after):
        slot = np.int64(hashed(keys, row) & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = row


@kernel
def _found(asked: Matrix, keys: Matrix, slots: Ints) -> Ints:
    mask = len(slots) - 1
    found = np.full(asked.shape[1], -1)
    for i in range(asked.shape[1]):
        slot = np.int64(hashed(asked, i) & np.uint64(mask))
        while slots[slot] >= 0:
            if same(asked, i, keys, slots[slot]):
                found[i] = slots[slot]
                break
            slot = (slot + 1) & mask
    return found
