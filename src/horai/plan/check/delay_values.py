"""Where the lengths of delays come from: background knowledge that gives none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.diagnostics import Diagnostic
from horai.lang.ec.syntax import (
    And,
    BackgroundRule,
    Call,
    Clause,
    Compare,
    FutureInitiation,
    FutureTermination,
    IfThenElse,
    Is,
    Literal,
    Or,
    walk,
)
from horai.lang.printer import show
from horai.lang.source import Source
from horai.lang.terms import Compound, Int, Span, Term, Var, functor, make, variables
from horai.plan.check.context import Context
from horai.plan.codes import CODES
from horai.plan.unify import may_match

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Given:
    """A value of a delay, with the fact or head that gives it."""

    value: Term
    text: Term
    source: Source
    span: Span


def lengths_that_are_none(context: Context) -> Iterator[Diagnostic]:
    """H416: a delay that background knowledge gives is no whole number above zero."""
    seen: set[tuple[str, Span]] = set()
    for rule in context.description.rules:
        if not isinstance(rule, FutureInitiation | FutureTermination):
            continue
        wrong = [given for given in _lengths(context, rule) if not _is_length(given.value)]
        if wrong and (wrong[0].source.name, wrong[0].span) not in seen:
            seen.add((wrong[0].source.name, wrong[0].span))
            yield _finding(rule.clause, wrong)


def _finding(clause: Clause, wrong: list[_Given]) -> Diagnostic:
    first, more = wrong[0], len(wrong) - 1
    line = clause.source.position(clause.span[0])[0]
    where = f"line {line}" if clause.source is first.source else f"{clause.source.name}:{line}"
    note = f"it is the delay of {where}, which does nothing then"
    return Diagnostic(
        "H416",
        CODES["H416"].severity,
        f"`{show(first.value)}` in `{show(first.text)}` is no delay",
        first.source,
        first.span,
        "a delay is a whole number above zero",
        note + (f"; the same goes for {more} more" if more else ""),
    )


def _is_length(value: Term) -> bool:
    return isinstance(value, Int) and value.value > 0


def _lengths(context: Context, rule: FutureInitiation | FutureTermination) -> list[_Given]:
    delay = rule.delay
    if not isinstance(delay, Var) or delay.name in variables(rule.origin.term):
        return []
    return list(_values(context, rule.body, delay.name, frozenset()))


def _values(
    context: Context, body: Literal, name: str, through: frozenset[tuple[Key, int]]
) -> Iterator[_Given]:
    """What calls can give a variable, unless other conditions choose among it."""
    if any(isinstance(part, Compare | Is) and name in variables(part.term) for part in walk(body)):
        return
    for call in _calls(body):
        for place, arg in enumerate(call.args):
            if isinstance(arg, Var) and arg.name == name and (call.key, place) not in through:
                yield from _of_predicate(context, call, place, through | {(call.key, place)})


def _of_predicate(
    context: Context, call: Call, place: int, through: frozenset[tuple[Key, int]]
) -> Iterator[_Given]:
    facts = context.description.facts.get(call.key)
    if facts is not None:
        for row, (source, start) in zip(facts.rows, facts.places, strict=True):
            if not _is_length(row[place]) and _fits(row, call):
                yield _Given(
                    row[place], make(call.name, *row), source, (start, start + len(call.name))
                )
    for rule in context.description.rules:
        if not isinstance(rule, BackgroundRule) or functor(rule.head) != call.key:
            continue
        head = rule.head
        if not isinstance(head, Compound) or not may_match(head, call.term):
            continue
        value = head.args[place]
        if isinstance(value, Var):
            yield from _values(context, rule.body, value.name, through)
        else:
            yield _Given(value, head, rule.clause.source, head.span or rule.clause.span)


def _fits(row: tuple[Term, ...], call: Call) -> bool:
    return all(may_match(value, arg) for value, arg in zip(row, call.args, strict=True))


def _calls(literal: Literal) -> Iterator[Call]:
    """The calls that give values: those inside negations and aggregates do not."""
    match literal:
        case Call():
            yield literal
        case And(items=items) | Or(items=items):
            for item in items:
                yield from _calls(item)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            for part in (condition, then, otherwise):
                yield from _calls(part)
        case _:
            pass
