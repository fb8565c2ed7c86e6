"""What went wrong in a clause that the grammar refuses, in human words."""

from __future__ import annotations

from lark import Token

from horai.lang.codes import Report
from horai.lang.grammar import GrammarError, token_span
from horai.lang.source import Source


def diagnose(
    tokens: list[Token], error: GrammarError, source: Source, report: Report
) -> list[list[Token]]:
    """Say what is wrong; give back the clauses to go on with."""
    token = tokens[min(error.index, len(tokens) - 1)]
    report.add("H001", f"unexpected `{token}`", source, token_span(token))
    return []
