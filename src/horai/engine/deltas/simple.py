"""Simple fluents without cycles, by change: inertia only where points came or went.

A point that came late changes what holds until the points after it make up for it. So a fluent is
settled anew in a region: from the changed point until after the next one. If it then is as it was
before, nothing later changes; if not, it is settled anew to the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import codes, codes_of, narrow
from horai.engine.deltas.fluent_points import FluentPoints
from horai.engine.deltas.regions import Regions
from horai.engine.deltas.store import FluentStore, SpanChange, in_regions, moved, since
from horai.engine.hashing import dense, probe
from horai.engine.heads import Said, together
from horai.engine.relations import Relation
from horai.engine.simple import Held, settle_numbered, spelled_out
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.temporal.inertia import ValueSpans
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Mask, Spans

Placed = list[tuple[Ints, Said]]  # points, each with the number of its region


@dataclass(slots=True)
class Points:
    """Points within some regions."""

    begun: Placed
    ended: Placed


@dataclass(slots=True)
class Settled:
    """What holds in some regions: rows of the store and spans, and the pair at the end of each."""

    spans: Spans
    region: Ints  # of each span
    last_row: Ints  # -1 where nothing holds
    last_start: Ints

    def of(self, regions: Mask) -> Spans:
        """What holds in some of the regions."""
        return self.spans.where(regions[self.region])


@dataclass(slots=True)
class Fresh:
    """Points of one rule that have come, each with the owner of its fluent among the regions."""

    said: Said
    owner: Ints
    initiates: bool


def resettled(
    store: FluentStore,
    regions: Regions,
    points: FluentPoints,
    new: list[Fresh],
    before: int,
    tick: int,
    symbols: Symbols,
) -> SpanChange:
    """Settle fluents anew in some regions. `new` are the points of each rule that have come."""
    was = store.fluent  # pairs that are added hold nowhere yet
    pairs = _pairs(was, regions, symbols)
    settling = _Settling(store, was, points, tick, symbols)
    late = regions.low <= before
    inside = _new_points(new, regions, before)
    if late.any():
        settling.add_known(inside, regions, late)
    found = settling.within(regions, pairs, inside)
    settled, spans = np.ones(len(regions), np.bool_), [found.spans]
    drop = [(regions, pairs)]
    open_ = late & ~_as_before(was, regions, pairs, found) if late.any() else ~settled
    if open_.any():
        # What has not come back to what it was goes on to the end, and all after it with it.
        first = np.full(int(regions.owner.max()) + 1, INF)
        np.minimum.at(first, regions.owner[open_], regions.low[open_])
        settled = regions.low < first[regions.owner]
        chosen = np.flatnonzero(regions.low == first[regions.owner])
        onward = regions.where(chosen)
        onward.high[:] = INF
        theirs = _of_regions(pairs, chosen, len(regions))
        ahead = Points([], [])
        settling.add_known(ahead, onward, np.ones(len(onward), np.bool_))
        spans = [found.of(settled), settling.within(onward, theirs, ahead).spans]
        of, pair = pairs
        drop = [(regions, (of[settled[of]], pair[settled[of]])), (onward, theirs)]
    return _exchanged(store, was, drop, spans)


def _new_points(new: list[Fresh], regions: Regions, before: int) -> Points:
    """The points after a time, by the last region of their fluent if nothing late is in it."""
    last = np.full(int(regions.owner.max()) + 1, -1)
    fresh = np.flatnonzero(regions.low > before)
    last[regions.owner[fresh]] = fresh
    found = Points([], [])
    for one in new:
        region = last[one.owner]
        there = (region >= 0) & (one.said.time > before)
        if not there.all():
            region, one = region[there], Fresh(one.said.where(there), one.owner, one.initiates)
        (found.begun if one.initiates else found.ended).append((region, one.said))
    return found


@dataclass(slots=True)
class _Settling:
    """Inertia in regions of one fluent."""

    store: FluentStore
    was: Fluent  # before anything of it changes
    points: FluentPoints
    tick: int
    symbols: Symbols

    def add_known(self, into: Points, regions: Regions, chosen: Mask) -> None:
        """All points within some of the regions."""
        numbers = np.flatnonzero(chosen)
        asked = regions.where(numbers)
        begun, ended = self.points.between(asked.asked(), asked.low, asked.high)
        into.begun += [(numbers[region], said) for region, said in begun]
        into.ended += [(numbers[region], said) for region, said in ended]

    def within(self, regions: Regions, pairs: tuple[Ints, Ints], points: Points) -> Settled:
        """Inertia within the regions, each as if it were a fluent of its own."""
        row, start = _holding(self.was, pairs, regions.low)
        holds = np.flatnonzero(row >= 0)
        held = Held((), _values(self.was, row[holds], self.symbols), start[holds])
        begun = together([_bare(said) for _, said in points.begun], 0, True, self.symbols)
        known = np.concatenate((begun.value, held.value)) if begun.value is not None else held.value
        ended = [
            (region, part)
            for region, said in points.ended
            for part in spelled_out(said, known, self.symbols)
        ]
        of = [np.concatenate([np.empty(0, np.int64), *(region for region, _ in points.begun)])]
        numbers = [*of, holds, *(region for region, _ in ended)]
        terminated = [said for _, said in ended]
        found, values = settle_numbered(numbers, begun, terminated, held, self.tick)
        return self._placed(regions, found, values)

    def _placed(self, regions: Regions, found: ValueSpans, values: Ints) -> Settled:
        """Spans by region and value as spans of pairs of the store, cut off where regions end."""
        owner = regions.owner[found.key]
        ids, firsts = dense([owner * len(values) + found.value], len(owner))
        args = tuple(column.take(owner[firsts]) for column in regions.args)
        value = narrow(codes(values[found.value[firsts]]), self.symbols)
        row = self.store.added(Relation((*args, value), len(firsts)))[ids] if len(ids) else ids
        last_row = np.full(len(regions), -1)
        last_start = np.zeros(len(regions), np.int64)
        ends = (found.end == INF) & (regions.high[found.key] != INF)
        lasts = found.key[ends]
        last_row[lasts] = row[ends]
        last_start[lasts] = found.start[ends]
        kept = np.flatnonzero(~ends)
        kept = kept[order(row[kept], found.start[kept])]
        spans = Spans(row[kept], found.start[kept], found.end[kept])
        return Settled(spans, found.key[kept], last_row, last_start)


def _bare(said: Said) -> Said:
    """Without arguments: the region says whose point it is."""
    return Said((), said.time, said.value, said.form)


def _as_before(fluent: Fluent, regions: Regions, pairs: tuple[Ints, Ints], found: Settled) -> Mask:
    """Is it at the end of each region as it was?"""
    row, start = _holding(fluent, pairs, regions.high)
    same: Mask = (found.last_row == row) & ((row < 0) | (found.last_start == start))
    same |= regions.high == INF
    return same


def _holding(fluent: Fluent, pairs: tuple[Ints, Ints], time: Ints) -> tuple[Ints, Ints]:
    """The row of the pair that holds at a time of each region, or -1, and since when."""
    row = np.full(len(time), -1)
    start = np.zeros(len(time), np.int64)
    of, pair = pairs
    there, begun = since(fluent, pair, time[of])
    row[of[there]] = pair[there]
    start[of[there]] = begun[there]
    return row, start


def _pairs(fluent: Fluent, regions: Regions, symbols: Symbols) -> tuple[Ints, Ints]:
    """All pairs of the fluent of each region: numbers of regions, and rows of the store."""
    if not regions.args:
        many = len(regions)
        of = np.repeat(np.arange(many), fluent.pairs.rows)
        return of, np.tile(np.arange(fluent.pairs.rows), many)
    positions = tuple((place, True) for place in range(len(regions.args)))
    keys = [codes_of(column, symbols) for column in regions.asked()]
    return probe(keys, fluent.pairs.index(positions, symbols))


def _of_regions(pairs: tuple[Ints, Ints], chosen: Ints, many: int) -> tuple[Ints, Ints]:
    """The pairs of some regions, by their numbers among these."""
    number = np.full(many, -1)
    number[chosen] = np.arange(len(chosen))
    of, pair = pairs
    there = number[of] >= 0
    return number[of[there]], pair[there]


def _values(fluent: Fluent, rows: Ints, symbols: Symbols) -> Ints:
    if not len(rows):
        return np.empty(0, np.int64)
    return codes_of(fluent.pairs.columns[-1].take(rows), symbols)


def _exchanged(
    store: FluentStore,
    was: Fluent,
    drop: list[tuple[Regions, tuple[Ints, Ints]]],
    new: list[Spans],
) -> SpanChange:
    """Put in what holds in the regions, for what held there before."""
    gone = np.zeros(len(was.spans), np.bool_)
    for regions, (of, pair) in drop:
        gone |= in_regions(was, pair, regions.low[of], regions.high[of])
    if len(new) == 1:
        return store.exchange(gone, new[0])
    spans = Spans(*(np.concatenate(columns) for columns in zip(*new, strict=True)))
    return store.exchange(gone, moved(spans, np.arange(store.fluent.pairs.rows)))
