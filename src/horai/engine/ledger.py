"""From relations to answers: what is final, what may still change, and what has changed.

Rows that have become final leave the part that is compared from one query to the next; they go to
the archive, if there is one, and never change again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from horai.engine.answer import Answer, EventTable, FluentTable, Part, Which
from horai.engine.columns import Column, bits, common, concat
from horai.engine.hashing import build, dense, first
from horai.engine.inputs import folded
from horai.engine.memory import known_rows
from horai.engine.origins import Dropped
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.lang.ec.unwrapping import Unwrapping
from horai.plan.ec.reach import Source
from horai.temporal.spans import INF, Ints, Mask, previous_point

Key = tuple[str, int]
Final = Callable[[Source], int]
T = TypeVar("T")


@dataclass(slots=True)
class Rows:
    """Rows of an event (times) or a fluent (spans), with their columns."""

    columns: tuple[Column, ...]
    start: Ints
    end: Ints | None = None

    def __len__(self) -> int:
        return len(self.start)

    def where(self, mask: Mask | Ints) -> Rows:
        """Some of the rows."""
        if mask.dtype == np.bool_ and mask.all():
            return self
        end = None if self.end is None else self.end[mask]
        return Rows(tuple(c.take(mask) for c in self.columns), self.start[mask], end)

    def times(self) -> list[Ints]:
        """When it happens or holds."""
        return [self.start] if self.end is None else [self.start, self.end]


Tables = dict[Source, Rows]


@dataclass(slots=True)
class Ledger:
    """The answers of a session, from one query to the next."""

    symbols: Symbols
    unwrapping: Unwrapping
    tick: int
    window: int | None
    archive: dict[Source, list[Rows]] | None = field(default_factory=dict)
    shown: frozenset[Source] | None = None  # the relations that answers show; None for all
    # For fluents that speak of what is absent: the pairs they look at, those of them whose past is
    # final, and those for which it was so when the archive was last closed.
    looked: dict[Source, Relation] = field(default_factory=dict)
    fixed: dict[Source, Relation] = field(default_factory=dict)
    archived: dict[Source, Relation] = field(default_factory=dict)
    live: Tables = field(default_factory=dict)  # the rows that may still change

    def answer(self, world: World, final: Final, border: int, dropped: Sequence[Dropped]) -> Answer:
        """The answer in a world; `final` tells what the archive has already."""
        before, now = self.live, self._tables(world, final)
        self.live = now
        shown, then = self._shown(now), self._shown(before)
        parts = self._parts(now, border)
        parts["new"] = lambda: self._part(self._without(shown, then))
        parts["gone"] = lambda: self._part(self._without(then, shown))
        return Answer(world.query, self.symbols, dropped, parts)

    def current(self) -> Part:
        """What may still change, of what answers show."""
        return self._part(self._shown(self.live))

    def _parts(self, live: Tables, border: int) -> dict[Which, Callable[[], Part]]:
        parts: dict[Which, Callable[[], Part]] = {
            "window": lambda: self._part(self._in_window(self._shown(live), border)),
        }
        if self.archive is not None:
            kept = {source: list(rows) for source, rows in self.archive.items()}
            parts["all"] = lambda: self._part(
                self._everything(self._shown(kept), self._shown(live))
            )
            if self.shown is not None:
                parts["input"] = lambda: self._part(
                    self._everything(self._hidden(kept), self._hidden(live))
                )
        return parts

    def _shown(self, tables: dict[Source, T]) -> dict[Source, T]:
        shown = self.shown
        return tables if shown is None else {s: t for s, t in tables.items() if s in shown}

    def _hidden(self, tables: dict[Source, T]) -> dict[Source, T]:
        shown = self.shown or frozenset()
        return {source: table for source, table in tables.items() if source not in shown}

    def close(self, final: Final) -> None:
        """Move what has become final to the archive."""
        live, self.live = self.live, dict(self.live)  # answers hold on to what was
        for source, rows in live.items():
            done = _done(rows, final(source))
            if source in self.looked:
                done &= ~self._guests(source, Relation(rows.columns, len(rows)), self.fixed)
            if not done.any():
                continue
            if self.archive is not None:
                self.archive.setdefault(source, []).append(rows.where(done))
            self.live[source] = rows.where(~done)
        self.archived = self.fixed

    def _guests(self, source: Source, pairs: Relation, final: dict[Source, Relation]) -> Mask:
        """Pairs that are known only by what may still be taken back."""
        absent = known_rows(pairs, self.looked[source], self.symbols)
        return absent & ~known_rows(pairs, final.get(source), self.symbols)

    # --- tables ----------------------------------------------------------------------------------

    def _tables(self, world: World, final: Final) -> Tables:
        found: Tables = {}
        fluents, events = world.relations()
        # What is neither shown nor archived is compared with nothing.
        shown = self.shown if self.archive is None else None
        for key, fluent in fluents.items():
            if shown is not None and ("fluent", key) not in shown:
                continue
            spans = fluent.spans
            open_ = spans.end > final(("fluent", key))
            if ("fluent", key) in self.looked:
                open_ |= self._guests(("fluent", key), fluent.pairs, self.archived)[spans.key]
            spans = spans if open_.all() else spans.where(open_)
            if len(spans):
                columns = tuple(column.take(spans.key) for column in fluent.pairs.columns)
                found["fluent", key] = Rows(columns, spans.start, spans.end)
        for key, table in events.items():
            if shown is not None and ("event", key) not in shown:
                continue
            rows = Rows(table.columns[:-1], table.columns[-1].data)
            rows = rows.where(rows.start > final(("event", key)))
            if len(rows):
                found["event", key] = rows
        return found

    def _in_window(self, live: Tables, border: int) -> Tables:
        if self.window is None:
            return {source: self._once(source, rows) for source, rows in live.items()}
        found: Tables = {}
        for source, rows in live.items():
            if rows.end is None:
                last = rows.start
            else:
                last = np.maximum(rows.start, previous_point(rows.end, self.tick))
                last = np.where(rows.end == INF, INF, last)
            found[source] = self._once(source, rows.where(last > border))
        return found

    def _once(self, source: Source, rows: Rows) -> Rows:
        """An event may have been told twice, and derived by several rules."""
        if source[0] == "fluent":
            return rows
        # Bits, not codes: of every measurement a code would be kept for ever.
        _, firsts = dense([*map(bits, rows.columns), *rows.times()], len(rows))
        return rows if len(firsts) == len(rows) else rows.where(firsts)

    def _everything(self, archive: dict[Source, list[Rows]] | None, live: Tables) -> Tables:
        found: Tables = {}
        for source in dict.fromkeys([*(archive or {}), *live]):
            parts = list((archive or {}).get(source, ()))
            parts += [live[source]] if source in live else []
            found[source] = self._once(source, self._stacked(parts))
        return found

    def _stacked(self, parts: list[Rows]) -> Rows:
        if len(parts) == 1:
            return parts[0]
        width = len(parts[0].columns)
        columns = tuple(
            concat([part.columns[i] for part in parts], self.symbols) for i in range(width)
        )
        ends = [part.end for part in parts if part.end is not None]
        start = np.concatenate([part.start for part in parts])
        return Rows(columns, start, np.concatenate(ends) if ends else None)

    def _without(self, left: Tables, right: Tables) -> Tables:
        """The rows of one side that the other has not."""
        found: Tables = {}
        for source, rows in left.items():
            rows = self._once(source, rows)
            other = right.get(source)
            if other is not None and len(other) and len(rows):
                pairs = zip(rows.columns, other.columns, strict=True)
                keys = [common(one, another, self.symbols) for one, another in pairs]
                mine = [*(key for key, _ in keys), *rows.times()]
                theirs = [*(key for _, key in keys), *other.times()]
                rows = rows.where(first(mine, build(theirs)) < 0)
            if len(rows):
                found[source] = rows
        return found

    def _part(self, tables: Tables) -> Part:
        fluents: list[FluentTable] = []
        events: list[EventTable] = []
        for (_, key), rows in tables.items():
            if not len(rows):
                continue
            args = rows.columns[: key[1]]
            name, args = folded(key, args, len(rows), self.unwrapping, self.symbols)
            if rows.end is None:
                events.append(EventTable(name, args, rows.start))
            else:
                fluents.append(FluentTable(name, args, rows.columns[-1], rows.start, rows.end))
        return Part(fluents, events)


def _done(rows: Rows, bound: int) -> Mask:
    """The rows that are over by a time."""
    done: Mask = rows.start <= bound if rows.end is None else rows.end <= bound
    return done
