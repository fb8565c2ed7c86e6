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
    last_row: Ints  # -1 where nothing holds
    last_start: Ints


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
    new: list[Said] | None,
    tick: int,
    symbols: Symbols,
) -> SpanChange:
    """Settle fluents anew in some regions. `new` are the points of each rule if these are all."""
    found = _settle(store, regions, rules, new, tick, symbols)
    old_row, old_start = _holding(store.fluent, regions, regions.high, symbols)
    same = (found.last_row == old_row) & ((old_row < 0) | (found.last_start == old_start))
    same |= regions.high == INF
    if not same.all():
        # What has not come back to what it was goes on to the end, and all after it with it.
        open_ = np.full(int(regions.owner.max()) + 1, INF)
        np.minimum.at(open_, regions.owner[~same], regions.low[~same])
        regions.high[regions.low >= open_[regions.owner]] = INF
        first = np.ones(len(same), np.bool_)
        first[1:] = (regions.owner[1:] != regions.owner[:-1]) | (regions.high[:-1] != INF)
        regions = regions.where(first)
        found = _settle(store, regions, rules, None, tick, symbols)
    return _exchanged(store, regions, found, symbols)


def _settle(
    store: FluentStore,
    regions: Regions,
    rules: list[RuleDelta],
    new: list[Said] | None,
    tick: int,
    symbols: Symbols,
) -> Settled:
    """Inertia within the regions, each as if it were a fluent of its own."""
    begun: list[Said] = []
    ended: list[Said] = []
    keys = regions.asked()
    for place, rule in enumerate(rules):
        if new is None:
            asked, said = rule.between(keys, regions.low, regions.high)
        else:
            asked, said = _asked_by(new[place], regions, symbols), new[place]
        here = Said((ints(asked),), said.time, said.value, said.form)
        (begun if rule.driven.plan.kind == "initiated" else ended).append(here)
    row, start = _holding(store.fluent, regions, regions.low, symbols)
    holds = np.flatnonzero(row >= 0)
    value = _values(store.fluent, row[holds], symbols)
    held = Held((ints(holds),), value, start[holds])
    fluent = settle(1, together(begun, 1, True, symbols), ended, held, tick, symbols)
    return _placed(store, regions, fluent, symbols)


def _asked_by(said: Said, regions: Regions, symbols: Symbols) -> Ints:
    """The region of each point: there is one for each fluent."""
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
    return Settled(moved(kept, row), last_row, last_start)


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
    store: FluentStore, regions: Regions, found: Settled, symbols: Symbols
) -> SpanChange:
    """Put in what holds in the regions, for what held there before."""
    of, pair = _pairs(store.fluent, regions, symbols)
    drop = in_regions(store.fluent, pair, regions.low[of], regions.high[of])
    return store.exchange(drop, found.spans)
