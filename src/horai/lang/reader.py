"""Reading clauses: text in; clauses, plain facts and all that is wrong out.

The text is cut into clauses first and each is parsed on its own, so that a bad clause spoils no
other and every mistake shows up in one run.
"""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path

from lark import Token

from horai.lang.depth import too_deep
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.directives import Load, check_directive
from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.ec.syntax import Clause, Facts
from horai.lang.facts import FactReader, FactsByPredicate
from horai.lang.grammar import ParsedClause, parse_clause
from horai.lang.mending import ClauseReader
from horai.lang.operators import is_name, is_pair
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.syntax_codes import SYNTAX_CODES
from horai.lang.terms import Atom, Compound, Term, is_ground
from horai.lang.tokens import scan_clause, skip_layout
from horai.lang.trouble import Trouble


def read_clauses(
    source: Source,
    special: Container[str] = RESERVED_HEADS,
    *,
    fast: bool = True,
    loads: list[Load] | None = None,
) -> tuple[list[Clause], FactsByPredicate, list[Diagnostic]]:
    """The clauses of a text, its ground background facts by predicate, and what is wrong.

    Facts whose name is in `special`, or that have a fluent-value pair as argument, stay clauses.
    `fast=False` sends plain facts through the grammar too; the result is the same. Files that the
    text asks for are added to `loads`.
    """
    reader = _Reader(source, special, loads)
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
    return reader.clauses, reader.facts, sorted(reader.report.findings, key=sort_key)


def read_only_clauses(source: Source) -> tuple[list[Clause], list[Diagnostic]]:
    """The clauses of a text, plain facts among them, and what is wrong.

    >>> [clause.head for clause in read_only_clauses(Source("query", "rich(chris)."))[0]]
    [Compound(name='rich', args=(Atom(name='chris'),))]
    """
    clauses, _, findings = read_clauses(source, _Everything(), fast=False)
    return clauses, findings


class _Everything:
    """No name is set aside as that of a plain fact."""

    def __contains__(self, name: object) -> bool:
        return True


class _Reader(ClauseReader[ParsedClause]):
    def __init__(
        self, source: Source, special: Container[str], loads: list[Load] | None = None
    ) -> None:
        super().__init__(source, Report(SYNTAX_CODES))
        self.special = special
        self.loads = loads
        self.clauses: list[Clause] = []
        self.facts: FactsByPredicate = {}

    def parse(self, tokens: list[Token]) -> ParsedClause:
        """The clause that tokens spell."""
        return parse_clause(tokens)

    def accept(self, parsed: ParsedClause, trouble: Trouble) -> None:
        span = (trouble.span(0)[0], trouble.span(len(trouble.tokens) - 1)[1])
        if any(too_deep(part) for part in (parsed.head, parsed.body) if part is not None):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause is nested too deeply", span, hint)
        elif parsed.head is None:
            check_directive(parsed, span, self.source, self.report, self.loads)
        elif parsed.body is None and self._is_background(parsed.head):
            self._add_fact(parsed.head, span[0])
        else:
            self.clauses.append(Clause(parsed.head, parsed.body, span, self.source))

    def _is_background(self, head: Term) -> bool:
        if not isinstance(head, Atom | Compound) or not is_name(head) or head.name in self.special:
            return False
        if isinstance(head, Compound) and any(is_pair(arg) for arg in head.args):
            return False
        return is_ground(head)

    def _add_fact(self, head: Term, start: int) -> None:
        assert isinstance(head, Atom | Compound)
        row = head.args if isinstance(head, Compound) else ()
        facts = self.facts.setdefault((head.name, len(row)), Facts())
        facts.rows.append(row)
        facts.places.append((self.source, start))


def clean(text: str) -> str:
    """The text without a byte order mark and with one kind of line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_file(path: Path | str) -> tuple[Source, list[Diagnostic]]:
    """The text of a file, decoded from UTF-8, and what was wrong with it."""
    report = Report(SYNTAX_CODES)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        source = Source(str(path), "")
        reason = error.strerror or type(error).__name__
        report.add("H028", f"this file cannot be read: {reason}", source, None)
        return source, report.findings
    try:
        source = Source(str(path), clean(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        source = Source(str(path), clean(raw.decode("utf-8", errors="replace")))
        at = len(clean(raw[: error.start].decode("utf-8")))
        message = f"the byte 0x{raw[error.start]:02X} is not UTF-8"
        hint = "save the file as UTF-8; this is often a letter with an accent in Latin-1"
        report.add("H015", message, source, (at, at + 1), hint)
    return source, report.findings
