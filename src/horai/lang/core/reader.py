"""Reading clauses: text in; clauses, plain facts and all that is wrong out.

The text is cut into clauses first and each is parsed on its own, so that a bad clause spoils no
other and every mistake shows up in one run. Plain facts take a fast path, since large background
files are data. Directives that load files (`:- ['areas.prolog'].`) are followed, from the folder of
the file that asks; most others steer other systems and are passed over.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import (
    ESCAPE,
    GrammarError,
    ParsedClause,
    Scanner,
    functor_or_name,
    parse_clause,
    token_pattern,
)
from horai.lang.core.mistakes import (
    ENDS,
    INSTEAD,
    Clauses,
    Instead,
    Trouble,
    check_brackets,
    check_tokens,
    diagnose,
)
from horai.lang.core.printer import BadEscape, is_name, is_pair
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Span,
    Str,
    Term,
    args_of,
    children,
    functor,
    is_ground,
    too_deep,
)
from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.ec.syntax import Clause, Facts

_INFIX = {
    ":-": "NECK",
    ";": "SEMI",
    "->": "ARROW",
    ",": "COMMA",
    "|": "BAR",
    "+": "ADD",
    "-": "ADD",
    "*": "MUL",
    "/": "MUL",
    "//": "MUL",
    "**": "POW",
    "^": "POW",
}
_INFIX_WORDS = {"is": "REL", "mod": "MUL", "rem": "MUL"}
_DIRECTIVE_WORDS = frozenset({"dynamic", "discontiguous", "multifile", "table", "initialization"})
_OPERAND_ENDS = ENDS | {"BADQUOTE"}
_CLOSERS = frozenset(",)]|}")


class PrologScanner(Scanner):
    """Cuts texts of the Event Calculus into tokens.

    >>> [t.type for t in PrologScanner().clause("p(-1, X) :- q.", 0)[0]]
    ['FUNCTOR', 'LPAR', 'INT', 'COMMA', 'VAR', 'RPAR', 'NECK', 'NAME', 'END']
    """

    layout = re.compile(r"(?:\s++|%[^\n]*+|/\*.*?\*/)+", re.DOTALL)
    token = token_pattern(
        special=rf"""(?P<CHAR>0'(?:''|{ESCAPE}|[^\\'\n]))
            | (?P<RADIX>0(?:x[0-9a-fA-F]+|o[0-7]+|b[01]+)) | (?P<CUT>!(?!=))""",
        end=r"\.(?=\s|%|\Z)",
        comment=r"/\*",
        mistaken=r"=[.][.]|!=|<=|<>|=:(?!=)",
        operators=r":-|->|\\\+|=:=|=\\=|\\==|\\=|==|=<|>=|@=<|@>=|@<|@>|//|[*][*]|[-+*/^<>=;,|]",
        bad=r"[&~:@#$?\\.≤≥≠∧∨¬←→⇒⇐]",
    )

    def word(self, word: str, before: list[Token], text: str, end: int) -> str:
        if before and before[-1].type in _OPERAND_ENDS and word in _INFIX_WORDS:
            return _INFIX_WORDS[word]
        if word == "not" and not self._closes(text, end):
            return "NAF"
        kind = functor_or_name(text, end)
        # `:- dynamic p/1.` has no brackets, unlike other directives.
        directs = [token.type for token in before] == ["NECK"] and word in _DIRECTIVE_WORDS
        return "DIRECTIVE" if directs and kind == "NAME" and not self._closes(text, end) else kind

    def operator(self, sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
        if sign in (",", "|"):
            return _INFIX[sign], end
        if previous in _OPERAND_ENDS or sign == ":-":
            # `a \+ b` lacks a comma; the kind must not hide that.
            return ("NAF" if sign == "\\+" else _INFIX.get(sign, "REL")), end
        if sign == "\\+":
            return ("NAME" if self._closes(text, end) else "NAF"), end
        after = text[end : end + 1]
        number = self.number_behind(text, end) if sign == "-" and after.isdigit() else None
        if number is not None:
            return number
        if after == "(":
            return "FUNCTOR", end
        if self._closes(text, end):
            return "NAME", end
        return ("SIGN" if sign in "+-" else _INFIX.get(sign, "REL")), end

    def _closes(self, text: str, at: int) -> bool:
        """True when an operand ends here, so that an operator before it stands for itself."""
        at = self.skip(text, at)
        return at < len(text) and text[at] in _CLOSERS


_SCANNER = PrologScanner()
_HARMLESS = re.compile(
    r"dynamic|discontiguous|multifile|table|(use_)?module|set_(prolog_flag|stream)|style_check"
    r"|license|yap_flag"
)
_LOADING = frozenset({"consult", "include", "ensure_loaded", "load_files", "compile"})


@dataclass(frozen=True, slots=True)
class Load:
    """A file that a directive such as `:- ['areas.prolog'].` asks for."""

    name: str
    source: SourceText
    span: Span


def check_directive(
    parsed: ParsedClause,
    span: Span,
    source: SourceText,
    report: Report,
    loads: list[Load] | None = None,
) -> None:
    """Accept a directive, or say what to do instead.

    Files to load go to `loads`; without it there is nobody to load them.
    """
    body = parsed.body
    if body is None:
        return
    found = functor(body)
    name = parsed.directive or (found[0] if found else "")
    if name == "initialization":
        hint = "remove it; `horai run` starts the reasoning"
        report.add("H025", "rule files start no programs", source, span, hint)
    elif name in _LOADING or isinstance(body, ListTerm):
        _consult(body, span, source, report, loads)
    elif not _HARMLESS.fullmatch(name):
        hint = "remove it if it is not meant for another system"
        report.add("H026", "this directive has no meaning here", source, span, hint)


def _consult(
    body: Term, span: Span, source: SourceText, report: Report, loads: list[Load] | None
) -> None:
    files = [
        part.name if isinstance(part, Constant) else part.value
        for part in children(body)
        if isinstance(part, Constant | Str)
    ]
    if loads is not None:
        loads.extend(Load(name, source, span) for name in files)
        return
    if not files:
        return  # a library of the Prolog system
    named = ", ".join(files)
    hint = f"pass {named} as a rules or background file"
    report.add("H027", "only rules that are files themselves can load others", source, span, hint)


_ARG = r"(?:[a-z]\w*|-?[0-9]{1,18}(?:\.[0-9]{1,18})?|'[^'\\\n]*')"
_FACT = re.compile(
    rf"\s*([a-z]\w*)\(([ \t]*{_ARG}(?:[ \t]*,[ \t]*{_ARG})*[ \t]*)\)[ \t]*\.(?=\s|%|\Z)"
)
_ARGS = re.compile(_ARG)

FactsByPredicate = dict[tuple[str, int], Facts]


class FactReader:
    """Reads runs of plain facts out of one source; equal arguments share one term."""

    def __init__(self, source: SourceText, special: Container[str], into: FactsByPredicate) -> None:
        self._source = source
        self._special = special
        self._into = into
        self._terms: dict[str, Term] = {}

    def read_run(self, at: int) -> int:
        """Take in the plain facts that stand at an offset; the offset after the last one."""
        match, text, source = _FACT.match, self._source.text, self._source
        terms, into, special = self._terms, self._into, self._special
        while (found := match(text, at)) is not None:
            name, written = found.groups()
            if name in special:
                return at
            words = _ARGS.findall(written) if "'" in written else written.split(",")
            try:
                row = tuple([terms[word] for word in words])
            except KeyError:
                row = tuple([self._term(word) for word in words])
            key = (name, len(row))
            facts = into.get(key)
            if facts is None:
                facts = into[key] = Facts()
            facts.rows.append(row)
            facts.places.append((source, found.start(1)))
            at = found.end()
        return at

    def _term(self, word: str) -> Term:
        term = self._terms.get(word)
        if term is None:
            bare = word.strip(" \t")  # no quoted argument has blanks around it here
            term = self._terms.get(bare) or _convert(bare)
            self._terms[bare] = self._terms[word] = term
        return term


def _convert(word: str) -> Term:
    first = word[0]
    if first == "'":
        return Constant(word[1:-1])
    if first == "-" or first.isdigit():
        return Float(float(word)) if "." in word else Int(int(word))
    return Constant(word)


Parsed = TypeVar("Parsed")
# Mending must come to an end, also where one repair calls for the next.
_MOST_REPAIRS = 50


class ClauseReader(ABC, Generic[Parsed]):
    """Reads the clauses of a language from their tokens."""

    instead: Instead = INSTEAD  # what to write for signs of other languages
    scanner: Scanner = _SCANNER

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report

    @abstractmethod
    def parse(self, tokens: list[Token]) -> Parsed:
        """The clause that tokens spell, without their full stop; raises `GrammarError`."""

    @abstractmethod
    def accept(self, parsed: Parsed, trouble: Trouble) -> None:
        """Take in a clause that could be read."""

    def passed_over(self, at: int) -> int:
        """The offset after what needs no grammar."""
        return at

    def read_all(self) -> None:
        """Read all clauses of the source, until there are too many mistakes."""
        text, at = self.source.text, 0
        while not self.report.gives_up():
            at = self.scanner.skip(text, self.passed_over(at))
            if at >= len(text):
                break
            tokens, at = self.scanner.clause(text, at)
            self.read(tokens)

    def read(self, tokens: list[Token]) -> None:
        """Read one clause; a wrong one is diagnosed, mended where possible and read again."""
        waiting = [(tokens, _MOST_REPAIRS, False)] if tokens else []
        quiet: set[int] = set()
        # What the grammar led to has sound tokens: they are not looked through at each repair.
        while waiting and not self.report.gives_up():
            current, repairs, sound = waiting.pop()
            trouble = Trouble(current, self.source, self.report, quiet)
            mended = None if sound else check_tokens(trouble, self.instead)
            if mended is None and not sound:
                mended = check_brackets(trouble)
            sound = mended is None
            if mended is None:
                mended = self._try(trouble)
            if len(mended) > 1:
                # Clauses cut apart are clauses of their own.
                waiting.extend((part, _MOST_REPAIRS, sound) for part in reversed(mended) if part)
            elif repairs:
                waiting.extend((part, repairs - 1, sound) for part in mended if part)

    def _try(self, trouble: Trouble) -> Clauses:
        """Take in the clause; if it is wrong, say so and give back what to try next."""
        tokens = trouble.tokens
        ended = tokens[-1].type == "END"
        if len(tokens) == 1 and ended:
            trouble.say("H013", "a full stop without a clause", trouble.span(0), "remove it")
            return []
        try:
            parsed = self.parse(tokens[:-1] if ended else tokens)
        except GrammarError as error:
            return diagnose(trouble, error)
        if not ended:
            hint = "end every clause with `.`"
            last = len(tokens) - 1
            trouble.say("H002", "a full stop is missing here", trouble.after(last), hint)
        self.accept(parsed, trouble)
        return []


def read_clauses(
    source: SourceText,
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
    reader = _Reader(source, special, fast, loads)
    reader.read_all()
    return reader.clauses, reader.facts, sorted(reader.report.findings, key=sort_key)


def read_only_clauses(source: SourceText) -> tuple[list[Clause], list[Diagnostic]]:
    """The clauses of a text, plain facts among them, and what is wrong.

    >>> [clause.head for clause in read_only_clauses(SourceText("query", "rich(chris)."))[0]]
    [Compound(name='rich', args=(Constant(name='chris'),))]
    """
    clauses, _, findings = read_clauses(source, _Everything(), fast=False)
    return clauses, findings


class _Everything:
    """No name is set aside as that of a plain fact."""

    def __contains__(self, name: object) -> bool:
        return True


class _Reader(ClauseReader[ParsedClause]):
    def __init__(
        self,
        source: SourceText,
        special: Container[str],
        fast: bool,
        loads: list[Load] | None = None,
    ) -> None:
        super().__init__(source, Report())
        self.special = special
        self.loads = loads
        self.clauses: list[Clause] = []
        self.facts: FactsByPredicate = {}
        self.plain = FactReader(source, special, self.facts) if fast else None

    def passed_over(self, at: int) -> int:
        """Plain facts, which may be many, take a way of their own."""
        return at if self.plain is None else self.plain.read_run(at)

    def parse(self, tokens: list[Token]) -> ParsedClause:
        """The clause that tokens spell."""
        return parse_clause(tokens)

    def accept(self, parsed: ParsedClause, trouble: Trouble) -> None:
        span = trouble.whole
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
        if (
            not isinstance(head, Constant | Compound)
            or not is_name(head)
            or head.name in self.special
        ):
            return False
        if isinstance(head, Compound) and any(is_pair(arg) for arg in head.args):
            return False
        return is_ground(head)

    def _add_fact(self, head: Term, start: int) -> None:
        assert isinstance(head, Constant | Compound)
        row = args_of(head)
        facts = self.facts.setdefault((head.name, len(row)), Facts())
        facts.rows.append(row)
        facts.places.append((self.source, start))


def clean(text: str) -> str:
    """The text without a byte order mark and with one kind of line end."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def read_file(
    path: Path | str, unsaved: Mapping[Path, str] | None = None
) -> tuple[SourceText, list[Diagnostic]]:
    """The text of a file, decoded from UTF-8, and what was wrong with it.

    What is being edited is `unsaved`, by whole paths: it stands for what is on the disk.
    """
    report = Report()
    if unsaved and (text := unsaved.get(Path(path).resolve())) is not None:
        return SourceText(str(path), clean(text)), report.findings
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        source = SourceText(str(path), "")
        reason = error.strerror or type(error).__name__
        report.add("H028", f"this file cannot be read: {reason}", source, None)
        return source, report.findings
    try:
        source = SourceText(str(path), clean(raw.decode("utf-8")))
    except UnicodeDecodeError as error:
        source = SourceText(str(path), clean(raw.decode("utf-8", errors="replace")))
        at = len(clean(raw[: error.start].decode("utf-8")))
        message = f"the byte 0x{raw[error.start]:02X} is not UTF-8"
        hint = "save the file as UTF-8; this is often a letter with an accent in Latin-1"
        report.add("H015", message, source, (at, at + 1), hint)
    return source, report.findings


_ENDINGS = ("", ".prolog", ".pl", ".ec")
_RULES = (".prolog", ".pl", ".ec", ".pro", ".yap", ".P", ".lars")


class Loader:
    """Knows which files were read already, so that none is read twice."""

    def __init__(self) -> None:
        self.report = Report()
        self._seen: set[Path] = set()

    def is_new(self, path: Path) -> bool:
        """True the first time a file is met, under whatever path."""
        resolved = path.resolve()
        if resolved in self._seen:
            return False
        self._seen.add(resolved)
        return True

    def find(self, load: Load) -> Path | None:
        """The file that is asked for; None after saying that there is none."""
        folder = Path(load.source.name).parent
        # Prolog systems look in the working directory, too.
        for start in (folder, Path()):
            for ending in _ENDINGS:
                path = start / f"{load.name}{ending}"
                if path.is_file():
                    return path if self._are_rules(path, load) else None
        hint = f"put it there, or pass it under its new path; it is looked for in {folder}"
        self.report.add("H027", f"there is no file `{load.name}`", load.source, load.span, hint)
        return None

    def _are_rules(self, path: Path, load: Load) -> bool:
        """Only text is read as rules: findings are shown with it."""
        if path.resolve().suffix in _RULES:
            return True
        hint = f"only you can have it read: pass it as a file of rules, or name it {_RULES[0]}"
        problem = f"`{load.name}` is no file of rules by its name"
        self.report.add("H027", problem, load.source, load.span, hint)
        return False


# The rules give some words and signs a meaning (`not`, `-`); alone they are atoms like others.
_WORD_OR_SIGN = re.compile(r"[a-z][A-Za-z0-9_]*|(?!\.$)(?!/\*)[-+*/\\^<>=~:.?@#&$]+")


class NotATerm(ValueError):
    """The text is not exactly one term."""


def read_term(text: str) -> Term:
    """The term a text says.

    >>> read_term("f('New York', -3)")
    Compound(name='f', args=(Constant(name='New York'), Int(value=-3)))
    >>> read_term("-")
    Constant(name='-')
    """
    if _WORD_OR_SIGN.fullmatch(text):
        return Constant(text)
    tokens, end = _SCANNER.clause(text + " .", 0)
    try:
        parsed = parse_clause(tokens[:-1])
    except (GrammarError, BadEscape) as error:
        raise NotATerm(f"{text!r} is not a term") from error
    whole = len(tokens) > 1 and tokens[-1].type == "END" and end == len(text) + 2
    if not whole or parsed.head is None or parsed.body is not None:
        raise NotATerm(f"{text!r} is not a term")
    return parsed.head
