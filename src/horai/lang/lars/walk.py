"""Walking through formulas: parts, atoms, variables, and formulas with other terms or windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from horai.lang.core.terms import Bindings, Term, Var, substitute, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Clock, Duration

Same = TypeVar("Same")


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
        case lars.Within(window=lars.IntervalWindow(first=first, last=last)):
            return (first, last)
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
    """The formula with terms put for its variables."""
    return map_terms(formula, lambda term: substitute(term, bindings))


def map_terms(formula: lars.Formula, change: Callable[[Term], Term]) -> lars.Formula:
    """The formula with every term changed."""

    def window(given: lars.Window) -> lars.Window:
        if not isinstance(given, lars.IntervalWindow):
            return given
        return replace(given, first=change(given.first), last=change(given.last))

    return rebuilt(formula, lambda part: map_terms(part, change), term=change, window=window)


def map_windows(
    formula: lars.Formula, change: Callable[[lars.Window], lars.Window]
) -> lars.Formula:
    """The formula with every window changed."""
    return rebuilt(formula, lambda part: map_windows(part, change), window=change)


def _same(given: Same) -> Same:
    return given


def rebuilt(
    formula: lars.Formula,
    inside: Callable[[lars.Formula], lars.Formula],
    *,
    term: Callable[[Term], Term] = _same,
    window: Callable[[lars.Window], lars.Window] = _same,
) -> lars.Formula:
    """The formula with its own terms, its window and the formulas directly inside it changed."""
    match formula:
        case lars.Truth():
            return formula
        case lars.Atom(args=args):
            return replace(formula, args=tuple(term(arg) for arg in args))
        case lars.Comparison(left=left, right=right):
            return replace(formula, left=term(left), right=term(right))
        case lars.And(parts=parts) | lars.Or(parts=parts):
            return replace(formula, parts=tuple(inside(part) for part in parts))
        case lars.Implies(left=first, right=second):
            return replace(formula, left=inside(first), right=inside(second))
        case lars.At(time=time, formula=inner):
            return replace(formula, time=term(time), formula=inside(inner))
        case lars.Within(window=given, formula=inner):
            return replace(formula, window=window(given), formula=inside(inner))
        case lars.Aggregate(elements=elements, bound=bound):
            changed = tuple(
                replace(
                    element,
                    terms=tuple(term(one) for one in element.terms),
                    condition=tuple(inside(part) for part in element.condition),
                )
                for element in elements
            )
            return replace(formula, elements=changed, bound=term(bound))
        case lars.Not() | lars.Some() | lars.Always() | lars.Reset():
            return replace(formula, formula=inside(formula.formula))


def in_points(program: lars.Program, clock: Clock) -> lars.Program:
    """The program with durations turned into numbers of time points; may raise `Incompatible`."""

    def window(given: lars.Window) -> lars.Window:
        return counted(given, clock)

    def head(given: lars.Head) -> lars.Head:
        if not isinstance(given, lars.Choice):
            return map_windows(given, window)
        options = tuple(
            lars.ChoiceOption(
                o.head, tuple(map_windows(c, window) for c in o.condition), span=o.span
            )
            for o in given.options
        )
        return replace(given, options=options)

    def rule(given: lars.Rule) -> lars.Rule:
        changed = None if given.head is None else head(given.head)
        body = tuple(map_windows(condition, window) for condition in given.body)
        return replace(given, head=changed, body=body)

    return replace(program, rules=tuple(rule(one) for one in program.rules))


def counted(window: lars.Window, clock: Clock) -> lars.Window:
    """A window by time in time points, others as they are; may raise `Incompatible`.

    >>> counted(lars.NamedWindow("since", Duration(3, "s")), Clock(500, "ms")).length
    Duration(amount=6, unit=None)
    """
    if isinstance(window, lars.NamedWindow):
        return replace(window, length=Duration(clock.points(window.length)))
    if not isinstance(window, lars.TimeWindow):
        return window
    past, future = clock.points(window.past), clock.points(window.future)
    hop = None if window.hop is None else Duration(clock.points(window.hop))
    return replace(window, past=Duration(past), future=Duration(future), hop=hop)
