"""Admission: which items count at a query time, and what becomes of those that do not.

An item comes too late if it lies at or before the border of the window, waits if it lies ahead, and
goes when a retraction takes it back. A retraction takes an equal item that arrived no later: of
admitted items the one admitted last, of waiting ones the one that came first. Each item can be
taken once, so the order of retractions matters; items are compared only if a retraction names their
very start. Items act on each other only if they are equal, so every type has a buffer of its own.
What is not used comes back in the order in which items are taken in: by arrival, insertions first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from horai.engine.arrow_items import ORDER, ItemBatch, ItemKind, SomeItems, Source, numbers_of, pick
from horai.engine.columns import Column
from horai.engine.numbering import dense, partners
from horai.engine.rows import Rows, join, no_rows, spans
from horai.engine.symbols import Symbols
from horai.plan.ec.instructions import INF as _OPEN
from horai.temporal.spans import INF, Ints, Mask

Key = tuple[str, int]
Wanted = Callable[[tuple[Column, ...]], Mask]
"""Which rows are meant, by their arguments."""


class Reason(StrEnum):
    """Why an item was not used, or not in full."""

    TOO_LATE = "too-late"
    PARTLY_TOO_LATE = "partly-too-late"
    UNKNOWN_RETRACTION = "unknown-retraction"
    OUTSIDE_RUN = "outside-run"


class Dropped(NamedTuple):
    """A row of a source that was not used, or of which a part was not."""

    origin: Source
    row: int
    reason: Reason
    query: int
    text: str

    @property
    def file(self) -> str:
        """The file the row was read from."""
        return str(self.origin.table.column("file")[self.row].as_py())

    @property
    def line(self) -> int:
        """The line of the file."""
        return int(self.origin.table.column("line")[self.row].as_py())

    @property
    def item(self) -> SomeItems:
        """The row as a source of this row only."""
        return pick(self.origin, np.array([self.row]))


class Origins:
    """The sources by the numbers of their rows."""

    def __init__(self) -> None:
        self._next = 0
        self._bases: list[int] = []
        self._sources: list[Source] = []
        self._waiting: list[int] = []  # how many rows of each source wait

    def register(self, source: Source, rows: int) -> Ints:
        """The numbers of the rows of a new source."""
        self._bases.append(self._next)
        self._sources.append(source)
        self._waiting.append(0)
        self._next += rows
        return np.arange(self._next - rows, self._next)

    def find(self, numbers: Ints) -> Iterator[tuple[Source, int]]:
        """For every number the source and the row in it."""
        places = self._places(numbers)
        rows = numbers - np.array(self._bases, np.int64)[places]
        for place, row in zip(places.tolist(), rows.tolist(), strict=True):
            yield self._sources[place], row

    def pick(self, numbers: Ints) -> list[SomeItems]:
        """The rows that have these numbers, source by source; numbers are in order."""
        places = self._places(numbers)
        return [
            pick(self._sources[place], numbers[places == place] - self._bases[place])
            for place in np.unique(places).tolist()
        ]

    def wait(self, numbers: Ints, change: int) -> None:
        """Some rows begin to wait (`change` is 1) or wait no longer (-1)."""
        for place, count in enumerate(np.bincount(self._places(numbers)).tolist()):
            self._waiting[place] += change * count

    def release(self) -> None:
        """Let go of sources of which no row waits."""
        held = [place for place, count in enumerate(self._waiting) if count]
        self._bases = [self._bases[place] for place in held]
        self._sources = [self._sources[place] for place in held]
        self._waiting = [self._waiting[place] for place in held]

    def _places(self, numbers: Ints) -> Ints:
        return np.searchsorted(np.array(self._bases, np.int64), numbers, side="right") - 1

    def to_state(self, waiting: Ints) -> list[dict[str, Any]]:
        """The waiting rows, given by their numbers in order; they get numbers from 0 on."""
        bounds = np.searchsorted(waiting, [*self._bases, self._next]).tolist()
        return [
            source_state(pick(source, waiting[low:high] - base))
            for source, base, low, high in zip(
                self._sources, self._bases, bounds, bounds[1:], strict=False
            )
        ]

    @classmethod
    def from_state(cls, state: list[dict[str, Any]]) -> Origins:
        """The origins of the rows that `to_state` wrote."""
        origins = cls()
        for saved in state:
            source = source_of(saved)
            origins.wait(origins.register(source, source.table.num_rows), 1)
        return origins


class TakenBack(NamedTuple):
    """Positions: of retractions that found nothing, and of what the others found."""

    unknown: Ints  # retractions among the due rows
    due: Ints  # items that are due themselves
    admitted: Ints
    by: Ints  # for every position in `admitted`, the retraction among the due rows
    waiting: Ints


def take_back(
    due: Rows, live: Mask, admitted: Rows, waiting: Rows, query: int, symbols: Symbols
) -> TakenBack:
    """Match the live retractions among the due rows with live, admitted and waiting items."""
    retract = due["op"] < 0
    asking = np.flatnonzero(live & retract)
    starts = due["start"][asking]
    own = np.flatnonzero(live & ~retract & np.isin(due["start"], starts))
    old = np.flatnonzero(np.isin(admitted["start"], starts))
    idle = np.flatnonzero((waiting["op"] > 0) & np.isin(waiting["start"], starts))
    parts = [due.take(asking), due.take(own), _numbered(admitted.take(old)), waiting.take(idle)]
    found = _partners(join(map(_comparable, parts), symbols), query)[: len(asking)]
    bounds = np.cumsum([len(asking), len(own), len(old), len(idle)])

    def inside(part: int) -> Mask:
        mask: Mask = (found >= bounds[part - 1]) & (found < bounds[part])
        return mask

    return TakenBack(
        unknown=asking[found < 0],
        due=own[found[inside(1)] - bounds[0]],
        admitted=old[found[inside(2)] - bounds[1]],
        by=asking[inside(2)],
        waiting=idle[found[inside(3)] - bounds[2]],
    )


def _numbered(admitted: Rows) -> Rows:
    """Admitted rows have lost op and number; equal ones of one arrival are all the same."""
    ones = np.ones(admitted.size, np.int64)
    return admitted.having(op=ones, number=-ones)


def _comparable(rows: Rows) -> Rows:
    names = ("start", "end", "arrival", "op", "generation", "number")
    return rows.only(*(name for name in names if name in rows.numbers))


def _partners(rows: Rows, query: int) -> Ints:
    """For every retraction the row it takes back; -1 for other rows and where there is none."""
    group, firsts = dense(rows.identity(), rows.size)
    retract = rows["op"] < 0
    asked = np.zeros(len(firsts), np.bool_)
    asked[group[retract]] = True
    some = np.flatnonzero(asked[group])  # few of those that start when a retraction says
    number, arrival, generation = (rows[name][some] for name in ("number", "arrival", "generation"))
    admission = np.lexsort((number, arrival, generation))
    place = np.empty(len(some), np.int64)
    place[admission] = np.arange(len(some))
    # Equal rows have equal starts, so they all wait or none does.
    rank = np.where(rows["start"][some] > query, place, -place)
    steps = np.lexsort((number, retract[some], arrival, group[some]))
    taken_back = retract[some].view(np.uint8)
    partner = partners(steps, group[some], taken_back, rank, admission)
    found = np.full(rows.size, -1)
    found[some] = np.where(partner < 0, -1, some[partner])
    return found


PARTS = 64  # of what was admitted, before they are put together


class Part(NamedTuple):
    """What was admitted at one query, and which of it was taken back since."""

    rows: Rows
    out: Mask | None = None

    @property
    def size(self) -> int:
        """How many rows there are still."""
        return self.rows.size - (0 if self.out is None else int(self.out.sum()))

    def left(self) -> Rows:
        """The rows that there are still."""
        return self.rows if self.out is None else self.rows.take(~self.out)

    def without(self, places: Ints) -> Part:
        """The same but for some rows."""
        out = np.zeros(self.rows.size, np.bool_) if self.out is None else self.out.copy()
        out[places] = True
        found = Part(self.rows, out)
        return found if 2 * found.size > self.rows.size else Part(found.left())

    def after(self, last: str, until: int) -> Part:
        """The rows whose last point, in the column of that name, lies after a time."""
        times = self.rows[last]
        if not times.size or times.min() > until:
            return self
        stays = times > until
        return Part(self.rows.take(stays if self.out is None else stays & ~self.out))


class Admitted:
    """What was admitted and not taken back, query by query; `nothing` has its columns.

    What came with one query is mostly all old or all new, so it is kept apart: forgetting and
    taking back copy only what they touch.
    """

    def __init__(self, nothing: Rows, symbols: Symbols) -> None:
        self._symbols = symbols
        self._parts = [Part(nothing)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of each row."""
        return tuple(self._parts[0].rows.numbers)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(part.size for part in self._parts)

    def whole(self) -> Rows:
        """All rows, generation by generation."""
        if len(self._parts) > 1 or self._parts[0].out is not None:
            self.replace(join([part.left() for part in self._parts], self._symbols))
        return self._parts[0].rows

    def replace(self, rows: Rows) -> None:
        """These are all rows now."""
        self._parts = [Part(rows)]

    def add(self, rows: Rows) -> None:
        """Some more rows."""
        self._parts.append(Part(rows))

    def forget(self, last: str, until: int) -> None:
        """Drop rows whose last point, in the column of that name, lies at or before a time."""
        parts = [part.after(last, until) for part in self._parts]
        self._parts = [part for part in parts if part.size] or parts[:1]
        if len(self._parts) > PARTS:
            self.whole()

    def starting(self, starts: Ints) -> tuple[Ints, Rows]:
        """The rows that start at some times, and their places for `take_out`."""
        first, places, found = 0, [], [self._parts[0].rows.part(slice(0))]
        for part in self._parts:
            there = np.isin(part.rows["start"], starts)
            rows = np.flatnonzero(there if part.out is None else there & ~part.out)
            places.append(first + rows)
            found.append(part.rows.take(rows))
            first += part.rows.size
        return np.concatenate(places), join(found, self._symbols)

    def take_out(self, places: Ints) -> None:
        """Mark what is taken back: rows that stay are copied only if they are fewer."""
        first = 0
        for number, part in enumerate(self._parts):
            size = part.rows.size
            mine = places[(places >= first) & (places < first + size)] - first
            first += size
            if len(mine):
                self._parts[number] = part.without(mine)


# What may become of a row that is not used, or not in full.
TOO_LATE, CUT, CUT_BACK, UNKNOWN = range(4)

ARRIVED = ("op", "arrival", "number", "start")
ADMITTED = ("generation", "arrival", "start")


class Moment(NamedTuple):
    """A query time, its border and the time-point after that.

    `generation` counts the query times: items are admitted generation by generation.
    """

    query: int
    border: int
    following: int
    generation: int


class Judged(NamedTuple):
    """Due rows that are dead; for fluents also where the part that counts begins."""

    gone: Mask
    first: Ints | None


class Buffer:
    """The items of one type. Those that are `given` have been judged before: all of them count.

    `more` are other numbers that each item has.
    """

    def __init__(
        self,
        arity: int,
        is_fluent: bool,
        symbols: Symbols,
        origins: Origins,
        given: bool = False,
        more: tuple[str, ...] = (),
    ) -> None:
        self.is_fluent, self.given = is_fluent, given
        self.symbols, self.origins = symbols, origins
        terms = arity + is_fluent
        ends = ("end",) if is_fluent else ()
        parts = ("end", "first") if is_fluent else ()
        self.waiting = no_rows((*ARRIVED, *more, *ends, "due"), terms)  # sorted by `due`
        self._room = 0  # how many rows the arrays of `waiting` have room for
        self._admitted = Admitted(no_rows((*ADMITTED, *more, *parts), terms), symbols)
        self._kept = [no_rows(("start", "end"), terms)]
        # What the last query admitted and took back.
        self.came: list[Rows] = []
        self.left: list[Rows] = []
        self.moved: list[tuple[int, Rows]] = []
        """What other sessions got (-1) and lent (1) since the last query."""

    def admitted(self) -> Rows:
        """What was admitted and not taken back, generation by generation."""
        return self._admitted.whole()

    def kept(self) -> Rows:
        """Parts of retracted intervals that had become final."""
        self._kept = [join(self._kept, self.symbols)]
        return self._kept[0]

    @property
    def size(self) -> int:
        """How many items count now."""
        return self._admitted.size

    def is_bare(self) -> bool:
        """Does nothing of the type count now?"""
        return not self.size and not any(rows.size for rows in self._kept)

    def set_aside(self, arrived: Rows, query: int) -> Rows:
        """The rows that are due; the others begin to wait."""
        start, arrival = arrived["start"], arrived["arrival"]
        if not arrived.size or max(start.max(), arrival.max()) <= query:
            return arrived
        # A retraction need not wait for its start: all it could take back has arrived before.
        free = (arrived["op"] < 0) | self.given
        since = np.where(free, arrival, np.maximum(start, arrival))
        waits = since > query
        self.waiting = _by_due(
            join([self.waiting, arrived.having(due=since).take(waits)], self.symbols)
        )
        self._room = self.waiting.size
        self.origins.wait(arrived["number"][waits], 1)
        return arrived.take(~waits)

    def now_due(self, query: int) -> Rows:
        """The rows that have waited for this query time."""
        split = int(np.searchsorted(self.waiting["due"], query, "right"))
        due, rest = self.waiting.part(slice(split)), self.waiting.part(slice(split, None))
        if not due.size:
            return due
        self._wait_on(rest)
        self.origins.wait(due["number"], -1)
        return due.take(np.arange(due.size))  # a view would keep all that waits alive

    def admit(self, due: list[Rows], moment: Moment) -> list[Rows]:
        """Take in rows that are due; those to report come back with a verdict."""
        self.came, self.left, self.moved = [], [], []
        filled = [part for part in due if part.size]
        if any((part["op"] < 0).any() for part in filled):
            return self._admit_and_take_back(join(filled, self.symbols), moment)
        return [verdicts for part in filled for verdicts in self._insert(part, moment)]

    def take_in(self, admitted: Rows) -> None:
        """Rows that were admitted elsewhere."""
        self._admitted.add(admitted.only(*self._admitted.columns))

    def forget(self, until: int) -> None:
        """Drop what lies at or before `until`."""
        self._admitted.forget("end" if self.is_fluent else "start", until)
        kept = self.kept()
        if kept.size:
            self._kept = [kept.take(kept["end"] > until)]

    def to_state(self) -> dict[str, Rows]:
        """All rows."""
        return {"waiting": self.waiting, "admitted": self.admitted(), "kept": self.kept()}

    def set_state(self, state: Mapping[str, Rows]) -> None:
        """Take over what `to_state` gave."""
        self.waiting = _like(state["waiting"], self.waiting)
        self._room = self.waiting.size
        self._admitted.replace(_like(state["admitted"], self.admitted()))
        self._kept = [_like(state["kept"], self._kept[0])]

    def pick(self, wanted: Wanted) -> tuple[dict[str, Rows], Ints]:
        """The rows that are meant, by their arguments; of those that wait the numbers."""
        parts = {"admitted": self.admitted(), "kept": self.kept()}
        state = {name: rows.take(self._meant(rows, wanted)) for name, rows in parts.items()}
        return state, self.waiting["number"][self._meant(self.waiting, wanted)]

    def arguments(self) -> list[tuple[Column, ...]]:
        """The arguments of all rows."""
        return [self._args(rows) for rows in (self.admitted(), self.kept(), self.waiting)]

    def let_go(self, wanted: Wanted) -> None:
        """Remove the rows that are meant."""
        admitted, kept = self.admitted(), self.kept()
        out, out_too = self._meant(admitted, wanted), self._meant(kept, wanted)
        self.moved += [(-1, admitted.take(out)), (-1, kept.take(out_too))]
        self._admitted.replace(admitted.take(~out))
        self._kept = [kept.take(~out_too)]
        out = self._meant(self.waiting, wanted)
        if out.any():
            self.origins.wait(self.waiting["number"][out], -1)
            self.waiting = self.waiting.take(~out)
            self._room = self.waiting.size

    def borrow(self, state: Mapping[str, Rows]) -> None:
        """Add rows that `pick` gave somewhere else."""
        admitted = _like(state["admitted"], self.admitted())
        kept = _like(state["kept"], self._kept[0])
        self.moved += [(1, admitted), (1, kept)]
        self._admitted.add(admitted)
        self._kept.append(kept)

    def _meant(self, rows: Rows, wanted: Wanted) -> Mask:
        return wanted(self._args(rows))

    def _args(self, rows: Rows) -> tuple[Column, ...]:
        return rows.terms[:-1] if self.is_fluent else rows.terms

    def _judge(self, due: Rows, moment: Moment) -> Judged:
        """Which rows lie wholly at or before the frontier: these are dropped."""
        start = due["start"]
        if self.given:
            return Judged(np.zeros(due.size, np.bool_), start if self.is_fluent else None)
        if not self.is_fluent:
            return Judged(start <= moment.border, None)
        first = np.where(start > moment.border, start, moment.following)
        return Judged(first >= due["end"], first)

    def _insert(self, due: Rows, moment: Moment) -> list[Rows]:
        """The usual case: no retraction is due."""
        if due["start"].min() > moment.border:
            self._store(due, due["start"], moment)
            return []
        gone, first = self._judge(due, moment)
        used = ~gone
        self._store(due.take(used), None if first is None else first[used], moment)
        return self._late_verdicts(due, gone, first, used)

    def _admit_and_take_back(self, due: Rows, moment: Moment) -> list[Rows]:
        gone, first = self._judge(due, moment)
        gone &= due["start"] <= moment.query  # what lies ahead is not judged yet
        places, admitted = self._admitted.starting(due["start"][due["op"] < 0])
        due = due.having(generation=_constant(moment.generation, due.size))
        idle = self.waiting.having(generation=_constant(moment.generation, self.waiting.size))
        taken = take_back(due, ~gone, admitted, idle, moment.query, self.symbols)
        inserted = ~gone & (due["op"] > 0)
        used = inserted.copy()
        used[taken.due] = False
        verdicts = self._late_verdicts(due, gone, first, inserted)
        verdicts += _verdicts(due, taken.unknown, UNKNOWN)
        if first is not None:
            verdicts += self._keep_final(due, first, admitted, taken)
        self.left = [admitted.take(taken.admitted)] if len(taken.admitted) else []
        self._admitted.take_out(places[taken.admitted])
        self._store(due.take(used), None if first is None else first[used], moment)
        self.origins.wait(idle["number"][taken.waiting], -1)
        self._wait_on(_without(self.waiting, taken.waiting))
        return verdicts

    def _wait_on(self, rest: Rows) -> None:
        """Go on with a part of what waited, copied only now and then: there may be many steps."""
        if rest.size <= self._room // 2:
            rest = rest.take(np.arange(rest.size))
            self._room = rest.size
        self.waiting = rest

    def _keep_final(self, due: Rows, first: Ints, admitted: Rows, taken: TakenBack) -> list[Rows]:
        """What lies before the border stays although its interval is taken back."""
        begins, stops = admitted["first"][taken.admitted], first[taken.by]
        is_final = begins < stops
        terms = admitted.take(taken.admitted[is_final]).terms
        self._kept.append(Rows({"start": begins[is_final], "end": stops[is_final]}, terms))
        return _verdicts(due, taken.by[is_final], CUT_BACK)

    def _late_verdicts(
        self, due: Rows, gone: Mask, first: Ints | None, inserted: Mask
    ) -> list[Rows]:
        verdicts = _verdicts(due, np.flatnonzero(gone), TOO_LATE)
        if first is not None:
            cut = inserted & (first != due["start"])
            verdicts += _verdicts(due, np.flatnonzero(cut), CUT)
        return verdicts

    def _store(self, rows: Rows, first: Ints | None, moment: Moment) -> None:
        if rows.size:
            begins = {} if first is None else {"first": first}
            generation = _constant(moment.generation, rows.size)
            stored = rows.having(generation=generation, **begins)
            self.came.append(stored.only(*self._admitted.columns))
            self._admitted.add(self.came[-1])


def _like(rows: Rows, others: Rows) -> Rows:
    """Rows that somebody else wrote; `ValueError` if they are of another kind."""
    if not others.numbers.keys() <= rows.numbers.keys() or len(others.terms) != len(rows.terms):
        raise ValueError("these are no rows of the stream")
    return rows


def _by_due(rows: Rows) -> Rows:
    due = rows["due"]
    if (due[1:] >= due[:-1]).all():
        return rows
    return rows.take(np.argsort(due, kind="stable"))


def _constant(number: int, rows: int) -> Ints:
    return np.broadcast_to(np.int64(number), rows)  # it takes no room


def _without(rows: Rows, positions: Ints) -> Rows:
    if not len(positions):
        return rows
    stays = np.ones(rows.size, np.bool_)
    stays[positions] = False
    return rows.take(stays)


def _verdicts(due: Rows, positions: Ints, verdict: int) -> list[Rows]:
    if not len(positions):
        return []
    reported = Rows(due.numbers, ()).only(*ARRIVED).take(positions)
    return [reported.having(verdict=_constant(verdict, len(positions)))]


class Stream:
    """The admitted items of a run. An event and a fluent may have the same name and arity.

    Items of types that are `given` are what another session found: they are taken as they are,
    whenever they lie. They must not change what lies before the border of the session.

    In a stream that is `ordered`, events come with their order.
    """

    def __init__(
        self, symbols: Symbols, tick: int, start: int, window: int | None, ordered: bool = False
    ) -> None:
        self.symbols = symbols
        self._more = (ORDER,) if ordered else ()
        self.tick, self.start, self.window = tick, start, window
        self._moment = Moment(start, start, start, 0)
        self._origins = Origins()
        self._buffers: dict[tuple[ItemKind, Key], Buffer] = {}
        self.given: frozenset[tuple[ItemKind, Key]] = frozenset()

    def border(self, query: int) -> int:
        """The point at or before which nothing is admitted any more."""
        return self.start if self.window is None else max(self.start, query - self.window)

    def admit(self, batches: Iterable[ItemBatch], query: int) -> list[Dropped]:
        """Take in the items that have arrived by `query`; what cannot be used comes back."""
        self._go_to(query)
        verdicts: list[Rows] = []
        arrived = self._arrived(batches)
        for buffer in self._buffers.values():
            due = [buffer.now_due(query)]
            due += [buffer.set_aside(rows, query) for rows in arrived.get(id(buffer), ())]
            verdicts += buffer.admit(due, self._moment)
        dropped = self._report(verdicts)
        self._origins.release()
        return dropped

    def next_due(self) -> int:
        """The query time at which the first of the items that wait counts."""
        due = [
            int(buffer.waiting["due"][0])
            for buffer in self._buffers.values()
            if buffer.waiting.size
        ]
        return min(due, default=INF)

    def go_on(self, query: int) -> int:
        """Go on to a query time for which somebody else admits items, of this generation."""
        self._go_to(query)
        for buffer in self._buffers.values():
            buffer.came, buffer.left = [], []
        return self._moment.generation

    def _go_to(self, query: int) -> None:
        border = self.border(query)
        following = border + self.tick - border % self.tick
        self._moment = Moment(query, border, following, self._moment.generation + 1)

    def take_in(self, kind: ItemKind, key: Key, rows: Rows) -> None:
        """Items that somebody else has admitted."""
        self._buffer(kind, key).take_in(rows)

    def keys(self, kind: ItemKind) -> list[Key]:
        """The events or the fluents that occur now."""
        return [key for key, buffer in self.buffers(kind) if not buffer.is_bare()]

    def events(self, key: Key) -> Rows:
        """All occurrences of an event that count now; the same one may occur twice."""
        return self._buffer("event", key).admitted()

    def buffers(self, kind: ItemKind) -> list[tuple[Key, Buffer]]:
        """The buffers of the events or of the fluents."""
        return [(key, buffer) for (mine, key), buffer in self._buffers.items() if mine == kind]

    def occurrences(self) -> dict[Key, Rows]:
        """All occurrences that count now, by event."""
        return _filled((key, one.admitted()) for key, one in self.buffers("event"))

    def announced(self) -> dict[Key, Rows]:
        """The occurrences that have arrived and lie ahead, by event."""
        query = self._moment.query
        waiting = ((key, buffer.waiting) for key, buffer in self.buffers("event"))
        return _filled((key, rows.take(rows["arrival"] <= query)) for key, rows in waiting)

    def changed_from(self) -> int:
        """When the first event is that the last query admitted or took back; `INF` if none is."""
        buffers = self.buffers("event")
        parts = [rows for _, buffer in buffers for rows in (*buffer.came, *buffer.left)]
        return min((int(rows["start"].min()) for rows in parts), default=INF)

    def fluents(self, key: Key) -> Rows:
        """All values of an input fluent that count now, neither sorted nor merged."""
        buffer = self._buffer("fluent", key)
        admitted = buffer.admitted()
        used = spans(admitted["first"], admitted["end"], admitted.terms)
        return join([used, buffer.kept()], self.symbols)

    def forget(self, keep: Mapping[Key, int]) -> None:
        """Drop events at and fluents up to `keep`; what can still be taken back stays.

        Of types without an entry nothing is needed.
        """
        border = self._moment.border
        for (_, key), buffer in self._buffers.items():
            buffer.forget(min(keep.get(key, border), border))

    def left_over(self, query: int) -> list[Dropped]:
        """Items that never came to count because the run is over."""
        text = f"it arrives or happens after the end of the run, {query}"
        buffers = self._buffers.values()
        if not buffers:
            return []
        numbers = _in_order([buffer.waiting for buffer in buffers], self.symbols)["number"]
        found = self._origins.find(numbers)
        return [Dropped(*origin, Reason.OUTSIDE_RUN, query, text) for origin in found]

    def to_state(self) -> dict[str, Any]:
        """All of it as plain values and arrays; codes mean what the symbols say."""
        numbers = [buffer.waiting["number"] for buffer in self._buffers.values()]
        waiting = np.sort(np.concatenate([np.empty(0, np.int64), *numbers]))
        buffers = []
        for (kind, key), buffer in self._buffers.items():
            saved = buffer.to_state()
            numbered = np.searchsorted(waiting, saved["waiting"]["number"])
            saved["waiting"] = saved["waiting"].having(number=numbered)
            buffers.append((kind, key, saved))
        return {
            "settings": (self.tick, self.start, self.window),
            "moment": tuple(self._moment),
            "origins": self._origins.to_state(waiting),
            "buffers": buffers,
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], symbols: Symbols, ordered: bool = False
    ) -> Stream:
        """The stream that `to_state` saved, with the symbols it had."""
        tick, start, window = state["settings"]
        stream = cls(symbols, tick, start, window, ordered)
        stream._moment = Moment(*state["moment"])
        stream._origins = Origins.from_state(state["origins"])
        for kind, (name, arity), saved in state["buffers"]:
            stream._buffer(kind, (name, arity)).set_state(saved)
        return stream

    def lend(
        self, kind: ItemKind, key: Key, wanted: Wanted
    ) -> tuple[dict[str, Rows], list[SomeItems]] | None:
        """Rows of a type that are meant, by their arguments, and the items of those that wait."""
        buffer = self._buffers.get((kind, key))
        if buffer is None:
            return None
        state, numbers = buffer.pick(wanted)
        if not len(numbers) and not any(rows.size for rows in state.values()):
            return None
        return state, self._origins.pick(np.sort(numbers))

    def arguments(self, kind: ItemKind, key: Key) -> list[tuple[Column, ...]]:
        """The arguments of all rows of a type: of those that count and of those that wait."""
        buffer = self._buffers.get((kind, key))
        return [] if buffer is None else buffer.arguments()

    def let_go(self, kind: ItemKind, key: Key, wanted: Wanted) -> None:
        """Remove rows of a type that are meant, by their arguments."""
        buffer = self._buffers.get((kind, key))
        if buffer is not None:
            buffer.let_go(wanted)
            self._origins.release()

    def borrow(self, kind: ItemKind, key: Key, state: Mapping[str, Rows]) -> None:
        """Add what another stream lent; it was admitted there when it would have been here."""
        self._buffer(kind, key).borrow(state)

    def give(self, types: Iterable[tuple[ItemKind, Key]]) -> None:
        """Items of these types are given: what there is of them, and what comes."""
        self.given = frozenset(types)
        for of_type, buffer in self._buffers.items():
            buffer.given = of_type in self.given

    def _buffer(self, kind: ItemKind, key: Key) -> Buffer:
        found = self._buffers.get((kind, key))
        if found is None:
            given, is_fluent = (kind, key) in self.given, kind == "fluent"
            found = self._buffers[kind, key] = Buffer(
                key[1], is_fluent, self.symbols, self._origins, given, self._more
            )
        return found

    def _arrived(self, batches: Iterable[ItemBatch]) -> dict[int, list[Rows]]:
        """The rows of new batches by buffer, numbered in the order of the batches."""
        arrived: dict[int, list[Rows]] = {}
        for batch in batches:
            buffer = self._buffer(batch.kind, (batch.name, batch.arity))
            numbers = {
                "op": batch.op.astype(np.int64),
                "arrival": batch.arrival,
                "number": self._origins.register(batch.origin, len(batch)),
                "start": batch.start,
                **{name: numbers_of(batch.origin.table, name) for name in self._more},
            }
            value = () if batch.value is None else (batch.value,)
            ends = {} if batch.value is None else {"end": batch.end}
            rows = Rows({**numbers, **ends}, (*batch.args, *value))
            arrived.setdefault(id(buffer), []).append(rows)
        return arrived

    def _report(self, verdicts: list[Rows]) -> list[Dropped]:
        if not verdicts:
            return []
        rows = _in_order(verdicts, self.symbols)
        sayings, query = self._sayings(), self._moment.query
        said = [sayings[verdict] for verdict in rows["verdict"].tolist()]
        found = zip(self._origins.find(rows["number"]), said, strict=True)
        return [Dropped(*origin, reason, query, text) for origin, (reason, text) in found]

    def _sayings(self) -> dict[int, tuple[Reason, str]]:
        """Reason and text of every verdict now."""
        query, border, following, _ = self._moment
        late = (
            Reason.TOO_LATE,
            f"it lies at or before {border}, where the window at {query} begins",
        )
        if self.window is None or query - self.window <= self.start:
            text = f"it lies at or before the start of the run, {self.start}"
            late = (Reason.OUTSIDE_RUN, text)
        cut = f"only its part from {following} on is {{}}; what is before is final"
        return {
            TOO_LATE: late,
            CUT: (Reason.PARTLY_TOO_LATE, cut.format("used")),
            CUT_BACK: (Reason.PARTLY_TOO_LATE, cut.format("taken back")),
            UNKNOWN: (Reason.UNKNOWN_RETRACTION, "nothing equal to it has arrived before"),
        }


def _filled(given: Iterable[tuple[Key, Rows]]) -> dict[Key, Rows]:
    return {key: rows for key, rows in given if rows.size}


def _in_order(parts: list[Rows], symbols: Symbols) -> Rows:
    """Rows of any types without their terms, in the order in which items are taken in."""
    rows = join([Rows(part.numbers, ()) for part in parts], symbols)
    return rows.take(np.lexsort((rows["number"], rows["op"] < 0, rows["arrival"])))


def source_state(source: Source) -> dict[str, Any]:
    """A source as plain values."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, source.table.schema) as writer:
        writer.write_table(source.table)
    return {
        "name": source.name,
        "arity": source.arity,
        "kind": source.kind,
        "form": source.form,
        "table": sink.getvalue().to_pybytes(),
    }


def source_of(state: dict[str, Any]) -> SomeItems:
    """The source that `source_state` wrote; what is no such thing raises."""
    try:
        with pa.ipc.open_stream(state["table"]) as reader:
            table = reader.read_all()
        table.validate(full=True)  # Arrow itself would read wherever a forged offset points
    except pa.ArrowNotImplementedError as error:
        raise ValueError(f"no table is like this: {error}") from error
    return SomeItems(**{**state, "table": table})


# --- items one by one -----------------------------------------------------------------------------


Place = tuple[int, int]
"""A table of the machine, and a column of it."""
_MOST_KEPT = 1 << 16
"""So many items are kept as rows; more of them go to the stream."""


@dataclass(frozen=True, slots=True, eq=False)
class ItemType:
    """A type of items. `place` is where they go, if a rule asks for them.

    Those of an input fluent may go where those with their value do.
    """

    kind: ItemKind
    key: Key
    place: Place | None
    order: tuple[int, ...] | None  # of the arguments of an event, unless as they come
    valued: Mapping[int, Place]


class Given(NamedTuple):
    """Items, column by column: words are those of arguments, then of the value.

    Events end when they start.
    """

    arrivals: Sequence[int] = ()
    starts: Sequence[int] = ()
    ends: Sequence[int] = ()
    types: Sequence[ItemType] = ()
    words: Sequence[tuple[int, ...]] = ()

    def for_machine(self) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """Items of which rules ask, as (table, place, time, words)."""
        found = []
        for start, end, one, words in zip(
            self.starts, self.ends, self.types, self.words, strict=True
        ):
            place = one.place
            if one.valued:
                place, words = one.valued.get(words[-1]), words[:-1]
            if place is not None:
                if one.kind == "fluent":
                    words = (*words, min(end, _OPEN))
                elif one.order is not None:
                    words = tuple([words[at] for at in one.order])
                found.append((*place, start, words))
        return found


class Few:
    """Items that came one by one, without columns, and are not final.

    This is for insertions that lie in the window and need not wait. They are kept, for the stream
    may have to take them back: it gets them before it admits anything itself.
    """

    def __init__(self, stream: Stream, column: Callable[[Ints], Column]) -> None:
        self.stream, self._column = stream, column
        self._kept: deque[tuple[int, int, Given]] = deque()  # (until when, generation)
        self._size = 0

    def admit(self, given: Given, query: int) -> bool:
        """Admit items at a query time, or do nothing: then they are a matter of the stream."""
        border = self.stream.border(query)
        if self.stream.next_due() <= query:
            return False
        starts = given.starts
        if starts and (min(starts) <= border or max(starts) > query or max(given.arrivals) > query):
            return False
        generation = self.stream.go_on(query)
        kept = self._kept
        while kept and kept[0][0] <= border:
            self._size -= len(kept.popleft()[2].starts)
        if starts:
            kept.append((max(given.ends), generation, given))
            self._size += len(starts)
            if self._size > _MOST_KEPT:
                self.settle()
        return True

    def settle(self) -> None:
        """Let the stream have all that is kept."""
        by_type: dict[ItemType, list[tuple[int, int, int, int, tuple[int, ...]]]] = {}
        for _, generation, given in self._kept:
            for arrival, start, end, one, words in zip(*given, strict=True):
                by_type.setdefault(one, []).append((generation, arrival, start, end, words))
        self._kept.clear()
        self._size = 0
        for one, rows in by_type.items():
            *columns, words_of = zip(*rows, strict=True)
            names = ("generation", "arrival", "start", "end")
            numbers = {
                name: np.array(column, np.int64)
                for name, column in zip(names, columns, strict=True)
            }
            numbers["first"] = numbers["start"]
            terms = [np.array(words, np.int64) for words in zip(*words_of, strict=True)]
            self.stream.take_in(*(one.kind, one.key), Rows(numbers, (*map(self._column, terms),)))
