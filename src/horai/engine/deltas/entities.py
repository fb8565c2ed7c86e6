"""Some entities of a component, by the codes of the arguments that name them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, codes, codes_of
from horai.engine.hashing import build, dense, first
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask

Args = tuple[int, ...]


@dataclass(slots=True)
class Entities:
    """Some entities by the codes of their arguments."""

    keys: list[Ints]
    size: int

    def having(self, args: tuple[Column, ...], rows: int, symbols: Symbols) -> Mask:
        """Which rows are about one of them?"""
        if not self.size or not rows:
            return np.zeros(rows, np.bool_)
        if not self.keys:
            return np.ones(rows, np.bool_)
        asked = [codes_of(column, symbols) for column in args]
        found: Mask = first(asked, build(self.keys)) >= 0
        return found

    def tuples(self) -> set[Args]:
        """Their arguments."""
        if not self.keys:
            return {()} if self.size else set()
        return set(zip(*(key.tolist() for key in self.keys), strict=True))

    def columns(self) -> list[Column]:
        """Their arguments as columns."""
        return [codes(key) for key in self.keys]


def entities(found: set[Args], arity: int) -> Entities:
    """Entities by their arguments."""
    rows = np.array(sorted(found), np.int64).reshape(len(found), arity)
    return Entities([rows[:, place].copy() for place in range(arity)], len(found))


def different(keys: list[Ints], rows: int) -> set[Args]:
    """The entities that some rows are about."""
    if not rows:
        return set()
    _, firsts = dense(keys, rows)
    return set(zip(*(key[firsts].tolist() for key in keys), strict=True)) if keys else {()}
