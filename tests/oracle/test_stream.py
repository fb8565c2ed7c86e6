"""Which items count: lateness, waiting, partial intervals, retractions, reasons."""

from __future__ import annotations

from tests.oracle.story import Held, describe, held, outputs, queries, show, story

from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import OracleSession, RefusalReason, RefusedItem

RULES = """
initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
"""
INPUT = """
collectIntervals(i(_)=true).
holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I).
"""


def answers(
    items: str, window: int, step: int = 10, until: int = 30
) -> list[list[tuple[int, float]]]:
    """The intervals of the only output pair, query by query."""
    rules = INPUT if "i(" in items else RULES
    found = outputs(rules, items, until=until, window=window, step=step)
    return [next(iter(answer.values()), []) for answer in found]


def dropped(items: str, *, window: int | None, until: int = 30, start: int = 0) -> list[str]:
    """Item, reason and query time of everything that was not used in full."""
    session = OracleSession(describe(RULES + INPUT), start=start, window=window)
    found: list[RefusedItem] = []
    waiting = story(items)
    for query in range(start + 10, until + 1, 10):
        found += session.advance(query, waiting).dropped
        waiting = []
    found += session.finish()
    return [f"{show(d.item.entity)} {d.item.start} {d.reason.value} {d.query}" for d in found]


# --- lateness ------------------------------------------------------------------------------------


def test_a_late_item_counts_while_the_window_covers_it() -> None:
    assert answers("a(x) 5; b(x) 8 arrives 13", window=20) == [[(6, INF)], [(6, 9)], []]


def test_an_item_later_than_the_window_is_not_used() -> None:
    items = "a(x) 5; b(x) 8 arrives 13"
    assert answers(items, window=10) == [[(6, INF)]] * 3
    assert dropped(items, window=10) == ["b(x) 8 too-late 20"]


def test_the_border_of_the_window_is_outside() -> None:
    # At 20 the window of 12 begins after 8.
    assert dropped("a(x) 8 arrives 15; a(y) 9 arrives 15", window=12) == ["a(x) 8 too-late 20"]


def test_an_item_is_judged_at_the_first_query_after_its_arrival() -> None:
    # It arrives at 10, so it counts at 10 although no later window covers it.
    assert answers("a(x) 1 arrives 10", window=10) == [[(2, INF)]] * 3
    assert dropped("a(x) 1 arrives 11", window=10) == ["a(x) 1 too-late 20"]


def test_without_a_window_nothing_is_too_late() -> None:
    assert dropped("a(x) 1 arrives 29; a(y) 2", window=None) == []


def test_steps_longer_than_the_window_lose_items() -> None:
    # Queries at 10, 20, 30 with a window of 4: what lies in (0,6] is never covered.
    assert dropped("a(x) 5; a(y) 8", window=4) == ["a(x) 5 too-late 10"]


def test_items_at_or_before_the_start_are_outside_the_run() -> None:
    assert dropped("a(x) 0; a(y) -5; a(z) 1", window=None) == [
        "a(y) -5 outside-run 10",
        "a(x) 0 outside-run 10",
    ]
    assert dropped("a(x) 100; a(y) 101", window=10, start=100, until=120) == [
        "a(x) 100 outside-run 110"
    ]


# --- waiting -------------------------------------------------------------------------------------


def test_items_of_the_future_wait() -> None:
    assert answers("a(x) 15 arrives 5", window=10) == [[], [(16, INF)], [(16, INF)]]


def test_a_waiting_item_may_be_overtaken_by_the_window() -> None:
    # At 10 it lies in the future; at 20 the window of 4 begins after 16.
    assert dropped("a(x) 15 arrives 5", window=4) == ["a(x) 15 too-late 20"]


def test_what_never_came_to_count_is_reported_at_the_end() -> None:
    assert dropped("a(x) 40; a(y) 5 arrives 31; a(z) 35 arrives 2", window=10) == [
        "a(z) 35 outside-run 30",
        "a(y) 5 outside-run 30",
        "a(x) 40 outside-run 30",
    ]


# --- intervals -----------------------------------------------------------------------------------


def test_an_interval_keeps_its_part_inside_the_window() -> None:
    # [5,25) arrives at 18: at 20 the window of 10 begins after 10.
    items = "i(x)=true 5-25 arrives 18"
    assert answers(items, window=10) == [[], [(11, 25)], [(11, 25)]]
    assert dropped(items, window=10) == ["i(x) 5 partly-too-late 20"]


def test_an_interval_that_is_over_is_too_late() -> None:
    assert dropped("i(x)=true 5-11 arrives 18", window=10) == ["i(x) 5 too-late 20"]
    assert dropped("i(x)=true 5-12 arrives 18", window=10) == ["i(x) 5 partly-too-late 20"]


def test_an_interval_that_starts_before_the_run_keeps_the_rest() -> None:
    assert answers("i(x)=true -5-8", window=30) == [[(1, 8)]] * 3


def test_an_interval_that_was_known_in_time_stays_whole() -> None:
    # It arrives when it starts; later windows see its true start.
    assert answers("i(x)=true 5-25", window=10) == [[(5, 25)]] * 3


def test_what_comes_late_joins_what_is_known() -> None:
    items = "i(x)=true 5-8; i(x)=true 8-13 arrives 12"
    assert answers(items, window=20) == [[(5, 8)], [(5, 13)], [(5, 13)]]


# --- retractions ---------------------------------------------------------------------------------


def test_a_retraction_takes_back_one_equal_item() -> None:
    items = "a(x) 5; a(x) 5; b(x) 8; -a(x) 5 arrives 12; -b(x) 8 arrives 12"
    # One of two equal items is left.
    assert answers(items, window=30) == [[(6, 9)], [(6, INF)], [(6, INF)]]
    assert answers(items + "; -a(x) 5 arrives 22", window=30)[2] == []


def test_a_retraction_needs_an_item_that_arrived_before() -> None:
    items = "-a(x) 5 arrives 6; a(x) 5 arrives 7"
    assert answers(items, window=30) == [[(6, INF)]] * 3
    assert dropped(items, window=30) == ["a(x) 5 unknown-retraction 10"]
    assert dropped("-a(x) 5 arrives 6; a(x) 5 arrives 6", window=30) == []  # no later is enough
    assert dropped("a(x) 5; -a(y) 5 arrives 8", window=30) == ["a(y) 5 unknown-retraction 10"]


def test_a_retraction_of_another_value_or_end_is_unknown() -> None:
    items = "i(x)=true 5-9; -i(x)=true 5-8 arrives 7; -i(x)=false 5-9 arrives 7"
    assert dropped(items, window=30) == ["i(x) 5 unknown-retraction 10"] * 2


def test_a_retraction_can_be_too_late() -> None:
    items = "a(x) 5; -a(x) 5 arrives 17"
    assert answers(items, window=10) == [[(6, INF)]] * 3
    assert dropped(items, window=10) == ["a(x) 5 too-late 20"]


def test_a_retraction_takes_back_what_is_not_final_yet() -> None:
    # Known at 10; at 20 the window of 10 begins after 10: (5,11) is final, the rest goes.
    items = "i(x)=true 5-25; -i(x)=true 5-25 arrives 17"
    first, second, _ = queries(INPUT, items, until=30, window=10, step=10)
    assert held(first.all_spans)["h(x)=true"] == [(5, 25)]
    assert held(second.all_spans)["h(x)=true"] == [(5, 11)]
    assert held(second.spans) == {}  # its last point, 10, is not after the border
    assert dropped(items, window=10) == ["i(x) 5 partly-too-late 20"]


def test_a_retraction_of_an_interval_that_was_cut() -> None:
    # Used from 11 on since 20; taken back at 30, when the window of 15 begins after 15.
    items = "i(x)=true 5-25 arrives 28; -i(x)=true 5-25 arrives 29"
    found = outputs(INPUT, items, until=30, window=15, step=10)
    assert found[2] == {}
    items = "i(x)=true 5-35 arrives 18; -i(x)=true 5-35 arrives 28"
    found = outputs(INPUT, items, until=30, window=10, step=10)
    assert found[1:] == [{"h(x)=true": [(11, 35)]}, {}]
    # At 30 the part up to 20 is final; it has no point after 20.
    session = OracleSession(describe(INPUT), window=10)
    session.advance(20, story(items))
    assert held(session.advance(30).all_spans)["h(x)=true"] == [(11, 21)]


def test_a_waiting_item_can_be_taken_back() -> None:
    items = "a(x) 25 arrives 5; -a(x) 25 arrives 12"
    assert answers(items, window=30) == [[], [], []]
    assert dropped(items, window=30) == []
    # One of two is left.
    assert answers("a(x) 25 arrives 4; " + items, window=30)[2] == [(26, INF)]


def test_an_unknown_retraction_of_the_future_is_reported_at_once() -> None:
    items = "-a(x) 25 arrives 5; a(x) 25 arrives 8"
    assert dropped(items, window=30) == ["a(x) 25 unknown-retraction 10"]
    assert answers(items, window=30)[2] == [(26, INF)]


def test_a_revision_is_a_retraction_and_an_insertion() -> None:
    items = "a(x) 5; b(x) 12; -b(x) 12 arrives 18; b(x) 14 arrives 18"
    found: list[Held] = outputs(RULES, items, until=20, window=20, step=20)
    assert found == [{"f(x)=true": [(6, 15)]}]


# --- reasons -------------------------------------------------------------------------------------


def test_reasons_are_sentences_and_tags_come_back() -> None:
    session = OracleSession(describe(RULES), window=10)
    items = story("a(x) 5; a(x) 0; b(x) 8 arrives 13; -b(y) 15 arrives 16; a(x) 50")
    tagged = [
        type(i)(i.entity, i.value, i.start, i.end, i.arrival, i.retract, n)
        for n, i in enumerate(items)
    ]
    found = session.advance(10, tagged).dropped + session.advance(20).dropped + session.finish()
    assert [(d.item.tag, d.reason, d.text) for d in found] == [
        (1, RefusalReason.OUTSIDE_RUN, "it lies at or before the start of the run, 0"),
        (2, RefusalReason.TOO_LATE, "it lies at or before 10, where the window at 20 begins"),
        (3, RefusalReason.UNKNOWN_RETRACTION, "nothing equal to it has arrived before"),
        (4, RefusalReason.OUTSIDE_RUN, "it arrives or happens after the end of the run, 20"),
    ]
