"""The grammar at work: the tokens of one rule in, its syntax tree out."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args

from horai.lang.etalis.syntax import (
    Absent,
    Binary,
    Comparison,
    Event,
    EventRule,
    Lasting,
    Moment,
    Pattern,
    Where,
)
from horai.lang.grammar import atom_text, token_span
from horai.lang.quoting import unquote
from horai.lang.terms import Atom, Compound, Float, Int, Span, Str, Term, Var


@v_args(inline=True)
class Patterns(Transformer[Token, Any]):
    """Grammar rules to patterns. It keeps nothing between calls."""

    def rule(self, head: Event, _neck: Token, pattern: Pattern) -> EventRule:
        return EventRule(head, pattern, _outer(head, pattern))

    def bare(self, event: Event) -> Event:
        return event

    def single(self, event: Event) -> Event:
        return event

    def filtered(
        self, pattern: Pattern, _where: Token, conditions: tuple[Comparison, ...]
    ) -> Where:
        return Where(pattern, conditions, _outer(pattern, conditions[-1]))

    def binary(self, left: Pattern, relation: Token, right: Pattern) -> Binary:
        return Binary(str(relation), left, right, _outer(left, right))  # type: ignore[arg-type]

    def moment(self, token: Token) -> Moment:
        return Moment(int(token), token_span(token))

    def bracketed(self, _open: Token, pattern: Pattern, _close: Token) -> Pattern:
        return pattern

    def lasting(
        self, opening: Token, pattern: Pattern, _close: Token, _dot: Token, most: Token
    ) -> Lasting:
        return Lasting(pattern, int(most), _outer(opening, most))

    def absent(self, *items: Any) -> Absent:
        inner, first, last = (item for item in items if not isinstance(item, Token))
        return Absent(inner, first, last, _outer(items[0], items[-1]))

    def event(self, name: Token, *rest: Any) -> Event:
        args = rest[1] if rest else ()
        return Event(atom_text(name), args, _outer(name, rest[-1] if rest else name))

    def terms(self, *items: Any) -> tuple[Term, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def conditions(self, *items: Any) -> tuple[Comparison, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def comparison(self, left: Term, sign: Token, right: Term) -> Comparison:
        return Comparison(str(sign), left, right, _outer(left, right))  # type: ignore[arg-type]

    def operation(self, left: Term, sign: Token, right: Term) -> Term:
        return Compound(str(sign), (left, right), _outer(left, right))

    def inner(self, _open: Token, inside: Any, _close: Token) -> Any:
        return inside

    def constant(self, token: Token) -> Term:
        return Atom(atom_text(token), token_span(token))

    def integer(self, token: Token) -> Term:
        return Int(int(token), token_span(token))

    def decimal(self, token: Token) -> Term:
        return Float(float(token), token_span(token))

    def string(self, token: Token) -> Term:
        return Str(unquote(str(token)), token_span(token))

    def variable(self, token: Token) -> Term:
        # Every `_` is a variable of its own; its place tells it from the others.
        name = f"_#{token.start_pos}" if token == "_" else str(token)
        return Var(name, token_span(token))


def _outer(first: Any, last: Any) -> Span:
    start = token_span(first) if isinstance(first, Token) else first.span
    end = token_span(last) if isinstance(last, Token) else last.span
    return (start[0], end[1])
