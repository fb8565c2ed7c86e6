"""Buckets change the cost of a LARS program, never its answers: random runs, without Spark."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.spark.lars_runs import LarsRun, alone, case_runs, in_buckets, plain_runs, split_runs

from horai import lars
from horai.plan.lars.parts import parts_of

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
CASES = case_runs()


def check(run: LarsRun) -> None:
    assert in_buckets(run) == alone(run)


@settings(max_examples=80, deadline=None, suppress_health_check=QUIET)
@given(st.one_of(split_runs(), split_runs(), plain_runs()))
def test_buckets_give_the_answers_of_one_process(run: LarsRun) -> None:
    event(f"split: {parts_of(lars.loads(run.text).in_points()).are_split}")
    check(run)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@settings(max_examples=3000, deadline=None, suppress_health_check=QUIET)
@given(st.one_of(split_runs(), split_runs(), plain_runs()))
def test_buckets_give_the_answers_of_one_process_at_length(run: LarsRun) -> None:
    check(run)


@pytest.mark.parametrize("name", CASES)
def test_a_case(name: str) -> None:
    check(CASES[name])
