"""Signals of LARS programs: any name with any number of arguments may come with a stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from horai import io
from horai.inputs import row_text
from horai.lang.lars.syntax import Atom, Predicate
from horai.values import to_term

_MOST_ARGUMENTS = 64
_HEADER = "Type"


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
        if name == _HEADER:
            return ()
        return [io.InputType(name, "event", arity) for arity in range(_MOST_ARGUMENTS)]


@dataclass
class Arrivals:
    """The signals of an input by the time of their arrival, and what cannot be used of it.

    A retraction takes back the last signal that says the same.
    """

    rows: list[io.Item]
    start: int
    end: int
    dead_letters: list[io.DeadLetter] = field(default_factory=list)
    _next: int = 0
    _known: dict[tuple[int, Atom], list[Signal]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = list(enumerate(self.rows))
        self._waiting = sorted(ordered, key=lambda numbered: numbered[1].arrival)

    def until(self, query: int) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[Signal, None] = {}
        removed: list[Signal] = []
        while self._next < len(self._waiting) and self._waiting[self._next][1].arrival <= query:
            order, row = self._waiting[self._next]
            self._next += 1
            self._take(order, row, added, removed)
        return list(added), removed

    def _take(
        self, order: int, row: io.Item, added: dict[Signal, None], removed: list[Signal]
    ) -> None:
        atom = Atom(row.name, tuple(to_term(arg) for arg in row.args))
        same = self._known.setdefault((row.start, atom), [])
        if row.start < self.start:
            self._refuse(row, "outside-run", f"lies before the start of the run, {self.start}")
        elif row.op > 0:
            same.append(Signal(row.start, order, atom))
            added[same[-1]] = None
        elif same:
            gone = same.pop()
            if gone in added:
                del added[gone]
            else:
                removed.append(gone)
        else:
            self._refuse(row, "unknown-retraction", "takes back a signal that was never there")

    def finish(self) -> list[io.DeadLetter]:
        """All letters, those of rows that come after the end of the run included."""
        for _, row in self._waiting[self._next :]:
            self._refuse(row, "outside-run", f"arrives after the end of the run, {self.end}")
        self._next = len(self._waiting)
        return sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))

    def _refuse(self, row: io.Item, code: str, reason: str) -> None:
        self.dead_letters.append(io.DeadLetter(row.file, row.line, row_text(row), reason, code))


def in_order(narrative: io.Narrative, files: Sequence[str]) -> list[io.Item]:
    """The rows of an input as they stand there, file after file."""
    place = {name: number for number, name in enumerate(files)}
    rows = list(narrative.items())
    return sorted(rows, key=lambda row: (place.get(row.file, len(place)), row.file, row.line))
