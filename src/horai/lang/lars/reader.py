"""Reading LARS programs: text in; rules and all that is wrong out.

Every clause is read on its own, so that a bad one spoils no other and all mistakes show up at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lark import Token

from horai.lang.depth import DEEPEST
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.lars.codes import CODES
from horai.lang.lars.formulas import Builder
from horai.lang.lars.grammar import ParsedClause, Part, parse_clause
from horai.lang.lars.heads import is_event_calculus, read_head
from horai.lang.lars.shape import check_rule
from horai.lang.lars.syntax import Program, Rule
from horai.lang.lars.tokens import scan_clause, skip_layout
from horai.lang.mending import ClauseReader
from horai.lang.reader import clean, read_file
from horai.lang.report import Report
from horai.lang.signs import Instead
from horai.lang.source import Source
from horai.lang.trouble import Trouble

Result = tuple[Program, list[Diagnostic]]

_UNEQUAL = ("REL", "!=", "write `!=`")
_AND = ("COMMA", ",", "conditions are joined by `,`")
_OR = ("SEMI", ";", "alternatives are joined by `;`")
_NOT = ("NAF", "not", "negation is written `not`")
_INSTEAD: Instead = {
    **dict.fromkeys(("/=", "~=", "=/=", "=!=", "!==", "≠", "\\=", "=\\=", "\\=="), _UNEQUAL),
    **dict.fromkeys(("&&", "&", "/\\", "∧"), _AND),
    **dict.fromkeys(("||", "\\/", "∨"), _OR),
    **dict.fromkeys(("~", "¬", "\\+"), _NOT),
    **dict.fromkeys(("===", "=:=", ":="), ("REL", "=", "write `=`")),
    "≤": ("REL", "<=", "less-or-equal is written `<=`"),
    **dict.fromkeys(("=>", "≥"), ("REL", ">=", "greater-or-equal is written `>=`")),
    "◇": ("SOME", "some", "write `some`, or just the window: `a [3 s]`"),
    "□": ("ALWAYS", "always", "write `always`"),
    "▷": ("RESET", "reset", "write `reset`"),
}


def read_text(text: str, name: str = "<text>") -> Result:
    """The program a text says, and all that is wrong with it.

    >>> program, findings = read_text("h :- b [2 s].")
    >>> len(program.rules), findings
    (1, [])
    """
    return read_sources([Source(name, clean(text))])


def read_files(paths: Iterable[Path | str]) -> Result:
    """The program of several files together."""
    read = [read_file(path) for path in paths]
    found = [finding for _, findings in read for finding in findings]
    return read_sources([source for source, _ in read], found)


def read_sources(sources: Iterable[Source], findings: Iterable[Diagnostic] = ()) -> Result:
    """The program of texts already in memory."""
    kept = tuple(sources)
    report = Report(CODES)
    report.extend(findings)
    rules: list[Rule] = []
    for source in kept:
        reader = _Reader(source, report)
        at = skip_layout(source.text, 0)
        while at < len(source.text):
            tokens, at = scan_clause(source.text, at)
            if tokens:
                reader.read(tokens)
            at = skip_layout(source.text, at)
        rules.extend(reader.rules)
    return Program(tuple(rules), kept), sorted(report.findings, key=sort_key)


class _Reader(ClauseReader[ParsedClause]):
    instead = _INSTEAD

    def __init__(self, source: Source, report: Report) -> None:
        super().__init__(source, report)
        self.rules: list[Rule] = []

    def parse(self, tokens: list[Token]) -> ParsedClause:
        """The clause that tokens spell."""
        return parse_clause(tokens)

    def accept(self, parsed: ParsedClause, trouble: Trouble) -> None:
        span = (trouble.span(0)[0], trouble.span(len(trouble.tokens) - 1)[1])
        parts = parsed.body if parsed.head is None else (parsed.head, *parsed.body)
        if any(_depth_exceeds(part, DEEPEST) for part in parts):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause is nested too deeply", span, hint)
            return
        builder = Builder(self.source, self.report)
        if parsed.head is not None and is_event_calculus(parsed.head):
            hint = "name the file .ec, and run it as an event description"
            builder.say("H611", "this is a rule of the Event Calculus", parsed.head.span, hint)
            return
        body = builder.formulas(parsed.body)
        head = None
        if parsed.head is not None:
            head = read_head(builder, parsed.head, is_fact=not parsed.body)
        if body is None or (head is None and parsed.head is not None):
            return
        rule = Rule(head, body, span, self.source)
        check_rule(rule, builder)
        self.rules.append(rule)


def _depth_exceeds(part: Part, limit: int) -> bool:
    level: list[Part] = [part]
    for _ in range(limit):
        level = [inner for outer in level for inner in outer.parts]
        if not level:
            return False
    return True
