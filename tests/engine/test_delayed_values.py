"""Delayed effects that compute, compare and look: every way to run them gives the same answers.

The reference says what is right. Beside it the compiled engine works in one process, saved and
restored, and in buckets. To try 20,000 programs:

    python -m pytest -n 0 -x -s tests/engine/test_delayed_values.py -k at_length
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, seed
from tests.strategies.delays import DelayRun, delay_runs
from tests.weights import exactly, examples

import horai
from horai.errors import RunError
from horai.io.items.tables import by_arrival, extent
from horai.lang.core.terms import variables
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import FutureInitiation, FutureTermination
from horai.oracle.ec.background import Background
from horai.oracle.ec.delays import Initiations
from horai.plan.ec.delays import initiation_times
from horai.plan.unfolding import Helpers
from horai.result import Answer, Result
from horai.rules import Rules
from horai.runtime.inputs import read_input
from horai.runtime.jobs import SparkJob
from horai.runtime.records import LocalGrid
from horai.runtime.spark.batch import run_job
from horai.settings import RunSettings, plan_run

FOUND = (  # runs whose answers differed once
    DelayRun(
        """
        initiatedAt(k(X)=V, T) :- happensAt(tune(X, V), T).
        initiatedAt(m(X)=V, T) :- happensAt(put(X, V), T).
        fi(m(X)=_, m(X)=9, 3) :-
            (holdsAt(k(X)=U, T), W is U-1 ; W is 1), D is T+3, holdsAt(k(X)=U, D).
        """,
        ["tune|2|2|x|4", "put|5|5|x|3", "put|6|6|y|7", "tune|8|8|y|8"],
        {"start": 0, "end": 20, "step": 6, "window": None, "tick": 1},
        restored=0,
        buckets=1,
    ),
)


def told(run: Callable[[], Result]) -> dict[str, Any]:
    """All that a result says, or why there is none."""
    try:
        result = run()
    except RunError as error:
        return {"refused": reason(str(error))}
    return {
        "final": result.answers[-1].everything,
        "answers": [(answer.query, answer.rows(), answer.changes) for answer in result.answers],
        "letters": sorted(result.dead_letters),
    }


def reason(message: str) -> str:
    """What a refusal is about: engines say it in words of their own."""
    if "at a later time than the rule is about" in message or "its own future" in message:
        return "future"
    return "not settled" if "if, and only if, they are not" in message else message


def restored(rules: Rules, run: DelayRun, engine: str) -> Result:
    """What a session says that goes on once it was saved and restored."""
    how = {name: run.settings[name] for name in ("start", "window", "tick")}
    session = rules.session(engine=engine, **how)
    narrative = read_input(run.narrative, rules.schema, session.clock)
    session.dead_letters.extend(narrative.dead_letters)
    schedule = plan_run(RunSettings(**run.settings), extent(narrative.tables))
    assert schedule is not None
    queries = schedule.queries
    answers: list[Answer] = []
    for place, arrived in enumerate(by_arrival(narrative.tables, queries)):
        if place == run.restored:
            session = horai.load_session(session.save())
        answers.append(session.take(queries[place], arrived))
    session.answers = answers
    return session.finish()


def check(run: DelayRun) -> bool:
    """Run it in all ways; was it run to its end?"""
    rules = horai.loads(run.rules)
    lines, how = run.narrative, run.settings
    wanted = told(lambda: rules.run(lines, engine="reference", **how))
    assert told(lambda: rules.run(lines, **how)) == wanted
    assert told(lambda: restored(rules, run, "auto")) == wanted
    in_buckets = told(
        lambda: run_job(LocalGrid(), SparkJob.of(rules, lines, RunSettings(**how)), run.buckets)
    )
    assert in_buckets == wanted
    return "refused" not in wanted


def run_all(how: Callable[[Any], Any]) -> None:
    """Check many runs. What all ways refuse proves little, so most must be run to their end."""
    ended: list[bool] = []

    @how
    @given(delay_runs())
    def attempt(run: DelayRun) -> None:
        ended.append(check(run))

    attempt()
    print(f"{sum(ended)} of {len(ended)} programs were run to their end")
    assert sum(ended) > 0.9 * len(ended)


@pytest.mark.parametrize("run", FOUND, ids=range(len(FOUND)))
def test_runs_that_differed_once_do_so_no_more(run: DelayRun) -> None:
    assert check(run)


def test_all_ways_give_the_answers_of_the_reference() -> None:
    run_all(examples("heavy"))


@pytest.mark.slow
@pytest.mark.timeout(0)  # by the clock a busy machine may need many times as long as an idle one
@pytest.mark.parametrize("part", range(40))
def test_all_ways_give_the_answers_of_the_reference_at_length(part: int) -> None:
    chosen = random.SystemRandom().randrange(10**9)
    print(f"part {part}, seed {chosen}")
    many = exactly(500, database=None)
    run_all(lambda attempt: seed(chosen)(many(attempt)))


@examples("light")
@given(delay_runs())
def test_the_time_of_initiation_is_found_in_bodies_and_in_helpers(run: DelayRun) -> None:
    description, _ = read_text(run.rules)
    helpers, initiations = Helpers(description), Initiations(Background(description))
    for rule in description.rules:
        if isinstance(rule, FutureInitiation | FutureTermination):
            time = "T" if "T" in variables(rule.body.term) else None
            assert initiation_times(rule, helpers) == ([time] if time else [])
            assert initiations.time_of(rule) == time
