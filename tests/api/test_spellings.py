"""Constants of rules that come with a stream in another spelling."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai import loads
from horai.lang.core.diagnostics import Diagnostic
from horai.runtime.jobs import SparkJob
from horai.runtime.records import LocalGrid
from horai.runtime.spark.batch import run_job
from horai.settings import RunSettings

GO = "initiatedAt(busy(X)=true, T) :- happensAt(go_to(X, {}), T).\n"
FACTS = (
    "initiatedAt(big(X)=true, T) :- happensAt(go_to(X, P), T), size(P, large).\n"
    "size(work, large). size(home, small).\n"
)


def told(rules: str, rows: object, engine: str = "compiled") -> list[Diagnostic]:
    return [w for w in loads(rules).run(rows, engine=engine).warnings if w.code == "H553"]


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("work", "Work"),
        ("work", " work"),
        ("'New York'", "new_york"),
        ("new_york", "New-York"),
        ("3", 3.0),
        ("3", "3"),
        ("3.5", "3,5"),
        ("3.0", 3),
        ("'3'", 3),
    ],
)
def test_what_looks_the_same_and_is_not_is_told(ours: str, theirs: object, engine: str) -> None:
    rows = [{"type": "go_to", "time": 1, "args": ["chris", "pub"]}]
    rows += [{"type": "go_to", "time": 2, "args": ["chris", theirs]}]
    (found,) = told(GO.format(ours), rows, engine)
    assert found.message.startswith(f"`{ours}` never comes as argument 2 of `go_to/2`")
    assert found.note == "first in <memory>:2" and found.position[0] == 1


@pytest.mark.parametrize(
    "rules",
    [
        "initiatedAt(busy(X)=true, T) :- happensAt(go_to(X, P), T), P = work.\n",
        "initiatedAt(busy(X)=true, T) :- happensAt(go_to(X, P), T), work == P.\n",
        FACTS,
    ],
)
def test_comparisons_and_facts_are_looked_at(rules: str) -> None:
    assert len(told(rules, ["go_to|1|1|chris|WORK"])) == 1
    assert told(rules, ["go_to|1|1|chris|WORK", "go_to|1|1|chris|work"]) == []
    assert told(rules, ["go_to|1|1|chris|pub"]) == []


def test_values_of_input_fluents_are_looked_at() -> None:
    rules = "collectIntervals(lamp(X)=on).\nholdsFor(lit(X)=true, I) :- holdsFor(lamp(X)=on, I).\n"
    (found,) = told(rules, ["lamp|1|1|5|On|hall"])
    assert "as value of `lamp/1`, but `'On'` does" in found.message


def test_what_came_once_in_the_run_is_not_told_of() -> None:
    rows = ["go_to|1|1|chris|Work", "go_to|50|50|chris|work"]
    assert told(GO.format("work"), rows) == []
    windows = loads(GO.format("work")).run(rows, window=10, step=10)
    assert [w.code for w in windows.warnings] == []


PLACES = st.sampled_from(["work", "Work", " work", "WORK", "new_york", "3", "3.0", "pub"])
PLAIN = st.one_of(
    st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.0, "a", "A", "1", "1.0", "b_c", "b-c"])
)


@examples("normal")
@given(st.lists(PLAIN, min_size=1, max_size=5), st.sampled_from(["a", "'A'", "1", "1.0", "b_c"]))
def test_a_constant_is_told_of_only_if_no_rule_fires(came: list[object], constant: str) -> None:
    rows = [{"type": "go_to", "time": 1, "args": ["x", value]} for value in came]
    rules = loads(GO.format(constant))
    result = rules.run(rows)
    if result.rows():
        assert result.warnings == []


FOUND = """
initiatedAt(busy(X)=true, T) :- happensAt(go_to(X, work), T).
initiatedAt(free(X)=true, T) :- happensAt(go_to(X, 'New York'), T), holdsAt(busy(_)=true, T).
terminatedAt(free(X)=true, T) :- happensAt(go_to(X, P), T), P = 3.
"""


@examples("light")
@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(0, 40), PLACES), min_size=1, max_size=12),
    st.integers(1, 4),
    st.sampled_from([None, 10]),
)
def test_runs_in_buckets_tell_the_same(
    came: list[tuple[int, int, str]], buckets: int, step: int | None
) -> None:
    rows = [f"go_to|{time + late}|{time}|p{time % 3}|{place}" for time, late, place in came]
    rules = loads(FOUND)
    window = None if step is None else 20
    wanted = rules.run(rows, window=window, step=step).warnings
    job = SparkJob.of(rules, rows, RunSettings(window=window, step=step))
    found = run_job(LocalGrid(), job, buckets).warnings
    assert [one.render() for one in found] == [one.render() for one in wanted]
