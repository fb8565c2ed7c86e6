"""What several rules of an event ask of facts alike is asked once.

The rules become a tree: a condition that several of them have in common comes first, then what is
left of these; if it fails, all of them are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from horai.engine.core.rules import Body, Label
from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Var, is_ground, substitute, variables
from horai.plan import operators as op
from horai.plan.ec.literals import names

Names = frozenset[str]
Step = tuple[op.Operator, Names]
T = TypeVar("T")


@dataclass(eq=False)
class Started(Generic[T]):
    """A rule whose driver is in registers, with the conditions that have to be asked yet."""

    rule: T
    body: Body
    steps: list[Step]

    def free(self) -> Iterator[int]:
        """The places of conditions that need nothing from those before them."""
        spoken: set[str] = set()
        for place, (step, _) in enumerate(self.steps):
            said = names(step.term)
            if not said & spoken:
                yield place
            spoken |= said - self.body.env.keys()

    def names_of(self, step: op.Operator) -> list[str]:
        """The variables that a condition gives a value, in the order in which they are written."""
        return [name for name in variables(step.term) if name not in self.body.env]

    def signature(self, step: op.Operator) -> tuple[str, str]:
        """The same for conditions that ask the same of the same registers."""
        new = self.names_of(step)
        meant = {
            name: Constant(f"new {new.index(name)}")
            if name in new
            else Constant(f"in {self.body.env[name]}")
            for name in variables(step.term)
        }
        return type(step).__name__, show(substitute(step.term, meant))


Conclude = Callable[[Started[T], Label, Label], None]
Begin = Callable[[Started[T]], None]


def share(rules: list[Started[T]], conclude: Conclude[T], begin: Begin[T]) -> None:
    """The code of some rules. `conclude` is told where to go on for more solutions, and after.

    `begin` is told of a rule before its conditions, of those that several share before the first.
    """
    for one in rules:
        _prepare(one)
    _tree(rules, conclude, begin)


def _prepare(one: Started[T]) -> None:
    """Look up what are constants, and ask for a column before it is compared with one."""
    body = one.body
    steps: list[Step] = []
    for step, needed in one.steps:
        if isinstance(step, op.FactJoin) and not names(step.term) & _asked(steps):
            if body.constants_of(step, needed):
                continue
            fixed = [at for at, term in enumerate(step.terms) if is_ground(term)]
            if fixed and body.is_one_row(step, fixed):
                terms = list(step.terms)
                for at in fixed:
                    terms[at] = Var(f"#given{at}")
                new = [Var(f"#given{at}") for at in fixed]
                term = Compound(step.key[0], tuple(terms))
                more = needed | {var.name for var in new}
                steps.append((op.FactJoin(step.key, tuple(terms), term), more))
                for at, var in zip(fixed, new, strict=True):
                    equal = Compound("=", (var, step.terms[at]))
                    steps.append((op.Unify(var, step.terms[at], equal), needed))
                continue
        steps.append((step, needed))
    one.steps = steps


def _asked(steps: list[Step]) -> Names:
    return names(*(step.term for step, _ in steps))


def _tree(rules: list[Started[T]], conclude: Conclude[T], begin: Begin[T]) -> None:
    waiting = list(rules)
    while waiting:
        first = waiting[0]
        group = _most_alike(first, waiting)
        body, code = first.body, first.body.code
        after = code.label()
        begin(first)
        if len(group) == 1:
            fail = after
            for step, needed in first.steps:
                fail = body.step(step, needed, fail)
            conclude(first, fail, after)
        else:
            fail = _ask_once(group, after)
            _tree([one for one, _ in group], conclude, begin)
            code.emit("JMP", fail=fail)
        code.here(after)
        done = {id(one) for one, _ in group}
        waiting = [one for one in waiting if id(one) not in done]


def _most_alike(first: Started[T], rules: list[Started[T]]) -> list[tuple[Started[T], int]]:
    """The rules that share a condition with the first, and its place in each of them."""
    best = [(first, -1)]
    for place in first.free():
        wanted = first.signature(first.steps[place][0])
        group = [(first, place)]
        for one in rules[1:]:
            at = next((at for at in one.free() if one.signature(one.steps[at][0]) == wanted), None)
            if at is not None:
                group.append((one, at))
        if len(group) > len(best):
            best = group
    return best


def _ask_once(group: list[tuple[Started[T], int]], after: Label) -> Label:
    """The code of a condition that rules share; all of them know what it found."""
    first, place = group[0]
    body = first.body
    body.next = max(one.body.next for one, _ in group)
    step = first.steps[place][0]
    mine = first.names_of(step)
    wanted: set[str] = set()
    theirs = []
    for one, at in group:
        other, needed = one.steps.pop(at)
        if one is not first and isinstance(other, op.Filter | op.Extend):
            body.alike.append((one.body, other))
        found = one.names_of(other)
        theirs.append(found)
        wanted |= {name for name, its in zip(mine, found, strict=True) if its in needed}
    fail = body.step(step, frozenset(wanted), after)
    body.alike = []
    for (one, _), found in zip(group, theirs, strict=True):
        one.body.next, one.body.loops = body.next, body.loops
        for name, its in zip(mine, found, strict=True):
            if name in body.env:
                one.body.env[its] = body.env[name]
    return fail
