# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# mypy: disable-error-code="valid-type,type-arg"
"""Loops over columns of integers, compiled ahead of time: equal rows get equal numbers.

Python runs them as they are where they have not been compiled.
"""

from __future__ import annotations

import math

import cython
import numpy as np

Ints = np.ndarray
Both = tuple

FIRST = 16  # slots of the smallest table
SPREAD = 8  # a direct table pays while it is not much larger than what it is for
SMALL = 1 << 16


def dense(columns: list, rows: cython.Py_ssize_t) -> Both:
    """A number 0, 1, ... for every different row, and the first row of each number.

    Where few different rows are possible they are addressed directly; otherwise they are hashed.
    """
    if not rows or not columns:
        return np.zeros(rows, np.int64), np.zeros(min(rows, 1), np.int64)
    keys = np.vstack(columns) if len(columns) > 1 else np.ascontiguousarray(columns[0])[None, :]
    low, high = keys.min(axis=1), keys.max(axis=1)
    most = SPREAD * rows + SMALL
    ranges = [b - a + 1 for a, b in zip(low.tolist(), high.tolist())]  # noqa: B905 - compiled
    if max(ranges) > most:
        return dense_by_hash(keys)
    if len(ranges) == 1:  # the value itself is as good a number
        return renumbered(keys[0] - low[0], ranges[0])
    width = np.array(ranges)
    base = np.cumsum(width) - width
    ids, count = number_columns(keys, low, base, sum(ranges))
    possible = math.prod(count.tolist())
    if possible > most:
        return dense_by_hash(keys)
    return renumbered(combined(keys, ids, low, base, count), possible)


def number_columns(
    keys: cython.const[cython.longlong][:, ::1],
    low: cython.const[cython.longlong][::1],
    base: cython.const[cython.longlong][::1],
    size: cython.longlong,
) -> Both:
    """A number for each value of each column, in a table of its own; how many there are."""
    ids_ = np.full(size, -1, np.int64)
    count_ = np.zeros(keys.shape[0], np.int64)
    ids: cython.longlong[::1] = ids_
    count: cython.longlong[::1] = count_
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(keys.shape[0]):
            n: cython.longlong = 0
            for i in range(keys.shape[1]):
                at: cython.longlong = base[k] + (keys[k, i] - low[k])
                if ids[at] < 0:
                    ids[at] = n
                    n += 1
            count[k] = n
    return ids_, count_


def combined(
    keys: cython.const[cython.longlong][:, ::1],
    ids: cython.const[cython.longlong][::1],
    low: cython.const[cython.longlong][::1],
    base: cython.const[cython.longlong][::1],
    count: cython.const[cython.longlong][::1],
) -> Ints:
    """One number for each row from those of its values."""
    found_ = np.zeros(keys.shape[1], np.int64)
    found: cython.longlong[::1] = found_
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(keys.shape[0]):
            for i in range(keys.shape[1]):
                found[i] = found[i] * count[k] + ids[base[k] + (keys[k, i] - low[k])]
    return found_


def renumbered(keys: cython.const[cython.longlong][::1], size: cython.longlong) -> Both:
    """Numbers in order of appearance, and the first row of each."""
    rows: cython.Py_ssize_t = keys.shape[0]
    ids_ = np.empty(rows, np.int64)
    firsts_ = np.empty(min(rows, size), np.int64)
    table: cython.longlong[::1] = np.full(size, -1, np.int64)
    ids: cython.longlong[::1] = ids_
    firsts: cython.longlong[::1] = firsts_
    n: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(rows):
            at: cython.longlong = keys[i]
            if table[at] < 0:
                table[at] = n
                firsts[n] = i
                n += 1
            ids[i] = table[at]
    return ids_, firsts_[:n].copy()


def dense_by_hash(keys: cython.const[cython.longlong][:, ::1]) -> Both:
    """Numbers for rows in order of appearance, and the first row of each, by a table of hashes."""
    rows: cython.Py_ssize_t = keys.shape[1]
    size: cython.longlong = FIRST
    while size < 2 * rows:
        size *= 2
    mask: cython.longlong = size - 1
    ids_ = np.empty(rows, np.int64)
    firsts_ = np.empty(rows, np.int64)
    table: cython.longlong[::1] = np.full(size, -1, np.int64)
    ids: cython.longlong[::1] = ids_
    firsts: cython.longlong[::1] = firsts_
    bits59: cython.longlong = (1 << 59) - 1  # kept of products: Python has more, and C the same
    n: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for i in range(rows):
            mixed: cython.longlong = 0
            for k in range(keys.shape[0]):
                value: cython.longlong = keys[k, i]
                low: cython.longlong = (value ^ (value >> 31)) & 0x7FFFFFFF
                mixed = ((mixed ^ low) * 0x45D9F3B) & bits59
                mixed ^= mixed >> 29
                mixed = ((mixed ^ (value >> 47)) & 0x7FFFFFFF) * 0x2C1B3C6D
                mixed ^= mixed >> 31
            slot: cython.longlong = mixed & mask
            while True:
                number: cython.longlong = table[slot]
                if number < 0:
                    table[slot] = n
                    firsts[n] = i
                    ids[i] = n
                    n += 1
                    break
                same: cython.bint = True
                for k in range(keys.shape[0]):
                    if keys[k, i] != keys[k, firsts[number]]:
                        same = False
                        break
                if same:
                    ids[i] = number
                    break
                slot = (slot + 1) & mask
    return ids_, firsts_[:n].copy()


def partners(
    steps: cython.const[cython.longlong][::1],
    group: cython.const[cython.longlong][::1],
    retract: cython.const[cython.uchar][::1],
    rank: cython.const[cython.longlong][::1],
    admission: cython.const[cython.longlong][::1],
) -> Ints:
    """Every retraction takes the smallest rank of its group that is there when it comes."""
    found_ = np.full(steps.shape[0], -1, np.int64)
    found: cython.longlong[::1] = found_
    heap: cython.longlong[::1] = np.empty(steps.shape[0] + 1, np.int64)
    size: cython.Py_ssize_t = 0
    current: cython.longlong = -1
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(steps.shape[0]):
            row: cython.longlong = steps[i]
            if group[row] != current:
                current = group[row]
                size = 0
            at: cython.Py_ssize_t
            if not retract[row]:
                at = size
                size += 1
                while at > 0 and heap[(at - 1) >> 1] > rank[row]:
                    heap[at] = heap[(at - 1) >> 1]
                    at = (at - 1) >> 1
                heap[at] = rank[row]
            elif size > 0:
                least: cython.longlong = heap[0]
                found[row] = admission[least if least >= 0 else -least]
                size -= 1
                last: cython.longlong = heap[size]
                at = 0
                while 2 * at + 1 < size:
                    below: cython.Py_ssize_t = 2 * at + 1
                    if below + 1 < size and heap[below + 1] < heap[below]:
                        below += 1
                    if heap[below] >= last:
                        break
                    heap[at] = heap[below]
                    at = below
                heap[at] = last
    return found_
