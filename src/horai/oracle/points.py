"""Points of simple fluents and the law of inertia.

All that happens between one time-point and the next (a *cell*) takes effect at the next one. With
a tick of 1 a cell is a single moment.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.terms import Term
from horai.oracle.intervals import INF
from horai.oracle.strata import Node
from horai.oracle.world import Key, Point, World, key_of

# What a rule says: event, initiated, terminated or ghost; the entity, its value, the time.
# A ghost is an initiation outside the grounding: it holds nowhere, yet it ends other values.
Said = tuple[str, Term, Term | None, int]
Store = dict[Key, dict[int, dict[Point, None]]]


class Points:
    """The points of a component as it is being settled."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ghosts: Store = {}

    def moments(self, cell: int) -> list[int]:
        """The moments of a cell that belong to the run."""
        if self.world.grid.tick == 1:
            return [cell] if self.world.in_run(cell) else []
        return [t for t in range(cell, self.world.grid.next(cell)) if self.world.in_run(t)]

    def forget(self, node: Node, cell: int) -> None:
        """Take back what was said of a node in a cell."""
        for t in self.moments(cell):
            if node.kind == "event":
                self.world.events.get(node.key, {}).pop(t, None)
            else:
                for store in (self.world.initiations, self.world.terminations, self.ghosts):
                    store.get(node.key, {}).pop(t, None)

    def enter(self, found: dict[Said, None]) -> None:
        """Note what the rules say."""
        stores = {
            "initiated": self.world.initiations,
            "terminated": self.world.terminations,
            "ghost": self.ghosts,
        }
        for kind, entity, value, t in found:
            if kind == "event":
                self.world.add_event(entity, t)
            else:
                by_time = stores[kind].setdefault(key_of(entity), {})
                by_time.setdefault(t, {})[(entity, value)] = None

    def broken(self, fluent: Term, value: Term, t: int) -> bool:
        """Is F=V terminated at t, or another value of F initiated?"""
        key = key_of(fluent)
        ended = self.world.terminations.get(key, {}).get(t, {})
        begun = self.world.initiations.get(key, {}).get(t, {})
        ghosts = self.ghosts.get(key, {}).get(t, {})
        return (
            (fluent, value) in ended
            or (fluent, None) in ended
            or any(f == fluent and v != value for f, v in (*begun, *ghosts))
        )

    def broken_between(self, fluent: Term, value: Term, after: int, before: int) -> bool:
        """Is F=V broken at some point strictly between the two?"""
        key = key_of(fluent)
        stores = (self.world.terminations, self.world.initiations, self.ghosts)
        times = {t for store in stores for t in store.get(key, {}) if after < t < before}
        return any(self.broken(fluent, value, t) for t in times)

    def initiated(self, fluent: Term, value: Term, after: int, until: int) -> bool:
        """Is F=V initiated at some point in (after, until]?"""
        by_time = self.world.initiations.get(key_of(fluent), {})
        return any(after < t <= until and (fluent, value) in at for t, at in by_time.items())

    def changes(self, key: Key, cell: int) -> Iterator[tuple[Term, Term, bool, bool]]:
        """Pairs with points in the cell: did they hold in it, do they hold after it?"""
        moments = self.moments(cell)
        touched: dict[Term, dict[Term, None]] = {}
        for store in (self.world.initiations, self.world.terminations, self.ghosts):
            for t in moments:
                for fluent, value in store.get(key, {}).get(t, {}):
                    values = touched.setdefault(fluent, {})
                    if value is not None and store is self.world.initiations:
                        values[value] = None
        for fluent, values in touched.items():
            for value in {**self.world.spans.get(key, {}).get(fluent, {}), **values}:
                before = self._open(fluent, value)
                yield fluent, value, before, self._after(fluent, value, moments, before)

    def _open(self, fluent: Term, value: Term) -> bool:
        intervals = self.world.intervals(fluent, value)
        return bool(intervals) and intervals[-1][1] == INF

    def _after(self, fluent: Term, value: Term, moments: list[int], held: bool) -> bool:
        """Does F=V hold after the moments? A break wins over an initiation at the same moment."""
        for t in moments:
            if self.broken(fluent, value, t):
                held = False
            elif (fluent, value) in self.world.initiations.get(key_of(fluent), {}).get(t, {}):
                held = True
        return held

    def show_edges(self, key: Key, cell: int) -> None:
        """Let rules see the starts and ends of the cell before the intervals are written."""
        self.world.new_edges[key] = [
            ("start" if after else "end", fluent, value, cell)
            for fluent, value, before, after in self.changes(key, cell)
            if before != after
        ]

    def extend(self, key: Key, cell: int) -> None:
        """Open and close intervals after a cell is settled."""
        following = self.world.grid.next(cell)
        for fluent, value, before, after in list(self.changes(key, cell)):
            if after and not before:
                self.world.add_interval(fluent, value, (following, INF))
            elif before and not after:
                intervals = self.world.intervals(fluent, value)
                intervals[-1] = (intervals[-1][0], following)
