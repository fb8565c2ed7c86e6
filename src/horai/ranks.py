"""Sorting rows of terms as integers: each different term is given its place once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai import io
from horai.temporal.spans import Ints

_BITS = 63
_LARGEST = 1 << 62


def ranks(columns: Sequence[io.TermColumn]) -> list[Ints]:
    """Integers in the order of the terms, and comparable between the columns.

    Numbers come before text; what looks alike but differs stays apart.
    """
    kinds = {column.kind for column in columns}
    if kinds == {"int"}:
        return [column.array.to_numpy() for column in columns]
    if kinds == {"float"}:
        return [_by_bits(column.array.to_numpy()) for column in columns]
    if kinds == {"atom"} and len(columns) == 1:
        return [_atom_ranks(columns[0].array)]
    return _mixed_ranks(columns)


def _by_bits(numbers: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """The bits of decimals, turned so that they compare as the decimals do."""
    bits: Ints = (numbers + 0.0).view(np.int64)  # the negative zero is equal to the other one
    return np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)


def _atom_ranks(column: pa.DictionaryArray) -> Ints:
    # Bytes of UTF-8, by which Arrow compares, sort as the letters do.
    order = pc.array_sort_indices(column.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ranked: Ints = rank[column.indices.to_numpy()]
    return ranked


def _mixed_ranks(columns: Sequence[io.TermColumn]) -> list[Ints]:
    distinct = [io.distinct(column) for column in columns]
    keys = {value_key(term) for _, terms in distinct for term in terms}
    rank = {key: place for place, key in enumerate(sorted(keys))}
    return [
        np.array([rank[value_key(term)] for term in terms], np.int64)[indices.to_numpy()]
        for indices, terms in distinct
    ]


def value_key(value: io.Term) -> tuple[int, float, str, str]:
    """How values are ordered."""
    if isinstance(value, int | float):
        return (0, value, "", type(value).__name__)
    return (1, 0, str(value), type(value).__name__)


def from_one(columns: Sequence[Ints]) -> list[Ints]:
    """The same order in integers that start at 1, which leaves 0 for what comes before all."""
    filled = [column for column in columns if len(column)]
    low = min((int(column.min()) for column in filled), default=0)
    high = max((int(column.max()) for column in filled), default=0)
    if high - low < _LARGEST:
        return [column - low + 1 for column in columns]
    _, dense = np.unique(np.concatenate(columns), return_inverse=True)
    return np.split(dense + 1, np.cumsum([len(column) for column in columns])[:-1])


def places(keys: Sequence[Ints]) -> Ints | None:
    """Where rows stand that are sorted by several keys, None if they are in order already."""
    packed = _packed(keys)
    # The fastest sort mixes up rows with equal keys; as a rule the first key leaves few of them.
    order: Ints = np.argsort(packed[0])
    first = packed[0][order]
    alike = first[1:] == first[:-1]
    if bool(alike.any()):
        tied = np.append(alike, False) | np.append(False, alike)
        rows = order[tied]
        order[tied] = rows[np.lexsort([rows, *(key[rows] for key in reversed(packed))])]
    return None if bool((order[1:] > order[:-1]).all()) else order


def _packed(keys: Sequence[Ints]) -> list[Ints]:
    """As few keys that say the same: several go into one integer as long as there is room."""
    packed: list[Ints] = []
    room = 0
    for key in keys:
        low, high = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        bits = (high - low).bit_length()
        if bits > _BITS:
            packed.append(key)
            room = 0
        elif packed and bits <= room:
            packed[-1] = (packed[-1] << bits) | (key - low)
            room -= bits
        else:
            packed.append(key - low)
            room = _BITS - bits
    return packed
