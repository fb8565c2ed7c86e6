"""How late a stream was and what came of it: counted per query time, the same on every engine."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.api.running import KINDS, any_run, rules_of, run_it
from tests.strategies.runs import Run
from tests.weights import examples
from tests.whole import WHOLE

import horai
from horai.io.times import MAX_TIME, MIN_TIME
from horai.runtime.metrics import Bin, ItemCounts, Metrics

RULES = horai.loads("""
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
holdsFor(busy(X)=true, I) :- holdsFor(working(X)=true, I1), union_all([I1], I).
""")
ENGINE = pytest.mark.parametrize("engine", WHOLE)
DAY = [
    "up|3|3|a",  # on time
    "down|15|7|a",  # late: 7 was before the query at 10
    "up|31|2|b",  # too late for the window (20,40]
    "-down|18|7|a",  # takes the late one back
    "-up|12|3|z",  # takes back what was never there
    "working|34|15|30|true|a",  # began before its window
    "up|2|-4|k",  # before the start of the run
    "up|60|60|q",  # after its end
    "up|1|55|h",  # ahead for all of the run, and
    "-up|2|55|h",  # taken back before it came to count
    "nonsense|1|1",
]


def run(engine: str, **settings: object) -> horai.Result:
    given = {"start": 0, "end": 50, "window": 20, "step": 10, "engine": engine}
    return RULES.run(DAY, **(given | settings))  # type: ignore[arg-type]


def told(counts: ItemCounts) -> dict[str, int]:
    """What is not nothing."""
    names = [*ItemCounts.__dataclass_fields__]
    return {name: getattr(counts, name) for name in names if getattr(counts, name)}


@ENGINE
def test_every_item_is_counted_where_it_is_judged(engine: str) -> None:
    metrics = run(engine).metrics
    assert {window.query: told(window) for window in metrics.windows} == {
        10: {"on_time": 1, "retracted": 1, "outside_run": 1},
        20: {"late": 1, "retracted": 1, "unknown_retractions": 1},
        30: {},
        40: {"late": 1, "too_late": 1, "partly_too_late": 1},
        50: {},
    }
    assert told(metrics.run) == {
        "on_time": 1,
        "late": 2,
        "too_late": 1,
        "retracted": 2,
        "unknown_retractions": 1,
        "outside_run": 2,
        "partly_too_late": 1,
    }
    assert (metrics.run.items, metrics.run.unreadable, metrics.run.waiting) == (10, 1, 1)


def test_lateness_is_counted_in_doubling_bins() -> None:
    rows = [f"up|{10 + late}|10|a" for late in (-4, 0, 1, 2, 3, 4, 20)]
    found = RULES.run(rows, start=0, end=40).metrics.run.lateness
    assert [(bin.least, bin.most, bin.items) for bin in found] == [
        *((0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 1), (8, 15, 0), (16, 31, 1))
    ]


def test_the_farthest_times_make_no_number_too_large() -> None:
    rows = [f"up|{MAX_TIME}|{MIN_TIME + 1}|a"]
    found = RULES.run(rows, start=MIN_TIME, end=MAX_TIME).metrics.run.lateness[-1]
    assert found == Bin(2**61, 2**62 - 1, 1)


def test_answers_that_were_taken_back_are_counted_where_changes_are_kept() -> None:
    rows = ["up|3|3|a", "down|15|7|a", "-down|25|7|a"]
    settings = {"start": 0, "end": 30, "window": 30, "step": 10}
    for form in (None, "changelog"):
        metrics = RULES.run(rows, answers=form, **settings).metrics  # type: ignore[arg-type]
        assert [window.revised for window in metrics.windows] == [0, 1, 1]
        assert metrics.run.revised == 2
    for form in ("final", "windows"):
        metrics = RULES.run(rows, answers=form, **settings).metrics  # type: ignore[arg-type]
        assert [window.revised for window in metrics.windows] == [None] * 3
        assert metrics.run.revised is None


def test_a_run_over_nothing_has_metrics() -> None:
    assert RULES.run([]).metrics.run.items == 0
    assert RULES.run([]).metrics.windows == []


def test_metrics_as_plain_values() -> None:
    plain = run("compiled").metrics.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert list(plain) == ["run", "windows"]
    assert list(plain["windows"][0]) == ["query", *ItemCounts.__dataclass_fields__]
    counts = [*ItemCounts.__dataclass_fields__, "unreadable", "waiting", "lateness"]
    assert list(plain["run"]) == ["items", *counts]
    assert plain["run"]["lateness"][0] == {"least": 0, "most": 0, "items": 2}


@ENGINE
def test_a_session_knows_its_metrics_at_any_time(engine: str) -> None:
    session = RULES.session(start=0, window=20, engine=engine)
    session.advance(10, ["up|3|3|a", "up|12|12|b", "up|4|25|c"])
    assert told(session.metrics.run) == {"on_time": 1}
    assert session.metrics.run.waiting == 2
    session.advance(20, ["up|13|3|d"])
    assert told(session.metrics.run) == {"on_time": 2, "late": 1}


@ENGINE
def test_a_saved_session_goes_on_counting(engine: str) -> None:
    def fed(saved: bool) -> Metrics:
        session = RULES.session(start=0, window=20, engine=engine)
        session.advance(10, DAY)
        if saved:
            session = horai.load_session(session.save())
        session.advance(20)
        session.advance(40)
        return session.finish().metrics

    whole, restored = fed(saved=False), fed(saved=True)
    assert restored.run == whole.run
    assert restored.windows == whole.windows[1:]


# --- random runs ---------------------------------------------------------------------------------


def expected(run: Run, result: horai.Result) -> dict[int, Counter[str]]:
    """What became of every item by the definitions, one by one."""
    queries = run.cut.queries
    lost = {letter.line: letter.code for letter in result.dead_letters}
    found: dict[int, Counter[str]] = {query: Counter() for query in queries}
    for line, item in enumerate(run.items, 1):
        due = item.arrival if item.retract else max(item.arrival, item.start)
        place = next((n for n, query in enumerate(queries) if query >= due), None)
        if place is None:
            continue
        code = lost.get(line)
        counts = found[queries[place]]
        if code == "partly-too-late":
            counts["partly_too_late"] += 1
        elif code is not None:
            counts[CODES[code]] += 1
            continue
        if item.retract:
            counts["retracted"] += 1
        else:
            counts["late" if place and item.start <= queries[place - 1] else "on_time"] += 1
    return found


CODES = {
    "too-late": "too_late",
    "unknown-retraction": "unknown_retractions",
    "outside-run": "outside_run",
}


@pytest.mark.parametrize("kind", KINDS)
@examples("heavy")
@given(data=st.data())
def test_the_counts_of_a_random_run(kind: str, data: st.DataObject) -> None:
    random = any_run(data, kind)
    rules = rules_of(random)
    found = [run_it(random, rules, engine=engine) for engine in WHOLE]
    if found[0] is None or found[1] is None:
        event("refused")
        return
    metrics = found[0].metrics
    assert metrics == found[1].metrics
    wanted = expected(random, found[0])
    for window in metrics.windows:
        counts = told(window)
        counts.pop("revised", None)
        assert counts == dict(wanted[window.query])
        for name in counts:
            event(name)
    total = metrics.run
    assert total.items == len(random.items) == total.judged + total.waiting
    assert sum(bin.items for bin in total.lateness) == sum(w.judged for w in metrics.windows)
    assert total.revised == sum(row.op == "-" for row in found[0].changelog)
