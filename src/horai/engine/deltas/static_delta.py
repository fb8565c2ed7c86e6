"""One rule for interval lists by change.

Set operations say something of each time-point by itself. So where no operand has changed the
result has not either, and elsewhere it follows from the operands there. Duration filters and Allen
relations look at whole intervals; the lists they read are kept.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from horai.engine.deltas.static_durations import Measured
from horai.engine.deltas.static_links import common, moved, together, within_targets
from horai.engine.deltas.static_needs import Needs, Places, needs_of
from horai.engine.deltas.static_outline import looked_at, outline
from horai.engine.deltas.static_relations import Related
from horai.engine.deltas.static_rows import Rows, Stores
from horai.engine.deltas.static_tables import Combination, Leaf, combinations
from horai.engine.deltas.store import FluentStore, SpanChange
from horai.engine.static import Remembered, Static
from horai.engine.world import Fluent, Key, World
from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.plan.program import StaticPlan
from horai.temporal.changes import Change, either
from horai.temporal.clip import clip
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import FIRST, INF, Spans, no_spans
from horai.temporal.sweeps import Lists as RowLists
from horai.temporal.sweeps import no_lists, swept

Changes = Mapping[Key, SpanChange]


class StaticDelta:
    """One rule. Its groundings are `rows`, each with the pairs it reads and the one it tells of."""

    def __init__(self, plan: StaticPlan, heads: FluentStore) -> None:
        self.outline = outline(plan)
        self.symbols = heads.symbols
        self.rows = Rows(self.outline, heads)
        self.looking = {
            place: Measured(one) if isinstance(one, ec.DurationFilter) else Related(one)
            for place, one in self.outline.looking
        }
        listed = [looked_at(one) for _, one in self.outline.looking]
        terms = [*(term for several in listed for term in several), plan.result]
        given = terms, self.outline.lookups, self.outline.operations
        *needs, self.said = needs_of(*given)
        *made, self.result = combinations(*given)
        left = iter(zip(made, needs, strict=True))
        self.lists_of = {
            place: [next(left) for _ in several]
            for place, several in zip(self.looking, listed, strict=True)
        }
        operations = (one for one in self.outline.operations if isinstance(one, ec.IntervalOp))
        self._complements = any(one.kind == "complement_all" for one in operations)

    def build(self, static: Static, stores: Stores, operands: Mapping[int, Remembered]) -> None:
        """Begin from what was worked out from scratch; `operands` are lists inside the rule."""
        self._grow(static, stores)
        for place, one in self.looking.items():
            whole = [
                self._whole(2 * place + side, term, stores, operands.get(2 * place + side))
                for side, term in enumerate(looked_at(one.literal))
            ]
            if isinstance(one, Measured):
                one.build(whole[0], static.world.query)
            else:
                one.build((whole[0], whole[1]), static.world)

    def changed(self, static: Static, stores: Stores, changes: Changes, cut: int) -> Spans:
        """The time after the cut, by row, in which what the rule says may have changed."""
        before = self.rows.count
        self._grow(static, stores)
        # Whatever made a row known, its intervals are measured as a whole.
        new = np.arange(before, self.rows.count)
        ever = Spans(new, np.full(len(new), FIRST), np.full(len(new), INF))
        world = static.world
        # The next cut depends on it, whether anything has changed or not.
        world.undecided.longest = max(world.undecided.longest, self.rows.longest)
        # At the start of the run nothing is final yet, not even what holds from the start on.
        low = cut + 1 if cut > world.start else cut
        longer = no_spans()  # where intervals have come to be long enough, or no longer are
        for place, one in self.looking.items():
            found: list[Change] = []
            whole = [one.whole] if isinstance(one, Measured) else one.sides
            for (made, needs), old in zip(self.lists_of[place], whole, strict=True):
                dirty = either(clip(self._dirty(needs, stores, changes), low), longer)
                region = either(dirty, self._held(ever, needs.required, stores))
                found.append(self.swept(region, made, stores, world, by_row(old, self.rows.count)))
                static.asked(len(region))
            more = one.update(found, world)
            longer = either(longer, clip(more, low))
        where = either(clip(self._dirty(self.said, stores, changes), low), longer)
        static.asked(len(where))
        return where

    def swept(
        self, where: Spans, made: Combination, stores: Stores, world: World, old: RowLists
    ) -> Change:
        """How a list of the rule differs from what it was, in a region of rows."""
        if self._complements:
            where = clip(where, world.first)
        return swept(where, [self._leaf(leaf, stores) for leaf in made.leaves], made.table, old)

    def _leaf(self, leaf: Leaf, stores: Stores) -> RowLists:
        if not leaf.is_lookup:
            return by_row(self.looking[leaf.place].chosen, self.rows.count)
        return self._holds(leaf.place, stores)

    def lists(self, where: Spans, stores: Stores, world: World) -> Spans:
        """What the rule says in a region, both by the pair it tells of; in any order."""
        rows = together([self.rows.speakers.back(where)])
        found = self.swept(rows, self.result, stores, world, no_lists(self.rows.count))
        return moved(found.new, self.rows.heads)

    def operands(self) -> dict[int, Remembered]:
        """The lists inside the rule that are looked at as intervals, as a memory keeps them."""
        found: dict[int, Remembered] = {}
        for number, named in self.outline.named.items():
            rows, one = self.rows.bindings(named), self.looking[number // 2]
            spans = one.whole if isinstance(one, Measured) else one.sides[number % 2]
            found[number] = (Fluent(rows, spans), rows)
        return found

    @property
    def compares(self) -> bool:
        """Does it compare intervals with others that may lie before them?"""
        return any(isinstance(one, Related) for one in self.looking.values())

    def forget(self, until: int) -> None:
        """Drop intervals that were over by then."""
        for one in self.looking.values():
            one.forget(until)

    def _grow(self, static: Static, stores: Stores) -> None:
        if self.rows.grow(static, stores):
            for one in self.looking.values():
                if isinstance(one, Measured):
                    one.grow(self.rows.frame, self.symbols)

    def _whole(self, number: int, term: Term, stores: Stores, known: Remembered | None) -> Spans:
        """A list that is looked at as intervals, with true starts."""
        if number not in self.outline.named:
            lookups = enumerate(self.outline.lookups)
            at, lookup = next((i, one) for i, one in lookups if one.result == term)
            return stores[lookup.key].fluent.lists(self.rows.pairs[at])
        if known is None:
            return no_spans()
        lists = FluentStore(known[0], self.symbols)
        return lists.fluent.lists(lists.rows_of(self.rows.bindings(self.outline.named[number])))

    def _dirty(self, needs: Needs, stores: Stores, changes: Changes) -> Spans:
        """Where what a list is made of has changed, by row, and with it perhaps the list.

        That is enough for new rows too: they say something only where a pair that is new holds.
        """
        parts: list[Spans] = []
        for place in sorted(needs.direct):
            change = changes.get(self.outline.lookups[place].key)
            if not change:
                continue
            parts += self._back(place, change.pieces, needs, stores, changes)
        return together(parts)

    def _back(
        self, place: int, pieces: Spans, needs: Needs, stores: Stores, changes: Changes
    ) -> list[Spans]:
        """Where rows read what has changed, while operands that they need hold; in any order.

        Time in which several have changed is found with the first of them.
        """
        others = sorted(needs.required - {place})
        if not others:
            return [self.rows.readers[place].back(pieces)]
        held = [[self._holds(other, stores)] for other in others]
        for lists, other in zip(held, others, strict=True):
            if other > place or other not in needs.direct:
                lists += self._changed(other, changes)
        sides = self.rows.readers[place], self.rows.readers[others[0]]
        target = self.rows.pairs[place]
        found = [one for lists in held[0] for one in common(pieces, target, lists, *sides)]
        for lists in held[1:]:
            found = [within_targets(one, where) for where in found for one in lists]
        return found

    def _holds(self, place: int, stores: Stores) -> RowLists:
        """When an operand holds."""
        fluent = stores[self.outline.lookups[place].key].fluent
        return RowLists(fluent.spans, fluent.offsets, self.rows.pairs[place])

    def _changed(self, place: int, changes: Changes) -> list[RowLists]:
        """Where an operand has changed, if it has."""
        change = changes.get(self.outline.lookups[place].key)
        if not change:
            return []
        begins = offsets_of(change.pieces.key, change.pairs.rows)
        return [RowLists(change.pieces, begins, self.rows.pairs[place])]

    def _held(self, where: Spans, required: Places, stores: Stores) -> Spans:
        """The part of a region of rows in which operands that they need hold."""
        for place in sorted(required):
            where = within_targets(self._holds(place, stores), where)
        return where


def by_row(spans: Spans, rows: int) -> RowLists:
    """Lists that are kept by row."""
    return RowLists(spans, offsets_of(spans.key, rows), np.arange(rows))
