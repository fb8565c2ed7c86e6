"""Checks of background predicates: those that are called must exist."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.diagnostics import Diagnostic, did_you_mean
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Term, subterms
from horai.lang.ec.builtins import ALLEN_RELATIONS, BUILTINS
from horai.lang.ec.syntax import Call, Compare, DurationFilter, Is, Literal
from horai.plan.check.context import CheckContext, arguments, finding, listed
from horai.plan.ec.literals import body_literals
from horai.plan.ec.predicates import python_table


def unknown_predicates(context: CheckContext) -> Iterator[Diagnostic]:
    """H203, H205: calls of predicates that do not exist, or not with so many arguments."""
    known = set(context.predicates) | set(BUILTINS)
    python = python_table(context.python)
    names = {name for name, _ in known} | set(python)
    for key, calls in context.called.items():
        name, arity = key
        call, clause = calls[0]
        if name in python and not python[name].accepts(arity):
            message = f"the Python predicate `{name}` has {python[name].parameters} parameters"
            hint = "call it with as many arguments, or one more for what it returns"
            yield finding("H205", f"{message}, not {arity}", clause, call.term, hint=hint)
        if key in known or name in python:
            continue
        more = f"it is called in {len(calls)} places" if len(calls) > 1 else None
        arities = sorted(n for other, n in known if other == name)
        if arities:
            counts = listed([str(n) for n in arities], "or")
            message = f"`{name}` is called with {arguments(arity)}; it is defined with {counts}"
            yield finding("H205", message, clause, call.term, note=more)
            continue
        hint = _entity_hint(context, call) or _near_hint(call, names)
        message = f"unknown predicate `{name}/{arity}`"
        yield finding("H203", message, clause, call.term, hint=hint, note=more)


def _near_hint(call: Call, names: set[str]) -> str:
    relation = did_you_mean(call.name, ALLEN_RELATIONS) or call.name
    if relation in ALLEN_RELATIONS and len(call.args) in (2, 3):
        source, target, *rest = (show(arg) for arg in call.args)
        found = f"{relation}({source}, {target}, source, {rest[0] if rest else 'I'})"
        return (
            f"it is a relation of interval lists, and needs a mode: write `{found}` for the "
            "intervals of the first list that are so related"
        )
    near = did_you_mean(call.name, names)
    return f"did you mean `{near}`?" if near else _how_to_define(*call.key)


def _entity_hint(context: CheckContext, call: Call) -> str | None:
    """Events and fluents are no predicates: they need a literal with a time around them."""
    if call.key in context.entities.fluents:
        return f"`{call.name}` is a fluent: write `holdsAt({show(call.term)}=..., T)`"
    if call.key in context.entities.events:
        return f"`{call.name}` is an event: write `happensAt({show(call.term)}, T)`"
    return None


def _how_to_define(name: str, arity: int) -> str:
    args = f"({', '.join('...' for _ in range(arity))})" if arity else ""
    return f"add facts or rules `{name}{args}`, or register a Python predicate of this name"


# What arithmetic knows, by number of arguments.
_ONE = "- + abs sqrt floor ceiling round truncate integer float sign sin cos tan asin acos atan"
_TWO = "+ - * / // mod rem min max ** ^ atan2"
FUNCTIONS: dict[int, frozenset[str]] = {
    1: frozenset((*_ONE.split(), "exp", "log")),
    2: frozenset(_TWO.split()),
}
NAMES = sorted(FUNCTIONS[1] | FUNCTIONS[2])


def unknown_functions(context: CheckContext) -> Iterator[Diagnostic]:
    """H209: arithmetic with a function that does not exist."""
    for rule in context.description.rules:
        for literal in body_literals(rule):
            for expression in _expressions(literal):
                wrong = next(_unknown(expression), None)
                if wrong is not None:
                    name = wrong.name
                    near = did_you_mean(name, NAMES)
                    yield finding(
                        "H209",
                        f"arithmetic has no `{name}`",
                        rule.clause,
                        wrong,
                        hint=f"did you mean `{near}`?" if near else None,
                    )


def _expressions(literal: Literal) -> Iterator[Term]:
    match literal:
        case Compare(op=op, left=left, right=right) if op in COMPARISONS:
            yield left
            yield right
        case Is(expression=expression):
            yield expression
        case DurationFilter(bound=bound):
            yield bound
        case _:
            pass


def _unknown(expression: Term) -> Iterator[Compound]:
    for part in subterms(expression):
        if isinstance(part, Compound) and part.name not in FUNCTIONS.get(len(part.args), ()):
            yield part
