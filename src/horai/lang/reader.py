"""Reading clauses: text in; clauses, plain facts and all that is wrong out.

The text is cut into clauses first and each is parsed on its own, so that a bad clause spoils no
other and every mistake shows up in one run.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from lark import Token

from horai.lang.codes import Report
from horai.lang.diagnostics import Diagnostic
from horai.lang.directives import check_directive
from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.ec.syntax import Clause, Facts
from horai.lang.facts import FactReader, FactsByPredicate
from horai.lang.grammar import GrammarError, parse_clause, token_span
from horai.lang.mistakes import diagnose
from horai.lang.source import Source
from horai.lang.syntax_codes import SYNTAX_CODES
from horai.lang.terms import Atom, Compound, Term, is_ground
from horai.lang.tokens import scan_clause, skip_layout

_MOST_REPAIRS = 20


def read_clauses(
    source: Source, special: Container[str] = RESERVED_HEADS, *, fast: bool = True
) -> tuple[list[Clause], FactsByPredicate, list[Diagnostic]]:
    """The clauses of a text, its ground background facts by predicate, and what is wrong.

    Facts whose name is in `special`, or that have a fluent-value pair as argument, stay clauses.
    `fast=False` sends plain facts through the grammar too; the result is the same.
    """
    reader = _Reader(source, special)
    plain = FactReader(source, special, reader.facts)
    text, at = source.text, 0
    while True:
        if fast:
            at = plain.read_run(at)
        at = skip_layout(text, at)
        if at >= len(text):
            break
        tokens, at = scan_clause(text, at)
        if tokens:
            reader.read(tokens)
    return reader.clauses, reader.facts, reader.report.findings


class _Reader:
    def __init__(self, source: Source, special: Container[str]) -> None:
        self.source = source
        self.special = special
        self.clauses: list[Clause] = []
        self.facts: FactsByPredicate = {}
        self.report = Report(SYNTAX_CODES)

    def read(self, tokens: list[Token]) -> None:
        """Read one clause; a wrong one is diagnosed, mended where possible and read again."""
        waiting = [tokens]
        for _ in range(_MOST_REPAIRS):
            if not waiting:
                return
            current = waiting.pop(0)
            try:
                self._accept(current)
            except GrammarError as error:
                waiting[:0] = diagnose(current, error, self.source, self.report)

    def _accept(self, tokens: list[Token]) -> None:
        ended = tokens[-1].type == "END"
        parsed = parse_clause(tokens[:-1] if ended else tokens)
        span = (token_span(tokens[0])[0], token_span(tokens[-1])[1])
        if parsed.head is None:
            check_directive(parsed, span, self.source, self.report)
        elif parsed.body is None and self._is_background(parsed.head):
            self._add_fact(parsed.head, span[0])
        else:
            self.clauses.append(Clause(parsed.head, parsed.body, span, self.source))

    def _is_background(self, head: Term) -> bool:
        if not isinstance(head, Atom | Compound) or head.name in self.special:
            return False
        if isinstance(head, Compound) and any(_is_pair(arg) for arg in head.args):
            return False
        return is_ground(head)

    def _add_fact(self, head: Term, start: int) -> None:
        assert isinstance(head, Atom | Compound)
        row = head.args if isinstance(head, Compound) else ()
        facts = self.facts.setdefault((head.name, len(row)), Facts())
        facts.rows.append(row)
        facts.places.append((self.source, start))


def _is_pair(term: Term) -> bool:
    return isinstance(term, Compound) and term.name == "=" and len(term.args) == 2


def clean(text: str) -> str:
    """The text without a byte order mark and with one kind of line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_file(path: Path | str) -> tuple[Source, list[Diagnostic]]:
    """The text of a file, decoded from UTF-8, and what was wrong with it."""
    raw = Path(path).read_bytes()
    return Source(str(path), clean(raw.decode("utf-8", errors="replace"))), []
