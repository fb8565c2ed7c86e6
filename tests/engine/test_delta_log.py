"""Logs of points against a plain list of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.weights import examples

from horai.engine.columns import column_of, ints, terms_of
from horai.engine.deltas.by_time import by_time
from horai.engine.deltas.changes import exchanged, replaced, unmatched
from horai.engine.deltas.log import Log
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Constant, Float, Int, Term
from horai.temporal.spans import INF

Point = tuple[Term, Term, int]
Rows = list[Point]
# Columns of atoms, of numbers, and of both: their kinds change as points come in.
SORTS: list[list[Term]] = [
    [Constant("a"), Constant("b")],
    [Int(1), Int(2)],
    [Float(1.0), Float(2.5)],
    [Constant("a"), Int(1), Float(1.0)],
]
times = st.integers(0, 9)


@st.composite
def points(draw: st.DrawFn, most: int = 6) -> Rows:
    """Points whose columns are each of one sort, or of several."""
    first, second = (st.sampled_from(draw(st.sampled_from(SORTS))) for _ in range(2))
    return draw(st.lists(st.tuples(first, second, times), max_size=most))


def table_of(rows: Rows, symbols: Symbols) -> Relation:
    """Points as a relation."""
    named: list[list[Term]] = [[row[0] for row in rows], [row[1] for row in rows]]
    columns = [column_of(terms, symbols) for terms in named]
    return Relation((*columns, ints(np.array([row[2] for row in rows], np.int64))), len(rows))


def rows_of(table: Relation, symbols: Symbols) -> Rows:
    """A relation as points."""
    one, other = (terms_of(column, symbols) for column in table.columns[:2])
    return list(zip(one, other, table.columns[2].data.tolist(), strict=True))


class Logged(RuleBasedStateMachine):
    """A log and the list of what is in it, by number."""

    def __init__(self) -> None:
        super().__init__()
        self.symbols = Symbols()
        self.log = Log(table_of([], self.symbols), self.symbols)
        self.known: dict[int, Point] = {}
        self.snapshots: list[tuple[Callable[[], Relation], Rows]] = []

    @rule(more=points())
    def add(self, more: Rows) -> None:
        numbers = self.log.add(table_of(more, self.symbols)).tolist()
        assert not set(numbers) & self.known.keys()
        self.known.update(zip(numbers, more, strict=True))

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sets(st.sampled_from(sorted(self.known))))
        out = self.log.remove(np.array(sorted(chosen), np.int64))
        assert rows_of(out, self.symbols) == [self.known.pop(number) for number in sorted(chosen)]

    @rule(until=times, all_of_it=st.booleans())
    def forget(self, until: int, all_of_it: bool) -> None:
        (self.log.forget_all if all_of_it else self.log.forget)(until)
        kept = set(self.log.whole().numbers.tolist())
        left = {n: point for n, point in self.known.items() if point[2] > until}
        assert left.keys() <= kept <= self.known.keys()
        if all_of_it:
            assert kept == left.keys()
        self.known = {number: self.known[number] for number in kept}

    @rule()
    def look(self) -> None:
        self.snapshots.append((self.log.snapshot(), list(self.known.values())))

    @rule(asked=points(), width=times, by=st.sampled_from([(), (0,), (1,), (0, 1)]))
    def between(self, asked: Rows, width: int, by: tuple[int, ...]) -> None:
        table = table_of(asked, self.symbols)
        low = table.columns[2].data
        question, rows = self.log.between(by, [table.columns[i] for i in by], low, low + width)
        found = Counter(zip(question.tolist(), self.log.at(rows)[1].tolist(), strict=True))
        wanted = {
            (place, number)
            for place, one in enumerate(asked)
            for number, point in self.known.items()
            if all(one[i] == point[i] for i in by) and one[2] <= point[2] < one[2] + width
        }
        assert found == Counter(wanted)

    @precondition(lambda self: self.known)
    @rule(data=st.data())
    def numbers_of(self, data: st.DataObject) -> None:
        chosen = data.draw(st.sets(st.sampled_from(sorted(self.known)), min_size=1))
        wanted = [self.known[number] for number in sorted(chosen)]
        numbers = self.log.numbers_of(table_of(wanted, self.symbols)).tolist()
        assert len(set(numbers)) == len(numbers)
        assert Counter(self.known[number] for number in numbers) == Counter(wanted)

    @rule(wanted=points(8))
    def replace(self, wanted: Rows) -> None:
        change = replaced(self.log, table_of(wanted, self.symbols))
        gone = [self.known.pop(number) for number in change.gone_numbers.tolist()]
        new = rows_of(change.new, self.symbols)
        assert rows_of(change.gone, self.symbols) == gone
        assert not set(gone) & set(new)
        self.known.update(zip(change.new_numbers.tolist(), new, strict=True))
        assert Counter(self.known.values()) == Counter(wanted)

    @rule(more=points(), data=st.data())
    def exchange(self, more: Rows, data: st.DataObject) -> None:
        chosen = data.draw(st.sets(st.sampled_from(sorted(self.known)))) if self.known else set()
        before = max((point[2] for point in self.known.values()), default=-INF)
        gone = np.array(sorted(chosen), np.int64)
        change = exchanged(self.log, gone, table_of(more, self.symbols))
        assert change.last >= before
        assert rows_of(change.gone, self.symbols) == [self.known.pop(n) for n in sorted(chosen)]
        self.known.update(zip(change.new_numbers.tolist(), more, strict=True))

    @invariant()
    def same(self) -> None:
        table, numbers = self.log.whole()
        assert dict(zip(numbers.tolist(), rows_of(table, self.symbols), strict=True)) == self.known
        assert numbers.tolist() == sorted(numbers.tolist())
        assert len(self.log) == len(self.known)
        chosen = np.array(sorted(self.known)[::2], np.int64)
        by_number = rows_of(self.log.rows(chosen), self.symbols)
        assert by_number == [self.known[number] for number in chosen.tolist()]
        for time in (0, 3, 10):
            since = Counter(rows_of(self.log.since(time).table, self.symbols))
            late = Counter(point for point in self.known.values() if point[2] >= time)
            assert late <= since <= Counter(self.known.values())
            after = Counter(rows_of(self.log.after(time - 1), self.symbols))
            assert after == late

    @invariant()
    def snapshots_stay(self) -> None:
        for seen, wanted in self.snapshots[-3:]:
            assert Counter(rows_of(seen(), self.symbols)) == Counter(wanted)


def test_a_log_is_what_was_put_in_and_not_taken_out() -> None:
    run_state_machine_as_test(Logged, settings=examples("light", stateful_step_count=20))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_log_is_what_was_put_in_and_not_taken_out_at_length() -> None:
    run_state_machine_as_test(Logged, settings=examples("light", stateful_step_count=40))


def test_points_are_found_by_what_drove_them() -> None:
    symbols = Symbols()
    log = Log(table_of([], symbols), symbols)
    rows: Rows = [(Constant("a"), Int(driver), time) for driver, time in [(7, 1), (3, 2), (7, 2)]]
    log.add(table_of(rows, symbols))
    assert log.where_driven(np.array([7])).tolist() == [0, 2]
    log.remove(np.array([0]))
    assert log.where_driven(np.array([7, 9])).tolist() == [2]
    assert log.where_driven(np.array([900])).tolist() == []


def test_an_index_without_keys_finds_all_there_is() -> None:
    index = by_time([], np.array([5, 3, 8]))
    asked, rows = index.between([], np.array([0, 4]), np.array([6, 4]))
    assert asked.tolist() == [0, 0]
    assert sorted(rows.tolist()) == [0, 1]
    nothing = by_time([], np.empty(0, np.int64))
    assert nothing.between([], np.array([0]), np.array([9]))[1].tolist() == []


def test_equal_rows_pair_off_one_to_one() -> None:
    symbols = Symbols()
    one: Rows = [(Constant("a"), Int(1), 4), (Constant("a"), Int(1), 4), (Constant("b"), Int(1), 4)]
    other: Rows = [(Constant("a"), Int(1), 4), (Constant("b"), Float(1.0), 4)]
    left, right = unmatched(table_of(one, symbols), table_of(other, symbols), symbols)
    assert (left.tolist(), right.tolist()) == ([1, 2], [1])
