"""Reading continuous queries: text in; statements and all that is wrong out."""

from __future__ import annotations

from horai.lang.cql.grammar import Statements
from horai.lang.cql.syntax import Statement
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.relative_codes import RELATIVE_CODES
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.statements import SIGNS, Language, statements

LANGUAGE = Language(
    "horai.lang.cql",
    "cql.lark",
    Statements,
    {
        "NAME": "a name",
        "INT": "a number",
        "DECIMAL": "a number",
        "STRING": "a text",
        "ADD": "`+`",
        "STAR": "`*`",
        "SLASH": "`/`",
        "COMPARE": "a comparison",
        "AGGREGATE": "an aggregate",
        "R2S": "`RSTREAM`",
        "OUTER_JOIN": "`JOIN`",
        **SIGNS,
    },
    ";",
)


def read_source(source: Source) -> tuple[list[Statement], list[Diagnostic]]:
    """The statements of a text, and all that is wrong with it.

    >>> found, findings = read_source(Source("q", "SELECT * FROM tram [NOW];"))
    >>> len(found), findings
    (1, [])
    """
    report = Report(RELATIVE_CODES)
    found = list(statements(LANGUAGE, source, report))
    return found, sorted(report.findings, key=sort_key)
