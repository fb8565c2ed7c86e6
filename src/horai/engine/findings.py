"""What one component says at a query time."""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.engine.clockstate import ClockState
from horai.engine.relations import Relation
from horai.engine.world import Fluent, Terminations

Key = tuple[str, int]


@dataclass(slots=True)
class Findings:
    """What a component said after its cut; fluents include what no domain allows."""

    fluents: dict[Key, Fluent] = field(default_factory=dict)
    points: dict[tuple[str, Key], Relation] = field(default_factory=dict)
    terminations: dict[Key, list[Terminations]] = field(default_factory=dict)
    rows: dict[int, Relation] = field(default_factory=dict)
    owners: dict[Key, Relation] = field(default_factory=dict)
    operands: dict[int, dict[int, tuple[Fluent, Relation]]] = field(default_factory=dict)
    simple: set[Key] = field(default_factory=set)
    clock: ClockState | None = None
