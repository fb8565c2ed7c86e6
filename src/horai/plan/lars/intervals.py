"""Windows between times that a rule works out, in words that engines know.

Of `a(X) [from F to L]`, where F and L get their values elsewhere in the rule, is left

    some    @T a(X), T >= F, T <= L
    not     count { T : @T a(X), T >= F, T <= L } = 0
    always  @L a(X), count { T : @T a(X), T >= F, T <= L } = L - F + 1, and likewise from the
            start of the timeline on where F is before it

and what is told by times that are no whole numbers does not hold. What depends on itself through
`not` or `always` stays as it is: there a count would mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from horai.lang.core.terms import Compound, Int, Term, Var, is_anonymous
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import head_predicates
from horai.lang.lars.walk import subformulas
from horai.plan.graphs import Digraph
from horai.plan.lars.dependencies import dependencies

Bodies = list[
    tuple[lars.Formula, ...]
]  # the alternatives for a condition, which exclude each other


def with_fixed_ends(program: lars.Program, start: int) -> lars.Program:
    """The program without windows between times that are not fixed, as far as that can be said."""
    if not any(_open(part) for r in program.rules for one in r.body for part in subformulas(one)):
        return program
    needs = Digraph((one.head, one.needs) for one in dependencies(program))
    rules: list[lars.Rule] = []
    for number, rule in enumerate(program.rules):
        heads = head_predicates(rule)
        below = set().union(*map(needs.below, heads))
        above = {p for p in below if needs.below(p) & heads}
        words = _Words(start, above | heads, number)
        bodies = product(*(words.alternatives(condition) for condition in rule.body))
        for parts in bodies:
            rules.append(replace(rule, body=tuple(part for body in parts for part in body)))
    return replace(program, rules=tuple(rules))


def _open(condition: lars.Head) -> lars.Within | None:
    """A window between times that are not fixed, under a negation or not."""
    inner = condition.formula if isinstance(condition, lars.Not) else condition
    if isinstance(inner, lars.Within) and isinstance(inner.window, lars.IntervalWindow):
        ends = (inner.window.first, inner.window.last)
        return None if all(isinstance(end, Int) for end in ends) else inner
    return None


class _Words:
    """Writes the conditions of one rule."""

    def __init__(self, start: int, recursive: set[lars.Predicate], number: int) -> None:
        self.start, self.recursive = start, recursive
        self._number, self._made = number, 0

    def alternatives(self, condition: lars.Formula) -> Bodies:
        """The condition in other words, or as it is."""
        if isinstance(condition, lars.Aggregate):
            return [(replace(condition, elements=tuple(map(self._element, condition.elements))),)]
        found = _open(condition)
        as_it_is: Bodies = [(condition,)]
        if found is None or not isinstance(found.formula, lars.Some | lars.Always | lars.At):
            return as_it_is
        atom, modal = found.formula.formula, found.formula
        assert isinstance(found.window, lars.IntervalWindow)
        if not isinstance(atom, lars.Atom):
            return as_it_is
        first, last = found.window.first, found.window.last
        if not isinstance(condition, lars.Not) and not isinstance(modal, lars.Always):
            time = modal.time if isinstance(modal, lars.At) else self._fresh()
            return [tuple(_between(time, atom, first, last))]
        if atom.predicate in self.recursive or isinstance(modal, lars.Always) == isinstance(
            condition, lars.Not
        ):
            return as_it_is
        if isinstance(modal, lars.Always):
            return self._always(atom, first, last)
        time = modal.time if isinstance(modal, lars.At) else self._fresh()
        return [(_count(time, atom, first, last, "=", Int(0)),)]

    def _element(self, element: lars.Element) -> lars.Element:
        """An element of an aggregate, in which there are no others."""
        parts: list[lars.Formula] = []
        for condition in element.condition:
            found = self.alternatives(condition)
            simple = len(found) == 1 and not any(
                isinstance(one, lars.Aggregate) for one in found[0]
            )
            parts.extend(found[0] if simple else (condition,))
        return replace(element, condition=tuple(parts))

    def _always(self, atom: lars.Atom, first: Term, last: Term) -> Bodies:
        args = tuple(
            self._fresh() if isinstance(arg, Var) and is_anonymous(arg) else arg
            for arg in atom.args
        )
        named, start = replace(atom, args=args), Int(self.start)
        found: Bodies = []
        for sign, low in ((">=", first), ("<", start)):
            if isinstance(first, Int) and (first.value >= self.start) != (sign == ">="):
                continue
            number = Compound("+", (Compound("-", (last, low)), Int(1)))
            body = [lars.At(last, named), lars.Comparison(">=", last, low), *_whole(first, last)]
            body.append(lars.Comparison(sign, first, start))  # type: ignore[arg-type]
            body.append(_count(self._fresh(), named, low, last, "=", number))
            found.append(tuple(body))
        return found

    def _fresh(self) -> Var:
        self._made += 1
        return Var(f"Between#{self._number}#{self._made}")


def _between(time: Term, atom: lars.Atom, first: Term, last: Term) -> Iterator[lars.Formula]:
    yield lars.At(time, atom)
    yield lars.Comparison(">=", time, first)
    yield lars.Comparison("<=", time, last)
    yield from _whole(first, last)


def _count(
    time: Term, atom: lars.Atom, first: Term, last: Term, sign: str, bound: Term
) -> lars.Aggregate:
    element = lars.Element((time,), tuple(_between(time, atom, first, last)))
    return lars.Aggregate("count", (element,), sign, bound)  # type: ignore[arg-type]


def _whole(*ends: Term) -> Iterator[lars.Formula]:
    """Conditions under which times are whole numbers."""
    for end in ends:
        if not isinstance(end, Int):
            yield lars.Comparison("=", Compound("%", (end, Int(1))), Int(0))
