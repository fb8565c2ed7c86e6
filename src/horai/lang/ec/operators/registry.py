"""The operators on interval lists by name."""

from __future__ import annotations

from horai.lang.ec.operators import (
    complement_all,
    intersect_all,
    relative_complement_all,
    union_all,
    xor_all,
)
from horai.lang.ec.operators.protocol import IntervalOperator

OPERATORS: dict[str, IntervalOperator] = {
    module.OPERATOR.name: module.OPERATOR
    for module in (union_all, intersect_all, complement_all, relative_complement_all, xor_all)
}


def operator_of(name: str) -> IntervalOperator:
    """The operator of a name."""
    if name not in OPERATORS:
        raise ValueError(f"{name} is no operator on interval lists")
    return OPERATORS[name]
