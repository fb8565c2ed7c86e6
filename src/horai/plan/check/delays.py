"""Checks of delayed effects: `fi`, `ft` and `p` that do nothing, or mean nothing.

Lengths of delays that come from the background are looked up there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.core.diagnostics import Diagnostic, diagnostic
from horai.lang.core.printer import show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Int, Span, Term, Var, make, variables
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, finding, listed, place_of, quoted
from horai.plan.ec.delays import Effect, beaten_by, initiation_times, known_already
from horai.plan.ec.entities import Sort
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import names
from horai.plan.ec.unify import canonical, may_match


def _effects(context: CheckContext) -> list[Effect]:
    rules = context.description.rules
    return [rule for rule in rules if isinstance(rule, ec.FutureInitiation | ec.FutureTermination)]


def late_effects(context: CheckContext) -> Iterator[Diagnostic]:
    """H410: another effect of the same pair always comes first."""
    effects = _effects(context)
    initiations = [e for e in effects if isinstance(e, ec.FutureInitiation)]
    terminations = [e for e in effects if isinstance(e, ec.FutureTermination)]
    for effect in effects:
        sooner = beaten_by(effect, initiations, terminations)
        if sooner is not None:
            message = (
                f"this never acts: {quoted(effect.origin.term)} always ends after "
                f"{show(sooner.delay)}, before the delay of {show(effect.delay)} is over"
            )
            hint = "only the shortest delay can act: remove one of the two"
            note = f"the shorter delay: {place_of(sooner.clause, home=effect.clause.source)}"
            yield finding("H410", message, effect.clause, effect.clause.head, hint, note)


def cancelling_effects(context: CheckContext) -> Iterator[Diagnostic]:
    """H415: two values initiated at the same deadline."""
    first: dict[object, ec.FutureInitiation] = {}
    for effect in _effects(context):
        if not isinstance(effect, ec.FutureInitiation) or effect.body.items:
            continue
        if not isinstance(effect.delay, Int) or effect.origin.fluent != effect.target.fluent:
            continue
        key = (canonical(effect.origin.term), effect.delay)
        other = first.setdefault(key, effect)
        if other.target.value != effect.target.value:
            message = (
                f"{quoted(effect.target.term)} and {quoted(other.target.term)} are initiated at "
                "the same deadline and cancel each other"
            )
            note = f"the other: {place_of(other.clause, home=effect.clause.source)}"
            hint = "give them different delays"
            yield finding("H415", message, effect.clause, effect.clause.head, hint, note)


def effects_of_nothing(context: CheckContext) -> Iterator[Diagnostic]:
    """H411: the pair that should set the delay going is never initiated."""
    for effect in _effects(context):
        fluent = context.entities.fluent(effect.origin.fluent)
        if fluent is not None and Sort.SIMPLE in fluent.sorts_of(effect.origin.value):
            continue
        message = f"no rule initiates {quoted(effect.origin.term)}, so this never acts"
        hint = "correct the value, or write the rule that initiates it"
        yield finding("H411", message, effect.clause, effect.origin.term, hint)


def effects_on_itself(context: CheckContext) -> Iterator[Diagnostic]:
    """H412: an fi from a pair to the same pair."""
    for effect in _effects(context):
        if isinstance(effect, ec.FutureInitiation) and effect.origin == effect.target:
            message = f"{quoted(effect.target.term)} follows itself, which changes nothing"
            hint = "name the value that comes after it"
            yield finding("H412", message, effect.clause, effect.target.term, hint)


def nothing_to_postpone(context: CheckContext) -> Iterator[Diagnostic]:
    """H413: p of a pair without a delayed effect."""
    origins = [effect.origin.term for effect in _effects(context)]
    for rule in context.description.of(ec.Postponable):
        if not any(may_match(origin, rule.fvp.term) for origin in origins):
            known = listed(sorted({f"`{show(origin)}`" for origin in origins}))
            message = f"{quoted(rule.fvp.term)} has no fi or ft to postpone"
            hint = f"delayed effects exist for {known}" if known else None
            yield finding("H413", message, rule.clause, rule.fvp.term, hint)


def several_times(context: CheckContext) -> Iterator[Diagnostic]:
    """H414: more than one time variable without a value."""
    for effect in _effects(context):
        times = initiation_times(effect, context.graph.helpers)
        if len(times) > 1:
            message = (
                f"which of {listed((f'`{t}`' for t in times), 'or')} is the time of initiation?"
            )
            hint = "use one time variable and compute the others, as in `T2 is T + R`"
            yield finding("H414", message, effect.clause, effect.clause.head, hint)


def lengths_known_too_late(context: CheckContext) -> Iterator[Diagnostic]:
    """H417: a delay that no condition gives when the pair is initiated."""
    usable = {id(order.rule) for order in context.orders if order.ok and not order.unbound}
    for effect in _effects(context):
        times = initiation_times(effect, context.graph.helpers)
        if id(effect) not in usable or len(times) > 1 or not isinstance(effect.delay, Var):
            continue
        time = times[0] if times else None
        now = known_already(effect, time, context.table, context.graph.helpers)
        known = ec.Conjunction(now, effect.body.term)
        given = names(effect.origin.term) | frozenset(times)
        if effect.delay.name not in order_body(known, given, context.table).bound:
            message = f"the delay `{effect.delay.name}` is not known at the time of initiation"
            hint = "let a condition that looks at no later time give it a value"
            yield finding("H417", message, effect.clause, effect.delay, hint)


Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Given:
    """A value of a delay, with the fact or head that gives it."""

    value: Term
    text: Term
    source: SourceText
    span: Span


def lengths_that_are_none(context: CheckContext) -> Iterator[Diagnostic]:
    """H416: a delay that background knowledge gives is no whole number above zero."""
    seen: set[tuple[str, Span]] = set()
    for rule in _effects(context):
        wrong = [given for given in _lengths(context, rule) if not _is_length(given.value)]
        if wrong and (wrong[0].source.name, wrong[0].span) not in seen:
            seen.add((wrong[0].source.name, wrong[0].span))
            yield _finding(rule.clause, wrong)


def _finding(clause: ec.Clause, wrong: list[_Given]) -> Diagnostic:
    first, more = wrong[0], len(wrong) - 1
    message = f"`{show(first.value)}` in `{show(first.text)}` is no delay"
    note = f"it is the delay of {place_of(clause, home=first.source)}, which does nothing then"
    note += f"; the same goes for {more} more" if more else ""
    hint = "a delay is a whole number above zero"
    return diagnostic("H416", message, first.source, first.span, hint, note)


def _is_length(value: Term) -> bool:
    return isinstance(value, Int) and value.value > 0


def _lengths(
    context: CheckContext, rule: ec.FutureInitiation | ec.FutureTermination
) -> list[_Given]:
    delay = rule.delay
    if not isinstance(delay, Var) or delay.name in variables(rule.origin.term):
        return []
    return list(_values(context, rule.body, delay.name, frozenset()))


def _values(
    context: CheckContext, body: ec.Literal, name: str, through: frozenset[tuple[Key, int]]
) -> Iterator[_Given]:
    """The values that calls can give a variable, unless other conditions choose among them."""
    if any(
        isinstance(part, ec.Compare | ec.Is) and name in variables(part.term)
        for part in ec.walk(body)
    ):
        return
    for call in _calls(body):
        for place, arg in enumerate(call.args):
            if isinstance(arg, Var) and arg.name == name and (call.key, place) not in through:
                yield from _of_predicate(context, call, place, through | {(call.key, place)})


def _of_predicate(
    context: CheckContext, call: ec.Call, place: int, through: frozenset[tuple[Key, int]]
) -> Iterator[_Given]:
    facts = context.description.facts.get(call.key)
    if facts is not None:
        for row, (source, start) in zip(facts.rows, facts.places, strict=True):
            if not _is_length(row[place]) and _fits(row, call):
                yield _Given(
                    row[place], make(call.name, *row), source, (start, start + len(call.name))
                )
    for rule in context.graph.helpers.rules.get(call.key, ()):
        head = rule.head
        if not isinstance(head, Compound) or not may_match(head, call.term):
            continue
        value = head.args[place]
        if isinstance(value, Var):
            yield from _values(context, rule.body, value.name, through)
        else:
            yield _Given(value, head, rule.clause.source, head.span or rule.clause.span)


def _fits(row: tuple[Term, ...], call: ec.Call) -> bool:
    return all(may_match(value, arg) for value, arg in zip(row, call.args, strict=True))


def _calls(literal: ec.Literal) -> Iterator[ec.Call]:
    """The calls that give values: those inside negations and aggregates do not."""
    if isinstance(literal, ec.Call):
        yield literal
    elif not isinstance(literal, ec.Negation | ec.Aggregate):
        for part in ec.parts(literal):
            yield from _calls(part)
