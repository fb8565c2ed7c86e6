"""Texts cut into the tokens of clauses, and the grammar of clauses: tokens in, a term out."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from lark import Lark, Token, Transformer, Tree, v_args
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from horai.lang.core.printer import starts_variable, unquote
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Span, Str, Term, Var

ESCAPE = r"\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\|.|\n)"
# The signs that people write by mistake stand before the operators they contain.
_MISTAKEN = (
    r"<-->|-->|<=>|==>|=!=|===|!==|=/=|~=|/=|:=|&&|[|][|]|=>|"
    r"<-(?!\s*[0-9])|::|[?]-|\\/|/\\|>>|<<|[*]/"
)


def token_pattern(
    *, special: str, end: str, comment: str, mistaken: str, operators: str, bad: str
) -> re.Pattern[str]:
    """The tokens of a language by kind; `special` are those that other languages lack.

    U+FFFD counts as a letter: it stands for bytes that are no UTF-8, which were reported already.
    """
    return re.compile(
        rf"""
          (?P<FLOAT>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
        | {special}
        | (?P<INT>[0-9]+(?:_[0-9]+)*)
        | (?P<WORD>(?:[^\W\d]|\ufffd)(?:\w|\ufffd)*+)
        | (?P<QUOTED>'(?:[^'\\\n]|''|{ESCAPE})*+')
        | (?P<STR>"(?:[^"\\\n]|""|{ESCAPE})*+")
        | (?P<OPENQUOTE>['"`][^\n]*)
        | (?P<END>{end})
        | (?P<OPENCOMMENT>{comment})
        | (?P<MISTAKEN>{_MISTAKEN}|{mistaken})
        | (?P<OP>{operators})
        | (?P<BAD>{bad})
        | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\])
        | (?P<LBRACE>\{{) | (?P<RBRACE>\}})
        | (?P<STRAY>.)
        """,
        re.VERBOSE | re.DOTALL,
    )


_KINDS = {"CHAR": "INT", "RADIX": "INT", "REST": "MUL", "MISTAKEN": "BAD", "OPENQUOTE": "BADQUOTE"}


class Scanner(ABC):
    """Cuts texts of a language into the tokens of clauses."""

    layout: re.Pattern[str]  # blanks and comments
    token: re.Pattern[str]
    spelling: ClassVar[Mapping[str, str]] = {}  # of several, the one that is kept

    @abstractmethod
    def word(self, word: str, before: list[Token], text: str, end: int) -> str:
        """The kind of a word that is no variable."""

    @abstractmethod
    def operator(self, sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
        """The kind of a sign and where its token ends: `-` may belong to a number."""

    def skip(self, text: str, at: int, previous: str = "") -> int:
        """The offset of the next token: blanks and comments are passed over."""
        found = self.layout.match(text, at)
        return found.end() if found else at

    def clause(self, text: str, at: int) -> tuple[list[Token], int]:
        """The tokens of the clause that starts at an offset, and the offset after it.

        The last token is `END` unless the text ran out. Nothing raises: what cannot be read becomes
        a token of kind `BAD`, `STRAY`, `BADQUOTE` or `OPENCOMMENT`.
        """
        tokens: list[Token] = []
        anonymous = 0
        while True:
            at = self.skip(text, at, tokens[-1].type if tokens else "")
            found = self.token.match(text, at)
            if found is None:
                return tokens, at
            kind, value, end = self._read(found, tokens)
            if value == "_" and kind == "VAR":
                anonymous += 1
                value = f"_#{anonymous}"
            tokens.append(Token(kind, value, start_pos=at, end_pos=end))
            if kind == "END":
                return tokens, end
            at = end

    def _read(self, found: re.Match[str], before: list[Token]) -> tuple[str, str, int]:
        kind, value, end = found.lastgroup or "STRAY", found.group(), found.end()
        text = found.string
        match kind:
            case "WORD":
                kind = "VAR" if starts_variable(value) else self.word(value, before, text, end)
            case "QUOTED":
                kind = functor_or_name(text, end)
            case "OP":
                kind, end = self.operator(value, before[-1].type if before else "", text, end)
                value = self.spelling.get(value, text[found.start() : end])
            case "OPENCOMMENT":
                end = len(text)
        return (
            _KINDS.get(kind, kind),
            self.spelling.get(value, value) if kind == "MUL" else value,
            end,
        )

    def number_behind(self, text: str, at: int) -> tuple[str, int] | None:
        """The kind of a number that stands right here, and where it ends."""
        found = self.token.match(text, at)
        if found is None or found.lastgroup not in ("INT", "FLOAT", "RADIX", "CHAR"):
            return None
        return _KINDS.get(found.lastgroup, found.lastgroup), found.end()


def functor_or_name(text: str, end: int) -> str:
    """The kind of a name that ends at an offset."""
    return "FUNCTOR" if text[end : end + 1] == "(" else "NAME"


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


def tree_span(tree: Tree[Token]) -> Span:
    """Where a part of a text stands."""
    return (tree.meta.start_pos, tree.meta.end_pos)


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
