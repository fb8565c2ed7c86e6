"""Findings about rules of a LARS program."""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.diagnostics import Diagnostic
from horai.lang.lars.anyone import is_made
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


def listed(predicates: Iterable[Predicate]) -> list[str]:
    """Predicates as people write them, without those that nobody wrote."""
    return [named(one) for one in sorted(predicates) if not is_made(one[0])]


def place_of(rule: Rule) -> str | None:
    """File and line of a rule, if it was written somewhere."""
    if rule.source is None or rule.span is None:
        return None
    line, _ = rule.source.position(rule.span[0])
    return f"{rule.source.name}:{line}"
