"""Interval lists as expressions over other lists: what they look at, and where they may hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal as OneOf

from horai.engine.core.layout import Relation
from horai.lang.core.terms import Term, Var, substitute
from horai.lang.ec.operators import ALL, ANY, Gather
from horai.plan import operators as op
from horai.plan.ec.literals import names


@dataclass(frozen=True)
class Leaf:
    """The intervals of a fluent and value; `terms` are the key of its instance.

    The value is a word, or `wanted` names the variable that has it.
    """

    relation: Relation
    terms: tuple[Term, ...]
    value: int = 0
    wanted: str | None = None


@dataclass(frozen=True)
class Tested:
    """All of the time, for instances that meet conditions on facts.

    `shared` are the variables that others speak of, too; all of them if it is None.
    """

    steps: tuple[op.Operator, ...]
    shared: frozenset[str] | None = None


@dataclass(frozen=True)
class Some:
    """When one of some chains has a solution; they have variables of their own."""

    chains: tuple[tuple[op.Operator, ...], ...]
    shared: frozenset[str]


@dataclass(frozen=True)
class Combined:
    """A Boolean combination of lists: `all`, `any`, `not` or `absent` of one part.

    What is absent is known from the first time-point after the start on. Whatever else operators
    make of several lists is `gathered`.
    """

    sign: OneOf["all", "any", "not", "absent", "gathered"]
    parts: tuple[Expression, ...]
    gather: Gather | None = None


@dataclass(frozen=True)
class Filtered:
    """The intervals of a list that last as long as a bound says, a number or a variable."""

    part: Expression
    sign: str
    bound: int | str
    open_counts: bool = True


@dataclass(frozen=True)
class Related:
    """What a mode makes of all pairs of intervals in a relation."""

    relation: str
    source: Expression
    target: Expression
    mode: str


Expression = Leaf | Tested | Some | Combined | Filtered | Related
NOTHING = Combined("any", ())


def all_of(parts: Iterable[Expression]) -> Expression:
    """Where all parts hold."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Combined("all", found)


def any_of(parts: Iterable[Expression]) -> Expression:
    """Where some part holds."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Combined("any", found)


def gathered(gather: Gather, parts: tuple[Expression, ...]) -> Expression:
    """What an operator gathers of some lists; without any, nothing."""
    if not parts or gather is ANY:
        return any_of(parts)
    return all_of(parts) if gather is ALL else Combined("gathered", parts, gather)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly inside another one."""
    match expression:
        case Combined(parts=parts):
            return parts
        case Filtered(part=part):
            return (part,)
        case Related(source=source, target=target):
            return source, target
        case _:
            return ()


def operands(expression: Expression) -> list[Expression]:
    """What a truth table has to look at: fluents and whatever is no Boolean combination."""
    found: list[Expression] = []
    if isinstance(expression, Combined):
        for part in expression.parts:
            found += [one for one in operands(part) if one not in found]
        return found
    return [expression]


def atoms(expression: Expression) -> list[Expression]:
    """The fluents, tests and chains of an expression, each once."""
    parts = parts_of(expression)
    if not parts and not isinstance(expression, Combined):
        return [expression]
    found: list[Expression] = []
    for part in parts:
        found += [one for one in atoms(part) if one not in found]
    return found


def names_in(expression: Expression) -> frozenset[str]:
    """The variables of an expression, those inside chains left out."""
    match expression:
        case Leaf(terms=terms, wanted=wanted):
            return names(*terms) | ({wanted} if wanted is not None else set())
        case Tested(shared=frozenset() as shared):
            return shared
        case Tested(steps=steps):
            return names(*(step.term for step in steps))
        case Some(shared=shared):
            return shared
        case Filtered(part=part, bound=bound):
            return names_in(part) | ({bound} if isinstance(bound, str) else set())
        case _:
            return frozenset().union(*map(names_in, parts_of(expression)))


def renamed(expression: Expression, by: Mapping[str, Var]) -> Expression:
    """The same with other variables; for expressions over nothing but fluents."""
    match expression:
        case Leaf(relation=relation, terms=terms, value=value):
            return Leaf(relation, tuple(substitute(term, by) for term in terms), value)
        case Combined(parts=parts):
            return replace(expression, parts=tuple(renamed(part, by) for part in parts))
        case Filtered(part=part):
            return replace(expression, part=renamed(part, by))
        case Related(source=source, target=target):
            return replace(expression, source=renamed(source, by), target=renamed(target, by))
        case _:
            raise TypeError(expression)


def truth(expression: Expression, values: dict[Expression, bool], started: bool) -> bool:
    """The truth of an expression where some lists hold and others do not."""
    match expression:
        case Combined(sign="not", parts=(part,)):
            return not truth(part, values, started)
        case Combined(sign="absent", parts=(part,)):
            return started and not truth(part, values, started)
        case Combined(parts=parts, gather=Gather() as gather):
            return gather.truth([truth(part, values, started) for part in parts])
        case Combined(sign=sign, parts=parts):
            every = all if sign == "all" else any
            return every(truth(part, values, started) for part in parts)
        case _:
            return values[expression]


def table_of(expression: Expression, over: list[Expression], started: bool) -> int:
    """The truth table: bit n is the truth in state n."""
    bits = 0
    for state in range(1 << len(over)):
        values = {one: bool(state >> place & 1) for place, one in enumerate(over)}
        if truth(expression, values, started):
            bits |= 1 << state
    return bits - (1 << 64) if bits >= 1 << 63 else bits


def possible(expression: Expression, may: dict[Expression, bool], be: bool = True) -> bool:
    """May an expression hold somewhere (or not hold), if only some of its atoms ever do?"""
    match expression:
        case Filtered(part=part):
            return possible(part, may) if be else True
        case Related(source=source, target=target):
            return (possible(source, may) and possible(target, may)) if be else True
        case Combined(sign="not" | "absent", parts=(part,)):
            return possible(part, may, not be)
        case Combined(parts=parts, gather=Gather(needed=needed)):
            some = (possible(part, may) for part in parts)
            return not be or (all(some) if needed == "each" else any(some))
        case Combined(sign=sign, parts=parts):
            every = all if (sign == "all") == be else any
            return every(possible(part, may, be) for part in parts)
        case _:
            return may[expression] if be else True


Support = tuple[Leaf, ...]  # in the order of the expression, so that programs are always the same
MOST = 16  # supports beyond which all instances are looked at


def supports(expression: Expression) -> list[Support]:
    """Sets of fluents of which one must hold somewhere for the expression to hold anywhere."""
    match expression:
        case Leaf():
            return [(expression,)]
        case Filtered(part=part):
            return supports(part)
        case Related(source=source, target=target):
            return _together([supports(source), supports(target)])
        case Combined(parts=parts, gather=Gather(needed="one")):
            return _few([one for part in parts for one in supports(part)])
        case Combined(sign="all" | "gathered", parts=parts) if parts:
            return _together([supports(part) for part in parts])
        case Combined(sign="any", parts=parts):
            return _few([one for part in parts for one in supports(part)])
        case _:
            return [()]


def _together(parts: list[list[Support]]) -> list[Support]:
    found: list[Support] = [()]
    for part in parts:
        found = _few([tuple(dict.fromkeys(one + other)) for one, other in product(found, part)])
    return found


def _few(found: list[Support]) -> list[Support]:
    different: dict[frozenset[Leaf], Support] = {}
    for support in found:
        different.setdefault(frozenset(support), support)
    smallest = [
        one for key, one in different.items() if not any(other < key for other in different)
    ]
    return smallest if len(smallest) <= MOST else [()]
