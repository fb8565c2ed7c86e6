"""What passes between two languages, as columns: points of spans, and how they change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.columns import Column, bits, codes, concat, constant
from horai.engine.deltas.store import without_bare_pairs
from horai.engine.hashing import dense
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.io.blocks import Block, merge, one_file
from horai.io.schema import TableKey
from horai.lang.terms import Atom
from horai.rows import term_column
from horai.temporal.spans import Ints, Spans

TRUE = Atom("true")
FROM_PROGRAM = "<program>"


class Points(NamedTuple):
    """Rows of arguments, each at a point."""

    args: tuple[Column, ...]
    time: Ints

    def __len__(self) -> int:
        return len(self.time)


def clipped(fluent: Fluent, low: int, high: int) -> Fluent:
    """Only what lies in [low, high)."""
    start, end = np.maximum(fluent.spans.start, low), np.minimum(fluent.spans.end, high)
    there = start < end
    return without_bare_pairs(
        Fluent(fluent.pairs, Spans(fluent.spans.key[there], start[there], end[there]))
    )


def points_of(fluent: Fluent) -> Points:
    """Every point of every span, which all have an end."""
    count = fluent.spans.end - fluent.spans.start
    row = np.repeat(fluent.spans.key, count)
    begin = np.cumsum(count) - count
    time = np.arange(int(count.sum())) + np.repeat(fluent.spans.start - begin, count)
    return Points(tuple(column.take(row) for column in fluent.pairs.columns), time)


def changed(old: Points, new: Points, symbols: Symbols) -> tuple[Points, Ints]:
    """The points of one side only: +1 for those that are new, -1 for those that are gone."""
    args = tuple(concat(pair, symbols) for pair in zip(old.args, new.args, strict=True))
    time = np.concatenate((old.time, new.time))
    sign = np.repeat([-1, 1], [len(old), len(new)])
    numbers, firsts = dense([*(bits(column) for column in args), time], len(time))
    net = np.bincount(numbers, weights=sign, minlength=len(firsts)).astype(np.int64)
    rows = firsts[net != 0]
    return Points(tuple(column.take(rows) for column in args), time[rows]), net[net != 0]


def moved(column: Column, old: Symbols, new: Symbols) -> Column:
    """A column with the codes of another table of symbols."""
    if column.kind != "term":
        return column
    numbers, firsts = dense([column.data], len(column))
    terms = [old.term(code) for code in column.data[firsts].tolist()]
    return codes(new.codes(terms)[numbers])


def item_table(
    key: TableKey, points: Points, sign: Ints, arrival: int, symbols: Symbols
) -> io.ItemTable:
    """Points as items of an event, or of a fluent with a value at each.

    A fluent has its value in the last column, or is `true` without one.
    """
    return _table(key, points.args, points.time, None, sign, arrival, symbols)


def span_table(key: TableKey, fluent: Fluent, arrival: int, symbols: Symbols) -> io.ItemTable:
    """Spans as items of a fluent."""
    spans = fluent.spans
    args = tuple(column.take(spans.key) for column in fluent.pairs.columns)
    sign = np.ones(len(spans), np.int64)
    return _table(key, args, spans.start, spans.end, sign, arrival, symbols)


def _table(
    key: TableKey,
    columns: tuple[Column, ...],
    start: Ints,
    end: Ints | None,
    sign: Ints,
    arrival: int,
    symbols: Symbols,
) -> io.ItemTable:
    rows = len(start)
    args, rest = columns[: key.arity], columns[key.arity :]
    value = None
    if key.kind == "fluent":
        value = term_column(rest[0] if rest else constant(TRUE, rows, symbols), symbols)
    block = Block(
        key,
        one_file(FROM_PROGRAM, rows),
        pa.array(np.zeros(rows, np.int64)),
        pa.array(sign.astype(np.int8)),
        pa.array(np.full(rows, arrival, np.int64)),
        pa.array(start, pa.int64()),
        None if end is None else pa.array(end, pa.int64()),
        value,
        tuple(term_column(column, symbols) for column in args),
    )
    return io.ItemTable(*key, merge([block]))
