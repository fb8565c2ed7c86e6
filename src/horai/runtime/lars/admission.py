"""Admission of signals one by one: they come, wait, are taken back, and are forgotten at last."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from horai import io
from horai.engine.origins import Reason
from horai.lang.core.terms import Term
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


ENDLESS = 2**62
FEW = 256
"""With so few signals forgetting is not worth its time."""


@dataclass
class SignalMemory:
    """Signals, each with the time from which it counts and the one until which it does."""

    _known: dict[int, tuple[Signal, int, int]] = field(default_factory=dict)
    """By its order, which no other signal has: to hash an atom takes longer."""
    _at: dict[int, dict[int, None]] = field(default_factory=dict)  # the orders by time
    _alike: dict[int, dict[Atom, list[int]]] = field(default_factory=dict)
    """What can be taken back by what it says, at times of which something has been."""
    _kept: int = 0

    @property
    def known(self) -> Iterable[tuple[Signal, int, int]]:
        """All signals, with from when and until when they count."""
        return self._known.values()

    def add(self, signal: Signal, since: int, until: int = ENDLESS) -> None:
        """A signal that counts from a time on."""
        time, order, atom = signal
        self._known[order] = (signal, since, until)
        here = self._at.get(time)
        if here is None:
            here = self._at[time] = {}
        here[order] = None
        if until == ENDLESS and time in self._alike:
            self._alike[time].setdefault(atom, []).append(order)

    def take_back(self, time: int, atom: Atom, until: int) -> Signal | None:
        """Let the last signal that says something count until a time, if there is one."""
        if time not in self._at:
            return None
        if time not in self._alike:
            alike = self._alike[time] = {}
            for order in self._at[time]:
                signal, _, ends = self._known[order]
                if ends == ENDLESS:
                    alike.setdefault(signal.atom, []).append(order)
        same = self._alike[time].get(atom)
        if not same:
            return None
        order = same.pop()
        signal, since, _ = self._known[order]
        if until > since:
            self._known[order] = (signal, since, until)
        else:  # there is no time left at which it counts
            self._drop(signal)
        return signal

    def at(self, query: int, is_wanted: Callable[[Atom], bool]) -> set[Atom]:
        """The wanted atoms that signals say about a query time, as far as they count then."""
        found: set[Atom] = set()
        for order in self._at.get(query, ()):
            signal, since, until = self._known[order]
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

    def forget(self, horizon: int, reach: SignalReach) -> None:
        """Drop what no answer from a time on can depend on, once that is worth the time it takes.

        Signals before that time can no longer be taken back.
        """
        if len(self._known) < 2 * self._kept + FEW:
            return
        if reach.counts:
            self._forget_one_by_one(horizon, reach)
        else:
            self._forget_by_time(horizon - 1, reach)
        self._kept = len(self._known)

    def _forget_one_by_one(self, horizon: int, reach: SignalReach) -> None:
        """Windows that count signals take the others in turn."""
        lasting = [signal for signal, _, until in self.known if until == ENDLESS]
        lasting.sort()  # by time and order; no two have the same order
        # Those at the horizon may still go, and leave their place in a window to one before them.
        needed = reach.needed([(s.time, s.atom) for s in lasting], horizon - 1)
        gone = [signal for signal, stays in zip(lasting, needed, strict=True) if not stays]
        gone += [signal for signal, _, until in self.known if until <= horizon]
        for signal in gone:
            self._alike.pop(signal.time, None)  # it is made again if that is needed
            self._drop(signal)

    def _forget_by_time(self, now: int, reach: SignalReach) -> None:
        """Where windows do not count, most times pass out of all of them at once."""
        ages = [max(reach.every, age) for age in (reach.points.values() or (0,))]
        for time in [time for time in self._at if now - time > min(ages)]:
            self._alike.pop(time, None)
            orders = self._at[time]
            if now - time > max(ages):
                del self._at[time]
                for order in orders:
                    del self._known[order]
                continue
            for order in list(orders):
                signal = self._known[order][0]
                if now - time > max(reach.every, reach.points.get(signal.atom.predicate, 0)):
                    self._drop(signal)

    def _drop(self, signal: Signal) -> None:
        del self._known[signal.order]
        here = self._at[signal.time]
        del here[signal.order]
        if not here:
            del self._at[signal.time]
            self._alike.pop(signal.time, None)


@dataclass
class Arrivals:
    """The rows of a stream by the time of their arrival, and what cannot be used of it.

    A retraction takes back the last signal that says the same. With a `lateness`, rows about a time
    that lies further back than that are too late once a query time has passed it.
    """

    start: int
    lateness: int | None = None
    memory: SignalMemory = field(default_factory=SignalMemory)
    dropped: list[DroppedRow] = field(default_factory=list)
    """Rows that were not used, until somebody takes them."""
    judged: dict[Judged, int] = field(default_factory=dict)
    """What became of rows at the last query time: of how many of each kind."""
    taken: int = 0
    """How many rows have come in; it is the order of signals."""
    waiting: list[tuple[int, int, io.Item]] = field(default_factory=list)
    """Arrival, order and row of what is not yet known: a heap."""
    predicates: set[Predicate] = field(default_factory=set)
    """Those of all signals so far."""
    _latest: int = 0  # arrival
    _atoms: dict[object, Atom] = field(default_factory=dict)
    """Atoms that have been made, for most come again and again."""
    _terms: dict[Term, Term] = field(default_factory=dict)

    def feed(self, rows: Iterable[io.Item]) -> None:
        """More rows, in their order."""
        for row in rows:
            heappush(self.waiting, (row.arrival, self.taken, row))
            self.taken += 1
            if row.arrival > self._latest:
                self._latest = row.arrival

    def until(self, query: int, before: int | None = None) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[int, Signal] = {}
        removed: list[Signal] = []
        self.judged = judged = dict[Judged, int]()
        final = self._final(query)
        for _, order, row in self._due(query):
            time, fate = row.start, None
            if time < self.start:
                fate = Reason.OUTSIDE_RUN
                text = f"lies before the start of the run, {self.start}"
            elif time < final and before is not None and time <= before:
                fate = Reason.TOO_LATE
                text = f"it lies at {time}, and answers before {final} are final at {query}"
            elif not self._take(order, row, query, added, removed):
                fate, text = Reason.UNKNOWN_RETRACTION, "takes back a signal that was never there"
            if fate is not None:
                self.dropped.append(DroppedRow(row, fate, text))
            kind = (row.op, row.arrival, time, fate)
            judged[kind] = judged.get(kind, 0) + 1
        return list(added.values()), removed

    def _due(self, query: int) -> list[tuple[int, int, io.Item]]:
        """What has arrived by a time, in its order."""
        if self._latest <= query:  # all of it
            due, self.waiting = sorted(self.waiting), []
            return due
        due = []
        while self.waiting and self.waiting[0][0] <= query:
            due.append(heappop(self.waiting))
        return due

    def _final(self, query: int) -> float:
        """Before which time answers cannot change any more."""
        return -inf if self.lateness is None else query - self.lateness

    def _take(
        self,
        order: int,
        row: io.Item,
        query: int,
        added: dict[int, Signal],
        removed: list[Signal],
    ) -> bool:
        """Take in a row; False if it takes back what was never there."""
        atom = self._atom(row)
        # With a lateness, what has come since the query time before counts from its own time on.
        counts = query if self.lateness is None else min(row.start, query)
        if row.op > 0:
            added[order] = signal = Signal(row.start, order, atom)
            self.memory.add(signal, counts)
            return True
        gone = self.memory.take_back(row.start, atom, counts)
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
                self._terms.clear()
            terms = [to_term(arg) for arg in row.args]
            # Those that are one object are compared without looking into them.
            found = Atom(row.name, tuple(self._terms.setdefault(term, term) for term in terms))
            self._atoms[key] = found
            self.predicates.add(found.predicate)
        return found

    def finish(self, end: int) -> list[DroppedRow]:
        """The rows that come after the end of the run."""
        text = f"arrives after the last query time; the run ends at {end}"
        left = [DroppedRow(row, Reason.OUTSIDE_RUN, text) for _, _, row in sorted(self.waiting)]
        self.waiting = []
        return left
