"""The items of one type: those that wait, those that count, and kept parts of retracted ones.

What is waiting, admitted or kept differs in its numbers only, so all of it is picked, joined and
saved as `Rows`. A retraction takes an equal item that arrived no later: of admitted items the one
admitted last, of waiting ones the one that came first. Each item can be taken once, so the order of
retractions matters; items are compared only if a retraction names their very start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from horai.engine.columns import Column, bits, concat
from horai.engine.hashing import dense
from horai.engine.numbering import partners
from horai.engine.origins import Origins
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows. `terms` are the arguments, and after them the value if it is a fluent's."""

    numbers: dict[str, Ints]
    terms: tuple[Column, ...]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.numbers["start"])

    def __getitem__(self, name: str) -> Ints:
        return self.numbers[name]

    def take(self, rows: Ints | Mask) -> Rows:
        """The rows at some positions, or those a mask picks, as a copy."""
        numbers = {name: data[rows] for name, data in self.numbers.items()}
        return Rows(numbers, tuple(column.take(rows) for column in self.terms))

    def split(self, at: int) -> tuple[Rows, Rows]:
        """The rows before a position and the others, not copied."""
        return self._part(slice(0, at)), self._part(slice(at, None))

    def only(self, *names: str) -> Rows:
        """The same rows with some of their numbers."""
        return Rows({name: self.numbers[name] for name in names}, self.terms)

    def having(self, **numbers: Ints) -> Rows:
        """The same rows with more numbers."""
        return Rows({**self.numbers, **numbers}, self.terms)

    def identity(self) -> list[Ints]:
        """Columns that are all equal where two of these rows say the same."""
        times = [self.numbers[name] for name in ("start", "end") if name in self.numbers]
        return [*times, *map(bits, self.terms)]

    def _part(self, rows: slice) -> Rows:
        numbers = {name: data[rows] for name, data in self.numbers.items()}
        return Rows(numbers, tuple(Column(kind, data[rows]) for kind, data in self.terms))


def empty_rows(names: Iterable[str], terms: int) -> Rows:
    """No rows, with columns of some names."""
    nothing = np.empty(0, np.int64)
    return Rows(dict.fromkeys(names, nothing), (Column("int", nothing),) * terms)


def join(parts: Iterable[Rows], symbols: Symbols) -> Rows:
    """Rows one after the other, with the numbers all have; there is at least one part."""
    listed = list(parts)
    filled = [part for part in listed if part.size] or listed[:1]
    if len(filled) == 1:
        return filled[0]
    names = [name for name in filled[0].numbers if all(name in part.numbers for part in filled)]
    numbers = {name: np.concatenate([part[name] for part in filled]) for name in names}
    columns = zip(*(part.terms for part in filled), strict=True)
    return Rows(numbers, tuple(concat(column, symbols) for column in columns))


def rows_state(rows: Rows) -> State:
    """The rows as arrays and columns; codes mean what the symbols of the session say."""
    return {"numbers": dict(rows.numbers), "terms": list(rows.terms)}


def rows_from_state(state: Mapping[str, Any], like: Rows) -> Rows:
    """The rows that `rows_state` wrote; `ValueError` if others are there than those `like` has."""
    found = Rows(state["numbers"], tuple(Column(*column) for column in state["terms"]))
    lengths = {len(data) for data in (*found.numbers.values(), *(c.data for c in found.terms))}
    if (
        not like.numbers.keys() <= found.numbers.keys()
        or len(like.terms) != len(found.terms)
        or len(lengths) > 1
    ):
        raise ValueError("these are no rows of the stream")
    return found


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
        first, places, found = 0, [], [self._parts[0].rows.split(0)[0]]
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


class Shelf:
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
        self.waiting = empty_rows((*ARRIVED, *more, *ends, "due"), terms)  # sorted by `due`
        self._room = 0  # how many rows the arrays of `waiting` have room for
        self._admitted = Admitted(empty_rows((*ADMITTED, *more, *parts), terms), symbols)
        self._kept = [empty_rows(("start", "end"), terms)]
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
        due, rest = self.waiting.split(int(np.searchsorted(self.waiting["due"], query, "right")))
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

    def to_state(self) -> State:
        """All rows as plain arrays."""
        parts = {"waiting": self.waiting, "admitted": self.admitted(), "kept": self.kept()}
        return {name: rows_state(rows) for name, rows in parts.items()}

    def set_state(self, state: State) -> None:
        """Take over what `to_state` wrote."""
        self.waiting = rows_from_state(state["waiting"], self.waiting)
        self._room = self.waiting.size
        self._admitted.replace(rows_from_state(state["admitted"], self.admitted()))
        self._kept = [rows_from_state(state["kept"], self._kept[0])]

    def pick(self, wanted: Callable[[tuple[Column, ...]], Mask]) -> tuple[State, Ints]:
        """The rows that are meant, by their arguments; of those that wait the numbers."""
        parts = {"admitted": self.admitted(), "kept": self.kept()}
        state = {n: rows_state(rows.take(self._meant(rows, wanted))) for n, rows in parts.items()}
        numbers: Ints = self.waiting["number"][self._meant(self.waiting, wanted)]
        return state, numbers

    def arguments(self) -> list[tuple[Column, ...]]:
        """The arguments of all rows."""
        return [self._args(rows) for rows in (self.admitted(), self.kept(), self.waiting)]

    def let_go(self, wanted: Callable[[tuple[Column, ...]], Mask]) -> None:
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

    def borrow(self, state: Mapping[str, Any]) -> None:
        """Add rows that `pick` gave somewhere else."""
        admitted = rows_from_state(state["admitted"], self.admitted())
        kept = rows_from_state(state["kept"], self._kept[0])
        self.moved += [(1, admitted), (1, kept)]
        self._admitted.add(admitted)
        self._kept.append(kept)

    def _meant(self, rows: Rows, wanted: Callable[[tuple[Column, ...]], Mask]) -> Mask:
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
