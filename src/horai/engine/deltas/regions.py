"""Where fluents are settled anew: from a point that came or went until after the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, bits, concat
from horai.engine.deltas.fluent_points import FluentPoints
from horai.engine.hashing import dense
from horai.engine.heads import Said
from horai.engine.symbols import Symbols
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Mask, next_point


@dataclass(slots=True)
class Regions:
    """Times `low` to `high` in which fluents are settled anew; `owner` is a row of `args`."""

    args: tuple[Column, ...]
    owner: Ints
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.owner)

    def where(self, mask: Mask | Ints) -> Regions:
        """Some of the regions."""
        return Regions(self.args, self.owner[mask], self.low[mask], self.high[mask])

    def asked(self) -> list[Column]:
        """The arguments of the fluent of every region."""
        return [column.take(self.owner) for column in self.args]


def changed_regions(
    parts: list[Said], points: FluentPoints, arity: int, before: int, tick: int, symbols: Symbols
) -> tuple[Regions, list[Ints]]:
    """Where fluents are settled anew because of points that came or went, and the owner of each."""
    args = tuple(concat([part.args[i] for part in parts], symbols) for i in range(arity))
    time = np.concatenate([part.time for part in parts])
    ids, firsts = dense([bits(column) for column in args], len(time))
    low = time - time % tick  # all points of a cell act together
    sorting = order(ids, low)
    owner, low = ids[sorting], low[sorting]
    taken = tuple(column.take(firsts) for column in args)
    found = Regions(taken, owner, low, np.full(len(low), INF))
    late = np.flatnonzero(low <= before)
    if len(late):
        found.high[late] = _ends(found.where(late), points, tick)
    return _merged(found), np.split(ids, np.cumsum([len(part) for part in parts])[:-1])


def _ends(regions: Regions, points: FluentPoints, tick: int) -> Ints:
    """The time-point after the first point that follows the cell of each change."""
    following = points.following(regions.asked(), regions.low + tick - 1)
    return next_point(following, tick)


def _merged(regions: Regions) -> Regions:
    """Regions that overlap or touch as one; they are sorted by owner and time."""
    owner, low, high = regions.owner, regions.low, regions.high
    if len(owner) < 2:
        return regions
    new = np.ones(len(owner), np.bool_)
    # The end of a region only grows with its beginning, so neighbours tell all.
    new[1:] = (owner[1:] != owner[:-1]) | (low[1:] > high[:-1])
    begins = np.flatnonzero(new)
    return Regions(regions.args, owner[begins], low[begins], np.maximum.reduceat(high, begins))
