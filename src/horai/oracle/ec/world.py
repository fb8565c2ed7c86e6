"""The world at a query time: events, initiations, terminations and intervals.

Everything is stored by name and arity, then by what is asked for most. Points lie after the start
of the run and not after the query time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, functor
from horai.oracle.ec.intervals import INF, Interval, Intervals, TickGrid, coalesce

Key = tuple[str, int]
# Points of fluents: by time, fluent and value. A termination of every value has value None, one
# of all values of a form (`level(_)`) has that form.
Points = dict[int, dict[Term, dict[Term | None, None]]]

ANYTHING: Key = ("", -1)


def key_of(term: Term) -> Key:
    """Name and arity of an event or fluent."""
    return functor(term) or ANYTHING


@dataclass(slots=True)
class World:
    """The state of knowledge while an answer is worked out."""

    grid: TickGrid
    start: int
    query: int
    allen_memory: int | None = None
    events: dict[Key, dict[int, dict[Term, None]]] = field(default_factory=dict)
    input_events: set[tuple[Term, int]] = field(default_factory=set)
    initiations: dict[Key, Points] = field(default_factory=dict)
    terminations: dict[Key, Points] = field(default_factory=dict)
    # Initiations outside the grounding: they hold nowhere, yet they end other values.
    ghosts: dict[Key, Points] = field(default_factory=dict)
    spans: dict[Key, dict[Term, dict[Term, Intervals]]] = field(default_factory=dict)
    # Starts and ends in the cell being settled: known before the intervals are.
    new_edges: dict[Key, list[tuple[str, Term, Term, int]]] = field(default_factory=dict)
    # Moments between two time-points at which something happens, by the time-point before.
    between: dict[int, set[int]] = field(default_factory=dict)

    def in_run(self, t: int) -> bool:
        """Is the point after the start of the run and not after the query time?"""
        return self.start < t <= self.query

    def moments(self, cell: int) -> list[int]:
        """The moments of a cell at which something can happen: its time-point, and those noted."""
        found = sorted({cell, *self.between.get(cell, ())})
        return [t for t in found if self.in_run(t)]

    def note(self, t: int) -> None:
        """Remember a moment that is no time-point."""
        cell = self.grid.cell(t)
        if cell != t:
            self.between.setdefault(cell, set()).add(t)

    # --- input -----------------------------------------------------------------------------------

    def add_event(self, event: Term, t: int) -> None:
        """An occurrence of an event."""
        self.events.setdefault(key_of(event), {}).setdefault(t, {})[event] = None
        self.note(t)

    def add_input_event(self, event: Term, t: int) -> None:
        """An occurrence that no rule has to derive."""
        self.add_event(event, t)
        self.input_events.add((event, t))

    def add_interval(self, fluent: Term, value: Term, interval: Interval) -> None:
        """An interval of a fluent-value pair, not yet merged with the others."""
        key = key_of(fluent)
        self.spans.setdefault(key, {}).setdefault(fluent, {}).setdefault(value, []).append(interval)
        self.note(interval[0])
        if interval[1] != INF:
            self.note(int(interval[1]))

    def merge(self, key: Key) -> None:
        """Make the intervals of a fluent maximal."""
        for values in self.spans.get(key, {}).values():
            for value, intervals in values.items():
                values[value] = coalesce(intervals)

    # --- intervals that grow while a component is settled ----------------------------------------

    def begin(self, fluent: Term, value: Term, t: int) -> None:
        """From t on the pair holds."""
        pairs = self.spans.setdefault(key_of(fluent), {}).setdefault(fluent, {})
        pairs.setdefault(value, []).append((t, INF))

    def finish(self, fluent: Term, value: Term, t: int) -> None:
        """From t on the pair holds no more."""
        intervals = self.spans[key_of(fluent)][fluent][value]
        intervals[-1] = (intervals[-1][0], t)

    # --- questions -------------------------------------------------------------------------------

    def intervals(self, fluent: Term, value: Term) -> Intervals:
        """The maximal intervals of a ground fluent-value pair."""
        return self.spans.get(key_of(fluent), {}).get(fluent, {}).get(value, [])

    def instances(self, key: Key) -> Iterator[tuple[Term, Term, Intervals]]:
        """All known fluent-value pairs of a fluent with their intervals."""
        for fluent, values in self.spans.get(key, {}).items():
            for value, intervals in values.items():
                yield fluent, value, intervals

    def edges(self, key: Key, kind: str) -> dict[int, list[tuple[Term, Term]]]:
        """When `start`, `end`, `startI` or `endI` of pairs of a fluent occur, and of which."""
        found = [
            (int(t) if kind.endswith("I") else self.grid.prev(int(t)), fluent, value)
            for fluent, value, intervals in self.instances(key)
            for interval in intervals
            if (t := interval[not kind.startswith("start")]) != INF
        ]
        found += [
            (moment, fluent, value)
            for new_kind, fluent, value, moment in self.new_edges.get(key, ())
            if new_kind == kind
        ]
        by_time: dict[int, list[tuple[Term, Term]]] = {}
        for moment, fluent, value in found:
            if self.in_run(moment):
                by_time.setdefault(moment, []).append((fluent, value))
        return by_time


def interval_term(intervals: Intervals) -> ListTerm:
    """Intervals as the list `[(s,e), ...]` that rules see."""
    return ListTerm(
        tuple(
            Compound(",", (Int(start), Constant("inf") if end == INF else Int(int(end))))
            for start, end in intervals
        )
    )


def term_intervals(term: Term) -> Intervals | None:
    """The intervals of a list term, None if it is no such list."""
    if not isinstance(term, ListTerm) or term.tail is not None:
        return None
    intervals: Intervals = []
    for item in term.items:
        match item:
            case Compound(name=",", args=(Int(value=start), Int(value=end))):
                intervals.append((start, end))
            case Compound(name=",", args=(Int(value=start), Constant(name="inf"))):
                intervals.append((start, INF))
            case _:
                return None
    return intervals
