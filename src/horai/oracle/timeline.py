"""The time-points at which the rules of a component can have an effect.

A rule whose time is that of a condition decided elsewhere can act only then; one whose time is
that of a condition of its own component acts only when the component does. All other rules have
to be tried at every time-point.
"""

from __future__ import annotations

from horai.lang.ec.syntax import And, Edge, Happens, InitiatedAt, Literal, Or, TerminatedAt
from horai.lang.terms import Int, Term
from horai.oracle.strata import PointRule
from horai.oracle.world import Key, World, key_of


def times_of_rule(rule: PointRule, members: frozenset[Key], world: World) -> set[int]:
    """When a rule can act, apart from moments at which its own component acts."""
    if isinstance(rule.time, Int):
        times: set[int] | None = {rule.time.value}
    else:
        times = _times(rule.body, rule.time, members, world)
    if times is None:
        times = every_point(world)
    return {t for t in times if world.in_run(t)}


def every_point(world: World) -> set[int]:
    """All time-points of the run, and the moments of items between them."""
    points = set(range(world.grid.next(world.start), world.query + 1, world.grid.tick))
    for by_time in world.events.values():
        points |= set(by_time)
    return points


def _times(literal: Literal, time: Term, members: frozenset[Key], world: World) -> set[int] | None:
    """The only times at which a condition can hold, None if it does not say."""
    match literal:
        case And(items=items):
            known = [_times(item, time, members, world) for item in items]
            return min((t for t in known if t is not None), key=len, default=None)
        case Or(items=items):
            union: set[int] = set()
            for branch in (_times(item, time, members, world) for item in items):
                if branch is None:
                    return None
                union |= branch
            return union
        case Happens(event=event, time=at) if at == time:
            return set(world.events.get(key_of(event), ()))
        case Edge(fvp=fvp, time=at, kind=kind) if at == time:
            key = key_of(fvp.fluent)
            if kind in ("startI", "endI") and key in members:
                return None  # seen one time-point after the component acts
            return {t for _, _, t in world.edges(key, kind)}
        case InitiatedAt(fvp=fvp, time=at) if at == time:
            return set(world.initiations.get(key_of(fvp.fluent), ()))
        case TerminatedAt(fvp=fvp, time=at) if at == time:
            return set(world.terminations.get(key_of(fvp.fluent), ()))
        case _:
            return None
