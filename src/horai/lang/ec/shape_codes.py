"""Codes H100 to H199: clauses that read well and yet are no rule."""

from __future__ import annotations

from horai.lang.codes import CodeInfo, table
from horai.lang.diagnostics import Severity

SHAPE_CODES = table(
    *(
        CodeInfo(code, "", Severity.ERROR, "", "")
        for code in ["H100", "H103", "H104", "H105", "H106", "H110", "H117", "H118", "H121"]
    )
)
