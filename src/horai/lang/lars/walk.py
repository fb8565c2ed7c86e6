"""Walking through formulas: parts, atoms, variables, and formulas with other terms or windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from horai.lang.core.terms import Bindings, Term, Var, substitute, variables
from horai.lang.lars.clock import Clock, Duration
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Choice,
    ChoiceOption,
    Comparison,
    Formula,
    Head,
    Implies,
    IntervalWindow,
    Not,
    Or,
    Program,
    Reset,
    Rule,
    Some,
    TimeWindow,
    Truth,
    Window,
    Within,
)

Same = TypeVar("Same")


def children(formula: Head) -> tuple[Formula, ...]:
    """The formulas directly inside a formula or choice, conditions included."""
    match formula:
        case Atom() | Truth() | Comparison():
            return ()
        case And(parts=parts) | Or(parts=parts):
            return parts
        case Implies(left=left, right=right):
            return (left, right)
        case Aggregate(elements=elements):
            return tuple(part for element in elements for part in element.condition)
        case Choice(options=options):
            return tuple(part for option in options for part in (option.head, *option.condition))
        case _:
            return (formula.formula,)


def subformulas(formula: Head) -> Iterator[Head]:
    """The formula and everything inside it, outside first."""
    yield formula
    for inner in children(formula):
        yield from subformulas(inner)


def atoms(formula: Head) -> Iterator[Atom]:
    """All atoms of a formula or choice."""
    return (part for part in subformulas(formula) if isinstance(part, Atom))


def own_terms(formula: Head) -> tuple[Term, ...]:
    """The terms that stand directly in a formula, not in formulas inside it."""
    match formula:
        case Atom(args=args):
            return args
        case Comparison(left=left, right=right):
            return (left, right)
        case At(time=time):
            return (time,)
        case Within(window=IntervalWindow(first=first, last=last)):
            return (first, last)
        case Aggregate(elements=elements, bound=bound):
            return (*(term for element in elements for term in element.terms), bound)
        case Choice(least=least, most=most):
            return tuple(term for term in (least, most) if term is not None)
        case _:
            return ()


def formula_variables(formula: Head) -> dict[str, Var]:
    """The variables of a formula by name, in order of first occurrence."""
    found: dict[str, Var] = {}
    for part in subformulas(formula):
        for term in own_terms(part):
            for name, var in variables(term).items():
                found.setdefault(name, var)
    return found


def rule_variables(rule: Rule) -> dict[str, Var]:
    """The variables of head and body."""
    found = {} if rule.head is None else formula_variables(rule.head)
    for condition in rule.body:
        found = {**formula_variables(condition), **found}
    return found


def bind(formula: Formula, bindings: Bindings) -> Formula:
    """The formula with terms put for its variables."""
    return map_terms(formula, lambda term: substitute(term, bindings))


def map_terms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """The formula with every term changed."""

    def window(given: Window) -> Window:
        if not isinstance(given, IntervalWindow):
            return given
        return replace(given, first=change(given.first), last=change(given.last))

    return rebuilt(formula, lambda part: map_terms(part, change), term=change, window=window)


def map_windows(formula: Formula, change: Callable[[Window], Window]) -> Formula:
    """The formula with every window changed."""
    return rebuilt(formula, lambda part: map_windows(part, change), window=change)


def _same(given: Same) -> Same:
    return given


def rebuilt(
    formula: Formula,
    inside: Callable[[Formula], Formula],
    *,
    term: Callable[[Term], Term] = _same,
    window: Callable[[Window], Window] = _same,
) -> Formula:
    """The formula with its own terms, its window and the formulas directly inside it changed."""
    match formula:
        case Truth():
            return formula
        case Atom(args=args):
            return replace(formula, args=tuple(term(arg) for arg in args))
        case Comparison(left=left, right=right):
            return replace(formula, left=term(left), right=term(right))
        case And(parts=parts) | Or(parts=parts):
            return replace(formula, parts=tuple(inside(part) for part in parts))
        case Implies(left=first, right=second):
            return replace(formula, left=inside(first), right=inside(second))
        case At(time=time, formula=inner):
            return replace(formula, time=term(time), formula=inside(inner))
        case Within(window=given, formula=inner):
            return replace(formula, window=window(given), formula=inside(inner))
        case Aggregate(elements=elements, bound=bound):
            changed = tuple(
                replace(
                    element,
                    terms=tuple(term(one) for one in element.terms),
                    condition=tuple(inside(part) for part in element.condition),
                )
                for element in elements
            )
            return replace(formula, elements=changed, bound=term(bound))
        case Not() | Some() | Always() | Reset():
            return replace(formula, formula=inside(formula.formula))


def in_points(program: Program, clock: Clock) -> Program:
    """The program with durations turned into numbers of time points; may raise `Incompatible`."""

    def window(given: Window) -> Window:
        return counted(given, clock) if isinstance(given, TimeWindow) else given

    def head(given: Head) -> Head:
        if not isinstance(given, Choice):
            return map_windows(given, window)
        options = tuple(
            ChoiceOption(o.head, tuple(map_windows(c, window) for c in o.condition), o.span)
            for o in given.options
        )
        return replace(given, options=options)

    def rule(given: Rule) -> Rule:
        changed = None if given.head is None else head(given.head)
        body = tuple(map_windows(condition, window) for condition in given.body)
        return replace(given, head=changed, body=body)

    return replace(program, rules=tuple(rule(one) for one in program.rules))


def counted(window: TimeWindow, clock: Clock) -> TimeWindow:
    """A time window in time points; may raise `Incompatible`.

    >>> counted(TimeWindow(Duration(3, "s")), Clock(500, "ms")).past
    Duration(amount=6, unit=None)
    """
    past, future = clock.points(window.past), clock.points(window.future)
    hop = None if window.hop is None else Duration(clock.points(window.hop))
    return replace(window, past=Duration(past), future=Duration(future), hop=hop)
