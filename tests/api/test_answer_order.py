"""Columns of an engine become rows in the one order that every engine's answers have."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.engine.answer import Answer, EventTable, FluentTable, Part, events_of, spans_of
from horai.engine.columns import column_of
from horai.engine.symbols import Symbols
from horai.io import AnswerRow
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, make
from horai.result import parts_of
from horai.runtime.answers import AnswerPart, answer_table, value_key
from horai.runtime.values import plain
from horai.temporal.spans import INF

NUMBERS = (
    st.integers(-3, 3).map(Int)
    | st.sampled_from([2**62, -(2**62), 2**63 - 1, -(2**63), 2**80]).map(Int)
    | st.sampled_from([0.0, 1.0, -2.5, 1e300, -1e300]).map(Float)
)
OTHER_TERMS: list[Term] = [
    *(
        Constant("a"),
        Constant("B"),
        Constant("é"),
        Constant("🂡"),
        Constant("f(a)"),
        Str("a"),
        Str("f(a)"),
    ),
    *(Compound("f", (Constant("a"),)), ListTerm((Int(1),)), ListTerm(())),
]
TERMS = NUMBERS | st.sampled_from(OTHER_TERMS)
# Columns of one kind take other paths than columns of all.
KINDS = st.sampled_from(
    [TERMS, st.integers(0, 9).map(Int), st.sampled_from([0.5, -1.5, 2.0]).map(Float),
     st.sampled_from("abc").map(Constant)]
)  # fmt: skip
ENDS = st.sampled_from([INF]) | st.integers(20, 40)
Rows = list[tuple[list[Term], Term, int, int]]


@st.composite
def tables(draw: st.DrawFn) -> tuple[str, int, Rows]:
    arity = draw(st.integers(0, 3))
    kinds = [draw(KINDS) for _ in range(arity + 1)]
    row = st.tuples(st.tuples(*kinds[:-1]).map(list), kinds[-1], st.integers(-20, 19), ENDS)
    return draw(st.sampled_from(["f", "g"])), arity, draw(st.lists(row, min_size=1, max_size=6))


@st.composite
def given_steps(draw: st.DrawFn) -> list[tuple[int | None, bool | None, list[Any], list[Any]]]:
    form = draw(st.sampled_from(["final", "windows", "changelog"]))
    queries = [None] if form == "final" else [10, 20]
    signs = [False, True] if form == "changelog" else [None]
    some = st.lists(tables(), max_size=3)
    return [(query, sign, draw(some), draw(some)) for query in queries for sign in signs]


def part_of(fluents: Sequence[Any], events: Sequence[Any], symbols: Symbols) -> Part:
    def columns(arity: int, rows: Rows) -> Any:
        return tuple(column_of([row[0][i] for row in rows], symbols) for i in range(arity))

    return Part(
        [
            FluentTable(
                name,
                columns(arity, rows),
                column_of([value for _, value, _, _ in rows], symbols),
                np.array([start for _, _, start, _ in rows]),
                np.array([end for _, _, _, end in rows]),
            )
            for name, arity, rows in fluents
        ],
        [
            EventTable(name, columns(arity, rows), np.array([time for _, _, time, _ in rows]))
            for name, arity, rows in events
        ],
    )


def rows_of(step: tuple[int | None, bool | None, list[Any], list[Any]]) -> list[AnswerRow]:
    query, added, fluents, events = step
    op = None if added is None else "+" if added else "-"
    found = []
    for name, _, rows in fluents:
        for args, value, start, end in rows:
            until = None if end == INF else end
            shown = tuple(map(plain, args))
            found.append(
                AnswerRow("fluent", name, shown, plain(value), start, until, None, query, op)
            )
    for name, _, rows in events:
        for args, _, time, _ in rows:
            shown = tuple(map(plain, args))
            found.append(AnswerRow("event", name, shown, time=time, query=query, op=op))
    return found


def sort_key(row: AnswerRow) -> tuple[object, ...]:
    """Query time, kind, name, arguments, value, start; what is taken back before what is new."""
    return (
        row.query or 0,
        row.kind,
        row.name,
        tuple(value_key(arg) for arg in row.args),
        value_key("" if row.value is None else row.value),
        row.time if row.start is None else row.start,
        row.op == "+",
        float("inf") if row.end is None else row.end,
    )


@examples("normal")
@given(given_steps())
def test_rows_are_in_order(
    listed: list[tuple[int | None, bool | None, list[Any], list[Any]]],
) -> None:
    symbols = Symbols()
    parts = [AnswerPart(part_of(f, e, symbols), query, added) for query, added, f, e in listed]
    found = answer_table(parts, symbols, lambda name, arity, is_fluent: True).rows()
    expected = sorted((row for step in listed for row in rows_of(step)), key=sort_key)
    assert list(map(repr, found)) == list(map(repr, expected))


def test_only_what_is_wanted_is_shown() -> None:
    symbols = Symbols()
    row: Rows = [([Int(1)], Constant("a"), 1, 20)]
    part = part_of([("f", 1, row), ("g", 1, row)], [("f", 1, row)], symbols)
    found = answer_table(
        [AnswerPart(part)], symbols, lambda name, arity, fluent: (name, fluent) == ("f", True)
    )
    assert [(row.kind, row.name) for row in found.rows()] == [("fluent", "f")]


@given(st.lists(tables(), max_size=3), st.lists(tables(), max_size=3))
def test_terms_come_back_from_columns(fluents: list[Any], events: list[Any]) -> None:
    symbols = Symbols()
    part = part_of(fluents, events, symbols)
    spans: dict[tuple[Term, Term], list[tuple[int, float]]] = {}
    for name, _, rows in fluents:
        for args, value, start, end in sorted(rows, key=lambda row: row[2]):
            until = float("inf") if end == INF else end
            spans.setdefault((make(name, *args), value), []).append((start, until))
    assert spans_of(part, symbols) == spans
    times: dict[Term, list[int]] = {}
    for name, _, rows in events:
        for args, _, time, _ in sorted(rows, key=lambda row: row[2]):
            times.setdefault(make(name, *args), []).append(time)
    assert events_of(part, symbols) == times


def test_a_part_is_computed_once_and_others_are_let_go() -> None:
    asked: list[str] = []

    def part(name: str) -> Part:
        asked.append(name)
        return Part()

    answer = Answer(
        10,
        Symbols(),
        [],
        {
            "window": lambda: part("window"),
            "new": lambda: part("new"),
            "gone": lambda: part("gone"),
        },
    )
    assert parts_of(answer, "windows") == [AnswerPart(Part(), 10)]
    answer.part("window")
    assert asked == ["window"]
    answer.keep(["new"])
    assert asked == ["window", "new"]
    assert answer.part("new") == Part()
    with pytest.raises(KeyError):
        answer.part("window")
