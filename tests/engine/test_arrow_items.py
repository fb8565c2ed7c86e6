"""Arrow tables of items as typed columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from horai import io
from horai.engine.arrow_items import ItemBatch, pick, read_items
from horai.engine.columns import Column, terms_of
from horai.engine.symbols import Symbols
from horai.io.terms import TermText
from horai.lang.core.reader import NotATerm
from horai.lang.core.terms import Compound, Constant, Float, Int, Term
from horai.temporal.spans import INF

PlainTerm = str | int | float


def event(time: int, *args: PlainTerm, op: int = 1, line: int = 0) -> io.Item:
    return io.Item(op, "e", "event", "points", time, time, None, None, args, "day.txt", line)


def point(time: int, value: PlainTerm) -> io.Item:
    return io.Item(1, "f", "fluent", "points", time, time, None, value, ())


def interval(start: int, end: int | None) -> io.Item:
    return io.Item(1, "f", "fluent", "intervals", start, start, end, "on", ())


def table_of(*rows: io.Item) -> io.ItemTable:
    (table,) = io.Narrative.from_items(rows).tables
    return table


def with_table(items: io.ItemTable, table: pa.Table) -> io.ItemTable:
    return io.ItemTable(items.name, items.arity, items.kind, items.form, table)


def read(*rows: io.Item, tick: int = 1) -> tuple[ItemBatch, Symbols]:
    symbols = Symbols()
    return read_items(table_of(*rows), symbols, tick), symbols


@pytest.mark.parametrize(
    ("args", "kind", "terms"),
    [
        ([3, -4], "int", [Int(3), Int(-4)]),
        ([3.5, 1.0], "float", [Float(3.5), Float(1.0)]),
        (["x", "New York", "x"], "term", [Constant("x"), Constant("New York"), Constant("x")]),
        (["x", "-", 3, 3.0], "term", [Constant("x"), Constant("-"), Int(3), Float(3.0)]),
        ([2**70, "not"], "term", [Int(2**70), Constant("not")]),
        ([TermText("f( x )"), "f(x)"], "term", [Compound("f", (Constant("x"),)), Constant("f(x)")]),
    ],
)
def test_columns_of_terms(args: list[PlainTerm], kind: str, terms: list[Term]) -> None:
    batch, symbols = read(*(event(1, arg) for arg in args))
    assert batch.args[0].kind == kind
    assert terms_of(batch.args[0], symbols) == terms


def test_an_event_has_no_value_and_ends_where_it_starts() -> None:
    batch, _ = read(event(7), event(9, op=-1))
    assert (batch.name, batch.arity, batch.kind, batch.value) == ("e", 0, "event", None)
    assert batch.op.tolist() == [1, -1]
    assert batch.end.tolist() == batch.start.tolist() == batch.arrival.tolist() == [7, 9]


def test_a_value_at_a_point_lasts_to_the_next_point() -> None:
    times = (-7, -5, 0, 3, INF - 2)
    batch, symbols = read(*(point(time, 3) for time in times), tick=5)
    assert batch.end.tolist() == [-5, 0, 5, 5, INF]
    assert batch.value is not None
    assert terms_of(batch.value, symbols) == [Int(3)] * 5


def test_an_open_interval_ends_at_infinity() -> None:
    assert read(interval(1, 5), interval(2, None))[0].end.tolist() == [5, INF]
    assert read(interval(1, 5))[0].end.tolist() == [5]


def test_integers_are_not_copied() -> None:
    items = table_of(event(1, 5), event(2, 6))
    batch = read_items(items, Symbols(), 1)
    for name, data in (
        ("start", batch.start),
        ("arrival", batch.arrival),
        ("a0", batch.args[0][1]),
    ):
        assert np.shares_memory(data, items.table.column(name).chunk(0).to_numpy())


def test_chunks_may_have_dictionaries_of_their_own() -> None:
    parts = [table_of(event(1, "x"), event(2, "y")), table_of(event(3, "y"), event(4, "z"))]
    items = with_table(parts[0], pa.concat_tables([part.table for part in parts]))
    symbols = Symbols()
    batch = read_items(items, symbols, 1)
    assert terms_of(batch.args[0], symbols) == [Constant(name) for name in "xyyz"]
    assert batch.start.tolist() == [1, 2, 3, 4]


def test_a_slice_looks_up_only_what_it_uses() -> None:
    items = table_of(*(event(i, f"x{i}") for i in range(50)))
    symbols = Symbols()
    batch = read_items(with_table(items, items.table.slice(20, 2)), symbols, 1)
    assert terms_of(batch.args[0], symbols) == [Constant("x20"), Constant("x21")] == list(symbols)


def test_a_table_may_be_empty() -> None:
    items = table_of(event(1, "x"))
    batch = read_items(with_table(items, items.table.slice(0, 0)), Symbols(), 1)
    assert (len(batch.start), len(batch.args[0])) == (0, 0)


def test_rows_taken_out_carry_only_their_own_words() -> None:
    items = table_of(*(event(i, f"x{i}") for i in range(50)))
    few = pick(items, np.array([7, 9]))
    assert few.table.schema == items.table.schema
    assert few.table.column("a0").chunk(0).dictionary.to_pylist() == ["x7", "x9"]
    symbols = Symbols()
    columns: tuple[Column, ...] = read_items(few, symbols, 1).args
    assert terms_of(columns[0], symbols) == [Constant("x7"), Constant("x9")]


def test_source_text_that_is_no_term_is_refused() -> None:
    with pytest.raises(NotATerm, match="is not a term"):
        read(event(1, TermText("f(")))
