"""What is known at a query time: events, initiations, terminations and intervals.

Everything is stored by name and arity, then by what is asked for most. Points lie after the start
of the run and not after the query time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from horai.lang.terms import Atom, Compound, Int, ListTerm, Term, functor
from horai.oracle.intervals import INF, Grid, Interval, Intervals

Key = tuple[str, int]
Point = tuple[Term, Term | None]  # a fluent and its value; None = every value

ANYTHING: Key = ("", -1)


def key_of(term: Term) -> Key:
    """Name and arity of an event or fluent."""
    return functor(term) or ANYTHING


@dataclass(slots=True)
class World:
    """The state of knowledge while an answer is worked out."""

    grid: Grid
    start: int
    query: int
    allen_memory: int | None = None
    events: dict[Key, dict[int, dict[Term, None]]] = field(default_factory=dict)
    initiations: dict[Key, dict[int, dict[Point, None]]] = field(default_factory=dict)
    terminations: dict[Key, dict[int, dict[Point, None]]] = field(default_factory=dict)
    spans: dict[Key, dict[Term, dict[Term, Intervals]]] = field(default_factory=dict)
    # Starts and ends at the time-point being settled: known before the intervals are.
    new_edges: dict[Key, list[tuple[str, Term, Term, int]]] = field(default_factory=dict)

    def in_run(self, t: int) -> bool:
        """Is the point after the start of the run and not after the query time?"""
        return self.start < t <= self.query

    def add_event(self, event: Term, t: int) -> None:
        """An occurrence of an event."""
        self.events.setdefault(key_of(event), {}).setdefault(t, {})[event] = None

    def add_interval(self, fluent: Term, value: Term, interval: Interval) -> None:
        """An interval of a fluent-value pair, not yet merged with the others."""
        values = self.spans.setdefault(key_of(fluent), {}).setdefault(fluent, {})
        values.setdefault(value, []).append(interval)

    def intervals(self, fluent: Term, value: Term) -> Intervals:
        """The maximal intervals of a ground fluent-value pair."""
        return self.spans.get(key_of(fluent), {}).get(fluent, {}).get(value, [])

    def instances(self, key: Key) -> Iterator[tuple[Term, Term, Intervals]]:
        """All known fluent-value pairs of a fluent with their intervals."""
        for fluent, values in self.spans.get(key, {}).items():
            for value, intervals in values.items():
                yield fluent, value, intervals

    def edges(self, key: Key, kind: str) -> Iterator[tuple[Term, Term, int]]:
        """Occurrences of `start`, `end`, `startI` or `endI` of the pairs of a fluent."""
        for fluent, value, intervals in self.instances(key):
            for start, end in intervals:
                t = self._edge_time(kind, start, end)
                if t is not None and self.in_run(t):
                    yield fluent, value, t
        for new_kind, fluent, value, t in self.new_edges.get(key, ()):
            if new_kind == kind and self.in_run(t):
                yield fluent, value, t

    def _edge_time(self, kind: str, start: int, end: float) -> int | None:
        match kind:
            case "start":
                return self.grid.prev(start)
            case "startI":
                return start
            case "end":
                return None if end == INF else self.grid.prev(int(end))
            case _:
                return None if end == INF else int(end)


def interval_term(intervals: Intervals) -> ListTerm:
    """Intervals as the list `[(s,e), ...]` that rules see."""
    return ListTerm(
        tuple(
            Compound(",", (Int(start), Atom("inf") if end == INF else Int(int(end))))
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
            case Compound(name=",", args=(Int(value=start), Atom(name="inf"))):
                intervals.append((start, INF))
            case _:
                return None
    return intervals
