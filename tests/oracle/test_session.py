"""Answers at query times: windows, changes, and the questions a run refuses."""

from __future__ import annotations

import pytest
from tests.oracle.story import describe, happened, held, queries, show, story

from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import OracleAnswer, OracleSession

RULES = """
initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
happensAt(o(X),T) :- happensAt(start(f(X)=true),T).
"""


def changes(answer: OracleAnswer) -> dict[str, list[str]]:
    """The changelog as text."""
    spans = {
        "+": [f"{show(f)}={show(v)} {i}" for f, v, i in answer.new_spans],
        "-": [f"{show(f)}={show(v)} {i}" for f, v, i in answer.gone_spans],
    }
    points = {
        "+": [f"{show(e)} {t}" for e, t in answer.new_events if show(e).startswith("o")],
        "-": [f"{show(e)} {t}" for e, t in answer.gone_events if show(e).startswith("o")],
    }
    return {sign: spans[sign] + points[sign] for sign in "+-"}


def test_an_interval_is_shown_with_its_true_start_while_it_reaches_into_the_window() -> None:
    answers = list(queries(RULES, "a(x) 5; b(x) 35", until=50, window=10, step=10))
    assert [held(answer.spans) for answer in answers] == [
        {"f(x)=true": [(6, INF)]},
        {"f(x)=true": [(6, INF)]},
        {"f(x)=true": [(6, INF)]},
        {"f(x)=true": [(6, 36)]},
        {},
    ]
    assert [happened(answer.events) for answer in answers[:2]] == [{"a(x)": [5], "o(x)": [5]}, {}]
    assert held(answers[4].all_spans) == {"f(x)=true": [(6, 36)]}


def test_an_interval_with_no_point_after_the_border_is_not_shown() -> None:
    # (6,11) has the last point 10. At 20 the window of 10 begins after 10, that of 11 after 9.
    for window, shown in ((10, {}), (11, {"f(x)=true": [(6, 11)]})):
        *_, last = queries(RULES, "a(x) 5; b(x) 10", until=20, window=window, step=10)
        assert held(last.spans) == shown


def test_an_event_at_the_border_is_outside_the_window() -> None:
    *_, last = queries(RULES, "a(x) 10; a(y) 11", until=20, window=10, step=10)
    assert happened(last.events) == {"a(y)": [11], "o(y)": [11]}


def test_a_start_is_seen_once_although_the_interval_spans_windows() -> None:
    answers = list(queries(RULES, "a(x) 5; b(x) 25", until=30, window=10, step=10))
    assert happened(answers[-1].all_events)["o(x)"] == [5]


def test_the_changelog() -> None:
    items = "a(x) 5; b(x) 8 arrives 15; -a(x) 5 arrives 25"
    first, second, third, fourth = queries(RULES, items, until=40, window=30, step=10)
    assert changes(first) == {"+": ["f(x)=true (6, inf)", "o(x) 5"], "-": []}
    assert changes(second) == {"+": ["f(x)=true (6, 9)"], "-": ["f(x)=true (6, inf)"]}
    assert changes(third) == {"+": [], "-": ["f(x)=true (6, 9)", "o(x) 5"]}
    assert changes(fourth) == {"+": [], "-": []}


def test_leaving_the_window_is_no_change() -> None:
    *_, last = queries(RULES, "a(x) 5; b(x) 8", until=40, window=10, step=10)
    assert changes(last) == {"+": [], "-": []}


def test_growing_older_can_be_a_change() -> None:
    rules = RULES + "holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,I1), intDurGreater(I1,10,I).\n"
    first, second = queries(rules, "a(x) 5", until=20, step=10)
    assert changes(first)["+"] == ["f(x)=true (6, inf)", "o(x) 5"]
    assert changes(second) == {"+": ["h(x)=true (6, inf)"], "-": []}


def test_query_times_must_grow() -> None:
    session = OracleSession(describe(RULES))
    session.advance(10)
    with pytest.raises(ValueError, match="10 is not after 10"):
        session.advance(10)


def test_query_times_need_no_fixed_step() -> None:
    session = OracleSession(describe(RULES), window=10)
    assert held(session.advance(3, story("a(x) 2; b(x) 9")).spans) == {"f(x)=true": [(3, INF)]}
    assert held(session.advance(17).spans) == {"f(x)=true": [(3, 10)]}


def test_outputs_are_what_rules_define() -> None:
    session = OracleSession(describe(RULES))
    (item,) = story("a(x) 2")
    assert not session.is_output(item.entity, is_fluent=False)
    assert session.is_output(story("o(x) 2")[0].entity, is_fluent=False)
    assert session.is_output(story("f(x) 2")[0].entity, is_fluent=True)
    assert not session.is_output(story("f(x) 2")[0].entity, is_fluent=False)
