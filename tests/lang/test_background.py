"""Background knowledge of files written for other engines."""

from __future__ import annotations

import pytest

from horai.lang.core.printer import show
from horai.lang.core.terms import Constant, Int
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import (
    BackgroundRule,
    Call,
    Declaration,
    DurationFilter,
    DynamicDomain,
    EventDescription,
    Grounding,
    HoldsForRule,
    Initially,
    Initiation,
    Termination,
)

MEASURED = """
intDurGreater(If, V, I) :-
    findall((S,E), (member((S,E), If),
        (E \\= inf -> (Diff is E - S, Diff > V) ; (queryTime(Q), Diff is Q - S, Diff > V))), I).
"""
CLOSED_ONLY = """
intDurLess(If, V, I) :-
    findall((S,E), (member((S,E), If), (E \\= inf, Diff is E - S, Diff < V)), I).
"""
OPEN_PASS = """
intDurGreater(If, V, I) :-
    findall((S,E), (member((S,E), If), ((E \\= inf, D is E - S, D > V) ; E = inf)), I).
"""
OTHER_NAME = """
atLeast(Bound, Long, All) :-
    findall((S,E), (member((S,E), All), E \\= inf, Bound =< E - S), Long).
"""


def read(text: str) -> EventDescription:
    description, findings = read_text(text)
    assert not findings, findings[0].render()
    return description


def duration(definition: str, use: str) -> DurationFilter:
    text = f"{definition}\nholdsFor(h=true, I) :- holdsFor(f=true, J), {use}."
    (rule,) = read(text).rules
    assert isinstance(rule, HoldsForRule)
    literal = rule.body.items[1]
    assert isinstance(literal, DurationFilter)
    return literal


@pytest.mark.parametrize(
    ("definition", "use", "op", "open_counts"),
    [
        (MEASURED, "intDurGreater(J, 6, I)", ">", True),
        (CLOSED_ONLY, "intDurLess(J, 6, I)", "<", False),
        (OPEN_PASS, "intDurGreater(J, 6, I)", ">", True),
        (OTHER_NAME, "atLeast(6, I, J)", ">=", False),
        ("", "intDurLess(J, 6, I)", "<", True),
    ],
    ids=["measured", "closed only", "open pass", "other name", "built in"],
)
def test_duration_filters(definition: str, use: str, op: str, open_counts: bool) -> None:
    literal = duration(definition, use)
    assert (literal.op, literal.open_counts, literal.bound) == (op, open_counts, Int(6))
    assert str(literal.intervals) == "Var(name='J')"
    assert str(literal.result) == "Var(name='I')"


def test_a_duration_filter_that_is_not_understood_is_replaced_with_a_warning() -> None:
    text = "durLess([], _, []).\ndurLess([X|L], D, M) :- mine(X, D), durLess(L, D, M)."
    description, findings = read_text(text)
    assert [finding.code for finding in findings] == ["H122"]
    assert description.rules == []


def test_other_predicates_of_three_arguments_stay() -> None:
    description = read("fmod(A, B, M) :- Div is A / B, M is A - floor(Div) * B.")
    assert [type(rule) for rule in description.rules] == [BackgroundRule]


def test_own_facts_win_over_a_built_in_of_the_same_name() -> None:
    description = read("length(ship, 120).\nlong(X) :- length(X, L), L > 100.")
    assert description.facts[("length", 2)].rows == [(Constant("ship"), Int(120))]
    (rule,) = description.rules
    assert isinstance(rule, BackgroundRule)
    assert isinstance(rule.body.items[0], Call)


def test_a_cut_that_only_saves_work_is_passed_over() -> None:
    text = (
        "holdsFor(moving(P, Q)=true, I) :-\n"
        "    holdsFor(walking(P)=true, I1), \\+ I1=[], !,\n"
        "    holdsFor(walking(Q)=true, I2), intersect_all([I1, I2], I).\n"
        "holdsFor(moving(_P, _Q)=true, []).\n"
    )
    description, findings = read_text(text)
    assert [finding.code for finding in findings] == ["H123"]
    (rule,) = description.rules
    assert isinstance(rule, HoldsForRule)
    assert len(rule.body.items) == 4


@pytest.mark.parametrize("second", ["h=true", "h=_", "h=V"])
def test_a_cut_that_hides_another_rule_is_refused(second: str) -> None:
    text = (
        "holdsFor(h=true, I) :- holdsFor(a=true, I), !.\n"
        f"holdsFor({second}, I) :- holdsFor(b=true, I).\n"
    )
    assert [finding.code for finding in read_text(text)[1]] == ["H114"]


def test_a_cut_beside_another_value_is_passed_over() -> None:
    text = (
        "holdsFor(h=true, I) :- holdsFor(a=true, I), !.\n"
        "holdsFor(h=false, I) :- holdsFor(b=true, I).\n"
    )
    assert [finding.code for finding in read_text(text)[1]] == ["H123"]


def test_cuts_are_said_once_per_file() -> None:
    rule = "holdsFor({0}=true, I) :- holdsFor(a=true, I1), \\+ I1=[], !, union_all([I1], I).\n"
    text = "".join(rule.format(name) for name in ("f", "g", "h"))
    (finding,) = read_text(text)[1]
    assert (finding.code, finding.position) == ("H123", (1, 56))
    assert finding.note is not None
    assert "3 rules" in finding.note


# --- helpers of other engines -------------------------------------------------------------------

RULE = "initiatedAt(near(X)=true, T) :- happensAt(sees(X), T), limit(X).\nlimit(a).\n"
PLUMBING = """
everyWindow(Q) :-
    findall(X, (iePList(X, near(X)=true, _, _), retract(iePList(X, near(X)=true, _, _))), _),
    findall(X, (known(X), store(X, Q)), _).
store(X, Q) :- \\+ limit(X), !, assertz((near(X) :- Q > 3)).
store(_, _).
known(X) :- limit(X).
"""


def test_helpers_of_another_engine_that_no_rule_uses_are_passed_over() -> None:
    description, findings = read_text(RULE + PLUMBING)
    (finding,) = findings
    assert (finding.code, finding.severity.value) == ("H124", "warning")
    assert "`everyWindow/1` and `store/2` are passed over" in finding.message
    assert finding.note is not None
    assert "iePList" in finding.note
    heads = [show(r.head) for r in description.rules if isinstance(r, BackgroundRule)]
    assert heads == ["known(X)"]


def test_helpers_that_call_them_are_passed_over_too() -> None:
    text = RULE + "begin :- step(1).\nstep(N) :- retractall(seen(N)).\n"
    description, (finding,) = read_text(text)
    assert "`begin/0` and `step/1`" in finding.message
    assert not [rule for rule in description.rules if isinstance(rule, BackgroundRule)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("limit(X) :- assertz(seen(X)).", "H113"),
        ("limit(X) :- far(X).\nfar(X) :- write(X).", "H115"),
        ("limit(X) :- iePList(X, near(X)=true, _, _).", "H116"),
        ("intiatedAt(near(X)=false, T) :- happensAtIE(leaves(X), T).", "H116"),
        ("initiatedAt(far(X)=true, T) :- happensAtIE(leaves(X), T).", "H116"),
        ("holdsForSDFluent(far(X)=true, I) :- holdsForProcessedIE(X, near(X)=true, I).", "H116"),
    ],
)
def test_what_rules_use_or_what_may_be_a_rule_is_refused(text: str, code: str) -> None:
    codes = {finding.code for finding in read_text(RULE + text)[1]}
    assert code in codes
    assert "H124" not in codes


def test_without_any_rule_nothing_is_passed_over() -> None:
    assert [finding.code for finding in read_text("step(N) :- retractall(seen(N)).")[1]] == ["H113"]


# --- values before time begins -------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "initiatedAt(mood(X)=calm, T1, -1, T2) :- T1=<(-1), -1<T2.",
        "initiatedAt(mood(X)=calm, From, -1, To) :- From =< 1443650400, 1443650400 < To.",
        "initiatedAt(mood(X)=calm, -1, -1, 0).",
    ],
)
def test_an_initiation_before_time_begins_says_what_holds_first(text: str) -> None:
    (rule,) = read(text).rules
    assert isinstance(rule, Initially)
    assert show(rule.fvp.term) == "mood(X)=calm"


@pytest.mark.parametrize(
    "text",
    [
        "initiatedAt(mood(X)=calm, T1, -1, T2) :- T1=<(-1), -1<T2, person(X).",
        "initiatedAt(mood(X)=calm, T1, 5, T2) :- T1=<5, 5<T2.",
        "initiatedAt(mood(X)=calm, T1, T, T2) :- happensAt(rests(X), T).",
        "terminatedAt(mood(X)=calm, T1, -1, T2) :- T1=<(-1), -1<T2.",
    ],
)
def test_other_initiations_with_a_range_stay(text: str) -> None:
    (rule,) = read(text).rules
    assert isinstance(rule, Initiation | Termination)
    assert rule.bounds is not None


# --- domains of the older layout ----------------------------------------------------------------


def _groundings(text: str) -> list[str]:
    rules = read(text).rules
    domains = [f"dynamic {show(r.domain)}" for r in rules if isinstance(r, DynamicDomain)]
    return domains + [
        show(r.clause.head) for r in rules if isinstance(r, Grounding) and r.clause.head
    ]


def test_collected_domains_are_dynamic_domains() -> None:
    text = "collectGrounds([go(P, _), calls(_, P), calls(P, _), near(P)=true], person(P))."
    assert _groundings(text) == [
        "dynamic person(P)",
        "grounding(go(P, _))",
        "grounding(calls(_, P))",
        "grounding(calls(P, _))",
        "grounding(near(P)=true)",
    ]
    assert isinstance(read(text).rules[0], Declaration)


def test_groundings_that_are_written_out_stay_as_they_are() -> None:
    text = (
        "dynamicDomain(person(_)).\n"
        "grounding(go(P, Q)) :- person(P), place(Q).\nplace(pub).\n"
        "collectGrounds([go(P, _), wins(P), wins(P)], person(P)).\n"
    )
    assert _groundings(text) == [
        "dynamic person(_)",
        "grounding(go(P, Q))",
        "grounding(wins(P))",
    ]


@pytest.mark.parametrize("text", ["collectGrounds(go(P), person(P)).", "collectGrounds([], any)."])
def test_odd_collections_say_nothing(text: str) -> None:
    assert _groundings(text) == []
