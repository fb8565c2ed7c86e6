"""The reference engine: a slow, obvious interpreter written straight from the definitions."""

from horai.oracle.errors import OracleError
from horai.oracle.evaluate import Interpreter, Knowledge, Occurrence
from horai.oracle.items import Dropped, Item, Reason
from horai.oracle.session import Answer, Session

__all__ = [
    "Answer",
    "Dropped",
    "Interpreter",
    "Item",
    "Knowledge",
    "Occurrence",
    "OracleError",
    "Reason",
    "Session",
]
