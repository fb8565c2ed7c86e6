"""Diagnostics: what is wrong, where, why, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from horai.lang.source import Source
from horai.lang.terms import Span


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
    source: Source | None = None
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
        head = f"{self.severity}[{self.code}]: {self.message}"
        lines = [head]
        if self.source is not None and self.span is not None:
            line, column = self.position
            text = self.source.line(line).replace("\t", " ")
            end_line, end_column = self.source.position(self.span[1])
            width = end_column - column if end_line == line else len(text) - column + 1
            gutter = " " * len(str(line))
            lines.append(f"{gutter}--> {self.source.name}:{line}:{column}")
            lines.append(f"{gutter} |")
            lines.append(f"{line} | {text}")
            lines.append(f"{gutter} | {' ' * (column - 1)}{'^' * max(1, width)}")
        elif self.source is not None:
            lines.append(f" --> {self.source.name}")
        if self.note:
            lines.append(f"  = note: {self.note}")
        if self.hint:
            lines.append(f"  = help: {self.hint}")
        return "\n".join(lines)


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
