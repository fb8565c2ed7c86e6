"""All codes: of findings about rules, and of rows that were not used."""

from __future__ import annotations

from horai.io import CODES as ROWS
from horai.lang.codes import CODES as READING
from horai.lang.lars.lars_codes import LARS_CODES
from horai.lang.relative_codes import RELATIVE_CODES
from horai.lang.report import CodeInfo
from horai.plan.both.codes import CODES as BETWEEN
from horai.plan.codes import CODES as CHECKING
from horai.plan.lars.codes import CODES as LARS_CHECKING
from horai.signals.letters import CODES as POSITIONS


def all_codes() -> dict[str, CodeInfo]:
    """What every code means, in order of the codes."""
    lars = LARS_CODES | LARS_CHECKING
    return dict(sorted((READING | CHECKING | lars | RELATIVE_CODES | BETWEEN).items()))


def letter_codes() -> dict[str, str]:
    """What every code of a dead letter means."""
    return ROWS | POSITIONS
