"""Findings on their way to the user, and what their codes mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from horai.lang.diagnostics import Diagnostic, Severity
from horai.lang.source import Source
from horai.lang.terms import Span


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What a code stands for, for people; `example` is a complete rules text that triggers it."""

    code: str
    title: str
    severity: Severity
    explanation: str
    example: str


def table(*infos: CodeInfo) -> dict[str, CodeInfo]:
    """The infos by code; a code given twice is a mistake of ours."""
    by_code = {info.code: info for info in infos}
    assert len(by_code) == len(infos), "a code is registered twice"
    return by_code


class Report:
    """Collects findings; the code decides the severity."""

    def __init__(self, codes: dict[str, CodeInfo]) -> None:
        self._codes = codes
        self.findings: list[Diagnostic] = []

    def add(
        self,
        code: str,
        message: str,
        source: Source | None,
        span: Span | None,
        hint: str | None = None,
        note: str | None = None,
    ) -> None:
        """Note a finding."""
        severity = self._codes[code].severity
        self.findings.append(Diagnostic(code, severity, message, source, span, hint, note))

    def extend(self, findings: Iterable[Diagnostic]) -> None:
        """Take over findings made elsewhere."""
        self.findings.extend(findings)


def has_errors(findings: Iterable[Diagnostic]) -> bool:
    """True when one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
