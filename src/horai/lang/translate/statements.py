"""Texts of related languages: statements with an end of their own, read one by one.

A grammar file has the terminals END (what ends a statement) and STRANGE (any other character), so
that every text can be cut into tokens. A bad statement spoils no other one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from lark import Lark, Token, Transformer

from horai.lang.core.diagnostics import Report
from horai.lang.core.grammar import GrammarError, fed, token_span
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span

Node = TypeVar("Node")
SIGNS = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "DEFINED": "`:=`",
    "NECK": "`<-`",
}
"""How to say the signs that several languages share."""
_MOST_EXPECTED = 6
_MOST_TOKENS = 2_000
_MOST_DIGITS = 308  # numbers are smaller than 2^1024


class Foreign(NamedTuple):
    """A part of a statement that has no translation: its tokens, what it is, what to write."""

    first: int
    last: int
    message: str
    hint: str


@dataclass(frozen=True)
class LanguageSpec:
    """A related language: where its grammar is, and how people call what it is made of."""

    package: str
    grammar: str
    builder: Callable[[], Transformer[Token, Any]]
    words: Mapping[str, str]
    """How to say a terminal; those that are not listed are keywords and say themselves."""
    end: str
    """The sign that ends a statement."""
    foreign: Callable[[list[Token], int], Foreign | None] = lambda tokens, wrong: None
    """The part before or at a wrong token that the language has, and we do not."""


@cache
def _parser(language_id: tuple[str, str], builder: Callable[[], Transformer[Token, Any]]) -> Lark:
    text = files(language_id[0]).joinpath(language_id[1]).read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", transformer=builder(), maybe_placeholders=False)


def statements(language: LanguageSpec, source: SourceText, report: Report) -> Iterator[Any]:
    """The syntax tree of each statement of a text; the wrong ones are reported."""
    parser = _parser((language.package, language.grammar), language.builder)
    waiting: list[Token] = []
    for token in parser.lex(source.text):
        if report.gives_up():
            return
        if token.type != "END":
            waiting.append(token)
            continue
        yield from _read(parser, language, waiting, token_span(token), source, report)
        waiting = []
    if waiting:
        end = token_span(waiting[-1])[1]
        hint = f"end the statement with `{language.end}`"
        report.add("H800", f"`{language.end}` is missing here", source, (end, end), hint)
        yield from _read(parser, language, waiting, (end, end), source, report)


def _read(
    parser: Lark,
    language: LanguageSpec,
    tokens: list[Token],
    end: Span,
    source: SourceText,
    report: Report,
) -> Iterator[Any]:
    if not tokens:
        return
    strange = next((token for token in tokens if token.type == "STRANGE"), None)
    if strange is not None:
        message = f"the character `{strange}` has no meaning here"
        report.add("H801", message, source, token_span(strange), "remove it, or quote the text")
        return
    if len(tokens) > _MOST_TOKENS:
        span = (token_span(tokens[0])[0], end[1])
        hint = "name parts of it in statements of their own"
        report.add("H801", f"a statement of more than {_MOST_TOKENS} words", source, span, hint)
        return
    long = next((t for t in tokens if t.type == "INT" and len(t) > _MOST_DIGITS), None)
    if long is not None:
        hint = f"use a number of at most {_MOST_DIGITS} digits"
        report.add("H801", "this number is too large", source, token_span(long), hint)
        return
    try:
        yield fed(parser, tokens)
    except GrammarError as error:
        known = language.foreign(tokens, error.index)
        if known is not None:
            span = (token_span(tokens[known.first])[0], token_span(tokens[known.last])[1])
            report.add("H802", known.message, source, span, known.hint)
            return
        at_end = error.index >= len(tokens)
        span = end if at_end else token_span(tokens[error.index])
        told = "the statement ends too early" if at_end else _cannot(tokens[error.index])
        report.add("H801", told, source, span, f"expected {_expected(error, language)}")


def _cannot(token: Token) -> str:
    return f"`{token}` cannot stand here"


def _expected(error: GrammarError, language: LanguageSpec) -> str:
    """In words, the ends of a statement last."""
    found = error.expected()
    words = sorted({language.words.get(name, f"`{name}`") for name in found - {"$END", "STRANGE"}})
    if "$END" in found:
        words.append(f"`{language.end}`")
    if len(words) > _MOST_EXPECTED:
        words = [*islice(words, _MOST_EXPECTED), "..."]
    return " or ".join(words)


def nesting(node: Node, parts: Callable[[Node], Iterable[Node]]) -> int:
    """How deep a syntax tree is."""
    level, depth = [node], 0
    while level:
        level = [part for one in level for part in parts(one)]
        depth += 1
    return depth
