"""The grammar of LARS at work: the tokens of one clause in, a tree of its parts out.

The tree says how parts hang together; `formulas` and `heads` find out what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, v_args

from horai.lang.core.grammar import atom_text, fed, integer_value, outer, token_span
from horai.lang.core.printer import unquote
from horai.lang.core.terms import Span


@dataclass(frozen=True, slots=True)
class ClausePart:
    """A piece of a clause: its kind, its value if it has one, and the pieces it is made of."""

    kind: str
    value: Any
    parts: tuple[ClausePart, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedLarsClause:
    """Head and body of a clause; a constraint has no head."""

    head: ClausePart | None
    body: tuple[ClausePart, ...]


@v_args(inline=True)
class _Parts(Transformer[Token, Any]):
    """Grammar rules to parts. It keeps nothing between calls, so one instance serves all."""

    def fact(self, head: ClausePart, *_: Token) -> ParsedLarsClause:
        return ParsedLarsClause(head, ())

    def rule(self, head: ClausePart, _neck: Token, body: ClausePart) -> ParsedLarsClause:
        return ParsedLarsClause(head, body.parts)

    def constraint(self, _neck: Token, body: ClausePart) -> ParsedLarsClause:
        return ParsedLarsClause(None, body.parts)

    def body(self, conditions: ClausePart) -> ClausePart:
        return conditions

    def conditions(self, *items: ClausePart | Token) -> ClausePart:
        return _node("list", None, items)

    arguments = conditions

    def both(self, *items: ClausePart | Token) -> ClausePart:
        return _node("and", None, items)

    def either(self, *items: ClausePart | Token) -> ClausePart:
        return _node("or", None, items)

    def implies(self, *items: ClausePart | Token) -> ClausePart:
        return _node("implies", None, items)

    def negation(self, *items: ClausePart | Token) -> ClausePart:
        return _node("not", None, items)

    def modal(self, word: Token, formula: ClausePart) -> ClausePart:
        return _node(word.type.lower(), None, (word, formula))

    def reset(self, *items: ClausePart | Token) -> ClausePart:
        return _node("reset", None, items)

    def at(self, *items: ClausePart | Token) -> ClausePart:
        return _node("at", None, items)

    def within(self, *items: ClausePart | Token) -> ClausePart:
        return _node("within", None, items)

    def after_some(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "some", items)

    def after_always(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "always", items)

    def after_not(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "not", items)

    def after_at(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after_at", None, items)

    def after_at_window(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after_at", None, items)

    def windows(self, *items: ClausePart | Token) -> ClausePart:
        return _node("windows", None, items)

    def window(self, *items: ClausePart | Token) -> ClausePart:
        inner = tuple(_sign(item) if isinstance(item, Token) else item for item in items[1:-1])
        return ClausePart("window", None, inner, outer(items[0], items[-1]))

    def comparison(self, left: ClausePart, sign: Token, right: ClausePart) -> ClausePart:
        return _node("comparison", str(sign), (left, right))

    def infix(self, left: ClausePart, sign: Token, right: ClausePart) -> ClausePart:
        return _node("infix", str(sign), (left, right))

    def prefix(self, sign: Token, operand: ClausePart) -> ClausePart:
        return _node("prefix", str(sign), (sign, operand))

    def name(self, token: Token) -> ClausePart:
        return _leaf("name", atom_text(token), token)

    def variable(self, token: Token) -> ClausePart:
        return _leaf("variable", str(token), token)

    def integer(self, token: Token) -> ClausePart:
        return _leaf("integer", integer_value(str(token)), token)

    def decimal(self, token: Token) -> ClausePart:
        return _leaf("decimal", float(token), token)

    def string(self, token: Token) -> ClausePart:
        return _leaf("string", unquote(str(token)), token)

    def call(self, name: Token, _open: Token, args: ClausePart, close: Token) -> ClausePart:
        return ClausePart("call", atom_text(name), args.parts, outer(name, close))

    def bracketed(self, opening: Token, inner: ClausePart, close: Token) -> ClausePart:
        return ClausePart("bracketed", None, (inner,), outer(opening, close))

    def set(self, *items: ClausePart | Token) -> ClausePart:
        return _node("set", None, items)

    def element(self, terms: ClausePart, *rest: ClausePart | Token) -> ClausePart:
        return _node("element", None, (terms, *rest))

    def aggregate(self, function: Token, elements: ClausePart) -> ClausePart:
        return _node("aggregate", str(function).lstrip("#"), (function, elements))

    def bounded_below(self, least: ClausePart, choice: ClausePart) -> ClausePart:
        return _node("bounded", (True, False), (least, choice))

    def bounded_above(self, choice: ClausePart, most: ClausePart) -> ClausePart:
        return _node("bounded", (False, True), (choice, most))

    def bounded(self, least: ClausePart, choice: ClausePart, most: ClausePart) -> ClausePart:
        return _node("bounded", (True, True), (least, choice, most))


def _node(kind: str, value: Any, items: tuple[ClausePart | Token, ...]) -> ClausePart:
    parts = tuple(item for item in items if isinstance(item, ClausePart))
    return ClausePart(kind, value, parts, outer(items[0], items[-1]))


def _leaf(kind: str, value: Any, token: Token) -> ClausePart:
    return ClausePart(kind, value, (), token_span(token))


def _sign(token: Token) -> ClausePart:
    return ClausePart("sign", str(token), (), token_span(token))


@cache
def _parser() -> Lark:
    text = files("horai.lang.lars").joinpath("lars.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", transformer=_Parts(), maybe_placeholders=False)


def parse_clause(tokens: list[Token]) -> ParsedLarsClause:
    """The clause that the tokens (full stop left out) spell; GrammarError when they spell none."""
    result = fed(_parser(), tokens)
    assert isinstance(result, ParsedLarsClause)
    return result
