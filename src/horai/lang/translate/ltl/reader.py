"""The reader of definitions of temporal logic: text in; formulas and all that is wrong out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Token, Transformer, v_args

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import atom_text, token_span
from horai.lang.core.printer import unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import DEEPEST, Constant, Float, Int, Span, Str, Term
from horai.lang.translate.codes import RELATIVE_CODES
from horai.lang.translate.ltl import syntax
from horai.lang.translate.ltl.syntax import Definition, Formula, Proposition, parts, with_parts
from horai.lang.translate.statements import SIGNS, LanguageSpec, statements

UNNAMED = "holds"
_FUTURE = "look back instead: `previous`, `once`, `historically`, `since`"


@dataclass(frozen=True, slots=True)
class Wrong:
    """Something to tell about a part of a formula."""

    code: str
    message: str
    span: Span
    hint: str


@dataclass(slots=True)
class Parsed:
    """A definition before its names are looked up, and all that is wrong with it."""

    name: str
    formula: syntax.Formula
    span: Span
    wrongs: list[Wrong] = field(default_factory=list)


@dataclass(slots=True)
class _Piece:
    formula: syntax.Formula
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
        return _prefixed(syntax.LtlNot, sign, piece)

    def previous(self, sign: Token, piece: _Piece) -> _Piece:
        return _prefixed(syntax.Previous, sign, piece)

    def once(self, *items: Any) -> _Piece:
        return _bounded(syntax.Once, *items)

    def historically(self, *items: Any) -> _Piece:
        return _bounded(syntax.Historically, *items)

    def future(self, sign: Token, piece: _Piece) -> _Piece:
        message = f"`{sign}` looks into the future, which a run does not know"
        piece.wrongs.append(Wrong("H802", message, token_span(sign), _FUTURE))
        return piece

    def future_pair(self, left: _Piece, sign: Token, right: _Piece) -> _Piece:
        joined = _joined(syntax.LtlAnd, left, right)
        return self.future(sign, joined)

    def since(self, left: _Piece, _sign: Token, *rest: Any) -> _Piece:
        *bounds, right = rest
        least, most, wrongs = bounds[0] if bounds else (0, None, [])
        span = (left.span[0], right.span[1])
        formula = syntax.Since(left.formula, right.formula, least, most, span)
        return _Piece(formula, span, [*left.wrongs, *wrongs, *right.wrongs])

    def both(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.LtlAnd, left, right)

    def either(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.LtlOr, left, right)

    def implies(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.LtlImplies, left, right)

    def iff(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.Iff, left, right)

    def bracketed(self, opening: Token, piece: _Piece, close: Token) -> _Piece:
        return _Piece(piece.formula, _outer(opening, close), piece.wrongs)

    def truth(self, word: Token) -> _Piece:
        span = token_span(word)
        return _Piece(syntax.LtlTruth(word == "true", span), span, [])

    def proposition(self, name: Token, *rest: Any) -> _Piece:
        args: tuple[tuple[Term | None, Token], ...] = rest[1] if rest else ()
        span = _outer(name, rest[2] if rest else name)
        hint = "put a constant in its place: temporal logic has propositions only"
        wrongs = [
            Wrong("H806", f"`{token}` is a variable", token_span(token), hint)
            for term, token in args
            if term is None
        ]
        given = tuple(term for term, _ in args if term is not None)
        return _Piece(syntax.Proposition(atom_text(name), given, span), span, wrongs)

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
        return 0, None, [Wrong("H803", "no point lies there", _outer(opening, close), hint)]


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


def _outer(first: Token, last: Token) -> Span:
    return (token_span(first)[0], token_span(last)[1])


_FORMULA = "a formula"
_MOST_PARTS = 10_000  # definitions that use each other twice double what is written out
LANGUAGE = LanguageSpec(
    "horai.lang.translate.ltl",
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
    report = Report(RELATIVE_CODES)
    found: dict[str, Parsed] = {}
    for parsed in statements(LANGUAGE, source, report):
        for wrong in parsed.wrongs:
            report.add(wrong.code, wrong.message, source, wrong.span, wrong.hint)
        if parsed.name in found:
            hint = "choose another name"
            message = f"`{parsed.name}` is defined already"
            report.add("H804", message, source, parsed.span, hint)
        elif _depth(parsed.formula) > DEEPEST:
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
) -> Formula | None:
    """The formula without names of other definitions; None if it needs itself."""

    size, told = 0, False

    def expand(formula: Formula, above: tuple[str, ...], depth: int) -> Formula | None:
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


def _depth(formula: Formula) -> int:
    level, depth = [formula], 0
    while level:
        level = [part for outer in level for part in parts(outer)]
        depth += 1
    return depth
