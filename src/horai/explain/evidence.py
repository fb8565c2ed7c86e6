"""What a run knows, by index: rows of the input, and the intervals and events of its answer.

Nothing is worked out again. A look-up takes the rows at a time by binary search, or those with an
argument by one pass over a column of integers, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from horai import io
from horai.engine.answer import Answer, EventTable, FluentTable
from horai.engine.arrow_items import read_items
from horai.engine.columns import Column, terms_of
from horai.engine.symbols import Symbols
from horai.explain.proof import Place
from horai.io.letters import OF_ENGINES
from horai.lang.core.terms import Float, Int, Term, children, functor, is_ground, key_of, make
from horai.oracle.ec.intervals import INF, Interval, Intervals, coalesce
from horai.oracle.ec.terms import unify_all
from horai.runtime.inputs import row_text
from horai.temporal.spans import INF as LAST
from horai.temporal.spans import Ints

Key = tuple[str, int]
Wanted = Sequence[tuple[int, Term]]
"""Columns, each with the term that it should have."""
_NONE: Ints = np.empty(0, np.int64)
_UNUSED = OF_ENGINES - {"partly-too-late"}


class TimedRows:
    """Rows with terms, a start and an end; events last one time-point."""

    def __init__(
        self, columns: Sequence[Column], symbols: Symbols, start: Ints, end: Ints | None
    ) -> None:
        self.columns, self._symbols = columns, symbols
        self.start, self.end = start, start + 1 if end is None else end
        self._with: dict[tuple[int, object], Ints] = {}

    @cached_property
    def _in_order(self) -> bool:
        return bool((self.start[1:] >= self.start[:-1]).all())

    def _sorted(self, rows: Ints) -> Ints:
        """Rows in the order of their starts."""
        return rows if self._in_order else rows[np.argsort(self.start[rows], kind="stable")]

    def between(self, low: int, high: int) -> Ints:
        """The rows that start from `low` to `high`."""
        if self._in_order:
            return np.arange(*np.searchsorted(self.start, [low, high + 1]).tolist())
        return self._sorted(np.flatnonzero((self.start >= low) & (self.start <= high)))

    def _code(self, place: int, term: Term) -> object:
        """What stands for a term in a column; None for one that is in no row."""
        match self.columns[place].kind:
            case "int":
                return term.value if isinstance(term, Int) else None
            case "float":
                return term.value if isinstance(term, Float) else None
            case _:
                return self._symbols.known(term)

    def _having(self, place: int, code: object) -> Ints:
        known = self._with.get((place, code))
        if known is None:
            known = self._sorted(np.flatnonzero(self.columns[place].data == code))
            self._with[place, code] = known
        return known

    def select(
        self,
        wanted: Wanted,
        low: int | None = None,
        high: int | None = None,
        after: int | None = None,
    ) -> Ints:
        """The rows that count with some terms, in the order of time.

        They start from `low` to `high`, and end `after` a time.
        """
        codes = [(place, self._code(place, term)) for place, term in wanted]
        if any(code is None for _, code in codes):
            return _NONE
        if low is not None and low == high:
            rows = self.between(low, high)
        elif codes:
            rows = self._having(*codes.pop(0))
        else:
            rows = self._sorted(np.arange(len(self.start)))
        for place, code in codes:
            rows = rows[self.columns[place].data[rows] == code]
        if low is not None:
            rows = rows[self.start[rows] >= low]
        if high is not None:
            rows = rows[self.start[rows] <= high]
        return self.counting(rows if after is None else rows[self.end[rows] > after])

    def different(self, wanted: Wanted) -> Iterator[list[Term]]:
        """The different combinations of terms in the rows with some terms."""
        rows = self.select(wanted)
        if not self.columns or len(rows) < 2:
            firsts = rows[:1]
        else:
            numbered = [np.unique(c.data[rows], return_inverse=True)[1] for c in self.columns]
            firsts = rows[np.unique(np.stack(numbered), axis=1, return_index=True)[1]]
        yield from map(self.row_terms, firsts.tolist())

    def counting(self, rows: Ints) -> Ints:
        """Those of some rows that count: of what an answer says, all."""
        return rows

    def intervals(self, rows: Ints) -> Intervals:
        """From when until when some rows last."""
        ends = self.end[rows].tolist()
        starts = self.start[rows].tolist()
        return [(one, INF if end == LAST else end) for one, end in zip(starts, ends, strict=True)]

    def row_terms(self, row: int) -> list[Term]:
        """The terms of a row."""
        at = np.array([row])
        return [terms_of(column.take(at), self._symbols)[0] for column in self.columns]


class InputRows(TimedRows):
    """The items of one name, number of arguments and form; which of them count is known."""

    def __init__(self, table: io.ItemTable, unused: Collection[Place], tick: int) -> None:
        self.table, symbols = table, Symbols()
        batch = read_items(table, symbols, tick)
        columns = batch.args if batch.value is None else (*batch.args, batch.value)
        end = batch.end if batch.kind == "fluent" else None
        super().__init__(columns, symbols, batch.start, end)
        self._op, self._unused = batch.op, unused
        self.gone: set[int] = set()
        """The rows that were taken back."""

    @cached_property
    def taking_back(self) -> list[int]:
        """The rows that take another one back."""
        found: list[int] = self._used(np.flatnonzero(self._op < 0)).tolist()
        return found

    def counting(self, rows: Ints) -> Ints:
        """Those of some rows that were used, and not taken back."""
        if self.taking_back or self.gone:
            rows = rows[self._op[rows] > 0]
            rows = rows[[row not in self.gone for row in rows.tolist()]] if self.gone else rows
        return self._used(rows)

    def _used(self, rows: Ints) -> Ints:
        if not self._unused or not len(rows):
            return rows
        return rows[[self.place(row) not in self._unused for row in rows.tolist()]]

    def same(self, other: InputRows, row: int) -> Ints:
        """The rows that say what a row of another table says, and are not taken back."""
        start = int(other.start[row])
        rows = self.select(list(enumerate(other.row_terms(row))), start, start)
        same: Ints = rows[self.end[rows] == other.end[row]]
        return same

    def place(self, row: int) -> Place:
        """Where a row stands, and its text."""
        one = replace(self.table, table=self.table.table.slice(row, 1))
        item = next(one.items())
        return Place(item.file, item.line, row_text(item))


class Evidence:
    """The items of a run and its final answer.

    What is `told` by a program is in the answer, too, and is like input otherwise.
    """

    def __init__(
        self,
        items: Iterable[io.ItemTable],
        letters: Iterable[io.DeadLetter],
        answer: Answer,
        tick: int,
        is_input: Callable[[str, int, bool], bool],
        told: Collection[tuple[Key, bool]] = (),
    ) -> None:
        unused = frozenset(
            Place(one.file, one.line, one.text) for one in letters if one.code in _UNUSED
        )
        self._items: dict[tuple[Key, bool], list[io.ItemTable]] = {}
        for table in items:
            self._items.setdefault(((table.name, table.arity), table.kind == "fluent"), []).append(
                table
            )
        self._unused, self._tick, self._told = unused, tick, told
        self._input: dict[tuple[Key, bool], list[InputRows]] = {}
        self.found: dict[tuple[Key, bool], list[TimedRows]] = {}
        part, symbols = answer.part("all"), answer.symbols
        tables: list[FluentTable | EventTable] = [*part.fluents, *part.events]
        for one in tables:
            key, is_fluent = (one.name, len(one.args)), isinstance(one, FluentTable)
            if is_input(*key, is_fluent) and (key, is_fluent) not in told:
                continue
            if isinstance(one, FluentTable):
                rows = TimedRows((*one.args, one.value), symbols, one.start, one.end)
            else:
                rows = TimedRows(one.args, symbols, one.time, None)
            self.found.setdefault((key, is_fluent), []).append(rows)

    def input(self, key: Key, is_fluent: bool) -> list[InputRows]:
        """The items of a name and arity; most questions are about few of them."""
        which = key, is_fluent
        if which not in self._input:
            tables = self._items.get(which, ())
            made = [InputRows(one, self._unused, self._tick) for one in tables]
            _take_back(made)
            self._input[which] = made
        return self._input[which]

    def _tables(self, key: Key | None, is_fluent: bool) -> list[TimedRows]:
        """The rows of the input and of the answer."""
        if key is None:
            return []
        return [*self.input(key, is_fluent), *self.found.get((key, is_fluent), ())]

    # --- events ----------------------------------------------------------------------------------

    def events(self, event: Term, low: int | None, high: int | None) -> Iterator[tuple[Term, int]]:
        """The different occurrences of an event between two times, the latest first."""
        found: dict[tuple[Term, int], None] = {}
        tables = self._tables(functor(event), False)
        for table in tables:
            for row in table.select(_bound(children(event)), low, high)[::-1].tolist():
                term = make(key_of(event)[0], *table.row_terms(row))
                if len(tables) == 1:
                    yield term, int(table.start[row])
                else:
                    found[term, int(table.start[row])] = None
        yield from sorted(found, key=lambda one: -one[1])

    def happened(self, event: Term, time: int) -> Place | None:
        """The row that says that an event happened."""
        for table in self.input(key_of(event), False):
            rows = table.select(_bound(children(event)), time, time)
            if len(rows):
                return table.place(int(rows[0]))
        return None

    def times(self, low: int, high: int) -> set[int]:
        """The times from `low` to `high` at which anything starts, ends or happens."""
        every: list[TimedRows] = [one for which in self._items for one in self.input(*which)]
        every += [one for tables in self.found.values() for one in tables]
        return {t for one in every for t in one.start[one.between(low, high)].tolist()}

    # --- fluents ---------------------------------------------------------------------------------

    def spans(
        self, fluent: Term, value: Term, at: int | None = None, until: int | None = None
    ) -> list[tuple[Term, Term, Intervals]]:
        """The fluents and values that fit, with their maximal intervals, or those at some times.

        `at` is a time, or the first of them and `until` the last.
        """
        key, last = functor(fluent), at if until is None else until
        found: dict[tuple[Term, Term], list[Interval]] = {}
        wanted = _bound((*children(fluent), value))
        for table in self._tables(key, True):
            rows = table.select(wanted, None, last, at)
            if len(rows) and len(wanted) == len(table.columns):
                found.setdefault((fluent, value), []).extend(table.intervals(rows))
                continue
            for row, span in zip(rows.tolist(), table.intervals(rows), strict=True):
                *args, one = table.row_terms(row)
                pair = make(key_of(fluent)[0], *args), one
                if unify_all((fluent, value), pair, {}) is not None:
                    found.setdefault(pair, []).append(span)
        if key is not None and at is not None and last is not None and self.input(key, True):
            # Items may touch or overlap; their maximal interval is that of all of them.
            whole = {pair: self.intervals(*pair) for pair in found}
            found = {
                p: [s for s in spans if s[0] <= last and at < s[1]] for p, spans in whole.items()
            }
        return [(*pair, coalesce(spans)) for pair, spans in found.items()]

    def intervals(self, fluent: Term, value: Term) -> Intervals:
        """The maximal intervals of a ground fluent and value."""
        return next((spans for _, _, spans in self.spans(fluent, value)), [])

    def rows_of(self, fluent: Term, value: Term, at: int) -> list[Place]:
        """The rows that say that an input fluent has a value at a time."""
        wanted = _bound((*children(fluent), value))
        return [
            table.place(row)
            for table in self.input(key_of(fluent), True)
            for row in table.select(wanted, None, at, at).tolist()
        ]

    def within(
        self, key: Key, is_fluent: bool, low: int, high: int
    ) -> Iterator[tuple[list[Term], range]]:
        """What happens or holds between two times: arguments, a value, and the time-points."""
        for table in self._tables(key, is_fluent):
            for row in table.select((), None, high, low).tolist():
                start, end = int(table.start[row]), int(table.end[row])
                yield table.row_terms(row), range(max(low, start), min(high + 1, end))

    def pairs(self, key: Key) -> Iterator[tuple[Term, Term]]:
        """Every fluent of a name and arity, with every value that it ever has."""
        rows = (tuple(row) for table in self._tables(key, True) for row in table.different(()))
        yield from ((make(key[0], *args), value) for *args, value in dict.fromkeys(rows))

    def given(self, entity: Term, value: Term | None) -> Iterator[tuple[Term, Term | None]]:
        """The instances of an entity that the input has, or a program tells: events, or values.

        Without a value it may be an event, or a fluent with any value.
        """
        key = key_of(entity)
        for is_fluent in (False, True) if value is None else (True,):
            wanted = _bound((*children(entity), *(() if value is None else (value,))))
            told = self.found.get((key, is_fluent), ()) if (key, is_fluent) in self._told else ()
            for table in (*self.input(key, is_fluent), *told):
                for args in table.different(wanted):
                    said = args.pop() if is_fluent else None
                    yield make(key[0], *args), said


def _take_back(tables: Sequence[InputRows]) -> None:
    """Find the rows that others take back: of equal ones the last."""
    for table in tables:
        for row in table.taking_back:
            equal = [(one, place) for one in tables for place in one.same(table, row).tolist()]
            for one, place in equal[-1:]:
                one.gone.add(place)


def _bound(terms: Sequence[Term]) -> Wanted:
    return [(place, term) for place, term in enumerate(terms) if is_ground(term)]
