"""Sorting by (key, time), the one order everything is kept in.

Most rows come sorted, or sorted by time; then nothing or a counting sort is enough. Otherwise key,
time and row number go into one integer, and numpy sorts integers faster than anything finds an
order. If they do not fit, key and time do as a rule, and a radix sort orders these.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, plain

# A counting sort pays while keys are dense: at most so many keys per row.
DENSE = 4
# Bits of a packed row: all but the sign.
BITS = 63
# Below so many rows setting up the faster ways costs more than they save.
FEW = 48


def order(key: Ints, time: Ints) -> Ints:
    """Positions that sort rows by key, then time; equal rows keep their order.

    >>> order(np.array([7, 2, 7]), np.array([5, 5, 1])).tolist()
    [1, 2, 0]
    """
    key, time = plain(key, time)
    n = len(key)
    if n < 2:
        return np.arange(n, dtype=np.int64)
    rows_rise, times_rise, low, high, early, late = _survey(key, time)
    if rows_rise:
        return np.arange(n, dtype=np.int64)
    if n < FEW:
        few: Ints = _insertion_sort(key, time)
        return few
    low, early = int(low), int(early)  # Python's integers do not overflow
    keys, times = int(high) - low, int(late) - early
    if times_rise and keys < DENSE * n:
        counted: Ints = _count_sort(key, low, keys + 1)
        return counted
    key_bits, time_bits, row_bits = keys.bit_length(), times.bit_length(), (n - 1).bit_length()
    if key_bits + time_bits + row_bits <= BITS:
        packed: Ints = _pack(key, time, low, early, time_bits, row_bits)
        packed.sort()
        packed &= (1 << row_bits) - 1
        return packed
    if key_bits + time_bits <= BITS:
        ordered: Ints = _radix_sort(
            _pack(key, time, low, early, time_bits, 0), key_bits + time_bits
        )
        return ordered
    return np.lexsort((time, key)).astype(np.int64, copy=False)


def offsets_of(key: Ints, many: int) -> Ints:
    """Where the rows of each of many keys begin when sorted, and after them where the last end.

    >>> offsets_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    found = np.zeros(many + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=many), out=found[1:])
    return found


@kernel
def _survey(key: Ints, time: Ints) -> tuple[bool, bool, int, int, int, int]:
    """Are the rows sorted, are the times sorted, and the least and greatest of both columns."""
    low, high, early, late = key[0], key[0], time[0], time[0]
    rows_rise, times_rise = True, True
    for i in range(1, len(key)):
        if key[i] < key[i - 1] or (key[i] == key[i - 1] and time[i] < time[i - 1]):
            rows_rise = False
        if time[i] < time[i - 1]:
            times_rise = False
        low, high = min(low, key[i]), max(high, key[i])
        early, late = min(early, time[i]), max(late, time[i])
    return rows_rise, times_rise, low, high, early, late


@kernel
def _insertion_sort(key: Ints, time: Ints) -> Ints:
    positions = np.arange(len(key))
    for i in range(1, len(key)):
        k, t = key[i], time[i]
        j = i
        while j > 0:
            p = positions[j - 1]
            if key[p] < k or (key[p] == k and time[p] <= t):
                break
            positions[j] = p
            j -= 1
        positions[j] = i
    return positions


@kernel
def _count_sort(key: Ints, low: int, width: int) -> Ints:
    """A stable counting sort by key: rows that come in time order stay so within each key."""
    place = np.zeros(width + 1, np.int64)
    for k in key:
        place[k - low + 1] += 1
    for w in range(width):
        place[w + 1] += place[w]
    positions = np.empty(len(key), np.int64)
    for i in range(len(key)):
        at = key[i] - low
        positions[place[at]] = i
        place[at] += 1
    return positions


@kernel
def _pack(key: Ints, time: Ints, low: int, early: int, time_bits: int, row_bits: int) -> Ints:
    """Key, time and row number in one integer that sorts as they do; no row number in 0 bits."""
    packed = np.empty(len(key), np.int64)
    for i in range(len(key)):
        row = i if row_bits else 0
        packed[i] = ((((key[i] - low) << time_bits) | (time[i] - early)) << row_bits) | row
    return packed


@kernel
def _radix_sort(packed: Ints, bits: int) -> Ints:
    """Positions that sort nonnegative integers of so many bits, byte by byte from the last."""
    n = len(packed)
    digits = (bits + 7) // 8
    places = np.zeros((digits, 256), np.int64)
    for value in packed:
        for digit in range(digits):
            places[digit, (value >> (8 * digit)) & 255] += 1
    values, positions = packed, np.arange(n)
    next_values, next_positions = np.empty(n, np.int64), np.empty(n, np.int64)
    for digit in range(digits):
        place = places[digit]
        shift = 8 * digit
        if place[(packed[0] >> shift) & 255] == n:
            continue  # the same everywhere
        begin = 0
        for d in range(256):
            count = place[d]
            place[d] = begin
            begin += count
        for i in range(n):
            d = (values[i] >> shift) & 255
            at = place[d]
            place[d] = at + 1
            next_values[at] = values[i]
            next_positions[at] = positions[i]
        values, next_values = next_values, values
        positions, next_positions = next_positions, positions
    return positions
