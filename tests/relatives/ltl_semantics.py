"""Past temporal logic straight from its definition, on a path of finitely many points."""

from __future__ import annotations

from collections.abc import Mapping, Set

from horai.lang.lars.syntax import Atom, Truth
from horai.lang.translate.ltl import LtlFormula, LtlOperation

Path = Mapping[int, Set[str]]


def holds(formula: LtlFormula, path: Path, time: int) -> bool:
    """Does a formula hold at a point of a path that begins at 0?"""
    match formula:
        case Atom(name=name):
            return name in path.get(time, set())
        case Truth(value=value):
            return value
        case LtlOperation("not", (inner,)):
            return not holds(inner, path, time)
        case LtlOperation("and", (left, right)):
            return holds(left, path, time) and holds(right, path, time)
        case LtlOperation("or", (left, right)):
            return holds(left, path, time) or holds(right, path, time)
        case LtlOperation("implies", (left, right)):
            return not holds(left, path, time) or holds(right, path, time)
        case LtlOperation("iff", (left, right)):
            return holds(left, path, time) == holds(right, path, time)
        case LtlOperation("previous", (inner,)):
            return time > 0 and holds(inner, path, time - 1)
        case LtlOperation("once", (inner,), least, most):
            return any(holds(inner, path, then) for then in _back(time, least, most))
        case LtlOperation("historically", (inner,), least, most):
            return all(holds(inner, path, then) for then in _back(time, least, most))
        case LtlOperation("since", (left, right), least, most):
            return any(
                holds(right, path, then)
                and all(holds(left, path, after) for after in range(then + 1, time + 1))
                for then in _back(time, least, most)
            )
    raise AssertionError(formula)


def _back(time: int, least: int, most: int | None) -> range:
    return range(0 if most is None else max(0, time - most), time - least + 1)
