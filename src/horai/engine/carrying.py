"""Pairs that are carried from one query to the next, as columns."""

from __future__ import annotations

import numpy as np

from horai.engine.clockstate import Owner
from horai.engine.columns import Column, codes
from horai.engine.owners import Owners, Values
from horai.temporal.spans import Ints

Key = tuple[str, int]


def by_fluent(
    pairs: list[tuple[Owner, int]],
) -> dict[Key, tuple[list[int], tuple[Column, ...], Ints]]:
    """Pairs by name: their places in the list, columns of arguments, and codes of values."""
    places: dict[Key, list[int]] = {}
    for place, ((key, _), _) in enumerate(pairs):
        places.setdefault(key, []).append(place)
    found: dict[Key, tuple[list[int], tuple[Column, ...], Ints]] = {}
    for key, mine in places.items():
        rows = np.array([pairs[place][0][1] for place in mine], np.int64).reshape(len(mine), key[1])
        columns = tuple(codes(rows[:, i].copy()) for i in range(key[1]))
        found[key] = mine, columns, np.array([pairs[place][1] for place in mine], np.int64)
    return found


def numbers_of(
    pairs: list[tuple[Owner, int]], owners: Owners, values: Values
) -> list[tuple[int, int]]:
    """The numbers of fluent and value of each pair."""
    found = [(0, 0)] * len(pairs)
    for key, (places, columns, codes_) in by_fluent(pairs).items():
        fluents = owners.numbers(key, columns, len(places)).tolist()
        listed = values.numbers(codes_).tolist()
        for place, fluent, value in zip(places, fluents, listed, strict=True):
            found[place] = (fluent, value)
    return found
