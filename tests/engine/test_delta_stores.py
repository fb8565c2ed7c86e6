"""Spans kept from query to query, their edges, and changes as they are told: against plain sets."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.engine.columns import column_of, ints, terms_of
from horai.engine.deltas import store as stores
from horai.engine.deltas.changes import exchanged
from horai.engine.deltas.edges import EdgeLog
from horai.engine.deltas.log import Log
from horai.engine.deltas.store import (
    FluentStore,
    SharedStore,
    SpanChange,
    both,
    in_regions,
    reviewed,
    since,
    without_bare_pairs,
)
from horai.engine.deltas.told import told
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World, fluent_of, no_fluent
from horai.lang.core.printer import show
from horai.lang.core.terms import Constant
from horai.temporal.spans import INF, Spans

Span = tuple[int, int]
Whole = dict[str, list[Span]]
NAMES = ("a", "b", "c")
KEY = ("f", 0)


@st.composite
def lists(draw: st.DrawFn, last: int = 12) -> list[Span]:
    """Spans that neither overlap nor touch; the last one may be open."""
    edges = sorted(draw(st.sets(st.integers(0, last), max_size=6)))
    found = list(zip(edges[::2], edges[1::2], strict=False))
    if len(edges) % 2:
        found.append((edges[-1], INF))
    return found


wholes: st.SearchStrategy[Whole] = st.dictionaries(st.sampled_from(NAMES), lists(), max_size=3)


def fluent(whole: Whole, symbols: Symbols) -> Fluent:
    """A fluent without arguments from its values."""
    rows = [(name, *span) for name, spans in whole.items() for span in spans]
    if not rows:
        return no_fluent(1)
    value = column_of([Constant(name) for name, _, _ in rows], symbols)
    start, end = (np.array([row[i] for row in rows], np.int64) for i in (1, 2))
    return fluent_of((value,), start, end, len(rows), symbols)


def listed(pairs: Relation, spans: Spans, symbols: Symbols) -> set[tuple[str, int, int]]:
    """Spans with their values."""
    values = [show(term) for term in terms_of(pairs.columns[0], symbols)]
    rows = zip(spans.key.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    return {(values[key], start, end) for key, start, end in rows}


def spread(whole: Whole) -> set[tuple[str, int, int]]:
    """All spans of a fluent."""
    return {(name, *span) for name, spans in whole.items() for span in spans}


def sides(change: SpanChange, symbols: Symbols) -> list[set[tuple[str, int, int]]]:
    """What is gone and what is new."""
    return [listed(change.pairs, side, symbols) for side in (change.gone, change.new)]


def ordered(spans: Spans) -> bool:
    """Are spans sorted by row and start?"""
    rows = list(zip(spans.key.tolist(), spans.start.tolist(), strict=True))
    return rows == sorted(rows)


# --- stores --------------------------------------------------------------------------------------


@given(st.lists(wholes, max_size=4))
def test_a_store_tells_how_it_differs_from_before(versions: list[Whole]) -> None:
    symbols = Symbols()
    store = FluentStore(no_fluent(1), symbols)
    before: set[tuple[str, int, int]] = set()
    for version in versions:
        change = store.replace(fluent(version, symbols))
        now = spread(version)
        assert sides(change, symbols) == [before - now, now - before]
        assert listed(store.fluent.pairs, store.fluent.spans, symbols) == now
        assert ordered(store.fluent.spans)
        public = store.public()
        assert listed(public.pairs, public.spans, symbols) == now
        assert public.pairs.rows == len({name for name, _, _ in now})
        before = now


@given(wholes, wholes)
def test_pieces_are_the_time_that_changed(one: Whole, other: Whole) -> None:
    symbols = Symbols()
    store = FluentStore(no_fluent(1), symbols)
    store.replace(fluent(one, symbols))
    change = store.replace(fluent(other, symbols))
    pieces = Fluent(change.pairs, change.pieces)
    for row, term in enumerate(terms_of(change.pairs.columns[0], symbols)):
        for time in range(15):
            differs = holds(one, show(term), time) != holds(other, show(term), time)
            assert pieces.holds(np.array([row]), np.array([time]))[0] == differs


def holds(whole: Whole, name: str, time: int) -> bool:
    """Does a value hold at a time?"""
    return any(start <= time < end for start, end in whole.get(name, []))


@given(wholes, st.integers(0, 14))
def test_what_is_over_is_forgotten_and_rows_move_when_many_are_bare(
    whole: Whole, until: int
) -> None:
    symbols = Symbols()
    store = FluentStore(fluent(whole, symbols), symbols)
    pairs = store.fluent.pairs.rows
    left = {(name, start, end) for name, start, end in spread(whole) if end > until}
    with patch.object(stores, "MANY", 0):
        moved = store.forget(until)
    assert listed(store.fluent.pairs, store.fluent.spans, symbols) == left
    bare = pairs - len({name for name, _, _ in left})
    assert moved == (2 * bare > pairs)
    assert store.fluent.pairs.rows == (pairs - bare if moved else pairs)


@given(wholes, wholes, wholes, wholes)
def test_a_shared_store_is_all_that_its_makers_say(
    one: Whole, other: Whole, one_now: Whole, other_now: Whole
) -> None:
    symbols = Symbols()
    shared = SharedStore(no_fluent(1), symbols)
    parts = [FluentStore(no_fluent(1), symbols) for _ in range(2)]

    def said(maker: int, whole: Whole) -> SpanChange:
        mine = {name: spans for name, spans in whole.items() if (name == "c") == bool(maker)}
        return shared.take(maker, parts[maker].replace(fluent(mine, symbols)))

    said(0, one), said(1, other)
    before = listed(shared.fluent.pairs, shared.fluent.spans, symbols)
    change = both(said(0, one_now), said(1, other_now))
    now = {row for row in spread(one_now) if row[0] != "c"}
    now |= {row for row in spread(other_now) if row[0] == "c"}
    assert listed(shared.fluent.pairs, shared.fluent.spans, symbols) == now
    assert sides(change, symbols) == [before - now, now - before]
    assert ordered(change.gone) and ordered(change.new) and ordered(shared.fluent.spans)
    assert not shared.clashes


def test_a_shared_store_notes_when_two_makers_say_the_same_pair() -> None:
    symbols = Symbols()
    shared = SharedStore(no_fluent(1), symbols)
    for maker, span in enumerate([(1, 3), (5, 8)]):
        part = FluentStore(no_fluent(1), symbols)
        shared.take(maker, part.replace(fluent({"a": [span]}, symbols)))
    assert shared.clashes


masks = st.fixed_dictionaries({name: st.booleans() for name in NAMES})


@given(wholes, wholes, masks, masks)
def test_changes_are_seen_by_those_who_know_only_some_pairs(
    old: Whole, new: Whole, known: dict[str, bool], knows: dict[str, bool]
) -> None:
    symbols = Symbols()
    store = FluentStore(no_fluent(1), symbols)
    store.replace(fluent(old, symbols))
    change = store.replace(fluent(new, symbols))
    names = [show(term) for term in terms_of(store.fluent.pairs.columns[0], symbols)]
    before, now = (np.array([who[name] for name in names], np.bool_) for who in (known, knows))
    found = reviewed(change, store.fluent.spans, before, now)
    was = {row for row in spread(old) if known[row[0]]}
    is_ = {row for row in spread(new) if knows[row[0]]}
    gone, came = sides(found, symbols)
    assert (was - gone) | came == is_
    assert gone <= was
    assert came <= is_
    assert ordered(found.gone) and ordered(found.new)


@given(wholes, st.integers(0, 13), st.integers(0, 14))
def test_spans_in_a_region_but_for_what_goes_on_after_it(whole: Whole, low: int, high: int) -> None:
    symbols = Symbols()
    known = fluent(whole, symbols)
    rows = np.arange(known.pairs.rows)
    end = INF if high == 14 else high
    found = in_regions(known, rows, np.full(len(rows), low), np.full(len(rows), end))
    wanted = {
        (name, a, b)
        for name, a, b in spread(whole)
        if b > low and a < end and (b <= end or end == INF)
    }
    assert listed(known.pairs, known.spans.where(found), symbols) == wanted
    there, begun = since(known, rows, np.full(len(rows), low))
    values = [show(term) for term in terms_of(known.pairs.columns[0], symbols)] if len(rows) else []
    for name, holding, start in zip(values, there.tolist(), begun.tolist(), strict=True):
        assert holding == holds(whole, name, low)
        assert not holding or any(a == start and a <= low < b for a, b in whole[name])


# --- edges ---------------------------------------------------------------------------------------


@examples("light")
@given(st.lists(wholes, min_size=1, max_size=5), st.sampled_from(["start", "end"]), st.data())
def test_edges_come_and_go_with_spans(
    versions: list[Whole], kind: str, data: st.DataObject
) -> None:
    symbols = Symbols()
    tick = data.draw(st.sampled_from([1, 3]))
    store = FluentStore(no_fluent(1), symbols)
    edges = EdgeLog(kind, KEY, symbols)
    before: list[tuple[str, int]] = []
    for place, version in enumerate(versions):
        aligned = {n: [_scaled(span, tick) for span in spans] for n, spans in version.items()}
        change = store.replace(fluent(aligned, symbols))
        world = World(symbols, tick, 0, 4 * tick * (place + 1))
        world.add_fluent(KEY, without_bare_pairs(store.fluent))
        found = edges.step(change, world) if place else edges.build(world)
        now = points(edges.log.whole().table, symbols)
        assert now == points(world.scan(kind, KEY), symbols)
        if found is not None:
            left = [one for one in before if one not in points(found.gone, symbols)]
            assert sorted([*left, *points(found.new, symbols)]) == now
        else:
            assert now == before
        before = now


def _scaled(span: Span, tick: int) -> Span:
    start, end = span
    return start * tick, INF if end == INF else end * tick


def points(table: Relation, symbols: Symbols) -> list[tuple[str, int]]:
    """Values and times."""
    names = [show(term) for term in terms_of(table.columns[0], symbols)]
    return sorted(zip(names, table.columns[-1].data.tolist(), strict=True))


# --- what is told --------------------------------------------------------------------------------

happened = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 5)), max_size=8)


@given(happened, happened, st.data())
def test_events_are_told_once_however_often_they_happen(
    old: list[tuple[str, int]], new: list[tuple[str, int]], data: st.DataObject
) -> None:
    symbols = Symbols()

    def table(rows: list[tuple[str, int]]) -> Relation:
        names = column_of([Constant(name) for name, _ in rows], symbols)
        return Relation((names, ints(np.array([t for _, t in rows], np.int64))), len(rows))

    log = Log(table([]), symbols)
    numbers = log.add(table(old))
    out = data.draw(st.sets(st.sampled_from(range(len(old))))) if old else set()
    change = exchanged(log, numbers[sorted(out)], table(new))
    name = ("event", ("e", 1))
    gone, came = told({name: change}, {name: log}, None)
    left = {one for place, one in enumerate(old) if place not in out}
    now = left | set(new)
    for side, wanted in ((gone, set(old) - now), (came, now - set(old))):
        rows = side.get(name)
        names = [] if rows is None else [show(t) for t in terms_of(rows.columns[0], symbols)]
        found = [] if rows is None else list(zip(names, rows.start.tolist(), strict=True))
        assert sorted(found) == sorted(wanted)


def test_only_what_is_shown_is_told() -> None:
    symbols = Symbols()
    store = FluentStore(no_fluent(1), symbols)
    change = store.replace(fluent({"a": [(2, 5)]}, symbols))
    name, hidden = ("fluent", KEY), ("fluent", ("g", 0))
    gone, new = told({name: change, hidden: change, ("start", KEY): change}, {}, [name])
    assert (list(gone), list(new)) == ([], [name])
    assert (new[name].start.tolist(), len(new[name])) == ([2], 1)
