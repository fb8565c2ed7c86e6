"""What an engine says at a query time, as columns.

An answer has several parts, each computed when it is first asked for:

| part | what is in it |
|---|---|
| window | what holds and happens in the window |
| all | everything the run knows so far |
| new, gone | what `all` has more, or has no longer, than at the query time before |
| input | the items themselves, if the other parts leave them out |

All answers of a session share its symbols, so that columns of several answers can be put together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from horai.engine.admission import Dropped
from horai.engine.columns import Column, terms_of
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, children, make
from horai.lang.lars.syntax import Atom
from horai.temporal.spans import INF, Ints

Which = Literal["window", "all", "new", "gone", "input"]
Interval = tuple[int, int | float]


class FluentTable(NamedTuple):
    """Maximal intervals of the fluents of one name and arity; `INF` is an open end."""

    name: str
    args: tuple[Column, ...]
    value: Column
    start: Ints
    end: Ints


class EventTable(NamedTuple):
    """Events of one name and arity."""

    name: str
    args: tuple[Column, ...]
    time: Ints


class AtomTable(NamedTuple):
    """Maximal intervals of the atoms of one predicate of a LARS program; `INF` is an open end."""

    name: str
    args: tuple[Column, ...]
    start: Ints
    end: Ints


class Instance(NamedTuple):
    """A fluent or event of which an answer speaks."""

    kind: Literal["event", "fluent"]
    name: str
    args: tuple[Term, ...]


class Changes(NamedTuple):
    """What came (sign 1) and went (-1) of an instance: (value, start, sign, end).

    Values are words that `Answer.term` knows; events are at `start` and have none.
    """

    instance: Instance
    rows: list[tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Part:
    """Tables in any order; their rows, too. A name may have tables of several arities."""

    fluents: Sequence[FluentTable] = field(default_factory=list)
    events: Sequence[EventTable] = field(default_factory=list)
    atoms: Sequence[AtomTable] = field(default_factory=list)


class Answer:
    """The answer at a query time.

    The functions that compute the parts may be called much later, and still have to answer for
    this query time.
    """

    def __init__(
        self,
        query: int,
        symbols: Symbols,
        dropped: Sequence[Dropped],
        parts: Mapping[Which, Callable[[], Part]],
    ) -> None:
        self.query = query
        self.symbols = symbols
        self.dropped = dropped
        self._compute = dict(parts)
        self._known: dict[Which, Part] = {}
        self.changes: Callable[[], list[Changes]] | None = None
        """What `new` and `gone` say, row by row: for who wants it while they are not computed."""
        self.term: Callable[[int], Term] | None = None

    def part(self, which: Which) -> Part:
        """One of the parts. Raises KeyError for one that was let go."""
        if which not in self._known:
            self._known[which] = self._compute[which]()
            # What computes it may hold on to more than the part.
            del self._compute[which]
        return self._known[which]

    def keep(self, only: Iterable[Which]) -> None:
        """Compute some parts and let go of everything else that this answer keeps alive."""
        wanted = list(only)
        light = [w for w in wanted if self.changes is not None and w in ("new", "gone")]
        known = {which: self.part(which) for which in wanted if which not in light}
        self._compute = {w: self._compute[w] for w in light if w in self._compute}
        self._known = known | {w: self._known[w] for w in light if w in self._known}
        self.dropped = ()

    def listed(self) -> list[Changes] | None:
        """What came and went, row by row; None if it has to be told by the parts."""
        if self.changes is None or not {"new", "gone"} <= self._compute.keys():
            return None
        return self.changes()

    def let_go(self, which: Which) -> None:
        """Do without a part from now on."""
        self._known.pop(which, None)
        self._compute.pop(which, None)

    def has(self, which: Which) -> bool:
        """Is there such a part, or can it be had?"""
        return which in self._known or which in self._compute


def spans_of(part: Part, symbols: Symbols) -> dict[tuple[Term, Term], list[Interval]]:
    """The intervals of each fluent and value, in order of time."""
    found: dict[tuple[Term, Term], list[Interval]] = {}
    for table in part.fluents:
        rows = np.argsort(table.start, kind="stable")
        fluents = _entities(table.name, table.args, rows, symbols)
        values = terms_of(table.value.take(rows), symbols)
        times = zip(table.start[rows].tolist(), table.end[rows].tolist(), strict=True)
        for fluent, value, (start, end) in zip(fluents, values, times, strict=True):
            until = float("inf") if end == INF else end
            found.setdefault((fluent, value), []).append((start, until))
    return found


def events_of(part: Part, symbols: Symbols) -> dict[Term, list[int]]:
    """The times of each event, in order."""
    found: dict[Term, list[int]] = {}
    for table in part.events:
        rows = np.argsort(table.time, kind="stable")
        events = _entities(table.name, table.args, rows, symbols)
        for event, time in zip(events, table.time[rows].tolist(), strict=True):
            found.setdefault(event, []).append(time)
    return found


def atoms_of(part: Part, symbols: Symbols) -> dict[Atom, list[Interval]]:
    """The intervals of each atom of a LARS program, in order of time."""
    found: dict[Atom, list[Interval]] = {}
    for table in part.atoms:
        rows = np.argsort(table.start, kind="stable")
        atoms = _entities(table.name, table.args, rows, symbols)
        times = zip(table.start[rows].tolist(), table.end[rows].tolist(), strict=True)
        for atom, (start, end) in zip(atoms, times, strict=True):
            until = float("inf") if end == INF else end
            found.setdefault(Atom(table.name, children(atom)), []).append((start, until))
    return found


def _entities(name: str, args: Sequence[Column], rows: Ints, symbols: Symbols) -> list[Term]:
    if not args:
        return [make(name)] * len(rows)
    columns = [terms_of(column.take(rows), symbols) for column in args]
    return [make(name, *row) for row in zip(*columns, strict=True)]


def rows_of_fluent(table: FluentTable, rows: Ints) -> FluentTable:
    """Some rows of a table of a fluent."""
    args = tuple(column.take(rows) for column in table.args)
    value = table.value.take(rows)
    return FluentTable(table.name, args, value, table.start[rows], table.end[rows])


def rows_of_event(table: EventTable, rows: Ints) -> EventTable:
    """Some rows of a table of an event."""
    return EventTable(table.name, tuple(c.take(rows) for c in table.args), table.time[rows])
