"""Rules that have become a program, remembered for later sessions of the same description.

Lowering takes tens of milliseconds, and a stream on Spark makes a session for each bucket and each
of its steps. Words of a program are numbers of terms, and its instructions name relations by their
place in the machine, so a session that takes up a program begins with the same terms and gives its
machine the same relations in the same order. Nothing of it changes afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from horai.engine.core.background import Rows
from horai.engine.core.layout import NotLowered, Relation
from horai.engine.core.program import Program
from horai.engine.core.retention import Shape
from horai.engine.remembered import Remembered
from horai.engine.symbols import Symbols
from horai.lang.ec.errors import Undefined
from horai.lang.ec.syntax import EventDescription
from horai.plan.ec.modes import PythonPredicate
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan

Initial = Mapping[tuple[Relation, tuple[int, ...]], int]


class Wanted(NamedTuple):
    """What a program depends on besides a description."""

    python: tuple[PythonPredicate, ...]
    start: int
    tick: int
    allen_memory: int | None


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program, and what a session needs that takes it up.

    `symbols` are the terms that lowering met, `indexes` the relations that it gave the machine,
    each with how many of its columns are keys. `initial` is what holds from the start on, and
    `undefined` what had no value while facts were worked out.
    """

    plan: Plan
    program: Program
    shape: Shape
    symbols: Symbols
    indexes: Sequence[tuple[Rows, int]]
    initial: Initial
    undefined: Undefined


class Predicates(dict[str, Callable[..., object]]):
    """Python predicates by name. What one has answered may be other for the next session."""

    was_asked = False

    def __getitem__(self, name: str) -> Callable[..., object]:
        self.was_asked = True
        return super().__getitem__(name)


_plans: Remembered[Plan] = Remembered()
_programs: Remembered[Lowered | NotLowered] = Remembered()


def planned(description: EventDescription, python: tuple[PythonPredicate, ...]) -> Plan:
    """The plan of a description."""
    found = _plans.get(description, python)
    if found is None:
        found = compile_program(description, python)
        _plans.put(description, python, found)
    return found


def lowered_before(description: EventDescription, wanted: Wanted) -> Lowered | None:
    """The program of a description if it is remembered. Raises `NotLowered` if there is none."""
    found = _programs.get(description, wanted)
    if isinstance(found, NotLowered):
        raise NotLowered(found.reason, found.clause)
    return found


def remember(description: EventDescription, wanted: Wanted, made: Lowered | NotLowered) -> None:
    """Let later sessions take up a program, or hear why there is none."""
    _programs.put(description, wanted, made)
