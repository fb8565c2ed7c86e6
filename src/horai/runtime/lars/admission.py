"""Admission of signals: they come, wait, are taken back, and are forgotten at last.

One by one, or as columns where a whole run is given at once and nothing is taken back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from itertools import chain, groupby, repeat
from math import inf
from operator import itemgetter

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.admission import Dropped, Reason
from horai.engine.arrow_items import ORDER, numbers_of, read_items
from horai.engine.lars.run import Signal
from horai.engine.rows import Rows, join
from horai.engine.symbols import Symbols
from horai.io.terms import Term as Plain
from horai.lang.core.terms import Term
from horai.lang.lars.syntax import Atom, Predicate
from horai.plan.lars.reach import SignalReach
from horai.plan.lars.strata import Key
from horai.runtime.inputs import DroppedRow
from horai.runtime.values import to_term
from horai.temporal.spans import Ints

MOST_ATOMS = 20_000
_NONE: tuple[tuple[Plain, ...], Atom | None] = ((), None)


_made = partial(tuple.__new__, Signal)  # in less than half the time of the class itself
Waiting = tuple[int, int, int, int, io.Item]
"""A row that has come, behind its arrival, order, sign and time."""
_ORDER, _ROW, _KIND = itemgetter(1), itemgetter(4), itemgetter(2, 0, 3)

Judged = tuple[int, int, int, str | None]
"""A row by which it was judged: sign, arrival, time, and why it was not used."""
Changes = tuple[int, Sequence[Signal], Sequence[Signal]]
"""A query time, what came and what was taken back since the one before."""


ENDLESS = 2**62
FEW = 256
"""With so few signals forgetting is not worth its time."""


Known = tuple[Signal, int, int]
"""A signal, from when it counts and until when."""


@dataclass
class SignalMemory:
    """Signals, each with the time from which it counts and the one until which it does."""

    _at: dict[int, dict[int, Known]] = field(default_factory=dict)
    """By time and order, which no other signal has: to hash an atom takes longer."""
    _alike: dict[int, dict[Atom, list[int]]] = field(default_factory=dict)
    """What can be taken back by what it says, at times of which something has been."""
    _size: int = 0
    _kept: int = 0

    @property
    def known(self) -> Iterator[Known]:
        """All signals, with from when and until when they count."""
        return chain.from_iterable(here.values() for here in self._at.values())

    def __len__(self) -> int:
        return self._size

    def add(self, signal: Signal, since: int, until: int = ENDLESS) -> None:
        """A signal that counts from a time on."""
        time, order, atom = signal
        here = self._at.get(time)
        if here is None:
            here = self._at[time] = {}
        here[order] = (signal, since, until)
        self._size += 1
        if until == ENDLESS and time in self._alike:
            self._alike[time].setdefault(atom, []).append(order)

    def add_all(self, time: int, signals: Mapping[int, Signal], since: int) -> None:
        """Signals of one time by their order, that count from another time on without an end."""
        here = self._at.setdefault(time, {})
        known = zip(signals.values(), repeat(since), repeat(ENDLESS))
        here.update(zip(signals, known, strict=False))
        self._size += len(signals)
        if time in self._alike:
            for order, signal in signals.items():
                self._alike[time].setdefault(signal.atom, []).append(order)

    def end(self, signal: Signal, until: int) -> None:
        """Let a signal count until a time, if it is still there."""
        here = self._at.get(signal.time, {})
        if signal.order in here:
            here[signal.order] = (signal, here[signal.order][1], until)

    def take_back(self, time: int, atom: Atom, until: int) -> Signal | None:
        """Let the last signal that says something count until a time, if there is one."""
        if time not in self._at:
            return None
        if time not in self._alike:
            alike = self._alike[time] = {}
            for order, (signal, _, ends) in self._at[time].items():
                if ends == ENDLESS:
                    alike.setdefault(signal.atom, []).append(order)
        same = self._alike[time].get(atom)
        if not same:
            return None
        signal, since, _ = self._at[time][same.pop()]
        if until > since:
            self.end(signal, until)
        else:  # there is no time left at which it counts
            self._drop(signal)
        return signal

    def at(self, query: int, is_wanted: Callable[[Atom], bool]) -> set[Atom]:
        """The wanted atoms that signals say about a query time, as far as they count then."""
        return {
            signal.atom
            for signal, since, until in self._at.get(query, {}).values()
            if since <= query < until and is_wanted(signal.atom)
        }

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

    def forget(
        self, horizon: int, reach: SignalReach, predicates: Collection[Predicate] | None = None
    ) -> None:
        """Drop what no answer from a time on can depend on, once that is worth the time it takes.

        Signals before that time can no longer be taken back. Who knows the `predicates` of all of
        them saves a look at each.
        """
        if self._size < 2 * self._kept + FEW:
            return
        if reach.counts:
            self._forget_one_by_one(horizon, reach)
        else:
            known = reach if predicates is None else reach.of(predicates)
            self._forget_by_time(horizon - 1, known)
        self._kept = self._size

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
            here = self._at[time]
            if now - time > max(ages):
                del self._at[time]
                self._size -= len(here)
                continue
            for signal, _, _ in list(here.values()):
                if now - time > max(reach.every, reach.points.get(signal.atom.predicate, 0)):
                    self._drop(signal)

    def _drop(self, signal: Signal) -> None:
        here = self._at[signal.time]
        del here[signal.order]
        self._size -= 1
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
    waiting: list[Waiting] = field(default_factory=list)
    """What is not yet known: a heap."""
    predicates: set[Predicate] = field(default_factory=set)
    """Those of all signals so far."""
    _latest: int = 0  # arrival
    _atoms: dict[object, tuple[tuple[Plain, ...], Atom | None]] = field(default_factory=dict)
    """Atoms that have been made, for most come again and again, with the values they had."""
    _terms: dict[tuple[type, Plain], Term] = field(default_factory=dict)

    def feed(self, rows: Iterable[io.Item]) -> None:
        """More rows, in their order."""
        waiting, latest, taken = self.waiting, self._latest, self.taken
        for row in rows:
            arrival = row.arrival
            given = (arrival, taken, row.op, row.start, row)
            if arrival < latest:
                heappush(waiting, given)
            else:  # who comes last of all is at his place
                waiting.append(given)
                latest = arrival
            taken += 1
        self._latest, self.taken = latest, taken

    def until(self, query: int, before: int | None = None) -> tuple[list[Signal], list[Signal]]:
        """What has come, and what has been taken back, since the query time before."""
        added: dict[int, Signal] = {}
        removed: list[Signal] = []
        self.judged = judged = dict[Judged, int]()
        final = self._final(query)
        for (op, arrival, time), alike in groupby(self._due(query), _KIND):
            due = list(alike)
            unused = due
            fate, text = Reason.UNKNOWN_RETRACTION, "takes back a signal that was never there"
            # With a lateness, what has come since the query time before counts from its own time.
            counts = query if self.lateness is None or time > query else time
            if time < self.start:
                fate = Reason.OUTSIDE_RUN
                text = f"lies before the start of the run, {self.start}"
            elif time < final and before is not None and time <= before:
                fate = Reason.TOO_LATE
                text = f"it lies at {time}, and answers before {final} are final at {query}"
            elif op > 0:
                unused = []
                orders, atoms = map(_ORDER, due), map(self._atom, map(_ROW, due))
                signals = {one.order: one for one in map(_made, zip(repeat(time), orders, atoms))}
                added |= signals
                self.memory.add_all(time, signals, counts)
            else:
                unused = [
                    one for one in due if not self._take_back(one[-1], counts, added, removed)
                ]
            if used := len(due) - len(unused):
                judged[op, arrival, time, None] = judged.get((op, arrival, time, None), 0) + used
            if unused:
                number = judged.get((op, arrival, time, fate), 0) + len(unused)
                judged[op, arrival, time, fate] = number
                self.dropped += [DroppedRow(one[-1], fate, text) for one in unused]
        return list(added.values()), removed

    def _due(self, query: int) -> list[Waiting]:
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

    def _take_back(
        self, row: io.Item, counts: int, added: dict[int, Signal], removed: list[Signal]
    ) -> bool:
        """Take back what a row names; False if it was never there."""
        gone = self.memory.take_back(row.start, self._atom(row), counts)
        if gone is not None and added.pop(gone.order, None) is None:
            removed.append(gone)
        return gone is not None

    def _atom(self, row: io.Item) -> Atom:
        name, args = row.name, row.args
        known, found = self._atoms.get((name, args), _NONE)
        # Rows of one text share their arguments. 3, 3.0 and true are one key for Python.
        if found is None or not (known is args or [*map(type, known)] == [*map(type, args)]):
            if len(self._atoms) > MOST_ATOMS:
                self._atoms.clear()
                self._terms.clear()
            found = Atom(name, tuple(map(self._term, args)))
            self._atoms[name, args] = (args, found)
            self.predicates.add(found.predicate)
        return found

    def _term(self, arg: Plain) -> Term:
        """The term of an argument; those that are one object are soon compared."""
        found = self._terms.get((arg.__class__, arg))
        if found is None:
            found = self._terms[arg.__class__, arg] = to_term(arg)
        return found

    def finish(self, end: int) -> list[DroppedRow]:
        """The rows that come after the end of the run."""
        text = f"arrives after the last query time; the run ends at {end}"
        left = [DroppedRow(row, Reason.OUTSIDE_RUN, text) for *_, row in sorted(self.waiting)]
        self.waiting = []
        return left


# --- signals as columns ---------------------------------------------------------------------------


def numbered(
    tables: Iterable[io.ItemTable], files: Sequence[str] = (), first: int = 0
) -> list[io.ItemTable]:
    """Tables with the order of their rows: file after file as they were given, line after line.

    Rows that have an order keep it, and come before others.
    """
    listed = [table for table in tables if len(table)]
    if not listed:
        return []
    given = {name: place for place, name in enumerate(files)}
    coded = [_files(table) for table in listed]
    names = sorted({name for some, _ in coded for name in some})
    names.sort(key=lambda name: given.get(name, len(given)))
    rank = {name: place for place, name in enumerate(names)}
    places = [
        np.full(len(table), -1)
        if ORDER in table.table.column_names
        else np.array([rank[name] for name in some], np.int64)[rows]
        for table, (some, rows) in zip(listed, coded, strict=True)
    ]
    lines = np.concatenate(
        [
            numbers_of(table.table, ORDER if ORDER in table.table.column_names else "line")
            for table in listed
        ]
    )
    order = np.empty(len(lines), np.int64)
    order[np.lexsort((lines, np.concatenate(places)))] = np.arange(first, first + len(lines))
    borders = np.cumsum([len(table) for table in listed])[:-1]
    return [
        replace(table, table=_without_order(table).append_column(ORDER, pa.array(part)))
        for table, part in zip(listed, np.split(order, borders), strict=True)
    ]


def _without_order(table: io.ItemTable) -> pa.Table:
    has_order = ORDER in table.table.column_names
    return table.table.drop_columns([ORDER]) if has_order else table.table


def in_order(tables: Iterable[io.ItemTable]) -> list[io.Item]:
    """The rows of numbered tables one by one."""
    pairs = [
        pair
        for table in tables
        for pair in zip(table.table.column(ORDER).to_pylist(), table.items(), strict=True)
    ]
    return [row for _, row in sorted(pairs, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class Coming:
    """Signals that come and stay, as numbered tables."""

    tables: Sequence[io.ItemTable]

    @classmethod
    def of(
        cls, tables: Sequence[io.ItemTable], may_show: Callable[[Predicate], bool]
    ) -> Coming | None:
        """The signals of an input; None if they have to be taken one by one."""
        for table in tables:
            is_shown = may_show((table.name, table.arity))
            if is_shown or bool((numbers_of(table.table, "op") < 0).any()):
                return None
        return cls(tables)

    def outside(self, start: int, last: int, end: int) -> tuple[list[Dropped], list[Dropped]]:
        """The rows that lie before a run, and those that arrive after its last query time."""
        early: list[Dropped] = []
        after: list[Dropped] = []
        for table in self.tables:
            late = numbers_of(table.table, "arrival") > last
            before = ~late & (numbers_of(table.table, "start") < start)
            for rows, found, text in (
                (before, early, f"lies before the start of the run, {start}"),
                (late, after, f"arrives after the last query time; the run ends at {end}"),
            ):
                places = np.flatnonzero(rows).tolist()
                found += [Dropped(table, row, Reason.OUTSIDE_RUN, last, text) for row in places]
        return early, after

    def rows(self, queries: range, start: int, symbols: Symbols) -> dict[Key, Rows]:
        """What an engine knows of them: each since it arrived."""
        found: dict[Key, Rows] = {}
        for table in self.tables:
            batch = read_items(table, symbols, tick=1)
            order = numbers_of(table.table, ORDER)
            numbers = {"start": batch.start, "since": batch.arrival, ORDER: order}
            new = Rows(numbers, batch.args).take(
                (batch.arrival <= queries[-1]) & (batch.start >= start)
            )
            key = (batch.name, batch.arity)
            found[key] = join([found[key], new], symbols) if key in found else new
        return found


def _files(table: io.ItemTable) -> tuple[list[str], Ints]:
    """The files of rows: names, and which of them each row has."""
    column = table.table.column("file").unify_dictionaries().combine_chunks()
    rows: Ints = column.indices.to_numpy(zero_copy_only=False)
    return column.dictionary.to_pylist(), rows
