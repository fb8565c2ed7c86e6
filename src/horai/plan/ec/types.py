"""Types of the arguments and values of entities and background predicates.

Types flow from facts and constants through the rules: a variable has the narrowest type that all
conditions it occurs in allow, a head argument the widest of its rules. What comes from the stream
starts as `any` and is narrowed by how it is used. Comparisons and arithmetic ask for numbers; where
only names can arrive, that is a conflict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from horai.lang.core.arithmetic import COMPARISONS
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
from horai.plan.ec.entities import Entities
from horai.plan.ec.literals import body_literals, literal_fvp
from horai.plan.ec.rule_order import head_entity


class Type(StrEnum):
    """The type of a column. `none` says that nothing is known to arrive."""

    NONE = "none"
    INT = "int"
    FLOAT = "float"
    NUMBER = "number"
    ATOM = "atom"
    STRING = "string"
    COMPOUND = "compound"
    LIST = "list"
    ANY = "any"


NUMBERS = frozenset({Type.INT, Type.FLOAT, Type.NUMBER})


def join(left: Type, right: Type) -> Type:
    """The narrowest type that holds both.

    >>> join(Type.INT, Type.FLOAT), join(Type.INT, Type.ATOM)
    (<Type.NUMBER: 'number'>, <Type.ANY: 'any'>)
    """
    if left == right or right is Type.NONE:
        return left
    if left is Type.NONE:
        return right
    return Type.NUMBER if left in NUMBERS and right in NUMBERS else Type.ANY


def meet(left: Type, right: Type) -> Type:
    """The values that can be both; `none` when there are none."""
    if left == right or right is Type.ANY:
        return left
    if left is Type.ANY:
        return right
    if left in NUMBERS and right in NUMBERS:
        # 1 and 1.0 compare as equal numbers, so the wider name stays true of both.
        narrower = right if left is Type.NUMBER else left
        return narrower if Type.NUMBER in (left, right) else Type.NUMBER
    return Type.NONE


def type_of_term(term: Term) -> Type:
    """The type of a constant; `any` for a variable."""
    match term:
        case Int():
            return Type.INT
        case Float():
            return Type.FLOAT
        case Constant(name="inf" | "infinite"):
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


ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Slot:
    """A column: an argument of an event, fluent or predicate; the value of a fluent is at -1."""

    kind: str
    name: str
    arity: int
    position: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that needs a number and can only get something else."""

    term: Term
    found: Type
    clause: ec.Clause
    because: Slot | None = None


@dataclass(slots=True)
class InferredTypes:
    """The inferred types."""

    slots: dict[Slot, Type] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)


def infer_types(description: ec.EventDescription, entities: Entities) -> InferredTypes:
    """All types, by propagation until nothing changes."""
    types = InferredTypes()
    inputs = _input_slots(entities)
    types.slots.update(dict.fromkeys(inputs, Type.ANY))
    _from_facts(description, types)
    rules = [rule for rule in description.rules if ec.body_of(rule) is not None]
    for _ in range(ROUNDS):
        before = dict(types.slots)
        for rule in rules:
            _flow(rule, types)
        if types.slots == before:
            break
    _narrow_inputs(rules, types, inputs)
    for rule in rules:
        types.conflicts.extend(_conflicts(rule, types))
    for slot, kind in types.slots.items():
        if kind is Type.NONE:
            types.slots[slot] = Type.ANY
    return types


def _input_slots(entities: Entities) -> set[Slot]:
    found: set[Slot] = set()
    for entity in entities.inputs:
        first = 0 if entity.kind == "event" else -1
        found.update(
            Slot(str(entity.kind), entity.name, entity.arity, i) for i in range(first, entity.arity)
        )
    return found


def _from_facts(description: ec.EventDescription, types: InferredTypes) -> None:
    for (name, arity), facts in description.facts.items():
        for position in range(arity):
            kind = Type.NONE
            for row in facts.rows:
                kind = join(kind, type_of_term(row[position]))
                if kind is Type.ANY:
                    break
            types.slots[Slot("predicate", name, arity, position)] = kind


def _columns(literal: ec.Literal) -> Iterator[tuple[Slot, Term]]:
    """The columns a literal reads, with what is written there."""
    fvp = literal_fvp(literal)
    if isinstance(literal, ec.Happens):
        yield from _arguments("event", literal.event)
    elif isinstance(literal, ec.Call):
        yield from _arguments("predicate", literal.term)
    elif fvp is not None:
        yield from _pair(fvp)


def _pair(fvp: ec.FVP) -> Iterator[tuple[Slot, Term]]:
    yield from _arguments("fluent", fvp.fluent)
    yield Slot("fluent", *fvp.key, -1), fvp.value


def _arguments(kind: str, term: Term) -> Iterator[tuple[Slot, Term]]:
    for position, arg in enumerate(args_of(term)):
        yield Slot(kind, *key_of(term), position), arg


def _head_columns(rule: ec.Rule) -> Iterator[tuple[Slot, Term]]:
    if isinstance(rule, ec.BackgroundRule):
        yield from _arguments("predicate", rule.head)
        return
    entity = head_entity(rule)
    if entity is None or isinstance(rule, ec.Termination):
        return  # a termination brings no value
    term, value = entity
    if value is None:
        yield from _arguments("event", term)
    else:
        yield from _pair(ec.FVP(term, value, term))


def _flow(rule: ec.Rule, types: InferredTypes) -> None:
    """One rule: from its conditions to its head."""
    known = _variables(rule, types)
    for slot, term in _head_columns(rule):
        arriving = known.get(term.name, Type.ANY) if isinstance(term, Var) else type_of_term(term)
        types.slots[slot] = join(types.slots.get(slot, Type.NONE), arriving)


def _variables(rule: ec.Rule, types: InferredTypes) -> dict[str, Type]:
    """The type of every variable of a rule, as far as its conditions say."""
    known: dict[str, Type] = {}
    for literal in asserted(rule):
        for slot, term in _columns(literal):
            if isinstance(term, Var):
                kind = types.slots.get(slot, Type.ANY)
                if kind is not Type.NONE:
                    known[term.name] = meet(known.get(term.name, Type.ANY), kind)
        match literal:
            case ec.Is(target=Var(name=name)):
                known[name] = meet(known.get(name, Type.ANY), Type.NUMBER)
            case ec.HoldsFor(intervals=Var(name=name)):
                known[name] = Type.LIST
            case ec.Compare(op="=", left=Var(name=name), right=right) if not isinstance(right, Var):
                known[name] = meet(known.get(name, Type.ANY), type_of_term(right))
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


def _needs_number(literal: ec.Literal) -> Iterator[Term]:
    """Terms that are computed or compared with."""
    match literal:
        case ec.Compare(op=op, left=left, right=right) if op in COMPARISONS:
            yield from _operands(left)
            yield from _operands(right)
        case ec.Is(expression=expression):
            yield from _operands(expression)
        case ec.DurationFilter(bound=bound):
            yield from _operands(bound)


_CONSTANTS = frozenset({"pi", "e", "inf", "infinite", "nan", "epsilon", "max_tagged_integer"})


def _operands(expression: Term) -> Iterator[Term]:
    for part in subterms(expression):
        if isinstance(part, Var | Str) or (
            isinstance(part, Constant) and part.name not in _CONSTANTS
        ):
            yield part


def _narrow_inputs(rules: list[ec.Rule], types: InferredTypes, inputs: set[Slot]) -> None:
    """Input is a number where rules compute with it."""
    for rule in rules:
        literals = list(body_literals(rule))
        numbers = {
            term.name
            for literal in literals
            for term in _needs_number(literal)
            if isinstance(term, Var)
        }
        for literal in literals:
            for slot, term in _columns(literal):
                if slot in inputs and isinstance(term, Var) and term.name in numbers:
                    types.slots[slot] = meet(types.slots[slot], Type.NUMBER)


def _conflicts(rule: ec.Rule, types: InferredTypes) -> Iterator[Conflict]:
    literals = list(body_literals(rule))
    known = _variables(rule, types)
    origin = {
        term.name: slot
        for literal in literals
        for slot, term in _columns(literal)
        if isinstance(term, Var)
        and types.slots.get(slot, Type.ANY) not in (*NUMBERS, Type.ANY, Type.NONE)
    }
    seen: set[str] = set()
    for literal in literals:
        for term in _needs_number(literal):
            found = known.get(term.name, Type.ANY) if isinstance(term, Var) else type_of_term(term)
            name = getattr(term, "name", "")
            if found in (Type.ANY, *NUMBERS) or name in seen:
                continue
            if isinstance(term, Var) and term.name not in origin:
                continue
            seen.add(name)
            yield Conflict(term, found, rule.clause, origin.get(name))
