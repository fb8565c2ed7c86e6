"""All codes of findings: those of the reader and those of the checks."""

from __future__ import annotations

from horai.lang.codes import CODES as READING
from horai.lang.report import CodeInfo
from horai.plan.codes import CODES as CHECKING


def all_codes() -> dict[str, CodeInfo]:
    """What every code means, in order of the codes."""
    return dict(sorted((READING | CHECKING).items()))
