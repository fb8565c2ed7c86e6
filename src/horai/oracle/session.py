"""Running the reference engine over a stream, query time by query time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from horai.lang.ec.syntax import EventDescription
from horai.lang.terms import Term
from horai.oracle.context import PythonPredicate
from horai.oracle.evaluate import Interpreter, Knowledge
from horai.oracle.intervals import INF, Interval, Intervals
from horai.oracle.items import Dropped, Item
from horai.oracle.stream import Stream
from horai.oracle.world import key_of

Span = tuple[Term, Term, Interval]
Happening = tuple[Term, int]
State = tuple[Stream, Knowledge, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """What holds at a query time.

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
    dropped: list[Dropped]


class Session:
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
        self.stream = Stream(self.interpreter.grid, start, window)
        self._last = Knowledge({}, {})
        self._query = start

    def advance(self, until: int, items: Iterable[Item] = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        if until <= self._query:
            raise ValueError(f"query times must grow: {until} is not after {self._query}")
        self._query = until
        dropped = self.stream.admit(items, until)
        known = self.interpreter.evaluate(self.stream.occurrences(), self.start, until)
        before, self._last = self._last, known
        old, new = _flat(before), _flat(known)
        old_events, new_events = _happenings(before), _happenings(known)
        return Answer(
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

    def finish(self) -> list[Dropped]:
        """Items that never came to count."""
        return self.stream.left_over(self._query)

    def state(self) -> State:
        """What is to be remembered if the run is to go on in another session."""
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
