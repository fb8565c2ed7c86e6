"""The items of one type: those that wait, those that count, and kept parts of retracted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from horai.engine.admitted import Admitted
from horai.engine.columns import Column
from horai.engine.origins import Origins
from horai.engine.retractions import TakenBack, take_back
from horai.engine.stream_rows import Rows, State, empty_rows, join, rows_from_state, rows_state
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask

# What may become of a row that is not used, or not in full.
GONE, CUT, CUT_BACK, UNKNOWN = range(4)

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
    """The items of one type. Those that are `given` have been judged before: all of them count."""

    def __init__(
        self,
        arity: int,
        is_fluent: bool,
        symbols: Symbols,
        origins: Origins,
        given: bool = False,
    ) -> None:
        self.is_fluent, self.given = is_fluent, given
        self.symbols, self.origins = symbols, origins
        terms = arity + is_fluent
        ends = ("end",) if is_fluent else ()
        parts = ("end", "first") if is_fluent else ()
        self.waiting = empty_rows((*ARRIVED, *ends, "due"), terms)  # sorted by `due`
        self._room = 0  # how many rows the arrays of `waiting` have room for
        self._admitted = Admitted(empty_rows((*ADMITTED, *parts), terms), symbols)
        self._kept = [empty_rows(("start", "end"), terms)]
        # What the last query admitted and took back.
        self.came: list[Rows] = []
        self.left: list[Rows] = []

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
        self.came, self.left = [], []
        filled = [part for part in due if part.size]
        if any((part["op"] < 0).any() for part in filled):
            return self._admit_and_take_back(join(filled, self.symbols), moment)
        return [verdicts for part in filled for verdicts in self._insert(part, moment)]

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
        self._admitted.replace(admitted.take(~self._meant(admitted, wanted)))
        self._kept = [kept.take(~self._meant(kept, wanted))]
        out = self._meant(self.waiting, wanted)
        if out.any():
            self.origins.wait(self.waiting["number"][out], -1)
            self.waiting = self.waiting.take(~out)
            self._room = self.waiting.size

    def borrow(self, state: Mapping[str, Any]) -> None:
        """Add rows that `pick` gave somewhere else."""
        self._admitted.add(rows_from_state(state["admitted"], self.admitted()))
        self._kept.append(rows_from_state(state["kept"], self._kept[0]))

    def _meant(self, rows: Rows, wanted: Callable[[tuple[Column, ...]], Mask]) -> Mask:
        return wanted(self._args(rows))

    def _args(self, rows: Rows) -> tuple[Column, ...]:
        return rows.terms[:-1] if self.is_fluent else rows.terms

    def _judge(self, due: Rows, moment: Moment) -> Judged:
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
        return self._late(due, gone, first, used)

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
        verdicts = self._late(due, gone, first, inserted)
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

    def _late(self, due: Rows, gone: Mask, first: Ints | None, inserted: Mask) -> list[Rows]:
        verdicts = _verdicts(due, np.flatnonzero(gone), GONE)
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
    return np.full(rows, number, np.int64)


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
