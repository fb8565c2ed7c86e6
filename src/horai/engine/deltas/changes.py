"""How relations changed from one query to the next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import bits
from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Name
from horai.engine.deltas.store import SpanChange
from horai.engine.hashing import dense
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask

FAR = 1 << 61  # beyond every time, with room to add to it


@dataclass(slots=True)
class PointChange:
    """Points taken out of a log and points put in; `last` is the latest time it had before."""

    gone: Relation
    gone_numbers: Ints
    new: Relation
    new_numbers: Ints
    last: int

    def __bool__(self) -> bool:
        return bool(self.gone.rows or self.new.rows)

    def then(self, other: PointChange, symbols: Symbols) -> PointChange:
        """One more change of the same log, of other points."""
        return PointChange(
            joined([self.gone, other.gone], symbols),
            np.concatenate((self.gone_numbers, other.gone_numbers)),
            joined([self.new, other.new], symbols),
            np.concatenate((self.new_numbers, other.new_numbers)),
            self.last,
        )


Changed = dict[Name, PointChange | SpanChange]


@dataclass(slots=True)
class Touched:
    """Rows of a relation and the time in which each has changed."""

    rows: Relation
    low: Ints
    high: Ints

    def where(self, mask: Mask) -> Touched:
        """Some of the rows."""
        return Touched(self.rows.where(mask), self.low[mask], self.high[mask])


def touched(change: PointChange | SpanChange, symbols: Symbols) -> Touched:
    """What a change is about, whether it came or went."""
    if isinstance(change, SpanChange):
        pieces = change.pieces
        return Touched(change.pairs.where(pieces.key), pieces.start, pieces.end)
    both = joined([change.gone, change.new], symbols)
    time: Ints = both.columns[-1].data
    return Touched(Relation(both.columns[:-1], both.rows), time, time + 1)


def exchanged(log: Log, gone: Ints, new: Relation) -> PointChange:
    """Take points out of a log by their numbers and put others in."""
    last = log.last
    old = log.remove(gone)
    return PointChange(old, gone, new, log.add(new), last)


def replaced(log: Log, table: Relation) -> PointChange:
    """Make a log say what was worked out from scratch; what stays keeps its number."""
    before = log.whole()
    left, right = unmatched(before.table, table, log.symbols)
    return exchanged(log, before.numbers[left], table.where(right))


def unmatched(one: Relation, other: Relation, symbols: Symbols) -> tuple[Ints, Ints]:
    """The rows of two tables that have no partner in the other; equal ones pair off one to one."""
    if not one.rows or not other.rows:
        return np.arange(one.rows), np.arange(other.rows)
    both = joined([one, other], symbols)
    ids, _ = dense([bits(column) for column in both.columns], both.rows)
    return _spare(ids[: one.rows], ids[one.rows :]), _spare(ids[one.rows :], ids[: one.rows])


def _spare(mine: Ints, theirs: Ints) -> Ints:
    """Rows beyond the number of equal rows on the other side."""
    size = int(max(mine.max(), theirs.max())) + 1
    there = np.bincount(theirs, minlength=size)
    sorting = np.argsort(mine, kind="stable")
    ordered = mine[sorting]
    begins = np.searchsorted(ordered, ordered)
    spare = np.arange(len(ordered)) - begins >= there[ordered]
    return np.sort(sorting[spare])


def within_reach(change: Touched, back: int | None, ahead: int | None) -> tuple[Ints, Ints]:
    """From when to when a rule that asks about the changed time can say something else."""
    low = np.full(len(change.low), -FAR) if ahead is None else _bounded(change.low) - ahead
    high = np.full(len(change.high), FAR) if back is None else _bounded(change.high) + back
    return low, high


def _bounded(time: Ints) -> Ints:
    return np.clip(time, -FAR, FAR)
