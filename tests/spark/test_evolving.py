"""Streams that go on with other rules, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.spark.streaming import Driver

import horai
from horai.errors import UsageError
from horai.io import AnswerRow

SLOW = """
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
"""
CLOSE = """
collectIntervals(close(_, _)=true).
holdsFor(meeting(V1, V2)=true, I) :-
    holdsFor(close(V1, V2)=true, C), holdsFor(slow(V1)=true, S1), holdsFor(slow(V2)=true, S2),
    intersect_all([C, S1, S2], I).
"""
FAST = """
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S > 7.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, S), T), S =< 7.
"""
LONG = """
holdsFor(long(V)=true, I) :- holdsFor(slow(V)=true, J), intDurGreater(J, 10, I).
fi(slow(V)=true, slow(V)=false, 25).
"""
SETTINGS: dict[str, Any] = {"start": 0, "window": 20, "step": 10}
FIRST = [
    *("velocity|1|1|ann|2", "velocity|2|2|bob|1", "close|5|5|inf|true|ann|bob"),
    *("velocity|24|24|bob|9", "velocity|36|36|cat|8", "velocity|41|41|dan|3"),
]
THEN = [
    "velocity|44|44|ann|9",
    "velocity|47|46|bob|2",
    "velocity|48|35|eve|9",
    "velocity|62|62|x|1",
]


def changed(old: str, new: str, folder: Path, buckets: int = 2) -> list[AnswerRow]:
    """What is said after the rules have changed."""
    driver = Driver(horai.loads(old), folder / "c", SETTINGS, 2)
    driver.take(0, FIRST)
    assert driver.told.queries == [10, 20, 30, 40]
    driver.told.changes.clear()
    driver.rules = horai.loads(new)
    driver.resize(buckets)
    driver.take(1, THEN)
    assert driver.told.queries == [10, 20, 30, 40, 50, 60]
    return driver.told.changes


def shown(rows: list[AnswerRow], *names: str) -> list[str]:
    return [
        f"{row.query} {row.op} {row.name}({','.join(map(str, row.args))}) {row.start} {row.end}"
        for row in rows
        if row.name in names
    ]


def test_the_same_rules_give_the_same_answers(tmp_path: Path) -> None:
    assert shown(changed(SLOW, SLOW, tmp_path), "slow") == [
        *("50 - slow(ann) 2 None", "50 + slow(ann) 2 45", "50 + slow(bob) 47 None"),
        "50 + slow(dan) 42 None",
    ]


@pytest.mark.parametrize("buckets", [2, 3])
def test_what_is_added_begins_with_the_window_and_the_rest_goes_on(
    tmp_path: Path, buckets: int
) -> None:
    """At 40 the window began at 20: what was told of bob at 24 is looked at again, with new rules.

    Those who are fast since 36 and 24 are known at once; ann is slow since 2, as she was.
    """
    old, new = SLOW + CLOSE, FAST + SLOW + CLOSE
    rows = changed(old, new, tmp_path / "new", buckets)
    same = changed(old, old, tmp_path / "old")
    assert shown(rows, "slow", "meeting") == shown(same, "slow", "meeting")
    assert shown(rows, "fast") == [
        *("50 + fast(ann) 45 None", "50 + fast(bob) 25 47", "50 + fast(cat) 37 None"),
        "50 + fast(eve) 36 None",
    ]


def test_what_is_changed_goes_on_with_the_value_it_had(tmp_path: Path) -> None:
    """Slow is below 3 now: dan is not, ann was slow at the border and stays so until 44."""
    new = SLOW.replace("S < 5", "S < 3").replace("S >= 5", "S >= 3")
    assert shown(changed(SLOW, new, tmp_path), "slow") == [
        *("50 - slow(ann) 2 None", "50 + slow(ann) 2 45", "50 + slow(bob) 47 None")
    ]


def test_spans_that_other_stages_know_change_with_their_rules(tmp_path: Path) -> None:
    """Nobody is slow below 0: what holds at the border goes on, and nothing begins."""
    new = SLOW.replace("S < 5", "S < 0") + CLOSE
    rows = changed(SLOW + CLOSE, new, tmp_path)
    assert shown(rows, "slow", "meeting") == [*("50 - slow(ann) 2 None", "50 + slow(ann) 2 45")]


def test_delays_go_on_although_their_rules_have_other_numbers(tmp_path: Path) -> None:
    old = SLOW + LONG
    new = FAST + "fi(fast(V)=true, fast(V)=false, 5).\n" + old
    same = changed(old, old, tmp_path / "old")
    rows = changed(old, new, tmp_path / "new")
    assert shown(rows, "slow", "long") == shown(same, "slow", "long")
    assert shown(same, "slow")


def test_what_happened_before_the_border_is_remembered(tmp_path: Path) -> None:
    """A rule that looks back finds bob at 12, though the window began at 20; others do, too."""
    again = """
happensAt(again(V), T) :-
    happensAt(velocity(V, _), T), happensAt(velocity(V, _), T0), T0 < T, T - T0 < 40.
initiatedAt(seen(V)=true, T) :- happensAt(again(V), T).
"""
    same = changed(again, again, tmp_path / "old")
    rows = changed(again, FAST + again, tmp_path / "new")
    times = [row.time for row in rows if row.name == "again"]
    assert times == [row.time for row in same if row.name == "again"] == [46]
    assert shown(rows, "seen") == shown(same, "seen")


def test_delays_with_conditions_that_wait_are_not_kept_by_other_rules(tmp_path: Path) -> None:
    old = SLOW + "fi(slow(V)=true, slow(V)=idle, 25) :- happensAt(velocity(V, _), T)."
    with pytest.raises(UsageError, match="delayed effects with conditions wait"):
        changed(old, old + FAST, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (SLOW, SLOW + "initiatedAt(lit(V)=true, T) :- happensAt(lamp(V), T).", "they read lamp/1"),
        (SLOW + CLOSE, SLOW, "they do not read close/2 any more"),
        (SLOW, SLOW + "initiatedAt(all=true, T) :- happensAt(velocity(_, 9), T).", "velocity/2"),
        (
            SLOW + "initiatedAt(odd(V)=true, T) :- happensAt(velocity(V, 3), T).",
            SLOW + "holdsFor(odd(V)=true, I) :- holdsFor(slow(V)=true, I).",
            "was worked out from intervals",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused(old: str, new: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be kept") as refused:
        changed(old, new, tmp_path)
    assert said in str(refused.value)
    assert "begin a new stream" in str(refused.value)
