"""Wrong descriptions: the code and the place of the finding. `«` marks where it must point."""

import pytest
from tests.plan.support import codes, findings

from horai.lang.core.diagnostics import Severity

LOTTERY = "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n"

WRONG = [
    # --- names
    (
        "H200",
        LOTTERY
        + "initiatedAt(glad(X)=true, T) :- happensAt(deliver(X), T).\n"
        + "terminatedAt(rich(X)=true, T) :- happensAt(deliver(X), T).\n"
        + "terminatedAt(glad(X)=true, T) :- happensAt(«delvier(X), T).",
    ),
    (
        "H200",
        "inputEntity(gap_start(_)).\ninitiatedAt(gap(X)=true, T) :- happensAt(«gapStart(X), T).",
    ),
    ("H201", LOTTERY + "holdsFor(happy(X)=true, I) :- holdsFor(«rcih(X)=true, I)."),
    ("H202", "holdsFor(happy(X)=true, I) :- holdsFor(«rich(X)=true, I)."),
    ("H203", "initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), «lucky(X)."),
    ("H203", LOTTERY + "grounding(rich(X)=true) :- «persn(X).\nperson(a)."),
    ("H203", LOTTERY + "initiatedAt(sad(X)=true, T) :- happensAt(lose(X), T), \\+ «rich(X)."),
    ("H203", "initiatedAt(f(X)=a, T) :- happensAt(e(X), T), help(X).\nhelp(X) :- «aid(X)."),
    (
        "H204",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X, 1), T).\n"
        "initiatedAt(f(X)=b, T) :- happensAt(e(X, 2), T).\n"
        "initiatedAt(f(X)=c, T) :- happensAt(«e(X), T).",
    ),
    ("H204", LOTTERY + "holdsFor(happy(X)=true, I) :- holdsFor(«rich(X, X)=true, I)."),
    ("H205", "initiatedAt(f(X)=a, T) :- happensAt(e(X), T), «kind(X).\nkind(a, b)."),
    (
        "H206",
        LOTTERY + "initiatedAt(glad(X)=true, T) :- happensAt(e(X), T), holdsAt(rich(X)=«ture, T).",
    ),
    ("H206", LOTTERY + "holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=«1, I)."),
    ("H207", LOTTERY + "initiatedAt(glad(X)=true, T) :- happensAt(«rich(X), T)."),
    (
        "H208",
        LOTTERY + "holdsFor(«rich(X)=true, I) :- holdsFor(heir(X)=true, I).\npoints(heir(_)=true).",
    ),
    ("H209", "initiatedAt(f(X)=Y, T) :- happensAt(e(X), T), Y is «sqr(X)."),
    ("H210", LOTTERY + "collectIntervals(«rich(_)=true)."),
    ("H210", "happensAt(o(X), T) :- happensAt(e(X), T).\ninputEntity(«o(_))."),
    ("H211", LOTTERY + "sDFluent(«rich(_)=true)."),
    ("H212", LOTTERY + "internalEntity(«win(_))."),
    ("H213", LOTTERY + "index(win(X), «Who)."),
    ("H214", LOTTERY + "«cachingOrder(rich(_)=true).\ncachingOrder(rich(_)=true)."),
    (
        "H215",
        "points(a(_)=t).\ncollectIntervals(«a(_)=t).\nholdsFor(b(X)=t, I) :- holdsFor(a(X)=t, I).",
    ),
    ("H216", LOTTERY + "grounding(win(X)) :- p(X).\ndgrounded(rich(X)=true, «p(X))."),
    # --- safety
    ("H300", "initiatedAt(f(«X)=true, T) :- happensAt(e, T)."),
    ("H300", "initiatedAt(f(X)=«V, T) :- happensAt(e(X), T)."),
    ("H300", "happensAt(o(X, «Y), T) :- happensAt(e(X), T)."),
    ("H300", "initially(f(«X)=true)."),
    ("H300", "holdsFor(f(X, «Y)=true, I) :- holdsFor(g(X)=true, I).\npoints(g(_)=true)."),
    ("H300", "initially(f(X, «Y)=true).\ngrounding(f(X, _)=true) :- p(X).\np(a)."),
    ("H301", "initiatedAt(f(X)=true, «T) :- happensAt(e(X), T1)."),
    ("H301", "happensAt(o(X), «T) :- happensAt(e(X), Now), Now > 3."),
    ("H301", "holdsAt(f(X)=true, «T) :- holdsAt(g(X)=true, T1).\npoints(g(_)=true)."),
    ("H302", "initiatedAt(f(X)=true, T) :- happensAt(e, T), \\+ happensAt(o(«X), T)."),
    ("H302", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ (p(«Y)), Y > 3.\np(a)."),
    ("H303", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), «S > 3."),
    ("H303", "initiatedAt(f(X)=Y, T) :- happensAt(e(X), T), Y is «S * 2."),
    ("H303", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), «A = B, B = A."),
    (
        "H304",
        "holdsFor(f(X)=true, I) :- holdsFor(g(X)=true, I1), intDurGreater(«J, 5, I), I1 \\= J.\n"
        "points(g(_)=true).",
    ),
    (
        "H304",
        "holdsFor(f(X)=true, I) :- holdsFor(g(X)=true, A), meets(A, «B, source, I).\n"
        "points(g(_)=true).",
    ),
    (
        "H305",
        "holdsFor(f(X)=true, «I) :- holdsFor(g(X)=true, J), union_all([J], K), K \\= [].\n"
        "points(g(_)=true).",
    ),
    ("H306", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), \\+ p(Y), \\+ q(«Y).\np(a). q(a)."),
    (
        "H307",
        "holdsAt(f(X)=true, T) :- holdsAt(g(X)=true, T), «happensAt(e(X), T).\npoints(g(_)=true).",
    ),
    (
        "H307",
        "holdsAt(f(X)=true, T) :- holdsAt(g(X)=true, T), holdsAt(h(X)=true, «T2), T2 is T - 5.\n"
        "points(g(_)=true). points(h(_)=true).",
    ),
    (
        "H308",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T).\n"
        "ft(f(X)=a, «R) :- (p(X), R = 3 ; \\+ p(X)).\np(a).",
    ),
    (
        "H314",
        "initiatedAt(f(M)=on, T) :- happensAt(e(M), T).\ngrounding(f(M)=on) :- m(M).\nm(a).\n"
        "holdsFor(may(a(«_X, M))=true, I) :- holdsFor(f(M)=on, I).\n"
        "holdsFor(may(b(_X, M))=true, I) :- holdsFor(f(M)=on, I).",
    ),
    ("H309", "initiatedAt(f(X)=true, T) :- happensAt(e(X, «Amount), T)."),
    ("H309", "p(a).\nq(«X) :- p(_).\ninitiatedAt(f(X)=true, T) :- happensAt(e(X), T), q(X)."),
    ("H310", LOTTERY + "initiatedAt(glad(X)=true, T) :- «holdsAt(rich(X)=true, T)."),
    (
        "H311",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), findall(«Y, p(X), L), L \\= [].\np(a).",
    ),
    (
        "H311",
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), (p(«Y) -> true ; q), Y > 3.\np(a). q.",
    ),
    (
        "H311",
        "happensAt(f(X), T) :- (happensAt(e(X), «T) -> true ; happensAt(g(X), T)).",
    ),
    ("H312", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), between(1, «N, K), K > 2."),
    ("H303", LOTTERY + "grounding(rich(X)=true) :- X < «Max."),
    ("H313", "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), p(X).\np(X) :- X < «Max."),
    # --- cycles
    (
        "H400",
        "holdsFor(a(X)=t, I) :- «holdsFor(a(X)=t, J), complement_all([J], I).",
    ),
    (
        "H400",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T), «holdsAt(s(X)=t, T).\n"
        "holdsFor(s(X)=t, I) :- holdsFor(f(X)=b, I).\n"
        "initiatedAt(f(X)=b, T) :- happensAt(o(X), T).",
    ),
    (
        "H401",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T), p(X).\n"
        "p(X) :- r(X), \\+ «q(X).\nq(X) :- r(X), p(X).\nr(a).",
    ),
    (
        "H402",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T).\n"
        "initiatedAt(f(X)=b, T) :- «happensAt(start(f(X)=a), T).",
    ),
    (
        "H402",
        "terminatedAt(f(X)=t, T) :- happensAt(e(X), T), \\+ «terminatedAt(f(X)=t, T).\n"
        "initiatedAt(f(X)=t, T) :- happensAt(o(X), T).",
    ),
    (
        "H403",
        "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), T1 is T + 5, «holdsAt(f(X)=u, T1).\n"
        "initiatedAt(f(X)=u, T) :- happensAt(o(X), T).",
    ),
    # --- delayed effects
    ("H410", LOTTERY + "ft(rich(X)=true, 3).\n«fi(rich(X)=true, rich(X)=false, 8)."),
    ("H411", LOTTERY + "fi(«rich(X)=false, rich(X)=poor, 8)."),
    ("H412", LOTTERY + "fi(rich(X)=true, «rich(X)=true, 8)."),
    ("H413", LOTTERY + "p(«rich(_)=true)."),
    (
        "H414",
        LOTTERY
        + "«fi(rich(X)=true, rich(X)=false, 8) :- holdsAt(a(X)=t, T), holdsAt(a(X)=t, S).\n"
        + "points(a(_)=t).",
    ),
    ("H416", LOTTERY + "ft(rich(X)=true, R) :- days(X, R).\ndays(a, 3).\n«days(b, -3)."),
    ("H416", LOTTERY + "ft(rich(X)=true, R) :- days(X, R).\n«days(X, 1.5) :- slow(X).\nslow(b)."),
    (
        "H417",
        LOTTERY
        + "initiatedAt(due(X)=R, T) :- happensAt(e(X, R), T).\n"
        + "ft(rich(X)=true, «R) :- T2 is T + 3, holdsAt(due(X)=R, T2).",
    ),
    (
        "H303",
        LOTTERY + "fi(rich(X)=true, due(X)=D, 5) :- D is «T + 5.\n",
    ),
    (
        "H416",
        LOTTERY + "ft(rich(X)=true, R) :- days(X, R).\ndays(X, R) :- hours(X, R).\n"
        "«hours(b, long).",
    ),
    ("H415", LOTTERY + "fi(rich(X)=true, rich(X)=a, 8).\n«fi(rich(Y)=true, rich(Y)=b, 8)."),
    # --- doubts
    ("H500", LOTTERY + "«initiatedAt(rich(A)=true, B) :- happensAt(win(A), B)."),
    ("H501", LOTTERY + "grounding(win(X)) :- p(X).\np(a).\np(b).\n«p(a).\np(a)."),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), «X \\= X."),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), «fail."),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), «T < T."),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), «a = b."),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), «\\+ happensAt(e(X), T)."),
    (
        "H502",
        "initiatedAt(f(X)=a, T) :- happensAt(e(X), T).\n"
        "initiatedAt(f(X)=b, T) :- happensAt(o(X), T).\n"
        "initiatedAt(g(X)=t, T) :- happensAt(e(X), T), holdsAt(f(X)=a, T), «holdsAt(f(X)=b, T).",
    ),
    ("H502", "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), (X = a ; X = b, «3 > 5)."),
    (
        "H503",
        LOTTERY + "dynamicDomain(p(_)).\ngrounding(win(X)) :- p(X).\n"
        "initiatedAt(glad(X)=true, T) :- happensAt(inherits(X), T).\n"
        "grounding(«inheritts(X)) :- p(X).",
    ),
    ("H503", LOTTERY + "dynamicDomain(p(_)).\ngrounding(«win(X, _)) :- p(X)."),
    ("H503", LOTTERY + "grounding(«sad(X)=true) :- p(X).\ngrounding(sad(X)=false) :- p(X).\np(a)."),
    ("H503", LOTTERY + "grounding(«rich(X, X)=true) :- p(X).\np(a)."),
    ("H504", LOTTERY + "dynamicDomain(«person(_))."),
    (
        "H505",
        "initiatedAt(f(X)=t, T) :- happensAt(e(X), T), kind(X, K), Y is «K + 1, Y > 2.\n"
        "kind(a, tug).",
    ),
    ("H505", "initiatedAt(f(X)=t, T) :- happensAt(e(X, S), T), S > «high."),
    ("H506", "terminatedAt(«f(X)=t, T) :- happensAt(e(X), T)."),
    ("H506", LOTTERY + "terminatedAt(rich(X)=«yes, T) :- happensAt(lose(X), T)."),
]


@pytest.mark.parametrize(
    ("code", "marked"), WRONG, ids=[f"{c}-{n}" for n, (c, _) in enumerate(WRONG)]
)
def test_the_finding_and_its_place(code: str, marked: str) -> None:
    before = marked[: marked.index("«")]
    text = marked.replace("«", "")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    found = findings(text)
    places = [f.position for f in found if f.code == code]
    assert places == [(line, column)], "\n\n".join(f.render() for f in found)


@pytest.mark.parametrize(
    ("code", "marked"), WRONG, ids=[f"{c}-{n}" for n, (c, _) in enumerate(WRONG)]
)
def test_one_mistake_gives_one_error(code: str, marked: str) -> None:
    found = findings(marked.replace("«", ""))
    others = [f.render() for f in found if f.severity is Severity.ERROR and f.code != code]
    assert others == []


def test_everything_wrong_is_said_at_once() -> None:
    text = """
    initiatedAt(f(X)=true, T) :- happensAt(e, T).
    initiatedAt(g(X)=true, T) :- happensAt(e(X), T), S > 3.
    holdsFor(h(X)=true, I) :- holdsFor(f(X)=yes, I).
    """
    assert {f.code for f in findings(text)} >= {"H300", "H303", "H204", "H206"}


def test_a_cycle_is_shown_as_a_whole_with_lines() -> None:
    text = """
    holdsFor(a(X)=t, I) :- holdsFor(b(X)=t, I).
    holdsFor(b(X)=t, I) :- holdsFor(c(X)=t, I).
    holdsFor(c(X)=t, I) :- holdsFor(a(X)=t, I).
    """
    (finding,) = [f for f in findings(text) if f.code == "H400"]
    assert finding.message.endswith("a=t -> c=t -> b=t -> a=t")
    assert finding.note is not None
    assert [f"line {n}" in finding.note for n in (2, 3, 4)] == [True, True, True]


def test_suggestions_name_what_was_probably_meant() -> None:
    hints = [
        f.hint or "" for f in findings(LOTTERY + "holdsFor(h(X)=t, I) :- holdsFor(rihc(X)=t, I).")
    ]
    assert any("did you mean `rich`" in hint for hint in hints)


def test_many_single_variables_are_said_together() -> None:
    rule = "initiatedAt(f{0}(X)=true, T) :- happensAt(e(X, Speed, Course), T).\n"
    text = "".join(rule.format(n) for n in range(5)) + (
        "initiatedAt(g(Vessel)=true, T) :- happensAt(e(Vessel, Vesel, _), T).\n"
    )
    found = [f for f in findings(text) if f.code == "H309"]
    assert [f.position for f in found] == [(1, 46), (6, 55)]
    assert found[0].note == "10 variables of this file do: lines 1, 2, 3, 4, 5"
    assert found[1].note is None


def test_a_few_single_variables_are_said_one_by_one() -> None:
    rule = "initiatedAt(f{0}(X)=true, T) :- happensAt(e(X, Speed), T).\n"
    text = "".join(rule.format(n) for n in range(3))
    assert codes(text) == ["H309"] * 3


def test_an_open_head_is_an_error_where_nothing_is_grounded() -> None:
    text = "holdsFor(may(a(_X, M))=true, I) :- holdsFor(f(M)=on, I).\ncollectIntervals(f(_)=on)."
    assert codes(text) == ["H300"]


def test_an_open_head_is_an_error_beside_rules_that_need_no_grounding() -> None:
    text = (
        "initiatedAt(f(M)=on, T) :- happensAt(e(M), T).\ngrounding(f(M)=on) :- m(M).\nm(a).\n"
        "holdsFor(may(_X, M)=true, I) :- holdsFor(f(M)=on, I).\n"
        "holdsFor(may(X, M)=true, I) :- holdsFor(g(X, M)=on, I).\ncollectIntervals(g(_, _)=on)."
    )
    assert codes(text) == ["H300"]


def test_a_fluent_made_of_its_namesake_is_no_slip() -> None:
    text = (
        "holdsFor(near(A, B)=true, I) :- holdsFor(near(A, B, 25)=true, I).\n"
        "holdsFor(far(A, B)=true, I) :- holdsFor(near(A, B, 90)=true, I).\n"
    )
    assert codes(text) == ["H202"]


def test_a_value_that_is_initiated_and_computed_from_the_others() -> None:
    text = (
        "initially(state(_)=fit).\ngrounding(state(X)=_) :- p(X).\np(a).\n"
        "initiatedAt(state(X)=fit, T) :- happensAt(rests(X), T).\n"
        "initiatedAt(state(X)=tired, T) :- happensAt(runs(X), T).\n"
        "holdsFor(state(X)=tired, I) :- holdsFor(state(X)=fit, J), complement_all([J], I).\n"
    )
    assert codes(text) == ["H208"]


def test_a_cycle_at_one_point_is_shown_by_the_readings_that_make_it() -> None:
    (found,) = [f for f in findings(CIRCLE) if f.code == "H402"]
    assert found.note is not None
    assert "reads a=true by start (line 4)" in found.note
    assert "reads b=true by start (line 3)" in found.note


CIRCLE = r"""initiatedAt(a(X)=true, T) :- happensAt(e(X), T), holdsAt(b(X)=true, T).
initiatedAt(b(X)=true, T) :- happensAt(e(X), T), holdsAt(a(X)=true, T).
initiatedAt(a(X)=true, T) :- happensAt(e(X), T), \+ happensAt(start(b(X)=true), T).
initiatedAt(b(X)=true, T) :- happensAt(start(a(X)=true), T).
"""
