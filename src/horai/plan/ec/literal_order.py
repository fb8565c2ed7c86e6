"""The order in which the literals of a body can be evaluated, by what is bound when.

Clause and literal order carry no meaning, so every body is put in an order of its own: a literal
comes when the variables it needs are bound, cheap and selective ones first. What remains cannot be
evaluated at all, and `stuck` says which variables it waits for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import Names, elsewhere, names, operands
from horai.plan.ec.modes import ModeTable


def cost(literal: ec.Literal, bound: Names, table: ModeTable) -> tuple[int, bool]:
    """Tests first, then what brings points in, then lookups; cross products last.

    Ties keep the order written.
    """
    mine = names(literal.term)
    connected = bool(mine & bound) or not mine
    return (_rank(literal, bound, connected, table), not connected)


def _rank(literal: ec.Literal, bound: Names, connected: bool, table: ModeTable) -> int:
    match literal:
        case ec.TruthValue() | ec.Compare():
            return 0
        case ec.Is():
            return 1
        case ec.Call() if names(*literal.args) <= bound or frozenset() not in table.of(literal):
            return 2
        case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
            # Points that share nothing with what is known would meet in every pair.
            return 3 if connected or not bound else 10
        case ec.HoldsAt(time=time) if names(time) <= bound:
            return 4
        case ec.Call() if connected:
            return 5
        case ec.HoldsFor(fvp=fvp) if names(fvp.term) <= bound:
            return 6
        case ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
            return 7
        case ec.Negation():
            return 8
        case ec.Conjunction() | ec.Disjunction() | ec.IfThenElse():
            return 9
        case ec.FindAll() | ec.AggregateAll():
            return 11
        case ec.Call():
            return 12
        case ec.HoldsFor():
            return 13  # it cannot fail, so it chooses no values where another condition can
        case _:
            return 14


NOTHING: Names = frozenset()
_Urgency = tuple[bool, bool, int, bool]  # it searches, it loses variables, and its cost


@dataclass(frozen=True, slots=True)
class Stuck:
    """A literal that cannot be evaluated: `missing` are the variables it waits for."""

    literal: ec.Literal
    missing: Names


@dataclass(frozen=True, slots=True)
class Ordering:
    """A body in an order that can be evaluated from left to right, nested parts included.

    `bound` are the variables with a value at the end. When `stuck` is not empty the body cannot
    be evaluated; it then holds every literal that is left over, and `waiting` the conjuncts
    in which these stand.
    """

    body: ec.Conjunction
    bound: Names
    stuck: tuple[Stuck, ...] = ()
    fails: bool = False
    waiting: tuple[ec.Literal, ...] = ()

    @property
    def ok(self) -> bool:
        """True when everything could be ordered."""
        return not self.stuck


def order_body(
    body: ec.Conjunction,
    bound: Collection[str] = (),
    table: ModeTable | None = None,
    head: Collection[str] = (),
) -> Ordering:
    """An order for a body, given the variables bound from outside.

    `head` are the variables of the clause's head: they occur outside the body, so a negation may
    not treat them as its own.
    """
    known = table or ModeTable()
    whole = _Table(known.background, known.python, known.open, known.ranging)
    return _order(body, frozenset(bound), frozenset(head), whole)


def _order(body: ec.Literal, bound: Names, outside: Names, table: _Table) -> Ordering:
    waiting = list(ec.conjuncts(body))
    around = {id(item): outside | elsewhere(waiting, item) for item in waiting}
    placed: list[ec.Literal] = []
    fails = False
    while waiting:
        steps: dict[int, _Step] = {}
        best: tuple[_Urgency, ec.Literal, _Step] | None = None
        # The cheapest are looked at first, and the others only until none of them can come before:
        # to look into all that is nested, at each of its levels once more, would take for ever.
        for price, at in sorted((cost(one, bound, table), i) for i, one in enumerate(waiting)):
            item = waiting[at]
            if best is not None and best[0] <= (False, False, *price):
                break
            step = steps[at] = _known_step(item, bound, around[id(item)], table)
            urgency = (step.searches, bool(step.lost), *price)
            if not step.missing and not step.stuck and (best is None or urgency < best[0]):
                best = urgency, item, step
        if best is None:
            stuck = [s for i, item in enumerate(waiting) for s in _causes(item, steps[i])]
            return Ordering(_conjunction(placed, body), bound, tuple(stuck), fails, tuple(waiting))
        _, chosen, step = best
        waiting = [item for item in waiting if item is not chosen]
        placed.append(step.literal)
        bound |= step.binds
        fails = fails or step.fails
    return Ordering(_conjunction(placed, body), bound, (), fails)


def _conjunction(items: Iterable[ec.Literal], body: ec.Literal) -> ec.Conjunction:
    return ec.Conjunction(tuple(items), body.term)


@dataclass(frozen=True, slots=True)
class _Step:
    """The effect of evaluating one literal now: what it would need and give.

    `lost` are variables that other literals speak of too and only some of its branches bind: what
    these say of them counts only if the variables have their values before. `searches`: it tests
    variables, and finds values for them itself only when no other literal can.
    """

    literal: ec.Literal
    missing: Names = NOTHING
    binds: Names = NOTHING
    stuck: tuple[Stuck, ...] = ()
    fails: bool = False
    lost: Names = NOTHING
    searches: bool = False


@dataclass(frozen=True, slots=True)
class _Table(ModeTable):
    """The modes, and what was found out about nested literals of the body before."""

    seen: dict[tuple[int, Names, Names, bool], _Step] = field(default_factory=dict)


def _causes(literal: ec.Literal, step: _Step) -> list[Stuck]:
    """Why a literal waits: itself, or the literals inside it."""
    if step.missing:
        return [Stuck(literal, step.missing)]
    return list(step.stuck)


def _known_step(literal: ec.Literal, bound: Names, around: Names, table: _Table) -> _Step:
    """The step of a literal, looked for once for all that is alike as far as it can tell."""
    if not ec.parts(literal):
        return _step(literal, bound, around, table)
    mine = names(literal.term)
    key = (id(literal), bound & mine, around & mine, bool(bound))
    if key not in table.seen:
        table.seen[key] = _step(literal, bound, around, table)
    return table.seen[key]


def _step(literal: ec.Literal, bound: Names, around: Names, table: _Table) -> _Step:
    if isinstance(literal, ec.HoldsFor) and not table.ranging:
        return _Step(literal, names(literal.fvp.term) - bound, names(literal.term))
    if isinstance(literal, ec.Temporal):
        return _Step(literal, binds=names(literal.term))
    if isinstance(literal, ec.Computation):
        needed, given = operands(literal)
        return _Step(literal, names(*needed) - bound, names(given))
    match literal:
        case ec.TruthValue(value=value):
            return _Step(literal, fails=not value)
        case ec.Compare():
            return _compare(literal, bound, around)
        case ec.Call():
            return _call(literal, bound, table)
        case ec.Negation(item=item):
            return _not(literal, item, bound, around, table)
        case ec.FindAll(template=template) | ec.AggregateAll(template=template):
            return _aggregate(literal, template, bound, around, table)
        case ec.IfThenElse():
            return _if(literal, bound, around, table)
        case ec.Disjunction():
            return _or(literal, bound, around, table)
        case ec.Conjunction():
            inner = _order(literal, bound, around, table)
            return _Step(inner.body, NOTHING, inner.bound - bound, inner.stuck, inner.fails)


def _compare(literal: ec.Compare, bound: Names, around: Names) -> _Step:
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


def _call(literal: ec.Call, bound: Names, table: _Table) -> _Step:
    alternatives = [names(*(literal.args[i] for i in mode)) - bound for mode in table.of(literal)]
    missing = min(alternatives, key=lambda needed: (len(needed), sorted(needed)))
    left_open = table.open.get(literal.key, frozenset())
    given = [arg for i, arg in enumerate(literal.args) if i not in left_open]
    return _Step(literal, missing, names(*given))


def _not(
    literal: ec.Negation, item: ec.Literal, bound: Names, around: Names, table: _Table
) -> _Step:
    missing = (names(item.term) & around) - bound
    if missing:
        return _Step(literal, missing)
    inner = _order(item, bound, around, table)
    return _Step(replace(literal, item=inner.body), NOTHING, NOTHING, inner.stuck)


def _aggregate(
    literal: ec.FindAll | ec.AggregateAll,
    template: Term | None,
    bound: Names,
    around: Names,
    table: _Table,
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


def _if(literal: ec.IfThenElse, bound: Names, around: Names, table: _Table) -> _Step:
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


def _moments(literal: ec.IfThenElse) -> Names:
    """Times and interval lists: whether something is ever true must not decide about a moment."""
    parts = list(ec.walk(literal))
    return names(
        *(getattr(part, "time", None) for part in parts),
        *(getattr(part, "intervals", None) for part in parts),
    )


def _or(literal: ec.Disjunction, bound: Names, around: Names, table: _Table) -> _Step:
    branches = [_order(item, bound, around, table) for item in literal.items]
    stuck = tuple(s for branch in branches for s in branch.stuck)
    parts = replace(literal, items=tuple(branch.body for branch in branches))
    binds, fails = _bound_by_all([b for b in branches if not b.fails], bound)
    lost = (names(literal.term) & around) - bound - binds
    return _Step(parts, NOTHING, binds, stuck, fails, lost)


def _bound_by_all(branches: list[Ordering], bound: Names) -> tuple[Names, bool]:
    """The variables that every branch that can succeed binds; none without such a branch."""
    if not branches:
        return NOTHING, True
    binds = branches[0].bound
    for branch in branches[1:]:
        binds &= branch.bound
    return binds - bound, False
