"""What a run knows, by index: rows of the input, and the intervals and events of its answer.

Nothing is worked out again. A look-up takes the rows at a time by binary search, or those with an
argument by one pass over a column of integers, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from horai import io
from horai.engine.answer import Answer, EventTable, FluentTable, Part
from horai.engine.columns import Column
from horai.engine.symbols import Symbols
from horai.explain.proof import Place
from horai.io.letters import OF_ENGINES
from horai.lang.core.terms import Constant, Float, Int, Term, children, functor, is_ground, make
from horai.oracle.ec.intervals import INF, Interval, Intervals, coalesce
from horai.oracle.ec.terms import unify
from horai.runtime.inputs import row_text
from horai.runtime.values import to_term
from horai.temporal.spans import INF as LAST
from horai.temporal.spans import Ints

Key = tuple[str, int]
_NONE: Ints = np.empty(0, np.int64)
_UNUSED = OF_ENGINES - {"partly-too-late"}


class CodedTerms(NamedTuple):
    """A column of terms as numbers; `code` is None for a term that is in no row."""

    data: npt.NDArray[np.generic]
    code: Callable[[Term], object]
    term: Callable[[object], Term]

    def at(self, row: int) -> Term:
        """The term in a row."""
        return self.term(self.data[row].item())


def _number(term: Term) -> object:
    return term.value if isinstance(term, Int) else None


def _decimal(term: Term) -> object:
    return term.value if isinstance(term, Float) else None


def of_column(column: Column, symbols: Symbols) -> CodedTerms:
    """A column of an answer."""
    match column.kind:
        case "int":
            return CodedTerms(column.data, _number, Int)  # type: ignore[arg-type]
        case "float":
            return CodedTerms(column.data, _decimal, Float)  # type: ignore[arg-type]
        case _:
            return CodedTerms(column.data, symbols.known, symbols.term)  # type: ignore[arg-type]


def of_input(column: io.TermColumn) -> CodedTerms:
    """A column of the input."""
    match column.kind:
        case "int":
            return CodedTerms(column.array.to_numpy(), _number, Int)  # type: ignore[arg-type]
        case "float":
            return CodedTerms(column.array.to_numpy(), _decimal, Float)  # type: ignore[arg-type]
        case kind:
            words = column.array.dictionary
            # Of source text one term has several forms, so each is read; atoms have one.
            read = {} if kind == "atom" else _places(io.distinct(column)[1])

            def code(term: Term) -> object:
                if kind == "term":
                    return read.get(term)
                found = words.index(term.name).as_py() if isinstance(term, Constant) else -1
                return None if found < 0 else found

            def term(number: object) -> Term:
                word = words[number].as_py()
                return Constant(word) if kind == "atom" else to_term(io.from_source(word))

            return CodedTerms(column.array.indices.to_numpy(), code, term)


def _places(terms: Iterable[io.Term]) -> dict[Term, int]:
    return {to_term(term): place for place, term in enumerate(terms)}


class TimedRows:
    """Rows with terms and a start, and with an end if they last."""

    def __init__(self, terms: Sequence[CodedTerms], start: Ints, end: Ints | None) -> None:
        self.terms, self.start, self.end = terms, start, end
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

    def having(self, wanted: Sequence[tuple[int, Term]]) -> Ints:
        """The rows with some terms in some columns, in the order of time."""
        rows: Ints | None = None
        for place, term in wanted:
            code = self.terms[place].code(term)
            if code is None:
                return _NONE
            if rows is None:
                rows = self._all_with(place, code)
            else:
                rows = rows[self.terms[place].data[rows] == code]
        return self._sorted(np.arange(len(self.start))) if rows is None else rows

    def _all_with(self, place: int, code: object) -> Ints:
        known = self._with.get((place, code))
        if known is None:
            known = self._sorted(np.flatnonzero(self.terms[place].data == code))
            self._with[place, code] = known
        return known

    def only(self, rows: Ints, wanted: Sequence[tuple[int, Term]]) -> Ints:
        """Those of some rows that have some terms."""
        for place, term in wanted:
            code = self.terms[place].code(term)
            rows = _NONE if code is None else rows[self.terms[place].data[rows] == code]
        return rows

    def intervals(self, rows: Ints) -> Intervals:
        """From when until when some rows last."""
        assert self.end is not None
        ends = self.end[rows].tolist()
        starts = self.start[rows].tolist()
        return [(one, INF if end == LAST else end) for one, end in zip(starts, ends, strict=True)]

    def row_terms(self, row: int) -> list[Term]:
        """The terms of a row."""
        return [column.at(row) for column in self.terms]


class InputRows(TimedRows):
    """The items of one name, number of arguments and form; which of them count is known."""

    def __init__(self, table: io.ItemTable, unused: Collection[Place], tick: int) -> None:
        self.table = table
        names = [f"a{i}" for i in range(table.arity)]
        columns = [of_input(table.column(name)) for name in names]
        if table.kind == "fluent":
            columns.append(of_input(table.column("value")))
        start = table.table.column("start").to_numpy()
        end: Ints | None = None
        if table.form == "intervals":
            end = table.table.column("end").fill_null(LAST).to_numpy()
        elif table.kind == "fluent":
            end = start + tick - start % tick
        super().__init__(columns, start, end)
        self._unused = unused
        self.gone: set[int] = set()
        """The rows that were taken back."""

    @cached_property
    def _op(self) -> Ints:
        op: Ints = self.table.table.column("op").to_numpy()
        return op

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
        """The rows that say what a row of another table says."""
        rows = self.having(list(enumerate(other.row_terms(row))))
        rows = rows[self.start[rows] == other.start[row]]
        if self.end is not None and other.end is not None:
            rows = rows[self.end[rows] == other.end[row]]
        return self._used(rows[self._op[rows] > 0])

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
        for one in _tables(part):
            columns = [of_column(column, symbols) for column in one.args]
            key, is_fluent = (one.name, len(columns)), isinstance(one, FluentTable)
            if is_input(*key, is_fluent) and (key, is_fluent) not in told:
                continue
            if isinstance(one, FluentTable):
                columns.append(of_column(one.value, symbols))
                rows = TimedRows(columns, one.start, one.end)
            else:
                rows = TimedRows(columns, one.time, None)
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

    # --- events ----------------------------------------------------------------------------------

    def events(self, event: Term, low: int | None, high: int | None) -> Iterator[tuple[Term, int]]:
        """The different occurrences of an event between two times, the latest first."""
        key = functor(event)
        if key is None:
            return
        found: dict[tuple[Term, int], None] = {}
        tables = [*self.input(key, False), *self.found.get((key, False), ())]
        for table in tables:
            rows = _looked_up(table, _bound(children(event)), low, high)
            if isinstance(table, InputRows):
                rows = table.counting(rows)
            for row in rows[::-1].tolist():
                term = make(key[0], *table.row_terms(row))
                if len(tables) == 1:
                    yield term, int(table.start[row])
                else:
                    found[term, int(table.start[row])] = None
        yield from sorted(found, key=lambda one: -one[1])

    def happened(self, event: Term, time: int) -> Place | None:
        """The row that says that an event happened."""
        for table in self.input(functor(event) or ("", -1), False):
            rows = table.counting(_looked_up(table, _bound(children(event)), time, time))
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
        key = functor(fluent)
        if key is None:
            return []
        last = at if until is None else until
        found: dict[tuple[Term, Term], list[Interval]] = {}
        wanted = _bound((*children(fluent), value))
        for table in (*self.input(key, True), *self.found.get((key, True), ())):
            assert table.end is not None
            rows = table.having(wanted)
            if at is not None:
                rows = rows[(table.start[rows] <= last) & (at < table.end[rows])]
            if isinstance(table, InputRows):
                rows = table.counting(rows)
            if len(rows) and len(wanted) == len(table.terms):
                found.setdefault((fluent, value), []).extend(table.intervals(rows))
                continue
            for row, span in zip(rows.tolist(), table.intervals(rows), strict=True):
                *args, one = table.row_terms(row)
                pair = make(key[0], *args), one
                if _fits((fluent, value), pair):
                    found.setdefault(pair, []).append(span)
        if at is not None and last is not None and self.input(key, True):
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
        key = functor(fluent) or ("", -1)
        places = []
        for table in self.input(key, True):
            assert table.end is not None
            rows = table.having(_bound((*children(fluent), value)))
            rows = table.counting(rows[(table.start[rows] <= at) & (at < table.end[rows])])
            places += [table.place(row) for row in rows.tolist()]
        return places

    def within(
        self, key: Key, is_fluent: bool, low: int, high: int
    ) -> Iterator[tuple[list[Term], range]]:
        """What happens or holds between two times: arguments, a value, and the time-points."""
        for table in (*self.input(key, is_fluent), *self.found.get((key, is_fluent), ())):
            end = table.start + 1 if table.end is None else table.end
            rows = np.flatnonzero((table.start <= high) & (end > low))
            if isinstance(table, InputRows):
                rows = table.counting(rows)
            for row in rows.tolist():
                there = range(max(low, int(table.start[row])), min(high + 1, int(end[row])))
                yield table.row_terms(row), there

    def pairs(self, key: Key) -> Iterator[tuple[Term, Term]]:
        """Every fluent of a name and arity, with every value that it ever has."""
        seen: dict[tuple[Term, ...], None] = {}
        for table in (*self.input(key, True), *self.found.get((key, True), ())):
            for row in _firsts(table, np.arange(len(table.start))):
                seen[tuple(table.row_terms(row))] = None
        yield from ((make(key[0], *args), value) for *args, value in seen)

    def given(self, entity: Term, value: Term | None) -> Iterator[tuple[Term, Term | None]]:
        """The instances of an entity that the input has, or a program tells: events, or values.

        Without a value it may be an event, or a fluent with any value.
        """
        key = functor(entity) or ("", -1)
        for is_fluent in (False, True) if value is None else (True,):
            wanted = _bound((*children(entity), *(() if value is None else (value,))))
            told = self.found.get((key, is_fluent), ()) if (key, is_fluent) in self._told else ()
            for table in (*self.input(key, is_fluent), *told):
                for row in _firsts(table, table.having(wanted)):
                    args = table.row_terms(row)
                    said = args.pop() if is_fluent else None
                    yield make(key[0], *args), said


def _take_back(tables: Sequence[InputRows]) -> None:
    """Find the rows that others take back: of equal ones the last."""
    for table in tables:
        for row in table.taking_back:
            equal = [
                (one, place)
                for one in tables
                for place in one.same(table, row).tolist()
                if place not in one.gone
            ]
            for one, place in equal[-1:]:
                one.gone.add(place)


def _firsts(table: TimedRows, kept: Ints) -> list[int]:
    """Of some rows one for each different combination of terms."""
    if isinstance(table, InputRows):
        kept = table.counting(kept)
    if not table.terms or len(kept) < 2:
        return [int(row) for row in kept[:1]]
    columns = [np.unique(column.data[kept], return_inverse=True)[1] for column in table.terms]
    firsts = np.unique(np.stack(columns), axis=1, return_index=True)[1]
    rows: list[int] = kept[firsts].tolist()
    return rows


def _tables(part: Part) -> Iterator[FluentTable | EventTable]:
    yield from part.fluents
    yield from part.events


def _bound(terms: Sequence[Term]) -> list[tuple[int, Term]]:
    return [(place, term) for place, term in enumerate(terms) if is_ground(term)]


def _looked_up(
    table: TimedRows, wanted: list[tuple[int, Term]], low: int | None, high: int | None
) -> Ints:
    if low is not None and low == high:
        return table.only(table.between(low, low), wanted)
    rows = table.having(wanted)
    if low is not None:
        rows = rows[table.start[rows] >= low]
    return rows if high is None else rows[table.start[rows] <= high]


def _fits(pattern: tuple[Term, Term], pair: tuple[Term, Term]) -> bool:
    env = unify(pattern[0], pair[0], {})
    return env is not None and unify(pattern[1], pair[1], env) is not None
