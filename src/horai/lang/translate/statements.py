"""What translations have in common: statements that are read one by one, and rules to build.

A grammar file has the terminals _END (what ends a statement) and STRANGE (any other character), so
that every text can be cut into tokens. A bad statement spoils no other one. Signs and words that
only separate have names that begin with `_`; they are not among the parts of a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, NamedTuple

from lark import Lark, Token, Tree

from horai.lang.core.diagnostics import Report
from horai.lang.core.grammar import GrammarError, atom_text, fed, token_span, tree_span
from horai.lang.core.printer import unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, Float, Int, Span, Str, Term
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import Atom

SIGNS = {
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "DEFINED": "`:=`",
    "NECK": "`<-`",
    "INT": "a number",
    "DECIMAL": "a number",
}
"""How to say the terminals that several languages share."""
_MOST_EXPECTED = 6
_MOST_TOKENS = 2_000
_MOST_DIGITS = 308  # numbers are smaller than 2^1024


class Foreign(NamedTuple):
    """A part of a statement that has no translation: its tokens, what it is, what to write."""

    first: int
    last: int
    message: str
    hint: str


class StatementBuilder:
    """Makes the nodes of one text from parse trees: each rule of a grammar has its method.

    A method gets the place and the parts of what was read. Mistakes that a grammar does not know
    are reported here; None stands for a statement that means nothing.
    """

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source, self.report = source, report

    def built(self, tree: Tree[Token]) -> Any:
        """The node that a tree says; trees may be deep, so this walks."""
        found: dict[int, Any] = {}
        for part in tree.iter_subtrees():  # inner ones first
            inner = [found[id(c)] if isinstance(c, Tree) else c for c in part.children]
            found[id(part)] = getattr(self, part.data)(tree_span(part), *inner)
        return found[id(tree)]

    def say(self, code: str, message: str, span: Span | None, hint: str) -> None:
        """Note what is wrong."""
        self.report.add(code, message, self.source, span, hint)

    # --- what the languages have in common ---

    def listed(self, place: Span, *items: Any) -> tuple[Any, ...]:
        """Several of a kind."""
        return items

    def atom(self, place: Span, name: Token, args: tuple[Term, ...] = ()) -> Atom:
        """`hot`, `tram(a1, b)`: a proposition, or an event."""
        return Atom(atom_text(name), args, span=place)

    def constant(self, place: Span, token: Token) -> Term:
        """`tram`, `'New York'`."""
        return Constant(atom_text(token), place)

    def integer(self, place: Span, *digits: Token) -> Term:
        """`12`, `- 3`."""
        return Int(int("".join(digits)), place)

    def decimal(self, place: Span, token: Token) -> Term:
        """`1.5`."""
        return Float(float(token), place)

    def string(self, place: Span, token: Token) -> Term:
        """`"a text"`."""
        return Str(unquote(str(token)), place)

    def operation(self, place: Span, left: Term, sign: Token, right: Term) -> Any:
        """`a + b`."""
        return Compound(str(sign), (left, right), place)


@dataclass(frozen=True)
class LanguageSpec:
    """A related language: the file of its grammar, and how people call what it is made of."""

    grammar: str
    builder: Callable[[SourceText, Report], StatementBuilder]
    words: Mapping[str, str]
    """How to say a terminal; those that are not listed are keywords and say themselves."""
    end: str
    """The sign that ends a statement."""
    foreign: Callable[[list[Token], int], Foreign | None] = lambda tokens, wrong: None
    """The part before or at a wrong token that the language has, and we do not."""


@cache
def _parser(grammar: str) -> Lark:
    text = files("horai.lang.translate").joinpath(grammar).read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", propagate_positions=True)


def statements(language: LanguageSpec, source: SourceText, report: Report) -> Iterator[Any]:
    """The node of each statement of a text; the wrong ones are reported."""
    parser = _parser(language.grammar)
    waiting: list[Token] = []
    for token in parser.lex(source.text):
        if report.gives_up():
            return
        if token.type != "_END":
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
    builder = language.builder(source, report)
    whole = (token_span(tokens[0])[0], end[1])
    strange = next((token for token in tokens if token.type == "STRANGE"), None)
    long = next((t for t in tokens if t.type == "INT" and len(t) > _MOST_DIGITS), None)
    if strange is not None:
        message = f"the character `{strange}` has no meaning here"
        builder.say("H801", message, token_span(strange), "remove it, or quote the text")
    elif len(tokens) > _MOST_TOKENS:
        hint = "name parts of it in statements of their own"
        builder.say("H801", f"a statement of more than {_MOST_TOKENS} words", whole, hint)
    elif long is not None:
        hint = f"use a number of at most {_MOST_DIGITS} digits"
        builder.say("H801", "this number is too large", token_span(long), hint)
    else:
        try:
            tree = fed(parser, tokens)
        except GrammarError as error:
            _refused(error, language, tokens, end, builder)
            return
        assert isinstance(tree, Tree)
        node = builder.built(tree)
        if node is not None:
            yield node


def _refused(
    error: GrammarError,
    language: LanguageSpec,
    tokens: list[Token],
    end: Span,
    builder: StatementBuilder,
) -> None:
    """Say what the grammar stumbled over."""
    known = language.foreign(tokens, error.index)
    if known is not None:
        span = (token_span(tokens[known.first])[0], token_span(tokens[known.last])[1])
        builder.say("H802", known.message, span, known.hint)
    elif error.index >= len(tokens):
        hint = f"expected {_expected(error, language)}"
        builder.say("H801", "the statement ends too early", end, hint)
    else:
        token, hint = tokens[error.index], f"expected {_expected(error, language)}"
        builder.say("H801", f"`{token}` cannot stand here", token_span(token), hint)


def _expected(error: GrammarError, language: LanguageSpec) -> str:
    """In words, the ends of a statement last."""
    found = {name.lstrip("_") for name in error.expected()}
    words = sorted({language.words.get(name, f"`{name}`") for name in found - {"$END", "STRANGE"}})
    if "$END" in found:
        words.append(f"`{language.end}`")
    if len(words) > _MOST_EXPECTED:
        words = [*islice(words, _MOST_EXPECTED), "..."]
    return " or ".join(words)


# --- rules, with names that no predicate has yet --------------------------------------------------

Literal = lars.Formula
ENDLESS = lars.TimeWindow(Duration(None))


def rule(head: lars.Atom | lars.At, *body: lars.Formula) -> lars.Rule:
    """`head :- body.`"""
    return lars.Rule(head, body)


def numbers(name: str, first: int, last: int) -> lars.Rule:
    """`name(first..last).`"""
    return lars.Rule(lars.Atom(name, (Compound("..", (Int(first), Int(last))),)))


def compare(left: Term, sign: lars.Sign, right: Term) -> lars.Comparison:
    """`left sign right`."""
    return lars.Comparison(sign, left, right)


def plus(term: Term, amount: Term | int) -> Term:
    """`term + amount`; nothing is added for 0.

    >>> plus(Int(3), 0)
    Int(value=3)
    """
    if amount == 0:
        return term
    return Compound("+", (term, Int(amount) if isinstance(amount, int) else amount))


def minus(term: Term, amount: Term | int) -> Term:
    """`term - amount`."""
    return Compound("-", (term, Int(amount) if isinstance(amount, int) else amount))


def some(atom: lars.Atom, window: lars.Window) -> lars.Within:
    """`atom [window]`."""
    return lars.Within(window, lars.Some(atom))


def negated(literal: Literal) -> Literal:
    """The opposite of a literal.

    >>> negated(negated(lars.Atom("a")))
    Atom(name='a', args=())
    """
    return literal.formula if isinstance(literal, lars.Not) else lars.Not(literal)


class FreshNames:
    """Hands out names that are not taken.

    >>> names = FreshNames(["once_1"])
    >>> names.fresh("once"), names.fresh("once"), names.fresh("so")
    ('once_2', 'once_3', 'so_1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def fresh(self, word: str) -> str:
        """A new name that begins with a word."""
        number = 1
        while f"{word}_{number}" in self._taken:
            number += 1
        name = f"{word}_{number}"
        self._taken.add(name)
        return name

    def free(self, name: str) -> str:
        """The name itself if it is not taken, otherwise a new one that begins with it."""
        if name in self._taken:
            return self.fresh(name)
        self._taken.add(name)
        return name
