"""Signals of LARS programs: any name with any number of arguments may come with a stream."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from horai import io
from horai.inputs import is_files, row_text
from horai.lang.lars.syntax import Atom, Predicate
from horai.values import to_term

_MOST_ARGUMENTS = 64
HEADER = "Type"


class Signal(NamedTuple):
    """An atom at a time; `order` is its place in the input, which orders signals of one time."""

    time: int
    order: int
    atom: Atom


class AnySignals(io.InputSchema):
    """Lets every name in. Names the program knows are read faster."""

    @classmethod
    def known(cls, predicates: Iterable[Predicate]) -> AnySignals:
        """A schema that expects these predicates, and takes others too."""
        types: dict[str, list[io.InputType]] = {}
        for name, arity in sorted(predicates):
            types.setdefault(name, []).append(io.InputType(name, "event", arity))
        return cls(types)

    def lookup(self, name: str) -> Sequence[io.InputType]:
        if name == HEADER:
            return ()
        return [io.InputType(name, "event", arity) for arity in range(_MOST_ARGUMENTS)]


@dataclass
class Arrivals:
    """The rows of an input by the time of their arrival, and what cannot be used of it.

    A retraction takes back the last signal that says the same. With a `lateness`, rows about a time
    that lies further back than that are too late once a query time has passed it.
    """

    start: int
    lateness: int | None = None
    dead_letters: list[io.DeadLetter] = field(default_factory=list)
    taken: int = 0
    """How many rows have come in; it is the order of signals."""
    waiting: list[tuple[int, int, io.Item]] = field(default_factory=list)
    """Arrival, order and row of what is not yet known: a heap."""
    _known: dict[tuple[int, Atom], list[Signal]] = field(default_factory=dict)

    def feed(self, rows: Iterable[io.Item]) -> None:
        """More rows, in their order."""
        for row in rows:
            heappush(self.waiting, (row.arrival, self.taken, row))
            self.taken += 1

    def know(self, signal: Signal) -> None:
        """A signal that can be taken back."""
        self._known.setdefault((signal.time, signal.atom), []).append(signal)

    def forget(self, signals: Iterable[Signal]) -> None:
        """Signals that nobody can take back any more."""
        for signal in signals:
            same = self._known.get((signal.time, signal.atom), [])
            if signal in same:
                same.remove(signal)
            if not same:
                self._known.pop((signal.time, signal.atom), None)

    def until(self, query: int, before: int | None = None) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[Signal, None] = {}
        removed: list[Signal] = []
        while self.waiting and self.waiting[0][0] <= query:
            _, order, row = heappop(self.waiting)
            if row.start < self.start:
                self.refuse_early(row)
            elif self._is_too_late(row.start, query, before):
                reason = f"answers before {query - (self.lateness or 0)} are final at {query}"
                self._refuse(row, "too-late", f"it lies at {row.start}, and {reason}")
            else:
                self._take(order, row, added, removed)
        return list(added), removed

    def _is_too_late(self, time: int, query: int, before: int | None) -> bool:
        if self.lateness is None or before is None or time > before:
            return False
        return time < query - self.lateness

    def _take(
        self, order: int, row: io.Item, added: dict[Signal, None], removed: list[Signal]
    ) -> None:
        atom = Atom(row.name, tuple(to_term(arg) for arg in row.args))
        same = self._known.setdefault((row.start, atom), [])
        if row.op > 0:
            same.append(Signal(row.start, order, atom))
            added[same[-1]] = None
        elif same:
            gone = same.pop()
            if gone in added:
                del added[gone]
            else:
                removed.append(gone)
        else:
            reason = "takes back a signal that was never there, or that nothing can see any more"
            self._refuse(row, "unknown-retraction", reason)
        if not same:
            del self._known[row.start, atom]

    def finish(self, end: int) -> list[io.DeadLetter]:
        """All letters, those of rows that come after the end of the run included."""
        for _, _, row in self.waiting:
            self.refuse_after(row, end)
        self.waiting = []
        return sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))

    def refuse_early(self, row: io.Item) -> None:
        """A row that no run like this one has room for."""
        self._refuse(row, "outside-run", f"lies before the start of the run, {self.start}")

    def refuse_after(self, row: io.Item, end: int) -> None:
        """A row that nobody waits for."""
        self._refuse(
            row, "outside-run", f"arrives after the last query time; the run ends at {end}"
        )

    def _refuse(self, row: io.Item, code: str, reason: str) -> None:
        self.dead_letters.append(io.DeadLetter(row.file, row.line, row_text(row), reason, code))


def in_order(narrative: io.Narrative, files: Sequence[str]) -> list[io.Item]:
    """The rows of an input as they stand there, file after file."""
    place = {name: number for number, name in enumerate(files)}
    rows = list(narrative.items())
    return sorted(rows, key=lambda row: (place.get(row.file, len(place)), row.file, row.line))


def files_of(given: object) -> list[str]:
    """The names of the files that are given, if there are any."""
    if not is_files(given):
        return []
    many = [given] if isinstance(given, str | os.PathLike) else list(given)  # type: ignore[call-overload]
    return ["<stdin>" if path == "-" else str(Path(path)) for path in many]
