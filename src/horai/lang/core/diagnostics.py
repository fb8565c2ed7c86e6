"""Diagnostics: what is wrong, where, why, and what to do about it; and the meaning of codes."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span

WIDEST = 240  # characters of a line that are shown
LONGEST = 2000  # of a message, which may name what stands in the rules


class Severity(StrEnum):
    """How bad it is: errors stop a run, warnings do not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is stable and listed in docs/diagnostics.md."""

    code: str
    severity: Severity
    message: str
    source: SourceText | None = None
    span: Span | None = None
    hint: str | None = None
    note: str | None = None

    @property
    def position(self) -> tuple[int, int]:
        """Line and column where it starts; (1, 1) for a whole file."""
        if self.source is None or self.span is None:
            return (1, 1)
        return self.source.position(self.span[0])

    def as_json(self) -> dict[str, Any]:
        """The finding for editors."""
        line, column = self.position
        end_line, end_column = line, column
        text = ""
        if self.source is not None and self.span is not None:
            end_line, end_column = self.source.position(self.span[1])
            text = self.source.snippet(self.span)
        return {
            "code": self.code,
            "severity": str(self.severity),
            "message": self.message,
            "file": self.source.name if self.source else None,
            "line": line,
            "column": column,
            "end_line": end_line,
            "end_column": end_column,
            "text": text,
            "hint": self.hint,
            "note": self.note,
        }

    def render(self) -> str:
        """The finding with its line and the text underlined, as compilers show it."""
        head = f"{self.severity}[{self.code}]: {_printable(self.message, LONGEST)}"
        lines = [head]
        if self.source is not None and self.span is not None:
            line, column = self.position
            gutter = " " * len(str(line))
            lines.append(f"{gutter}--> {_printable(self.source.name)}:{line}:{column}")
            text, mark = self._excerpt()
            lines.append(f"{gutter} |")
            lines.append(f"{line} | {text}")
            lines.append(f"{gutter} | {mark}")
        elif self.source is not None:
            lines.append(f" --> {_printable(self.source.name)}")
        if self.note:
            lines.append(f"  = note: {_printable(self.note, LONGEST)}")
        if self.hint:
            lines.append(f"  = help: {_printable(self.hint, LONGEST)}")
        return "\n".join(lines)

    def _excerpt(self) -> tuple[str, str]:
        """The line, or what is near the place if it is long, and the marks below it."""
        assert self.source is not None and self.span is not None
        (line, column), (end_line, end) = map(self.source.position, self.span)
        text = self.source.line(line).replace("\t", " ")
        place = column - 1
        width = end - column if end_line == line else len(text) - place
        first = 0 if len(text) <= WIDEST else max(0, place - WIDEST // 3)
        last = len(text) if len(text) <= WIDEST else first + WIDEST
        before = ("…" if first else "") + _printable(text[first:place])
        marked = _printable(text[place : min(place + width, last)])
        after = _printable(text[place + width : last]) + ("…" if last < len(text) else "")
        return before + marked + after, " " * len(before) + "^" * max(1, len(marked))


def sort_key(diagnostic: Diagnostic) -> tuple[str, int, str]:
    """Order of printing: by file, then place, then code."""
    name = diagnostic.source.name if diagnostic.source else ""
    return (name, diagnostic.span[0] if diagnostic.span else 0, diagnostic.code)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to a mistyped one, if any is close.

    >>> did_you_mean("intiatedAt", ["initiatedAt", "terminatedAt"])
    'initiatedAt'
    """
    pool = sorted(set(known) - {word})
    near = difflib.get_close_matches(word, pool, n=1, cutoff=0.75)
    return near[0] if near else None


class RulesError(Exception):
    """Rules that cannot be used; `diagnostics` says all that is wrong, warnings included."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = sorted(diagnostics, key=sort_key)
        super().__init__("\n\n".join(d.render() for d in self.diagnostics))


def _printable(text: str, most: int | None = None) -> str:
    """A text with what steers terminals spelled out, and no more of it than people read."""
    some = text if most is None or len(text) <= most else text[:most] + "…"
    return some if some.isprintable() else "".join(map(_spelled, some))


def _spelled(char: str) -> str:
    if char.isprintable() or char == "\n":
        return char
    return char.encode("unicode_escape").decode()


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """The meaning of a code, for people; `example` is a complete text that triggers it.

    An error `may_be_lowered` if rules have a meaning with it: what they speak of never holds.
    `language` is that of an example which is no text of rules.
    """

    code: str
    title: str
    severity: Severity
    explanation: str
    example: str
    may_be_lowered: bool = False
    language: str | None = None


@cache
def all_codes() -> dict[str, CodeInfo]:
    """The meanings of all codes, in their order; `codes.toml` is read when first asked for."""
    with files("horai.lang").joinpath("codes.toml").open("rb") as file:
        return {code: _code_info(code, **entry) for code, entry in tomllib.load(file).items()}


def _code_info(
    code: str, *, title: str, text: str, example: str, severity: str = "error", **more: Any
) -> CodeInfo:
    return CodeInfo(code, title, Severity(severity), " ".join(text.split()), example, **more)


def diagnostic(
    code: str,
    message: str,
    source: SourceText | None = None,
    span: Span | None = None,
    hint: str | None = None,
    note: str | None = None,
) -> Diagnostic:
    """A finding with the severity of its code."""
    return Diagnostic(code, all_codes()[code].severity, message, source, span, hint, note)


# A table that is taken for rules has a mistake in every line: nobody reads them all.
MOST_ERRORS = 2_500


class Report:
    """Collects findings; the code decides the severity."""

    def __init__(self) -> None:
        self.findings: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        source: SourceText | None,
        span: Span | None,
        hint: str | None = None,
        note: str | None = None,
    ) -> None:
        """Note a finding."""
        self.findings.append(diagnostic(code, message, source, span, hint, note))

    def gives_up(self) -> bool:
        """Are there so many errors that reading on is of no use? Then the last one says so."""
        if len(self.findings) < MOST_ERRORS:
            return False
        errors = [i for i, one in enumerate(self.findings) if one.severity is Severity.ERROR]
        if len(errors) < MOST_ERRORS:
            return False
        note = f"after {MOST_ERRORS} errors, the rest of the text was not read"
        self.findings[errors[-1]] = replace(self.findings[errors[-1]], note=note)
        return True

    def extend(self, findings: Iterable[Diagnostic]) -> None:
        """Take over findings made elsewhere."""
        self.findings.extend(findings)


def has_errors(findings: Iterable[Diagnostic]) -> bool:
    """True when one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)


def distance(left: str, right: str) -> int:
    """The number of letters to add, drop, change or swap to get from one word to the other.

    >>> distance("happenAt", "happensAt"), distance("hodlsAt", "holdsAt")
    (1, 1)
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def nearest(word: str, known: Iterable[str], most: int) -> str | None:
    """The known word within `most` changes of a word, the nearest first.

    Small and capital letters and underscores do not count; short words must be closer.

    >>> nearest("holdsfor", ["holdsAt", "holdsFor"], 1)
    'holdsFor'
    """
    best: tuple[int, str] | None = None
    for candidate in sorted(set(known) - {word}):
        if abs(len(candidate) - len(word)) > most + 1:
            continue
        allowed = min(most, len(candidate) // 4)
        far = 0 if _folded(word) == _folded(candidate) else distance(word, candidate)
        if far <= allowed and (best is None or far < best[0]):
            best = (far, candidate)
    return best[1] if best else None


def _folded(word: str) -> str:
    return word.replace("_", "").lower()
