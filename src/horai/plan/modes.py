"""The order in which the literals of a body can be evaluated, by what is bound when.

Clause and literal order carry no meaning, so every body is put in an order of its own: a literal
comes when the variables it needs are bound, cheap and selective ones first. What remains cannot be
evaluated at all, and `stuck` says which variables it waits for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from horai.lang.ec.syntax import (
    Aggregate,
    Allen,
    And,
    Call,
    Compare,
    Duration,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    IntervalOp,
    Is,
    Literal,
    Not,
    Or,
    TerminatedAt,
    Truth,
    conjuncts,
    walk,
)
from horai.lang.terms import Term
from horai.plan.mode_table import ModeTable
from horai.plan.scopes import elsewhere, names
from horai.plan.urgency import cost

Names = frozenset[str]
NOTHING: Names = frozenset()


@dataclass(frozen=True, slots=True)
class Stuck:
    """A literal that cannot be evaluated: `missing` are the variables it waits for."""

    literal: Literal
    missing: Names


@dataclass(frozen=True, slots=True)
class Ordering:
    """A body in an order that can be evaluated from left to right, nested parts included.

    `bound` are the variables with a value at the end. When `stuck` is not empty the body cannot
    be evaluated; it then holds every literal that is left over.
    """

    body: And
    bound: Names
    stuck: tuple[Stuck, ...] = ()
    fails: bool = False

    @property
    def ok(self) -> bool:
        """True when everything could be ordered."""
        return not self.stuck


def order_body(
    body: And,
    bound: Collection[str] = (),
    table: ModeTable | None = None,
    head: Collection[str] = (),
) -> Ordering:
    """An order for a body, given the variables bound from outside.

    `head` are the variables of the clause's head: they occur outside the body, so a negation may
    not treat them as its own.
    """
    return _order(body, frozenset(bound), frozenset(head), table or ModeTable())


def _order(body: Literal, bound: Names, outside: Names, table: ModeTable) -> Ordering:
    waiting = list(conjuncts(body))
    around = {id(item): outside | elsewhere(waiting, item) for item in waiting}
    placed: list[Literal] = []
    fails = False
    while waiting:
        steps = [(item, _step(item, bound, around[id(item)], table)) for item in waiting]
        ready = [(item, step) for item, step in steps if not step.missing and not step.stuck]
        if not ready:
            stuck = [s for item, step in steps for s in _causes(item, step)]
            return Ordering(_conjunction(placed, body), bound, tuple(stuck), fails)
        chosen, step = min(ready, key=lambda one: _urgency(one[0], one[1], bound, table))
        waiting = [item for item in waiting if item is not chosen]
        placed.append(step.literal)
        bound |= step.binds
        fails = fails or step.fails
    return Ordering(_conjunction(placed, body), bound, (), fails)


def _conjunction(items: Iterable[Literal], body: Literal) -> And:
    return And(tuple(items), body.term)


@dataclass(frozen=True, slots=True)
class _Step:
    """What evaluating one literal now would need and give.

    `lost` are variables that other literals speak of too and only some of its branches bind: what
    these say of them counts only if the variables have their values before. `searches`: it tests
    variables, and finds values for them itself only when no other literal can.
    """

    literal: Literal
    missing: Names = NOTHING
    binds: Names = NOTHING
    stuck: tuple[Stuck, ...] = ()
    fails: bool = False
    lost: Names = NOTHING
    searches: bool = False


def _causes(literal: Literal, step: _Step) -> list[Stuck]:
    """Why a literal waits: itself, or the literals inside it."""
    if step.missing:
        return [Stuck(literal, step.missing)]
    return list(step.stuck)


def _step(literal: Literal, bound: Names, around: Names, table: ModeTable) -> _Step:
    match literal:
        case Truth(value=value):
            return _Step(literal, fails=not value)
        case Happens() | Edge() | HoldsAt() | HoldsFor() | InitiatedAt() | TerminatedAt():
            return _Step(literal, binds=names(literal.term))
        case Compare():
            return _compare(literal, bound, around)
        case Is(target=target, expression=expression):
            return _Step(literal, names(expression) - bound, names(target))
        case IntervalOp(base=base, lists=lists, result=result):
            return _Step(literal, names(base, lists) - bound, names(result))
        case Duration(intervals=intervals, bound=limit, result=result):
            return _Step(literal, names(intervals, limit) - bound, names(result))
        case Allen(source=source, target=target, result=result):
            return _Step(literal, names(source, target) - bound, names(result))
        case Call():
            return _call(literal, bound, table)
        case Not(item=item):
            return _not(literal, item, bound, around, table)
        case FindAll(template=template) | Aggregate(template=template):
            return _aggregate(literal, template, bound, around, table)
        case IfThenElse():
            return _if(literal, bound, around, table)
        case Or():
            return _or(literal, bound, around, table)
        case And():
            inner = _order(literal, bound, around, table)
            return _Step(inner.body, NOTHING, inner.bound - bound, inner.stuck, inner.fails)


def _compare(literal: Compare, bound: Names, around: Names) -> _Step:
    left, right = names(literal.left), names(literal.right)
    if literal.op == "=":
        if left <= bound or right <= bound:
            return _Step(literal, NOTHING, left | right)
        return _Step(literal, (left | right) - bound)
    needed = left | right
    if literal.op == "\\=":
        # `X \= f(_)`: not unifiable, whatever the variable of its own stands for.
        needed &= around | bound
    return _Step(literal, needed - bound)


def _call(literal: Call, bound: Names, table: ModeTable) -> _Step:
    alternatives = [names(*(literal.args[i] for i in mode)) - bound for mode in table.of(literal)]
    missing = min(alternatives, key=lambda needed: (len(needed), sorted(needed)))
    left_open = table.open.get(literal.key, frozenset())
    given = [arg for i, arg in enumerate(literal.args) if i not in left_open]
    return _Step(literal, missing, names(*given))


def _not(literal: Not, item: Literal, bound: Names, around: Names, table: ModeTable) -> _Step:
    missing = (names(item.term) & around) - bound
    if missing:
        return _Step(literal, missing)
    inner = _order(item, bound, around, table)
    return _Step(replace(literal, item=inner.body), NOTHING, NOTHING, inner.stuck)


def _aggregate(
    literal: FindAll | Aggregate,
    template: Term | None,
    bound: Names,
    around: Names,
    table: ModeTable,
) -> _Step:
    inside = names(template, literal.goal.term)
    missing = (inside & around) - bound
    if missing:
        return _Step(literal, missing)
    inner = _order(literal.goal, bound, around | names(template), table)
    stuck = inner.stuck
    unbound = names(template) - inner.bound
    if not stuck and unbound:
        stuck = (Stuck(literal, unbound),)
    return _Step(replace(literal, goal=inner.body), NOTHING, names(literal.result), stuck)


def _if(literal: IfThenElse, bound: Names, around: Names, table: ModeTable) -> _Step:
    condition, then, otherwise = literal.condition, literal.then, literal.otherwise
    asked = (names(condition.term) & around) - bound
    first = _order(condition, bound, around | names(then.term), table)
    yes = _order(then, first.bound, around | names(condition.term), table)
    no = _order(otherwise, bound, around, table)
    stuck = first.stuck + yes.stuck + no.stuck
    branches = [branch for branch in (yes, no) if not branch.fails and not first.fails]
    binds, fails = _bound_by_all(branches, bound)
    # What the condition finds may be used in the then branch; after it, if each branch gives it.
    missing = (asked - binds) | (asked & _moments(literal))
    if missing or (asked and stuck):
        return _Step(literal, missing or asked)
    parts = replace(literal, condition=first.body, then=yes.body, otherwise=no.body)
    lost = (names(literal.term) & around) - bound - binds
    return _Step(parts, NOTHING, binds, stuck, fails, lost, bool(asked))


def _moments(literal: IfThenElse) -> Names:
    """Times and interval lists: whether something is ever true must not decide about a moment."""
    parts = list(walk(literal))
    return names(
        *(getattr(part, "time", None) for part in parts),
        *(getattr(part, "intervals", None) for part in parts),
    )


def _or(literal: Or, bound: Names, around: Names, table: ModeTable) -> _Step:
    branches = [_order(item, bound, around, table) for item in literal.items]
    stuck = tuple(s for branch in branches for s in branch.stuck)
    parts = replace(literal, items=tuple(branch.body for branch in branches))
    binds, fails = _bound_by_all([b for b in branches if not b.fails], bound)
    lost = (names(literal.term) & around) - bound - binds
    return _Step(parts, NOTHING, binds, stuck, fails, lost)


def _bound_by_all(branches: list[Ordering], bound: Names) -> tuple[Names, bool]:
    """What every branch that can succeed binds; without such a branch there is nothing to bind."""
    if not branches:
        return NOTHING, True
    binds = branches[0].bound
    for branch in branches[1:]:
        binds &= branch.bound
    return binds - bound, False


def _urgency(
    literal: Literal, step: _Step, bound: Names, table: ModeTable
) -> tuple[bool, bool, int, bool]:
    return (step.searches, bool(step.lost), *cost(literal, bound, table))
