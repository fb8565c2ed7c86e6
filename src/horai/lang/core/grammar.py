"""The grammar of clauses at work: the tokens of one clause in, its term out."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from horai.lang.core.printer import unquote
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Span, Str, Term, Var


class ParsedClause:
    """Head and body of a clause; `directive` is the word of `:- dynamic ...` and its kin."""

    __slots__ = ("body", "directive", "head")

    def __init__(self, head: Term | None, body: Term | None, directive: str | None = None) -> None:
        self.head = head
        self.body = body
        self.directive = directive


def token_span(token: Token) -> Span:
    """Where a token stands in its text."""
    assert token.start_pos is not None and token.end_pos is not None
    return (token.start_pos, token.end_pos)


def atom_text(token: Token) -> str:
    """The name that an atom or functor token says."""
    return unquote(str(token)) if token[0] == "'" else str(token)


def integer_value(text: str) -> int:
    """The value of an integer token: `12`, `1_000`, `-3`, `0x1F`, `0'a`."""
    sign, digits = (-1, text[1:]) if text[0] == "-" else (1, text)
    if digits[:2] == "0'":
        char = digits[2:]
        return sign * ord("'" if char == "''" else unquote(f"'{char}'"))
    return sign * (int(digits, 0) if digits[:2] in ("0x", "0o", "0b") else int(digits))


def outer(first: Any, last: Any) -> Span:
    """From the start of a token or node to the end of another one."""
    start = first.start_pos if isinstance(first, Token) else (first.span or (0, 0))[0]
    end = last.end_pos if isinstance(last, Token) else (last.span or (0, 0))[1]
    assert start is not None and end is not None
    return (start, end)


@v_args(inline=True)
class _Terms(Transformer[Token, Any]):
    """Grammar rules to terms. It keeps nothing between calls, so one instance serves all."""

    def fact(self, head: Term) -> ParsedClause:
        return ParsedClause(head, None)

    def rule(self, head: Term, _neck: Token, body: Term) -> ParsedClause:
        return ParsedClause(head, body)

    def directive(self, _neck: Token, body: Term) -> ParsedClause:
        return ParsedClause(None, body)

    def declared(self, _neck: Token, word: Token, body: Term) -> ParsedClause:
        return ParsedClause(None, body, str(word))

    def infix(self, left: Term, sign: Token, right: Term) -> Term:
        return Compound(str(sign), (left, right), outer(left, right))

    def prefix(self, sign: Token, operand: Term) -> Term:
        return Compound(str(sign), (operand,), outer(sign, operand))

    def atom(self, token: Token) -> Term:
        return Constant(atom_text(token), token_span(token))

    def variable(self, token: Token) -> Term:
        return Var(str(token), token_span(token))

    def integer(self, token: Token) -> Term:
        return Int(integer_value(str(token)), token_span(token))

    def decimal(self, token: Token) -> Term:
        return Float(float(token), token_span(token))

    def string(self, token: Token) -> Term:
        return Str(unquote(str(token)), token_span(token))

    def arguments(self, *parts: Term | Token) -> tuple[Term, ...]:
        return tuple(part for part in parts if not isinstance(part, Token))

    def compound(self, name: Token, _open: Token, args: tuple[Term, ...], close: Token) -> Term:
        return Compound(atom_text(name), args, outer(name, close))

    def bracketed(self, opening: Token, term: Term, close: Token) -> Term:
        term.span = outer(opening, close)
        return term

    def empty_list(self, opening: Token, close: Token) -> Term:
        return ListTerm((), None, outer(opening, close))

    def list(self, opening: Token, items: tuple[Term, ...], close: Token) -> Term:
        return ListTerm(items, None, outer(opening, close))

    def partial_list(
        self, opening: Token, items: tuple[Term, ...], _bar: Token, tail: Term, close: Token
    ) -> Term:
        span = outer(opening, close)
        if isinstance(tail, ListTerm):
            return ListTerm(items + tail.items, tail.tail, span)
        return ListTerm(items, tail, span)

    def braces(self, opening: Token, *inner: Any) -> Term:
        span = outer(opening, inner[-1])
        return Constant("{}", span) if len(inner) == 1 else Compound("{}", (inner[0],), span)


@cache
def _parser() -> Lark:
    text = files("horai.lang.core").joinpath("prolog.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", transformer=_Terms(), maybe_placeholders=False)


class GrammarError(Exception):
    """The clause cannot go on: `index` is the token in the way, or the count when all are used."""

    def __init__(self, index: int, parser: InteractiveParser) -> None:
        super().__init__(f"token {index}")
        self.index = index
        self._parser = parser

    def expected(self) -> set[str]:
        """The kinds of token that could have come there."""
        return set(self._parser.accepts())  # type: ignore[no-untyped-call]


def parse_clause(tokens: list[Token]) -> ParsedClause:
    """The clause that the tokens (full stop left out) spell; GrammarError when they spell none."""
    result = fed(_parser(), tokens)
    assert isinstance(result, ParsedClause)
    return result


def fed(grammar: Lark, tokens: list[Token]) -> object:
    """The tree that the tokens of a clause spell in a grammar; GrammarError when there is none."""
    parser = grammar.parse_interactive()
    index = 0
    try:
        for index, token in enumerate(tokens):  # noqa: B007 - the error needs the last index
            parser.feed_token(token)
        index = len(tokens)
        return parser.feed_token(Token("$END", ""))
    except UnexpectedToken:
        raise GrammarError(index, parser) from None
