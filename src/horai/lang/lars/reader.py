"""Reading LARS programs: text in; rules and all that is wrong out.

Every clause is read on its own, so that a bad one spoils no other and all mistakes show up at once.
Rules that read well and yet mean nothing are refused too: `always` without an end, patterns with
variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import Scanner, functor_or_name, token_pattern
from horai.lang.core.mistakes import ENDS, Instead, Trouble
from horai.lang.core.reader import ClauseReader, clean, read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span, Var, deeper, is_anonymous, subterms
from horai.lang.lars import syntax as lars
from horai.lang.lars.formulas import (
    Builder,
    Part,
    head_and_body,
    inner,
    is_event_calculus,
    parse_clause,
    place_of,
    read_head,
)
from horai.lang.lars.relations import with_relations
from horai.lang.lars.walk import children, own_terms, subformulas

_NOWHERE = (0, 0)


def check_rule(rule: lars.Rule, builder: Builder) -> None:
    """Say what makes no sense in a rule, whatever the rest of the program is."""
    for part in rule.parts:
        _check_always(part, builder, has_end=False)
        for formula in subformulas(part):
            if isinstance(formula, lars.Within) and isinstance(formula.window, lars.FilterWindow):
                _check_patterns(formula.window, builder)
    _check_ranges(rule.body, builder)


def _check_always(part: lars.Head, builder: Builder, has_end: bool, windows: bool = False) -> None:
    """`always` speaks about all points; time has no last one, so a window must set an end."""
    if isinstance(part, lars.Always) and not has_end:
        hint = "add a window: `always a [5 s]`, or `always a [inf]` for everything so far"
        message = "`always` has no window"
        if windows:
            message = "`always` is about a window without a last point"
            hint = "[only p] and windows up to a signal to come have none; `[5 s]` and `[3 #]` do"
        builder.say("H609", message, part.span or _NOWHERE, hint)
        has_end = True
    if isinstance(part, lars.Reset):
        has_end, windows = False, False
    elif isinstance(part, lars.Within):
        has_end, windows = has_end or _has_end(part.window), True
    for formula in children(part):
        _check_always(formula, builder, has_end, windows)


def _has_end(window: lars.Window) -> bool:
    match window:
        case lars.TimeWindow(future=future):
            return future.amount is not None
        case lars.TupleWindow(future=future) if future == 0:
            return True
        case lars.IntervalWindow():
            return True
        case lars.FilterWindow():
            return False
        case _:
            return window.future == 0


def _check_patterns(window: lars.FilterWindow, builder: Builder) -> None:
    for pattern in window.patterns:
        for term in pattern.args or ():
            for part in subterms(term):
                if isinstance(part, Var) and not is_anonymous(part):
                    span: Span = part.span or window.span or _NOWHERE
                    hint = "write `_` for any value; to compare values, use the condition itself"
                    builder.say("H610", f"the variable {part.name} in a filter", span, hint)


def _check_ranges(body: tuple[lars.Formula, ...], builder: Builder) -> None:
    for condition in body:
        for part in subformulas(condition):
            for term in own_terms(part):
                if any(lars.is_range(inner) for inner in subterms(term)):
                    span = term.span or part.span or _NOWHERE
                    hint = "write a fact of its own, number(1..9)., and ask for number(X)"
                    builder.say("H607", "a range stands only in a fact", span, hint)


_COMMENT = r"/\*.*?\*/|%\*.*?\*%|//[^\n]*+|%[^\n]*+"
_BLANKS = re.compile(r"\s*+")
# After a number, a variable or a bracket, and with one operand and nothing like prose after it.
_REMAINDER = re.compile(
    r"%[ \t]*(?:[A-Z_]\w*|[0-9]+|\([\w \t+*/^-]*\))[ \t]*(?=[-+*/^,.;)\]}=<>!]|\n|\Z)"
)
_SIGNS = {
    ":-": "NECK",
    ";": "SEMI",
    "|": "SEMI",
    "->": "ARROW",
    ",": "COMMA",
    ":": "COLON",
    "+": "ADD",
    "-": "ADD",
    "*": "MUL",
    "/": "MUL",
    "**": "POW",
    "^": "POW",
}
_BEFORE = {"some": "SOME", "always": "ALWAYS", "reset": "RESET", "not": "NAF"}
_BETWEEN = {"at": "ATW", "in": "IN", "mod": "MUL"}


class LarsScanner(Scanner):
    """Cuts texts of LARS programs into tokens.

    >>> [t.type for t in LarsScanner().clause("@T h :- b(X) [3 s], X % 2 = 0. % odd", 0)[0]]
    ['AT', 'VAR', 'NAME', 'NECK', 'FUNCTOR', 'LPAR', 'VAR', 'RPAR', 'LSQB', 'INT', 'NAME', 'RSQB',
     'COMMA', 'VAR', 'MUL', 'INT', 'REL', 'INT', 'END']
    """

    layout = re.compile(rf"(?:\s++|{_COMMENT})+", re.DOTALL)
    token = token_pattern(
        special=r"""(?P<AGGREGATE>\#?(?:count|sum|min|max)(?=\s*\{)) | (?P<DOTS>\.\.)
            | (?P<REST>%(?!\*)) | (?P<AT>@) | (?P<HASH>\#)""",
        end=r"\.(?=\s|%|//|/\*|\Z)",
        comment=r"/\*|%\*",
        mistaken=r"=:=|=\\=|\\==|\\=|\\[+]",
        operators=r":-|->|!=|<>|<=|=<|>=|==|[*][*]|[-+*/^<>=;,|:]",
        bad=r"[&~$?\\.≤≥≠∧∨¬←→⇒⇐⊞◇□▷]",
    )
    spelling: ClassVar[Mapping[str, str]] = {
        "=<": "<=",
        "==": "=",
        "<>": "!=",
        "**": "^",
        "|": ";",
        "mod": "%",
    }

    def skip(self, text: str, at: int, previous: str = "") -> int:
        # Mostly `%` starts a comment; where it is a sign, the token is right there.
        if previous in ("VAR", "INT", "FLOAT", "RPAR"):
            found = _BLANKS.match(text, at)
            start = found.end() if found else at
            if _REMAINDER.match(text, start):
                return start
        return super().skip(text, at)

    def word(self, word: str, before: list[Token], text: str, end: int) -> str:
        previous = before[-1].type if before else ""
        if word in _BEFORE:
            return _BEFORE[word]
        if word in _BETWEEN and previous in ENDS:
            return _BETWEEN[word]
        opens = text[self.skip(text, end) :][:1] == "["
        if word == "in" and previous in ("NAF", "ALWAYS") and opens:
            return "IN"
        return functor_or_name(text, end)

    def operator(self, sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
        if sign in "+-" and previous not in ENDS:
            number = self.number_behind(text, end) if sign == "-" else None
            return number or ("SIGN", end)
        return _SIGNS.get(sign, "REL"), end


Result = tuple[lars.Program, list[Diagnostic]]

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


def read_text(text: str, name: str = "<text>", *, relations: bool = True) -> Result:
    """The program a text says, and all that is wrong with it.

    Without `relations`, atoms such as `leq(X, Y)` stay what they are.

    >>> program, findings = read_text("h :- b [2 s].")
    >>> len(program.rules), findings
    (1, [])
    """
    return read_sources([SourceText(name, clean(text))], relations=relations)


def read_files(paths: Iterable[Path | str], unsaved: Mapping[Path, str] | None = None) -> Result:
    """The program of several files together; texts that are `unsaved` stand for their files."""
    read = [read_file(path, unsaved) for path in paths]
    found = [finding for _, findings in read for finding in findings]
    return read_sources([source for source, _ in read], found)


def read_sources(
    sources: Iterable[SourceText], findings: Iterable[Diagnostic] = (), *, relations: bool = True
) -> Result:
    """The program of texts already in memory."""
    kept = tuple(sources)
    report = Report()
    report.extend(findings)
    rules: list[lars.Rule] = []
    for source in kept:
        reader = _Reader(source, report)
        reader.read_all()
        rules.extend(reader.rules)
    rules = with_relations(rules) if relations else rules
    return lars.Program(tuple(rules), kept), sorted(report.findings, key=sort_key)


class _Reader(ClauseReader[Part]):
    instead = _INSTEAD
    scanner = LarsScanner()

    def __init__(self, source: SourceText, report: Report) -> None:
        super().__init__(source, report)
        self.rules: list[lars.Rule] = []

    def parse(self, tokens: list[Token]) -> Part:
        """The clause that tokens spell."""
        return parse_clause(tokens)

    def accept(self, parsed: Part, trouble: Trouble) -> None:
        span = trouble.whole
        head_part, body_parts = head_and_body(parsed)
        parts = body_parts if head_part is None else [head_part, *body_parts]
        if deeper(parts, inner):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause is nested too deeply", span, hint)
            return
        builder, head_builder = (Builder(self.source, self.report) for _ in range(2))
        if head_part is not None and is_event_calculus(head_part):
            hint = "name the file .ec, and run it as an event description"
            place = place_of(head_part)
            builder.say("H611", "this is a rule of the Event Calculus", place, hint)
            return
        body = builder.formulas(body_parts)
        head = None
        if head_part is not None:
            head = read_head(head_builder, head_part, is_fact=not body_parts)
        if builder.broken or head_builder.broken:
            return
        # Windows behind a condition go around each other, without brackets that would be counted.
        if deeper(body, children):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause has too many windows around each other", span, hint)
            return
        rule = lars.Rule(head, body, self.source, span=span)
        check_rule(rule, builder)
        self.rules.append(rule)
