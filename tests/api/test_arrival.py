"""Rows reach the query time they have arrived by, whatever their order."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.io import InputSchema, InputType, ItemTable, read_object
from horai.io.items.tables import by_arrival, extent

SCHEMA = InputSchema.of(
    [InputType("up", "event", 1), InputType("on", "fluent", 0), InputType("near", "fluent", 1)]
)
ROWS = st.lists(
    st.tuples(st.sampled_from(["up", "on", "near"]), st.integers(0, 40), st.integers(0, 40)),
    max_size=20,
)
QUERIES = st.lists(st.integers(0, 45), min_size=1, max_size=6, unique=True).map(sorted)
LAYOUT = {"up": "up|{}|{}|a", "on": "on|{}|{}|true", "near": "near|{}|{}|50|true|b"}


def tables_of(rows: list[tuple[str, int, int]]) -> tuple[ItemTable, ...]:
    lines = [LAYOUT[name].format(arrival, start) for name, arrival, start in rows]
    return read_object(lines, SCHEMA).tables


@given(ROWS, QUERIES)
def test_every_row_goes_to_the_first_query_that_can_know_it(
    rows: list[tuple[str, int, int]], queries: list[int]
) -> None:
    found = [
        sorted(item.line for table in tables for item in table.items())
        for tables in by_arrival(tables_of(rows), queries)
    ]
    expected: list[list[int]] = [[] for _ in queries]
    for line, (_, arrival, _) in enumerate(rows, 1):
        fitting = [n for n, query in enumerate(queries) if arrival <= query]
        expected[min([*fitting, len(queries) - 1])].append(line)
    assert found == expected


def test_rows_that_arrive_together_keep_their_order() -> None:
    rows = [("up", random.Random(3).randrange(3), start) for start in range(40)]
    for tables in by_arrival(tables_of(rows), [0, 1, 2]):
        starts = [item.start for table in tables for item in table.items()]
        assert starts == sorted(starts)


def test_tables_without_new_rows_are_left_out() -> None:
    tables = tables_of([("up", 1, 1), ("on", 9, 9)])
    assert [[t.name for t in some] for some in by_arrival(tables, [5, 10, 15])] == [
        *(["up"], ["on"], [])
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], None),
        ([("up", 3, 5)], (5, 5)),
        ([("up", 9, 5), ("on", 2, 4)], (4, 9)),
        ([("near", 9, 5)], (5, 50)),
    ],
)
def test_the_extent_is_the_first_occurrence_and_the_last_time(
    rows: list[tuple[str, int, int]], expected: tuple[int, int] | None
) -> None:
    assert extent(tables_of(rows)) == expected


def test_an_open_interval_names_its_start() -> None:
    assert extent(read_object(["near|3|7|inf|true|b"], SCHEMA).tables) == (7, 7)
