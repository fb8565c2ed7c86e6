"""Items that are derived by columns are those that the definitions give, row by row."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.signals import slow
from tests.signals.making import areas, positions, rows, shapes, table
from tests.weights import examples

from horai.io.times import MAX_TIME, MIN_TIME
from horai.signals import (
    DerivedItems,
    Layout,
    MotionLimits,
    Pipeline,
    State,
    no_positions,
    positions_of,
    start,
)

pytestmark = pytest.mark.timeout(900)
LIMITS = MotionLimits()
NARROW = MotionLimits(close=150.0, close_step=30.0, close_piece=120.0, trust_after=2, stop_time=0.0)


def told(found: DerivedItems) -> dict[str, list[Any]]:
    """Items by sort, in order."""
    by: dict[str, list[Any]] = {"velocity": [], "proximity": [], "area": [], "critical": []}
    for row in found.items.to_pylist():
        if row["type"] == "velocity":
            by["velocity"].append(
                tuple(row[k] for k in ("type", "time", "one", "speed", "course", "heading"))
            )
        elif row["type"] == "proximity":
            by["proximity"].append(tuple(row[k] for k in ("type", "time", "end", "one", "two")))
        elif row["two"] is not None:
            by["area"].append(tuple(row[k] for k in ("type", "time", "one", "two")))
        else:
            by["critical"].append(tuple(row[k] for k in ("type", "time", "one")))
    return by


def same_velocities(ours: list[Any], theirs: set[Any]) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(sorted(ours), sorted(theirs), strict=True):
        assert one[:3] == other[:3]
        assert one[3] == pytest.approx(other[3], abs=0.0051)
        assert slow.angle(one[4], other[4]) < 0.051
        assert slow.angle(one[5], other[5]) < 0.051


def compare(given_rows: list[slow.Row], later: int, limits: MotionLimits) -> None:
    until = max(row.time for row in given_rows) + later
    around = shapes(given_rows)
    found = Pipeline(limits, areas(around)).run(positions(given_rows), until)
    good, bad = slow.cleaned(given_rows, limits)
    by = told(found)
    assert Counter(letter.code for letter in found.dead_letters) == Counter(code for code, _ in bad)
    assert sorted(by["critical"]) == sorted(
        item for kept in good.values() for item in slow.critical(kept, until, limits)
    )
    same_velocities(by["velocity"], {v for k in good.values() for v in slow.velocities(k, limits)})
    assert sorted(by["area"]) == sorted(
        item for kept in good.values() for item in slow.visits(kept, limits, around)
    )
    assert sorted(by["proximity"]) == sorted(slow.proximity(good, limits))


@examples("normal")
@given(rows(), st.sampled_from([0, 600, 601]), st.sampled_from([LIMITS, NARROW]))
def test_items_follow_from_the_definitions(
    given_rows: list[slow.Row], later: int, limits: MotionLimits
) -> None:
    compare(given_rows, later, limits)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@examples("normal")
@given(rows(40), st.sampled_from([0, 600, 601]), st.sampled_from([LIMITS, NARROW]))
def test_items_of_many_rows(given_rows: list[slow.Row], later: int, limits: MotionLimits) -> None:
    compare(given_rows, later, limits)


def stepwise(
    pipeline: Pipeline, batches: list[list[slow.Row]], dice: random.Random
) -> tuple[list[Any], list[Any]]:
    """Items and letters of batches; the state goes through bytes in between."""
    items, letters = [], []
    state = start()
    for number, batch in enumerate(batches):
        rest = [row.time for later in batches[number + 1 :] for row in later]
        known = [row.time for some in batches[: number + 1] for row in some]
        until = min([*rest, max(known, default=0) + 1]) - 1 - dice.choice([0, 0, 50])
        state, found = pipeline.step(State.from_bytes(state.to_bytes()), positions(batch), until)
        items += found.items.to_pylist()
        letters += [(letter.code, letter.text) for letter in found.dead_letters]
    found = pipeline.finish(state)
    items += found.items.to_pylist()
    letters += [(letter.code, letter.text) for letter in found.dead_letters]
    return sorted(items, key=str), sorted(letters)


@examples("normal")
@given(rows(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_order_and_batches_change_nothing(
    given_rows: list[slow.Row], many: int, dice: random.Random
) -> None:
    pipeline = Pipeline(NARROW, areas(shapes(given_rows)))
    whole = pipeline.run(positions(given_rows))
    wanted = sorted(whole.items.to_pylist(), key=str)
    letters = sorted((letter.code, letter.text) for letter in whole.dead_letters)
    mixed = dice.sample(given_rows, len(given_rows))
    again = pipeline.run(positions(mixed))
    assert again.items.to_pylist() == whole.items.to_pylist()
    assert sorted((letter.code, letter.text) for letter in again.dead_letters) == letters
    batches: list[list[slow.Row]] = [[] for _ in range(many)]
    for place, row in enumerate(mixed):
        batches[dice.randrange(many) if dice.random() < 0.3 else place * many // len(mixed)].append(
            row
        )
    assert stepwise(pipeline, batches, dice) == (wanted, letters)
    in_time = sorted(given_rows, key=lambda row: row.time)
    size = 1 + len(in_time) // many
    cut = [in_time[begin : begin + size] for begin in range(0, len(in_time), size)]
    assert stepwise(pipeline, cut, dice) == (wanted, letters)


@examples("normal")
@given(rows(), st.integers(1, 9))
def test_slices_of_time_change_nothing(given_rows: list[slow.Row], size: int) -> None:
    pipeline = Pipeline(NARROW)
    whole = pipeline.run(positions(given_rows)).items.to_pylist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("horai.signals.pipeline.SLICE", size)
        assert pipeline.run(positions(given_rows)).items.to_pylist() == whole


def test_times_at_the_very_ends() -> None:
    """Nothing overflows, and nobody goes straight from one end of time to the other."""
    ends = [slow.Row("a", time, 1.0, 2.0, 3.0) for time in (MIN_TIME, MAX_TIME)]
    found = Pipeline(LIMITS).run(positions(ends)).items.to_pylist()
    assert [(row["type"], row["time"]) for row in found] == [
        ("gap_start", MIN_TIME),
        ("velocity", MIN_TIME),
        ("gap_end", MAX_TIME),
        ("velocity", MAX_TIME),
    ]


def test_what_comes_after_its_time_is_a_letter() -> None:
    pipeline = Pipeline(LIMITS)
    state, _ = pipeline.step(start(), positions([slow.Row("a", 100, 1.0, 2.0)]), 150)
    state, found = pipeline.step(state, positions([slow.Row("b", 150, 1.0, 2.0)]), 200)
    (letter,) = found.dead_letters
    assert letter.code == "late-position"
    assert "150 has been settled" in letter.reason
    assert pipeline.finish(state).items.to_pylist() == []


def test_nothing_comes_of_nothing() -> None:
    pipeline = Pipeline(LIMITS)
    assert pipeline.run(no_positions()).items.num_rows == 0
    state, found = pipeline.step(start(), no_positions(), 10)
    assert (found.items.num_rows, pipeline.finish(state).items.num_rows) == (0, 0)


def test_other_units_of_time() -> None:
    """A day in minutes instead of seconds: the same with times divided by 60."""
    given_rows = [
        slow.Row("a", 60 * i, 10 + 0.001 * (i % 3), 50.0, 0.5 if i < 20 else 8.0)
        for i in range(60)
        if not 30 < i < 45
    ]
    seconds = Pipeline(MotionLimits()).run(positions(given_rows))
    minutes = Pipeline(MotionLimits(unit="min")).run(
        positions_of(table([row._replace(time=row.time // 60) for row in given_rows]), Layout())
    )
    wanted = [(i["type"], i["time"] // 60) for i in seconds.items.to_pylist()]
    assert [(i["type"], i["time"]) for i in minutes.items.to_pylist()] == wanted
    assert {kind for kind, _ in wanted} > {"gap_start", "gap_end", "stop_start", "stop_end"}


def test_a_dropped_position_tells_how_late_it_is_in_steps_too() -> None:
    """Its speed is impossible, but it was sent: the silence before it is a gap."""
    given_rows = [
        slow.Row("c", 0, 10.0, 50.0, None, None, None),
        slow.Row("c", 601, 10.0, 49.997, 61.0, None, None),
    ]
    pipeline = Pipeline(NARROW, areas(shapes(given_rows)))
    whole = pipeline.run(positions(given_rows))
    assert "gap_start" in whole.items.column("type").to_pylist()
    state, found = pipeline.step(start(), positions(given_rows), 551)
    rest = pipeline.finish(State.from_bytes(state.to_bytes()))
    together = found.items.to_pylist() + rest.items.to_pylist()
    assert sorted(together, key=str) == sorted(whole.items.to_pylist(), key=str)
