"""Past temporal logic straight from its definition, on a path of finitely many points."""

from __future__ import annotations

from collections.abc import Mapping, Set

from horai.lang.translate.ltl import (
    Historically,
    Iff,
    LtlAnd,
    LtlFormula,
    LtlImplies,
    LtlNot,
    LtlOr,
    LtlTruth,
    Once,
    Previous,
    Proposition,
    Since,
)

Path = Mapping[int, Set[str]]


def holds(formula: LtlFormula, path: Path, time: int) -> bool:
    """Does a formula hold at a point of a path that begins at 0?"""
    match formula:
        case Proposition(name=name):
            return name in path.get(time, set())
        case LtlTruth(value=value):
            return value
        case LtlNot(formula=inner):
            return not holds(inner, path, time)
        case LtlAnd(left=left, right=right):
            return holds(left, path, time) and holds(right, path, time)
        case LtlOr(left=left, right=right):
            return holds(left, path, time) or holds(right, path, time)
        case LtlImplies(left=left, right=right):
            return not holds(left, path, time) or holds(right, path, time)
        case Iff(left=left, right=right):
            return holds(left, path, time) == holds(right, path, time)
        case Previous(formula=inner):
            return time > 0 and holds(inner, path, time - 1)
        case Once(formula=inner, least=least, most=most):
            return any(holds(inner, path, then) for then in _back(time, least, most))
        case Historically(formula=inner, least=least, most=most):
            return all(holds(inner, path, then) for then in _back(time, least, most))
        case Since(left=left, right=right, least=least, most=most):
            return any(
                holds(right, path, then)
                and all(holds(left, path, after) for after in range(then + 1, time + 1))
                for then in _back(time, least, most)
            )
    raise AssertionError(formula)


def _back(time: int, least: int, most: int | None) -> range:
    return range(0 if most is None else max(0, time - most), time - least + 1)
