"""The program of a component: its code, and what each rule and delayed effect has of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.plan.machine_code import Coder
from horai.plan.machine_words import Column, Index, Node, Table
from horai.plan.program import DelayPlan, Key, PointPlan


@dataclass(frozen=True, slots=True)
class MachineRule:
    """A rule of the component.

    `columns` are what each candidate brings along. Without `timed` the rule is asked at moments at
    which one of the lists `sources` has something in it.
    """

    plan: PointPlan
    entry: int
    layer: int
    columns: tuple[Column, ...]
    timed: bool
    sources: frozenset[int]


@dataclass(frozen=True, slots=True)
class MachineDelay:
    """A delayed effect: code for the attempt and for the deadline, what is kept in between."""

    plan: DelayPlan
    early: int
    late: int
    layer: int
    saved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postponed:
    """`p(F=V)`: a register for every argument and the value, or -1 for any."""

    node: int
    registers: tuple[int, ...]


@dataclass(slots=True)
class Machine:
    """The program of a component."""

    nodes: tuple[Node, ...]
    layers: int
    coder: Coder
    rules: list[MachineRule] = field(default_factory=list)
    delays: list[MachineDelay] = field(default_factory=list)
    postponed: list[Postponed] = field(default_factory=list)
    # By event: its layer, and code for those that are known already.
    heard: dict[Key, tuple[int, int]] = field(default_factory=dict)

    @property
    def tables(self) -> list[Table]:
        """What its rules look up."""
        return self.coder.tables

    @property
    def indexes(self) -> list[Index]:
        """How its rules look for instances."""
        return self.coder.indexes
