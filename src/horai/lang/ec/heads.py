"""Heads: from clauses to typed rules."""

from __future__ import annotations

from collections.abc import Callable

from horai.lang.ec.bodies import build_body
from horai.lang.ec.builtins import DECLARATIONS, FLUENT_HEADS
from horai.lang.ec.fvp import Shape, is_pair, read_fvp, read_time
from horai.lang.ec.syntax import (
    And,
    BackgroundRule,
    Clause,
    Declaration,
    DynamicDomain,
    EventRule,
    FutureInitiation,
    FutureTermination,
    Grounding,
    Happens,
    HoldsAtRule,
    HoldsForRule,
    Initially,
    Initiation,
    InputFluent,
    Postponable,
    Rule,
    Termination,
)
from horai.lang.terms import Atom, Compound, Int, Term, Var, functor

Build = Callable[[Compound, Clause, Shape], Rule | None]


def build_rule(clause: Clause, shape: Shape) -> Rule | None:
    """The rule a clause says, or None after saying what is wrong."""
    head = clause.head
    if not isinstance(head, Atom | Compound):
        if head is not None:
            shape.wrong("H100", "a head must be a predicate", head)
        return None
    if isinstance(head, Compound):
        key = (head.name, len(head.args))
        if key == ("p", 1) and is_pair(head.args[0]):
            return _postponable(head, clause, shape)
        if head.name in FLUENT_HEADS and len(head.args) in FLUENT_HEADS[head.name]:
            return _BUILDERS[head.name](head, clause, shape)
        if head.name in DECLARATIONS and len(head.args) in DECLARATIONS[head.name]:
            return Declaration(head.name, head.args, clause)
    body = build_body(clause.body, shape)
    return None if body is None else BackgroundRule(head, body, clause)


def _change(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    make = Initiation if head.name == "initiatedAt" else Termination
    ranged = len(head.args) == 4
    fvp = read_fvp(head.args[0], shape, head.name)
    time = read_time(head.args[2 if ranged else 1], shape, head.name)
    body = build_body(clause.body, shape)
    if fvp is None or time is None or body is None:
        return None
    return make(fvp, time, body, clause, (head.args[1], head.args[3]) if ranged else None)


def _effect(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    make = Initiation if head.name == "initiates" else Termination
    event, pair, when = head.args
    fvp = read_fvp(pair, shape, head.name)
    time = read_time(when, shape, head.name)
    body = build_body(clause.body, shape)
    if fvp is None or time is None or body is None:
        return None
    happens = Happens(event, time, Compound("happensAt", (event, time), head.span))
    whole: Term = happens.term
    if clause.body is not None:
        whole = Compound(",", (happens.term, clause.body), clause.span)
    return make(fvp, time, And((happens, *body.items), whole), clause)


def _initially(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "initially")
    body = build_body(clause.body, shape)
    return None if fvp is None or body is None else Initially(fvp, body, clause)


def _event(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    time = read_time(head.args[1], shape, "happensAt")
    body = build_body(clause.body, shape)
    return None if time is None or body is None else EventRule(head.args[0], time, body, clause)


def _holds_for(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "holdsFor")
    body = build_body(clause.body, shape)
    return None if fvp is None or body is None else HoldsForRule(fvp, head.args[1], body, clause)


def _holds_at(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "holdsAt")
    time = read_time(head.args[1], shape, "holdsAt")
    body = build_body(clause.body, shape)
    if fvp is None or time is None or body is None:
        return None
    return HoldsAtRule(fvp, time, body, clause)


def _delay(term: Term, shape: Shape) -> Term | None:
    if isinstance(term, Var) or (isinstance(term, Int) and term.value > 0):
        return term
    shape.wrong("H106", "a delay must be a whole number above zero", term)
    return None


def _future_initiation(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    origin = read_fvp(head.args[0], shape, "fi")
    target = read_fvp(head.args[1], shape, "fi")
    delay = _delay(head.args[2], shape)
    body = build_body(clause.body, shape)
    if origin is None or target is None or delay is None or body is None:
        return None
    return FutureInitiation(origin, target, delay, body, clause)


def _future_termination(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    origin = read_fvp(head.args[0], shape, "ft")
    delay = _delay(head.args[1], shape)
    body = build_body(clause.body, shape)
    if origin is None or delay is None or body is None:
        return None
    return FutureTermination(origin, delay, body, clause)


def _postponable(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "p")
    return None if fvp is None else Postponable(fvp, clause)


def _grounding(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    entity, value = head.args[0], None
    if is_pair(entity):
        fvp = read_fvp(entity, shape, "grounding")
        if fvp is None:
            return None
        entity, value = fvp.fluent, fvp.value
    body = build_body(clause.body, shape)
    return None if body is None else Grounding(entity, value, body, clause)


def _dynamic_domain(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    domain = head.args[0]
    if not isinstance(domain, Compound):
        shape.wrong("H121", "a domain", domain)
        return None
    return DynamicDomain(domain, clause)


def _input_fluent(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    if functor(clause.body) == ("fail", 0) if clause.body else False:
        return Declaration(head.name, head.args, clause)
    fvp = read_fvp(head.args[0], shape, head.name)
    form = "intervals" if head.name == "collectIntervals" else "points"
    return None if fvp is None else InputFluent(fvp, form, clause)  # type: ignore[arg-type]


_BUILDERS: dict[str, Build] = {
    "initiatedAt": _change,
    "terminatedAt": _change,
    "initiates": _effect,
    "terminates": _effect,
    "initially": _initially,
    "happensAt": _event,
    "holdsFor": _holds_for,
    "holdsAt": _holds_at,
    "fi": _future_initiation,
    "ft": _future_termination,
    "grounding": _grounding,
    "dynamicDomain": _dynamic_domain,
    "collectIntervals": _input_fluent,
    "points": _input_fluent,
    "buildFromPoints": _input_fluent,
}
