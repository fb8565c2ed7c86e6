"""The reference engine: all that follows at a query time, and query time by query time.

Which items count at a query time is said by their arrival, lateness and retractions; those that
cannot be used are refused with the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum

from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.lang.ec.syntax import EventDescription
from horai.lang.ec.unwrapping import unwrap
from horai.oracle.ec.background import Background
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.intervals import INF, Interval, Intervals, TickGrid
from horai.oracle.ec.scopes import Scopes
from horai.oracle.ec.solver import PythonPredicate, Solver
from horai.oracle.ec.static import evaluate_static
from horai.oracle.ec.strata import OracleStrata, definitions
from horai.oracle.ec.sweep import Sweep
from horai.oracle.ec.world import Key, World, key_of


@dataclass(frozen=True, slots=True)
class OracleItem:
    """An event at `start` (`value` is None) or an input fluent with a value over [start, end).

    `arrival` is when it became known; a retraction takes back an equal item that arrived before.
    `tag` is the caller's own mark, given back with dropped items.
    """

    entity: Term
    value: Term | None
    start: int
    end: float
    arrival: int
    retract: bool = False
    tag: object = None


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All intervals and events at a query time, over the whole run so far."""

    spans: dict[tuple[Term, Term], Intervals]
    events: dict[Term, list[int]]


class Interpreter:
    """A description made ready for evaluation at any number of query times."""

    def __init__(
        self,
        description: ec.EventDescription,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, PythonPredicate] | None = None,
    ) -> None:
        self.unwrapping = unwrap(description)
        self.derived: frozenset[tuple[Key, bool]] = frozenset(
            (node.key, node.kind != "event") for node in definitions(description).nodes
        )
        self.description = description = self.unwrapping.description
        self.grid = TickGrid(tick)
        self.allen_memory = allen_memory
        self.predicates = dict(predicates or {})
        self.background = Background(description)
        self.strata = OracleStrata(description, self.background)
        self.scopes = Scopes(description)

    def evaluate(self, items: Iterable[OracleItem], start: int, query: int) -> Knowledge:
        """The knowledge at `query` that follows from the items known then."""
        with room_to_recurse():
            known = _knowledge(self.world_at(items, start, query))
        written = self.unwrapping.written
        spans = {(written(fluent), value): found for (fluent, value), found in known.spans.items()}
        return Knowledge(spans, {written(event): times for event, times in known.events.items()})

    def world_at(self, items: Iterable[OracleItem], start: int, query: int) -> World:
        """All that is known at `query`, with the points from which intervals were made."""
        items = [replace(item, entity=self.unwrapping.flat(item.entity)) for item in items]
        world = World(self.grid, start, query, self.allen_memory)
        for item in items:
            if item.value is None:
                world.add_input_event(item.entity, item.start)
            else:
                world.add_interval(item.entity, item.value, (item.start, item.end))
        for key in world.spans:
            world.merge(key)
        solver = Solver(world, self.background, self.scopes, self.predicates)
        groundings = Groundings(self.description, solver)
        solver.dynamic = groundings.members((item.entity, item.value) for item in items)
        solver.in_domain = groundings.allows
        for component in self.strata.components:
            self.strata.refuse_static_cycle(component)
            if component[0].kind == "static":
                evaluate_static(component[0], self.strata, groundings)
            else:
                Sweep(component, self.description, self.strata, groundings).run()
        return world


MAX_FRAMES = 12_000


@contextmanager
def room_to_recurse() -> Iterator[None]:
    """Conditions that call each other take some ten frames of Python each."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MAX_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _knowledge(world: World) -> Knowledge:
    spans: dict[tuple[Term, Term], Intervals] = {
        (fluent, value): intervals
        for key in world.spans
        for fluent, value, intervals in world.instances(key)
        if intervals
    }
    events: dict[Term, list[int]] = {}
    for by_time in world.events.values():
        for t in sorted(by_time):
            for event in by_time[t]:
                events.setdefault(event, []).append(t)
    return Knowledge(spans, events)


# --- over a stream -------------------------------------------------------------------------------


class RefusalReason(StrEnum):
    """Why an item was not used, or not in full."""

    TOO_LATE = "too-late"
    PARTLY_TOO_LATE = "partly-too-late"
    UNKNOWN_RETRACTION = "unknown-retraction"
    OUTSIDE_RUN = "outside-run"


@dataclass(frozen=True, slots=True)
class RefusedItem:
    """An item that was not used, or of which a part was not."""

    item: OracleItem
    reason: RefusalReason
    query: int
    text: str


Identity = tuple[Term, Term | None, int, float]


def identity(item: OracleItem) -> Identity:
    """The identity of an item; an event has no end."""
    return (item.entity, item.value, item.start, item.start if item.value is None else item.end)


class AdmittedItems:
    """The admitted items of a run."""

    def __init__(self, grid: TickGrid, start: int, window: int | None) -> None:
        self.grid = grid
        self.start = start
        self.window = window
        self._admitted: dict[Identity, list[OracleItem]] = {}  # the part of each that counts
        self._kept: list[OracleItem] = []  # parts of retracted intervals that have become final
        self._waiting: list[OracleItem] = []

    def border(self, query: int) -> int:
        """The point at or before which nothing is admitted any more."""
        return self.start if self.window is None else max(self.start, query - self.window)

    def admit(self, items: Iterable[OracleItem], query: int) -> list[RefusedItem]:
        """Take in the items that have arrived by `query`; what cannot be used comes back."""
        dropped: list[RefusedItem] = []
        arrived = [*self._waiting, *items]
        self._waiting = []
        for item in sorted(arrived, key=lambda i: (i.arrival, i.retract)):
            if item.arrival > query or (item.start > query and not item.retract):
                self._waiting.append(item)
            elif item.start > query:
                # All that arrived before it is known, so it never finds what it does not find now.
                if not self._cancel_waiting(item):
                    dropped.append(self._unknown(item, query))
            else:
                dropped.extend(self._take(item, query))
        return dropped

    def occurrences(self) -> Iterator[OracleItem]:
        """Everything that counts now."""
        yield from self._kept
        for admitted in self._admitted.values():
            yield from admitted

    def left_over(self, query: int) -> list[RefusedItem]:
        """Items that never came to count because the run is over."""
        text = f"it arrives or happens after the end of the run, {query}"
        return [RefusedItem(item, RefusalReason.OUTSIDE_RUN, query, text) for item in self._waiting]

    def _cancel_waiting(self, retraction: OracleItem) -> bool:
        """Items are taken in by arrival: those that wait now have arrived no later."""
        for index, item in enumerate(self._waiting):
            if identity(item) == identity(retraction) and not item.retract:
                del self._waiting[index]
                return True
        return False

    def _take(self, item: OracleItem, query: int) -> Iterator[RefusedItem]:
        border = self.border(query)
        first = item.start if item.start > border else self.grid.next(border)
        gone = item.start <= border if item.value is None else first >= item.end
        if gone:
            yield self._too_late(item, query, border)
        elif item.retract:
            yield from self._retract(item, query, first)
        else:
            self._admitted.setdefault(identity(item), []).append(replace(item, start=first))
            if first != item.start:
                yield self._cut(item, query, first)

    def _retract(self, item: OracleItem, query: int, first: int) -> Iterator[RefusedItem]:
        admitted = self._admitted.get(identity(item), [])
        known = [one for one in admitted if one.arrival <= item.arrival]
        if not known:
            yield self._unknown(item, query)
            return
        admitted[:] = [one for one in admitted if one is not known[-1]]
        start = known[-1].start
        if item.value is not None and start < first:
            self._kept.append(replace(item, start=start, end=first))
            yield self._cut(item, query, first)

    def _unknown(self, item: OracleItem, query: int) -> RefusedItem:
        text = "nothing equal to it has arrived before"
        return RefusedItem(item, RefusalReason.UNKNOWN_RETRACTION, query, text)

    def _too_late(self, item: OracleItem, query: int, border: int) -> RefusedItem:
        if border == self.start and (self.window is None or query - self.window <= self.start):
            text = f"it lies at or before the start of the run, {self.start}"
            return RefusedItem(item, RefusalReason.OUTSIDE_RUN, query, text)
        text = f"it lies at or before {border}, where the window at {query} begins"
        return RefusedItem(item, RefusalReason.TOO_LATE, query, text)

    def _cut(self, item: OracleItem, query: int, first: int) -> RefusedItem:
        done = "taken back" if item.retract else "used"
        text = f"only its part from {first} on is {done}; what is before is final"
        return RefusedItem(item, RefusalReason.PARTLY_TOO_LATE, query, text)


Span = tuple[Term, Term, Interval]
Happening = tuple[Term, int]
State = tuple[AdmittedItems, Knowledge, int]


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """The answer at a query time.

    `spans` and `events` cover the window; `all_spans` and `all_events` the run so far. The four
    change lists say how the latter differ from the answer before.
    """

    query: int
    spans: dict[tuple[Term, Term], Intervals]
    events: dict[Term, list[int]]
    all_spans: dict[tuple[Term, Term], Intervals]
    all_events: dict[Term, list[int]]
    new_spans: list[Span]
    gone_spans: list[Span]
    new_events: list[Happening]
    gone_events: list[Happening]
    dropped: list[RefusedItem]


class OracleSession:
    """A run in progress: give it items as they come and ask at growing query times."""

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, PythonPredicate] | None = None,
    ) -> None:
        self.interpreter = Interpreter(description, tick, allen_memory, predicates)
        self.start = start
        self.window = window
        self.stream = AdmittedItems(self.interpreter.grid, start, window)
        self._last = Knowledge({}, {})
        self._query = start

    def advance(self, until: int, items: Iterable[OracleItem] = ()) -> OracleAnswer:
        """The answer at query time `until`, with more items known than before."""
        if until <= self._query:
            raise ValueError(f"query times must grow: {until} is not after {self._query}")
        self._query = until
        dropped = self.stream.admit(items, until)
        known = self.interpreter.evaluate(self.stream.occurrences(), self.start, until)
        before, self._last = self._last, known
        old, new = _flat(before), _flat(known)
        old_events, new_events = _happenings(before), _happenings(known)
        return OracleAnswer(
            query=until,
            spans=self._in_window(known.spans, until),
            events=self._events_in_window(known.events, until),
            all_spans=known.spans,
            all_events=known.events,
            new_spans=[span for span in new if span not in old],
            gone_spans=[span for span in old if span not in new],
            new_events=[happening for happening in new_events if happening not in old_events],
            gone_events=[happening for happening in old_events if happening not in new_events],
            dropped=dropped,
        )

    def finish(self) -> list[RefusedItem]:
        """Items that never came to count."""
        return self.stream.left_over(self._query)

    def state(self) -> State:
        """The state of a run that is to go on in another session."""
        return self.stream, self._last, self._query

    def restore(self, state: State) -> None:
        """Go on where a session with the same rules and settings was."""
        self.stream, self._last, self._query = state

    def is_output(self, entity: Term, is_fluent: bool) -> bool:
        """Is the event or fluent defined by rules? One name may be both an event and a fluent."""
        return (key_of(entity), is_fluent) in self.interpreter.derived

    def _in_window(
        self, spans: dict[tuple[Term, Term], Intervals], query: int
    ) -> dict[tuple[Term, Term], Intervals]:
        if self.window is None:
            return spans
        border = query - self.window
        kept = {
            pair: [interval for interval in intervals if self._last_point(interval) > border]
            for pair, intervals in spans.items()
        }
        return {pair: intervals for pair, intervals in kept.items() if intervals}

    def _last_point(self, interval: Interval) -> float:
        """The last time-point of an interval; one that lies between two of them has its start."""
        start, end = interval
        return INF if end == INF else max(start, self.interpreter.grid.prev(int(end)))

    def _events_in_window(self, events: dict[Term, list[int]], query: int) -> dict[Term, list[int]]:
        if self.window is None:
            return events
        border = query - self.window
        kept = {event: [t for t in times if t > border] for event, times in events.items()}
        return {event: times for event, times in kept.items() if times}


def _flat(known: Knowledge) -> dict[Span, None]:
    return {
        (fluent, value, interval): None
        for (fluent, value), intervals in known.spans.items()
        for interval in intervals
    }


def _happenings(known: Knowledge) -> dict[Happening, None]:
    return {(event, t): None for event, times in known.events.items() for t in times}
