"""The running examples of "Reasoning over Streams of Events with Delayed Effects" (JAIR 84, 2025).

Numbers are ours. An initiation at T holds from T+1 on, and what breaks at P holds up to P: so a
value initiated at 2 and broken at 9 has the interval (3,10).
"""

from __future__ import annotations

import pytest
from tests.oracle.story import Held, describe, held, outputs, queries, run

from horai.oracle.evaluate import Interpreter
from horai.oracle.intervals import INF

QUOTES = """
initiatedAt(quote(M,C,G)=true, T) :- happensAt(present_quote(M,C,G,_P), T).
initiatedAt(quote(M,C,G)=false, T) :- happensAt(accept_quote(C,M,G), T).
"""
EXPIRING = """
fi(quote(M,C,G)=true, quote(M,C,G)=expiring, 5).
fi(quote(M,C,G)=expiring, quote(M,C,G)=false, 3).
"""
PROLONGED = "p(quote(_,_,_)=true).\n"
# Figure 2: F=V is f=on, F=V' is f=off, R is 10.
ON = """
initiatedAt(f=on, T) :- happensAt(up, T).
terminatedAt(f=on, T) :- happensAt(down, T).
fi(f=on, f=off, 10).
"""
POSTPONED = ON + "p(f=on).\n"

WINDOWS = [(1, 1), (2, 1), (5, 5), (10, 5), (10, 10), (40, 20)]


def in_any_window(rules: str, items: str, until: int = 40) -> Held:
    """The answer of one window over everything, which every other windowing has to give too."""
    description = describe(rules)
    once = run(description, items, until)
    for window, step in WINDOWS:
        if until % step:
            continue
        *_, last = queries(description, items, until=until, window=window, step=step)
        all_spans = {p: s for p, s in held(last.all_spans).items() if p in once}
        assert all_spans == once, (window, step)
    return once


def quotes(items: str, rules: str = QUOTES + EXPIRING) -> dict[str, list[tuple[int, float]]]:
    """The intervals of the one quote of a story, by value."""
    short = items.replace("present", "present_quote(m,c,g,10)")
    short = short.replace("accept", "accept_quote(c,m,g)")
    return {pair.split("=")[1]: spans for pair, spans in in_any_window(rules, short).items()}


# --- Examples 2 to 4: quotes ---------------------------------------------------------------------


def test_example_2_a_quote_lasts_from_its_presentation_to_its_acceptance() -> None:
    assert quotes("present 3; accept 10", QUOTES) == {"true": [(4, 11)], "false": [(11, INF)]}


def test_section_2_initiations_inside_an_interval_and_breaks_outside_one_say_nothing() -> None:
    # Initiated at 10 and 20, broken at 25 and 30: holds at all T with 10 < T =< 25.
    assert run(ON.replace("fi(f=on, f=off, 10).", ""), "up 10; up 20; down 25; down 30", 40) == {
        "f=on": [(11, 26)]
    }


def test_example_2_terminating_true_is_not_initiating_false() -> None:
    rules = QUOTES.replace("initiatedAt(quote(M,C,G)=false", "terminatedAt(quote(M,C,G)=true")
    assert quotes("present 3; accept 10", rules) == {"true": [(4, 11)]}


def test_example_3_a_quote_expires_in_two_steps() -> None:
    # Presented at 2: expiring is due at 2+5=7, false at 7+3=10.
    assert quotes("present 2") == {"true": [(3, 8)], "expiring": [(8, 11)], "false": [(11, INF)]}


def test_example_3_acceptance_cancels_what_is_due() -> None:
    assert quotes("present 2; accept 4") == {"true": [(3, 5)], "false": [(5, INF)]}
    # Accepted at 9, while expiring; the initiation of false due at 10 is cancelled.
    assert quotes("present 2; accept 9") == {
        "true": [(3, 8)],
        "expiring": [(8, 10)],
        "false": [(10, INF)],
    }


def test_example_3_a_break_exactly_at_the_deadline_is_not_in_between() -> None:
    # At 7 both expiring (due) and false (accepted) are initiated: they cancel, true ends. Both
    # initiations were raw ones: that of expiring makes an attempt of its own, false is due at 10,
    # but expiring is broken at 7 only, which is not after its initiation: so false starts at 10.
    assert quotes("present 2; accept 7") == {"true": [(3, 8)], "false": [(11, INF)]}


def test_example_4_presenting_again_prolongs_a_quote() -> None:
    rules = QUOTES + EXPIRING + PROLONGED
    # The clock starts anew at 6: expiring at 11, false at 14.
    assert quotes("present 2; present 6", rules) == {
        "true": [(3, 12)],
        "expiring": [(12, 15)],
        "false": [(15, INF)],
    }


def test_example_4_without_p_presenting_again_changes_nothing() -> None:
    assert quotes("present 2; present 6") == quotes("present 2")


def test_section_3_of_two_delays_on_one_pair_only_the_shorter_can_act() -> None:
    rules = QUOTES + EXPIRING + "fi(quote(M,C,G)=true, quote(M,C,G)=false, 9).\n"
    assert quotes("present 2", rules) == quotes("present 2")


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


# --- Examples 6 to 10: dependencies and levels ---------------------------------------------------

NETBILL = (
    QUOTES
    + EXPIRING
    + """
initiatedAt(permission(M,C)=false, T) :- happensAt(present_quote(M,C,_G,_P), T).
initiatedAt(permission(M,C)=true, T) :- happensAt(request_quote(C,M,_G), T).
fi(permission(M,C)=false, permission(M,C)=true, 4).

initiatedAt(contract(M,C,G)=true, T) :-
    happensAt(accept_quote(C,M,G), T),
    (holdsAt(quote(M,C,G)=true, T) ; holdsAt(quote(M,C,G)=expiring, T)),
    \\+ holdsAt(suspended(C)=true, T).
fi(contract(M,C,G)=true, contract(M,C,G)=false, 6).

initiatedAt(suspended(M)=true, T) :-
    happensAt(present_quote(M,C,_G,_P), T), holdsAt(permission(M,C)=false, T).
initiatedAt(suspended(C)=true, T) :-
    happensAt(withhold(C,M,G), T), holdsAt(contract(M,C,G)=true, T).
fi(suspended(X)=true, suspended(X)=false, 4).
"""
)


def test_examples_6_to_10_components_and_their_order() -> None:
    strata = Interpreter(describe(NETBILL)).strata
    components = [sorted(node.key[0] for node in component) for component in strata.components]
    # Contract depends on quote and suspended, suspended on permission and contract.
    assert sorted(components) == [["contract", "suspended"], ["permission"], ["quote"]]
    assert components[-1] == ["contract", "suspended"]


def test_example_9_contract_and_suspension_depend_on_each_other() -> None:
    items = """
        present_quote(m,c,g,10) 2; accept_quote(c,m,g) 4; withhold(c,m,g) 6
        present_quote(m,c,g,12) 8; accept_quote(c,m,g) 9
        present_quote(m,c,g,12) 14; accept_quote(c,m,g) 20
    """
    # Quote: true at 2, false at 4; true at 8, false at 9; true at 14, expiring at 19, false at 20.
    # Permission: false at 2, due back at 6; false at 8, back at 12; false at 14, back at 18. The
    # merchant is never suspended: at 8 and 14 permission is true again.
    # Contract: accepted at 4 (quote true); it ends at 10.  At 9 the consumer is suspended (withheld
    # at 6, until 10): no contract.  At 20 (expiring): a contract until 26.
    assert in_any_window(NETBILL, items) == {
        "quote(m,c,g)=true": [(3, 5), (9, 10), (15, 20)],
        "quote(m,c,g)=expiring": [(20, 21)],
        "quote(m,c,g)=false": [(5, 9), (10, 15), (21, INF)],
        "permission(m,c)=false": [(3, 7), (9, 13), (15, 19)],
        "permission(m,c)=true": [(7, 9), (13, 15), (19, INF)],
        "contract(m,c,g)=true": [(5, 11), (21, 27)],
        "contract(m,c,g)=false": [(11, 21), (27, INF)],
        "suspended(c)=true": [(7, 11)],
        "suspended(c)=false": [(11, INF)],
    }


def test_example_9_a_merchant_who_presents_without_permission_is_suspended() -> None:
    items = "present_quote(m,c,g,10) 2; present_quote(m,c,h,10) 5"
    # Permission is false from 3 to 6: at 5 the merchant has none. The second presentation makes an
    # attempt too, but without p the first one (due at 6) acts and breaks it. Suspended until 9.
    found = in_any_window(NETBILL, items)
    assert found["permission(m,c)=false"] == [(3, 7)]
    assert found["permission(m,c)=true"] == [(7, INF)]
    assert found["suspended(m)=true"] == [(6, 10)]
    assert found["suspended(m)=false"] == [(10, INF)]


# --- Examples 11 to 13: chains and several sources -----------------------------------------------


def test_example_11_a_chain_of_future_initiations() -> None:
    # Presented at 2 and 20: expiring at 7 and 25, false at 10 and 28.
    assert quotes("present 2; present 20") == {
        "true": [(3, 8), (21, 26)],
        "expiring": [(8, 11), (26, 29)],
        "false": [(11, 21), (29, INF)],
    }


SOURCES = """
initiatedAt(f=v1, T) :- happensAt(one, T).
initiatedAt(f=v2, T) :- happensAt(two, T).
fi(f=v1, f=v3, 4).
fi(f=v2, f=v3, 7).
"""


def test_example_12_two_sources_of_one_target() -> None:
    # v1 at 2 leads to v3 at 6; v2 at 10 to v3 at 17.
    assert in_any_window(SOURCES, "one 2; two 10") == {
        "f=v1": [(3, 7)],
        "f=v2": [(11, 18)],
        "f=v3": [(7, 11), (18, INF)],
    }
    # v2 at 4 breaks v1 before its deadline: only the attempt of v2 is left, due at 11.
    assert in_any_window(SOURCES, "one 2; two 4") == {
        "f=v1": [(3, 5)],
        "f=v2": [(5, 12)],
        "f=v3": [(12, INF)],
    }


def test_example_13_the_order_of_unordered_pairs_does_not_matter() -> None:
    backwards = "\n".join(reversed(SOURCES.strip().splitlines()))
    for items in ("one 2; two 10", "one 2; two 4", "one 2; two 2", "two 2; one 8"):
        assert run(backwards, items) == run(SOURCES, items)


# --- chains that close, and cycles with holdsAt --------------------------------------------------

LIGHT = """
initiatedAt(light=green, T) :- happensAt(on, T).
fi(light=green, light=yellow, 5).
fi(light=yellow, light=red, 2).
fi(light=red, light=green, 4).
"""


def test_a_closed_chain_runs_for_ever() -> None:
    # Green at 1, yellow at 6, red at 8, green at 12, and so on every 11 points.
    assert in_any_window(LIGHT, "on 1", 30) == {
        "light=green": [(2, 7), (13, 18), (24, 29)],
        "light=yellow": [(7, 9), (18, 20), (29, 31)],
        "light=red": [(9, 13), (20, 24), (31, INF)],
    }


def test_a_closed_chain_that_is_pushed() -> None:
    # At 7 (yellow since 6, red due at 8) the light is switched to green: yellow is due at 12.
    found = in_any_window(LIGHT, "on 1; on 7", 16)
    assert found == {
        "light=green": [(2, 7), (8, 13)],
        "light=yellow": [(7, 8), (13, 15)],
        "light=red": [(15, INF)],
    }


MIXED = """
initiatedAt(f=true, T) :- happensAt(a, T), \\+ holdsAt(g=true, T).
initiatedAt(g=true, T) :- happensAt(a, T), holdsAt(f=true, T).
fi(f=true, f=false, 4).
fi(g=true, g=false, 6).
"""


def test_a_cycle_of_delays_and_conditions() -> None:
    # 2: f (g is not). 4: f again, and g (f holds). 5: g again (g holds, so f is not initiated).
    # 6: f=false is due (since 2); the attempt of 4 dies. 9: neither f (g holds) nor g (f does not).
    # 10: g=false is due (since 4); that of 5 dies. 12: f. 16: f=false.
    assert in_any_window(MIXED, "a 2; a 4; a 5; a 9; a 12") == {
        "f=true": [(3, 7), (13, 17)],
        "f=false": [(7, 13), (17, INF)],
        "g=true": [(5, 11)],
        "g=false": [(11, INF)],
    }


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
