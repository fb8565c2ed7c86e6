"""Heads: from clauses to typed rules."""

from __future__ import annotations

from collections.abc import Callable

from horai.lang.core.printer import is_name, is_pair, show
from horai.lang.core.terms import Compound, Constant, Int, Term, Var, functor, variables
from horai.lang.ec.bodies import build_body, is_private, refuse_private
from horai.lang.ec.builtins import DECLARATIONS, EDGES, EVERYDAY_HEADS, FLUENT_HEADS
from horai.lang.ec.fvp import Shape, read_event, read_fvp, read_time
from horai.lang.ec.syntax import (
    BackgroundRule,
    Clause,
    Conjunction,
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
    TruthValue,
)

Build = Callable[[Compound, Clause, Shape], Rule | None]


def build_rule(clause: Clause, shape: Shape) -> Rule | None:
    """The rule a clause says, or None after saying what is wrong."""
    head = clause.head
    if head is None:
        return None
    if not isinstance(head, Constant | Compound) or not is_name(head):
        _no_predicate(head, shape)
        return None
    if is_private(head.name):
        refuse_private(head, shape)
        return None
    if head.name in _BUILDERS or head.name in DECLARATIONS:
        return _special(head, clause, shape)
    body = build_body(clause.body, shape)
    return None if body is None else BackgroundRule(head, body, clause)


def _special(head: Constant | Compound, clause: Clause, shape: Shape) -> Rule | None:
    """A head with a meaning of its own, or the user's predicate of the same everyday name."""
    counts = FLUENT_HEADS.get(head.name) or DECLARATIONS.get(head.name) or (1,)
    given = len(head.args) if isinstance(head, Compound) else 0
    fits = given in counts
    if head.name in ("p", "points", "cyclic"):
        fits = fits and isinstance(head, Compound) and is_pair(head.args[0])
    if fits and isinstance(head, Compound):
        build = _BUILDERS.get(head.name)
        return build(head, clause, shape) if build else Declaration(head.name, head.args, clause)
    if head.name in EVERYDAY_HEADS:
        body = build_body(clause.body, shape)
        return None if body is None else BackgroundRule(head, body, clause)
    wanted = " or ".join(str(count) for count in counts)
    message = f"`{head.name}` has {wanted} arguments, not {given}"
    shape.wrong("H102", message, head, f"write {_FORMS.get(head.name, head.name)}")
    return None


def _no_predicate(head: Term, shape: Shape) -> None:
    hint = "a head is a name, with or without arguments"
    if isinstance(head, Compound) and head.name == "," and len(head.args) == 2:
        hint = "write one clause for each; a body starts with `:-`"
    elif isinstance(head, Compound) and head.name in ("<", "-", "="):
        hint = "write `head :- conditions.`"
    shape.wrong("H100", f"`{show(head)}` cannot be the head of a clause", head, hint)


def _needs_body(clause: Clause, shape: Shape, why: str) -> None:
    assert clause.head is not None
    shape.wrong(
        "H108", f"this rule needs a body: {why}", clause.head, "write `head :- conditions.`"
    )


def _change(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    make = Initiation if head.name == "initiatedAt" else Termination
    fvp = read_fvp(head.args[0], shape, head.name)
    times = [read_time(arg, shape, head.name) for arg in head.args[1:]]
    body = build_body(clause.body, shape)
    if fvp is None or body is None or any(time is None for time in times):
        return None
    time = head.args[2 if len(head.args) == 4 else 1]
    if clause.body is None and isinstance(time, Var):
        _needs_body(clause, shape, f"nothing says when, {time.name} could be any time")
        return None
    bounds = (head.args[1], head.args[3]) if len(head.args) == 4 else None
    return make(fvp, time, body, clause, bounds)


def _effect(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    make = Initiation if head.name == "initiates" else Termination
    event = read_event(head.args[0], shape)
    fvp = read_fvp(head.args[1], shape, head.name)
    time = read_time(head.args[2], shape, head.name)
    body = build_body(clause.body, shape)
    if event is None or fvp is None or time is None or body is None:
        return None
    happens = Happens(event, time, Compound("happensAt", (event, time), head.span))
    whole: Term = happens.term
    if clause.body is not None:
        whole = Compound(",", (happens.term, clause.body), clause.span)
    return make(fvp, time, Conjunction((happens, *body.items), whole), clause)


def _initially(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "initially")
    body = build_body(clause.body, shape)
    return None if fvp is None or body is None else Initially(fvp, body, clause)


def _event(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    event, when = head.args
    time = read_time(when, shape, "happensAt")
    body = build_body(clause.body, shape)
    if isinstance(event, Compound) and event.name in EDGES and len(event.args) == 1:
        message = f"`{event.name}` marks the ends of intervals and cannot be defined"
        shape.wrong("H109", message, event, "give the event another name")
        return None
    named = read_event(event, shape)
    if named is None or time is None or body is None:
        return None
    if clause.body is None and isinstance(time, Var):
        _needs_body(clause, shape, f"nothing says when, {time.name} could be any time")
        return None
    return EventRule(named, time, body, clause)


def _holds_for(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "holdsFor")
    intervals = head.args[1]
    body = build_body(clause.body, shape)
    if fvp is None or body is None:
        return None
    if clause.body is None:
        _needs_body(clause, shape, "nothing says which intervals")
        return None
    if not isinstance(intervals, Var):
        message = f"the intervals in the head must be a variable, not `{show(intervals)}`"
        shape.wrong("H120", message, intervals, "the body computes them")
        return None
    return HoldsForRule(fvp, intervals, body, clause)


def _holds_at(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "holdsAt")
    time = read_time(head.args[1], shape, "holdsAt")
    body = build_body(clause.body, shape)
    if fvp is None or time is None or body is None:
        return None
    if clause.body is None:
        _needs_body(clause, shape, "`initially` says what holds from the start")
        return None
    return HoldsAtRule(fvp, time, body, clause)


def _given(clause: Clause) -> set[str]:
    """Check a delay: it is a variable of the body, or of the pair whose initiation it follows."""
    head = clause.head.args[:1] if isinstance(clause.head, Compound) else ()
    parts = [*head, *([clause.body] if clause.body is not None else [])]
    return {name for part in parts for name in variables(part)}


def _delay(term: Term, clause: Clause, shape: Shape) -> Term | None:
    if isinstance(term, Int) and term.value > 0:
        return term
    if isinstance(term, Var) and term.name in _given(clause):
        return term
    if isinstance(term, Var):
        message = f"nothing says how long the delay `{show(term)}` is"
    else:
        message = f"a delay must be a whole number above zero, not `{show(term)}`"
    shape.wrong("H106", message, term, "write a number, or a variable that the body gives a value")
    return None


def _future_initiation(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    origin = read_fvp(head.args[0], shape, "fi")
    target = read_fvp(head.args[1], shape, "fi")
    delay = _delay(head.args[2], clause, shape)
    body = build_body(clause.body, shape)
    if origin is None or target is None or delay is None or body is None:
        return None
    return FutureInitiation(origin, target, delay, body, clause)


def _future_termination(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    origin = read_fvp(head.args[0], shape, "ft")
    delay = _delay(head.args[1], clause, shape)
    body = build_body(clause.body, shape)
    if origin is None or delay is None or body is None:
        return None
    return FutureTermination(origin, delay, body, clause)


def _postponable(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    fvp = read_fvp(head.args[0], shape, "p")
    body = build_body(clause.body, shape)
    if fvp is None or body is None:
        return None
    if not all(isinstance(item, TruthValue) and item.value for item in body.items):
        message = "p(F=V) takes no conditions"
        shape.wrong("H121", message, body.items[0].term, f"write `{show(head)}.`")
        return None
    return Postponable(fvp, clause)


def _grounding(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    entity = head.args[0]
    body = build_body(clause.body, shape)
    if is_pair(entity):
        fvp = read_fvp(entity, shape, "grounding")
        if fvp is None or body is None:
            return None
        return Grounding(fvp.fluent, fvp.value, body, clause)
    if not is_name(entity):
        message = f"`{show(entity)}` is neither an event nor a fluent with its value"
        shape.wrong("H121", message, entity, "write grounding(event(X)) or grounding(fluent(X)=V)")
        return None
    return None if body is None else Grounding(entity, None, body, clause)


def _dynamic_domain(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    domain = head.args[0]
    if isinstance(domain, Compound) and is_name(domain):
        return DynamicDomain(domain, clause)
    message = f"`{show(domain)}` is no domain: a domain is a predicate"
    hint = f"write dynamicDomain({domain.name}(_))" if isinstance(domain, Constant) else None
    shape.wrong("H121", message, domain, hint)
    return None


def _input_fluent(head: Compound, clause: Clause, shape: Shape) -> Rule | None:
    if clause.body is not None and functor(clause.body) in (("fail", 0), ("false", 0)):
        # `buildFromPoints(_) :- fail.` tells another engine that there is no such input.
        return Declaration(head.name, head.args, clause)
    fvp = read_fvp(head.args[0], shape, head.name)
    if fvp is None:
        return None
    return InputFluent(fvp, "intervals" if head.name == "collectIntervals" else "points", clause)


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
    "p": _postponable,
    "grounding": _grounding,
    "dynamicDomain": _dynamic_domain,
    "collectIntervals": _input_fluent,
    "points": _input_fluent,
    "buildFromPoints": _input_fluent,
}
_FORMS = {
    "initiatedAt": "initiatedAt(F=V, T)",
    "terminatedAt": "terminatedAt(F=V, T)",
    "initiates": "initiates(Event, F=V, T)",
    "terminates": "terminates(Event, F=V, T)",
    "initially": "initially(F=V)",
    "happensAt": "happensAt(Event, T)",
    "holdsFor": "holdsFor(F=V, I)",
    "holdsAt": "holdsAt(F=V, T)",
    "fi": "fi(F=V, F=V2, Delay)",
    "ft": "ft(F=V, Delay)",
    "grounding": "grounding(Event) or grounding(F=V)",
    "dynamicDomain": "dynamicDomain(domain(_))",
    "collectIntervals": "collectIntervals(F=V)",
    "buildFromPoints": "buildFromPoints(F=V)",
}
