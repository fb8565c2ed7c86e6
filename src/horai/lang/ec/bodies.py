"""Bodies: from terms to typed conditions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from horai.lang.ec.builtins import (
    AGGREGATES,
    ALLEN_RELATIONS,
    BODY_LITERALS,
    DURATIONS,
    EDGES,
    INTERVAL_OPERATIONS,
)
from horai.lang.ec.fvp import (
    Shape,
    read_edge_pair,
    read_event,
    read_fvp,
    read_intervals,
    read_time,
)
from horai.lang.ec.intervals import allen, allen_named, duration, interval_operation
from horai.lang.ec.names import nearest
from horai.lang.ec.refused import check_call
from horai.lang.ec.spines import spine
from horai.lang.ec.syntax import (
    Aggregate,
    And,
    Call,
    Compare,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    Is,
    Literal,
    Not,
    Or,
    TerminatedAt,
    Truth,
)
from horai.lang.ec.witnesses import has_witness, written_out
from horai.lang.operators import COMPARISONS, is_pair
from horai.lang.printer import show
from horai.lang.terms import Atom, Compound, Term, Var

_TRUTHS = {"true": True, "fail": False, "false": False}


def build_body(body: Term | None, shape: Shape) -> And | None:
    """The conditions of a rule, or None when one of them is wrong."""
    if body is None:
        return And((), Atom("true"))
    goals = spine(body, ",")
    literals = [build_literal(goal, shape) for goal in goals]
    if any(literal is None for literal in literals):
        return None
    items = tuple(literal for literal in literals if literal is not None)
    return And(items, body)


def build_literal(term: Term, shape: Shape) -> Literal | None:
    """One condition, or None after saying what is wrong with it."""
    if isinstance(term, Atom):
        if term.name in _TRUTHS:
            return Truth(_TRUTHS[term.name], term)
        return Call(term.name, (), term) if check_call(term, shape) else None
    if not isinstance(term, Compound):
        _no_condition(term, shape)
        return None
    name, args = term.name, term.args
    if name in COMPARISONS and len(args) == 2:
        return Compare(name, args[0], args[1], term)
    if (name, len(args)) in shape.durations:
        return duration(term, shape)
    build = _BUILDERS.get((name, len(args)))
    if name in ("holdsFor", "holdsAt") and len(args) == 3 and is_pair(args[1]):
        # Some files give the index of the fluent first: holdsFor(Vessel, F=V, I).
        return build_literal(Compound(name, args[1:], term.span), shape)
    if build is not None:
        return build(term, shape)
    if name in ALLEN_RELATIONS and len(args) == 4:
        return allen(name, args, term, shape)
    return Call(name, args, term) if check_call(term, shape) else None


def _no_condition(term: Term, shape: Shape) -> None:
    if isinstance(term, Var):
        message = f"the variable `{show(term)}` cannot be a condition"
    else:
        message = f"`{show(term)}` is no condition"
    hint = "a condition is a predicate, a comparison or `X is ...`"
    shape.wrong("H118", message, term, hint)


# --- control -----------------------------------------------------------------------------------


def _and(term: Compound, shape: Shape) -> Literal | None:
    return build_body(term, shape)


def _or(term: Compound, shape: Shape) -> Literal | None:
    first, rest = term.args
    if isinstance(first, Compound) and first.name == "->" and len(first.args) == 2:
        return _if(first, rest, term, shape)
    items = [build_literal(goal, shape) for goal in _alternatives(term)]
    if any(item is None for item in items):
        return None
    return Or(tuple(item for item in items if item is not None), term)


def _alternatives(term: Term) -> list[Term]:
    """The branches of `A ; B ; C`; one that opens an if-then-else takes the rest with it."""
    branches: list[Term] = []
    while isinstance(term, Compound) and term.name == ";" and len(term.args) == 2:
        first = term.args[0]
        if isinstance(first, Compound) and first.name == "->":
            break
        branches.append(first)
        term = term.args[1]
    branches.append(term)
    return branches


def _if(arrow: Compound, otherwise: Term | None, term: Term, shape: Shape) -> Literal | None:
    condition = build_literal(arrow.args[0], shape)
    then = build_literal(arrow.args[1], shape)
    last: Literal | None = Truth(False, Atom("fail", arrow.span))
    if otherwise is not None:
        last = build_literal(otherwise, shape)
    if condition is None or then is None or last is None:
        return None
    return IfThenElse(condition, then, last, term)


def _if_then(term: Compound, shape: Shape) -> Literal | None:
    return _if(term, None, term, shape)


def _not(term: Compound, shape: Shape) -> Literal | None:
    item = build_literal(term.args[0], shape)
    return None if item is None else Not(item, term)


def _called(term: Compound, shape: Shape) -> Literal | None:
    return build_literal(term.args[0], shape)


def _forall(term: Compound, shape: Shape) -> Literal | None:
    """`forall(C, A)` says that no C goes without A."""
    condition, action = (build_literal(arg, shape) for arg in term.args)
    if condition is None or action is None:
        return None
    without = Not(action, Compound("\\+", (term.args[1],), term.args[1].span))
    inner = And((condition, without), Compound(",", (term.args[0], without.term), term.span))
    return Not(inner, Compound("\\+", (inner.term,), term.span))


# --- time --------------------------------------------------------------------------------------


def _happens(term: Compound, shape: Shape) -> Literal | None:
    event, when = term.args
    time = read_time(when, shape, "happensAt")
    if isinstance(event, Compound) and event.name in EDGES and len(event.args) == 1:
        fvp = read_edge_pair(event, shape)
        if fvp is None or time is None:
            return None
        return Edge(event.name, fvp, time, term)  # type: ignore[arg-type]
    named = read_event(event, shape)
    return None if named is None or time is None else Happens(named, time, term)


def _holds_at(term: Compound, shape: Shape) -> Literal | None:
    fvp = read_fvp(term.args[0], shape, "holdsAt")
    time = read_time(term.args[1], shape, "holdsAt")
    return None if fvp is None or time is None else HoldsAt(fvp, time, term)


def _holds_for(term: Compound, shape: Shape) -> Literal | None:
    fvp = read_fvp(term.args[0], shape, "holdsFor")
    intervals = read_intervals(term.args[1], shape, "the second argument of holdsFor")
    return None if fvp is None or intervals is None else HoldsFor(fvp, intervals, term)


def _change_at(term: Compound, shape: Shape) -> Literal | None:
    make = InitiatedAt if term.name == "initiatedAt" else TerminatedAt
    fvp = read_fvp(term.args[0], shape, term.name)
    times = [read_time(arg, shape, term.name) for arg in term.args[1:]]
    if fvp is None or any(time is None for time in times):
        return None
    if len(term.args) == 4:
        return make(fvp, term.args[2], term, (term.args[1], term.args[3]))
    return make(fvp, term.args[1], term)


def _grounding(term: Compound, shape: Shape) -> Literal | None:
    # Groundings restrict what is computed anyway, so asking for them again adds nothing.
    return Truth(True, Atom("true", term.span))


# --- values, intervals, aggregates --------------------------------------------------------------


def _is(term: Compound, shape: Shape) -> Literal | None:
    return Is(term.args[0], term.args[1], term)


def _without_carets(goal: Term) -> Term:
    """`X^Y^G` is G: every variable inside an aggregate that occurs nowhere else is local."""
    while isinstance(goal, Compound) and goal.name == "^" and len(goal.args) == 2:
        goal = goal.args[1]
    return goal


def _findall(term: Compound, shape: Shape) -> Literal | None:
    template, goal, result = term.args
    inner = build_literal(_without_carets(goal), shape)
    return None if inner is None else FindAll(template, inner, result, term)


def _aggregate(term: Compound, shape: Shape) -> Literal | None:
    what, goal, result = term.args
    goal = _without_carets(goal)
    if has_witness(what):
        return build_literal(written_out(replace(term, args=(what, goal, result))), shape)
    inner = build_literal(goal, shape)
    if isinstance(what, Atom) and what.name == "count":
        return None if inner is None else Aggregate("count", None, inner, result, term)
    single = isinstance(what, Compound) and len(what.args) == 1
    if isinstance(what, Compound) and single and what.name in AGGREGATES and what.name != "count":
        if inner is None:
            return None
        return Aggregate(what.name, what.args[0], inner, result, term)  # type: ignore[arg-type]
    name = what.name if isinstance(what, Atom | Compound) else ""
    meant = name if name in AGGREGATES else nearest(name, AGGREGATES, 1)
    hint = "known are count, sum(X), max(X), min(X), max(X, W), min(X, W), bag(X) and set(X)"
    if meant:
        hint = f"write `{'count' if meant == 'count' else meant + '(X)'}`"
    shape.wrong("H117", f"`{show(what)}` is no aggregate", what, hint)
    return None


_BUILDERS: dict[tuple[str, int], Callable[[Compound, Shape], Literal | None]] = {
    (",", 2): _and,
    (";", 2): _or,
    ("->", 2): _if_then,
    ("\\+", 1): _not,
    ("not", 1): _not,
    ("call", 1): _called,
    ("forall", 2): _forall,
    ("is", 2): _is,
    ("happensAt", 2): _happens,
    ("holdsAt", 2): _holds_at,
    ("holdsFor", 2): _holds_for,
    ("initiatedAt", 2): _change_at,
    ("initiatedAt", 4): _change_at,
    ("terminatedAt", 2): _change_at,
    ("terminatedAt", 4): _change_at,
    ("grounding", 1): _grounding,
    ("findall", 3): _findall,
    ("aggregate_all", 3): _aggregate,
    ("allen", 5): allen_named,
    **dict.fromkeys(INTERVAL_OPERATIONS.items(), interval_operation),
    **{(name, 3): duration for name in DURATIONS},
}
assert all((name, arity) in _BUILDERS for name, ns in BODY_LITERALS.items() for arity in ns)
