"""The reference engine: a slow, obvious interpreter written straight from the definitions."""

from horai.oracle.ec.evaluate import Interpreter, Knowledge, Occurrence
from horai.oracle.ec.session import (
    OracleAnswer,
    OracleItem,
    OracleSession,
    RefusalReason,
    RefusedItem,
)

__all__ = [
    "Interpreter",
    "Knowledge",
    "Occurrence",
    "OracleAnswer",
    "OracleItem",
    "OracleSession",
    "RefusalReason",
    "RefusedItem",
]
