"""Changes of span relations are those of sets of points."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import (
    Held,
    Row,
    held,
    maximal,
    raw_spans,
    relation,
    rows_of,
    span_rows,
)

from horai.temporal.changes import Change, difference, no_change
from horai.temporal.spans import FIRST, INF, no_spans
from horai.temporal.toggled import toggled
from horai.temporal.touched import spliced, touching

many_keys = span_rows(list(range(-3, 9)), 1)
lists = raw_spans | many_keys
Rows = list[Row]


def change_of(old: Held, new: Held) -> tuple[Rows, Rows]:
    return maximal(old - new), maximal(new - old)


def rows_of_change(change: Change) -> tuple[Rows, Rows]:
    return rows_of(change.gone), rows_of(change.new)


@given(lists, lists)
def test_touching_rows_are_those_that_a_union_would_merge(rows: Rows, where: Rows) -> None:
    spans, region = relation(rows), relation(where)
    first, after = touching(spans, region)
    picked = [r for f, a in zip(first, after, strict=True) for r in range(f, a)]
    places = rows_of(region)
    touched = [
        i
        for i, (key, start, end) in enumerate(rows_of(spans))
        if any(k == key and s <= end and start <= e for k, s, e in places)
    ]
    assert picked == touched
    kept = [row for i, row in enumerate(rows_of(spans)) if i not in touched]
    assert rows_of(spliced(spans, first, after, no_spans())) == kept


@given(lists, lists)
def test_difference_is_the_symmetric_one(old: Rows, new: Rows) -> None:
    change = difference(relation(old), relation(new))
    assert rows_of_change(change) == change_of(held(old), held(new))
    assert rows_of(change.region()) == maximal(held(old) ^ held(new))


@given(lists, lists)
def test_applying_the_difference_gives_the_new_list(old: Rows, new: Rows) -> None:
    before, now = relation(old), relation(new)
    change = difference(before, now)
    found = toggled(before, change)
    assert rows_of(found.spans) == maximal(held(new))
    first, after = touching(before, change.region())
    rows = rows_of(before)
    touched = [rows[r] for f, a in zip(first, after, strict=True) for r in range(f, a)]
    assert rows_of(found.gone) == touched
    assert rows_of(found.new) == maximal((held(touched) | held(new) - held(old)) & held(new))


def test_adjacent_spans_become_one_and_one_falls_apart() -> None:
    old = relation([(1, 0, 4), (1, 6, 9), (2, 0, INF), (3, 5, 6)])
    change = Change(relation([(2, 3, 5)]), relation([(1, 4, 6), (3, 6, INF), (4, 1, 2)]))
    new = [(1, 0, 9), (2, 0, 3), (2, 5, INF), (3, 5, INF), (4, 1, 2)]
    assert rows_of(toggled(old, change).spans) == new
    assert rows_of(toggled(relation(new), Change(change.new, change.gone)).spans) == rows_of(old)


def test_the_ends_of_time_are_times_like_others() -> None:
    old = relation([(0, FIRST, FIRST + 2), (0, INF - 1, INF), (1, FIRST, INF)])
    new = relation([(0, FIRST, INF), (1, FIRST + 1, INF - 1), (2, INF - 1, INF)])
    change = difference(old, new)
    assert rows_of(change.gone) == [(1, FIRST, FIRST + 1), (1, INF - 1, INF)]
    assert rows_of(change.new) == [(0, FIRST + 2, INF - 1), (2, INF - 1, INF)]
    assert rows_of(toggled(old, change).spans) == rows_of(new)
    assert rows_of(toggled(new, Change(change.new, change.gone)).spans) == rows_of(old)


def test_nothing_in_nothing_out() -> None:
    nothing, some = no_spans(), relation([(1, 2, 3)])
    assert rows_of_change(difference(nothing, some)) == ([], [(1, 2, 3)])
    assert rows_of_change(difference(some, nothing)) == ([(1, 2, 3)], [])
    assert rows_of(toggled(some, no_change()).spans) == [(1, 2, 3)]


@given(st.data())
def test_a_change_of_nothing_leaves_everything(data: st.DataObject) -> None:
    spans = relation(data.draw(lists))
    assert len(difference(spans, spans)) == 0
