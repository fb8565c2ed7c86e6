"""Points of simple fluents and the law of inertia.

All that happens between one time-point and the next (a *cell*) takes effect at the next one. With
a tick of 1 a cell is a single moment.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.terms import Term
from horai.oracle.ec.intervals import INF
from horai.oracle.ec.strata import OracleNode
from horai.oracle.ec.terms import covers
from horai.oracle.ec.world import Key, World, key_of
from horai.oracle.ec.world import Points as PointsByTime

# What a rule says: event, initiated, terminated or ghost; the entity, its value, the time.
Said = tuple[str, Term, Term | None, int]


class Points:
    """The points of a component as it is being settled, cell by cell."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.cell: int | None = None  # the cell being settled
        self._open: dict[Term, dict[Term, None]] = {}  # the values that hold in it

    # --- the cell being settled ------------------------------------------------------------------

    def forget(self, node: OracleNode, cell: int) -> None:
        """Take back what was said of a node in a cell."""
        world = self.world
        for t in world.moments(cell):
            if node.kind == "event":
                happened = world.events.get(node.key, {}).get(t, {})
                for event in [e for e in happened if (e, t) not in world.input_events]:
                    del happened[event]
            else:
                for store in self._stores():
                    store.get(node.key, {}).pop(t, None)

    def enter(self, found: dict[Said, None]) -> None:
        """Note what the rules say."""
        stores = {
            "initiated": self.world.initiations,
            "terminated": self.world.terminations,
            "ghost": self.world.ghosts,
        }
        for kind, entity, value, t in found:
            if kind == "event":
                self.world.add_event(entity, t)
            else:
                by_fluent = stores[kind].setdefault(key_of(entity), {}).setdefault(t, {})
                by_fluent.setdefault(entity, {})[value] = None
                self.world.note(t)

    def show_edges(self, key: Key, cell: int) -> None:
        """Let rules see the starts and ends of the cell before the intervals are written."""
        self.world.new_edges[key] = [
            ("start" if after else "end", fluent, value, cell)
            for fluent, value, before, after in self._changes(key, cell)
            if before != after
        ]

    # --- the law of inertia ----------------------------------------------------------------------

    def hold_from_start(self, fluent: Term, value: Term) -> None:
        """A value that needs no initiation inside the run."""
        before = self.world.grid.prev(self.world.start)
        self.enter({("initiated", fluent, value, before): None})
        self._open.setdefault(fluent, {})[value] = None
        self.world.add_interval(fluent, value, (self.world.start, INF))

    def settle(self, key: Key, cell: int) -> None:
        """Open and close intervals once all points of the cell are known."""
        following = self.world.grid.next(cell)
        for fluent, value, before, after in list(self._changes(key, cell)):
            if after and not before:
                self._open.setdefault(fluent, {})[value] = None
                self.world.begin(fluent, value, following)
            elif before and not after:
                del self._open[fluent][value]
                self.world.finish(fluent, value, following)

    def _touched(self, key: Key, t: int) -> dict[Term, None]:
        """Fluents with a point at t."""
        touched: dict[Term, None] = {}
        for store in self._stores():
            touched.update(dict.fromkeys(store.get(key, {}).get(t, ())))
        return touched

    def _changes(self, key: Key, cell: int) -> Iterator[tuple[Term, Term, bool, bool]]:
        """Pairs with points in the cell: do they hold in it, do they hold after it?"""
        moments = self.world.moments(cell)
        fluents = {fluent: None for t in moments for fluent in self._touched(key, t)}
        for fluent in fluents:
            held = self._open.get(fluent, {})
            begun = (self._initiated_at(fluent, t) for t in moments)
            values = {**held, **{v: None for at in begun for v in at if v is not None}}
            for value in values:
                yield fluent, value, value in held, self._after(fluent, value, moments)

    def _after(self, fluent: Term, value: Term, moments: list[int]) -> bool:
        """Does F=V hold after the moments? A break wins over an initiation at the same moment."""
        held = value in self._open.get(fluent, {})
        for t in moments:
            if self.broken(fluent, value, t):
                held = False
            elif value in self._initiated_at(fluent, t):
                held = True
        return held

    # --- questions -------------------------------------------------------------------------------

    def broken(self, fluent: Term, value: Term, t: int) -> bool:
        """Is F=V terminated at t, or another value of F initiated?"""
        key = key_of(fluent)
        ended = self.world.terminations.get(key, {}).get(t, {}).get(fluent, {})
        if any(covers(pattern, value) for pattern in ended):
            return True
        ghosts = self.world.ghosts.get(key, {}).get(t, {}).get(fluent, {})
        return any(other != value for other in (*self._initiated_at(fluent, t), *ghosts))

    def broken_between(self, fluent: Term, value: Term, after: int, before: int) -> bool:
        """Is F=V broken at some point strictly between the two?"""
        return any(
            self.broken(fluent, value, t) for t in self._times(fluent, after, before) if t < before
        )

    def initiated(self, fluent: Term, value: Term, after: int, until: int) -> bool:
        """Is F=V initiated at some point in (after, until]?"""
        times = self._times(fluent, after, until)
        return any(value in self._initiated_at(fluent, t) for t in times)

    def _initiated_at(self, fluent: Term, t: int) -> dict[Term | None, None]:
        return self.world.initiations.get(key_of(fluent), {}).get(t, {}).get(fluent, {})

    def _times(self, fluent: Term, after: int, until: int) -> list[int]:
        """Moments in (after, until] that have points of the fluent, oldest first."""
        return sorted(
            {
                t
                for store in self._stores()
                for t, fluents in store.get(key_of(fluent), {}).items()
                if after < t <= until and fluent in fluents
            }
        )

    def _stores(self) -> tuple[dict[Key, PointsByTime], ...]:
        return self.world.initiations, self.world.terminations, self.world.ghosts
