"""Engines for LARS programs by name.

An engine makes sessions; a session answers at growing query times. Which engines can run a program
depends on its fragment: one that cannot refuses it with `UsageError` when a session is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from horai.engines import SPARK
from horai.errors import UsageError
from horai.lang.diagnostics import did_you_mean
from horai.lang.lars.syntax import Atom, Program
from horai.lars_signals import Signal
from horai.lars_wanted import Wanted
from horai.parameters import text

Changes = tuple[int, Sequence[Signal], Sequence[Signal]]
"""A query time, what came and what was taken back since the one before."""
Model = frozenset[Atom]
"""The derived atoms that hold at the query time in one answer stream."""


ONE = Wanted()


class LarsSession(Protocol):
    """A run in progress."""

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time, given what came and what was taken back since the last one.

        Those that are wanted, and none if there is no answer stream. Query times never fall.
        """


class AllAtOnce(Protocol):
    """A run that can work out many query times together."""

    def advance_all(self, changes: Iterable[Changes], queries: range) -> Iterable[list[Model]]:
        """The models at each query time, given what changed between them."""


class LarsEngine(Protocol):
    """Makes sessions. Windows of the program are measured in time points.

    `before` is the answer that the first one should change the least, if that is wanted.
    """

    def __call__(
        self, program: Program, *, start: int, wanted: Wanted = ONE, before: Model | None = None
    ) -> LarsSession: ...


AUTO, PLAN, TMS = "auto", "plan", "tms"
"""`auto` leaves the choice to us."""

LARS_ENGINES = {
    PLAN: "horai.lars_plan.Session",
    "asp": "horai.lars_asp.Session",
    TMS: "horai.lars_tms.Session",
    "reference": "horai.lars_reference.Session",
}
"""The engines there are, by where they are found: only the one that runs is loaded.

The first that runs a program is the best one for it; the last one runs them all.
"""


def lars_engine(name: str) -> LarsEngine:
    """The engine of a name; `auto` takes the best one that runs a program.

    >>> lars_engine("refrence")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: there is no engine 'refrence' for LARS programs
      hint: did you mean reference?
    """
    names = [AUTO, *LARS_ENGINES, SPARK]
    listed = f"the engines are: {', '.join(names)}"
    wanted = text(name, "engine", listed)
    if wanted == AUTO:
        return _best
    if wanted == SPARK:
        hint = "use run or spark of the program"
        raise UsageError("Spark runs over whole streams only", hint)
    if wanted not in LARS_ENGINES:
        near = did_you_mean(wanted, names)
        hint = f"did you mean {near}?" if near else listed
        raise UsageError(f"there is no engine {name!r} for LARS programs", hint)
    module, _, attribute = LARS_ENGINES[wanted].rpartition(".")
    return cast(LarsEngine, getattr(import_module(module), attribute))


def _best(
    program: Program, *, start: int, wanted: Wanted = ONE, before: Model | None = None
) -> LarsSession:
    name = chosen(program, start, wanted, together=False).name
    return lars_engine(name)(program, start=start, wanted=wanted, before=before)


class Chosen(NamedTuple):
    """The engine that is the best one for a program, and why it is not one before it."""

    name: str
    reasons: list[str]

    def __str__(self) -> str:
        return "; ".join([self.name, *self.reasons])


MOST_INSTANCES = 500_000
"""Programs that may have more ground rules are not kept from tick to tick rule by rule."""


def chosen(
    program: Program, start: int = 0, wanted: Wanted = ONE, *, together: bool = True
) -> Chosen:
    """The first engine of the list that runs a program; the last one runs them all.

    All query times of a stream `together` are the best case of the plan. Where it is asked for them
    one by one and would work out each anew, and the program is not too large, `tms` goes on from
    the one before in a small part of the time.
    """
    *others, last = LARS_ENGINES
    reasons: list[str] = []
    for name in others:
        try:
            found = lars_engine(name)(program, start=start, wanted=wanted)
        except UsageError as refused:
            reasons.append(refused.problem)
            continue
        if name == PLAN and not (together or getattr(found, "works_by_change", True)):
            return _stepwise(program, start, wanted)
        return Chosen(name, reasons)
    return Chosen(last, reasons)


def _stepwise(program: Program, start: int, wanted: Wanted) -> Chosen:
    """The engine for a program of which the plan would work out each query time anew."""
    why = "asked for one query time after the other, the engine plan would work out each anew"
    try:
        found = lars_engine(TMS)(program, start=start, wanted=wanted)
    except UsageError as refused:
        return Chosen(PLAN, [refused.problem])
    size = getattr(found, "size", 0)
    if size > MOST_INSTANCES:
        return Chosen(
            PLAN, [f"{size:,} ground rules, which there may be, are too many for the engine tms"]
        )
    return Chosen(TMS, [f"{why}; beside what signals bring, {size:,} ground rules at most"])
