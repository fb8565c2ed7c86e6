"""The grammar at work: the tokens of one clause in, a tree of its parts out.

The tree says how parts hang together; `formulas` and `heads` find out what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, v_args

from horai.lang.grammar import atom_text, fed, integer_value, token_span
from horai.lang.quoting import unquote
from horai.lang.terms import Span


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a clause: its kind, its value if it has one, and the pieces it is made of."""

    kind: str
    value: Any
    parts: tuple[Part, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedClause:
    """Head and body of a clause; a constraint has no head."""

    head: Part | None
    body: tuple[Part, ...]


@v_args(inline=True)
class _Parts(Transformer[Token, Any]):
    """Grammar rules to parts. It keeps nothing between calls, so one instance serves all."""

    def fact(self, head: Part, *_: Token) -> ParsedClause:
        return ParsedClause(head, ())

    def rule(self, head: Part, _neck: Token, body: Part) -> ParsedClause:
        return ParsedClause(head, body.parts)

    def constraint(self, _neck: Token, body: Part) -> ParsedClause:
        return ParsedClause(None, body.parts)

    def body(self, conditions: Part) -> Part:
        return conditions

    def conditions(self, *items: Part | Token) -> Part:
        return _node("list", None, items)

    arguments = conditions

    def both(self, *items: Part | Token) -> Part:
        return _node("and", None, items)

    def either(self, *items: Part | Token) -> Part:
        return _node("or", None, items)

    def implies(self, *items: Part | Token) -> Part:
        return _node("implies", None, items)

    def negation(self, *items: Part | Token) -> Part:
        return _node("not", None, items)

    def modal(self, word: Token, formula: Part) -> Part:
        return _node(word.type.lower(), None, (word, formula))

    def reset(self, *items: Part | Token) -> Part:
        return _node("reset", None, items)

    def at(self, *items: Part | Token) -> Part:
        return _node("at", None, items)

    def within(self, *items: Part | Token) -> Part:
        return _node("within", None, items)

    def after_some(self, *items: Part | Token) -> Part:
        return _node("after", "some", items)

    def after_always(self, *items: Part | Token) -> Part:
        return _node("after", "always", items)

    def after_not(self, *items: Part | Token) -> Part:
        return _node("after", "not", items)

    def after_at(self, *items: Part | Token) -> Part:
        return _node("after_at", None, items)

    def after_at_window(self, *items: Part | Token) -> Part:
        return _node("after_at", None, items)

    def windows(self, *items: Part | Token) -> Part:
        return _node("windows", None, items)

    def window(self, *items: Part | Token) -> Part:
        inner = tuple(_sign(item) if isinstance(item, Token) else item for item in items[1:-1])
        return Part("window", None, inner, _outer(items[0], items[-1]))

    def comparison(self, left: Part, sign: Token, right: Part) -> Part:
        return _node("comparison", str(sign), (left, right))

    def infix(self, left: Part, sign: Token, right: Part) -> Part:
        return _node("infix", str(sign), (left, right))

    def prefix(self, sign: Token, operand: Part) -> Part:
        return _node("prefix", str(sign), (sign, operand))

    def name(self, token: Token) -> Part:
        return _leaf("name", atom_text(token), token)

    def variable(self, token: Token) -> Part:
        return _leaf("variable", str(token), token)

    def integer(self, token: Token) -> Part:
        return _leaf("integer", integer_value(str(token)), token)

    def decimal(self, token: Token) -> Part:
        return _leaf("decimal", float(token), token)

    def string(self, token: Token) -> Part:
        return _leaf("string", unquote(str(token)), token)

    def call(self, name: Token, _open: Token, args: Part, close: Token) -> Part:
        return Part("call", atom_text(name), args.parts, _outer(name, close))

    def bracketed(self, opening: Token, inner: Part, close: Token) -> Part:
        return Part("bracketed", None, (inner,), _outer(opening, close))

    def set(self, *items: Part | Token) -> Part:
        return _node("set", None, items)

    def element(self, terms: Part, *rest: Part | Token) -> Part:
        return _node("element", None, (terms, *rest))

    def aggregate(self, function: Token, elements: Part) -> Part:
        return _node("aggregate", str(function).lstrip("#"), (function, elements))

    def bounded_below(self, least: Part, choice: Part) -> Part:
        return _node("bounded", (True, False), (least, choice))

    def bounded_above(self, choice: Part, most: Part) -> Part:
        return _node("bounded", (False, True), (choice, most))

    def bounded(self, least: Part, choice: Part, most: Part) -> Part:
        return _node("bounded", (True, True), (least, choice, most))


def _node(kind: str, value: Any, items: tuple[Part | Token, ...]) -> Part:
    parts = tuple(item for item in items if isinstance(item, Part))
    return Part(kind, value, parts, _outer(items[0], items[-1]))


def _leaf(kind: str, value: Any, token: Token) -> Part:
    return Part(kind, value, (), token_span(token))


def _sign(token: Token) -> Part:
    return Part("sign", str(token), (), token_span(token))


def _outer(first: Part | Token, last: Part | Token) -> Span:
    start = (token_span(first) if isinstance(first, Token) else first.span)[0]
    end = (token_span(last) if isinstance(last, Token) else last.span)[1]
    return (start, end)


@cache
def _parser() -> Lark:
    text = files("horai.lang.lars").joinpath("lars.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", transformer=_Parts(), maybe_placeholders=False)


def parse_clause(tokens: list[Token]) -> ParsedClause:
    """The clause that the tokens (full stop left out) spell; GrammarError when they spell none."""
    result = fed(_parser(), tokens)
    assert isinstance(result, ParsedClause)
    return result
