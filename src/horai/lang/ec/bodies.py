"""Bodies: from terms to typed conditions, with a message for what is none.

Conditions that belong to other systems are refused with the reason. Long bodies are deep terms, so
chains of conditions are walked instead of recursed into.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from horai.lang.core.printer import COMPARISONS, is_pair, is_plain_word, show
from horai.lang.core.spelling import nearest
from horai.lang.core.terms import Compound, Constant, ListTerm, Span, Term, Var
from horai.lang.ec.builtins import (
    AGGREGATES,
    ALLEN_MODES,
    ALLEN_RELATIONS,
    BODY_LITERALS,
    BUILTINS,
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
from horai.lang.ec.syntax import (
    AggregateAll,
    Allen,
    Call,
    Compare,
    Conjunction,
    Disjunction,
    DurationFilter,
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
    Negation,
    TerminatedAt,
    TruthValue,
)


def interval_operation(term: Compound, shape: Shape) -> Literal | None:
    args, name = term.args, term.name
    sound = _check_lists(args[-2], name, shape)
    if not isinstance(args[-1], Var | ListTerm):
        read_intervals(args[-1], shape, f"the result of {name}")
        sound = False
    base: Term | None = None
    if len(args) == 3:
        base = read_intervals(args[0], shape, f"the first argument of {name}")
        sound = sound and base is not None
    if not sound:
        return None
    return IntervalOp(name, base, args[-2], args[-1], term)  # type: ignore[arg-type]


def _check_lists(lists: Term, name: str, shape: Shape) -> bool:
    """True for `[I1, I2, ...]` or a variable that stands for such a list."""
    if isinstance(lists, Var):
        return True
    if isinstance(lists, ListTerm):
        what = f"each element of the list of {name}"
        return None not in [read_intervals(item, shape, what) for item in lists.items]
    message = f"{name} works on a list of interval lists, not on `{show(lists)}`"
    shape.wrong("H120", message, lists, "write it as [I1, I2]")
    return False


def duration(term: Compound, shape: Shape) -> Literal | None:
    form = shape.durations.get((term.name, 3))
    places, op, open_counts = form if form else ((0, 1, 2), DURATIONS[term.name], True)
    intervals, bound, result = (term.args[place] for place in places)
    where = f"an argument of {term.name}"
    if read_intervals(intervals, shape, where) is None:
        return None
    if read_intervals(result, shape, where) is None:
        return None
    return DurationFilter(op, intervals, bound, result, term, open_counts)  # type: ignore[arg-type]


def allen(name: str, args: tuple[Term, ...], term: Compound, shape: Shape) -> Literal | None:
    source, target, mode, result = args
    if isinstance(mode, Constant) and mode.name in ALLEN_MODES:
        what = f"an argument of {name}"
        lists = [read_intervals(part, shape, what) for part in (source, target, result)]
        if None in lists:
            return None
        return Allen(name, source, target, ALLEN_MODES[mode.name], result, term)
    if (term.name, len(term.args)) in shape.defined:
        return Call(term.name, term.args, term)
    meant = nearest(mode.name, ALLEN_MODES, 3) if isinstance(mode, Constant) else None
    hint = f"did you mean `{meant}`?" if meant else "known are " + ", ".join(ALLEN_MODES)
    shape.wrong("H110", f"`{show(mode)}` is no mode of `{name}`", mode, hint)
    return None


def allen_named(term: Compound, shape: Shape) -> Literal | None:
    relation = term.args[0]
    if isinstance(relation, Constant) and relation.name in ALLEN_RELATIONS:
        return allen(relation.name, term.args[1:], term, shape)
    if ("allen", 5) in shape.defined:
        return Call(term.name, term.args, term)
    meant = nearest(relation.name, ALLEN_RELATIONS, 2) if isinstance(relation, Constant) else None
    hint = f"did you mean `{meant}`?" if meant else "known are " + ", ".join(ALLEN_RELATIONS)
    shape.wrong("H110", f"`{show(relation)}` is no relation of intervals", relation, hint)
    return None


_STORE = frozenset(
    [
        "assert",
        "asserta",
        "assertz",
        "retract",
        "retractall",
        "abolish",
        "recorda",
        "recordz",
        "recorded",
        "erase",
        "nb_setval",
        "b_setval",
        "nb_getval",
        "b_getval",
    ]
)
_OUTPUT = frozenset(
    [
        "write",
        "writeln",
        "print",
        "format",
        "nl",
        "tab",
        "write_canonical",
        "write_term",
        "portray_clause",
        "print_message",
        "told",
        "tell",
        "put_char",
    ]
)
_CONTROL = frozenset(
    [
        "once",
        "ignore",
        "setof",
        "bagof",
        "maplist",
        "foldl",
        "catch",
        "throw",
        "repeat",
        "halt",
        "consult",
        "aggregate",
    ]
)
_HEADS_ONLY = frozenset(
    ["initially", "initiates", "terminates", "fi", "ft", "collectIntervals", "points"]
)
_PRIVATE = re.compile(
    r"(?:happensAt|holdsAt|holdsFor|initiatedAt|terminatedAt|initiates|terminates)"
    r"(?:Processed|Cyclic|IE|Ev|SimpleFluent|SDFluent)\w*"
    r"|init(?:List|Time|Tree)|(?:simpleF|sdF|ie)PList|evTList|startingPoints|processedCyclic"
    r"|eventRecognition"
)


def is_private(name: str) -> bool:
    """True for a predicate that other Event Calculus engines keep for themselves."""
    return _PRIVATE.fullmatch(name) is not None


def check_call(term: Constant | Compound, shape: Shape) -> bool:
    """True when a condition may be a predicate of the user; False after saying why not."""
    args = term.args if isinstance(term, Compound) else ()
    name, key = term.name, (term.name, len(args))
    if key in shape.defined or key in BUILTINS:
        return True
    if name == "!":
        message = "the cut `!` has no meaning: the order of conditions and rules does not matter"
        hint = "remove it; say with `\\+` when a rule must not apply"
        shape.wrong("H114", message, term, hint)
    elif name in _STORE:
        message = f"`{name}` changes a program while it runs; rules only say what is true"
        hint = "derive it with a rule, or send it as an item of the stream"
        shape.wrong("H113", message, term, hint)
    elif name in _OUTPUT:
        message = f"`{name}` writes output; rules only say what is true"
        shape.wrong("H115", message, term, "remove it; `horai run` shows the answers")
    elif is_private(name):
        refuse_private(term, shape)
    elif name in _CONTROL or name == "call" or not (is_plain_word(name) or _is_quoted(term, shape)):
        _unsupported(term, shape)
    elif name in _HEADS_ONLY and any(is_pair(arg) for arg in args):
        message = f"`{name}` is for heads; it is no condition"
        shape.wrong("H119", message, term, "ask with holdsAt, initiatedAt or terminatedAt")
    else:
        return _check_arity(term, shape)
    return False


def refuse_private(term: Constant | Compound, shape: Shape) -> None:
    """Say that a term belongs to the internals of another engine."""
    seen = (shape.source.name, term.name)
    if seen in shape.private:
        return  # a compiled file is full of them; one finding for each name is enough
    shape.private.add(seen)
    message = f"`{term.name}` is a private predicate of another engine"
    hint = "pass the file this was compiled from, or write happensAt, holdsAt, holdsFor instead"
    shape.wrong("H116", message, term, hint)


def _is_quoted(term: Constant | Compound, shape: Shape) -> bool:
    """True for `'Some name'(X)`: unusual, but a name all the same."""
    span = term.span
    return span is not None and shape.source.text[span[0] : span[0] + 1] == "'"


def _unsupported(term: Constant | Compound, shape: Shape) -> None:
    name = term.name
    hint = None
    if name in ("setof", "bagof", "aggregate"):
        hint = "use findall or aggregate_all"
    elif name in ("once", "ignore"):
        hint = "write the condition itself: only whether it holds matters"
    elif name == "call":
        hint = "write the condition itself"
    elif not is_plain_word(name):
        message = f"an expression with `{name}` is no condition"
        shape.wrong("H118", message, term, "compare it with something, or write `X is ...`")
        return
    shape.wrong("H119", f"`{name}` is a part of Prolog that the rule language lacks", term, hint)


def _check_arity(term: Constant | Compound, shape: Shape) -> bool:
    args = term.args if isinstance(term, Compound) else ()
    known = {arity for name, arity in BUILTINS if name == term.name}
    known.update(BODY_LITERALS.get(term.name, ()))
    if not known:
        return True
    wanted = " or ".join(str(count) for count in sorted(known))
    message = f"`{term.name}` has {wanted} arguments, not {len(args)}"
    shape.wrong("H112", message, term)
    return False


def spine(term: Term, sign: str) -> list[Term]:
    """The operands of a chain of one operator, however its parentheses stand.

    >>> from horai.lang.core.terms import Constant
    >>> a, b = Constant("a"), Constant("b")
    >>> spine(Compound(",", (a, Compound(",", (b, a)))), ",") == [a, b, a]
    True
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


def conjunction(goals: list[Term]) -> Term | None:
    """The goals joined by commas; None when there are none."""
    if not goals:
        return None
    whole = goals[-1]
    for goal in reversed(goals[:-1]):
        whole = Compound(",", (goal, whole), _outer(goal, whole))
    return whole


def _outer(first: Term, last: Term) -> Span | None:
    return (first.span[0], last.span[1]) if first.span and last.span else None


def has_witness(what: Term) -> bool:
    """Is it `max(X, W)` or `min(X, W)`?"""
    return isinstance(what, Compound) and what.name in ("max", "min") and len(what.args) == 2


def written_out(term: Compound) -> Term:
    """The conditions that an aggregate with a witness is short for.

    `aggregate_all(max(X), G, M), aggregate_all(set(W), (G, X =:= M), [V|_]), R = max(M, V)`
    """
    what, goal, result = term.args
    assert isinstance(what, Compound)
    value, witness = what.args
    place = term.span
    best, first, others = (_fresh(name, place) for name in ("Best", "First", "Others"))
    same = Compound("=:=", (value, best), place)
    with_it = Compound(",", (goal, same), place)
    listed = ListTerm((first,), others, place)
    parts = (
        _witnesses_aggregate(Compound(what.name, (value,), what.span), goal, best, place),
        _witnesses_aggregate(Compound("set", (witness,), what.span), with_it, listed, place),
        Compound("=", (result, Compound(what.name, (best, first), place)), place),
    )
    return Compound(",", (parts[0], Compound(",", parts[1:], place)), place)


def _witnesses_aggregate(kind: Term, goal: Term, result: Term, place: Span | None) -> Compound:
    return Compound("aggregate_all", (kind, goal, result), place)


def _fresh(name: str, place: Span | None) -> Var:
    """A variable that no text can name, one for each place; messages leave the number out."""
    return Var(f"{name}~{place[0] if place else 0}")


_TRUTHS = {"true": True, "fail": False, "false": False}


def build_body(body: Term | None, shape: Shape) -> Conjunction | None:
    """The conditions of a rule, or None when one of them is wrong."""
    if body is None:
        return Conjunction((), Constant("true"))
    goals = spine(body, ",")
    literals = [build_literal(goal, shape) for goal in goals]
    if any(literal is None for literal in literals):
        return None
    items = tuple(literal for literal in literals if literal is not None)
    return Conjunction(items, body)


def build_literal(term: Term, shape: Shape) -> Literal | None:
    """One condition, or None after saying what is wrong with it."""
    if isinstance(term, Constant):
        if term.name in _TRUTHS:
            return TruthValue(_TRUTHS[term.name], term)
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
    return Disjunction(tuple(item for item in items if item is not None), term)


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
    last: Literal | None = TruthValue(False, Constant("fail", arrow.span))
    if otherwise is not None:
        last = build_literal(otherwise, shape)
    if condition is None or then is None or last is None:
        return None
    return IfThenElse(condition, then, last, term)


def _if_then(term: Compound, shape: Shape) -> Literal | None:
    return _if(term, None, term, shape)


def _not(term: Compound, shape: Shape) -> Literal | None:
    item = build_literal(term.args[0], shape)
    return None if item is None else Negation(item, term)


def _called(term: Compound, shape: Shape) -> Literal | None:
    return build_literal(term.args[0], shape)


def _forall(term: Compound, shape: Shape) -> Literal | None:
    """`forall(C, A)` says that no C goes without A."""
    condition, action = (build_literal(arg, shape) for arg in term.args)
    if condition is None or action is None:
        return None
    without = Negation(action, Compound("\\+", (term.args[1],), term.args[1].span))
    inner = Conjunction(
        (condition, without), Compound(",", (term.args[0], without.term), term.span)
    )
    return Negation(inner, Compound("\\+", (inner.term,), term.span))


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
    return TruthValue(True, Constant("true", term.span))


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
    if isinstance(what, Constant) and what.name == "count":
        return None if inner is None else AggregateAll("count", None, inner, result, term)
    single = isinstance(what, Compound) and len(what.args) == 1
    if isinstance(what, Compound) and single and what.name in AGGREGATES and what.name != "count":
        if inner is None:
            return None
        return AggregateAll(what.name, what.args[0], inner, result, term)  # type: ignore[arg-type]
    name = what.name if isinstance(what, Constant | Compound) else ""
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
