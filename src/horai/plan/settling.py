"""How a component is settled, and why not faster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from horai.plan.guards import Tests, compiled
from horai.plan.machine import machine_of
from horai.plan.machine_program import Machine
from horai.plan.program import Program, Stratum

Way = OneOf["lists", "points", "plain", "clockwork", "machine", "cells"]
Compiled = dict[int, list[Tests]] | Machine | None  # how a compiled pass settles a component
WORDS: dict[Way, str] = {
    "lists": "interval lists",
    "points": "points in time",
    "plain": "plain inertia",
    "clockwork": "compiled clockwork",
    "machine": "compiled machine",
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
    if _is_plain(stratum):
        return Settling("plain" if stratum.fluents else "points")
    found = compiled_way(stratum, program)
    if found is None:
        return Settling("cells", str(machine_of(stratum, program)))
    return Settling("machine" if isinstance(found, Machine) else "clockwork")


def compiled_way(stratum: Stratum, program: Program) -> Compiled:
    """What a compiled pass needs to settle a component, None if it cannot."""
    if _is_plain(stratum):
        return None
    determined = frozenset(plan.key for one in program.strata for plan in one.static)
    tests = compiled(stratum, determined)
    if tests is not None:
        return tests
    machine = machine_of(stratum, program)
    return None if isinstance(machine, str) else machine


def _is_plain(stratum: Stratum) -> bool:
    return not stratum.delays and all(plan.split is None for plan in stratum.points)
