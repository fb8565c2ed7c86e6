"""Rules that have become a program, remembered for later sessions of the same description.

Lowering takes tens of milliseconds, and a stream on Spark makes a session for each bucket and each
of its steps. Words of a program are numbers of terms, and its instructions name relations by their
place in the machine, so a session that takes up a program begins with the same terms and gives its
machine the same relations in the same order. Nothing of it changes afterwards.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from horai.engine.core.facts import Rows
from horai.engine.core.layout import NotLowered
from horai.engine.core.program import Program
from horai.engine.core.retention import Shape
from horai.engine.symbols import Symbols
from horai.lang.ec.errors import Undefined
from horai.lang.ec.syntax import EventDescription
from horai.plan.ec.modes import PythonPredicate
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan

T = TypeVar("T")
MOST = 8  # results that are remembered of each kind


class Remembered(Generic[T]):
    """The results that were used last, by the identity of a description and what else they take.

    The description is kept along, so that no other one can have its identity.
    """

    def __init__(self) -> None:
        self._found: OrderedDict[tuple[int, Hashable], tuple[EventDescription, T]] = OrderedDict()
        self._lock = Lock()

    def get(self, description: EventDescription, given: Hashable) -> T | None:
        """What was made, if it is remembered."""
        key = (id(description), given)
        with self._lock:
            if key not in self._found:
                return None
            self._found.move_to_end(key)
            return self._found[key][1]

    def put(self, description: EventDescription, given: Hashable, made: T) -> None:
        """Remember what was made, and forget what nobody has used for the longest time."""
        key = (id(description), given)
        with self._lock:
            self._found[key] = (description, made)
            self._found.move_to_end(key)
            if len(self._found) > MOST:
                self._found.popitem(last=False)


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
    each with how many of its columns are keys. `undefined` is what had no value while facts were
    worked out.
    """

    plan: Plan
    program: Program
    shape: Shape
    symbols: Symbols
    indexes: Sequence[tuple[Rows, int]]
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
