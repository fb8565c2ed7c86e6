"""Stages and buckets change cost, never answers: random runs in buckets, without Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given, reject
from hypothesis import strategies as st
from tests.engine.comparing import tables_of
from tests.spark.support import told
from tests.strategies.changing_streams import ChangingRun, Cut, changing_runs
from tests.strategies.parts import Described
from tests.strategies.runs import Run, runs
from tests.strategies.staged import StagedRun, staged_runs
from tests.strategies.streams import Windows
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

import horai
from horai.errors import RunError, UsageError
from horai.io import Narrative
from horai.oracle.ec.session import OracleItem
from horai.plan.split.stages import stages_of
from horai.rules import Rules
from horai.runtime.jobs import SparkJob
from horai.runtime.records import LocalGrid
from horai.runtime.spark.batch import run_job
from horai.settings import RunSettings


def in_one_process(rules: Rules, run: StagedRun) -> dict[str, Any]:
    try:
        return told(rules.run(run.narrative, **run.settings))
    except (UsageError, RunError) as error:
        return {"refused": str(error)}


def in_buckets(rules: Rules, run: StagedRun) -> dict[str, Any]:
    try:
        job = SparkJob.of(rules, run.narrative, RunSettings(**run.settings))
        return told(run_job(LocalGrid(), job, run.buckets))
    except (UsageError, RunError) as error:
        return {"refused": str(error)}


def check(run: StagedRun) -> None:
    rules = horai.loads(run.rules)
    assert in_buckets(rules, run) == in_one_process(rules, run)


@examples("heavy")
@given(staged_runs())
def test_buckets_give_the_answers_of_one_process(run: StagedRun) -> None:
    check(run)


@examples("heavy")
@given(staged_runs())
def test_buckets_of_the_compiled_engine_do(run: StagedRun) -> None:
    """If it has instructions for the rules of all stages."""
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run._replace(settings=run.settings | {"engine": "compiled"}))
    if "has no instructions for" in found.get("refused", ""):
        event("refused")
        return
    event("ran")
    assert found == in_one_process(rules, run)


# --- descriptions of other tests ------------------------------------------------------------------


def check_items(
    described: Described, cut: Cut | Windows, items: list[OracleItem], buckets: int, shown: bool
) -> None:
    """Items as they are made in Python: of any type, also of what rules make or nobody reads."""
    rows = [replace(item, tag=number) for number, item in enumerate(items, 1)]
    narrative = Narrative(tuple(tables_of(rows)), [])
    queries = cut.queries or [36]
    settings = {
        "start": getattr(cut, "start", 0),
        "end": max(queries[-1], getattr(cut, "start", 0) + 1),
        "step": queries[1] - queries[0] if len(queries) > 1 else queries[0],
        "window": cut.window,
        "tick": described.tick,
        "include_input": shown,
    }
    try:
        rules = horai.loads(described.text, predicates=PREDICATES)
    except horai.RulesError:
        reject()  # the engine alone takes more than the checks let pass
    run = StagedRun(described.text, narrative, settings, buckets)  # type: ignore[arg-type]
    found, wanted = in_buckets(rules, run), in_one_process(rules, run)
    if "refused" in wanted:
        assert "refused" in found
    else:
        assert found == wanted


BUCKETS = st.integers(1, 4)


@examples("heavy")
@given(st.one_of(runs(lateness=20), wild_runs(lateness=20)), BUCKETS, st.booleans())
def test_descriptions_of_all_kinds(run: Run, buckets: int, shown: bool) -> None:
    check_items(run.described, run.cut, run.items, buckets, shown)


@examples("heavy")
@given(changing_runs(), BUCKETS, st.booleans())
def test_items_of_what_rules_make(run: ChangingRun, buckets: int, shown: bool) -> None:
    check_items(run.described, run.cut, run.items, buckets, shown)


# --- one by one -----------------------------------------------------------------------------------

LONG = """
collectIntervals(close(_, _)=true).
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, J), intDurGreater(J, 20, I).
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(a(X)=true, J), holdsFor(b(Y)=true, K),
    intersect_all([C, J, K], I).
"""


def test_changes_may_lie_further_back_than_the_window() -> None:
    """That bob's interval is long enough shows when its start has left the window long ago."""
    narrative = ["e|1|1|ann", "e|3|3|bob", "close|2|2|inf|true|ann|bob", "g|37|37|bob"]
    run = StagedRun(LONG, narrative, {"start": 0, "end": 50, "window": 5, "step": 5}, 3)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [(r.start, r.end) for r in found["final"] if r.name == "p"] == [(4, 38)]


def test_what_lies_further_back_than_the_window_is_told_once() -> None:
    """The pair is known when its first interval is long over, and more is looked back on."""
    text = """
    collectIntervals(close(_, _)=true).
    initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
    initiatedAt(b(X)=true, T) :- happensAt(start(a(X)=true), T).
    terminatedAt(b(X)=true, T) :- happensAt(n(X, _), T).
    dynamicDomain(pair(_, _)).
    grounding(close(X, Y)=true) :- pair(X, Y).
    grounding(p(X, Y)=true) :- pair(X, Y).
    holdsFor(p(X, Y)=true, I) :-
        holdsFor(close(X, Y)=true, C), holdsFor(b(Y)=true, K),
        union_all([C, K], L), complement_all([L], I).
    happensAt(q(X, Y), T) :-
        happensAt(start(p(X, Y)=true), T), (Z = X ; Z = Y), happensAt(end(a(Z)=true), T0),
        T0 =< T, T - T0 =< 9.
    """
    narrative = ["e|0|0|ann", "close|4|4|inf|true|ann|ann"]
    settings = {"start": -3, "end": 42, "step": 3, "window": 3}
    run = StagedRun(text, narrative, settings, 1)
    rules = horai.loads(run.rules)
    assert in_buckets(rules, run) == in_one_process(rules, run)


def test_initial_values_reach_later_stages_with_their_start() -> None:
    text = """
    initially(a(X)=true) :- who(X).
    terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
    initiatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(a(Y)=true, T).
    happensAt(q(X, Y), T) :- happensAt(meet(X, Y), T), happensAt(startI(a(X)=true), T0), T0 < T.
    who(ann). who(bob).
    """
    run = StagedRun(text, ["meet|7|7|ann|bob"], {"start": 3, "end": 9, "window": 3, "step": 3}, 4)
    rules = horai.loads(run.rules)
    assert in_buckets(rules, run) == in_one_process(rules, run)


def test_what_begins_after_the_query_time_reaches_later_stages() -> None:
    """An initiation at the query time itself: the interval begins one point later."""
    text = """
    collectIntervals(close(_, _)=true).
    initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
    holdsFor(p(X, Y)=true, I) :-
        holdsFor(close(X, Y)=true, C), holdsFor(a(X)=true, J), holdsFor(a(Y)=true, K),
        intersect_all([C, J, K], I).
    """
    narrative = ["close|1|1|inf|true|ann|bob", "e|2|2|bob", "e|10|10|ann"]
    run = StagedRun(text, narrative, {"start": 0, "end": 20, "window": 10, "step": 10}, 3)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [(r.query, r.start) for r in found["windows"] if r.name == "p"] == [(10, 11), (20, 11)]


def test_items_are_judged_by_the_window_also_where_changes_lie_further_back() -> None:
    """The second stage remembers more than the window, and still takes nothing that is too late."""
    narrative = [
        *("e|1|1|ann", "e|3|3|bob", "close|2|2|inf|true|ann|bob", "g|37|37|bob"),
        *("close|33|20|24|true|bob|ann", "-close|34|2|inf|true|ann|bob"),
    ]
    run = StagedRun(LONG, narrative, {"start": 0, "end": 50, "window": 5, "step": 5}, 3)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [letter.code for letter in found["letters"]] == ["too-late", "partly-too-late"]


def test_items_that_come_by_key_and_by_join_come_once() -> None:
    """Twice the same item would need two retractions."""
    text = """
    collectIntervals(close(_, _)=true).
    collectIntervals(at(_)=true).
    holdsFor(p(X, Y)=true, I) :-
        holdsFor(close(X, Y)=true, C), holdsFor(at(X)=true, J), holdsFor(at(Y)=true, K),
        intersect_all([C, J, K], I).
    """
    narrative = [
        *("close|1|1|inf|true|ann|bob", "close|1|1|inf|true|bob|ann"),
        *("at|2|2|9|true|ann", "at|2|2|9|true|bob", "-at|12|2|9|true|ann"),
    ]
    for buckets in (1, 2, 5):
        run = StagedRun(text, narrative, {"start": 0, "end": 20, "step": 10}, buckets)
        rules = horai.loads(run.rules)
        found = in_buckets(rules, run)
        assert found == in_one_process(rules, run)
        assert found["final"] == [] and found["changelog"] != []


@pytest.mark.parametrize("buckets", [1, 3])
def test_those_whom_only_a_grounding_of_what_is_read_makes_known(buckets: int) -> None:
    """Of x no interval comes, but an event: so it is a thing, and the complement speaks of it."""
    text = """
    collectIntervals(i1(_)=true).
    initially(n1(X)=0) :- thing(X).
    initiatedAt(n1(X)=N1,T) :-
        happensAt(e1(X),T), holdsAt(n1(X)=N,T), N < 3, N1 is N+1.
    initiatedAt(n1(X)=0,T) :- happensAt(e0,T), thing(X).
    holdsAt(m3(X)=true,T) :- thing(X), holdsAt(n1(X)=0,T), holdsAt(i1(X)=true,T).
    holdsFor(h4(X)=true,I) :- holdsFor(i1(X)=true,I1), complement_all([I1],I).
    dynamicDomain(thing(_)).
    grounding(e1(X)) :- thing(X).
    grounding(i1(X)=true) :- thing(X).
    """
    run = StagedRun(text, ["e1|1|1|x"], {"start": 0, "end": 36, "window": 36}, buckets)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [r.args for r in found["final"] if r.name == "h4"] == [("x",)]


LISTS = "collectIntervals(relieves(_, _)=true). collectIntervals(shift(_)=true).\n"
LOOSE = {
    "taken away": """holdsFor(alone(E, F)=true, I) :-
        holdsFor(relieves(F, E)=true, I1), holdsFor(shift(E)=true, I2),
        relative_complement_all(I2, [I1], I).""",
    "the rest of time": """holdsFor(alone(E, F)=true, I) :-
        holdsFor(relieves(F, E)=true, J), complement_all([J], I).""",
    "only added": """holdsFor(alone(E, F)=true, I) :-
        holdsFor(relieves(F, E)=true, I1), holdsFor(shift(E)=true, I2), union_all([I1, I2], I).""",
}


@pytest.mark.parametrize("body", LOOSE.values(), ids=LOOSE.keys())
@pytest.mark.parametrize("buckets", [2, 3, 5, 7])
def test_entities_that_no_row_has_to_name_are_known_in_all_buckets(body: str, buckets: int) -> None:
    """Whoever relieves somebody is somebody whom others may be without."""
    rules = horai.loads(LISTS + body)
    lines = ["relieves|1|1|5|true|a|b", "relieves|2|2|6|true|c|d"]
    lines += ["shift|4|4|9|true|g", "shift|4|4|8|true|b"]
    given_settings: dict[str, Any] = {"start": 0, "end": 10, "answers": "final"}
    wanted = rules.run(lines, **given_settings)
    found = run_job(LocalGrid(), SparkJob.of(rules, lines, RunSettings(**given_settings)), buckets)
    assert sorted(found.rows(), key=str) == sorted(wanted.rows(), key=str)
    assert len(wanted.rows()) > 3


def test_entities_that_some_row_names_can_be_split() -> None:
    both = """holdsFor(beside(E, F)=true, I) :- holdsFor(relieves(F, E)=true, I1),
        holdsFor(helps(F, E)=true, I2), union_all([I1, I2], I)."""
    found = horai.loads("collectIntervals(helps(_, _)=true).\n" + LISTS + both)
    assert [stage.is_split for stage in stages_of(found.description)] == [True]
    (stage,) = stages_of(horai.loads(LISTS + LOOSE["taken away"]).description)
    assert "what is known of F by relieves(F,E) does not carry E" in stage.unsplit[0].reason


@pytest.mark.parametrize("buckets", [1, 3])
def test_a_variable_of_the_conditions_alone_is_known_in_all_buckets(buckets: int) -> None:
    """The grounding says whom the head is about; of U any row may tell, whoever it is about."""
    text = """
    holdsFor(alone(E)=true, I) :-
        holdsFor(shift(E)=true, I0), holdsFor(relieves(E, U)=true, I1), complement_all([I0, I1], I).
    grounding(alone(E)=true) :- d(E).
    d(3).
    """
    run = StagedRun(LISTS + text, ["relieves|2|2|6|true|2|2"], {"start": 0, "end": 10}, buckets)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [r.args for r in found["final"] if r.name == "alone"] == [(3,)]


@pytest.mark.parametrize("buckets", [1, 3])
def test_groundings_of_what_an_earlier_stage_makes_say_who_is_known(buckets: int) -> None:
    text = """
    initiatedAt(g(2, X)=X, T) :- happensAt(a(X), T).
    grounding(g(X, Y)=true) :- r(X, Y).
    holdsFor(free(_)=true, I) :-
        holdsFor(shift(Y)=true, I0), holdsFor(g(Y, X)=true, I1), complement_all([I0, I1], I).
    grounding(free(X)=true) :- d(X).
    d(3). r(2, 2).
    """
    run = StagedRun(LISTS + text, ["a|3|3|1"], {"start": 0, "end": 10}, buckets)
    rules = horai.loads(run.rules)
    found = in_buckets(rules, run)
    assert found == in_one_process(rules, run)
    assert [r.args for r in found["final"] if r.name == "free"] == [(3,)]


@pytest.mark.parametrize("buckets", [1, 3])
@pytest.mark.parametrize(
    "helper", ["s(A) :- thing(A).", "s(A) :- r(A). r(A) :- thing(A), A \\= y."]
)
@pytest.mark.parametrize(
    "asking",
    [
        "holdsFor(h(X)=true, I) :- holdsFor(n(X)=0, J), union_all([J], I).\n"
        "grounding(h(X)=true) :- s(X).",
        "initiatedAt(h(X)=true, T) :- happensAt(e2(X), T), s(X).",
        "initiatedAt(h(X)=true, T) :- happensAt(e2(_), T), s(X).",
    ],
)
def test_a_helper_may_ask_for_members_of_a_dynamic_domain(
    asking: str, helper: str, buckets: int
) -> None:
    rules = horai.loads(
        f"initially(n(X)=0) :- thing(X).\n{asking}\n{helper}\n"
        "dynamicDomain(thing(_)).\ngrounding(e1(X)) :- thing(X).\n"
    )
    rows = ["e1|1|1|x", "e1|2|2|y", "e1|3|3|z", "e2|9|9|x"]
    run = StagedRun("", rows, {"start": 0, "end": 20}, buckets)
    wanted = in_one_process(rules, run)
    assert any(row.name == "h" for row in wanted["final"])
    assert in_buckets(rules, run) == wanted
