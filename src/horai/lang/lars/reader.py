"""Reading LARS programs: text in; rules and all that is wrong out.

Every clause is read on its own, so that a bad one spoils no other and all mistakes show up at once.
Rules that read well and yet mean nothing are refused too: `always` without an end, patterns with
variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.mistakes import Instead, Trouble
from horai.lang.core.printer import starts_variable
from horai.lang.core.reader import ClauseReader, clean, read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import DEEPEST, Span, Var, is_anonymous, subterms
from horai.lang.lars import syntax as lars
from horai.lang.lars.formulas import (
    Builder,
    ClausePart,
    ParsedLarsClause,
    is_event_calculus,
    parse_clause,
    read_head,
)
from horai.lang.lars.relations import with_relations
from horai.lang.lars.walk import children, own_terms, subformulas

_NOWHERE = (0, 0)


def check_rule(rule: lars.Rule, builder: Builder) -> None:
    """Say what makes no sense in a rule, whatever the rest of the program is."""
    parts: tuple[lars.Head, ...] = rule.body if rule.head is None else (rule.head, *rule.body)
    for part in parts:
        _check_always(part, builder, has_end=False)
        for inner in subformulas(part):
            if isinstance(inner, lars.Within) and isinstance(inner.window, lars.FilterWindow):
                _check_patterns(inner.window, builder)
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
    for inner in children(part):
        _check_always(inner, builder, has_end, windows)


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
_LAYOUT = re.compile(rf"(?:\s++|{_COMMENT})+", re.DOTALL)
_BLANKS = re.compile(r"\s*+")
# After a number, a variable or a bracket, and with one operand and nothing like prose after it.
_REMAINDER = re.compile(
    r"%[ \t]*(?:[A-Z_]\w*|[0-9]+|\([\w \t+*/^-]*\))[ \t]*(?=[-+*/^,.;)\]}=<>!]|\n|\Z)"
)

_MISTAKEN = (
    r"<-->|-->|<=>|==>|=!=|===|!==|=/=|=:=|=\\=|\\==|\\=|\\[+]|~=|/=|:=|&&|[|][|]|=>|"
    r"<-(?!\s*[0-9])|::|[?]-|\\/|/\\|>>|<<|[*]/"
)
_MISTAKEN_CHARACTERS = r"[&~$?\\.≤≥≠∧∨¬←→⇒⇐⊞◇□▷]"
_OPERATORS = r":-|->|!=|<>|<=|=<|>=|==|[*][*]|[-+*/^<>=;,|:]"
_ESCAPE = r"\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\|.|\n)"
_TOKEN = re.compile(
    rf"""
      (?P<FLOAT>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<INT>[0-9]+(?:_[0-9]+)*)
    | (?P<AGGREGATE>\#?(?:count|sum|min|max)(?=\s*\{{))
    | (?P<WORD>(?:[^\W\d]|\ufffd)(?:\w|\ufffd)*+)
    | (?P<QUOTED>'(?:[^'\\\n]|''|{_ESCAPE})*+')
    | (?P<STR>"(?:[^"\\\n]|""|{_ESCAPE})*+")
    | (?P<OPENQUOTE>['"`][^\n]*)
    | (?P<DOTS>\.\.)
    | (?P<END>\.(?=\s|%|//|/\*|\Z))
    | (?P<OPENCOMMENT>/\*|%\*)
    | (?P<MISTAKEN>{_MISTAKEN})
    | (?P<OP>{_OPERATORS})
    | (?P<AT>@) | (?P<HASH>\#)
    | (?P<BAD>{_MISTAKEN_CHARACTERS})
    | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\]) | (?P<LBRACE>\{{) | (?P<RBRACE>\}})
    | (?P<STRAY>.)
    """,
    re.VERBOSE | re.DOTALL,
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
# Several ways to write a sign, and the one that is kept.
_SPELLING = {"=<": "<=", "==": "=", "<>": "!=", "**": "^", "|": ";"}
_BEFORE = {"some": "SOME", "always": "ALWAYS", "reset": "RESET", "not": "NAF"}
_BETWEEN = {"at": "ATW", "in": "IN", "mod": "MUL"}
_ENDS = frozenset({"NAME", "VAR", "INT", "FLOAT", "STR", "RPAR", "RSQB", "RBRACE"})


def skip_layout(text: str, at: int) -> int:
    """The offset of the next token: blanks and comments are passed over."""
    found = _LAYOUT.match(text, at)
    return found.end() if found else at


def scan_clause(text: str, at: int) -> tuple[list[Token], int]:
    """The tokens of the clause that starts at an offset, and the offset after it.

    The last token is `END` unless the text ran out. Nothing raises: what cannot be read becomes a
    token of kind `BAD`, `STRAY`, `BADQUOTE` or `OPENCOMMENT`.

    >>> [t.type for t in scan_clause("@T h :- b(X) [3 s], X % 2 = 0. % odd", 0)[0]]
    ['AT', 'VAR', 'NAME', 'NECK', 'FUNCTOR', 'LPAR', 'VAR', 'RPAR', 'LSQB', 'INT', 'NAME', 'RSQB',
     'COMMA', 'VAR', 'MUL', 'INT', 'REL', 'INT', 'END']
    """
    tokens: list[Token] = []
    anonymous = 0
    while True:
        previous = tokens[-1].type if tokens else ""
        if (sign := _remainder_at(text, at, previous)) is not None:
            tokens.append(Token("MUL", "%", start_pos=sign, end_pos=sign + 1))
            at = sign + 1
            continue
        at = skip_layout(text, at)
        found = _TOKEN.match(text, at)
        if found is None:
            return tokens, at
        kind, value, end = found.lastgroup or "STRAY", found.group(), found.end()
        if kind == "OP":
            kind, end = _operator(value, previous, text, end)
            value = _SPELLING.get(value, text[at:end])
        else:
            kind = _kind(kind, value, previous, text, end)
        if kind == "VAR" and value == "_":
            anonymous += 1
            value = f"_#{anonymous}"
        elif kind == "MUL" and value == "mod":
            value = "%"
        elif kind == "OPENCOMMENT":
            end = len(text)
        tokens.append(Token(kind, value, start_pos=at, end_pos=end))
        if kind == "END":
            return tokens, end
        at = end


def _remainder_at(text: str, at: int, previous: str) -> int | None:
    """Where a `%` stands that is a sign and no comment."""
    if previous not in ("VAR", "INT", "FLOAT", "RPAR"):
        return None
    found = _BLANKS.match(text, at)
    start = found.end() if found else at
    return start if _REMAINDER.match(text, start) else None


def _kind(kind: str, value: str, previous: str, text: str, end: int) -> str:
    if kind == "QUOTED":
        return "FUNCTOR" if text[end : end + 1] == "(" else "NAME"
    if kind == "WORD":
        return _word(value, previous, text, end)
    return {"MISTAKEN": "BAD", "OPENQUOTE": "BADQUOTE"}.get(kind, kind)


def _word(word: str, previous: str, text: str, end: int) -> str:
    if starts_variable(word):
        return "VAR"
    if word in _BEFORE:
        return _BEFORE[word]
    if word in _BETWEEN and previous in _ENDS:
        return _BETWEEN[word]
    if word == "in" and previous in ("NAF", "ALWAYS") and text[skip_layout(text, end) :][:1] == "[":
        return "IN"
    return "FUNCTOR" if text[end : end + 1] == "(" else "NAME"


def _operator(sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
    if sign in "+-" and previous not in _ENDS:
        found = _TOKEN.match(text, end)
        if sign == "-" and found is not None and found.lastgroup in ("INT", "FLOAT"):
            return found.lastgroup, found.end()
        return "SIGN", end
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
        at = skip_layout(source.text, 0)
        while at < len(source.text) and not report.gives_up():
            tokens, at = scan_clause(source.text, at)
            if tokens:
                reader.read(tokens)
            at = skip_layout(source.text, at)
        rules.extend(reader.rules)
    rules = with_relations(rules) if relations else rules
    return lars.Program(tuple(rules), kept), sorted(report.findings, key=sort_key)


class _Reader(ClauseReader[ParsedLarsClause]):
    instead = _INSTEAD

    def __init__(self, source: SourceText, report: Report) -> None:
        super().__init__(source, report)
        self.rules: list[lars.Rule] = []

    def parse(self, tokens: list[Token]) -> ParsedLarsClause:
        """The clause that tokens spell."""
        return parse_clause(tokens)

    def accept(self, parsed: ParsedLarsClause, trouble: Trouble) -> None:
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
        if any(_nested_too_deeply(formula) for formula in body):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause has too many windows around each other", span, hint)
            return
        rule = lars.Rule(head, body, span, self.source)
        check_rule(rule, builder)
        self.rules.append(rule)


def _nested_too_deeply(formula: lars.Formula) -> bool:
    """Windows behind a condition go around each other, without brackets that would be counted."""
    level: list[lars.Formula] = [formula]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in children(outer)]
    return bool(level)


def _depth_exceeds(part: ClausePart, limit: int) -> bool:
    level: list[ClausePart] = [part]
    for _ in range(limit):
        level = [inner for outer in level for inner in outer.parts]
        if not level:
            return False
    return True
