"""The points of a component as it is settled cell by cell, and the law of inertia on them.

All that happens between one time-point and the next (a *cell*) takes effect at the next one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from horai.engine.heads import EVERY
from horai.engine.live import Args, LiveWorld, Pair
from horai.engine.matching import take_apart
from horai.lang.core.terms import Term

Key = tuple[str, int]
Owner = tuple[Key, Args]
# What a rule says: event, initiated, terminated or ghost; of whom; a value, EVERY or a form; when.
Saying = tuple[str, Key, Args, int | Term | None, int]
Node = tuple[str, Key]


class Moments:
    """What has been said, by owner and time."""

    def __init__(self, world: LiveWorld) -> None:
        self.world = world
        self.symbols = world.symbols
        self.initiated: dict[int, dict[Owner, dict[int, None]]] = {}
        self.terminated: dict[int, dict[Owner, dict[int | Term, None]]] = {}
        self.ghosts: dict[int, dict[Owner, dict[int, None]]] = {}
        self.held: dict[Owner, int] = {}
        self.history: dict[Owner, list[int]] = {}
        self.cell: list[int] = []  # the moments of the cell in work

    # --- the cell in work ------------------------------------------------------------------------

    def replace(self, nodes: set[Node], times: Iterable[int], said: Iterable[Saying]) -> None:
        """Take back what was said of some nodes at some times, and note what is said now."""
        for t in times:
            for kind, key in nodes:
                if kind == "event":
                    self.world.said.get(("event", key), {}).pop(t, None)
                    continue
                for name in ("initiated", "terminated"):
                    self.world.said.get((name, key), {}).pop(t, None)
                self.world.forms.get(key, {}).pop(t, None)
                for store in (self.initiated, self.terminated, self.ghosts):
                    for owner in [o for o in store.get(t, ()) if o[0] == key]:
                        del store[t][owner]
        for saying in said:
            self.enter(saying)

    def enter(self, saying: Saying) -> None:
        """Note what a rule says."""
        kind, key, args, value, t = saying
        owner = (key, args)
        if kind == "event":
            self.world.said.setdefault((kind, key), {}).setdefault(t, {})[args] = None
        elif kind == "ghost" and isinstance(value, int):
            self.ghosts.setdefault(t, {}).setdefault(owner, {})[value] = None
        elif kind == "initiated" and isinstance(value, int):
            self.initiated.setdefault(t, {}).setdefault(owner, {})[value] = None
            row = (*args, value)
            self.world.said.setdefault((kind, key), {}).setdefault(t, {})[row] = None
        elif value is not None:
            self.terminated.setdefault(t, {}).setdefault(owner, {})[value] = None
            if isinstance(value, int) and value != EVERY:
                row = (*args, value)
                self.world.said.setdefault((kind, key), {}).setdefault(t, {})[row] = None
            else:
                form = None if value == EVERY else value
                self.world.forms.setdefault(key, {}).setdefault(t, []).append((args, form))

    def show_edges(self, key: Key, cell: int) -> None:
        """Let rules see the starts and ends of the cell before the spans are written."""
        self.world.fresh[key] = [
            ("start" if after else "end", (owner[1], value), cell)
            for owner, value, before, after in self.changes(key)
            if before != after
        ]

    # --- inertia ---------------------------------------------------------------------------------

    def hold(self, owner: Owner, value: int, since: int) -> None:
        """A value that holds already."""
        self.held[owner] = value
        self.world.members[owner[0]].begin((owner[1], value), since)
        self._note("start", owner, (owner[1], value), since)

    def settle(self, key: Key, cell: int) -> None:
        """Open and close spans once all points of the cell are known."""
        following = cell + self.world.tick
        live = self.world.members[key]
        changes = [change for change in self.changes(key) if change[2] != change[3]]
        for owner, value, before, _ in changes:
            if before:
                del self.held[owner]
                live.finish((owner[1], value), following)
                self._note("end", owner, (owner[1], value), following)
        for owner, value, _, after in changes:
            if after:
                self.held[owner] = value
                live.begin((owner[1], value), following)
                self._note("start", owner, (owner[1], value), following)
        for t in self.cell:
            for owner in self.touched(key, t):
                times = self.history.setdefault(owner, [])
                if not times or times[-1] != t:
                    times.append(t)

    def _note(self, kind: str, owner: Owner, pair: Pair, time: int) -> None:
        live = self.world.members[owner[0]]
        tick = self.world.tick
        live.note(kind, pair, time - (time % tick or tick))
        live.note(kind + "I", pair, time)

    def touched(self, key: Key, t: int) -> dict[Owner, None]:
        """Fluents with a point at t."""
        stores = (self.initiated, self.terminated, self.ghosts)
        return {owner: None for store in stores for owner in store.get(t, ()) if owner[0] == key}

    def changes(self, key: Key) -> Iterator[tuple[Owner, int, bool, bool]]:
        """Pairs with points in the cell: do they hold in it, do they hold after it?"""
        owners = {owner: None for t in self.cell for owner in self.touched(key, t)}
        for owner in owners:
            values = {self.held[owner]: None} if owner in self.held else {}
            for t in self.cell:
                values.update(self.initiated.get(t, {}).get(owner, {}))
            for value in values:
                yield owner, value, self.held.get(owner) == value, self._after(owner, value)

    def _after(self, owner: Owner, value: int) -> bool:
        holds = self.held.get(owner) == value
        for t in self.cell:
            if self.broken(owner, value, t):
                holds = False
            elif value in self.initiated.get(t, {}).get(owner, ()):
                holds = True
        return holds

    # --- questions -------------------------------------------------------------------------------

    def broken(self, owner: Owner, value: int, t: int) -> bool:
        """Is F=V terminated at t, or another value of F initiated?"""
        for ended in self.terminated.get(t, {}).get(owner, ()):
            if isinstance(ended, int):
                if ended in (value, EVERY):
                    return True
            elif take_apart(ended, self.symbols.term(value), {}):
                return True
        others = (
            *self.initiated.get(t, {}).get(owner, ()),
            *self.ghosts.get(t, {}).get(owner, ()),
        )
        return any(other != value for other in others)

    def broken_between(self, owner: Owner, value: int, after: int, before: int) -> bool:
        """Is F=V broken at some point strictly between the two?"""
        return any(
            self.broken(owner, value, t) for t in self._times(owner, after, before) if t < before
        )

    def initiated_in(self, owner: Owner, value: int, after: int, until: int) -> bool:
        """Is F=V initiated at some point in (after, until]?"""
        return any(
            value in self.initiated.get(t, {}).get(owner, ())
            for t in self._times(owner, after, until)
        )

    def _times(self, owner: Owner, after: int, until: int) -> Iterator[int]:
        times = self.history.get(owner, [])
        yield from times[bisect_right(times, after) : bisect_right(times, until)]
        yield from self.cell[bisect_right(self.cell, after) : bisect_right(self.cell, until)]
