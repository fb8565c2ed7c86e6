"""Admission of signals one by one: they come, wait, are taken back, and are forgotten at last."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

from horai import io
from horai.engine.origins import Reason
from horai.lang.lars.syntax import Atom, Predicate
from horai.plan.lars.reach import SignalReach
from horai.runtime.inputs import DroppedRow
from horai.runtime.values import to_term

MOST_ATOMS = 20_000


class Signal(NamedTuple):
    """An atom at a time; `order` is its place in the input, which orders signals of one time."""

    time: int
    order: int
    atom: Atom


Judged = tuple[int, int, int, str | None]
"""A row by which it was judged: sign, arrival, time, and why it was not used."""
Changes = tuple[int, Sequence[Signal], Sequence[Signal]]
"""A query time, what came and what was taken back since the one before."""


@dataclass
class Arrivals:
    """The rows of a stream by the time of their arrival, and what cannot be used of it.

    A retraction takes back the last signal that says the same. With a `lateness`, rows about a time
    that lies further back than that are too late once a query time has passed it.
    """

    start: int
    lateness: int | None = None
    dropped: list[DroppedRow] = field(default_factory=list)
    """Rows that were not used, until somebody takes them."""
    judged: list[Judged] = field(default_factory=list)
    """What became of rows at the last query time."""
    taken: int = 0
    """How many rows have come in; it is the order of signals."""
    waiting: list[tuple[int, int, io.Item]] = field(default_factory=list)
    """Arrival, order and row of what is not yet known: a heap."""
    _known: dict[int, dict[int, Signal]] = field(default_factory=dict)
    """What can be taken back, by its time and its order."""
    _alike: dict[int, dict[Atom, list[int]]] = field(default_factory=dict)
    """The same by what it says, at times of which something has been taken back."""
    predicates: set[Predicate] = field(default_factory=set)
    """Those of all signals so far."""
    _latest: int = 0  # arrival
    _atoms: dict[object, Atom] = field(default_factory=dict)
    """Atoms that have been made, for most come again and again."""

    def feed(self, rows: Iterable[io.Item]) -> None:
        """More rows, in their order."""
        for row in rows:
            heappush(self.waiting, (row.arrival, self.taken, row))
            self.taken += 1
            if row.arrival > self._latest:
                self._latest = row.arrival

    def know(self, signal: Signal) -> None:
        """A signal that can be taken back."""
        here = self._known.get(signal.time)
        if here is None:
            here = self._known[signal.time] = {}
        here[signal.order] = signal
        if signal.time in self._alike:
            self._alike[signal.time].setdefault(signal.atom, []).append(signal.order)

    def forget(self, signals: Iterable[Signal]) -> None:
        """Signals that nobody can take back any more."""
        for time, order, _ in signals:
            here = self._known.get(time)
            if here is not None and here.pop(order, None) is not None:
                self._alike.pop(time, None)  # it is made again if that is needed
                if not here:
                    del self._known[time]

    def _take_back(self, time: int, atom: Atom) -> Signal | None:
        """The last signal that says something, which is no longer there then."""
        here = self._known.get(time, {})
        if time not in self._alike:
            alike = self._alike[time] = {}
            for place, signal in here.items():
                alike.setdefault(signal.atom, []).append(place)
        same = self._alike[time].get(atom)
        gone = here.pop(same.pop()) if same else None
        if not here:
            self._known.pop(time, None)
            del self._alike[time]
        return gone

    def until(self, query: int, before: int | None = None) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[int, Signal] = {}
        removed: list[Signal] = []
        self.judged = []
        early = f"lies before the start of the run, {self.start}"
        for _, order, row in self._due(query):
            if row.start < self.start:
                self._refuse(row, Reason.OUTSIDE_RUN, early)
            elif self.lateness is not None and self._is_too_late(row.start, query, before):
                final = f"answers before {query - (self.lateness or 0)} are final at {query}"
                self._refuse(row, Reason.TOO_LATE, f"it lies at {row.start}, and {final}")
            elif self._take(order, row, added, removed):
                self.judged.append((row.op, row.arrival, row.start, None))
            else:
                text = "takes back a signal that was never there"
                self._refuse(row, Reason.UNKNOWN_RETRACTION, text)
        return list(added.values()), removed

    def _due(self, query: int) -> Iterator[tuple[int, int, io.Item]]:
        """What has arrived by a time, in its order."""
        if self._latest <= query:  # all of it
            due, self.waiting = sorted(self.waiting), []
            yield from due
        while self.waiting and self.waiting[0][0] <= query:
            yield heappop(self.waiting)

    def _is_too_late(self, time: int, query: int, before: int | None) -> bool:
        if self.lateness is None or before is None or time > before:
            return False
        return time < query - self.lateness

    def _take(
        self, order: int, row: io.Item, added: dict[int, Signal], removed: list[Signal]
    ) -> bool:
        """Take in a row; False if it takes back what was never there."""
        atom = self._atom(row)
        if row.op > 0:
            added[order] = Signal(row.start, order, atom)
            self.know(added[order])
            return True
        gone = self._take_back(row.start, atom)
        if gone is not None and added.pop(gone.order, None) is None:
            removed.append(gone)
        return gone is not None

    def _atom(self, row: io.Item) -> Atom:
        # 3, 3.0 and true are one key for Python.
        key = (row.name, row.args, tuple(map(type, row.args)))
        found = self._atoms.get(key)
        if found is None:
            if len(self._atoms) > MOST_ATOMS:
                self._atoms.clear()
            found = Atom(row.name, tuple(to_term(arg) for arg in row.args))
            self._atoms[key] = found
            self.predicates.add(found.predicate)
        return found

    def finish(self, end: int) -> list[DroppedRow]:
        """The rows that come after the end of the run."""
        text = f"arrives after the last query time; the run ends at {end}"
        left = [DroppedRow(row, Reason.OUTSIDE_RUN, text) for _, _, row in sorted(self.waiting)]
        self.waiting = []
        return left

    def _refuse(self, row: io.Item, reason: Reason, text: str) -> None:
        self.dropped.append(DroppedRow(row, reason, text))
        self.judged.append((row.op, row.arrival, row.start, reason))


ENDLESS = 2**62
FEW = 256
"""With so few signals forgetting is not worth its time."""


@dataclass
class SignalMemory:
    """Signals, each with the time from which it counts and the one until which it does."""

    reach: SignalReach
    _known: dict[int, tuple[Signal, int, int]] = field(default_factory=dict)
    """By its order, which no other signal has: to hash an atom takes longer."""
    _at: dict[int, dict[int, None]] | None = None  # by time, once somebody asks for that
    _kept: int = 0

    @property
    def known(self) -> Iterable[tuple[Signal, int, int]]:
        """All signals, with from when and until when they count."""
        return self._known.values()

    def add(self, signal: Signal, since: int, until: int = ENDLESS) -> None:
        """A signal that counts from a time on."""
        self._known[signal.order] = (signal, since, until)
        if self._at is not None:
            self._at.setdefault(signal.time, {})[signal.order] = None

    def remove(self, signal: Signal, until: int) -> None:
        """A signal that counts until a time; there may be none left at which it does."""
        _, since, _ = self._known[signal.order]
        if until > since:
            self._known[signal.order] = (signal, since, until)
        else:
            self._drop(signal)

    def at(self, query: int, is_wanted: Callable[[Atom], bool]) -> set[Atom]:
        """The wanted atoms that signals say about a query time, as far as they count then."""
        if self._at is None:
            self._at = {}
            for signal, _, _ in self.known:
                self._at.setdefault(signal.time, {})[signal.order] = None
        found: set[Atom] = set()
        for place in self._at.get(query, ()):
            signal, since, until = self._known[place]
            if since <= query < until and is_wanted(signal.atom):
                found.add(signal.atom)
        return found

    def changes(self, queries: Sequence[int]) -> Iterator[Changes]:
        """What comes and goes from query time to query time, for one who knows nothing yet."""
        added: list[list[Signal]] = [[] for _ in queries]
        removed: list[list[Signal]] = [[] for _ in queries]
        for signal, since, until in self.known:
            come, gone = bisect_left(queries, since), bisect_left(queries, until)
            if come < gone:
                added[come].append(signal)
                if gone < len(queries):
                    removed[gone].append(signal)
        for place, query in enumerate(queries):
            yield query, added[place], removed[place]

    def forget(self, horizon: int) -> list[Signal]:
        """Drop what no answer from a time on can depend on, once that is worth the time it takes.

        Signals before that time can no longer be taken back.
        """
        if len(self._known) < 2 * self._kept + FEW:
            return []
        lasting = [signal for signal, _, until in self.known if until == ENDLESS]
        lasting.sort()  # by time and order; no two have the same order
        # Those at the horizon may still go, and leave their place in a window to one before them.
        needed = self.reach.needed([(s.time, s.atom) for s in lasting], horizon - 1)
        gone = [signal for signal, stays in zip(lasting, needed, strict=True) if not stays]
        gone += [signal for signal, _, until in self.known if until <= horizon]
        for signal in gone:
            self._drop(signal)
        self._kept = len(self._known)
        return gone

    def _drop(self, signal: Signal) -> None:
        del self._known[signal.order]
        if self._at is not None:
            here = self._at[signal.time]
            del here[signal.order]
            if not here:
                del self._at[signal.time]


def earliest(signals: Iterable[Signal]) -> int | None:
    """The first time that signals speak of."""
    return min((signal.time for signal in signals), default=None)
