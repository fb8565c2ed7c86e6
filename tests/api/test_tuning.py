"""Which window a stream needs, and what shorter ones lose."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.api.running import any_run, narrative_of, rules_of
from tests.strategies.streams import END
from tests.weights import examples

import horai
from horai.runtime import engines
from horai.tools.tune import LostRows, Trial, Tuning

RULES = horai.loads("""
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
happensAt(met(X), T) :- happensAt(up(X), T), happensAt(down(X), T).
""")
ENGINE = pytest.mark.parametrize("engine", sorted(engines.ENGINES))
DAY = ["up|5|5|a", "down|40|21|a", "up|90|90|b", "up|95|91|c", "down|100|99|b"]


@ENGINE
def test_every_window_is_compared_with_one_over_everything(engine: str) -> None:
    found = RULES.tune(DAY, step=10, windows=[30, 10], engine=engine)
    assert (found.items, found.answers, found.step) == (5, 3, 10)
    lost = LostRows(missing=1, wrong=1)  # the interval that nothing ends
    assert found.trials == (
        Trial(10, 1, 1 / 5, 1, 1, 1 / 3, {"on/1": lost}),
        Trial(30, 0, 0.0, 0, 0, 0.0, {}),
    )
    assert found.recommended == 30


def test_recommended_is_the_shortest_that_loses_no_more_than_asked() -> None:
    asked: dict[str, Any] = {"step": 10, "windows": [10, 20, 30, 40]}
    assert RULES.tune(DAY, **asked, max_loss=0).recommended == 30
    assert RULES.tune(DAY, **asked, max_loss=0.33).recommended == 30
    assert RULES.tune(DAY, **asked, max_loss=0.34).recommended == 10
    assert RULES.tune(DAY, step=10, windows=[10, 20]).recommended is None


def test_windows_come_from_the_lateness_of_the_items() -> None:
    rows = [*(f"up|{time}|{time}|a" for time in range(1, 200)), "down|160|120|z"]
    found = RULES.tune(rows, step=5)
    assert [trial.window for trial in found.trials] == [5, 45]
    assert (found.lateness[0.5], found.lateness[1.0]) == (0, 40)
    assert found.recommended == 5  # one item in two hundred is late
    assert RULES.tune(rows, step=5, max_loss=0).recommended == 45


def test_no_window_is_longer_than_the_run() -> None:
    found = RULES.tune(["up|100|1|a", "down|50|50|a"], step=30)
    assert max(trial.window for trial in found.trials) == 120
    assert found.recommended == 120


@pytest.mark.parametrize(("tick", "step"), [(1, 10), (7, 14), (2000, 2000)])
def test_without_a_step_there_are_a_hundred_query_times(tick: int, step: int) -> None:
    rows = ["up|1|1|a", "down|1000|1000|a"]
    assert RULES.tune(rows, tick=tick, start=0, end=1000).step == step


def test_an_item_that_counts_in_part_is_lost_in_part() -> None:
    rules = horai.loads("holdsFor(busy(X)=true, I) :- holdsFor(w(X)=true, I1), union_all([I1], I).")
    trial = rules.tune(["w|5|5|6|true|b", "w|50|21|49|true|a"], step=10, windows=[20]).trials[0]
    assert (trial.items_lost, trial.answers_missing, trial.answers_wrong) == (1, 1, 1)


def test_what_lies_outside_the_run_is_no_loss_of_a_window() -> None:
    rows = [*DAY, "up|60|-5|z", "up|200|150|y"]
    found = RULES.tune(rows, start=0, end=110, step=10, windows=[30])
    assert found.trials[0].items_lost == 0
    assert found.recommended == 30


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    RULES.tune(DAY, step=10, windows=[10, 30], progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_times_may_be_iso() -> None:
    rows = ["up|2024-03-01T12:00:00Z|2024-03-01T11:00:00Z|a", "down|2024-03-02|2024-03-02|a"]
    assert RULES.tune(rows, unit="h", step=1, max_loss=0).recommended == 2


def test_as_plain_values() -> None:
    plain = RULES.tune(DAY, step=10, windows=[10]).to_dict()
    assert plain["trials"][0]["by_name"] == {"on/1": {"missing": 1, "wrong": 1}}
    assert plain["lateness"][-1] == {"share": 1.0, "most": 19}
    assert plain["recommended"] is None


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"max_loss": 2}, "max-loss must lie between 0 and 1, not 2"),
        ({"max_loss": "1%"}, "max-loss must lie between 0 and 1, not '1%'"),
        ({"windows": []}, "no windows given"),
        ({"windows": 30}, "windows must be a list of lengths"),
        ({"windows": "30"}, "windows must be a list of lengths"),
        ({"windows": [0]}, "window must be above 0, not 0"),
        ({"windows": [1.5]}, "window must be a whole number, not 1.5"),
        ({"step": 0}, "step must be above 0, not 0"),
        ({"engine": "fast"}, "there is no engine 'fast'"),
        ({"unit": "year"}, "unit cannot be 'year'"),
        ({"progress": 3}, "progress must be a function, not 3"),
    ],
)
def test_wrong_use_is_told(asked: dict[str, Any], problem: str) -> None:
    with pytest.raises(horai.UsageError, match=problem):
        RULES.tune(DAY, **asked)


@pytest.mark.parametrize("rows", [[], ["nonsense|1|1"]])
def test_there_must_be_something_to_learn_from(rows: list[str]) -> None:
    with pytest.raises(horai.UsageError, match="nothing to learn from"):
        RULES.tune(rows)


@examples("heavy")
@given(data=st.data())
def test_the_longest_window_loses_nothing(data: st.DataObject) -> None:
    run = any_run(data, "tame")
    if not run.items:
        return
    setting: dict[str, Any] = {"start": 0, "end": END, "step": run.cut.step}
    try:
        found: Tuning = rules_of(run).tune(
            narrative_of(run.items), max_loss=0, tick=run.described.tick, **setting
        )
    except horai.RunError:
        event("refused")
        return
    assert found.trials[-1].loss == 0
    assert found.recommended is not None
    losses = [trial.items_lost for trial in found.trials]
    assert losses == sorted(losses, reverse=True)
    event(f"{len(losses)} windows")
