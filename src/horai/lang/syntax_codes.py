"""Codes H001 to H099: what the text itself gets wrong."""

from __future__ import annotations

from horai.lang.codes import CodeInfo, table
from horai.lang.diagnostics import Severity

_E = Severity.ERROR
_W = Severity.WARNING

SYNTAX_CODES = table(
    CodeInfo(
        "H001",
        "Unreadable clause",
        _E,
        "The text does not follow the grammar, and no usual mistake explains it. The message "
        "says what could have come instead.",
        "p(a) :- q(a) r) .",
    ),
)
