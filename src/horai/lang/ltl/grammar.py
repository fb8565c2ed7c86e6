"""The grammar at work: the tokens of one definition in, its syntax tree out.

What reads well and has no meaning becomes a `Wrong`, with the code and the words for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lark import Token, Transformer, v_args

from horai.lang.grammar import atom_text, token_span
from horai.lang.ltl import syntax
from horai.lang.quoting import unquote
from horai.lang.terms import Atom, Float, Int, Span, Str, Term

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
        return _prefixed(syntax.Not, sign, piece)

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
        joined = _joined(syntax.And, left, right)
        return self.future(sign, joined)

    def since(self, left: _Piece, _sign: Token, *rest: Any) -> _Piece:
        *bounds, right = rest
        least, most, wrongs = bounds[0] if bounds else (0, None, [])
        span = (left.span[0], right.span[1])
        formula = syntax.Since(left.formula, right.formula, least, most, span)
        return _Piece(formula, span, [*left.wrongs, *wrongs, *right.wrongs])

    def both(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.And, left, right)

    def either(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.Or, left, right)

    def implies(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.Implies, left, right)

    def iff(self, left: _Piece, _sign: Token, right: _Piece) -> _Piece:
        return _joined(syntax.Iff, left, right)

    def bracketed(self, opening: Token, piece: _Piece, close: Token) -> _Piece:
        return _Piece(piece.formula, _outer(opening, close), piece.wrongs)

    def truth(self, word: Token) -> _Piece:
        span = token_span(word)
        return _Piece(syntax.Truth(word == "true", span), span, [])

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
        return Atom(atom_text(token), token_span(token)), token

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
