"""Tables of bindings: rows move, and their interval lists move with them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from horai.engine.columns import column_of, terms_of
from horai.engine.frames import Frame, gather
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Constant, Float, Int, Term
from horai.temporal.spans import Spans

Intervals = tuple[tuple[int, int], ...]
Row = tuple[Term, Intervals]
TERMS: list[Term] = [Int(1), Int(2), Float(1.0), Constant("a")]
LISTS: list[Intervals] = [(), ((1, 3),), ((0, 2), (5, 9)), ((4, 5),)]
row_lists = st.lists(st.tuples(st.sampled_from(TERMS), st.sampled_from(LISTS)), max_size=5)


def frame_of(rows: list[Row], symbols: Symbols) -> Frame:
    flat = [(i, s, e) for i, (_, intervals) in enumerate(rows) for s, e in intervals]
    key, start, end = np.array(flat, np.int64).reshape(len(flat), 3).T
    columns = {"X": column_of([term for term, _ in rows], symbols)}
    return Frame(len(rows), columns, {"I": Spans(key, start, end)})


def rows_of(frame: Frame, symbols: Symbols) -> list[Row]:
    spans = frame.lists["I"]
    lists: list[list[tuple[int, int]]] = [[] for _ in range(frame.rows)]
    for k, s, e in zip(*(a.tolist() for a in (spans.key, spans.start, spans.end)), strict=True):
        lists[k].append((s, e))
    return list(zip(terms_of(frame.columns["X"], symbols), map(tuple, lists), strict=True))


@given(row_lists, st.data())
def test_taken_rows_keep_their_lists(rows: list[Row], data: st.DataObject) -> None:
    symbols = Symbols()
    places = st.lists(st.integers(0, len(rows) - 1), max_size=7) if rows else st.just([])
    chosen = data.draw(places)
    taken = frame_of(rows, symbols).take(np.array(chosen, np.int64))
    assert rows_of(taken, symbols) == [rows[i] for i in chosen]
    mask = np.array([i % 2 == 0 for i in range(len(rows))], np.bool_)
    assert rows_of(frame_of(rows, symbols).where(mask), symbols) == rows[::2]


def test_numbers_of_rows_outlive_projections() -> None:
    frame = Frame(1).numbered("@row").with_columns({"X": column_of([Int(1)], Symbols())})
    assert set(frame.only([]).columns) == {"@row"}


def test_rows_without_spans_have_empty_lists() -> None:
    spans = Spans(np.array([1, 1]), np.array([0, 5]), np.array([2, 7]))
    found = gather(spans, 3, np.array([2, 1, 0, 1]))
    assert found.key.tolist() == [1, 1, 3, 3]
    assert found.start.tolist() == [0, 5, 0, 5]
