"""All codes that reading a LARS program can give: those of any text, and its own."""

from __future__ import annotations

from horai.lang.lars.lars_codes import LARS_CODES
from horai.lang.report import CodeInfo, table
from horai.lang.syntax_codes import SYNTAX_CODES

CODES: dict[str, CodeInfo] = table(*SYNTAX_CODES.values(), *LARS_CODES.values())

__all__ = ["CODES", "LARS_CODES"]
