"""Every finding has a code; `CODES` says what each code of the reader means."""

from __future__ import annotations

from horai.lang.ec.shape_codes import SHAPE_CODES
from horai.lang.report import CodeInfo, Report, has_errors, table
from horai.lang.syntax_codes import SYNTAX_CODES

CODES: dict[str, CodeInfo] = table(*SYNTAX_CODES.values(), *SHAPE_CODES.values())

__all__ = ["CODES", "CodeInfo", "Report", "has_errors", "table"]
