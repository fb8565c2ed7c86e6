"""The plan of a description: rules as chains of operators, component by component.

This is what an engine runs. Components come in an order in which each finds what it reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as OneOf

from horai.lang.core.terms import Term, is_ground
from horai.lang.ec import syntax as ec
from horai.lang.ec.unwrapping import Unwrapping
from horai.plan import operators as op
from horai.plan.ec.components import Component
from horai.plan.ec.dependencies import DependencyGraph
from horai.plan.ec.literals import Names, body_literals
from horai.plan.ec.lowering import Lowering
from horai.plan.ec.predicates import Predicate
from horai.plan.unfolding import callers

Key = tuple[str, int]
StaticRule = ec.HoldsForRule | ec.HoldsAtRule
DelayRule = ec.FutureInitiation | ec.FutureTermination


@dataclass(frozen=True, slots=True)
class PointPlan:
    """A rule that says when something happens, begins or ends.

    `terms` are the arguments of the head, followed by the value of a fluent. `domain` are the head
    variables that only the grounding gives a value, `given` those that have one before the chain
    runs: arguments of an instance, and a range left open; `open_value` marks a termination of every
    value, or of all values of a form.
    """

    kind: OneOf["event", "initiated", "terminated", "initially"]
    key: Key
    terms: tuple[Term, ...]
    time: Term | None
    chain: op.Chain
    domain: Names
    body: ec.Conjunction
    clause: ec.Clause
    given: Names = frozenset()
    bounds: tuple[Term, Term] | None = None
    open_value: bool = False


@dataclass(frozen=True, slots=True)
class StaticPlan:
    """A rule for the interval list of a pair."""

    key: Key
    terms: tuple[Term, ...]
    rule: StaticRule
    result: Term
    chain: op.Chain
    domain: Names
    clause: ec.Clause


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """A delayed effect. `target` is the fluent acted on, with arguments and value.

    `domain` are the variables of the target that only its grounding gives a value.
    """

    number: int
    rule: DelayRule
    origin_key: Key
    origin: tuple[Term, ...]
    target_key: Key
    target: tuple[Term, ...]
    delay: Term
    time: str | None  # the variable that stands for the time of initiation
    chain: op.Chain
    domain: Names
    clause: ec.Clause

    @property
    def initiates(self) -> bool:
        """False for `ft`, which only ends its origin."""
        return isinstance(self.rule, ec.FutureInitiation)


@dataclass(frozen=True, slots=True)
class GroundingPlan:
    """A grounding. `listing` gives its instances, `check` asks about given ones."""

    key: Key
    terms: tuple[Term, ...]
    value: Term | None
    listing: op.Chain
    check: op.Chain
    calls: tuple[ec.Call, ...]
    clause: ec.Clause


@dataclass(slots=True)
class Stratum:
    """A component with its rules; `settles_in_time` if they read what it decides itself."""

    component: Component
    settles_in_time: bool = False
    points: list[PointPlan] = field(default_factory=list)
    initially: list[PointPlan] = field(default_factory=list)
    static: list[StaticPlan] = field(default_factory=list)
    delays: list[DelayPlan] = field(default_factory=list)

    @property
    def fluents(self) -> list[Key]:
        """The simple fluents it settles."""
        found = [plan.key for plan in (*self.points, *self.initially) if plan.kind != "event"]
        found += [delay.target_key for delay in self.delays]
        return list(dict.fromkeys(found))

    @property
    def events(self) -> list[Key]:
        """The output events it settles."""
        return list(dict.fromkeys(p.key for p in self.points if p.kind == "event"))


@dataclass
class Plan:
    """Everything an engine needs to know of a description."""

    unwrapping: Unwrapping
    description: ec.EventDescription
    predicates: dict[Key, Predicate]
    lowering: Lowering
    graph: DependencyGraph
    strata: list[Stratum]
    groundings: dict[Key, list[GroundingPlan]]
    background: dict[Key, list[op.Branch]]
    postponable: list[ec.FVP]
    dynamic: frozenset[Key]

    @cached_property
    def computed(self) -> frozenset[Key]:
        """The fluents with interval lists whose values rules compute."""
        plans = [plan for stratum in self.strata for plan in stratum.static]
        return frozenset(plan.key for plan in plans if not is_ground(plan.terms[-1]))

    @cached_property
    def points_read(self) -> frozenset[Key]:
        """The fluents whose points some rule, or a delayed effect in another component, reads."""
        read = {
            literal.fvp.key
            for rule in self.description.rules
            for literal in body_literals(rule)
            if isinstance(literal, ec.InitiatedAt | ec.TerminatedAt)
        }
        for stratum in self.strata:
            read |= {delay.origin_key for delay in stratum.delays} - set(stratum.fluents)
        return frozenset(read)

    @cached_property
    def changing(self) -> frozenset[Key]:
        """The background relations and procedures that depend on members of dynamic domains."""
        return callers(self.graph.helpers.calls, set(self.dynamic))

    @property
    def procedures(self) -> op.Procedures:
        """The clauses of procedures."""
        return self.lowering.procedures
