"""Codes H200 to H599: what a readable description gets wrong. `CODES` has them all.

Each example is a complete description that triggers its code; the tests run every one.
"""

from horai.lang.report import CodeInfo, table
from horai.plan.codes.cycles import CYCLE_CODES
from horai.plan.codes.doubts import DOUBT_CODES
from horai.plan.codes.names import NAME_CODES
from horai.plan.codes.safety import SAFETY_CODES

CODES: dict[str, CodeInfo] = table(
    *NAME_CODES.values(), *SAFETY_CODES.values(), *CYCLE_CODES.values(), *DOUBT_CODES.values()
)

__all__ = ["CODES"]
