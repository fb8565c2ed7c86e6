"""The running examples of "Reasoning over Streams of Events with Delayed Effects" (JAIR 84, 2025).

Numbers are ours. An initiation at T holds from T+1 on, and what breaks at P holds up to P: so a
value initiated at 2 and broken at 9 has the interval (3,10).
"""

from __future__ import annotations

from tests.oracle.story import describe, run
from tests.paper.windows import in_any_window

from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import Interpreter

QUOTES = """
initiatedAt(quote(M,C,G)=true, T) :- happensAt(present_quote(M,C,G,_P), T).
initiatedAt(quote(M,C,G)=false, T) :- happensAt(accept_quote(C,M,G), T).
"""
EXPIRING = """
fi(quote(M,C,G)=true, quote(M,C,G)=expiring, 5).
fi(quote(M,C,G)=expiring, quote(M,C,G)=false, 3).
"""
PROLONGED = "p(quote(_,_,_)=true).\n"


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
    rules = """
    initiatedAt(f=on, T) :- happensAt(up, T).
    terminatedAt(f=on, T) :- happensAt(down, T).
    """
    assert run(rules, "up 10; up 20; down 25; down 30", 40) == {"f=on": [(11, 26)]}


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
