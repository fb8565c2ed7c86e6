"""Simple fluents without cycles, by change: inertia only where points came or went.

A point that came late changes what holds until the points after it make up for it. So a fluent is
settled anew in a region: from the changed point until after the next one. If it then is as it was
before, nothing later changes; if not, it is settled anew to the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, bits, codes_of, concat, ints, narrow
from horai.engine.deltas.rules import RuleDelta
from horai.engine.deltas.store import FluentStore, SpanChange, in_regions, moved, since
from horai.engine.hashing import build, dense, first, probe
from horai.engine.heads import Said, together
from horai.engine.relations import Relation
from horai.engine.simple import Held, settle
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Mask, Spans, next_point


@dataclass(slots=True)
class Regions:
    """Times `low` to `high` in which fluents are settled anew; `owner` is a row of `args`."""

    args: tuple[Column, ...]
    owner: Ints
    low: Ints
    high: Ints

    def where(self, mask: Mask | Ints) -> Regions:
        """Some of the regions."""
        return Regions(self.args, self.owner[mask], self.low[mask], self.high[mask])

    def asked(self) -> list[Column]:
        """The arguments of the fluent of every region."""
        return [column.take(self.owner) for column in self.args]


@dataclass(slots=True)
class Settled:
    """What holds in some regions: rows of the store and spans, and the pair at the end of each."""

    spans: Spans
    region: Ints  # of each span
    last_row: Ints  # -1 where nothing holds
    last_start: Ints

    def of(self, regions: Mask) -> Settled:
        """What holds in some of the regions."""
        chosen = regions[self.region]
        spans, region = self.spans.where(chosen), self.region[chosen]
        return Settled(spans, region, self.last_row, self.last_start)


def changed_regions(
    parts: list[Said], rules: list[RuleDelta], arity: int, before: int, tick: int, symbols: Symbols
) -> Regions:
    """Where fluents are settled anew because of points that came or went."""
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
        found.high[late] = _ends(found.where(late), rules, tick)
    return _merged(found)


def _ends(regions: Regions, rules: list[RuleDelta], tick: int) -> Ints:
    """The time-point after the first point that follows the cell of each change."""
    cell = regions.low + tick - 1
    keys = regions.asked()
    following = np.full(len(cell), INF)
    for rule in rules:
        following = np.minimum(following, rule.following(keys, cell))
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


def resettled(
    store: FluentStore,
    regions: Regions,
    rules: list[RuleDelta],
    new: list[Said],
    before: int,
    tick: int,
    symbols: Symbols,
) -> SpanChange:
    """Settle fluents anew in some regions. `new` are the points of each rule that have come."""
    fresh = regions.low > before
    parts: list[tuple[Regions, Settled]] = []
    if not fresh.all():
        late = regions.where(~fresh)
        found = _settle(store, late, _from_logs(late, rules), tick, symbols)
        open_ = ~_as_before(store, late, found, symbols)
        if open_.any():
            # What has not come back to what it was goes on to the end, and all after it with it.
            first = np.full(int(regions.owner.max()) + 1, INF)
            np.minimum.at(first, late.owner[open_], late.low[open_])
            fresh &= regions.low < first[regions.owner]
            good = late.low < first[late.owner]
            parts.append((late.where(good), found.of(good)))
            late = late.where(late.low == first[late.owner])
            late.high[:] = INF
            found = _settle(store, late, _from_logs(late, rules), tick, symbols)
        parts.append((late, found))
    if fresh.any():
        here = regions.where(fresh)
        points = [_of_regions(said, here, before, symbols) for said in new]
        parts.append((here, _settle(store, here, _by_kind(points, rules), tick, symbols)))
    return _exchanged(store, parts, symbols)


Points = tuple[list[Said], list[Said]]  # initiations, terminations; their argument is a region


def _from_logs(regions: Regions, rules: list[RuleDelta]) -> Points:
    """The points of all rules within some regions."""
    keys = regions.asked()
    found = [rule.between(keys, regions.low, regions.high) for rule in rules]
    return _by_kind([_in_region(said, asked) for asked, said in found], rules)


def _by_kind(points: list[Said], rules: list[RuleDelta]) -> Points:
    pairs = list(zip(points, rules, strict=True))
    begun = [said for said, rule in pairs if rule.driven.plan.kind == "initiated"]
    return begun, [said for said, rule in pairs if rule.driven.plan.kind != "initiated"]


def _in_region(said: Said, region: Ints) -> Said:
    return Said((ints(region),), said.time, said.value, said.form)


def _of_regions(said: Said, regions: Regions, before: int, symbols: Symbols) -> Said:
    """The points after a time that belong to fluents with a region."""
    region = _asked_by(said, regions, symbols)
    there = (region >= 0) & (said.time > before)
    return _in_region(said, region).where(there)


def _as_before(store: FluentStore, regions: Regions, found: Settled, symbols: Symbols) -> Mask:
    """Is it at the end of each region as it was?"""
    row, start = _holding(store.fluent, regions, regions.high, symbols)
    same: Mask = (found.last_row == row) & ((row < 0) | (found.last_start == start))
    same |= regions.high == INF
    return same


def _settle(
    store: FluentStore, regions: Regions, points: Points, tick: int, symbols: Symbols
) -> Settled:
    """Inertia within the regions, each as if it were a fluent of its own."""
    begun, ended = points
    row, start = _holding(store.fluent, regions, regions.low, symbols)
    holds = np.flatnonzero(row >= 0)
    value = _values(store.fluent, row[holds], symbols)
    held = Held((ints(holds),), value, start[holds])
    fluent = settle(1, together(begun, 1, True, symbols), ended, held, tick, symbols)
    return _placed(store, regions, fluent, symbols)


def _asked_by(said: Said, regions: Regions, symbols: Symbols) -> Ints:
    """The region of each point, -1 for none: there is at most one for each fluent."""
    if not regions.args:
        return np.zeros(len(said), np.int64)
    keys = [codes_of(column, symbols) for column in said.args]
    return first(keys, build([codes_of(column, symbols) for column in regions.asked()]))


def _placed(store: FluentStore, regions: Regions, fluent: Fluent, symbols: Symbols) -> Settled:
    """Spans by region and value as spans of the pairs of the store, cut off where regions end."""
    region: Ints = fluent.pairs.columns[0].data
    value = fluent.pairs.columns[1]
    owner = regions.owner[region]
    ids, firsts = dense([owner, codes_of(value, symbols)], fluent.pairs.rows)
    args = tuple(column.take(owner[firsts]) for column in regions.args)
    named = Relation((*args, narrow(value.take(firsts), symbols)), len(firsts))
    row = store.added(named)[ids] if len(ids) else ids
    spans = fluent.spans
    last_row = np.full(len(regions.low), -1)
    last_start = np.zeros(len(regions.low), np.int64)
    of = region[spans.key]
    lasts = np.flatnonzero((spans.end == INF) & (regions.high[of] != INF))
    last_row[of[lasts]] = row[spans.key[lasts]]
    last_start[of[lasts]] = spans.start[lasts]
    keep = np.ones(len(spans), np.bool_)
    keep[lasts] = False
    kept = spans.where(keep)
    key = row[kept.key] if len(kept) else kept.key
    sorting = order(key, kept.start)
    found = Spans(key[sorting], kept.start[sorting], kept.end[sorting])
    return Settled(found, of[keep][sorting], last_row, last_start)


def _holding(fluent: Fluent, regions: Regions, time: Ints, symbols: Symbols) -> tuple[Ints, Ints]:
    """The row of the pair that holds at a time of each region, or -1, and since when."""
    row = np.full(len(time), -1)
    start = np.zeros(len(time), np.int64)
    of, pair = _pairs(fluent, regions, symbols)
    there, begun = since(fluent, pair, time[of])
    row[of[there]] = pair[there]
    start[of[there]] = begun[there]
    return row, start


def _pairs(fluent: Fluent, regions: Regions, symbols: Symbols) -> tuple[Ints, Ints]:
    """All pairs of the fluent of each region."""
    if not regions.args:
        many = len(regions.owner)
        of = np.repeat(np.arange(many), fluent.pairs.rows)
        return of, np.tile(np.arange(fluent.pairs.rows), many)
    positions = tuple((place, True) for place in range(len(regions.args)))
    keys = [codes_of(column, symbols) for column in regions.asked()]
    return probe(keys, fluent.pairs.index(positions, symbols))


def _values(fluent: Fluent, rows: Ints, symbols: Symbols) -> Ints:
    if not len(rows):
        return np.empty(0, np.int64)
    return codes_of(fluent.pairs.columns[-1].take(rows), symbols)


def _exchanged(
    store: FluentStore, parts: list[tuple[Regions, Settled]], symbols: Symbols
) -> SpanChange:
    """Put in what holds in the regions, for what held there before."""
    drop = np.zeros(len(store.fluent.spans), np.bool_)
    for regions, _ in parts:
        of, pair = _pairs(store.fluent, regions, symbols)
        drop |= in_regions(store.fluent, pair, regions.low[of], regions.high[of])
    new = [found.spans for _, found in parts]
    if len(new) == 1:
        return store.exchange(drop, new[0])
    spans = Spans(*(np.concatenate(columns) for columns in zip(*new, strict=True)))
    return store.exchange(drop, moved(spans, np.arange(store.fluent.pairs.rows)))
