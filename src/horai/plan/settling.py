"""How a component is settled, and why not faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from horai.lang.ec import syntax as ec
from horai.lang.printer import show
from horai.plan.guards import MANY, compiled, guards_of
from horai.plan.program import Key, PointPlan, Program, Stratum
from horai.plan.scopes import names

Way = OneOf["lists", "points", "plain", "clockwork", "cells"]
WORDS: dict[Way, str] = {
    "lists": "interval lists",
    "points": "points in time",
    "plain": "plain inertia",
    "clockwork": "compiled clockwork",
    "cells": "cell by cell",
}


@dataclass(frozen=True, slots=True)
class Settling:
    """The way, and the reason where it is the slow one."""

    way: Way
    reason: str | None = None


def settling(stratum: Stratum, program: Program) -> Settling:
    """The way in which an engine settles a component."""
    if not stratum.points and not stratum.initially and not stratum.delays:
        return Settling("lists")
    if not stratum.delays and all(plan.split is None for plan in stratum.points):
        return Settling("plain" if stratum.fluents else "points")
    determined = frozenset(plan.key for one in program.strata for plan in one.static)
    if compiled(stratum, determined) is not None:
        return Settling("clockwork")
    return Settling("cells", _reason(stratum, determined))


def place_of(clause: ec.Clause) -> str:
    """File and line of a clause."""
    line, _ = clause.source.position(clause.span[0])
    return f"{clause.source.name}:{line}"


def _reason(stratum: Stratum, determined: frozenset[Key]) -> str:
    """The first thing that the compiled clockwork cannot do."""
    if stratum.events:
        name, arity = stratum.events[0]
        return f"the event {name}/{arity} is part of the cycle"
    for name, arity in stratum.fluents:
        if (name, arity) in determined:
            return f"some values of {name}/{arity} are determined by interval lists"
    for plan in stratum.points:
        if guards_of(plan) is None:
            return f"{place_of(plan.clause)}: {_not_a_test(plan)}"
    for delay in stratum.delays:
        if delay.time is not None:
            return f"{place_of(delay.clause)}: what the delay does depends on when it began"
    return "its rules ask for more than the values of its own fluents"


def _not_a_test(plan: PointPlan) -> str:
    """Why a rule asks its own component for more than the value of a fluent."""
    assert plan.split is not None
    if not plan.split.timed:
        return "only the component itself says when the rule can fire"
    bound = plan.split.candidates.bound
    for literal in plan.split.rest:
        for part in ec.walk(literal):
            match part:
                case ec.HoldsAt(fvp=fvp, time=time):
                    if time != plan.time:
                        return f"`{show(part.term)}` asks about another time"
                    if names(fvp.term) - bound:
                        return f"`{show(part.term)}` leaves a variable open"
                case ec.And() | ec.Or() | ec.Not() | ec.IfThenElse() | ec.Truth():
                    pass
                case _:
                    return f"`{show(part.term)}` is more than a test of a value"
    return f"its conditions have more than {MANY} alternatives"
