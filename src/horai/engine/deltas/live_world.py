"""A world whose relations are those kept from before, until a component says them anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Name
from horai.engine.deltas.store import FluentStore
from horai.engine.relations import Relation, joined
from horai.engine.world import Fluent, Key, World
from horai.temporal.spans import Ints

FEW = 5_000  # points that are sooner looked at than looked up
MANY = 8  # a look-up costs as much as looking at so many

Relations = tuple[dict[Key, Callable[[], Fluent]], dict[Key, Callable[[], Relation]]]


@dataclass
class LiveWorld(World):
    """All relations at a query time, read from what is kept of them."""

    stores: dict[Key, FluentStore] = field(default_factory=dict)
    logs: dict[Name, Log] = field(default_factory=dict)
    # What is being worked out from scratch: what was said of it before does not count.
    anew: frozenset[Name] = frozenset()
    before: int = 0  # the query time before

    def fluent(self, key: Key) -> Fluent:
        """All that is known of a fluent."""
        if key in self.fluents or key not in self.stores or ("fluent", key) in self.anew:
            return super().fluent(key)
        return self.stores[key].public()

    def scan(self, kind: str, key: Key, at: Ints | None = None) -> Relation:
        """The points of one kind; of those kept from before only parts that reach `at`."""
        log = self.logs.get((kind, key))
        made = "event" if kind == "event" else "fluent"
        if log is None or (kind, key) in self.points or (made, key) in self.anew:
            return super().scan(kind, key, at)
        if at is None or not len(at):
            return log.whole().table
        late = at[at <= self.before]
        if not len(late) or len(log) < FEW or len(late) * MANY > len(log):
            return log.since(int(at.min())).table
        late = np.unique(late)
        _, rows = log.between((), [], late, late + 1)
        parts = [log.at(rows)[0], log.after(self.before)]
        return joined(parts, self.symbols)

    def relations(self) -> tuple[dict[Key, Fluent], dict[Key, Relation]]:
        """All fluents and events."""
        events = [key for kind, key in self.logs if kind == "event"]
        return (
            {key: self.fluent(key) for key in self.stores},
            {key: self.scan("event", key) for key in events},
        )

    def take_out(self, key: Key) -> None:
        """What a component said of a fluent is kept elsewhere from now on."""
        self.fluents.pop(key, None)
        self._fluents.pop(key, None)
        for kind in ("start", "end", "startI", "endI"):
            self._points.pop((kind, key), None)

    def take_out_points(self, kind: str, key: Key) -> None:
        """What a component said of an event is kept elsewhere from now on."""
        self.points.pop((kind, key), None)
        self._points.pop((kind, key), None)
