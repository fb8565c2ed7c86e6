"""Sessions of a stage: part of a description, fed with what earlier stages found.

What an earlier stage said at a query time comes as changes: spans and events that are new or gone
since the query time before. They are taken as they are, so that at every query time the session
sees exactly what the earlier stage said then. Other items are judged by the window, as always. A
change may lie further back than the window (an interval that turns out long enough): nothing later
than where what is given is final is final here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from horai.engine.answer import EventTable, FluentTable, Part
from horai.engine.arrow_items import ItemKind
from horai.engine.evolving import evolve
from horai.engine.horizon import sources_of
from horai.engine.saved import NotRestored
from horai.engine.session import Predicate, Session
from horai.engine.static import present_only
from horai.lang.ec.syntax import EventDescription
from horai.plan.program import Stratum
from horai.temporal.spans import Ints

if TYPE_CHECKING:
    from horai.engine.core.staged import CompiledStage

Key = tuple[str, int]
Table = FluentTable | EventTable


class StagedSession(Session):
    """A session whose `given` relations come from elsewhere.

    `given_final` says, before each query, up to where what is given is final.
    """

    def __init__(
        self,
        description: EventDescription,
        *,
        given: Iterable[tuple[ItemKind, Key]],
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None = None,
        predicates: Mapping[str, Predicate] | None = None,
        archive: bool = True,
    ) -> None:
        super().__init__(
            description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=predicates,
            archive=archive,
        )
        self.given = frozenset(given)
        self.given_final: int | None = None
        self.stream.give(self.given)

    def border(self, query: int) -> int:
        """The last time-point of a whole cell that no item and no change can change any more."""
        border = super().border(query)
        if self.given_final is None or self.given_final >= border:
            return border
        border = self.given_final
        border -= (border + 1) % self.tick
        return max(self.start, border)

    def restore(self, data: bytes) -> None:
        """Take up the run that was saved."""
        super().restore(data)
        self.stream.give(self.given)

    def evolve(self, data: bytes, old: Session | CompiledStage) -> None:
        """Take up a run that was saved with other rules; `old` is a fresh session of these."""
        if not isinstance(old, Session):
            raise NotRestored("the engine that ran the old rules is another one")
        evolve(self, data, old.program)
        self.stream.give(self.given)

    def final_of(self, entities: Collection[tuple[str, str, int]]) -> int:
        """Up to where some of what rules make is final: changes of it lie after that."""
        if self.window is None:
            return self.start
        final = self.final(self.cuts, self.inputs.cut)
        found = self.inputs.cut
        for stratum in self.program.strata:
            for source in sources_of(stratum):
                if (source[0], *self._written(source[1])) in entities:
                    late = self._may_be_known_late(stratum, source[1])
                    found = min(found, self.start if late else final(source))
        return found

    def held(self) -> tuple[Part, Part]:
        """What the session keeps: answers that may still change, and items that count."""
        stream, given = self.stream, self.given
        fluents = [k for k in stream.keys("fluent") if ("fluent", k) not in given]
        events = [k for k in stream.keys("event") if ("event", k) not in given]
        items = Part(
            [FluentTable(key[0], *stream.fluents(key)) for key in fluents],
            [EventTable(key[0], *stream.events(key)) for key in events],
        )
        return self.ledger.current(), items

    def _written(self, key: Key) -> Key:
        fold = self.program.unwrapping.folds.get(key)
        return key if fold is None else (fold.name, len(fold.parts))

    def _may_be_known_late(self, stratum: Stratum, key: Key) -> bool:
        """Has an entity a past, as soon as somebody names it?"""
        if any(plan.key == key and not present_only(plan) for plan in stratum.static):
            return True
        return bool(self.program.dynamic) and any(p.key == key for p in stratum.initially)


def rows_of_fluent(table: FluentTable, rows: Ints) -> FluentTable:
    """Some rows of a table of a fluent."""
    args = tuple(column.take(rows) for column in table.args)
    value = table.value.take(rows)
    return FluentTable(table.name, args, value, table.start[rows], table.end[rows])


def rows_of_event(table: EventTable, rows: Ints) -> EventTable:
    """Some rows of a table of an event."""
    return EventTable(table.name, tuple(c.take(rows) for c in table.args), table.time[rows])
