"""Which of the literals that can be evaluated comes first."""

from __future__ import annotations

from horai.lang.ec.syntax import (
    Aggregate,
    Allen,
    And,
    Call,
    Compare,
    Duration,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    IntervalOp,
    Is,
    Literal,
    Not,
    Or,
    TerminatedAt,
    Truth,
)
from horai.plan.mode_table import ModeTable
from horai.plan.scopes import names

Names = frozenset[str]


def cost(literal: Literal, bound: Names, table: ModeTable) -> tuple[int, bool]:
    """Tests first, then what brings points in, then lookups; cross products last.

    Ties keep the order written.
    """
    mine = names(literal.term)
    connected = bool(mine & bound) or not mine
    return (_rank(literal, bound, connected, table), not connected)


def _rank(literal: Literal, bound: Names, connected: bool, table: ModeTable) -> int:
    match literal:
        case Truth() | Compare():
            return 0
        case Is():
            return 1
        case Call() if names(*literal.args) <= bound or frozenset() not in table.of(literal):
            return 2
        case Happens() | Edge() | InitiatedAt() | TerminatedAt():
            # Points that share nothing with what is known would meet in every pair.
            return 3 if connected or not bound else 10
        case HoldsAt(time=time) if names(time) <= bound:
            return 4
        case Call() if connected:
            return 5
        case HoldsFor(fvp=fvp) if names(fvp.term) <= bound:
            return 6
        case IntervalOp() | Duration() | Allen():
            return 7
        case Not():
            return 8
        case And() | Or() | IfThenElse():
            return 9
        case FindAll() | Aggregate():
            return 11
        case Call():
            return 12
        case HoldsFor():
            return 13  # it cannot fail, so it chooses no values where another condition can
        case _:
            return 14
