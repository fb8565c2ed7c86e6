"""A clause that cannot be read, and the means to say why and to mend it."""

from __future__ import annotations

from lark import Token

from horai.lang.grammar import token_span
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.terms import Span

# Kinds of token after which a term may be complete, and with which one may start.
ENDS = frozenset({"NAME", "VAR", "INT", "FLOAT", "STR", "CUT", "RPAR", "RSQB", "RBRACE"})
STARTS = frozenset(
    {"NAME", "FUNCTOR", "VAR", "INT", "FLOAT", "STR", "CUT", "LPAR", "LSQB", "LBRACE", "NAF"}
)
OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSERS = {close: opening for opening, close in OPENERS.items()}
SIGNS = {"LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}"}

Clauses = list[list[Token]]


class Trouble:
    """The tokens of a wrong clause, full stop included where there is one.

    `quiet` holds the lines that already have a finding about this clause: whatever the grammar
    trips over next on such a line is most likely the same mistake again.
    """

    def __init__(
        self, tokens: list[Token], source: Source, report: Report, quiet: set[int]
    ) -> None:
        self.tokens = tokens
        self.source = source
        self.report = report
        self.quiet = quiet

    def kind(self, index: int) -> str:
        """The kind of the token at an index; `END` outside the clause."""
        return self.tokens[index].type if 0 <= index < len(self.tokens) else "END"

    def text(self, index: int) -> str:
        """The token at an index as it was written."""
        return self.source.snippet(token_span(self.tokens[index]))

    def span(self, index: int) -> Span:
        """Where the token at an index stands; the place after the last one when there is none."""
        if index < len(self.tokens):
            return token_span(self.tokens[index])
        return self.after(len(self.tokens) - 1)

    def after(self, index: int) -> Span:
        """The place right after a token, where something is missing."""
        end = token_span(self.tokens[index])[1]
        return (end, end)

    def line(self, index: int) -> int:
        """The line of a token."""
        return self.source.position(self.span(index)[0])[0]

    def place(self, index: int) -> str:
        """Line and column of a token, for messages."""
        line, column = self.source.position(self.span(index)[0])
        return f"line {line}, column {column}"

    def starts_line(self, index: int) -> bool:
        """True when only blanks stand before the token on its line."""
        start = self.span(index)[0]
        text = self.source.text
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def starts_clause(self, index: int) -> bool:
        """True when a new clause seems to start here: a name as far left as this clause."""
        if index == 0 or self.kind(index) not in ("NAME", "FUNCTOR") or not self.starts_line(index):
            return False
        columns = [self.source.position(self.span(i)[0])[1] for i in (0, index)]
        return columns[1] <= columns[0]

    def next_clause(self, index: int) -> Clauses:
        """What is left after a clause is given up at a token: the clauses of later lines."""
        for later in range(index + 1, len(self.tokens)):
            if self.starts_clause(later) and self.kind(later - 1) not in ("COMMA", "NECK"):
                return [self.tokens[later:]]
        return []

    def depth(self, index: int) -> int:
        """How many brackets are open before a token."""
        kinds = [token.type for token in self.tokens[:index]]
        return sum(kind in OPENERS for kind in kinds) - sum(kind in CLOSERS for kind in kinds)

    def say(
        self, code: str, message: str, span: Span, hint: str | None = None, *, sure: bool = False
    ) -> None:
        """Note a finding, unless its line already has one.

        What we are `sure` of is mended for certain: it is always said, and silences nothing.
        """
        line = self.source.position(span[0])[0]
        if sure or line not in self.quiet:
            self.report.add(code, message, self.source, span, hint)
        if not sure:
            self.quiet.add(line)

    def without(self, index: int) -> Clauses:
        """The clause without one token."""
        return [self.tokens[:index] + self.tokens[index + 1 :]]

    def replaced(self, index: int, kind: str, text: str, count: int = 1) -> Clauses:
        """The clause with another token in the place of some."""
        start, end = self.span(index)[0], self.span(index + count - 1)[1]
        new = Token(kind, text, start_pos=start, end_pos=end)
        return [[*self.tokens[:index], new, *self.tokens[index + count :]]]

    def inserted(self, index: int, kind: str, text: str) -> Clauses:
        """The clause with one more token before an index."""
        at = self.after(index - 1)
        new = Token(kind, text, start_pos=at[0], end_pos=at[1])
        return [[*self.tokens[:index], new, *self.tokens[index:]]]

    def split(self, index: int) -> Clauses:
        """Two clauses, the second from an index on."""
        at = self.after(index - 1)
        stop = Token("END", ".", start_pos=at[0], end_pos=at[1])
        return [[*self.tokens[:index], stop], self.tokens[index:]]
