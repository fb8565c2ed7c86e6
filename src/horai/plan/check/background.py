"""Checks of background knowledge: stratified negation, facts written twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from horai.lang.core.diagnostics import Diagnostic, Severity
from horai.lang.core.printer import show
from horai.lang.core.terms import Term, functor, make
from horai.lang.ec.syntax import (
    AggregateAll,
    BackgroundRule,
    Call,
    Clause,
    FindAll,
    IfThenElse,
    Literal,
    Negation,
    parts,
)
from horai.plan.check.context import CheckContext, finding, place_of
from horai.plan.graphs import Digraph

Key = tuple[str, int]


def negative_cycles(context: CheckContext) -> Iterator[Diagnostic]:
    """H401: a predicate that depends on its own negation."""
    graph: Digraph[Key] = Digraph()
    negative: list[tuple[Key, Key, Call, Clause]] = []
    places: dict[tuple[Key, Key], tuple[Clause, Term]] = {}
    for rule in context.description.rules:
        head = functor(rule.head) if isinstance(rule, BackgroundRule) else None
        if head is None or not isinstance(rule, BackgroundRule):
            continue
        for call, positive in _calls(rule.body, True):
            graph.add_edge(head, call.key)
            places.setdefault((head, call.key), (rule.clause, call.term))
            if not positive:
                negative.append((head, call.key, call, rule.clause))
    group = graph.component_of()
    reported: set[int] = set()
    for head, called, call, clause in negative:
        if group[head] != group[called] or group[head] in reported:
            continue
        reported.add(group[head])
        cycle = [head, *(graph.path(called, head) or ())]
        steps = [
            f"{_name(a)} calls {_name(b)} ({place_of(*places[(a, b)], clause.source)})"
            for a, b in itertools.pairwise(cycle)
        ]
        yield finding(
            "H401",
            "a predicate depends on its own negation: " + " -> ".join(_name(k) for k in cycle),
            clause,
            call.term,
            hint="define one of them without the other",
            note="; ".join(steps),
        )


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def _calls(literal: Literal, positive: bool) -> Iterator[tuple[Call, bool]]:
    """The calls of a body; those whose failure matters are not positive."""
    match literal:
        case Call():
            yield literal, positive
        case Negation() | FindAll() | AggregateAll():
            for part in parts(literal):
                yield from _calls(part, False)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            yield from _calls(condition, False)
            yield from _calls(then, positive)
            yield from _calls(otherwise, positive)
        case _:
            for part in parts(literal):
                yield from _calls(part, positive)


def duplicate_facts(context: CheckContext) -> Iterator[Diagnostic]:
    """H501: facts that occur more than once, said once per predicate."""
    for (name, arity), facts in context.description.facts.items():
        if len(facts.rows) < 2:
            continue
        seen: set[tuple[Term, ...]] = set()
        repeated: list[int] = []
        for number, row in enumerate(facts.rows):
            if row in seen:
                repeated.append(number)
            seen.add(row)
        if not repeated:
            continue
        first = repeated[0]
        source, offset = facts.places[first]
        text = show(make(name, *facts.rows[first]))
        count = len(repeated)
        message = f"the fact `{text}` is written twice"
        if count > 1:
            message = f"{count} facts of `{name}/{arity}` repeat others, the first is `{text}`"
        yield Diagnostic(
            "H501", Severity.WARNING, message, source, (offset, offset + len(name)), "remove it"
        )
