"""Past temporal logic as LARS: syntax trees, the reader, and the translation.

A formula whose operators look at propositions only becomes a rule over windows:
`historically[0,5] hot` is `always hot [5]`. Any other one is worked out at every point it may look
back to: each of its parts that is more than a proposition gets a predicate, which rules derive at
these points, from one point to the next. `not` stands only before parts, so programs are
stratified, and plain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any
from typing import Literal as OneOf

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import atom_text, token_span
from horai.lang.core.source import Placed, SourceText
from horai.lang.core.terms import DEEPEST, Constant, Int, Span, Term, Var, deeper
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
from horai.lang.translate.statements import (
    SIGNS,
    FreshNames,
    LanguageSpec,
    Literal,
    StatementBuilder,
    compare,
    minus,
    negated,
    numbers,
    plus,
    rule,
    statements,
)

LtlOperator = OneOf[
    "not", "and", "or", "implies", "iff", "previous", "once", "historically", "since"
]


@dataclass(frozen=True, slots=True)
class LtlOperation(Placed):
    """An operator and the formulas that it applies to.

    `previous f`: there is a point before, and f holds there. `once[least, most] f`: at some point
    that far back, `historically`: at all of them; `most` None has no limit.
    `f since[least, most] g`: g at some point that far back, and f at all points after it.
    """

    operator: LtlOperator
    parts: tuple[LtlFormula, ...]
    least: int = 0
    most: int | None = None


LtlFormula = lars.Atom | lars.Truth | LtlOperation
"""Propositions are atoms without variables."""


@dataclass(frozen=True, slots=True)
class Definition(Placed):
    """`name := formula.`"""

    name: str
    formula: LtlFormula


def parts(formula: LtlFormula) -> tuple[LtlFormula, ...]:
    """The formulas that a formula is made of.

    >>> parts(LtlOperation("once", (lars.Atom("a"),)))
    (Atom(name='a', args=()),)
    """
    return formula.parts if isinstance(formula, LtlOperation) else ()


UNNAMED = "holds"
_FUTURE = "look back instead: `previous`, `once`, `historically`, `since`"
_PROPOSITIONS = "put a constant in its place: temporal logic has propositions only"
_BOUNDS = "write how far back at least and at most, in time points: `[2, 5]`, `[2, inf]`"


class LtlDefinitions(StatementBuilder):
    """Definitions from parse trees."""

    def definition(self, place: Span, name: Token, formula: LtlFormula) -> Definition:
        return Definition(atom_text(name), formula, span=place)

    def unnamed(self, place: Span, formula: LtlFormula) -> Definition:
        return Definition(UNNAMED, formula, span=place)

    def operator(self, place: Span, *items: Any) -> LtlOperation:
        (sign,) = (item for item in items if isinstance(item, Token))
        bounds = next((item for item in items if isinstance(item, tuple)), (0, None))
        inner = tuple(item for item in items if not isinstance(item, Token | tuple))
        word: LtlOperator = sign.type.lower()  # type: ignore[assignment]
        return LtlOperation(word, inner, *bounds, span=place)

    def future(self, place: Span, *items: Any) -> LtlFormula:
        (sign,) = (item for item in items if isinstance(item, Token))
        message = f"`{sign}` looks into the future, which a run does not know"
        self.say("H802", message, token_span(sign), _FUTURE)
        return LtlOperation("and", tuple(item for item in items if item is not sign))

    def bounds(self, place: Span, *numbers: Token) -> tuple[int, int | None]:
        least, most = (None if number == "inf" else int(number) for number in numbers)
        if least is not None and least >= 0 and (most is None or least <= most):
            return least, most
        self.say("H803", "no point lies there", place, _BOUNDS)
        return 0, None

    def truth(self, place: Span, word: Token) -> lars.Truth:
        return lars.Truth(word == "true", span=place)

    def word(self, place: Span, token: Token) -> Term:
        if not token.islower():
            self.say("H806", f"`{token}` is a variable", place, _PROPOSITIONS)
        return Constant(atom_text(token), place)


_FORMULA = "a formula"
_MOST_PARTS = 10_000  # definitions that use each other twice double what is written out
LANGUAGE = LanguageSpec(
    "ltl.lark",
    LtlDefinitions,
    {
        **SIGNS,
        **dict.fromkeys(("NAME", "TRUE", "FALSE", "NOT", "PREVIOUS"), _FORMULA),
        **dict.fromkeys(("ONCE", "HISTORICALLY", "FUTURE"), _FORMULA),
        **dict.fromkeys(("FUTURE_PAIR", "SINCE", "AND", "OR", "IMPLIES", "IFF"), "an operator"),
        "INF": "a number",
        **dict.fromkeys(("VAR", "STRING"), "a constant"),
    },
    ".",
)


def read_source(source: SourceText) -> tuple[list[Definition], list[Diagnostic]]:
    """The definitions of a text, each with the others put in the places of their names.

    >>> found, findings = read_source(SourceText("f", "calm := not once alarm."))
    >>> found[0].name, findings
    ('calm', [])
    """
    report = Report()
    found: dict[str, Definition] = {}
    for one in statements(LANGUAGE, source, report):
        if one.name in found:
            message = f"`{one.name}` is defined already"
            report.add("H804", message, source, one.span, "choose another name")
        elif deeper([one.formula], parts):
            hint = "name the parts in definitions of their own"
            report.add("H801", "this formula is nested too deeply", source, one.span, hint)
        else:
            found[one.name] = one
    definitions = [
        replace(one, formula=formula)
        for one in found.values()
        if (formula := _written_out(one, found, source, report)) is not None
    ]
    return definitions, sorted(report.findings, key=sort_key)


def _written_out(
    wanted: Definition, known: dict[str, Definition], source: SourceText, report: Report
) -> LtlFormula | None:
    """The formula without names of other definitions; None if it needs itself."""

    size, told = 0, False

    def expand(formula: LtlFormula, above: tuple[str, ...], depth: int) -> LtlFormula | None:
        nonlocal size, told
        size += 1
        if size > _MOST_PARTS or depth > DEEPEST:
            if not told:
                told = True
                message = f"`{wanted.name}` is too large with all definitions in their places"
                report.add("H801", message, source, wanted.span, "use fewer of them in each other")
            return None
        if isinstance(formula, lars.Atom) and not formula.args and formula.name in known:
            if formula.name in above:
                if formula.name == wanted.name:
                    message = f"`{wanted.name}` needs itself"
                    hint = "say it with `since`, `once` or `historically`"
                    report.add("H805", message, source, wanted.span, hint)
                return None
            return expand(known[formula.name].formula, (*above, formula.name), depth)
        if not isinstance(formula, LtlOperation):
            return formula
        inner = [expand(part, above, depth + 1) for part in formula.parts]
        whole = tuple(part for part in inner if part is not None)
        return replace(formula, parts=whole) if len(whole) == len(inner) else None

    return expand(wanted.formula, (wanted.name,), 0)


_T, _U, _D, _E = Var("T"), Var("U"), Var("D"), Var("E")


def translated(definitions: Iterable[Definition]) -> lars.Program:
    """The program that derives the name of each definition whenever its formula holds."""
    kept = list(definitions)
    return _Translation(kept).program(kept)


class _Translation:
    def __init__(self, definitions: list[Definition]) -> None:
        taken = {p.name for d in definitions for p in _propositions(d.formula)}
        self._names = FreshNames(taken | {d.name for d in definitions})
        self._so = self._names.free("so")
        self._point = self._names.free("point")
        self._rules: list[lars.Rule] = []
        self._everywhere: dict[LtlFormula, lars.Atom] = {}
        self._here: dict[LtlFormula, Literal] = {}
        self._reach: int | None = 0  # how far back formulas look; None is to the start
        self._needs_so = False

    def program(self, definitions: list[Definition]) -> lars.Program:
        """All rules, those about points last."""
        for one in definitions:
            bodies = self._bodies_now(one.formula)
            self._rules.extend(rule(lars.Atom(one.name), *body) for body in bodies)
        if self._everywhere:
            self._rules.extend(self._points())
        if self._needs_so or self._everywhere:
            self._rules.append(lars.Rule(lars.Atom(self._so)))
        return lars.Program(tuple(self._rules))

    # --- now ---

    def _bodies_now(self, formula: LtlFormula) -> list[list[Literal]]:
        """The bodies of rules that together say what a formula says now."""
        if isinstance(formula, lars.Truth):
            self._needs_so = True
            return [[lars.Atom(self._so)]] if formula.value else []
        return _alternatives(formula, self._now) or [[self._now(formula)]]

    def _now(self, formula: LtlFormula) -> Literal:
        """One literal that says what a formula says now."""
        match formula:
            case lars.Atom():
                return formula
            case LtlOperation("not", (inner,)):
                return negated(self._now(inner))
            case LtlOperation("once" | "historically", (lars.Atom() as inner,), 0, most):
                modality = lars.Some if formula.operator == "once" else lars.Always
                return lars.Within(lars.TimeWindow(Duration(most)), modality(inner))
            case LtlOperation("previous" | "once" | "historically" | "since"):
                self._reach = _farther(self._reach, _look_back(formula))
                return _shown(self._at(formula, _T))
            case _:
                return self._named_now(formula)

    def _named_now(self, formula: LtlFormula) -> Literal:
        if formula not in self._here:
            head = lars.Atom(self._names.fresh("now"))
            bodies = self._bodies_now(formula)
            self._rules.extend(rule(head, *body) for body in bodies)
            self._here[formula] = head
        return self._here[formula]

    # --- at every point ---

    def _at(self, formula: LtlFormula, time: Term) -> Literal:
        """A literal that says what a formula says at a time."""
        match formula:
            case lars.Atom():
                return lars.At(time, formula)
            case LtlOperation("not", (inner,)):
                return negated(self._at(inner, time))
            case LtlOperation("historically", (inner,), least, most):
                never = LtlOperation("once", (LtlOperation("not", (inner,)),), least, most)
                return negated(self._at(never, time))
            case _:
                return lars.At(time, self._named(formula))

    def _named(self, formula: LtlFormula) -> lars.Atom:
        """The atom that rules derive wherever a formula holds."""
        if formula not in self._everywhere:
            word = "truth" if isinstance(formula, lars.Atom | lars.Truth) else formula.operator
            head = lars.Atom(self._names.fresh(word))
            self._everywhere[formula] = head
            self._rules.extend(self._definition(formula, head))
        return self._everywhere[formula]

    def _definition(self, formula: LtlFormula, head: lars.Atom) -> list[lars.Rule]:
        here = lars.At(_T, lars.Atom(self._point))
        there = lars.At(_U, lars.Atom(self._point))
        made = lars.At(_T, head)
        step = compare(_T, "=", plus(_U, 1))
        match formula:
            case lars.Truth(value=value):
                return [rule(made, here)] if value else []
            case LtlOperation("previous", (inner,)):
                return [rule(made, there, self._at(inner, _U), step, here)]
            case LtlOperation("once", (inner,), least, None):
                first = self._at(inner, _U)
                return [
                    rule(made, there, first, compare(_T, "=", plus(_U, least)), here),
                    rule(made, lars.At(_U, head), step, here),
                ]
            case LtlOperation("once", (inner,), least, int(most)):
                lag = self._names.fresh("lag")
                then = self._at(inner, _U)
                late = compare(_T, "=", plus(_U, _D))
                body = (there, then, lars.Atom(lag, (_D,)), late, here)
                return [rule(made, *body), numbers(lag, least, most)]
            case LtlOperation("since"):
                return self._since(formula, head)
        bodies = _alternatives(formula, lambda part: self._at(part, _T))
        return [rule(made, here, *body) for body in bodies]

    def _since(self, formula: LtlOperation, head: lars.Atom) -> list[lars.Rule]:
        """A count of the points since, which goes on up to the bound that matters."""
        least, most = formula.least, formula.most
        left, right = (self._at(part, _T) for part in formula.parts)
        here = lars.At(_T, lars.Atom(self._point))
        step = compare(_T, "=", plus(_U, 1))
        if least == 0 and most is None:
            on = rule(lars.At(_T, head), lars.At(_U, head), step, here, left)
            return [rule(lars.At(_T, head), here, right), on]
        name = self._names.fresh("since")

        def counted(time: Term, number: Term) -> lars.At:
            return lars.At(time, lars.Atom(name, (number,)))

        limit = Int(least if most is None else most)
        rules = [
            rule(counted(_T, Int(0)), here, right),
            rule(
                counted(_T, _E),
                *(counted(_U, _D), step, here, left),
                *(compare(_D, "<", limit), compare(_E, "=", plus(_D, 1))),
            ),
            rule(lars.At(_T, head), counted(_T, _D), compare(_D, ">=", Int(least))),
        ]
        if most is None:
            rules.append(rule(counted(_T, limit), counted(_U, limit), step, here, left))
        return rules

    def _points(self) -> list[lars.Rule]:
        """The points that formulas look back to: a number of them, or all since the start."""
        now, so = lars.Atom(self._point), lars.Atom(self._so)
        if self._reach is None:
            before = rule(lars.At(_T, now), lars.At(_U, now), compare(_T, "=", minus(_U, 1)))
            return [rule(now, so), before]
        name, here = self._names.free("back"), lars.Atom(self._names.free("here"))
        back = (lars.At(_U, here), lars.Atom(name, (_D,)), compare(_T, "=", minus(_U, _D)))
        return [rule(here, so), rule(lars.At(_T, now), *back), numbers(name, 0, self._reach)]


_CONNECTIVES = ("and", "or", "implies", "iff")


def _alternatives(
    formula: LtlFormula, said: Callable[[LtlFormula], Literal]
) -> list[list[Literal]]:
    """The bodies that together say what a connective says; none of other formulas."""
    if not isinstance(formula, LtlOperation) or formula.operator not in _CONNECTIVES:
        return []
    one, other = map(said, formula.parts)
    match formula.operator:
        case "and":
            return [[one, other]]
        case "or":
            return [[one], [other]]
        case "implies":
            return [[negated(one)], [other]]
        case _:
            return [[one, other], [negated(one), negated(other)]]


def _farther(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def _look_back(formula: LtlFormula) -> int | None:
    """How far back a formula looks; None is to the start."""
    inner: int | None = 0
    for part in parts(formula):
        inner = _farther(inner, _look_back(part))
    if not isinstance(formula, LtlOperation):
        return inner
    own = {"previous": 1, "once": formula.most, "historically": formula.most, "since": formula.most}
    more = own.get(formula.operator, 0)
    return None if inner is None or more is None else inner + more


def _shown(literal: Literal) -> Literal:
    """A literal about a time, as one about now."""
    if isinstance(literal, lars.Not):
        return lars.Not(_shown(literal.formula))
    assert isinstance(literal, lars.At)
    return literal.formula


def _propositions(formula: LtlFormula) -> Iterable[lars.Atom]:
    if isinstance(formula, lars.Atom):
        yield formula
    for part in parts(formula):
        yield from _propositions(part)
