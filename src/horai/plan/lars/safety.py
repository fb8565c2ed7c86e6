"""Variables that nothing gives a value to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.diagnostics import Diagnostic
from horai.lang.lars.anyone import asks_for_any
from horai.lang.lars.predicates import is_computed
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Choice,
    Comparison,
    Formula,
    Head,
    IntervalWindow,
    Not,
    Or,
    Program,
    Reset,
    Rule,
    Some,
    Within,
)
from horai.lang.lars.walk import children, formula_variables, own_terms
from horai.lang.terms import Var, is_anonymous, variables
from horai.plan.lars.findings import finding

_HINT = "add a condition, not under `not`, that mentions {}: an atom, or `{} = ...`"


def unsafe_variables(program: Program) -> Iterator[Diagnostic]:
    """Every variable of a rule must get its values from a positive condition."""
    for rule in program.rules:
        known = bound_by(rule.body)
        if rule.head is not None:
            yield from _head(rule, rule.head, known)
        for condition in rule.body:
            if not _asks_for_any(condition):
                yield from _condition(rule, condition, known)
                continue
            # What is left of it when `_` stands for anything must get its values elsewhere.
            named = [v for v in formula_variables(condition).values() if not is_anonymous(v)]
            yield from _missing(rule, "H701", "this condition", named, known)


def _asks_for_any(condition: Formula) -> bool:
    """True for `not b(_)` where what is negated finds values for all of its variables."""
    return (
        isinstance(condition, Not)
        and asks_for_any(condition)
        and formula_variables(condition).keys() <= bound_by([condition.formula])
    )


def _head(rule: Rule, head: Head, known: set[str]) -> Iterator[Diagnostic]:
    if not isinstance(head, Choice):
        yield from _missing(rule, "H700", "the head", formula_variables(head).values(), known)
        return
    for term in (head.least, head.most):
        if term is not None:
            yield from _missing(rule, "H700", "the head", variables(term).values(), known)
    for option in head.options:
        inner = known | bound_by(option.condition)
        yield from _missing(
            rule, "H700", "the head", formula_variables(option.head).values(), inner
        )
        for condition in option.condition:
            yield from _condition(rule, condition, inner)


def _condition(rule: Rule, condition: Formula, known: set[str]) -> Iterator[Diagnostic]:
    if isinstance(condition, Aggregate):
        yield from _missing(rule, "H701", "the bound", variables(condition.bound).values(), known)
        for element in condition.elements:
            inner = known | bound_by(element.condition)
            for term in element.terms:
                yield from _missing(rule, "H702", "an aggregate", variables(term).values(), inner)
            for part in element.condition:
                yield from _condition(rule, part, inner)
        return
    for own in own_terms(condition):
        yield from _missing(rule, "H701", "this condition", variables(own).values(), known)
    for part in children(condition):
        yield from _condition(rule, part, known)


def _missing(
    rule: Rule, code: str, where: str, used: Iterable[Var], known: set[str]
) -> Iterator[Diagnostic]:
    for var in used:
        if var.name in known:
            continue
        name = "`_`" if is_anonymous(var) else var.name
        hint = _HINT.format(name, name)
        if is_anonymous(var):
            hint = "name the variable and give it a value, or write a rule that leaves it out"
        message = f"nothing gives a value to {name} of {where}"
        yield finding(code, message, rule, var.span or rule.span, hint)


def bound_by(conditions: Iterable[Formula]) -> set[str]:
    """The variables to which some conditions give values, together."""
    waiting = list(conditions)
    known: set[str] = set()
    grown = True
    while grown:
        able = (one for one in waiting if not _rests_on(one, waiting, known))
        found = set().union(*(_binds(condition, known) for condition in able))
        grown = not found <= known
        known |= found
    return known


def _rests_on(condition: Formula, others: list[Formula], known: set[str]) -> bool:
    """Does what an aggregate counts depend on a variable that has no value yet?

    A variable of its elements is its own unless it occurs elsewhere, outside of aggregates.
    """
    if not isinstance(condition, Aggregate):
        return False
    inner = {n for e in condition.elements for part in e.condition for n in formula_variables(part)}
    elsewhere = set(variables(condition.bound))
    for other in others:
        if other is not condition:
            own = variables(other.bound) if isinstance(other, Aggregate) else None
            elsewhere |= (formula_variables(other) if own is None else own).keys()
    return not inner & elsewhere <= known


def _binds(condition: Formula, known: set[str]) -> set[str]:
    """What a condition gives values to, when some variables have theirs."""
    match condition:
        case Atom(args=args):
            return {name for arg in args if not is_computed(arg) for name in variables(arg)}
        case At(time=time, formula=inner):
            own = {time.name} if isinstance(time, Var) else set()
            return own | _binds(inner, known)
        case Within(window=IntervalWindow(first=first, last=last), formula=inner):
            ends = variables(first).keys() | variables(last).keys()
            return _binds(inner, known) if ends <= known else set()
        case Some() | Always() | Within() | Reset():
            return _binds(condition.formula, known)
        case And(parts=parts):
            return bound_by(parts)
        case Or(parts=parts):
            return set.intersection(*(_binds(part, known) for part in parts))
        case Comparison(sign="=", left=left, right=right):
            found = set()
            if isinstance(left, Var) and variables(right).keys() <= known:
                found.add(left.name)
            if isinstance(right, Var) and variables(left).keys() <= known:
                found.add(right.name)
            return found
        case Aggregate(sign="=", bound=Var(name=name)):
            return {name}
        case _:
            return set()
