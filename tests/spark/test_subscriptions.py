"""Joins in streams: whoever begins to ask gets what there was before, and nobody else gets it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.spark.streaming import Driver
from tests.spark.test_steps import (
    AGAIN,
    CALM,
    CRASH,
    RESIZE,
    RESTART,
    Streamed,
    check,
)
from tests.strategies.staged import INPUT, LAST, MORE, ONE, THEN, TWO
from tests.weights import examples

import horai
from horai.errors import UsageError
from horai.runtime import subscriptions
from horai.runtime.bucket import FEW, session_of
from horai.runtime.inputs import read_input
from horai.runtime.records import BlobLabel, unpacked
from horai.runtime.rounds import packed
from horai.runtime.routes import engine_round
from horai.runtime.streams import StreamStep
from horai.runtime.subscriptions import Subscriptions

WHO = ("ann", "bob", "cat", "3", "dan", "eve")


@st.composite
def _about_one(draw: Draw, time: int) -> str:
    kind, who = draw(st.sampled_from("eeggnt")), draw(st.sampled_from(WHO))
    if kind == "n":
        return f"n|{time}|{time}|{who}|{draw(st.sampled_from(('1', 'x')))}"
    if kind == "t":
        end = draw(st.sampled_from(("inf", str(time + 4), str(time + 20))))
        return f"at|{time}|{time + draw(st.integers(-1, 9))}|{end}|true|{who}"
    return f"{kind}|{time}|{time - draw(st.integers(0, 2))}|{who}"


@st.composite
def _about_two(draw: Draw, time: int) -> str:
    kind = draw(st.sampled_from(("meet", "meet", "part", "close", "close")))
    who, other = draw(st.sampled_from(WHO)), draw(st.sampled_from(WHO))
    happens = time - draw(st.integers(0, 3))
    if kind == "close":
        end = draw(st.sampled_from(("inf", str(time + 6))))
        return f"close|{time}|{happens}|{end}|true|{who}|{other}"
    return f"{kind}|{time}|{happens}|{who}|{other}"


@st.composite
def late_pairs(draw: Draw) -> Streamed:
    """Much is said of single ones before they are named together, in many small steps."""
    number = draw(st.integers(3, 5))
    parts = (ONE, MORE, TWO, THEN, LAST)[:number]
    text = INPUT + "".join(some[draw(st.sampled_from(sorted(some)))] for some in parts) + "\n"
    first = draw(st.integers(10, 30))  # from when on there are pairs
    lines: list[str] = []
    for time in range(1, 45):
        for _ in range(draw(st.integers(0, 2))):
            pairs = time >= first and draw(st.booleans())
            lines.append(draw(_about_two(time) if pairs else _about_one(time)))
        if lines and draw(st.integers(0, 9)) == 0:
            name, _, rest = draw(st.sampled_from(lines[-8:])).split("|", 2)
            if not name.startswith("-"):
                lines.append(f"-{name}|{time}|{rest}")
    cuts = sorted(draw(st.lists(st.integers(0, len(lines)), min_size=4, max_size=9)))
    chunks = [lines[a:b] for a, b in pairwise([0, *cuts, len(lines)])]
    kinds = st.sampled_from((CALM, CALM, RESTART, CRASH, AGAIN, RESIZE))
    step = draw(st.sampled_from((3, 5)))
    given_settings = {
        "start": 0,
        "end": 48,
        "step": step,
        "window": draw(st.sampled_from((None, step, step + 4, 3 * step))),
        "include_input": draw(st.booleans()),
    }
    events = [draw(kinds) for _ in chunks]
    few = draw(st.sampled_from((1, FEW)))
    steps = draw(st.sampled_from((1, 2, 4)))
    buckets = draw(st.integers(2, 5))
    return Streamed(text, chunks, events, given_settings, buckets, 0, few, steps)


@examples("heavy")
@given(late_pairs())
def test_who_begins_to_ask_knows_what_there_was(run: Streamed) -> None:
    check(run)


# --- one by one -----------------------------------------------------------------------------------

SLOW = """
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
"""
MEETING = """
collectIntervals(close(_, _)=true).
holdsFor(meeting(V1, V2)=true, I) :-
    holdsFor(close(V1, V2)=true, C), holdsFor(slow(V1)=true, S1), holdsFor(slow(V2)=true, S2),
    intersect_all([C, S1, S2], I).
"""
SETTINGS: dict[str, Any] = {"start": 0, "window": 20, "step": 10}
FLEET = [f"v{number}" for number in range(40)]
BEGIN = [f"velocity|1|1|{vessel}|2" for vessel in FLEET]


def test_rows_go_only_to_buckets_that_ask(tmp_path: Path) -> None:
    """Forty are slow, and two of them are close: one row goes to a bucket that is not its home."""
    driver = Driver(horai.loads(SLOW + MEETING), tmp_path / "c", SETTINGS, 8)
    driver.take(0, [*BEGIN, "close|5|5|inf|true|v3|v7"])
    narrative = read_input(["velocity|12|12|x|9"], driver.rules.schema, driver.job.clock)
    routes = driver.steps.task.plan.routes
    step: StreamStep[Any] = driver.steps.take(1, list(packed(routes, 1, narrative)))
    assert step.queries == [10]
    came = [
        (record.bucket, vessel)
        for records, _ in step.records
        for record in records
        if record.round == engine_round(1) and BlobLabel.load(record.label).name == "slow"
        for vessel in unpacked(record.blob).column("a0").to_pylist()
    ]
    assert sorted(vessel for _, vessel in came) == sorted([*FLEET, "v7"])
    assert len({bucket for bucket, vessel in came if vessel == "v7"}) == 2


def pair_later(folder: Path, buckets: int, *then: int) -> list[str]:
    """What is said of two who are close when their being slow has left the window; `then` are the
    numbers of buckets that the stream goes on in before it hears of them.
    """
    driver = Driver(horai.loads(SLOW + MEETING), folder / "c", SETTINGS, buckets)
    driver.take(0, [*BEGIN, "velocity|42|42|x|9"])
    for number in then:
        driver.resize(number)
    driver.take(1, ["close|45|45|inf|true|v3|v7", "velocity|53|53|x|9"])
    for number in reversed(then):
        driver.resize(number + 1)
    driver.take(2, ["velocity|55|55|v7|9", "velocity|63|63|x|9"])
    assert driver.told.queries == [10, 20, 30, 40, 50, 60]
    rows = [row for row in driver.told.changes if row.name == "meeting"]
    return [f"{row.query} {row.op} {row.start} {row.end}" for row in rows]


def asking(driver: Driver) -> int:
    """How many ask for somebody, in all buckets together; who is close asks for itself too."""
    store, last = driver.steps.checkpoint.store, driver.steps.checkpoint.last
    assert last.state is not None
    states = [store.read_state(1, bucket, last.state)[1] for bucket in range(driver.buckets)]
    return sum(Subscriptions.load(parts["subscriptions"]).of(0).shape[1] for parts in states)


def slow_in(driver: Driver) -> list[int]:
    """How many are known to be slow, bucket by bucket."""
    last, task = driver.steps.checkpoint.last, driver.steps.task
    due = driver.steps.timing(last, None, True)
    assert due is not None
    found = []
    for bucket in range(driver.buckets):
        session = session_of(task, task.plan.stages[1], due.schedule)
        _, parts = driver.steps.checkpoint.store.read_state(1, bucket, last.state or 0)
        session.restore(parts["session"])
        told = [args[0].data.tolist() for args in session.arguments(("fluent", ("slow", 1)))]
        found.append(len({vessel for vessels in told for vessel in vessels}))
    return found


def test_who_is_not_named_any_more_is_not_asked_for(tmp_path: Path) -> None:
    """Two are close, twice; in between nobody is told of the other, and then all of the past."""
    with patch.object(subscriptions, "STEPS", 2):
        driver = Driver(horai.loads(SLOW + MEETING), tmp_path / "c", SETTINGS, 8)
        driver.take(0, [*BEGIN, "close|5|5|9|true|v3|v7", "velocity|12|12|x|9"])
        known = slow_in(driver)
        assert asking(driver) == 2 and sum(known) == len(FLEET) + 1
        for batch in range(1, 7):
            driver.take(batch, [f"velocity|{10 * batch + 12}|{10 * batch + 12}|x|9"])
        assert asking(driver) == 0
        assert sum(slow_in(driver)) == len(FLEET)
        driver.take(7, ["velocity|83|83|v3|8", "velocity|85|85|v3|1", "velocity|92|92|x|9"])
        driver.take(8, ["close|94|94|inf|true|v3|v7", "velocity|102|102|x|9"])
        assert asking(driver) == 2
        driver.take(9, ["velocity|105|105|v7|9", "velocity|112|112|x|9"])
    rows = [row for row in driver.told.changes if row.name == "meeting"]
    assert [f"{row.query} {row.op} {row.start} {row.end}" for row in rows] == [
        *("10 + 5 9", "100 + 94 None", "110 - 94 None", "110 + 94 106"),
    ]


@pytest.mark.parametrize("buckets", [1, 2, 8])
@pytest.mark.parametrize("then", [(), (3,), (8, 2)])
def test_who_is_named_late_brings_the_past(
    tmp_path: Path, buckets: int, then: tuple[int, ...]
) -> None:
    assert pair_later(tmp_path, buckets, *then) == ["50 + 45 None", "60 - 45 None", "60 + 45 56"]


def test_rules_that_ask_in_the_same_way_can_be_added(tmp_path: Path) -> None:
    """No bucket has subscribed to `still` before; but its pairs are those of `slow`."""
    still = SLOW.replace("slow", "still").replace("5", "3")
    quiet = MEETING.replace("slow", "still").replace("meeting", "quiet").split("\n", 2)[2]
    driver = Driver(horai.loads(SLOW + MEETING), tmp_path / "c", SETTINGS, 3)
    driver.take(0, [*BEGIN, "close|5|5|inf|true|v3|v7", "velocity|42|42|x|9"])
    driver.rules = horai.loads(SLOW + still + MEETING + quiet)
    driver.resize(3)
    driver.take(1, ["velocity|44|44|v3|1", "velocity|45|45|v7|1", "velocity|53|53|x|9"])
    rows = [(row.name, row.query, row.start) for row in driver.told.changes if row.name == "quiet"]
    assert rows == [("quiet", 50, 46)]


def test_rules_that_ask_in_another_way_are_refused(tmp_path: Path) -> None:
    fast = SLOW.replace("slow", "fast").replace("<", ">")
    near = """
    happensAt({0}(V, W), T) :-
        happensAt(near(V, W), T), holdsAt({1}(V)=true, T), holdsAt({1}(W)=true, T).
    """
    before = SLOW + fast + MEETING + near.format("passed", "fast")
    driver = Driver(horai.loads(before), tmp_path / "c", SETTINGS, 2)
    driver.take(0, [*BEGIN, "velocity|42|42|x|9"])
    driver.rules = horai.loads(f"{before}\n{near.format('beside', 'slow')}")
    with pytest.raises(UsageError, match="no bucket has subscribed to slow/1 like this before"):
        driver.resize(2)


def test_nothing_is_lent_of_who_is_not_known(tmp_path: Path) -> None:
    driver = Driver(horai.loads(SLOW), tmp_path / "c", SETTINGS, 1)
    driver.take(0, [*BEGIN, "velocity|42|42|x|9"])
    task = driver.steps.task
    due = driver.steps.timing(driver.steps.checkpoint.last, None, True)
    assert due is not None
    session = session_of(task, task.plan.stages[0], due.schedule)
    assert session.lend(("event", ("velocity", 2)), lambda args: args[0].data >= 0) is None
