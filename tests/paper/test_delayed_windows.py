"""Figure 2 and Appendix C of the paper on delayed effects: attempts, windows, deadlines.

F=V is f=on, F=V' is f=off, R is 10; every story gives the same answer in every windowing.
"""

from __future__ import annotations

import pytest
from tests.oracle.story import Held, outputs
from tests.paper.windows import in_any_window

from horai.oracle.ec.intervals import INF

ON = """
initiatedAt(f=on, T) :- happensAt(up, T).
terminatedAt(f=on, T) :- happensAt(down, T).
fi(f=on, f=off, 10).
"""
POSTPONED = ON + "p(f=on).\n"


# --- Example 5 and Figure 2: streams of events with delayed effects ------------------------------


@pytest.mark.parametrize(
    ("items", "fixed", "postponed"),
    [
        # (ii) three initiations at T1=2, T2=4, T3=7. Without p the first deadline counts, 12; the
        # attempts of 4 and 7 are broken by it. With p the last one, 17.
        (
            "up 2; up 4; up 7",
            {"f=on": [(3, 13)], "f=off": [(13, INF)]},
            {"f=on": [(3, 18)], "f=off": [(18, INF)]},
        ),
        # (iii) a termination at 9, before the first deadline: both attempts are broken by it.
        ("up 2; up 5; down 9", {"f=on": [(3, 10)]}, {"f=on": [(3, 10)]}),
        # (iv) a termination at 14, between the deadlines 12 and 16. Without p it comes too late to
        # matter; with p it breaks the only attempt left.
        (
            "up 2; up 6; down 14",
            {"f=on": [(3, 13)], "f=off": [(13, INF)]},
            {"f=on": [(3, 15)]},
        ),
    ],
    ids=["ii", "iii", "iv"],
)
def test_figure_2_inside_a_window(items: str, fixed: Held, postponed: Held) -> None:
    assert in_any_window(ON, items) == fixed
    assert in_any_window(POSTPONED, items) == postponed


def test_figure_2_i_attempts_made_before_the_window_act_inside_it() -> None:
    # The window at 20 is (10,20]: no initiation in it, but the deadlines 12, 14 and 17.
    for rules, deadline in ((ON, 12), (POSTPONED, 17)):
        at_10, at_20, at_30 = outputs(rules, "up 2; up 4; up 7", until=30, window=10, step=10)
        assert at_10 == {"f=on": [(3, INF)]}
        assert at_20 == {"f=on": [(3, deadline + 1)], "f=off": [(deadline + 1, INF)]}
        assert at_30 == {"f=off": [(deadline + 1, INF)]}


def test_figure_2_v_deadlines_after_the_window_wait_for_a_later_one() -> None:
    for rules, deadline in ((ON, 22), (POSTPONED, 27)):
        _, at_20, at_30 = outputs(rules, "up 12; up 14; up 17", until=30, window=10, step=10)
        assert at_20 == {"f=on": [(13, INF)]}
        assert at_30 == {"f=on": [(13, deadline + 1)], "f=off": [(deadline + 1, INF)]}


@pytest.mark.parametrize("rules", [ON, POSTPONED])
def test_delays_longer_than_the_window(rules: str) -> None:
    # Initiated at 3, due at 13; windows of 4 forget the initiation long before.
    answers = outputs(rules, "up 3", until=20, window=4, step=2)
    expected: list[Held] = [{}]  # at 2
    expected += [{"f=on": [(4, INF)]}] * 5  # at 4 to 12
    expected += [{"f=on": [(4, 14)], "f=off": [(14, INF)]}] * 2  # at 14 and 16: 13 is after 16-4
    expected += [{"f=off": [(14, INF)]}] * 2  # at 18 and 20
    assert answers == expected


def test_example_14_the_attempt_that_counts_is_the_one_of_the_intervals_start() -> None:
    # The window at 25 is (15,25]; initiations at 12 (the start of the interval) and at 14 lie
    # before it, one at 17 inside. Without p: due at 22. With p the ones at 22 and 24 give way.
    for rules, deadline in ((ON, 22), (POSTPONED, 27)):
        answers = outputs(rules, "up 12; up 14; up 17", until=30, window=10, step=5)
        assert answers[-1] == {"f=on": [(13, deadline + 1)], "f=off": [(deadline + 1, INF)]}


def test_example_14_attempts_of_an_interval_that_ended_before_the_window_are_discarded() -> None:
    # Terminated at 6: the attempt due at 12 is dead before the window (10,20] begins.
    answers = outputs(ON, "up 2; down 6", until=20, window=10, step=10)
    assert answers == [{"f=on": [(3, 7)]}, {}]


def test_example_15_cancellation_uses_the_future_initiations_found_before() -> None:
    # Initiated at 2, 4 and 13. Due at 12 (acts), at 14 (broken at 12), and at 23 (acts: after the
    # break at 12 the value started again at 13).
    assert in_any_window(ON, "up 2; up 4; up 13") == {
        "f=on": [(3, 13), (14, 24)],
        "f=off": [(13, 14), (24, INF)],
    }


def test_example_16_late_events_invalidate_attempts_of_an_overlapping_window() -> None:
    # At 20 the value is on since 12, due at 22. Then it becomes known that it ended at 15.
    items = "up 12; down 15 arrives 25"
    at_20, at_30 = outputs(ON, items, until=30, window=20, step=10)[1:]
    assert at_20 == {"f=on": [(13, INF)]}
    assert at_30 == {"f=on": [(13, 16)]}
    # Without p only the attempt of the interval's start is left; a late initiation may take its
    # place: initiated at 8, arriving late, the deadline moves back to 18.
    items = "up 12; up 8 arrives 25"
    at_20, at_30 = outputs(ON, items, until=30, window=25, step=10)[1:]
    assert at_20 == {"f=on": [(13, INF)]}
    assert at_30 == {"f=on": [(9, 19)], "f=off": [(19, INF)]}
    # With p a late initiation after the others moves it on: at 15, due at 25.
    items = "up 12; up 15 arrives 25"
    at_20, at_30 = outputs(POSTPONED, items, until=30, window=20, step=10)[1:]
    assert at_20 == {"f=on": [(13, INF)]}
    assert at_30 == {"f=on": [(13, 26)], "f=off": [(26, INF)]}


# --- deadlines exactly met -----------------------------------------------------------------------


def test_initiation_at_the_deadline_without_p_cancels_both_values() -> None:
    # Due at 12, initiated again at 12: neither starts, on ends. The second initiation makes an
    # attempt although it is broken itself, due at 22.
    assert in_any_window(ON, "up 2; up 12") == {"f=on": [(3, 13)], "f=off": [(23, INF)]}


def test_initiation_at_the_deadline_with_p_restarts_the_clock() -> None:
    assert in_any_window(POSTPONED, "up 2; up 12") == {"f=on": [(3, 23)], "f=off": [(23, INF)]}


def test_termination_at_the_deadline_comes_too_late() -> None:
    assert in_any_window(ON, "up 2; down 12") == {"f=on": [(3, 13)], "f=off": [(13, INF)]}


def test_a_value_that_holds_from_the_start_counts_as_initiated_just_before() -> None:
    # Initiated at -1, so due at 9: ten points from 0 on.
    assert in_any_window(ON + "initially(f=on).\n", "") == {"f=on": [(0, 10)], "f=off": [(10, INF)]}


# --- Appendix C: future terminations -------------------------------------------------------------

ENDING = ON.replace("fi(f=on, f=off, 10).", "ft(f=on, 10).")


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("up 2", [(3, 13)]),
        ("up 2; up 4; up 7", [(3, 13)]),  # the first attempt wins
        ("up 2; down 6; up 8", [(3, 7), (9, 19)]),  # the first one is broken
        ("up 2; up 12", [(3, 13)]),  # the break at the deadline wins; what 12 tries ends nothing
        ("up 2; up 13", [(3, 13), (14, 24)]),
    ],
)
def test_future_terminations(items: str, expected: list[tuple[int, float]]) -> None:
    assert in_any_window(ENDING, items) == {"f=on": expected}


def test_future_terminations_can_be_postponed() -> None:
    rules = ENDING + "p(f=on).\n"
    assert in_any_window(rules, "up 2; up 4; up 7") == {"f=on": [(3, 18)]}
    assert in_any_window(rules, "up 2; up 12") == {"f=on": [(3, 23)]}


def test_of_an_initiation_and_a_termination_the_shorter_delay_acts() -> None:
    assert in_any_window(ON + "ft(f=on, 6).\n", "up 2") == {"f=on": [(3, 9)]}
    assert in_any_window(ON + "ft(f=on, 14).\n", "up 2") == in_any_window(ON, "up 2")
