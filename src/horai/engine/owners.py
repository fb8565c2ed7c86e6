"""Fluent instances and values by number, for all fluents of a component together."""

from __future__ import annotations

import numpy as np

from horai.engine.clockstate import Owner
from horai.engine.columns import Column, codes, concat
from horai.engine.columns import codes_of as coded
from horai.engine.hashing import Index, build, dense, first
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints

Key = tuple[str, int]


class Owners:
    """Numbers for fluent instances; those of one name follow each other."""

    def __init__(
        self, tables: dict[Key, list[tuple[tuple[Column, ...], int]]], symbols: Symbols
    ) -> None:
        self.symbols = symbols
        self.args: dict[Key, tuple[Column, ...]] = {}
        self.offset: dict[Key, int] = {}
        self.count: dict[Key, int] = {}
        self._index: dict[Key, Index] = {}
        total = 0
        for key, parts in tables.items():
            size = sum(rows for _, rows in parts)
            columns = [concat([args[i] for args, _ in parts], symbols) for i in range(key[1])]
            _, firsts = dense([coded(column, symbols) for column in columns], size)
            self.args[key] = tuple(column.take(firsts) for column in columns)
            self.offset[key], self.count[key] = total, len(firsts)
            self._index[key] = build([coded(column, symbols) for column in self.args[key]])
            total += len(firsts)
        self.total = total

    def numbers(self, key: Key, args: tuple[Column, ...], rows: int) -> Ints:
        """The numbers of some instances; one beyond all for those that are never initiated."""
        if key not in self.args or not self.count[key]:
            return np.full(rows, self.total, np.int64)
        if not args:
            return np.full(rows, self.offset[key], np.int64)
        place = first([coded(column, self.symbols) for column in args], self._index[key])
        return np.where(place < 0, self.total, place + self.offset[key])

    def owned(self, key: Key, number: Ints) -> tuple[Column, ...]:
        """The arguments of instances of one name by their numbers."""
        return tuple(column.take(number - self.offset[key]) for column in self.args[key])


class Values:
    """Numbers for the codes of values."""

    def __init__(self, parts: list[Ints]) -> None:
        whole = np.concatenate(parts) if parts else np.empty(0, np.int64)
        self.codes: Ints = np.unique(whole)

    def numbers(self, wanted: Ints) -> Ints:
        """The numbers of codes; one beyond all for values that nothing ever gets."""
        if not len(self.codes):
            return np.zeros(len(wanted), np.int64)
        at = np.minimum(np.searchsorted(self.codes, wanted), len(self.codes) - 1)
        found: Ints = np.where(self.codes[at] == wanted, at, len(self.codes))
        return found


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
