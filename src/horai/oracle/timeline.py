"""The moments at which the rules of a component can have an effect.

A rule whose time is that of a condition decided elsewhere can act only then; one whose time is
that of a condition of its own component acts only when the component does. All other rules have
to be tried at every time-point.

Time-points lie on the grid. A moment between two of them exists only where a condition of the rule
names it: an event that happens then, a deadline, a time that is computed. `holdsAt` names no
moment: it is true throughout an interval, and its time-points are those of the grid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from horai.lang.ec.syntax import (
    Aggregate,
    And,
    Call,
    Compare,
    Edge,
    FindAll,
    Happens,
    InitiatedAt,
    Is,
    Literal,
    Or,
    TerminatedAt,
    conjuncts,
)
from horai.lang.terms import Compound, Int, Term, Var
from horai.oracle.builtins import INPUTS
from horai.oracle.context import Context
from horai.oracle.python_terms import parameter_count
from horai.oracle.scopes import names
from horai.oracle.strata import PointRule
from horai.oracle.world import Key, World, key_of


@dataclass(frozen=True, slots=True)
class Members:
    """The fluents and events of the component being settled."""

    fluents: frozenset[Key]
    events: frozenset[Key]


@dataclass(frozen=True, slots=True)
class Variant:
    """A rule, or one of its alternatives, with the moments at which it can act.

    It acts at no others than `only`, if that is known. Off the grid it acts where something
    happens if it is `named`, and at any moment if its time is `computed`.
    """

    rule: PointRule
    body: Literal
    visits: frozenset[int]
    only: frozenset[int] | None
    named: bool
    computed: bool

    def moments(self, cell: int, world: World) -> Iterator[int]:
        """The moments of a cell at which the rule is to be tried."""
        if self.computed:
            moments = [t for t in range(cell, world.grid.next(cell)) if world.in_run(t)]
        elif self.named:
            moments = world.moments(cell)
        else:
            moments = [cell] if world.in_run(cell) else []
        return (t for t in moments if self.only is None or t in self.only)


def variants(rule: PointRule, members: Members, context: Context) -> Iterator[Variant]:
    """The alternatives of a rule; on a grid of 1 the rule itself is enough."""
    world = context.world
    bodies: list[Literal] = [rule.body] if world.grid.tick == 1 else list(disjuncts(rule.body))
    for body in bodies:
        if isinstance(rule.time, Int):
            known: Known | None = (frozenset({rule.time.value}), True)
            how = {"computed"}
        else:
            known = _times(body, rule.time, members, world)
            how = {found for part in conjuncts(body) for found in _names(part, rule.time, context)}
        visits, only = _every_point(world), None
        if known is not None:
            visits, only = known[0], known[0] if known[1] else None
        visits = frozenset(t for t in visits if world.in_run(t))
        off_grid = world.grid.tick > 1
        yield Variant(
            rule, body, visits, only, off_grid and "named" in how, off_grid and "computed" in how
        )


def disjuncts(literal: Literal) -> Iterator[Literal]:
    """The alternatives of a condition, disjunctions written out."""
    match literal:
        case And(items=items, term=term):
            for choice in product(*(list(disjuncts(item)) for item in items)):
                yield And(tuple(part for item in choice for part in conjuncts(item)), term)
        case Or(items=items):
            for item in items:
                yield from disjuncts(item)
        case _:
            yield literal


def _every_point(world: World) -> frozenset[int]:
    first = world.grid.next(world.start)
    return frozenset({world.start + 1, *range(first, world.query + 1, world.grid.tick)})


# The only times at which a condition can hold, apart from moments at which the component itself
# acts; and whether there are no such others.
Known = tuple[frozenset[int], bool]


def _times(literal: Literal, time: Term, members: Members, world: World) -> Known | None:
    match literal:
        case And(items=items):
            known = [k for item in items if (k := _times(item, time, members, world)) is not None]
            return min(known, key=lambda k: (not k[1], len(k[0])), default=None)
        case Or(items=items):
            branches = [_times(item, time, members, world) for item in items]
            all_known = [branch for branch in branches if branch is not None]
            if len(all_known) < len(branches):
                return None
            union = frozenset(t for times, _ in all_known for t in times)
            return union, all(complete for _, complete in all_known)
        case Happens(event=event, time=at) if at == time:
            key = key_of(event)
            return frozenset(world.events.get(key, ())), key not in members.events
        case Edge(fvp=fvp, time=at, kind=kind) if at == time:
            key = key_of(fvp.fluent)
            if kind in ("startI", "endI") and key in members.fluents:
                return None  # seen one time-point after the component acts
            times = frozenset(t for _, _, t in world.edges(key, kind))
            return times, key not in members.fluents
        case InitiatedAt(fvp=fvp, time=at) if at == time:
            key = key_of(fvp.fluent)
            return frozenset(world.initiations.get(key, ())), key not in members.fluents
        case TerminatedAt(fvp=fvp, time=at) if at == time:
            key = key_of(fvp.fluent)
            return frozenset(world.terminations.get(key, ())), key not in members.fluents
        case _:
            return None


def _names(
    literal: Literal, time: Term, context: Context, seen: frozenset[Key] = frozenset()
) -> Iterator[str]:
    """How a condition names its time: `named` where something happens, `computed`, or not."""
    match literal:
        case Happens(time=at) | Edge(time=at) | InitiatedAt(time=at) | TerminatedAt(time=at):
            if at == time:
                yield "named"
        case Is(target=target) if target == time:
            yield "computed"
        case Compare(op="=", left=left, right=right) if time in (left, right):
            yield "computed"
        case FindAll(result=result) | Aggregate(result=result) if names(time) & names(result):
            yield "computed"
        case Call(args=args) if names(time) & names(*args):
            yield from _call_names(literal, time, context, seen)
        case _:
            pass


def _call_names(call: Call, time: Term, context: Context, seen: frozenset[Key]) -> Iterator[str]:
    background = context.background
    if call.key in INPUTS or call.name in context.python:
        inputs = INPUTS.get(call.key)
        if inputs is None:
            inputs = tuple(range(parameter_count(context.python[call.name])))
        if not names(time) <= names(*(call.args[position] for position in inputs)):
            yield "computed"
        return
    if call.key in background.listable or call.key not in background.rules:
        yield "computed"  # a row of a table says it
        return
    if call.key in seen:
        return
    for rule in background.rules[call.key]:
        head = rule.head.args if isinstance(rule.head, Compound) else ()
        for argument, parameter in zip(call.args, head, strict=True):
            if argument != time:
                continue
            if not isinstance(parameter, Var):
                yield "computed"
                continue
            for part in conjuncts(rule.body):
                yield from _names(part, parameter, context, seen | {call.key})
