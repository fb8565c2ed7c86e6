"""Bodies: from terms to typed conditions."""

from __future__ import annotations

from collections.abc import Callable

from horai.lang.ec.builtins import (
    AGGREGATES,
    ALLEN_MODES,
    ALLEN_RELATIONS,
    BODY_LITERALS,
    COMPARISONS,
    DURATIONS,
    EDGES,
    INTERVAL_OPERATIONS,
)
from horai.lang.ec.fvp import Shape, read_fvp, read_time
from horai.lang.ec.syntax import (
    Aggregate,
    Allen,
    And,
    Call,
    Compare,
    Duration,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    IntervalOp,
    Is,
    Literal,
    Not,
    Or,
    TerminatedAt,
    Truth,
)
from horai.lang.terms import Atom, Compound, Term

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


def spine(term: Term, sign: str) -> list[Term]:
    """The operands of a chain of one right-associative operator.

    Long bodies are deep terms, so this walks instead of recursing.
    """
    goals: list[Term] = []
    stack = [term]
    while stack:
        current = stack.pop()
        if isinstance(current, Compound) and current.name == sign and len(current.args) == 2:
            stack.extend(reversed(current.args))
        else:
            goals.append(current)
    return goals


def build_literal(term: Term, shape: Shape) -> Literal | None:
    """One condition, or None after saying what is wrong with it."""
    if isinstance(term, Atom):
        if term.name in _TRUTHS:
            return Truth(_TRUTHS[term.name], term)
        return Call(term.name, (), term)
    if not isinstance(term, Compound):
        shape.wrong("H118", "this is no condition", term)
        return None
    name, args = term.name, term.args
    if name in COMPARISONS and len(args) == 2:
        return Compare(name, args[0], args[1], term)
    build = _BUILDERS.get((name, len(args)))
    if build is not None:
        return build(term, shape)
    if name in ALLEN_RELATIONS and len(args) == 4:
        return _allen(name, args, term, shape)
    return Call(name, args, term)


# --- control -----------------------------------------------------------------------------------


def _and(term: Compound, shape: Shape) -> Literal | None:
    return build_body(term, shape)


def _or(term: Compound, shape: Shape) -> Literal | None:
    first, rest = term.args
    if isinstance(first, Compound) and first.name == "->" and len(first.args) == 2:
        return _if(first, rest, term, shape)
    items: list[Literal] = []
    for goal in _alternatives(term):
        item = build_literal(goal, shape)
        if item is not None:
            items.append(item)
    return Or(tuple(items), term)


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


def _call(term: Compound, shape: Shape) -> Literal | None:
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
    if time is None:
        return None
    if isinstance(event, Compound) and event.name in EDGES and len(event.args) == 1:
        fvp = read_fvp(event.args[0], shape, event.name)
        if fvp is None:
            return None
        return Edge(event.name, fvp, time, term)  # type: ignore[arg-type]
    return Happens(event, time, term)


def _holds_at(term: Compound, shape: Shape) -> Literal | None:
    fvp = read_fvp(term.args[0], shape, "holdsAt")
    time = read_time(term.args[1], shape, "holdsAt")
    return None if fvp is None or time is None else HoldsAt(fvp, time, term)


def _holds_for(term: Compound, shape: Shape) -> Literal | None:
    fvp = read_fvp(term.args[0], shape, "holdsFor")
    return None if fvp is None else HoldsFor(fvp, term.args[1], term)


def _change_at(term: Compound, shape: Shape) -> Literal | None:
    make = InitiatedAt if term.name == "initiatedAt" else TerminatedAt
    fvp = read_fvp(term.args[0], shape, term.name)
    ranged = len(term.args) == 4
    time = read_time(term.args[2 if ranged else 1], shape, term.name)
    if fvp is None or time is None:
        return None
    return make(fvp, time, term, (term.args[1], term.args[3]) if ranged else None)


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
    inner = build_literal(_without_carets(goal), shape)
    template: Term | None = None
    kind = ""
    if isinstance(what, Atom) and what.name == "count":
        kind = "count"
    elif isinstance(what, Compound) and len(what.args) == 1 and what.name in AGGREGATES:
        kind, template = what.name, what.args[0]
    else:
        shape.wrong("H117", "unknown aggregate", what)
    if inner is None or not kind:
        return None
    return Aggregate(kind, template, inner, result, term)  # type: ignore[arg-type]


def _interval_op(term: Compound, shape: Shape) -> Literal | None:
    args = term.args
    base = args[0] if len(args) == 3 else None
    return IntervalOp(term.name, base, args[-2], args[-1], term)  # type: ignore[arg-type]


def _duration(term: Compound, shape: Shape) -> Literal | None:
    intervals, bound, result = term.args
    op = DURATIONS[term.name]
    return Duration(op, intervals, bound, result, term)  # type: ignore[arg-type]


def _allen(name: str, args: tuple[Term, ...], term: Compound, shape: Shape) -> Literal | None:
    source, target, mode, result = args
    if isinstance(mode, Atom) and mode.name in ALLEN_MODES:
        return Allen(name, source, target, ALLEN_MODES[mode.name], result, term)
    if (term.name, 4) in shape.defined:
        return Call(term.name, term.args, term)
    shape.wrong("H110", "unknown mode", mode)
    return None


def _allen_named(term: Compound, shape: Shape) -> Literal | None:
    relation = term.args[0]
    if not (isinstance(relation, Atom) and relation.name in ALLEN_RELATIONS):
        shape.wrong("H110", "unknown Allen relation", relation)
        return None
    return _allen(relation.name, term.args[1:], term, shape)


_BUILDERS: dict[tuple[str, int], Callable[[Compound, Shape], Literal | None]] = {
    (",", 2): _and,
    (";", 2): _or,
    ("->", 2): _if_then,
    ("\\+", 1): _not,
    ("not", 1): _not,
    ("call", 1): _call,
    ("forall", 2): _forall,
    ("is", 2): _is,
    ("happensAt", 2): _happens,
    ("holdsAt", 2): _holds_at,
    ("holdsFor", 2): _holds_for,
    ("initiatedAt", 2): _change_at,
    ("initiatedAt", 4): _change_at,
    ("terminatedAt", 2): _change_at,
    ("terminatedAt", 4): _change_at,
    ("findall", 3): _findall,
    ("aggregate_all", 3): _aggregate,
    ("allen", 5): _allen_named,
    **dict.fromkeys(INTERVAL_OPERATIONS.items(), _interval_op),
    **{(name, 3): _duration for name in DURATIONS},
}
assert all((name, arity) in _BUILDERS for name, ns in BODY_LITERALS.items() for arity in ns)
