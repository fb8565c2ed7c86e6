"""Clauses to typed rules: heads and conditions, with a message for what is none.

Conditions that belong to other systems are refused with the reason. Long bodies are deep terms, so
chains of conditions are walked instead of recursed into.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Literal as OneOf
from typing import TypeGuard

from horai.lang.core.diagnostics import Report, nearest
from horai.lang.core.printer import COMPARISONS, is_name, is_pair, is_plain_word, show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    ListTerm,
    Span,
    Term,
    Var,
    args_of,
    functor,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import (
    AGGREGATES,
    ALLEN_MODES,
    ALLEN_RELATIONS,
    BODY_LITERALS,
    BUILTINS,
    DECLARATIONS,
    DURATIONS,
    EDGES,
    EVERYDAY_HEADS,
    FLUENT_HEADS,
    INTERVAL_OPERATIONS,
)

Key = tuple[str, int]
# The places of intervals, bound and result; the comparison; whether open intervals count.
DurationForm = tuple[tuple[int, int, int], str, bool]


class Shape:
    """The context of building one rule: where findings go, and what the user has defined.

    What is wrong makes the rule `broken`. Building goes on with the wrong part in its place, so
    that all mistakes of a rule are told; a broken rule is dropped in the end.
    """

    def __init__(
        self,
        source: SourceText,
        report: Report,
        defined: frozenset[Key] = frozenset(),
        durations: Mapping[Key, DurationForm] | None = None,
        private: set[tuple[str, str]] | None = None,
    ) -> None:
        self.source = source
        self.report = report
        self.defined = defined
        self.durations = durations or {}
        self.private = set() if private is None else private
        self.broken = False

    def wrong(
        self, code: str, message: str, term: Term, hint: str | None = None, note: str | None = None
    ) -> None:
        """Note a finding about a term."""
        self.broken = True
        self.report.add(code, message, self.source, term.span, hint, note)


def read_fvp(term: Term, shape: Shape, where: str) -> ec.FVP:
    """`F=V`; says what is wrong if it is none."""
    if isinstance(term, Compound) and is_pair(term):
        fluent, value = term.args
        if not is_name(fluent):
            message = f"`{show(fluent)}` cannot be a fluent: a fluent has a name"
            shape.wrong("H104", message, fluent, "write it as name(arguments)=value")
        return ec.FVP(fluent, value, term)
    if isinstance(term, Compound) and term.name == "==" and len(term.args) == 2:
        hint = f"write `{show(term.args[0])}={show(term.args[1])}`"
    elif is_name(term):
        hint = f"write `{show(term)}=true`, or the value that is meant"
    else:
        hint = "write it as name(arguments)=value"
    shape.wrong("H103", f"{where} needs a fluent with its value, F=V", term, hint)
    return ec.FVP(term, term, term)


def read_event(term: Term, shape: Shape) -> Term:
    """An event; says what is wrong if it is none."""
    if isinstance(term, Compound) and is_pair(term):
        message = f"`{show(term)}` is a fluent with a value, not an event"
        hint = f"write holdsAt({show(term)}, T), or happensAt(start({show(term)}), T)"
    elif is_name(term):
        return term
    elif isinstance(term, Var):
        message = f"the event of happensAt must have a name; `{show(term)}` is a variable"
        hint = "write one rule per event, joined by `;` if you like"
    else:
        message = f"`{show(term)}` cannot be an event: an event has a name"
        hint = "write it as name(arguments)"
    shape.wrong("H109", message, term, hint)
    return term


def read_edge_pair(event: Compound, shape: Shape) -> ec.FVP:
    """The `F=V` of `start(F=V)` and its kin."""
    inner = event.args[0]
    if is_pair(inner):
        return read_fvp(inner, shape, event.name)
    message = f"`{event.name}` needs a fluent with its value, F=V"
    hint = f"write `{event.name}({show(inner)}=true)`" if is_name(inner) else None
    note = f"an event cannot be called {' or '.join(EDGES[:2])}: these mark the ends of intervals"
    shape.wrong("H107", message, inner, hint, note)
    return ec.FVP(inner, inner, inner)


def read_time(term: Term, shape: Shape, where: str) -> Term:
    """A variable or an integer; says what is wrong if it is none."""
    if not isinstance(term, Var | Int):
        message = f"the time of {where} must be a variable or a whole number"
        hint = None
        if isinstance(term, Compound) and term.name in ("+", "-", "*", "/"):
            hint = f"compute it first: `T2 is {show(term)}`, then use T2"
        elif isinstance(term, Constant):
            variable = f"{term.name[:1].upper()}{term.name[1:]}"
            hint = f"a variable starts with a capital letter: `{variable}`"
        shape.wrong("H105", message, term, hint)
    return term


def read_intervals(term: Term, shape: Shape, where: str) -> Term:
    """A variable or a list of intervals; says what is wrong if it is none."""
    if not isinstance(term, Var | ListTerm):
        message = f"{where} must be a variable or a list of intervals, not `{show(term)}`"
        hint = "get the intervals first: `holdsFor(F=V, I)`" if is_pair(term) else None
        shape.wrong("H120", message, term, hint)
    return term


def interval_operation(term: Compound, shape: Shape) -> ec.Literal:
    """`union_all(L, I)`, `relative_complement_all(I1, L, I)` and their kin."""
    *base, lists, result = term.args
    name = term.name
    if isinstance(lists, ListTerm):
        for item in lists.items:
            read_intervals(item, shape, f"each element of the list of {name}")
    elif not isinstance(lists, Var):  # which would stand for such a list
        message = f"{name} works on a list of interval lists, not on `{show(lists)}`"
        shape.wrong("H120", message, lists, "write it as [I1, I2]")
    read_intervals(result, shape, f"the result of {name}")
    for first in base:
        read_intervals(first, shape, f"the first argument of {name}")
    return ec.IntervalOp(name, base[0] if base else None, lists, result, term)


def duration(term: Compound, shape: Shape) -> ec.Literal:
    """`intDurGreater(I, D, I2)`, or a predicate of the user that does the same."""
    form = shape.durations.get((term.name, 3))
    places, op, open_counts = form if form else ((0, 1, 2), DURATIONS[term.name], True)
    intervals, bound, result = (term.args[place] for place in places)
    for part in (intervals, result):
        read_intervals(part, shape, f"an argument of {term.name}")
    return ec.DurationFilter(op, intervals, bound, result, term, open_counts)  # type: ignore[arg-type]


def allen(name: str, args: tuple[Term, ...], term: Compound, shape: Shape) -> ec.Literal:
    """`before(S, T, Mode, I)` and its kin."""
    source, target, mode, result = args
    if isinstance(mode, Constant) and mode.name in ALLEN_MODES:
        for part in (source, target, result):
            read_intervals(part, shape, f"an argument of {name}")
        return ec.Allen(name, source, target, ALLEN_MODES[mode.name], result, term)
    if (term.name, len(term.args)) not in shape.defined:
        _no_such_word(mode, ALLEN_MODES, 3, f"mode of `{name}`", shape)
    return ec.Call(term.name, term.args, term)


def allen_named(term: Compound, shape: Shape) -> ec.Literal:
    """`allen(before, S, T, Mode, I)`."""
    relation = term.args[0]
    if isinstance(relation, Constant) and relation.name in ALLEN_RELATIONS:
        return allen(relation.name, term.args[1:], term, shape)
    if ("allen", 5) not in shape.defined:
        _no_such_word(relation, ALLEN_RELATIONS, 2, "relation of intervals", shape)
    return ec.Call(term.name, term.args, term)


def _no_such_word(term: Term, known: Iterable[str], most: int, what: str, shape: Shape) -> None:
    meant = nearest(term.name, known, most) if isinstance(term, Constant) else None
    hint = f"did you mean `{meant}`?" if meant else "known are " + ", ".join(known)
    shape.wrong("H110", f"`{show(term)}` is no {what}", term, hint)


# What other systems have, and a rule language has no place for.
_STORE = re.compile(r"assert[az]?|retract(all)?|abolish|record(a|z|ed)|erase|(n?b_)(set|get)val")
_OUTPUT = re.compile(
    r"write(ln|_canonical|_term)?|print(_message)?|format|nl|tab|portray_clause|told|tell|put_char"
)
_CONTROL = re.compile(
    r"once|ignore|setof|bagof|maplist|foldl|catch|throw|repeat|halt|consult|aggregate"
)
_HEADS_ONLY = re.compile(r"initially|initiates|terminates|fi|ft|collectIntervals|points")
_PRIVATE = re.compile(
    r"(?:happensAt|holdsAt|holdsFor|initiatedAt|terminatedAt|initiates|terminates)"
    r"(?:Processed|Cyclic|IE|Ev|SimpleFluent|SDFluent)\w*"
    r"|init(?:List|Time|Tree)|(?:simpleF|sdF|ie)PList|evTList|startingPoints|processedCyclic"
    r"|eventRecognition"
)


def is_private(name: str) -> bool:
    """True for a predicate that other Event Calculus engines keep for themselves."""
    return _PRIVATE.fullmatch(name) is not None


def check_call(term: Constant | Compound, shape: Shape) -> None:
    """Say why a condition cannot be a predicate of the user, if it cannot."""
    args = args_of(term)
    name, key = term.name, (term.name, len(args))
    if key in shape.defined or key in BUILTINS:
        return
    if name == "!":
        message = "the cut `!` has no meaning: the order of conditions and rules does not matter"
        hint = "remove it; say with `\\+` when a rule must not apply"
        shape.wrong("H114", message, term, hint)
    elif _STORE.fullmatch(name):
        message = f"`{name}` changes a program while it runs; rules only say what is true"
        hint = "derive it with a rule, or send it as an item of the stream"
        shape.wrong("H113", message, term, hint)
    elif _OUTPUT.fullmatch(name):
        message = f"`{name}` writes output; rules only say what is true"
        shape.wrong("H115", message, term, "remove it; `horai run` shows the answers")
    elif is_private(name):
        refuse_private(term, shape)
    elif _CONTROL.fullmatch(name) or name == "call" or not _is_word(term, shape):
        _unsupported(term, shape)
    elif _HEADS_ONLY.fullmatch(name) and any(is_pair(arg) for arg in args):
        message = f"`{name}` is for heads; it is no condition"
        shape.wrong("H119", message, term, "ask with holdsAt, initiatedAt or terminatedAt")
    else:
        _check_arity(term, shape)


def refuse_private(term: Constant | Compound, shape: Shape) -> None:
    """Say that a term belongs to the internals of another engine."""
    shape.broken = True
    seen = (shape.source.name, term.name)
    if seen in shape.private:
        return  # a compiled file is full of them; one finding for each name is enough
    shape.private.add(seen)
    message = f"`{term.name}` is a private predicate of another engine"
    hint = "pass the file this was compiled from, or write happensAt, holdsAt, holdsFor instead"
    shape.wrong("H116", message, term, hint)


def _is_word(term: Constant | Compound, shape: Shape) -> bool:
    """True for a name; `'Some name'(X)` is unusual, but a name all the same."""
    span = term.span
    is_quoted = span is not None and shape.source.text[span[0] : span[0] + 1] == "'"
    return is_quoted or is_plain_word(term.name)


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


def _check_arity(term: Constant | Compound, shape: Shape) -> None:
    args = args_of(term)
    known = {arity for name, arity in BUILTINS if name == term.name}
    known.update(BODY_LITERALS.get(term.name, ()))
    if known:
        shape.wrong("H112", f"`{term.name}` has {_arguments(known)}, not {len(args)}", term)


def _arguments(counts: Iterable[int]) -> str:
    """Numbers of arguments of which one is right."""
    numbers = sorted({*counts})
    return f"{' or '.join(map(str, numbers))} argument{'' if numbers == [1] else 's'}"


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
    largest = Compound(what.name, (value,), what.span), goal, best
    witnesses = Compound("set", (witness,), what.span), with_it, listed
    equal = Compound("=", (result, Compound(what.name, (best, first), place)), place)
    two = Compound("aggregate_all", witnesses, place), equal
    return Compound(
        ",", (Compound("aggregate_all", largest, place), Compound(",", two, place)), place
    )


def _fresh(name: str, place: Span | None) -> Var:
    """A variable that no text can name, one for each place; messages leave the number out."""
    return Var(f"{name}~{place[0] if place else 0}")


_TRUTHS = {"true": True, "fail": False, "false": False}


def build_body(body: Term | None, shape: Shape) -> ec.Conjunction:
    """The conditions of a rule."""
    if body is None:
        return ec.Conjunction((), Constant("true"))
    return ec.Conjunction(tuple(build_literal(goal, shape) for goal in spine(body, ",")), body)


def build_literal(term: Term, shape: Shape) -> ec.Literal:
    """One condition; says what is wrong with it."""
    if isinstance(term, Constant):
        if term.name in _TRUTHS:
            return ec.TruthValue(_TRUTHS[term.name], term)
        check_call(term, shape)
        return ec.Call(term.name, (), term)
    if not isinstance(term, Compound):
        return _no_condition(term, shape)
    name, args = term.name, term.args
    if name in COMPARISONS and len(args) == 2:
        return ec.Compare(name, args[0], args[1], term)
    if (name, len(args)) in shape.durations:
        return duration(term, shape)
    if name in ("holdsFor", "holdsAt") and len(args) == 3 and is_pair(args[1]):
        # Some files give the index of the fluent first: holdsFor(Vessel, F=V, I).
        return build_literal(Compound(name, args[1:], term.span), shape)
    build = _CONDITIONS.get((name, len(args)))
    if build is not None:
        return build(term, shape)
    if name in ALLEN_RELATIONS and len(args) == 4:
        return allen(name, args, term, shape)
    check_call(term, shape)
    return ec.Call(name, args, term)


def _no_condition(term: Term, shape: Shape) -> ec.Literal:
    if isinstance(term, Var):
        message = f"the variable `{show(term)}` cannot be a condition"
    else:
        message = f"`{show(term)}` is no condition"
    hint = "a condition is a predicate, a comparison or `X is ...`"
    shape.wrong("H118", message, term, hint)
    return ec.TruthValue(True, term)


# --- control -----------------------------------------------------------------------------------


def _or(term: Compound, shape: Shape) -> ec.Literal:
    first, rest = term.args
    if isinstance(first, Compound) and first.name == "->" and len(first.args) == 2:
        return _if(first, rest, term, shape)
    return ec.Disjunction(tuple(build_literal(goal, shape) for goal in _alternatives(term)), term)


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


def _if(arrow: Compound, otherwise: Term | None, term: Term, shape: Shape) -> ec.Literal:
    condition, then = (build_literal(arg, shape) for arg in arrow.args)
    last: ec.Literal = ec.TruthValue(False, Constant("fail", arrow.span))
    if otherwise is not None:
        last = build_literal(otherwise, shape)
    return ec.IfThenElse(condition, then, last, term)


def _not(term: Compound, shape: Shape) -> ec.Literal:
    return ec.Negation(build_literal(term.args[0], shape), term)


def _forall(term: Compound, shape: Shape) -> ec.Literal:
    """`forall(C, A)` says that no C goes without A."""
    condition, action = (build_literal(arg, shape) for arg in term.args)
    without = ec.Negation(action, Compound("\\+", (term.args[1],), term.args[1].span))
    inner = ec.Conjunction(
        (condition, without), Compound(",", (term.args[0], without.term), term.span)
    )
    return ec.Negation(inner, Compound("\\+", (inner.term,), term.span))


# --- time --------------------------------------------------------------------------------------


def _is_edge(event: Term) -> TypeGuard[Compound]:
    """Is it `start(F=V)`, or meant so?"""
    return isinstance(event, Compound) and event.name in EDGES and len(event.args) == 1


def _happens(term: Compound, shape: Shape) -> ec.Literal:
    event, when = term.args
    time = read_time(when, shape, "happensAt")
    if _is_edge(event):
        return ec.Edge(event.name, read_edge_pair(event, shape), time, term)  # type: ignore[arg-type]
    return ec.Happens(read_event(event, shape), time, term)


def _holds_at(term: Compound, shape: Shape) -> ec.Literal:
    fvp = read_fvp(term.args[0], shape, "holdsAt")
    return ec.HoldsAt(fvp, read_time(term.args[1], shape, "holdsAt"), term)


def _holds_for(term: Compound, shape: Shape) -> ec.Literal:
    fvp = read_fvp(term.args[0], shape, "holdsFor")
    intervals = read_intervals(term.args[1], shape, "the second argument of holdsFor")
    return ec.HoldsFor(fvp, intervals, term)


def _change_parts(term: Compound, shape: Shape) -> tuple[ec.FVP, Term, tuple[Term, Term] | None]:
    """Pair, time and bounds of `initiatedAt(F=V, T)` or `initiatedAt(F=V, T1, T, T2)`."""
    fvp = read_fvp(term.args[0], shape, term.name)
    times = [read_time(arg, shape, term.name) for arg in term.args[1:]]
    return (fvp, times[0], None) if len(times) == 1 else (fvp, times[1], (times[0], times[2]))


def _change_at(term: Compound, shape: Shape) -> ec.Literal:
    make = ec.InitiatedAt if term.name == "initiatedAt" else ec.TerminatedAt
    fvp, time, bounds = _change_parts(term, shape)
    return make(fvp, time, term, bounds)


# --- values, aggregates ------------------------------------------------------------------------


def _without_carets(goal: Term) -> Term:
    """`X^Y^G` is G: every variable inside an aggregate that occurs nowhere else is local."""
    while isinstance(goal, Compound) and goal.name == "^" and len(goal.args) == 2:
        goal = goal.args[1]
    return goal


def _findall(term: Compound, shape: Shape) -> ec.Literal:
    template, goal, result = term.args
    return ec.FindAll(template, build_literal(_without_carets(goal), shape), result, term)


def _aggregate(term: Compound, shape: Shape) -> ec.Literal:
    what, goal, result = term.args
    goal = _without_carets(goal)
    if has_witness(what):
        return build_literal(written_out(replace(term, args=(what, goal, result))), shape)
    inner = build_literal(goal, shape)
    name = what.name if isinstance(what, Constant | Compound) else ""
    template = what.args[0] if isinstance(what, Compound) and len(what.args) == 1 else None
    if (
        name not in AGGREGATES
        or (name == "count") != isinstance(what, Constant)
        or (isinstance(what, Compound) and template is None)
    ):
        meant = name if name in AGGREGATES else nearest(name, AGGREGATES, 1)
        hint = "known are count, sum(X), max(X), min(X), max(X, W), min(X, W), bag(X) and set(X)"
        if meant:
            hint = f"write `{'count' if meant == 'count' else meant + '(X)'}`"
        shape.wrong("H117", f"`{show(what)}` is no aggregate", what, hint)
    return ec.AggregateAll(name, template, inner, result, term)  # type: ignore[arg-type]


_CONDITIONS: dict[Key, Callable[[Compound, Shape], ec.Literal]] = {
    (",", 2): build_body,
    (";", 2): _or,
    ("->", 2): lambda term, shape: _if(term, None, term, shape),
    ("\\+", 1): _not,
    ("not", 1): _not,
    ("call", 1): lambda term, shape: build_literal(term.args[0], shape),
    ("forall", 2): _forall,
    ("is", 2): lambda term, shape: ec.Is(term.args[0], term.args[1], term),
    ("happensAt", 2): _happens,
    ("holdsAt", 2): _holds_at,
    ("holdsFor", 2): _holds_for,
    ("initiatedAt", 2): _change_at,
    ("initiatedAt", 4): _change_at,
    ("terminatedAt", 2): _change_at,
    ("terminatedAt", 4): _change_at,
    # Groundings restrict what is computed anyway, so asking for them again adds nothing.
    ("grounding", 1): lambda term, shape: ec.TruthValue(True, Constant("true", term.span)),
    ("findall", 3): _findall,
    ("aggregate_all", 3): _aggregate,
    ("allen", 5): allen_named,
    **dict.fromkeys(INTERVAL_OPERATIONS.items(), interval_operation),
    **{(name, 3): duration for name in DURATIONS},
}
assert all((name, arity) in _CONDITIONS for name, ns in BODY_LITERALS.items() for arity in ns)


Build = Callable[[Compound, ec.Clause, Shape], ec.Rule]


def build_rule(clause: ec.Clause, shape: Shape) -> ec.Rule | None:
    """The rule a clause says, or None after saying what is wrong."""
    head = clause.head
    if head is None:
        return None
    if not isinstance(head, Constant | Compound) or not is_name(head):
        _no_predicate(head, shape)
    elif is_private(head.name):
        refuse_private(head, shape)
    else:
        rule = _read_rule(head, clause, shape)
        return None if shape.broken else rule
    return None


def _read_rule(head: Constant | Compound, clause: ec.Clause, shape: Shape) -> ec.Rule | None:
    """A head with a meaning of its own, or a predicate of the user, perhaps of the same name."""
    name, args = head.name, args_of(head)
    counts = FLUENT_HEADS.get(name) or DECLARATIONS.get(name) or (1,)
    is_special = name in _HEADS or name in DECLARATIONS
    fits = isinstance(head, Compound) and len(args) in counts
    if name in ("p", "points", "cyclic"):
        fits = fits and is_pair(args[0])
    if is_special and fits and isinstance(head, Compound):
        if name in _HEADS:
            return _HEADS[name][0](head, clause, shape)
        return ec.Declaration(name, args, clause)
    if not is_special or name in EVERYDAY_HEADS:
        return ec.BackgroundRule(head, build_body(clause.body, shape), clause)
    message = f"`{name}` has {_arguments(counts)}, not {len(args)}"
    form = _HEADS[name][1] if name in _HEADS else name
    shape.wrong("H102", message, head, f"write {form}")
    return None


def _no_predicate(head: Term, shape: Shape) -> None:
    hint = "a head is a name, with or without arguments"
    if isinstance(head, Compound) and head.name == "," and len(head.args) == 2:
        hint = "write one clause for each; a body starts with `:-`"
    elif isinstance(head, Compound) and head.name in ("<", "-", "="):
        hint = "write `head :- conditions.`"
    shape.wrong("H100", f"`{show(head)}` cannot be the head of a clause", head, hint)


def _needs_body(clause: ec.Clause, shape: Shape, why: str) -> None:
    """Say that a rule needs a body, unless it is wrong anyway."""
    if clause.body is None and clause.head is not None and not shape.broken:
        message = f"this rule needs a body: {why}"
        shape.wrong("H108", message, clause.head, "write `head :- conditions.`")


def _needs_time(time: Term, clause: ec.Clause, shape: Shape) -> None:
    if isinstance(time, Var):
        _needs_body(clause, shape, f"nothing says when, {time.name} could be any time")


def _change(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    make = ec.Initiation if head.name == "initiatedAt" else ec.Termination
    fvp, time, bounds = _change_parts(head, shape)
    body = build_body(clause.body, shape)
    _needs_time(time, clause, shape)
    return make(fvp, time, body, clause, bounds)


def _effect(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    make = ec.Initiation if head.name == "initiates" else ec.Termination
    event = read_event(head.args[0], shape)
    fvp = read_fvp(head.args[1], shape, head.name)
    time = read_time(head.args[2], shape, head.name)
    body = build_body(clause.body, shape)
    happens = ec.Happens(event, time, Compound("happensAt", (event, time), head.span))
    whole: Term = happens.term
    if clause.body is not None:
        whole = Compound(",", (happens.term, clause.body), clause.span)
    return make(fvp, time, ec.Conjunction((happens, *body.items), whole), clause)


def _initially(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    fvp = read_fvp(head.args[0], shape, "initially")
    return ec.Initially(fvp, build_body(clause.body, shape), clause)


def _event(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    event, when = head.args
    time = read_time(when, shape, "happensAt")
    body = build_body(clause.body, shape)
    if _is_edge(event):
        message = f"`{event.name}` marks the ends of intervals and cannot be defined"
        shape.wrong("H109", message, event, "give the event another name")
    else:
        read_event(event, shape)
    _needs_time(time, clause, shape)
    return ec.EventRule(event, time, body, clause)


def _holds_for_head(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    fvp = read_fvp(head.args[0], shape, "holdsFor")
    intervals = head.args[1]
    body = build_body(clause.body, shape)
    _needs_body(clause, shape, "nothing says which intervals")
    if not isinstance(intervals, Var) and not shape.broken:
        message = f"the intervals in the head must be a variable, not `{show(intervals)}`"
        shape.wrong("H120", message, intervals, "the body computes them")
    return ec.HoldsForRule(fvp, intervals, body, clause)


def _holds_at_head(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    fvp = read_fvp(head.args[0], shape, "holdsAt")
    time = read_time(head.args[1], shape, "holdsAt")
    body = build_body(clause.body, shape)
    _needs_body(clause, shape, "`initially` says what holds from the start")
    return ec.HoldsAtRule(fvp, time, body, clause)


def _delay(term: Term, clause: ec.Clause, shape: Shape) -> Term:
    """A delay: a number, or a variable of the body or of the pair whose initiation it follows."""
    head = clause.head.args[:1] if isinstance(clause.head, Compound) else ()
    parts = [*head, *([clause.body] if clause.body is not None else [])]
    if isinstance(term, Var):
        if not any(term.name in variables(part) for part in parts):
            message = f"nothing says how long the delay `{show(term)}` is"
            shape.wrong("H106", message, term, _LENGTH)
    elif not isinstance(term, Int) or term.value <= 0:
        message = f"a delay must be a whole number above zero, not `{show(term)}`"
        shape.wrong("H106", message, term, _LENGTH)
    return term


_LENGTH = "write a number, or a variable that the body gives a value"


def _future_initiation(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    origin, target = (read_fvp(arg, shape, "fi") for arg in head.args[:2])
    delay = _delay(head.args[2], clause, shape)
    return ec.FutureInitiation(origin, target, delay, build_body(clause.body, shape), clause)


def _future_termination(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    origin = read_fvp(head.args[0], shape, "ft")
    delay = _delay(head.args[1], clause, shape)
    return ec.FutureTermination(origin, delay, build_body(clause.body, shape), clause)


def _postponable(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    fvp = read_fvp(head.args[0], shape, "p")
    body = build_body(clause.body, shape)
    allowed = all(isinstance(item, ec.TruthValue) and item.value for item in body.items)
    if not allowed and not shape.broken:
        message = "p(F=V) takes no conditions"
        shape.wrong("H121", message, body.items[0].term, f"write `{show(head)}.`")
    return ec.Postponable(fvp, clause)


def _grounding_head(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    entity = head.args[0]
    body = build_body(clause.body, shape)
    if is_pair(entity):
        fvp = read_fvp(entity, shape, "grounding")
        return ec.Grounding(fvp.fluent, fvp.value, body, clause)
    if not is_name(entity):
        message = f"`{show(entity)}` is neither an event nor a fluent with its value"
        shape.wrong("H121", message, entity, "write grounding(event(X)) or grounding(fluent(X)=V)")
    return ec.Grounding(entity, None, body, clause)


def _dynamic_domain(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    domain = head.args[0]
    if not isinstance(domain, Compound) or not is_name(domain):
        message = f"`{show(domain)}` is no domain: a domain is a predicate"
        hint = f"write dynamicDomain({domain.name}(_))" if isinstance(domain, Constant) else None
        shape.wrong("H121", message, domain, hint)
    return ec.DynamicDomain(domain, clause)  # type: ignore[arg-type]


def _input_fluent(head: Compound, clause: ec.Clause, shape: Shape) -> ec.Rule:
    if clause.body is not None and functor(clause.body) in (("fail", 0), ("false", 0)):
        # `buildFromPoints(_) :- fail.` tells another engine that there is no such input.
        return ec.Declaration(head.name, head.args, clause)
    fvp = read_fvp(head.args[0], shape, head.name)
    form: OneOf["intervals", "points"]
    form = "intervals" if head.name == "collectIntervals" else "points"
    return ec.InputFluent(fvp, form, clause)


_HEADS: dict[str, tuple[Build, str]] = {
    "initiatedAt": (_change, "initiatedAt(F=V, T)"),
    "terminatedAt": (_change, "terminatedAt(F=V, T)"),
    "initiates": (_effect, "initiates(Event, F=V, T)"),
    "terminates": (_effect, "terminates(Event, F=V, T)"),
    "initially": (_initially, "initially(F=V)"),
    "happensAt": (_event, "happensAt(Event, T)"),
    "holdsFor": (_holds_for_head, "holdsFor(F=V, I)"),
    "holdsAt": (_holds_at_head, "holdsAt(F=V, T)"),
    "fi": (_future_initiation, "fi(F=V, F=V2, Delay)"),
    "ft": (_future_termination, "ft(F=V, Delay)"),
    "p": (_postponable, "p"),
    "grounding": (_grounding_head, "grounding(Event) or grounding(F=V)"),
    "dynamicDomain": (_dynamic_domain, "dynamicDomain(domain(_))"),
    "collectIntervals": (_input_fluent, "collectIntervals(F=V)"),
    "points": (_input_fluent, "points"),
    "buildFromPoints": (_input_fluent, "buildFromPoints(F=V)"),
}
"""What reads a head, and its form."""
