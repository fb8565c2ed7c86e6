"""Everything a session knows of its rules before the first item: made once for all its runs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

from horai.engine.horizon import reaches_of, sources_of
from horai.engine.static import present_only
from horai.lang.ec.syntax import EventDescription
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.reach import ComponentReach, absence_read
from horai.plan.ec.settling import Compiled, compiled_strategy
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan

Key = tuple[str, int]
KEPT = 8  # descriptions whose plans are kept


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a description, and what follows from it.

    `absent` are fluents whose instances are never forgotten, `derived` those that rules define.
    """

    program: Plan
    reaches: list[ComponentReach]
    ways: list[Compiled]
    absent: frozenset[Key]
    derived: frozenset[Key]


# By the identity of the description, which is kept along so that no other one can have it.
_plans: OrderedDict[tuple[int, tuple[PythonPredicate, ...]], tuple[EventDescription, Prepared]] = (
    OrderedDict()
)


def prepare(description: EventDescription, python: Iterable[PythonPredicate]) -> Prepared:
    """The plan of a description; a second run of the same rules finds it made."""
    key = (id(description), tuple(python))
    if key not in _plans:
        _plans[key] = (description, _prepared(description, key[1]))
        if len(_plans) > KEPT:
            _plans.popitem(last=False)
    _plans.move_to_end(key)
    return _plans[key][1]


def _prepared(description: EventDescription, python: tuple[PythonPredicate, ...]) -> Prepared:
    program = compile_program(description, python)
    static = [plan for stratum in program.strata for plan in stratum.static]
    absent = {id(plan.clause) for plan in static if not present_only(plan)}
    present = [plan.clause for plan in static if id(plan.clause) not in absent]
    return Prepared(
        program,
        reaches_of(program),
        [compiled_strategy(stratum, program) for stratum in program.strata],
        absence_read(program, present) | program.terminations_read,
        frozenset(key for stratum in program.strata for _, key in sources_of(stratum)),
    )
