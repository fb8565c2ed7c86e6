"""Rows that are found again, and rows that lead somewhere, while both grow."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from horai.engine.columns import codes
from horai.engine.deltas.directory import Directory
from horai.engine.deltas.static_links import Links, common
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.coalesce import sort_spans
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import Spans
from horai.temporal.sweeps import Lists, no_lists

TARGETS, ROWS = 5, 12
Pair = tuple[int, int]
PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 4))
SPANS = st.lists(
    st.tuples(st.integers(0, TARGETS - 1), st.integers(0, 9), st.integers(1, 5)), max_size=6
)


def table(rows: list[Pair]) -> Relation:
    columns = np.array(rows, np.int64).reshape(len(rows), 2).T
    return Relation(tuple(codes(column.copy()) for column in columns), len(rows))


@given(st.lists(st.lists(PAIRS, unique=True), max_size=6), st.lists(PAIRS), st.integers(0, 6))
def test_rows_are_found_while_a_table_grows(
    batches: list[list[Pair]], asked: list[Pair], since: int
) -> None:
    directory, known = Directory(Symbols()), list[Pair]()
    for batch in batches:
        known += [pair for pair in batch if pair not in known]
        everywhere = [known.index(pair) if pair in known else -1 for pair in asked]
        assert directory.rows_of(table(asked), table(known)).tolist() == everywhere
        later = [row if row >= since else -1 for row in everywhere]
        assert directory.rows_of(table(asked), table(known), since).tolist() == later


def test_a_directory_grows_beyond_its_first_room() -> None:
    every = [(number % 40, number) for number in range(1_000)]
    directory = Directory(Symbols())
    for known in (50, 65, 300, 1_000):
        found = directory.rows_of(table(every), table(every[:known])).tolist()
        assert found == [*range(known), *([-1] * (1_000 - known))]


def spans_of(rows: list[tuple[int, int, int]]) -> Spans:
    columns = np.array([(k, s, s + n) for k, s, n in rows], np.int64).reshape(-1, 3).T
    return sort_spans(*(column.copy() for column in columns))


def points(spans: Spans) -> set[Pair]:
    listed = zip(*(column.tolist() for column in spans), strict=True)
    return {(key, time) for key, start, end in listed for time in range(start, end)}


@given(
    st.lists(st.integers(-1, TARGETS - 1), min_size=ROWS, max_size=ROWS),
    st.integers(0, ROWS),
    SPANS,
    SPANS,
)
def test_spans_are_led_back_to_the_rows_that_need_them(
    targets: list[int],
    middle: int,
    changed: list[tuple[int, int, int]],
    holding: list[tuple[int, int, int]],
) -> None:
    links, target = Links(), np.array(targets)
    links.add(np.arange(middle), target[:middle])
    links.add(np.arange(middle, ROWS), target[middle:])
    spans = spans_of(changed)
    there = {
        (row, time) for row in range(ROWS) for key, time in points(spans) if key == target[row]
    }
    assert points(links.back(spans)) == there
    held = spans_of(holding)
    lists = Lists(held, offsets_of(held.key, TARGETS), np.arange(ROWS) % TARGETS)
    while_held = {(row, time) for row, time in there if (row % TARGETS, time) in points(held)}
    assert points(links.back_while(spans, lists)) == while_held
    assert points(links.back_while(spans, no_lists(ROWS))) == set()
    others = Links()
    others.add(np.arange(ROWS), lists.target)
    for few in (1, 500):
        with mock.patch("horai.engine.deltas.static_links.FEW", few):
            found = common(spans, target, lists, links, others)
        assert set().union(*map(points, found)) == while_held


def test_links_grow_beyond_their_first_room() -> None:
    links = Links()
    links.add(np.arange(1_000), np.arange(1_000) % 300)
    found = links.back(Spans(np.array([299]), np.array([3]), np.array([7])))
    assert sorted(found.key.tolist()) == [299, 599, 899]
    assert not len(links.back(Spans(np.array([100_000]), np.array([3]), np.array([7]))))
