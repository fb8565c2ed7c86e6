"""Walking through formulas: parts, atoms, variables, and formulas with other terms or windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Bindings, Term, Var, substitute, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Clock


def children(formula: lars.Head) -> tuple[lars.Formula, ...]:
    """The formulas directly inside a formula or choice, conditions included."""
    match formula:
        case lars.Atom() | lars.Truth() | lars.Comparison():
            return ()
        case lars.And(parts=parts) | lars.Or(parts=parts):
            return parts
        case lars.Implies(left=left, right=right):
            return (left, right)
        case lars.Aggregate(elements=elements):
            return tuple(part for element in elements for part in element.condition)
        case lars.Choice(options=options):
            return tuple(part for option in options for part in (option.head, *option.condition))
        case _:
            return (formula.formula,)


def subformulas(formula: lars.Head) -> Iterator[lars.Head]:
    """The formula and everything inside it, outside first."""
    yield formula
    for inner in children(formula):
        yield from subformulas(inner)


def formulas(rule: lars.Rule) -> Iterator[lars.Head]:
    """Everything inside head and body of a rule."""
    for part in rule.parts:
        yield from subformulas(part)


def windows(rule: lars.Rule) -> Iterator[lars.Within]:
    """All windows of a rule, each with what it is applied to."""
    return (part for part in formulas(rule) if isinstance(part, lars.Within))


def atoms(formula: lars.Head) -> Iterator[lars.Atom]:
    """All atoms of a formula or choice."""
    return (part for part in subformulas(formula) if isinstance(part, lars.Atom))


def own_terms(formula: lars.Head) -> tuple[Term, ...]:
    """The terms that stand directly in a formula, not in formulas inside it."""
    match formula:
        case lars.Atom(args=args):
            return args
        case lars.Comparison(left=left, right=right):
            return (left, right)
        case lars.At(time=time):
            return (time,)
        case lars.Within(window=window):
            return window.terms
        case lars.Aggregate(elements=elements, bound=bound):
            return (*(term for element in elements for term in element.terms), bound)
        case lars.Choice(least=least, most=most):
            return tuple(term for term in (least, most) if term is not None)
        case _:
            return ()


def formula_variables(formula: lars.Head) -> dict[str, Var]:
    """The variables of a formula by name, in order of first occurrence."""
    found: dict[str, Var] = {}
    for part in subformulas(formula):
        for term in own_terms(part):
            for name, var in variables(term).items():
                found.setdefault(name, var)
    return found


def rule_variables(rule: lars.Rule) -> dict[str, Var]:
    """The variables of head and body."""
    found: dict[str, Var] = {}
    for part in rule.parts:
        found = {**formula_variables(part), **found}
    return found


def bind(formula: lars.Formula, bindings: Bindings) -> lars.Formula:
    """The formula with terms put for its variables; those of patterns belong to these alone."""

    def change(part: Any) -> Any:
        if isinstance(part, Term):
            return substitute(part, bindings)
        return part if isinstance(part, lars.Pattern) else rebuilt(part, change)

    return rebuilt(formula, change)


def in_points(program: lars.Program, clock: Clock) -> lars.Program:
    """The program with durations turned into numbers of time points; may raise `Incompatible`."""

    def change(part: Any) -> Any:
        if isinstance(part, lars.Window):
            return part.in_points(clock)
        return part if isinstance(part, Term) else rebuilt(part, change)

    return rebuilt(program, change)
