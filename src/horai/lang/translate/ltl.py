"""Past temporal logic as LARS: syntax trees, the reader, and the translation.

A formula whose operators look at propositions only becomes a rule over windows:
`historically[0,5] hot` is `always hot [5]`. Any other one is worked out at every point it may look
back to: each of its parts that is more than a proposition gets a predicate, which rules derive at
these points, from one point to the next. `not` stands only before parts, so programs are
stratified, and plain.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lark import Token, Transformer, v_args

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import atom_text, outer, token_span
from horai.lang.core.printer import unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import DEEPEST, Constant, Float, Int, Span, Str, Term, Var
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
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
from horai.lang.translate.statements import SIGNS, LanguageSpec, nesting, statements


@dataclass(frozen=True, slots=True)
class Proposition:
    """`hot`, `tram(a1, b)`: an atom without variables."""

    name: str
    args: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlTruth:
    """`true` or `false`."""

    value: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlNot:
    """`not f`."""

    formula: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlAnd:
    """`f and g`."""

    left: LtlFormula
    right: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlOr:
    """`f or g`."""

    left: LtlFormula
    right: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlImplies:
    """`f -> g`."""

    left: LtlFormula
    right: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Iff:
    """`f <-> g`."""

    left: LtlFormula
    right: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Previous:
    """`previous f`: there is a point before, and f holds there."""

    formula: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Once:
    """`once[least, most] f`: at some point that far back; `most` None has no limit."""

    formula: LtlFormula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Historically:
    """`historically[least, most] f`: at all points that far back."""

    formula: LtlFormula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Since:
    """`f since[least, most] g`: g at some point that far back, and f at all points after it."""

    left: LtlFormula
    right: LtlFormula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


LtlFormula = (
    Proposition
    | LtlTruth
    | LtlNot
    | LtlAnd
    | LtlOr
    | LtlImplies
    | Iff
    | Previous
    | Once
    | Historically
    | Since
)


@dataclass(frozen=True, slots=True)
class Definition:
    """`name := formula.`; what the names in it stand for is put in their places."""

    name: str
    formula: LtlFormula
    span: Span | None = field(default=None, compare=False, repr=False)
    source: SourceText | None = field(default=None, compare=False, repr=False)


def parts(formula: LtlFormula) -> tuple[LtlFormula, ...]:
    """The formulas that a formula is made of.

    >>> parts(Once(Proposition("a")))
    (Proposition(name='a', args=()),)
    """
    match formula:
        case LtlAnd() | LtlOr() | LtlImplies() | Iff() | Since():
            return (formula.left, formula.right)
        case LtlNot() | Previous() | Once() | Historically():
            return (formula.formula,)
        case _:
            return ()


def with_parts(formula: LtlFormula, inner: Sequence[LtlFormula]) -> LtlFormula:
    """The formula made of other parts."""
    match formula:
        case LtlAnd() | LtlOr() | LtlImplies() | Iff() | Since():
            left, right = inner
            return replace(formula, left=left, right=right)
        case LtlNot() | Previous() | Once() | Historically():
            return replace(formula, formula=inner[0])
        case _:
            return formula


UNNAMED = "holds"
_FUTURE = "look back instead: `previous`, `once`, `historically`, `since`"


@dataclass(frozen=True, slots=True)
class Wrong:
    """A finding about a part of a formula."""

    code: str
    message: str
    span: Span
    hint: str


@dataclass(slots=True)
class Parsed:
    """A definition before its names are looked up, and all that is wrong with it."""

    name: str
    formula: LtlFormula
    span: Span
    wrongs: list[Wrong] = field(default_factory=list)


@dataclass(slots=True)
class _Piece:
    formula: LtlFormula
    span: Span
    wrongs: list[Wrong]


@v_args(inline=True)
class Formulas(Transformer[Token, Any]):
    """Grammar rules to formulas. It keeps nothing between calls."""

    def definition(self, name: Token, _sign: Token, piece: _Piece) -> Parsed:
        span = (token_span(name)[0], piece.span[1])
        return Parsed(atom_text(name), piece.formula, span, piece.wrongs)

    def unnamed(self, piece: _Piece) -> Parsed:
        return Parsed(UNNAMED, piece.formula, piece.span, piece.wrongs)

    def negation(self, sign: Token, piece: _Piece) -> _Piece:
        return _prefixed(LtlNot, sign, piece)

    def previous(self, sign: Token, piece: _Piece) -> _Piece:
        return _prefixed(Previous, sign, piece)

    def once(self, *items: Any) -> _Piece:
        return _bounded(Once, *items)

    def historically(self, *items: Any) -> _Piece:
        return _bounded(Historically, *items)

    def future(self, sign: Token, piece: _Piece) -> _Piece:
        message = f"`{sign}` looks into the future, which a run does not know"
        piece.wrongs.append(Wrong("H802", message, token_span(sign), _FUTURE))
        return piece

    def future_pair(self, left: _Piece, sign: Token, right: _Piece) -> _Piece:
        joined = _joined(LtlAnd, left, right)
        return self.future(sign, joined)

    def since(self, left: _Piece, _sign: Token, *rest: Any) -> _Piece:
        *bounds, right = rest
        least, most, wrongs = bounds[0] if bounds else (0, None, [])
        span = (left.span[0], right.span[1])
        formula = Since(left.formula, right.formula, least, most, span)
        return _Piece(formula, span, [*left.wrongs, *wrongs, *right.wrongs])

    def both(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(LtlAnd, left, right)

    def either(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(LtlOr, left, right)

    def implies(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(LtlImplies, left, right)

    def iff(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(Iff, left, right)

    def bracketed(self, opening: Token, piece: _Piece, close: Token) -> _Piece:
        return _Piece(piece.formula, outer(opening, close), piece.wrongs)

    def truth(self, word: Token) -> _Piece:
        span = token_span(word)
        return _Piece(LtlTruth(word == "true", span), span, [])

    def proposition(self, name: Token, *rest: Any) -> _Piece:
        args: tuple[tuple[Term | None, Token], ...] = rest[1] if rest else ()
        span = outer(name, rest[2] if rest else name)
        hint = "put a constant in its place: temporal logic has propositions only"
        wrongs = [
            Wrong("H806", f"`{token}` is a variable", token_span(token), hint)
            for term, token in args
            if term is None
        ]
        given = tuple(term for term, _ in args if term is not None)
        return _Piece(Proposition(atom_text(name), given, span), span, wrongs)

    def terms(self, *items: Any) -> tuple[tuple[Term | None, Token], ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def constant(self, token: Token) -> tuple[Term, Token]:
        return Constant(atom_text(token), token_span(token)), token

    def integer(self, token: Token) -> tuple[Term, Token]:
        return Int(int(token), token_span(token)), token

    def decimal(self, token: Token) -> tuple[Term, Token]:
        return Float(float(token), token_span(token)), token

    def string(self, token: Token) -> tuple[Term, Token]:
        return Str(unquote(str(token)), token_span(token)), token

    def variable(self, token: Token) -> tuple[None, Token]:
        return None, token

    def word(self, token: Token) -> tuple[Term | None, Token]:
        return self.constant(token) if token.islower() else (None, token)

    def whole(self, token: Token) -> int | None:
        return None if token == "inf" else int(token)

    def bounds(
        self, opening: Token, least: int | None, _comma: Token, most: int | None, close: Token
    ) -> tuple[int, int | None, list[Wrong]]:
        if least is not None and least >= 0 and (most is None or least <= most):
            return least, most, []
        hint = "write how far back at least and at most, in time points: `[2, 5]`, `[2, inf]`"
        return 0, None, [Wrong("H803", "no point lies there", outer(opening, close), hint)]


def _prefixed(kind: Any, sign: Token, piece: _Piece) -> _Piece:
    span = (token_span(sign)[0], piece.span[1])
    return _Piece(kind(piece.formula, span=span), span, piece.wrongs)


def _bounded(kind: Any, sign: Token, *rest: Any) -> _Piece:
    *bounds, piece = rest
    least, most, wrongs = bounds[0] if bounds else (0, None, [])
    span = (token_span(sign)[0], piece.span[1])
    return _Piece(kind(piece.formula, least, most, span), span, [*wrongs, *piece.wrongs])


def _joined(kind: Any, left: _Piece, right: _Piece) -> _Piece:
    span = (left.span[0], right.span[1])
    formula = kind(left.formula, right.formula, span)
    return _Piece(formula, span, [*left.wrongs, *right.wrongs])


_FORMULA = "a formula"
_MOST_PARTS = 10_000  # definitions that use each other twice double what is written out
LANGUAGE = LanguageSpec(
    "horai.lang.translate",
    "ltl.lark",
    Formulas,
    {
        **dict.fromkeys(("NAME", "TRUE", "FALSE", "NOT", "PREVIOUS"), _FORMULA),
        **dict.fromkeys(("ONCE", "HISTORICALLY", "FUTURE"), _FORMULA),
        **dict.fromkeys(("FUTURE_PAIR", "SINCE", "AND", "OR", "ARROW", "IFF"), "an operator"),
        **dict.fromkeys(("INT", "DECIMAL", "INF"), "a number"),
        **dict.fromkeys(("VAR", "STRING"), "a constant"),
        **SIGNS,
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
    found: dict[str, Parsed] = {}
    for parsed in statements(LANGUAGE, source, report):
        for wrong in parsed.wrongs:
            report.add(wrong.code, wrong.message, source, wrong.span, wrong.hint)
        if parsed.name in found:
            hint = "choose another name"
            message = f"`{parsed.name}` is defined already"
            report.add("H804", message, source, parsed.span, hint)
        elif nesting(parsed.formula, parts) > DEEPEST:
            hint = "name the parts in definitions of their own"
            report.add("H801", "this formula is nested too deeply", source, parsed.span, hint)
        else:
            found[parsed.name] = parsed
    definitions = [
        Definition(name, formula, parsed.span, source)
        for name, parsed in found.items()
        if (formula := _written_out(parsed, found, source, report)) is not None
    ]
    return definitions, sorted(report.findings, key=sort_key)


def _written_out(
    wanted: Parsed, known: dict[str, Parsed], source: SourceText, report: Report
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
        if isinstance(formula, Proposition) and not formula.args and formula.name in known:
            if formula.name in above:
                if formula.name == wanted.name:
                    message = f"`{wanted.name}` needs itself"
                    hint = "say it with `since`, `once` or `historically`"
                    report.add("H805", message, source, wanted.span, hint)
                return None
            return expand(known[formula.name].formula, (*above, formula.name), depth)
        inner = [expand(part, above, depth + 1) for part in parts(formula)]
        if any(part is None for part in inner):
            return None
        return with_parts(formula, [part for part in inner if part is not None])

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
        for definition in definitions:
            self._rules.extend(
                rule(lars.Atom(definition.name), *body)
                for body in self._bodies_now(definition.formula)
            )
        if self._everywhere:
            self._rules.extend(self._points())
        if self._needs_so or self._everywhere:
            self._rules.append(lars.Rule(lars.Atom(self._so)))
        return lars.Program(tuple(self._rules))

    # --- now ---

    def _bodies_now(self, formula: LtlFormula) -> list[list[lars.Formula]]:
        """The bodies of rules that together say what a formula says now."""
        match formula:
            case LtlTruth(value=value):
                self._needs_so = True
                return [[lars.Atom(self._so)]] if value else []
            case LtlAnd(left=left, right=right):
                return [[self._now(left), self._now(right)]]
            case LtlOr(left=left, right=right):
                return [[self._now(left)], [self._now(right)]]
            case LtlImplies(left=left, right=right):
                return [[negated(self._now(left))], [self._now(right)]]
            case Iff(left=left, right=right):
                one, other = self._now(left), self._now(right)
                return [[one, other], [negated(one), negated(other)]]
            case _:
                return [[self._now(formula)]]

    def _now(self, formula: LtlFormula) -> Literal:
        """One literal that says what a formula says now."""
        match formula:
            case Proposition(name=name, args=args):
                return lars.Atom(name, args)
            case LtlNot(formula=inner):
                return negated(self._now(inner))
            case Once(formula=Proposition(name=name, args=args), least=0, most=most):
                return lars.Within(
                    lars.TimeWindow(Duration(most)), lars.Some(lars.Atom(name, args))
                )
            case Historically(formula=Proposition(name=name, args=args), least=0):
                return lars.Within(
                    lars.TimeWindow(Duration(formula.most)), lars.Always(lars.Atom(name, args))
                )
            case Previous() | Once() | Historically() | Since():
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
            case Proposition(name=name, args=args):
                return lars.At(time, lars.Atom(name, args))
            case LtlNot(formula=inner):
                return negated(self._at(inner, time))
            case Historically(formula=inner, least=least, most=most):
                return negated(self._at(Once(LtlNot(inner), least, most), time))
            case _:
                return lars.At(time, self._named(formula))

    def _named(self, formula: LtlFormula) -> lars.Atom:
        """The atom that rules derive wherever a formula holds."""
        if formula not in self._everywhere:
            head = lars.Atom(self._names.fresh(_WORDS[type(formula)]))
            self._everywhere[formula] = head
            self._rules.extend(self._definition(formula, head))
        return self._everywhere[formula]

    def _definition(self, formula: LtlFormula, head: lars.Atom) -> list[lars.Rule]:
        here = lars.At(_T, lars.Atom(self._point))
        there = lars.At(_U, lars.Atom(self._point))
        made = lars.At(_T, head)
        match formula:
            case LtlTruth(value=value):
                return [rule(made, here)] if value else []
            case LtlAnd(left=left, right=right):
                return [rule(made, here, self._at(left, _T), self._at(right, _T))]
            case LtlOr(left=left, right=right):
                return [rule(made, here, self._at(part, _T)) for part in (left, right)]
            case LtlImplies(left=left, right=right):
                one, other = self._at(left, _T), self._at(right, _T)
                return [rule(made, here, negated(one)), rule(made, here, other)]
            case Iff(left=left, right=right):
                one, other = self._at(left, _T), self._at(right, _T)
                return [
                    rule(made, here, one, other),
                    rule(made, here, negated(one), negated(other)),
                ]
            case Previous(formula=inner):
                before = self._at(inner, _U)
                return [rule(made, there, before, compare(_T, "=", plus(_U, 1)), here)]
            case Once(formula=inner, least=least, most=None):
                first = self._at(inner, _U)
                on = lars.At(_U, head)
                return [
                    rule(made, there, first, compare(_T, "=", plus(_U, least)), here),
                    rule(made, on, compare(_T, "=", plus(_U, 1)), here),
                ]
            case Once(formula=inner, least=least, most=int(most)):
                lag = self._names.fresh("lag")
                then = self._at(inner, _U)
                body = (there, then, lars.Atom(lag, (_D,)), compare(_T, "=", plus(_U, _D)), here)
                return [rule(made, *body), numbers(lag, least, most)]
            case Since():
                return self._since(formula, head)
        raise AssertionError(f"{formula} has no rules of its own")

    def _since(self, formula: Since, head: lars.Atom) -> list[lars.Rule]:
        """A count of the points since, which goes on up to the bound that matters."""
        least, most = formula.least, formula.most
        left, right = self._at(formula.left, _T), self._at(formula.right, _T)
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
        return [
            rule(here, so),
            rule(
                lars.At(_T, now),
                *(lars.At(_U, here), lars.Atom(name, (_D,)), compare(_T, "=", minus(_U, _D))),
            ),
            numbers(name, 0, self._reach),
        ]


_WORDS = {
    LtlTruth: "truth",
    LtlAnd: "and",
    LtlOr: "or",
    LtlImplies: "implies",
    Iff: "iff",
    Previous: "previous",
    Once: "once",
    Since: "since",
}


def _farther(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else max(one, other)


def _look_back(formula: LtlFormula) -> int | None:
    """How far back a formula looks; None is to the start."""
    inner: int | None = 0
    for part in parts(formula):
        inner = _farther(inner, _look_back(part))
    match formula:
        case Previous():
            return None if inner is None else inner + 1
        case Once(most=most) | Historically(most=most) | Since(most=most):
            return None if inner is None or most is None else inner + most
        case _:
            return inner


def _shown(literal: Literal) -> Literal:
    """A literal about a time, as one about now."""
    if isinstance(literal, lars.Not):
        return lars.Not(_shown(literal.formula))
    assert isinstance(literal, lars.At)
    return literal.formula


def _propositions(formula: LtlFormula) -> Iterable[Proposition]:
    if isinstance(formula, Proposition):
        yield formula
    for part in parts(formula):
        yield from _propositions(part)
