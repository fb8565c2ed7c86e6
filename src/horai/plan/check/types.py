"""The check of types: numbers that are needed where something else arrives.

Types flow from facts and constants through the rules: a variable has the narrowest type that all
conditions it occurs in allow, a head argument the widest of its rules. What comes from the stream
may be anything. Comparisons and arithmetic ask for numbers; where only names can arrive, that is a
conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
    args_of,
    key_of,
    subterms,
)
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, finding, quoted
from horai.plan.ec.literals import body_literals, literal_fvp
from horai.plan.ec.rule_order import head_entity


class Type(StrEnum):
    """The type of a column. `none` says that nothing is known to arrive."""

    NONE = "none"
    NUMBER = "number"
    ATOM = "atom"
    STRING = "string"
    COMPOUND = "compound"
    LIST = "list"
    ANY = "any"


def join(left: Type, right: Type) -> Type:
    """The narrowest type that holds both.

    >>> str(join(Type.NONE, Type.ATOM)), str(join(Type.NUMBER, Type.ATOM))
    ('atom', 'any')
    """
    if left is Type.NONE or left is right:
        return right
    return left if right is Type.NONE else Type.ANY


def meet(left: Type, right: Type) -> Type:
    """The values that can be both; `none` when there are none."""
    if left is Type.ANY or left is right:
        return right
    return left if right is Type.ANY else Type.NONE


def type_of_term(term: Term) -> Type:
    """The type of a constant; `any` for a variable."""
    match term:
        case Int() | Float() | Constant(name="inf" | "infinite"):
            return Type.NUMBER
        case Constant():
            return Type.ATOM
        case Str():
            return Type.STRING
        case Compound():
            return Type.COMPOUND
        case ListTerm():
            return Type.LIST
        case _:
            return Type.ANY


class Slot(NamedTuple):
    """A column: an argument of an event, fluent or predicate; the value of a fluent is at -1."""

    kind: str
    name: str
    arity: int
    position: int

    def __str__(self) -> str:
        where = "the value" if self.position < 0 else f"argument {self.position + 1}"
        return f"{where} of `{self.name}/{self.arity}`"


Types = dict[Slot, Type]


def type_conflicts(context: CheckContext) -> Iterator[Diagnostic]:
    """H505: numbers needed where names arrive."""
    rules = [rule for rule in context.description.rules if ec.body_of(rule) is not None]
    types = _types(context, rules)
    for rule in rules:
        known = _variables(rule, types)
        literals = list(body_literals(rule))
        origin = {
            term.name: slot
            for literal in literals
            for slot, term in _columns(literal)
            if isinstance(term, Var)
            and types.get(slot, Type.ANY) not in (Type.NUMBER, Type.ANY, Type.NONE)
        }
        seen: set[str] = set()
        for term in (needed for literal in literals for needed in _needs_number(literal)):
            found = known.get(term.name, Type.ANY) if isinstance(term, Var) else type_of_term(term)
            name = getattr(term, "name", "")
            is_sure = name in origin or not isinstance(term, Var)
            if found in (Type.ANY, Type.NUMBER) or name in seen or not is_sure:
                continue
            seen.add(name)
            message = f"a number is needed here, but {quoted(term)} is of type {found}"
            note = f"its values come from {origin[name]}" if name in origin else None
            hint = "compare names with `==` and `\\==`"
            yield finding("H505", message, rule.clause, term, hint, note)


def _types(context: CheckContext, rules: list[ec.Rule]) -> Types:
    """The types of all columns, by propagation until nothing changes."""
    types: Types = {}
    for entity in context.entities.inputs:
        for position in range(-1, entity.arity):
            types[Slot(str(entity.kind), *entity.key, position)] = Type.ANY
    for key, facts in context.description.facts.items():
        for position in range(key[1]):
            kind = Type.NONE
            for row in facts.rows:
                kind = join(kind, type_of_term(row[position]))
                if kind is Type.ANY:
                    break
            types[Slot("predicate", *key, position)] = kind
    before: Types | None = None
    while types != before:
        before = dict(types)
        for rule in rules:
            known = _variables(rule, types)
            for slot, term in _head_columns(rule):
                kind = type_of_term(term)
                arriving = known.get(term.name, kind) if isinstance(term, Var) else kind
                types[slot] = join(types.get(slot, Type.NONE), arriving)
    return types


def _columns(literal: ec.Literal) -> Iterator[tuple[Slot, Term]]:
    """The columns a literal reads, with what is written there."""
    fvp = literal_fvp(literal)
    if isinstance(literal, ec.Happens):
        yield from _arguments("event", literal.event)
    elif isinstance(literal, ec.Call):
        yield from _arguments("predicate", literal.term)
    elif fvp is not None:
        yield from _pair(fvp.fluent, fvp.value)


def _pair(fluent: Term, value: Term) -> Iterator[tuple[Slot, Term]]:
    yield from _arguments("fluent", fluent)
    yield Slot("fluent", *key_of(fluent), -1), value


def _arguments(kind: str, term: Term) -> Iterator[tuple[Slot, Term]]:
    for position, arg in enumerate(args_of(term)):
        yield Slot(kind, *key_of(term), position), arg


def _head_columns(rule: ec.Rule) -> Iterator[tuple[Slot, Term]]:
    """The columns a head gives values to; a termination brings none."""
    entity = head_entity(rule)
    if isinstance(rule, ec.BackgroundRule):
        yield from _arguments("predicate", rule.head)
    elif entity is not None and not isinstance(rule, ec.Termination):
        term, value = entity
        yield from _arguments("event", term) if value is None else _pair(term, value)


def _variables(rule: ec.Rule, types: Types) -> dict[str, Type]:
    """The type of every variable of a rule, as far as its conditions say."""
    known: dict[str, Type] = {}

    def narrow(name: str, kind: Type) -> None:
        known[name] = meet(known.get(name, Type.ANY), kind)

    for literal in asserted(rule):
        for slot, term in _columns(literal):
            kind = types.get(slot, Type.ANY)
            if isinstance(term, Var) and kind is not Type.NONE:
                narrow(term.name, kind)
        match literal:
            case ec.Is(target=Var(name=name)):
                narrow(name, Type.NUMBER)
            case ec.HoldsFor(intervals=Var(name=name)):
                known[name] = Type.LIST
            case ec.Compare(op="=", left=Var(name=name), right=right) if not isinstance(right, Var):
                narrow(name, type_of_term(right))
    # Conditions that contradict each other, as those of two alternatives may, say nothing.
    return {name: kind for name, kind in known.items() if kind is not Type.NONE}


def asserted(rule: ec.Rule) -> Iterator[ec.Literal]:
    """The conditions of a rule that are not under a negation."""
    stack = list(body_literals(rule))[:1]
    while stack:
        literal = stack.pop()
        yield literal
        if not isinstance(literal, ec.Negation):
            stack.extend(reversed(ec.parts(literal)))


_CONSTANTS = frozenset({"pi", "e", "inf", "infinite", "nan", "epsilon", "max_tagged_integer"})


def _needs_number(literal: ec.Literal) -> Iterator[Term]:
    """Variables and names that are computed or compared with."""
    expressions: tuple[Term, ...] = ()
    match literal:
        case ec.Compare(op=op, left=left, right=right) if op in COMPARISONS:
            expressions = (left, right)
        case ec.Is(expression=expression):
            expressions = (expression,)
        case ec.DurationFilter(bound=bound):
            expressions = (bound,)
    for part in (part for expression in expressions for part in subterms(expression)):
        is_name = isinstance(part, Constant) and part.name not in _CONSTANTS
        if is_name or isinstance(part, Var | Str):
            yield part
