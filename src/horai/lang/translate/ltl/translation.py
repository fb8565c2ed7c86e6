"""Past temporal logic as LARS.

A formula whose operators look at propositions only becomes a rule over windows:
`historically[0,5] hot` is `always hot [5]`. Any other one is worked out at every point it may look
back to: each of its parts that is more than a proposition gets a predicate, which rules derive at
these points, from one point to the next. `not` stands only before parts, so programs are
stratified, and plain.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.core.terms import Int, Term, Var
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import (
    Always,
    At,
    Atom,
    Formula,
    Not,
    Program,
    Rule,
    Some,
    TimeWindow,
    Within,
)
from horai.lang.translate.building import (
    FreshNames,
    Literal,
    compare,
    minus,
    negated,
    numbers,
    plus,
    rule,
)
from horai.lang.translate.ltl import syntax as ltl

_T, _U, _D, _E = Var("T"), Var("U"), Var("D"), Var("E")


def translated(definitions: Iterable[ltl.Definition]) -> Program:
    """The program that derives the name of each definition whenever its formula holds."""
    kept = list(definitions)
    return _Translation(kept).program(kept)


class _Translation:
    def __init__(self, definitions: list[ltl.Definition]) -> None:
        taken = {p.name for d in definitions for p in _propositions(d.formula)}
        self._names = FreshNames(taken | {d.name for d in definitions})
        self._so = self._names.free("so")
        self._point = self._names.free("point")
        self._rules: list[Rule] = []
        self._everywhere: dict[ltl.Formula, Atom] = {}
        self._here: dict[ltl.Formula, Literal] = {}
        self._reach: int | None = 0  # how far back formulas look; None is to the start
        self._needs_so = False

    def program(self, definitions: list[ltl.Definition]) -> Program:
        """All rules, those about points last."""
        for definition in definitions:
            self._rules.extend(
                rule(Atom(definition.name), *body) for body in self._bodies_now(definition.formula)
            )
        if self._everywhere:
            self._rules.extend(self._points())
        if self._needs_so or self._everywhere:
            self._rules.append(Rule(Atom(self._so)))
        return Program(tuple(self._rules))

    # --- now ---

    def _bodies_now(self, formula: ltl.Formula) -> list[list[Formula]]:
        """The bodies of rules that together say what a formula says now."""
        match formula:
            case ltl.LtlTruth(value=value):
                self._needs_so = True
                return [[Atom(self._so)]] if value else []
            case ltl.LtlAnd(left=left, right=right):
                return [[self._now(left), self._now(right)]]
            case ltl.LtlOr(left=left, right=right):
                return [[self._now(left)], [self._now(right)]]
            case ltl.LtlImplies(left=left, right=right):
                return [[negated(self._now(left))], [self._now(right)]]
            case ltl.Iff(left=left, right=right):
                one, other = self._now(left), self._now(right)
                return [[one, other], [negated(one), negated(other)]]
            case _:
                return [[self._now(formula)]]

    def _now(self, formula: ltl.Formula) -> Literal:
        """One literal that says what a formula says now."""
        match formula:
            case ltl.Proposition(name=name, args=args):
                return Atom(name, args)
            case ltl.LtlNot(formula=inner):
                return negated(self._now(inner))
            case ltl.Once(formula=ltl.Proposition(name=name, args=args), least=0, most=most):
                return Within(TimeWindow(Duration(most)), Some(Atom(name, args)))
            case ltl.Historically(formula=ltl.Proposition(name=name, args=args), least=0):
                return Within(TimeWindow(Duration(formula.most)), Always(Atom(name, args)))
            case ltl.Previous() | ltl.Once() | ltl.Historically() | ltl.Since():
                self._reach = _farther(self._reach, _depth(formula))
                return _shown(self._at(formula, _T))
            case _:
                return self._named_now(formula)

    def _named_now(self, formula: ltl.Formula) -> Literal:
        if formula not in self._here:
            head = Atom(self._names.fresh("now"))
            bodies = self._bodies_now(formula)
            self._rules.extend(rule(head, *body) for body in bodies)
            self._here[formula] = head
        return self._here[formula]

    # --- at every point ---

    def _at(self, formula: ltl.Formula, time: Term) -> Literal:
        """A literal that says what a formula says at a time."""
        match formula:
            case ltl.Proposition(name=name, args=args):
                return At(time, Atom(name, args))
            case ltl.LtlNot(formula=inner):
                return negated(self._at(inner, time))
            case ltl.Historically(formula=inner, least=least, most=most):
                return negated(self._at(ltl.Once(ltl.LtlNot(inner), least, most), time))
            case _:
                return At(time, self._named(formula))

    def _named(self, formula: ltl.Formula) -> Atom:
        """The atom that rules derive wherever a formula holds."""
        if formula not in self._everywhere:
            head = Atom(self._names.fresh(_WORDS[type(formula)]))
            self._everywhere[formula] = head
            self._rules.extend(self._definition(formula, head))
        return self._everywhere[formula]

    def _definition(self, formula: ltl.Formula, head: Atom) -> list[Rule]:
        here = At(_T, Atom(self._point))
        there = At(_U, Atom(self._point))
        made = At(_T, head)
        match formula:
            case ltl.LtlTruth(value=value):
                return [rule(made, here)] if value else []
            case ltl.LtlAnd(left=left, right=right):
                return [rule(made, here, self._at(left, _T), self._at(right, _T))]
            case ltl.LtlOr(left=left, right=right):
                return [rule(made, here, self._at(part, _T)) for part in (left, right)]
            case ltl.LtlImplies(left=left, right=right):
                one, other = self._at(left, _T), self._at(right, _T)
                return [rule(made, here, negated(one)), rule(made, here, other)]
            case ltl.Iff(left=left, right=right):
                one, other = self._at(left, _T), self._at(right, _T)
                return [
                    rule(made, here, one, other),
                    rule(made, here, negated(one), negated(other)),
                ]
            case ltl.Previous(formula=inner):
                before = self._at(inner, _U)
                return [rule(made, there, before, compare(_T, "=", plus(_U, 1)), here)]
            case ltl.Once(formula=inner, least=least, most=None):
                first = self._at(inner, _U)
                on = At(_U, head)
                return [
                    rule(made, there, first, compare(_T, "=", plus(_U, least)), here),
                    rule(made, on, compare(_T, "=", plus(_U, 1)), here),
                ]
            case ltl.Once(formula=inner, least=least, most=int(most)):
                lag = self._names.fresh("lag")
                then = self._at(inner, _U)
                body = (there, then, Atom(lag, (_D,)), compare(_T, "=", plus(_U, _D)), here)
                return [rule(made, *body), numbers(lag, least, most)]
            case ltl.Since():
                return self._since(formula, head)
        raise AssertionError(f"{formula} has no rules of its own")

    def _since(self, formula: ltl.Since, head: Atom) -> list[Rule]:
        """A count of the points since, which goes on up to the bound that matters."""
        least, most = formula.least, formula.most
        left, right = self._at(formula.left, _T), self._at(formula.right, _T)
        here = At(_T, Atom(self._point))
        step = compare(_T, "=", plus(_U, 1))
        if least == 0 and most is None:
            on = rule(At(_T, head), At(_U, head), step, here, left)
            return [rule(At(_T, head), here, right), on]
        name = self._names.fresh("since")

        def counted(time: Term, number: Term) -> At:
            return At(time, Atom(name, (number,)))

        limit = Int(least if most is None else most)
        rules = [
            rule(counted(_T, Int(0)), here, right),
            rule(
                counted(_T, _E),
                *(counted(_U, _D), step, here, left),
                *(compare(_D, "<", limit), compare(_E, "=", plus(_D, 1))),
            ),
            rule(At(_T, head), counted(_T, _D), compare(_D, ">=", Int(least))),
        ]
        if most is None:
            rules.append(rule(counted(_T, limit), counted(_U, limit), step, here, left))
        return rules

    def _points(self) -> list[Rule]:
        """The points that formulas look back to: a number of them, or all since the start."""
        now, so = Atom(self._point), Atom(self._so)
        if self._reach is None:
            before = rule(At(_T, now), At(_U, now), compare(_T, "=", minus(_U, 1)))
            return [rule(now, so), before]
        name, here = self._names.free("back"), Atom(self._names.free("here"))
        return [
            rule(here, so),
            rule(
                At(_T, now),
                *(At(_U, here), Atom(name, (_D,)), compare(_T, "=", minus(_U, _D))),
            ),
            numbers(name, 0, self._reach),
        ]


_WORDS = {
    ltl.LtlTruth: "truth",
    ltl.LtlAnd: "and",
    ltl.LtlOr: "or",
    ltl.LtlImplies: "implies",
    ltl.Iff: "iff",
    ltl.Previous: "previous",
    ltl.Once: "once",
    ltl.Since: "since",
}


def _farther(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def _depth(formula: ltl.Formula) -> int | None:
    """How far back a formula looks; None is to the start."""
    inner: int | None = 0
    for part in ltl.parts(formula):
        inner = _farther(inner, _depth(part))
    match formula:
        case ltl.Previous():
            return None if inner is None else inner + 1
        case ltl.Once(most=most) | ltl.Historically(most=most) | ltl.Since(most=most):
            return None if inner is None or most is None else inner + most
        case _:
            return inner


def _shown(literal: Literal) -> Literal:
    """A literal about a time, as one about now."""
    if isinstance(literal, Not):
        return Not(_shown(literal.formula))
    assert isinstance(literal, At)
    return literal.formula


def _propositions(formula: ltl.Formula) -> Iterable[ltl.Proposition]:
    if isinstance(formula, ltl.Proposition):
        yield formula
    for part in ltl.parts(formula):
        yield from _propositions(part)
