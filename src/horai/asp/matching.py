"""Values, patterns and joins of the grounder.

Values are Python's own where that is safe: whole numbers and, for names, strings. All other terms
are wrapped, so that nothing is equal that is not the same term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from horai.asp.numbers import compute, is_ordered
from horai.asp.plain import Refused
from horai.asp.templates import Check, Literal, Template
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.lang.terms import Atom as Constant
from horai.lang.terms import Compound, Int, Term, Var, is_ground, variables

Value = int | str | tuple[str, Term]
Values = tuple[Value, ...]
Env = dict[str, Value]


def to_value(term: Term) -> Value:
    """The value of a ground term."""
    if isinstance(term, Int):
        return term.value
    if isinstance(term, Constant):
        return term.name
    return ("term", term)


def to_term(value: Value) -> Term:
    """The ground term of a value."""
    if isinstance(value, int):
        return Int(value)
    return Constant(value) if isinstance(value, str) else value[1]


def evaluate(term: Term, env: Env) -> Value | None:
    """The value of a term whose variables are known; None if it has none."""
    match term:
        case Var(name=name):
            return env[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            inner = [evaluate(arg, env) for arg in args]
            known = [to_term(value) for value in inner if value is not None]
            found = compute(sign, known) if len(known) == len(inner) else None
            return None if found is None else to_value(found)
        case _:
            return to_value(term)


def holds(test: Check, env: Env) -> bool:
    """Whether a comparison holds; one without a value holds neither way."""
    left, right = (evaluate(side, env) for side in (test.comparison.left, test.comparison.right))
    if left is None or right is None:
        return False
    sign = test.comparison.sign
    if sign in ("=", "!="):
        found = (left == right) == (sign == "=")
    else:
        found = is_ordered(sign, to_term(left), to_term(right))
    return found != test.negated


@dataclass(frozen=True, slots=True)
class Match:
    """Find atoms for a literal; `known` are the places whose values are known before."""

    literal: Literal
    known: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a variable the value of an expression."""

    name: str
    term: Term


Step = Match | Assign | Check


def computes(template: Template) -> bool:
    """Does a rule compute anything?"""
    sides = (side for t in template.tests for side in (t.comparison.left, t.comparison.right))
    return any(isinstance(term, Compound) for term in (*template.head.args, *sides))


def check_terms(template: Template) -> None:
    """Refuse what patterns cannot do: variables inside of terms that are no expressions."""
    for literal in (template.head, *template.positive, *template.negative):
        for arg in literal.args:
            if isinstance(arg, Compound) and not is_ground(arg) and arg.name not in ARITHMETIC:
                raise Refused("a variable inside of a compound term")


def plan(template: Template, first: int | None) -> list[Step]:
    """The order in which to find values, after those of one of the positive literals if given."""
    steps: list[Step] = []
    bound: set[str] = set()
    literals = list(template.positive)
    tests = list(template.tests)
    if first is not None:
        bound |= _binds(literals.pop(first))
    while True:
        _take_tests(tests, bound, steps)
        if not literals:
            break
        ready = [literal for literal in literals if needs(literal) <= bound]
        if not ready:
            raise Refused("an expression whose variables nothing else gives a value to")
        chosen = min(ready, key=lambda literal: len(literal.args) - len(_known(literal, bound)))
        literals.remove(chosen)
        steps.append(Match(chosen, _known(chosen, bound)))
        bound |= _binds(chosen)
    asked = [arg for literal in (template.head, *template.negative) for arg in literal.args]
    if tests or not {name for arg in asked for name in variables(arg)} <= bound:
        raise Refused("a variable that nothing gives a value to")
    return steps


def _take_tests(tests: list[Check], bound: set[str], steps: list[Step]) -> None:
    """Move what can be computed now from the tests to the steps."""
    grown = True
    while grown:
        grown = False
        for test in list(tests):
            step = _ready(test, bound)
            if step is not None:
                tests.remove(test)
                steps.append(step)
                grown = True
                if isinstance(step, Assign):
                    bound.add(step.name)


def _ready(test: Check, bound: set[str]) -> Step | None:
    left, right = test.comparison.left, test.comparison.right
    unknown = (variables(left).keys() | variables(right).keys()) - bound
    if not unknown:
        return test
    if test.comparison.sign != "=" or test.negated:
        return None
    for var, other in ((left, right), (right, left)):
        if isinstance(var, Var) and var.name not in bound and variables(other).keys() <= bound:
            return Assign(var.name, other)
    return None


def _binds(literal: Literal) -> set[str]:
    return {arg.name for arg in literal.args if isinstance(arg, Var)}


def needs(literal: Literal) -> set[str]:
    """The variables that must be known before atoms for a literal can be found."""
    return {name for arg in literal.args if is_computed(arg) for name in variables(arg)}


def _known(literal: Literal, bound: set[str]) -> tuple[int, ...]:
    """The places of arguments whose value is known."""
    return tuple(
        place
        for place, arg in enumerate(literal.args)
        if not isinstance(arg, Var) or arg.name in bound
    )


def unify(args: Sequence[Term], values: Values, env: Env) -> Env | None:
    """The values of variables under which arguments have these values."""
    if len(args) != len(values):
        return None
    found = dict(env)
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Var):
            if found.setdefault(arg.name, value) != value:
                return None
        elif evaluate(arg, found) != value:
            return None
    return found


Rows = Callable[[Literal, tuple[int, ...], Env], list[Values]]


def solutions(steps: Sequence[Step], env: Env, rows: Rows) -> list[Env]:
    """All values of variables that the steps find."""
    found = [env]
    for step in steps:
        following: list[Env] = []
        for current in found:
            if isinstance(step, Check):
                if holds(step, current):
                    following.append(current)
            elif isinstance(step, Assign):
                value = evaluate(step.term, current)
                if value is not None:
                    following.append({**current, step.name: value})
            else:
                for values in rows(step.literal, step.known, current):
                    more = unify(step.literal.args, values, current)
                    if more is not None:
                        following.append(more)
        found = following
    return found
