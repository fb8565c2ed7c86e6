"""The plan of a program as plain data: what `horai plan` shows.

Operators have the path by which estimates and profiles know them; rules and components have the
`id` of what they were made from.
"""

from __future__ import annotations

from dataclasses import dataclass

from horai.plan.finality import Looks
from horai.plan.settling import Settling

Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OperatorOutline:
    """One operator: what it does, the variables it binds, the rows it gives, what is inside."""

    operator: str
    text: str
    binds: tuple[str, ...]
    estimate: float
    path: Path
    inside: tuple[PartOutline, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PartOutline:
    """A chain of operators; `label` says what it is for, where there are several."""

    label: str
    operators: tuple[OperatorOutline, ...]


@dataclass(frozen=True, slots=True)
class RuleOutline:
    """A rule: its head, the chains of its body, what its grounding gives, how far it looks."""

    defines: str
    kind: str
    head: str
    place: str
    parts: tuple[PartOutline, ...]
    grounded: tuple[str, ...]
    looks: Looks
    estimate: float
    effect: str | None
    id: int
    roots: tuple[int, ...]  # the operators of its chains, those inside others left out


@dataclass(frozen=True, slots=True)
class ComponentOutline:
    """A component; `number` counts components in the order in which they are worked out."""

    number: int
    level: int
    names: tuple[str, ...]
    members: tuple[str, ...]
    cyclic: bool
    settling: Settling
    key: str | None
    no_key: str | None
    rules: tuple[RuleOutline, ...]
    id: int


@dataclass(frozen=True, slots=True)
class GroundingOutline:
    """A grounding and the chain that lists its instances."""

    entity: str
    place: str
    operators: tuple[OperatorOutline, ...]
    estimate: float


@dataclass(frozen=True, slots=True)
class InputOutline:
    """An input type with the number of its items; without an input, what is assumed."""

    kind: str
    name: str
    arity: int
    rows: int


@dataclass(frozen=True, slots=True)
class PlanOutline:
    """All of it. `counted` says whether sizes of inputs are those of a given input."""

    counted: bool
    inputs: tuple[InputOutline, ...]
    components: tuple[ComponentOutline, ...]
    groundings: tuple[GroundingOutline, ...]
