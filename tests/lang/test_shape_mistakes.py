"""Clauses that read well and yet are no rule: code, place and the way out."""

from __future__ import annotations

import pytest

from horai.lang.ec.reader import read_text

_WON = "happensAt(win(X), T)"

# text, code, line, column, underlined text, a part of the hint ("" where there is none)
MISTAKES: list[tuple[str, str, int, int, str, str]] = [
    # heads
    ("42 :- a.", "H100", 1, 1, "42", "name"),
    ("X :- a.", "H100", 1, 1, "X", "name"),
    ("[a] :- b.", "H100", 1, 1, "[a]", "name"),
    ("a, b :- c.", "H100", 1, 1, "a, b", "one clause for each"),
    ("X < 3.", "H100", 1, 1, "X < 3", ":- conditions"),
    ("on=true.", "H100", 1, 1, "on=true", ":- conditions"),
    ("\\+ a :- b.", "H100", 1, 1, "\\+ a", "name"),
    ("! :- b.", "H100", 1, 1, "!", "name"),
    (f"intiatedAt(f(X)=true, T) :- {_WON}.", "H101", 1, 1, "intiatedAt", "`initiatedAt`"),
    (f"initiateAt(f(X)=true, T) :- {_WON}.", "H101", 1, 1, "initiateAt", "`initiatedAt`"),
    (f"initiated_at(f(X)=true, T) :- {_WON}.", "H101", 1, 1, "initiated_at", "`initiatedAt`"),
    ("holdsfor(f=true, I) :- holdsFor(g=true, I).", "H101", 1, 1, "holdsfor", "`holdsFor`"),
    ("holdFor(f(X), I) :- holdsFor(g=true, I).", "H101", 1, 1, "holdFor", "`holdsFor`"),
    ("groundings(go(X)) :- person(X).", "H101", 1, 1, "groundings", "`grounding`"),
    ("initialy(f=true).", "H101", 1, 1, "initialy", "`initially`"),
    ("colectIntervals(near).", "H101", 1, 1, "colectIntervals", "`collectIntervals`"),
    ("begins(f(X)=true, T) :- happensAt(e(X), T).", "H101", 1, 1, "begins", "initiatedAt"),
    (f"initiatedAt(f(X)=true) :- {_WON}.", "H102", 1, 1, "initiatedAt(f(X)=true)", "F=V, T"),
    ("holdsFor(f=true, I, J) :- a.", "H102", 1, 1, "holdsFor(f=true, I, J)", "F=V, I"),
    ("grounding.", "H102", 1, 1, "grounding", "grounding(Event)"),
    ("initially(f=true, 0).", "H102", 1, 1, "initially(f=true, 0)", "initially(F=V)"),
    ("fi(f=true, 5).", "H102", 1, 1, "fi(f=true, 5)", "Delay"),
    (f"initiatedAt(rich(X), T) :- {_WON}.", "H103", 1, 13, "rich(X)", "`rich(X)=true`"),
    ("initially(on).", "H103", 1, 11, "on", "`on=true`"),
    ("holdsFor(happy, I) :- holdsFor(rich=true, I).", "H103", 1, 10, "happy", "`happy=true`"),
    ("fi(a, b=c, 3).", "H103", 1, 4, "a", "`a=true`"),
    ("ft(3, 3).", "H103", 1, 4, "3", "name(arguments)=value"),
    ("collectIntervals(near(_)).", "H103", 1, 18, "near(_)", "`near(_)=true`"),
    ("initiatedAt(f==true, T) :- happensAt(e, T).", "H103", 1, 13, "f==true", "`f=true`"),
    ("initiatedAt(F=true, T) :- happensAt(e(F), T).", "H104", 1, 13, "F", "name(arguments)"),
    ("initially(3=true).", "H104", 1, 11, "3", "name(arguments)"),
    ("initially([a]=true).", "H104", 1, 11, "[a]", "name(arguments)"),
    ("initiatedAt(f=true, t) :- happensAt(e, t2).", "H105", 1, 21, "t", "`T`"),
    ("happensAt(e, T+1) :- happensAt(d, T).", "H105", 1, 14, "T+1", "`T2 is T+1`"),
    ("initiatedAt(f=true, 1.5).", "H105", 1, 21, "1.5", ""),
    ("fi(f=a, f=b, 0).", "H106", 1, 14, "0", "number"),
    ("fi(f=a, f=b, -3).", "H106", 1, 14, "-3", "number"),
    ("fi(f=a, f=b, 2.5).", "H106", 1, 14, "2.5", "number"),
    ("ft(f=a, soon).", "H106", 1, 9, "soon", "number"),
    ("fi(f=a, f=b, R).", "H106", 1, 14, "R", "variable that the body"),
    ("fi(f=a, f=b, R) :- delay(S).", "H106", 1, 14, "R", "variable that the body"),
    ("initiatedAt(f=true, T).", "H108", 1, 1, "initiatedAt(f=true, T)", "conditions"),
    ("happensAt(e, T).", "H108", 1, 1, "happensAt(e, T)", "conditions"),
    ("holdsFor(f=true, I).", "H108", 1, 1, "holdsFor(f=true, I)", "conditions"),
    ("holdsFor(f=true, [(1,5)]).", "H108", 1, 1, "holdsFor(f=true, [(1,5)])", "conditions"),
    ("holdsAt(f=true, 5).", "H108", 1, 1, "holdsAt(f=true, 5)", "conditions"),
    ("happensAt(3, T) :- happensAt(d, T).", "H109", 1, 11, "3", "name(arguments)"),
    ("happensAt(start(f=true), T) :- happensAt(d, T).", "H109", 1, 11, "start(f=true)", "another"),
    ("initiates(E, f=true, T).", "H109", 1, 11, "E", "one rule per event"),
    ("holdsFor(f=true, [I]) :- holdsFor(g=true, I).", "H120", 1, 18, "[I]", "body"),
    ("dynamicDomain(person).", "H121", 1, 15, "person", "person(_)"),
    ("grounding(3).", "H121", 1, 11, "3", "fluent(X)=V"),
    ("p(f=true) :- q(x).", "H121", 1, 14, "q(x)", "`p(f=true).`"),
    ("holdsForSDFluent(f=true, I) :- a.", "H116", 1, 1, "holdsForSDFluent(f=true, I)", "holdsFor"),
    # bodies
    ("r :- happensAt(start(fire), T).", "H107", 1, 22, "fire", "`start(fire=true)`"),
    ("r :- happensAt(end(X), T).", "H107", 1, 20, "X", ""),
    ("r :- happensAt(f=true, T).", "H109", 1, 16, "f=true", "holdsAt(f=true, T)"),
    ("r :- happensAt(E, T).", "H109", 1, 16, "E", "one rule per event"),
    ("r :- holdsAt(f, T).", "H103", 1, 14, "f", "`f=true`"),
    ("r :- holdsAt(F=true, T).", "H104", 1, 14, "F", "name"),
    ("r :- holdsAt(f=true, T-1).", "H105", 1, 22, "T-1", "`T2 is T-1`"),
    ("r :- initiatedAt(f=true, a, T, 5).", "H105", 1, 26, "a", "`A`"),
    ("r :- during(A, B, sourc, I).", "H110", 1, 19, "sourc", "`source`"),
    ("r :- during(A, B, 3, I).", "H110", 1, 19, "3", "known are"),
    ("r :- allen(durin, A, B, source, I).", "H110", 1, 12, "durin", "`during`"),
    ("r :- happenAt(e, T).", "H111", 1, 6, "happenAt", "`happensAt`"),
    ("r :- holdAt(f=true, T).", "H111", 1, 6, "holdAt", "`holdsAt`"),
    ("r :- holdsat(f=true, T).", "H111", 1, 6, "holdsat", "`holdsAt`"),
    ("r :- unionall([A], I).", "H111", 1, 6, "unionall", "`union_all`"),
    ("r :- intersect_al([A], I).", "H111", 1, 6, "intersect_al", "`intersect_all`"),
    ("r :- intDurGrater(A, 5, I).", "H111", 1, 6, "intDurGrater", "`intDurGreater`"),
    ("r :- betwen(1, 3, X).", "H111", 1, 6, "betwen", "`between`"),
    ("r :- happensAt(e).", "H112", 1, 6, "happensAt(e)", ""),
    ("r :- holdsAt(f=true).", "H112", 1, 6, "holdsAt(f=true)", ""),
    ("r :- union_all(A, B, C).", "H112", 1, 6, "union_all(A, B, C)", ""),
    ("r :- length(L).", "H112", 1, 6, "length(L)", ""),
    ("r :- findall(X, p(X), L, M).", "H112", 1, 6, "findall(X, p(X), L, M)", ""),
    ("r :- assert(p).", "H113", 1, 6, "assert(p)", "stream"),
    ("r :- retractall(p(_)).", "H113", 1, 6, "retractall(p(_))", "stream"),
    ("r :- a, !.", "H114", 1, 9, "!", "remove it"),
    ("r :- (a -> !, b ; c).", "H114", 1, 12, "!", "remove it"),
    ("r :- write(X).", "H115", 1, 6, "write(X)", "remove it"),
    ("r :- format('~w', [X]).", "H115", 1, 6, "format('~w', [X])", "remove it"),
    ("r :- nl.", "H115", 1, 6, "nl", "remove it"),
    ("r :- holdsAtProcessedSimpleFluent(X, f=true, T).", "H116", 1, 6,
     "holdsAtProcessedSimpleFluent(X, f=true, T)", "holdsAt"),
    ("r :- initTime(T).", "H116", 1, 6, "initTime(T)", "holdsAt"),
    ("r :- simpleFPList(X, Y, A, B).", "H116", 1, 6, "simpleFPList(X, Y, A, B)", "holdsAt"),
    ("r :- aggregate_all(avg(X), p(X), R).", "H117", 1, 20, "avg(X)", "known are"),
    ("r :- aggregate_all(count(X), p(X), R).", "H117", 1, 20, "count(X)", "`count`"),
    ("r :- aggregate_all(sum, p(X), R).", "H117", 1, 20, "sum", "`sum(X)`"),
    ("r :- aggregate_all(max(X, W, V), p(X, W, V), R).", "H117", 1, 20, "max(X, W, V)", "`max(X)`"),
    ("r :- a, 7.", "H118", 1, 9, "7", "predicate"),
    ("r :- a, X.", "H118", 1, 9, "X", "predicate"),
    ('r :- a, "s".', "H118", 1, 9, '"s"', "predicate"),
    ("r :- a, X + 1.", "H118", 1, 9, "X + 1", "X is"),
    ("r :- {a}.", "H118", 1, 6, "{a}", "X is"),
    ("r :- once(p(X)).", "H119", 1, 6, "once(p(X))", "condition itself"),
    ("r :- setof(X, p(X), L).", "H119", 1, 6, "setof(X, p(X), L)", "findall"),
    ("r :- call(p, X).", "H119", 1, 6, "call(p, X)", "condition itself"),
    ("r :- initially(f=true).", "H119", 1, 6, "initially(f=true)", "holdsAt"),
    ("initially(f=true).\nr :- initially(f=true).", "H119", 2, 6, "initially(f=true)", "holdsAt"),
    ("r :- union_all(f=true, I).", "H120", 1, 16, "f=true", "[I1, I2]"),
    ("r :- union_all([f=true], I).", "H120", 1, 17, "f=true", "holdsFor"),
    ("r :- relative_complement_all(3, [A], I).", "H120", 1, 30, "3", ""),
    ("r :- holdsFor(f=true, i).", "H120", 1, 23, "i", ""),
    ("r :- intDurGreater(f=true, 5, I).", "H120", 1, 20, "f=true", "holdsFor"),
    ("r :- meets(A, f=true, source, I).", "H120", 1, 15, "f=true", "holdsFor"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "under", "hint"), MISTAKES, ids=lambda v: str(v)[:25]
)
def test_mistake(text: str, code: str, line: int, column: int, under: str, hint: str) -> None:
    findings = [f for f in read_text(text)[1] if f.code == code]
    assert findings, [f.render() for f in read_text(text)[1]]
    finding = findings[0]
    assert finding.position == (line, column)
    assert finding.span is not None
    assert text[slice(*finding.span)] == under
    assert hint in (finding.hint or "")


@pytest.mark.parametrize("text", [mistake[0] for mistake in MISTAKES], ids=lambda v: str(v)[:25])
def test_one_mistake_gives_one_finding(text: str) -> None:
    codes = [finding.code for finding in read_text(text)[1]]
    # `t` and `t2` are two mistakes.
    assert len(codes) == 1 or "t2" in text, codes


@pytest.mark.parametrize(
    "text",
    [
        "holdAt(a, b).\nr(X) :- holdAt(X, b).",  # defined and asked for
        "r(X) :- distance(X, 3).",  # unknown, but like nothing of ours
        "point(a).\nlengths(a, b).\nground(a).",
        "assert(a).\nr :- assert(X), X = a.",  # the user's own predicate
        "open(door).\nclose(door).\nr :- open(X), \\+ close(X).",
        "outcome(f(X)=true, X) :- q(X).\nr(X) :- outcome(_, X).",
    ],
)
def test_own_predicates_are_no_mistakes(text: str) -> None:
    assert read_text(text)[1] == []


def test_all_mistakes_of_a_rule_are_found() -> None:
    text = "initiatedAt(rich(X), t) :- happensAt(X, T), holdsAt(a, T), !, write(X)."
    codes = [finding.code for finding in read_text(text)[1]]
    assert codes == ["H103", "H105", "H109", "H103", "H114", "H115"]


def test_the_picture() -> None:
    text = "% lottery\nintiatedAt(rich(X)=true, T) :-\n    happensAt(win(X), T).\n"
    (finding,) = read_text(text, "toy.ec")[1]
    assert finding.render() == (
        "error[H101]: unknown head `intiatedAt`\n"
        " --> toy.ec:2:1\n"
        "  |\n"
        "2 | intiatedAt(rich(X)=true, T) :-\n"
        "  | ^^^^^^^^^^\n"
        "  = help: did you mean `initiatedAt`?"
    )


def test_compiled_descriptions_give_one_finding_for_each_private_name() -> None:
    text = (
        "initiatedAt(f=true, T1, T, T2) :- happensAtIE(e, T), T1 =< T, T < T2.\n"
        "initiatedAt(g=true, T1, T, T2) :- happensAtIE(e, T), holdsAtProcessedIE(x, f=true, T).\n"
    )
    findings = read_text(text)[1]
    assert [(finding.code, finding.position[0]) for finding in findings] == [
        ("H116", 1),
        ("H116", 2),
    ]
