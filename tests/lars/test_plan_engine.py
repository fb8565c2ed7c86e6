"""The plan engine says what the reference says, at every query time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from tests.lars.plain_programs import Sent, Story, stories
from tests.lars.planned import by_plan, by_reference

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


# A signal may be taken back when it is forgotten already.
FORGOTTEN = Story("g(x).\ng(3).\np1(X) :- s(X), X != y.", (Sent("s", ("x",), 0, 0, gone=2),), 0)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(stories())
@example(FORGOTTEN)
def test_plain_programs(story: Story) -> None:
    assert by_plan(story) == by_reference(story)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@settings(max_examples=6000, deadline=None, suppress_health_check=QUIET)
@given(stories())
def test_plain_programs_at_length(story: Story) -> None:
    assert by_plan(story) == by_reference(story)
