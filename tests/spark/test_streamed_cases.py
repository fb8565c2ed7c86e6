"""Every case gives as a stream what it gives in one process, however it comes.

All of them in steps without Spark, some on Spark; `test_cluster_cases` has all of them on Spark.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.spark.feeding import Feed, feed_of
from tests.spark.given_cases import Given, project_cases, refused_cases, shared_cases
from tests.spark.streamed_cases import final, in_steps, on_spark, wanted

import horai
from horai.runtime.spark.shuffle import SparkGrid
from horai.testing import case_rules

OWN = project_cases()
ALL = [*OWN, *shared_cases()]
SOME = random.Random(8).sample(ALL, 8)


def named(cases: list[Given], quick: int) -> pytest.MarkDecorator:
    """All of them, and some, evenly spread, also where there is little time."""
    few = {place * len(cases) // quick for place in range(quick)}
    some = [
        pytest.param(given, id=given.name, marks=() if place in few else pytest.mark.slow)
        for place, given in enumerate(cases)
    ]
    return pytest.mark.parametrize("given", some)


def feeds_of(given: Given, seed: int, most: int) -> list[Feed]:
    """In time and not."""
    return [feed_of(given, seed, in_time=in_time, most=most) for in_time in (True, False)]


@named(ALL, quick=50)
def test_a_case_in_steps(given: Given) -> None:
    for feed in feeds_of(given, 1, 6):
        said = in_steps(feed, seed=1)
        assert said == wanted(feed)
        if not feed.forgets:
            assert said.final == final(given)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(2, 32))
def test_all_cases_in_steps_at_length(seed: int) -> None:
    for given in ALL:
        for feed in feeds_of(given, seed, 9):
            said = in_steps(feed, seed)
            assert said == wanted(feed), feed
            assert feed.forgets or said.final == final(given), feed


@named(SOME, quick=2)
def test_a_case_on_spark(grid: SparkGrid, given: Given, tmp_path: Path) -> None:
    number = SOME.index(given)
    feed = feeds_of(given, 1, 3)[number % 2]
    said = on_spark(feed, tmp_path, seed=number)
    assert said == wanted(feed)
    if not feed.forgets:
        assert said.final == final(given)


def test_only_cases_about_refused_rules_are_left_out() -> None:
    """Whatever else there is has a start and an end, so that it can be a stream."""
    refused = refused_cases()
    assert (len(OWN) > 250, len(refused)) == (True, 12)
    for case in refused:
        with pytest.raises(horai.RulesError):
            case_rules(case)
    assert [given.name for given in ALL if not {"start", "end"} <= given.settings.keys()] == []


def test_streams_of_cases_are_disturbed() -> None:
    """What comes again, comes out of order and comes in parts is no exception."""
    feeds = [feed for given in OWN for feed in feeds_of(given, 1, 6)]
    assert sum(feed.taken_back > 0 for feed in feeds) > len(feeds) / 2
    assert sum(len(feed.chunks) > 2 for feed in feeds) > len(feeds) / 2
    assert sum(feed.out_of_order > 0 for feed in feeds if feed.in_time) > len(feeds) / 8
    assert sum(feed.out_of_order > 0 for feed in feeds if not feed.in_time) > len(feeds) / 4
