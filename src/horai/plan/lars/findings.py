"""Findings about rules of a LARS program."""

from __future__ import annotations

from horai.lang.diagnostics import Diagnostic
from horai.lang.lars.syntax import Predicate, Rule
from horai.lang.terms import Span
from horai.plan.lars.codes import CODES


def finding(
    code: str,
    message: str,
    rule: Rule,
    span: Span | None,
    hint: str | None = None,
    note: str | None = None,
) -> Diagnostic:
    """A finding at a place of a rule."""
    severity = CODES[code].severity
    return Diagnostic(code, severity, message, rule.source, span or rule.span, hint, note)


def named(predicate: Predicate) -> str:
    """A predicate as people write it: `tram/2`."""
    return f"{predicate[0]}/{predicate[1]}"
