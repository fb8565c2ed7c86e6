"""Buckets change the cost of a LARS program, never its answers: random runs, without Spark."""

from __future__ import annotations

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.spark.lars_runs import LarsRun, alone, case_runs, in_buckets, plain_runs, split_runs
from tests.weights import examples

import horai
from horai.plan.split.lars import parts_of

CASES = case_runs()


def check(run: LarsRun) -> None:
    assert in_buckets(run) == alone(run)


@examples("heavy")
@given(st.one_of(split_runs(), split_runs(), plain_runs()))
def test_buckets_give_the_answers_of_one_process(run: LarsRun) -> None:
    event(f"split: {parts_of(horai.loads(run.text, language='lars').in_points()).are_split}")
    check(run)


@pytest.mark.parametrize("name", CASES)
def test_a_case(name: str) -> None:
    check(CASES[name])
