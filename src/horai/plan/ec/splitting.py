"""Rules that read their own component: what is known before, and what must wait.

The first part of such a body gives *candidates*: bindings and, mostly, the time at which the rule
could fire. The rest looks at what the component itself has settled, so it is asked in time order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from horai.lang.core.terms import Constant, Term, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.dependencies import DependencyGraph, Vertex
from horai.plan.ec.entities import Kind
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, literal_fvp, names, visible
from horai.plan.ec.lowering import Lowering
from horai.plan.ec.modes import ModeTable

PointRule = ec.Initiation | ec.Termination | ec.EventRule
AnyPointRule = TypeVar("AnyPointRule", bound=PointRule | ec.Initially)


@dataclass(frozen=True, slots=True)
class Split:
    """A body in two parts.

    `timed` says that the candidates know the time at which they can fire. If not, `waits` says
    whether the rule can fire only when something of its component happens; else every time-point
    counts. `rest` is the second part as written, for those who can test it without joins.
    """

    candidates: op.Chain
    remainder: op.Chain
    rest: tuple[ec.Literal, ...]
    timed: bool
    waits: bool


class ComponentMembers:
    """Tells whether a condition reads a component."""

    def __init__(self, vertices: frozenset[Vertex], graph: DependencyGraph) -> None:
        self.vertices = vertices
        self.helpers = graph.helpers

    def reads(self, literal: ec.Literal) -> bool:
        """Does the condition, or one inside it, read the component?"""
        return any(self._reads(part, frozenset()) for part in ec.walk(literal))

    def _reads(self, literal: ec.Literal, seen: frozenset[op.Key]) -> bool:
        match literal:
            case ec.Happens(event=event):
                return self._has(Kind.EVENT, event)
            case ec.Call(key=key) if key in self.helpers.temporal and key not in seen:
                return any(
                    self._reads(part, seen | {key})
                    for rule in self.helpers.rules[key]
                    for part in ec.walk(rule.body)
                )
        fvp = literal_fvp(literal)
        return fvp is not None and self._has(Kind.FLUENT, fvp.fluent, fvp.value)

    def _has(self, kind: Kind, entity: Term, value: Term | None = None) -> bool:
        key = key_of(entity)
        return any(
            v.kind is kind and (v.name, v.arity) == key and v.meets(entity, value)
            for v in self.vertices
        )


def split_body(
    body: ec.Conjunction,
    time: Term,
    given: Names,
    needed: Names,
    vertices: frozenset[Vertex],
    graph: DependencyGraph,
    lowering: Lowering,
) -> Split | None:
    """The two parts of a body, None if it does not read the component."""
    members = ComponentMembers(vertices, graph)
    literals = list(ec.conjuncts(body))
    inside = [literal for literal in literals if members.reads(literal)]
    if not inside:
        return None
    outside = [literal for literal in literals if not any(literal is one for one in inside)]
    table = lowering.table
    head = needed | given
    while True:
        # A condition may use a variable of the second part: it has to wait with it.
        first = order_body(ec.Conjunction(tuple(outside), body.term), given, table, head)
        late = _late(outside, inside, first.bound, head) or [s.literal for s in first.stuck]
        if not late and any(_happens_then(literal, time, members) for literal in inside):
            late = _walked(outside, time, given, table, head)
        if not late:
            break
        waiting = [one for one in outside if _among(one, late)]
        inside += waiting
        outside = [one for one in outside if not _among(one, waiting)]
    timed = names(time) <= first.bound
    known = first.bound | names(time)
    second = order_body(ec.Conjunction(tuple(inside), body.term), known, table, head)
    wanted = needed | names(*(literal.term for literal in inside))
    return Split(
        lowering.chain(first.body, given, wanted),
        lowering.chain(second.body, known, needed),
        tuple(inside),
        timed,
        any(_happens_then(literal, time, members) for literal in inside),
    )


def alternatives(rule: AnyPointRule, asked: Names) -> list[AnyPointRule]:
    """Rules, one for each branch of the first alternative that speaks of some variables."""
    literals = tuple(ec.conjuncts(rule.body))
    for place, literal in enumerate(literals):
        branches = _branches(literal) if names(literal.term) & asked else ()
        if branches:
            before, after = literals[:place], literals[place + 1 :]
            return [
                replace(
                    rule,
                    body=ec.Conjunction((*before, *ec.conjuncts(item), *after), rule.body.term),
                )
                for item in branches
            ]
    return []


def _branches(literal: ec.Literal) -> tuple[ec.Literal, ...]:
    match literal:
        case ec.Disjunction(items=items):
            return items
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise, term=term):
            otherwise = ec.Conjunction((ec.Negation(condition, condition.term), otherwise), term)
            return ec.Conjunction((condition, then), term), otherwise
        case _:
            return ()


def _late(
    outside: list[ec.Literal], inside: list[ec.Literal], bound: Names, head: Names
) -> list[ec.Literal]:
    """Conditions that share a variable which only the second part binds.

    Not every branch of an alternative gives it a value, so what a branch says of it would be lost.
    """
    shared = frozenset(name for one in inside for name in visible(one))
    return [
        literal
        for literal in outside
        if isinstance(
            literal,
            ec.Negation
            | ec.FindAll
            | ec.AggregateAll
            | ec.IfThenElse
            | ec.Compare
            | ec.Disjunction,
        )
        and (names(literal.term) & (shared | head)) - bound
    ]


def _walked(
    outside: list[ec.Literal], time: Term, given: Names, table: ModeTable, head: Names
) -> list[ec.Literal]:
    """Values at a time that only the second part names: nobody needs all time-points they have."""
    asked = [one for one in outside if isinstance(one, ec.HoldsAt) and one.time == time]
    others = tuple(one for one in outside if not any(one is holds for holds in asked))
    truth = Constant("true")
    bound = (
        order_body(ec.Conjunction(others, truth), given, table, head).bound
        if asked
        else names(time)
    )
    return [] if names(time) <= bound else list(asked)


def _among(literal: ec.Literal, late: list[ec.Literal]) -> bool:
    return any(literal is one or any(part is one for part in ec.walk(literal)) for one in late)


def _happens_then(literal: ec.Literal, time: Term, members: ComponentMembers) -> bool:
    """Is the condition true only at moments at which the component acts?"""
    match literal:
        case ec.Happens(time=at) | ec.InitiatedAt(time=at) | ec.TerminatedAt(time=at):
            return at == time and members.reads(literal)
        case ec.Edge(kind="start" | "end", time=at):
            return at == time and members.reads(literal)
        case ec.Disjunction(items=items):
            return all(
                any(_happens_then(part, time, members) for part in ec.conjuncts(item))
                for item in items
            )
        case _:
            return False
