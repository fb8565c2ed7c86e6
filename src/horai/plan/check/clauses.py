"""Checks of single clauses: singletons, negations with the same name, holdsAt heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import Term, Var, subterms, variables
from horai.lang.ec.syntax import (
    AggregateAll,
    Allen,
    BackgroundRule,
    Clause,
    Declaration,
    DurationFilter,
    DynamicDomain,
    Edge,
    FindAll,
    FutureInitiation,
    FutureTermination,
    Grounding,
    Happens,
    HoldsAt,
    HoldsAtRule,
    HoldsFor,
    InitiatedAt,
    InputFluent,
    IntervalOp,
    Literal,
    Negation,
    Postponable,
    Rule,
    TerminatedAt,
    parts,
    walk,
)
from horai.plan.check.context import CheckContext, find_variable, finding, quoted
from horai.plan.check.names import looks_mistyped
from horai.plan.ec.delays import initiation_times
from horai.plan.ec.literals import body_literals, literal_word, names, visible

# A file with more of them is written by someone who does not mark such variables.
_MANY_SINGLETONS = 3
_LINES = 6


def singletons(context: CheckContext) -> Iterator[Diagnostic]:
    """H309: a named variable that occurs once.

    Where a file has many, they are said together, except those that look like another variable of
    their clause.
    """
    by_file: dict[str, list[tuple[Clause, Var]]] = {}
    for clause, var in _singletons(context):
        by_file.setdefault(clause.source.name, []).append((clause, var))
    for found in by_file.values():
        alone = [pair for pair in found if _is_slip(*pair)]
        others = [pair for pair in found if pair not in alone]
        if len(others) <= _MANY_SINGLETONS:
            alone, others = found, []
        for clause, var in alone:
            yield _singleton(clause, var, None)
        if others:
            yield _singleton(*others[0], _more(others))


def _more(found: list[tuple[Clause, Var]]) -> str:
    places = (clause.source.position(var.span[0])[0] for clause, var in found if var.span)
    lines = list(dict.fromkeys(str(line) for line in places))
    shown = ", ".join(lines[:_LINES]) + (", ..." if len(lines) > _LINES else "")
    return f"{len(found)} variables of this file do: lines {shown}"


def _singleton(clause: Clause, var: Var, note: str | None) -> Diagnostic:
    return finding(
        "H309",
        f"`{var.name}` occurs only once",
        clause,
        var,
        hint=f"a mistyped name? If it is meant, write `_{var.name}` or `_`",
        note=note,
    )


def _is_slip(clause: Clause, var: Var) -> bool:
    """True when another variable of the clause has nearly the same name."""
    others = {other.name for other in _occurrences(clause.head, clause.body)} - {var.name}
    return any(
        name.lower() == var.name.lower() or looks_mistyped(var.name, name) for name in others
    )


def _singletons(context: CheckContext) -> Iterator[tuple[Clause, Var]]:
    for rule in context.description.rules:
        body = rule.clause.body
        if isinstance(rule, Declaration | DynamicDomain | InputFluent | Postponable):
            continue
        counts = Counter(var.name for var in _occurrences(rule.clause.head, body))
        # An unbound head variable is an error of its own, or ranges over a grounding.
        places = [rule.clause.head, body] if isinstance(rule, BackgroundRule) else [body]
        collected = {id(var) for var in _occurrences(*_aggregates(rule))}
        starts = _initiation_times(rule, context)
        for var in _occurrences(*places):
            if id(var) in collected or var.name in starts:
                continue  # what is counted, or the time of initiation, needs no other mention
            if counts[var.name] == 1 and not var.name.startswith("_"):
                yield rule.clause, var


def _occurrences(*terms: Term | None) -> list[Var]:
    found = [part for term in terms if term is not None for part in subterms(term)]
    return [part for part in found if isinstance(part, Var)]


def _initiation_times(rule: Rule, context: CheckContext) -> list[str]:
    if isinstance(rule, FutureInitiation | FutureTermination):
        return initiation_times(rule, context.graph.helpers)
    return []


def _aggregates(rule: Rule) -> Iterator[Term]:
    for literal in body_literals(rule):
        if isinstance(literal, FindAll | AggregateAll):
            yield literal.goal.term


def separate_negations(context: CheckContext) -> Iterator[Diagnostic]:
    """H306: a variable that only negations mention, and more than one."""
    for rule in context.description.rules:
        body = getattr(rule, "body", None)
        if body is None or isinstance(rule, Grounding | FutureTermination):
            continue
        seen = visible(body) | (
            names(rule.clause.head) if rule.clause.head is not None else names()
        )
        hidden = list(_outermost_negations(body))
        counts = Counter(name for literal in hidden for name in variables(literal.term))
        for name, count in counts.items():
            if count > 1 and name not in seen and not name.startswith("_"):
                last = next(n for n in reversed(hidden) if name in variables(n.term))
                yield finding(
                    "H306",
                    f"`{name}` occurs only in negations: each of them has a `{name}` of its own",
                    rule.clause,
                    find_variable(last.term, name) or last.term,
                    hint=f"bind {name} by another condition, or use names that start with `_`",
                )


def _outermost_negations(literal: Literal) -> Iterator[Negation]:
    if isinstance(literal, Negation):
        yield literal
        return
    for part in parts(literal):
        yield from _outermost_negations(part)


def holds_at_heads(context: CheckContext) -> Iterator[Diagnostic]:
    """H307: what the body of a rule with a holdsAt head may say."""
    for rule in context.description.rules:
        if isinstance(rule, HoldsAtRule):
            yield from _formula(rule)


_NOT_IN_A_FORMULA = (
    Happens,
    Edge,
    HoldsFor,
    InitiatedAt,
    TerminatedAt,
    IntervalOp,
    DurationFilter,
    AggregateAll,
    Allen,
)


def _formula(rule: HoldsAtRule) -> Iterator[Diagnostic]:
    # A head whose time no condition mentions is an error of its own.
    one_time = names(rule.time) <= names(rule.body.term)
    for literal in walk(rule.body):
        if isinstance(literal, _NOT_IN_A_FORMULA):
            yield finding(
                "H307",
                f"{_word(literal)} cannot occur in a rule with a holdsAt head",
                rule.clause,
                literal.term,
                hint="use initiatedAt for effects of events, holdsFor for interval operations",
            )
        elif isinstance(literal, HoldsAt) and literal.time != rule.time and one_time:
            yield finding(
                "H307",
                f"{quoted(literal.term)} looks at another time than the head",
                rule.clause,
                literal.time if literal.time.span is not None else literal.term,
                hint="a rule with a holdsAt head speaks of one time-point only",
            )


def _word(literal: Literal) -> str:
    match literal:
        case IntervalOp(kind=kind):
            return kind
        case DurationFilter():
            return "a duration filter"
        case Allen(relation=relation):
            return relation
        case _:
            return literal_word(literal)
