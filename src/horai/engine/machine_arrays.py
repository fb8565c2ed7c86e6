"""Lists and tables for a compiled machine as arrays, one after the other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from horai.engine.machine_state import mixed, spread
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints

Matrix = Ints


def ints(numbers: Iterable[int]) -> Ints:
    """Numbers as an array."""
    return np.fromiter(numbers, np.int64)


def cumulated(sizes: Iterable[int]) -> Ints:
    """Where lists of some sizes begin if they follow each other, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(ints(sizes)))).astype(np.int64)


def offsets(numbers: list[int], count: int) -> Ints:
    """Where those of each number begin in a sorted list."""
    return np.searchsorted(np.array(numbers, np.int64), np.arange(count + 1)).astype(np.int64)


def stacked(tables: list[tuple[Matrix, int]]) -> tuple[Ints, Ints, Ints, Ints]:
    """Tables one after the other, each with a hash table of its keys."""
    about = np.zeros((len(tables), 6), np.int64)
    empty = np.empty(0, np.int64)
    cells, heads, after = [empty], [empty], [empty]
    sizes = [0, 0, 0]
    for number, (rows, keys) in enumerate(tables):
        size = 1
        while size < 2 * len(rows):
            size *= 2
        about[number] = (sizes[0], rows.shape[1], keys, sizes[1], size, sizes[2])
        head, following = np.full(size, -1, np.int64), np.full(len(rows), -1, np.int64)
        _chain(rows, keys, head, following)
        for place, (whole, part) in enumerate(
            zip((cells, heads, after), (rows.ravel(), head, following), strict=True)
        ):
            whole.append(part)
            sizes[place] += part.size
    return about, np.concatenate(cells), np.concatenate(heads), np.concatenate(after)


@kernel
def _chain(rows: Matrix, keys: int, heads: Ints, after: Ints) -> None:
    for row in range(len(rows) - 1, -1, -1):
        state = mixed(0, 0)
        for k in range(keys):
            state = mixed(state, rows[row, k])
        slot = spread(state) & (len(heads) - 1)
        after[row] = heads[slot]
        heads[slot] = row
