"""A world while a component is being settled: what the component itself has said so far.

Rules of the component see it up to the cell in work. Everything is kept by time and by pair, so
that one more cell costs no more than what it says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from horai.engine.columns import codes, ints, narrow
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Terminations, World, merged
from horai.lang.ec.builtins import EDGES
from horai.lang.ec.errors import FutureRead
from horai.temporal.spans import INF, Ints, Mask, Spans

Key = tuple[str, int]
Args = tuple[int, ...]  # codes
Pair = tuple[Args, int]


def relation_of(
    rows: Iterable[tuple[int, ...]], times: list[int], width: int, symbols: Symbols
) -> Relation:
    """Rows of codes and their times as a relation."""
    listed = list(rows)
    table = np.array(listed, np.int64).reshape(len(listed), width)
    columns = tuple(narrow(codes(table[:, i].copy()), symbols) for i in range(width))
    return Relation((*columns, ints(np.array(times, np.int64))), len(listed))


@dataclass(slots=True)
class LiveFluent:
    """The pairs of a member with their spans, growing."""

    symbols: Symbols
    width: int
    number: dict[Pair, int] = field(default_factory=dict)
    starts: list[list[int]] = field(default_factory=list)
    ends: list[list[int]] = field(default_factory=list)
    edges: dict[str, dict[int, list[Pair]]] = field(default_factory=dict)
    _pairs: Relation | None = None

    @property
    def pairs(self) -> Relation:
        """Arguments and value of every pair."""
        if self._pairs is None or self._pairs.rows != len(self.number):
            rows = [(*args, value) for args, value in self.number]
            table = np.array(rows, np.int64).reshape(len(rows), self.width)
            columns = tuple(
                narrow(codes(table[:, i].copy()), self.symbols) for i in range(self.width)
            )
            self._pairs = Relation(columns, len(rows))
        return self._pairs

    def holds(self, pair: Ints, time: Ints) -> Mask:
        """Does each pair hold at its time?"""
        return np.array(
            [self._holds(p, t) for p, t in zip(pair.tolist(), time.tolist(), strict=True)], np.bool_
        )

    def _holds(self, pair: int, time: int) -> bool:
        at = bisect_right(self.starts[pair], time) - 1
        return at >= 0 and time < self.ends[pair][at]

    def lists(self, pair: Ints) -> Spans:
        """The spans of some pairs by their place in the list."""
        rows = [
            (place, s, e)
            for place, p in enumerate(pair.tolist())
            if p >= 0
            for s, e in zip(self.starts[p], self.ends[p], strict=True)
        ]
        table = np.array(rows, np.int64).reshape(len(rows), 3)
        return Spans(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())

    def begin(self, pair: Pair, time: int) -> None:
        """From a time on the pair holds."""
        number = self.number.setdefault(pair, len(self.starts))
        if number == len(self.starts):
            self.starts.append([])
            self.ends.append([])
        self.starts[number].append(time)
        self.ends[number].append(INF)

    def finish(self, pair: Pair, time: int) -> None:
        """From a time on the pair holds no more."""
        self.ends[self.number[pair]][-1] = time

    def note(self, kind: str, pair: Pair, time: int) -> None:
        """Remember a start or an end."""
        self.edges.setdefault(kind, {}).setdefault(time, []).append(pair)

    def fluent(self) -> Fluent:
        """All of it, when the component is settled."""
        return Fluent(self.pairs, self.lists(np.arange(self.pairs.rows)))


class LiveWorld(World):
    """The world as the rules of a component see it."""

    def __init__(self, base: World, fluents: set[Key], events: set[Key]) -> None:
        super().__init__(base.symbols, base.tick, base.start, base.query, base.allen_memory)
        self.base = base
        self.members = {key: LiveFluent(base.symbols, key[1] + 1) for key in fluents}
        self.events = events
        # Points by what they are, then by time: rows of codes (arguments, value).
        self.said: dict[tuple[str, Key], dict[int, dict[tuple[int, ...], None]]] = {}
        self.forms: dict[Key, dict[int, list[tuple[Args, object]]]] = {}
        self.fresh: dict[Key, list[tuple[str, Pair, int]]] = {}  # edges of the cell in work
        self.horizon: int | None = None
        self.held: Mapping[tuple[Key, Args], int] = {}  # the values in the cell in work
        self.determined: frozenset[Key] = frozenset()  # members with values of the other sort too

    def fluent(self, key: Key) -> Fluent:
        """What is known of a fluent so far."""
        live = self.members.get(key)
        if live is None:
            return self.base.fluent(key)
        rest = self.base.fluents.get(key)
        if rest:  # some of its values are determined elsewhere
            return joined_fluents(live, self.base.fluent(key), self.symbols)
        return live  # type: ignore[return-value]

    def grows(self, key: Key) -> bool:
        """Is it worked out in time order, as are those who read it?"""
        return key in self.members

    def refuse_future(self, key: Key, kind: str, at: Ints | None) -> None:
        """Nothing is known yet of what the component says after the cell in work."""
        mine = key in self.events if kind == "event" else key in self.members
        late = at is not None and self.horizon is not None and len(at)
        if mine and late and at is not None and int(at.max()) >= (self.horizon or 0):
            raise FutureRead(key)

    def is_now(self, key: Key, at: Ints) -> bool:
        """Are all times in the cell in work, of a member whose values are all simple?"""
        if key not in self.members or key in self.determined or self.horizon is None:
            return False
        return len(at) > 0 and int(at.min()) >= self.horizon - self.tick

    def value_now(self, key: Key, args: tuple[int, ...]) -> int | None:
        """The code of the value that a member has in the cell in work."""
        return self.held.get((key, args))

    def last_point(self, key: Key) -> int:
        """The last time-point at which a fluent is known."""
        if key in self.members and self.horizon is not None:
            return min(self.query, self.horizon - 1)
        return self.query

    def scan(self, kind: str, key: Key, at: Ints | None = None) -> Relation:
        """The points of one kind, those at given times if they are few."""
        mine = key in self.events if kind == "event" else key in self.members
        if not mine:
            return self.base.scan(kind, key, at)
        times = None if at is None else sorted(set(at.tolist()))
        if kind in EDGES:
            live = self._edge_rows(kind, key, times)
        else:
            live = self.said_rows(kind, key, times)
        if kind in ("event", "initiated") or key in self.base.fluents:
            return joined([live, self.base.scan(kind, key, at)], self.symbols)
        return live

    def said_rows(self, kind: str, key: Key, times: list[int] | None = None) -> Relation:
        """What the component has said so far."""
        by_time = self.said.get((kind, key), {})
        chosen = list(by_time) if times is None else [t for t in times if t in by_time]
        rows = [(row, t) for t in chosen if self._in_run(t) for row in by_time[t]]
        width = key[1] + (0 if kind == "event" else 1)
        return relation_of([r for r, _ in rows], [t for _, t in rows], width, self.symbols)

    def _edge_rows(self, kind: str, key: Key, times: list[int] | None) -> Relation:
        by_time = self.members[key].edges.get(kind, {})
        chosen = list(by_time) if times is None else [t for t in times if t in by_time]
        found = [((*args, value), t) for t in chosen for args, value in by_time[t]]
        found += [
            ((*args, value), t)
            for name, (args, value), t in self.fresh.get(key, ())
            if name == kind and (times is None or t in times)
        ]
        found = [(row, t) for row, t in found if self._in_run(t)]
        return relation_of([r for r, _ in found], [t for _, t in found], key[1] + 1, self.symbols)

    def terminated(self, key: Key) -> list[Terminations]:
        """What ends values: each value, all, or all of a form."""
        if key not in self.members:
            return self.base.terminated(key)
        return [*self.base.terminated(key), *self.own_terminations(key)]

    def own_terminations(self, key: Key) -> list[Terminations]:
        """What the component itself has ended so far."""
        found = [Terminations(self.said_rows("terminated", key), None, False)]
        rows = [
            (args, form, t)
            for t, listed in self.forms.get(key, {}).items()
            for args, form in listed
        ]
        for form in dict.fromkeys(form for _, form, _ in rows):
            mine = [(args, t) for args, other, t in rows if other == form]
            table = relation_of([a for a, _ in mine], [t for _, t in mine], key[1], self.symbols)
            found.append(Terminations(table, form, True))  # type: ignore[arg-type]
        return found

    def _in_run(self, t: int) -> bool:
        return self.start < t <= self.query


def joined_fluents(live: LiveFluent, rest: Fluent, symbols: Symbols) -> Fluent:
    """A member with values of both sorts."""
    return merged([live.fluent(), rest], symbols)
