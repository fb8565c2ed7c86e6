"""The groundings of a rule for interval lists, each with a number that it keeps.

A grounding is known as soon as the pairs of one of its supports are. More pairs bring more
groundings; those that are there stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from horai.engine.columns import codes, codes_of
from horai.engine.deltas.static_durations import limits
from horai.engine.deltas.static_links import Links
from horai.engine.deltas.static_outline import Outline
from horai.engine.deltas.store import FluentStore
from horai.engine.frames import Frame, deduplicated, stack, unit
from horai.engine.hashing import dense
from horai.engine.matching import build
from horai.engine.relations import Relation, different, join
from horai.engine.static import Static, Support
from horai.engine.world import Key, no_fluent
from horai.lang.core.terms import Term
from horai.lang.ec.errors import blaming
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.temporal.spans import Ints, Mask

Stores = Mapping[Key, FluentStore]


class Rows:
    """The groundings of one rule, with the pairs they read and the pair they speak of.

    `pairs` has, for every lookup, the row of its pair in the store of the fluent, -1 while that is
    not known; `heads` the number of the pair that a grounding speaks of.
    """

    def __init__(self, outline: Outline, heads: FluentStore) -> None:
        self.outline = outline
        self.symbols = heads.symbols
        self._numbers = heads
        self._names = sorted(outline.wanted)
        self._known = FluentStore(no_fluent(len(self._names)), self.symbols)
        self._seen = {lookup.key: 0 for lookup in outline.lookups}
        self._allowed: dict[Key, Mask] = {}
        nothing = np.empty(0, np.int64)
        self.pairs = [nothing for _ in outline.lookups]
        self.heads = nothing
        self.readers = [Links() for _ in outline.lookups]
        self.speakers = Links()
        self._placed = 0  # rows whose pairs have been looked for
        self.longest = 0.0  # of the bounds of duration filters

    @property
    def count(self) -> int:
        """How many there are."""
        return self._known.fluent.pairs.rows

    @property
    def frame(self) -> Frame:
        """Their bindings."""
        columns = self._known.fluent.pairs.columns
        return Frame(self.count, dict(zip(self._names, columns, strict=True)))

    def bindings(self, wanted: list[str]) -> Relation:
        """Some of their variables."""
        columns = self.frame.columns
        return Relation(tuple(columns[name] for name in wanted), self.count)

    def grow(self, static: Static, stores: Stores) -> bool:
        """Find the groundings that new pairs bring. Are there new pairs?"""
        grown = [key for key, seen in self._seen.items() if stores[key].fluent.pairs.rows > seen]
        if not grown:
            return False
        with blaming(self.outline.plan.clause):
            self._allow(grown, static, stores)
            frame = self._new_rows(static, stores)
            if frame.rows:
                self._add(frame)
        before = dict(self._seen)
        for key in grown:
            self._seen[key] = stores[key].fluent.pairs.rows
        self._find_pairs(grown, before, stores)
        return True

    def _allow(self, grown: list[Key], static: Static, stores: Stores) -> None:
        """Note which of the new pairs of derived fluents are in their domain: others count not."""
        for key in grown:
            if key not in static.world.derived or not static.groundings.restricts(key):
                continue
            pairs = stores[key].fluent.pairs
            new = pairs.where(np.arange(self._seen[key], pairs.rows))
            *args, value = new.columns
            allowed = static.groundings.allows(key, tuple(args), value, new.rows)
            before = self._allowed.get(key, np.empty(0, np.bool_))
            self._allowed[key] = np.concatenate((before, allowed))

    def _new_rows(self, static: Static, stores: Stores) -> Frame:
        frames = [
            self._supported(support, first, stores)
            for support in self.outline.supports
            for first in self._starting_points(support, stores)
        ]
        if not frames:
            return Frame(0)
        frame = deduplicated(stack(frames, self.symbols))
        return static.evaluator.run(self.outline.about_rows, frame)

    def _starting_points(self, support: Support, stores: Stores) -> Iterator[op.Lookup]:
        """Lookups with new pairs; one of which nothing was known will do for all."""
        grown = [one for one in support if stores[one.key].fluent.pairs.rows > self._seen[one.key]]
        unseen = [one for one in grown if not self._seen[one.key]]
        yield from unseen[:1] or grown

    def _supported(self, support: Support, first: op.Lookup, stores: Stores) -> Frame:
        """The groundings of a support in which the pair of one lookup is new."""
        frame = unit()
        for lookup in _in_order(support, first):
            since = self._seen[lookup.key] if lookup is first else 0
            pairs = self._pairs(lookup.key, stores, since)
            frame = join(frame, pairs, lookup.terms, self.symbols).to_frame(lambda _: True)
        return Frame(frame.rows, {n: c for n, c in frame.columns.items() if n[0] != "#"})

    def _pairs(self, key: Key, stores: Stores, since: int) -> Relation:
        """The pairs that readers see, from one row on."""
        pairs = stores[key].fluent.pairs
        if key in self._allowed:
            chosen = np.flatnonzero(self._allowed[key])
            return pairs.where(chosen[chosen >= since])
        return pairs.where(np.arange(since, pairs.rows)) if since else pairs

    def _add(self, frame: Frame) -> None:
        for _, duration in self.outline.durations:
            bounds, valid = limits(duration.bound, frame, self.symbols)
            self.longest = max(self.longest, float(bounds.max(initial=0)))
            frame = frame.where(valid)
        table = Relation(tuple(frame.columns[name] for name in self._names), frame.rows)
        before = self.count
        self._known.added(different(table, self.symbols))
        fresh = self.frame.take(np.arange(before, self.count))
        more = np.full(fresh.rows, -1)
        self.pairs = [np.concatenate((known, more)) for known in self.pairs]
        heads = self._head_numbers(fresh)
        self.heads = np.concatenate((self.heads, heads))
        self.speakers.add(np.arange(before, self.count), heads)

    def _head_numbers(self, frame: Frame) -> Ints:
        said = self._table(self.outline.plan.terms, frame)
        ids, firsts = dense([codes_of(column, self.symbols) for column in said.columns], said.rows)
        return self._numbers.added(said.where(firsts))[ids]

    def _find_pairs(self, grown: list[Key], before: dict[Key, int], stores: Stores) -> None:
        """Look for the pairs of new rows, and among new pairs for those that were not known."""
        new = self._placed
        self._placed = self.count
        for place, lookup in enumerate(self.outline.lookups):
            self._place(place, np.arange(new, self.count), stores, 0)
            if lookup.key in grown:
                waiting = np.flatnonzero(self.pairs[place][:new] < 0)
                self._place(place, waiting, stores, before[lookup.key])

    def _place(self, place: int, rows: Ints, stores: Stores, since: int) -> None:
        """Look for what rows read among the pairs from one on."""
        if not len(rows):
            return
        lookup = self.outline.lookups[place]
        asked = self._table(lookup.terms, self.frame.take(rows))
        found = stores[lookup.key].rows_of(asked, since)
        if lookup.key in self._allowed:
            found[~self._allowed[lookup.key][found]] = -1
        self.pairs[place][rows] = found
        self.readers[place].add(rows, found)

    def _table(self, terms: tuple[Term, ...], frame: Frame) -> Relation:
        if not frame.rows:
            return Relation(tuple(codes(np.empty(0, np.int64)) for _ in terms), 0)
        columns = tuple(build(term, frame.columns, frame.rows, self.symbols) for term in terms)
        return Relation(columns, frame.rows)


def _in_order(support: Support, first: op.Lookup) -> Iterator[op.Lookup]:
    """The lookups of a support, each sharing as many variables as it can with those before."""
    yield first
    bound = names(*first.terms)
    left = sorted(support - {first}, key=lambda one: one.term.span or (0, 0))
    while left:
        best = max(left, key=lambda one: len(names(*one.terms) & bound))
        yield best
        bound |= names(*best.terms)
        left.remove(best)
