"""Checks of delayed effects: `fi`, `ft` and `p` that do nothing, or mean nothing."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.diagnostics import Diagnostic
from horai.lang.ec.syntax import FutureInitiation, FutureTermination, Postponable
from horai.lang.printer import show
from horai.lang.terms import Int
from horai.plan.check.context import Context, finding, listed, place_of, quoted
from horai.plan.delayed import Effect, beaten_by
from horai.plan.entities import Sort
from horai.plan.readings import future_times
from horai.plan.unify import canonical, may_match


def _effects(context: Context) -> list[Effect]:
    rules = context.description.rules
    return [rule for rule in rules if isinstance(rule, FutureInitiation | FutureTermination)]


def late_effects(context: Context) -> Iterator[Diagnostic]:
    """H410: another effect of the same pair always comes first."""
    effects = _effects(context)
    initiations = [e for e in effects if isinstance(e, FutureInitiation)]
    terminations = [e for e in effects if isinstance(e, FutureTermination)]
    for effect in effects:
        sooner = beaten_by(effect, initiations, terminations)
        if sooner is not None:
            yield finding(
                "H410",
                f"this never acts: {quoted(effect.origin.term)} always ends after "
                f"{show(sooner.delay)}, before the delay of {show(effect.delay)} is over",
                effect.clause,
                effect.clause.head,
                hint="only the shortest delay can act: remove one of the two",
                note=f"the shorter delay: {place_of(sooner.clause, home=effect.clause.source)}",
            )


def cancelling_effects(context: Context) -> Iterator[Diagnostic]:
    """H415: two values initiated at the same deadline."""
    first: dict[object, FutureInitiation] = {}
    for effect in _effects(context):
        if not isinstance(effect, FutureInitiation) or effect.body.items:
            continue
        if not isinstance(effect.delay, Int) or effect.origin.fluent != effect.target.fluent:
            continue
        key = (canonical(effect.origin.term), effect.delay)
        other = first.setdefault(key, effect)
        if other.target.value != effect.target.value:
            yield finding(
                "H415",
                f"{quoted(effect.target.term)} and {quoted(other.target.term)} are initiated at "
                "the same deadline and cancel each other",
                effect.clause,
                effect.clause.head,
                hint="give them different delays",
                note=f"the other: {place_of(other.clause, home=effect.clause.source)}",
            )


def effects_of_nothing(context: Context) -> Iterator[Diagnostic]:
    """H411: the pair that should set the delay going is never initiated."""
    for effect in _effects(context):
        fluent = context.entities.fluent(effect.origin.fluent)
        if fluent is not None and Sort.SIMPLE in fluent.sorts_of(effect.origin.value):
            continue
        yield finding(
            "H411",
            f"no rule initiates {quoted(effect.origin.term)}, so this never acts",
            effect.clause,
            effect.origin.term,
            hint="correct the value, or write the rule that initiates it",
        )


def effects_on_itself(context: Context) -> Iterator[Diagnostic]:
    """H412: an fi from a pair to the same pair."""
    for effect in _effects(context):
        if isinstance(effect, FutureInitiation) and effect.origin == effect.target:
            yield finding(
                "H412",
                f"{quoted(effect.target.term)} follows itself, which changes nothing",
                effect.clause,
                effect.target.term,
                hint="name the value that comes after it",
            )


def nothing_to_postpone(context: Context) -> Iterator[Diagnostic]:
    """H413: p of a pair without a delayed effect."""
    origins = [effect.origin.term for effect in _effects(context)]
    for rule in context.description.rules:
        if not isinstance(rule, Postponable):
            continue
        if not any(may_match(origin, rule.fvp.term) for origin in origins):
            known = listed(sorted({f"`{show(origin)}`" for origin in origins}))
            yield finding(
                "H413",
                f"{quoted(rule.fvp.term)} has no fi or ft to postpone",
                rule.clause,
                rule.fvp.term,
                hint=f"delayed effects exist for {known}" if known else None,
            )


def several_times(context: Context) -> Iterator[Diagnostic]:
    """H414: more than one time variable without a value."""
    for effect in _effects(context):
        times = future_times(effect.body)
        if len(times) > 1:
            yield finding(
                "H414",
                f"which of {listed((f'`{t}`' for t in times), 'or')} is the time of initiation?",
                effect.clause,
                effect.clause.head,
                hint="use one time variable and compute the others, as in `T2 is T + R`",
            )
