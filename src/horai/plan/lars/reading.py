"""Which predicates read which, for a picture of a program."""

from __future__ import annotations

from dataclasses import dataclass

from horai.lang.lars.anyone import is_made
from horai.lang.lars.predicates import background, derived, inputs
from horai.lang.lars.syntax import Predicate, Program
from horai.plan.lars.dependencies import dependencies


@dataclass(frozen=True, slots=True)
class Readings:
    """What rules derive, and what it reads: by what is read and for what, whether under `not`."""

    derived: frozenset[Predicate]
    edges: dict[tuple[Predicate, Predicate], bool]


def readings_of(program: Program, with_inputs: bool = False) -> Readings:
    """Among what rules derive; `with_inputs` also of signals and background."""
    made = {one for one in derived(program) if not is_made(one[0])}
    outside = inputs(program) | background(program) if with_inputs else set[Predicate]()
    found = sorted(dependencies(program, made | outside), key=lambda one: one.negative)
    return Readings(frozenset(made), {(one.needs, one.head): one.negative for one in found})
