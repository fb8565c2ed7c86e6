"""What answers show of the items: what is final, what may still change, and what has changed.

Rows that have become final leave the part that is compared from one query to the next; they go to
the archive, if there is one, and never change again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from horai.engine.answer import Answer, EventTable, FluentTable, Part, Which
from horai.engine.columns import Column, bits, common, concat
from horai.engine.hashing import build, dense, first
from horai.engine.inputs import folded
from horai.engine.origins import Dropped
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.lang.ec.unwrapping import Unwrapping
from horai.temporal.spans import INF, Ints, Mask, previous_point

Key = tuple[str, int]
Source = tuple[str, Key]  # "event" or "fluent", and what it is called


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
    live: Tables = field(default_factory=dict)  # the rows that may still change

    def answer(
        self,
        query: int,
        fluents: Mapping[Key, Fluent],
        events: Mapping[Key, Relation],
        final: int,
        border: int,
        dropped: Sequence[Dropped],
    ) -> Answer:
        """The answer about some relations; up to `final` the archive has them already."""
        before, now = self.live, self._tables(fluents, events, final)
        self.live = now
        parts: dict[Which, Callable[[], Part]] = {
            "window": lambda: self._part(self._in_window(now, border)),
            "new": lambda: self._part(self._without(now, before)),
            "gone": lambda: self._part(self._without(before, now)),
        }
        if self.archive is not None:
            kept = {source: list(rows) for source, rows in self.archive.items()}
            parts["all"] = lambda: self._part(self._everything(kept, now))
        return Answer(query, self.symbols, dropped, parts)

    def close(self, final: int) -> None:
        """Move what has become final to the archive."""
        live, self.live = self.live, dict(self.live)  # answers hold on to what was
        for source, rows in live.items():
            done = _done(rows, final)
            if not done.any():
                continue
            if self.archive is not None:
                self.archive.setdefault(source, []).append(rows.where(done))
            self.live[source] = rows.where(~done)

    # --- tables ----------------------------------------------------------------------------------

    def _tables(
        self, fluents: Mapping[Key, Fluent], events: Mapping[Key, Relation], final: int
    ) -> Tables:
        found: Tables = {}
        for key, fluent in fluents.items():
            spans = fluent.spans
            open_ = spans.end > final
            spans = spans if open_.all() else spans.where(open_)
            if len(spans):
                columns = tuple(column.take(spans.key) for column in fluent.pairs.columns)
                found["fluent", key] = Rows(columns, spans.start, spans.end)
        for key, table in events.items():
            rows = Rows(table.columns[:-1], table.columns[-1].data)
            rows = rows.where(rows.start > final)
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

    def _everything(self, archive: dict[Source, list[Rows]], live: Tables) -> Tables:
        found: Tables = {}
        for source in dict.fromkeys([*archive, *live]):
            parts = list(archive.get(source, ()))
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
