"""The stream of columns: what callers rely on besides the meaning, which random runs compare."""

from __future__ import annotations

import pickle

import numpy as np
from tests.engine.itemtables import batches, row, seen

from horai import io
from horai.engine.admission import Stream
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Constant, Int, Term, make
from horai.oracle.ec.session import OracleItem

ON = Constant("on")


def e(
    time: int, who: Term | str = "x", arrival: int | None = None, retract: bool = False
) -> OracleItem:
    thing = Constant(who) if isinstance(who, str) else who
    return OracleItem(make("e", thing), None, time, time, arrival or time, retract)


def f(start: int, end: float, arrival: int | None = None, retract: bool = False) -> OracleItem:
    return OracleItem(make("f", Constant("x")), ON, start, end, arrival or start, retract)


def feed(stream: Stream, query: int, *items: OracleItem) -> list[str]:
    """Hand in items; lines count from 1."""
    rows = [row(item, line) for line, item in enumerate(items, 1)]
    dropped = stream.admit(batches(rows, stream.symbols, stream.tick), query)
    return [f"{d.file} {d.line} {d.reason}" for d in dropped]


def times(stream: Stream) -> list[int]:
    return sorted(stream.events(("e", 1))["start"].tolist())


def new_stream(window: int | None = None) -> Stream:
    return Stream(Symbols(), 1, 0, window)


def test_a_retraction_takes_one_of_equal_items() -> None:
    stream = new_stream()
    feed(stream, 10, e(5), e(5), e(6))
    assert feed(stream, 20, e(5, arrival=12, retract=True)) == []
    assert times(stream) == [5, 6]


def test_the_second_of_two_equal_retractions_is_the_unknown_one() -> None:
    taken = e(5, arrival=7, retract=True)
    assert feed(new_stream(), 10, taken, e(5), taken) == ["day.txt 3 unknown-retraction"]


def test_of_equal_items_that_wait_the_first_is_taken_back() -> None:
    stream = new_stream()
    feed(stream, 10, e(50, arrival=2), e(50, arrival=1), e(50, arrival=3, retract=True))
    assert [dropped.line for dropped in stream.left_over(10)] == [1]


def test_before_the_start_of_the_run_retractions_look_for_what_waits() -> None:
    stream = Stream(Symbols(), 1, 12, None)
    assert feed(stream, 5, e(8, arrival=2), e(8, arrival=3, retract=True)) == []
    assert stream.left_over(5) == []


def test_of_equal_items_that_count_the_last_admitted_is_taken_back() -> None:
    stream = new_stream(window=10)
    feed(stream, 10, f(5, 30, arrival=7))
    feed(stream, 18, f(5, 30, arrival=6))  # cut: it begins at 9
    assert feed(stream, 18, f(5, 30, arrival=15, retract=True)) == []
    assert stream.fluents(("f", 1))["start"].tolist() == [5]


def test_a_dropped_item_leads_back_to_its_row() -> None:
    stream = new_stream(window=5)
    rows = [row(e(9), 1), row(e(2, "y", arrival=8), 2)]
    (dropped,) = stream.admit(batches(rows, stream.symbols, 1), 10)
    assert (dropped.file, dropped.line, dropped.reason) == ("day.txt", 2, "too-late")
    one = dropped.item
    table = io.ItemTable(one.name, one.arity, one.kind, one.form, one.table)
    assert list(table.items()) == [rows[1]]


def test_waiting_items_lead_back_to_their_rows_after_a_restart() -> None:
    stream = new_stream()
    feed(stream, 10, e(5), e(50, "y"), f(60, 70))
    state = pickle.loads(pickle.dumps(stream.to_state()))
    loaded = Stream.from_state(state, stream.symbols)
    assert [(d.line, d.origin.name) for d in loaded.left_over(10)] == [(2, "e"), (3, "f")]
    assert loaded.left_over(10)[0].origin.table.num_rows == 1
    feed(loaded, 55)
    assert times(loaded) == [5, 50]


def test_a_saved_stream_has_no_terms_in_it() -> None:
    stream = new_stream()
    feed(stream, 10, e(5), e(50, "y"), f(6, 70))
    assert b"horai.lang" not in pickle.dumps(stream.to_state())


def test_keys_are_those_of_what_occurs() -> None:
    stream = new_stream(window=10)
    assert (stream.keys("event"), len(stream.events(("e", 1))["start"])) == ([], 0)
    feed(stream, 10, e(5), f(6, 8))
    assert (stream.keys("event"), stream.keys("fluent")) == ([("e", 1)], [("f", 1)])
    feed(stream, 30)
    stream.forget({})
    assert (stream.keys("event"), stream.keys("fluent")) == ([], [])


def test_forgetting_keeps_what_is_asked_for_and_what_can_be_taken_back() -> None:
    stream = new_stream(window=10)
    feed(stream, 10, e(3), e(5), e(10))
    feed(stream, 18)
    stream.forget({("e", 1): 4})
    assert times(stream) == [5, 10]
    stream.forget({("e", 1): 100})  # the border is 8
    assert times(stream) == [10]
    assert feed(stream, 19, e(10, arrival=19, retract=True)) == []
    assert times(stream) == []


def test_the_final_part_of_a_retracted_interval_is_forgotten_when_nobody_needs_it() -> None:
    stream = new_stream(window=10)
    feed(stream, 10, f(5, 30))
    assert feed(stream, 18, f(5, 30, arrival=15, retract=True)) == ["day.txt 1 partly-too-late"]
    stream.forget({})
    assert seen(stream) == [(make("f", Constant("x")), ON, 5, 9)]
    feed(stream, 19)
    stream.forget({("f", 1): 8})
    assert stream.keys("fluent") == [("f", 1)]
    stream.forget({})
    assert stream.keys("fluent") == []


def test_forgetting_gives_memory_back() -> None:
    stream = new_stream(window=10)
    feed(stream, 100, *(e(91 + i % 10) for i in range(1000)))
    feed(stream, 109, e(105))
    stream.forget({})
    rows = stream.events(("e", 1))
    assert len(rows["start"]) == 101
    for data in (rows["start"], rows.terms[0].data):
        assert data.base is None or data.base.nbytes == data.nbytes


def test_sources_are_let_go_when_none_of_their_rows_waits() -> None:
    stream = new_stream()
    feed(stream, 10, e(5), e(15))
    feed(stream, 12, e(11))
    assert len(stream.left_over(12)) == len(stream._origins._sources) == 1
    feed(stream, 20)
    assert not stream.left_over(20)
    assert not stream._origins._sources


def test_columns_of_different_kinds_meet() -> None:
    stream = new_stream()
    feed(stream, 10, e(5, Int(1)), e(6, Int(2)))
    feed(stream, 20, e(15, "x"), e(6, Int(2), arrival=16, retract=True))
    feed(stream, 30, e(5, Int(1), arrival=25, retract=True))
    assert [occurrence[0] for occurrence in seen(stream)] == [make("e", Constant("x"))]


def test_many_equal_items_and_retractions_take_little_time() -> None:
    stream = new_stream()
    copies, late = [e(5, arrival=9)] * 20_000, [e(5, arrival=8, retract=True)] * 10_000
    feed(stream, 10, *copies)
    # They arrived before all copies: none may be taken, and none is looked at again and again.
    assert len(feed(stream, 20, *late)) == 10_000
    assert len(feed(stream, 30, *[e(5, arrival=25, retract=True)] * 20_000)) == 0
    assert np.array_equal(stream.events(("e", 1))["start"], [])
