"""What some entities of a component held and told before, exchanged for what they do now."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horai.engine.columns import Column, codes, codes_of, ints
from horai.engine.deltas.changes import Changed, PointChange, exchanged, unmatched
from horai.engine.deltas.cycle_keys import Keys
from horai.engine.deltas.entities import Args, Entities, different, entities
from horai.engine.deltas.log import Log
from horai.engine.deltas.settling import Course
from horai.engine.deltas.store import FluentStore, SpanChange, in_regions, moved, since
from horai.engine.hashing import probe
from horai.engine.memory import only, union
from horai.engine.relations import Relation, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.plan.program import Key
from horai.temporal.spans import INF, Ints, Spans

Stores = dict[Key, FluentStore]
Region = tuple[Entities, int, int]  # entities, and the time after one point and before another


@dataclass
class Rewriting:
    """Parts of the past of some entities, settled anew."""

    keys: Keys
    stores: Stores
    logs: dict[Key, Log]
    symbols: Symbols
    regions: list[Region] = field(default_factory=list)
    fluents: dict[Key, list[Fluent]] = field(default_factory=dict)
    events: dict[Key, list[Relation]] = field(default_factory=dict)

    def take(self, who: Entities, low: int, high: int, course: Course) -> None:
        """What became of some entities after `low`; up to `high`, unless that is INF."""
        self.regions.append((who, low + 1, high if high == INF else high + 1))
        for key, fluent in course.fluents.items():
            if high != INF:  # what goes on is known by what follows
                fluent = only(fluent, fluent.spans.end != INF)
            self.fluents.setdefault(key, []).append(fluent)
        for key, points in course.events.items():
            self.events.setdefault(key, []).append(points)

    def past(self, begun: dict[Args, int]) -> dict[Key, Fluent]:
        """All that held of some entities: before each was settled anew, and since then."""
        groups: dict[int, set[Args]] = {}
        for one, time in begun.items():
            groups.setdefault(time, set()).add(one)
        since_when = [(t, entities(some, self.keys.width)) for t, some in groups.items()]
        return {key: self._past(key, since_when) for key in self.stores}

    def _past(self, key: Key, since_when: list[tuple[int, Entities]]) -> Fluent:
        fluent = self.stores[key].fluent
        limit = np.full(fluent.pairs.rows, -INF)
        for time, who in since_when:
            limit[pairs_of(fluent, who, self._places(key), self.symbols)] = time + 1
        before = only(fluent, fluent.spans.end <= limit[fluent.spans.key])
        return union([before, *self.fluents.get(key, ())], key[1] + 1, self.symbols)

    def exchange(self) -> Changed:
        """Put in what holds and happens now, for what did before."""
        found: Changed = {}
        for key, store in self.stores.items():
            change = self._fluent(key, store)
            if change:
                found["fluent", key] = change
        for key, log in self.logs.items():
            points = self._events(key, log)
            if points:
                found["event", key] = points
        return found

    def _places(self, key: Key) -> tuple[int, ...]:
        return self.keys.places["fluent", key]

    def _fluent(self, key: Key, store: FluentStore) -> SpanChange:
        placed: list[Spans] = []
        for fluent in self.fluents.get(key, ()):
            rows = store.added(fluent.pairs)
            placed.append(moved(fluent.spans, rows) if len(fluent.spans) else fluent.spans)
        pair, low, high = [_none()], [_none()], [_none()]
        for who, begin, end in self.regions:
            rows = pairs_of(store.fluent, who, self._places(key), self.symbols)
            pair.append(rows)
            low.append(np.full(len(rows), begin))
            high.append(np.full(len(rows), end))
        where = (np.concatenate(column) for column in (pair, low, high))
        drop = in_regions(store.fluent, *where)
        new = Spans(*(np.concatenate(columns) for columns in zip(*placed, strict=True)))
        return store.exchange(np.flatnonzero(drop), moved(new, np.arange(store.fluent.pairs.rows)))

    def _events(self, key: Key, log: Log) -> PointChange:
        places = self.keys.places["event", key]
        rows = [_none()]
        for who, low, high in self.regions:
            bounds = np.full(who.size, low), np.full(who.size, high)
            rows.append(log.between(places, who.columns(), *bounds)[1])
        old, numbers = log.at(np.sort(np.concatenate(rows)))
        new = joined(self.events[key], self.symbols)
        left, right = unmatched(old, new, self.symbols)
        return exchanged(log, numbers[left], new.where(right))


def pairs_of(fluent: Fluent, who: Entities, places: tuple[int, ...], symbols: Symbols) -> Ints:
    """The rows of all pairs of some entities."""
    if not who.keys:
        return np.arange(fluent.pairs.rows if who.size else 0)
    positions = tuple((place, True) for place in places)
    return probe(who.keys, fluent.pairs.index(positions, symbols))[1]


def held_at(
    fluent: Fluent, who: Entities, places: tuple[int, ...], time: int, symbols: Symbols
) -> Held:
    """The values that some entities have right after a time, each with its true start."""
    rows = pairs_of(fluent, who, places, symbols)
    there, start = since(fluent, rows, np.full(len(rows), time + 1))
    return _held(fluent, rows[there], start[there], symbols)


def lasting(fluent: Fluent, symbols: Symbols) -> Held:
    """The values that hold at the end of what was settled."""
    rows = np.flatnonzero(fluent.spans.end == INF)
    return _held(fluent, fluent.spans.key[rows], fluent.spans.start[rows], symbols)


def _held(fluent: Fluent, rows: Ints, start: Ints, symbols: Symbols) -> Held:
    *args, value = (column.take(rows) for column in fluent.pairs.columns)
    return Held(tuple(args), codes_of(value, symbols), start)


def holders(held: Held, places: tuple[int, ...]) -> tuple[Column, ...]:
    """The entities of some values."""
    return tuple(held.args[place] for place in places)


def differing(one: Held, other: Held, places: tuple[int, ...], symbols: Symbols) -> set[Args]:
    """Entities that have other values, or the same since another time."""
    tables = [
        Relation((*held.args, codes(held.value), ints(held.start)), len(held))
        for held in (one, other)
    ]
    found: set[Args] = set()
    for table, rows in zip(tables, unmatched(tables[0], tables[1], symbols), strict=True):
        keys = [codes_of(table.columns[place].take(rows), symbols) for place in places]
        found |= different(keys, len(rows))
    return found


def _none() -> Ints:
    return np.empty(0, np.int64)
