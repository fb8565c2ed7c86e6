"""Directives `:- ...`: most only steer other systems and are passed over."""

from __future__ import annotations

from horai.lang.codes import Report
from horai.lang.grammar import ParsedClause
from horai.lang.source import Source
from horai.lang.terms import Span


def check_directive(parsed: ParsedClause, span: Span, source: Source, report: Report) -> None:
    """Accept a directive, or say what to do instead."""
