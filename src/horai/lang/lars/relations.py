"""Relations that are written like atoms: `leq(18, V)` for `18 <= V`, as programs for Ticker do.

Whether such an atom is a relation, only the whole program tells. It is a signal, or derived, if a
rule or a fact has it as a head, or if it is asked for in a window or at a time, where relations
make no sense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Int
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import body_atoms, head_predicates
from horai.lang.lars.walk import atoms

_SIGNS: dict[str, lars.Sign] = {
    "eq": "=",
    "neq": "!=",
    "lt": "<",
    "leq": "<=",
    "gt": ">",
    "geq": ">=",
}
_CHAINS: dict[str, tuple[lars.Sign, lars.Sign]] = {
    "ltlt": ("<", "<"),
    "ltleq": ("<", "<="),
    "leqlt": ("<=", "<"),
    "leqleq": ("<=", "<="),
}
_COMPUTED = {"plus": "+", "sum": "+", "minus": "-", "times": "*", "product": "*"}
_COMPUTED |= {"divide": "/", "power": "^", "modulo": "%"}

NAMED: frozenset[lars.Predicate] = frozenset(
    {*product((*_SIGNS, "incr"), [2]), *product((*_CHAINS, *_COMPUTED), [3])}
)
"""The relations that have a name."""


def with_relations(rules: list[lars.Rule]) -> list[lars.Rule]:
    """The rules with relations in the place of atoms that can be nothing else."""
    asked = {atom.predicate for rule in rules for atom in body_atoms(rule)} & NAMED
    asked -= {predicate for rule in rules for predicate in head_predicates(rule)}
    if not asked:
        return rules
    windowed = {atom.predicate for rule in rules for atom in _in_windows(rule)}
    return [_changed_rule(rule, asked - windowed) for rule in rules]


def doubtful(program: lars.Program) -> Iterator[tuple[lars.Rule, lars.Atom]]:
    """Atoms that may be meant as relations, and are signals because they are so elsewhere."""
    asked = NAMED - {p for rule in program.rules for p in head_predicates(rule)}
    for rule in program.rules:
        yield from ((rule, atom) for atom in _bare(rule) if atom.predicate in asked)


def compared(atom: lars.Atom) -> tuple[lars.Comparison, ...]:
    """The comparisons that an atom stands for if it is a relation."""
    first, second, *rest = atom.args
    if atom.name in _SIGNS:
        return (lars.Comparison(_SIGNS[atom.name], first, second, span=atom.span),)
    if atom.name == "incr":
        return (
            lars.Comparison("=", second, Compound("+", (first, Int(1)), atom.span), span=atom.span),
        )
    (third,) = rest
    if atom.name in _CHAINS:
        one, other = _CHAINS[atom.name]
        left = lars.Comparison(one, first, second, span=atom.span)
        return (left, lars.Comparison(other, second, third, span=atom.span))
    computed = Compound(_COMPUTED[atom.name], (first, second), atom.span)
    return (lars.Comparison("=", third, computed, span=atom.span),)


# --- where atoms stand ----------------------------------------------------------------------------


def _bare(rule: lars.Rule) -> Iterator[lars.Atom]:
    """The atoms of conditions that are in no window and at no time."""
    found: list[lars.Atom] = []

    def note(atom: lars.Atom) -> tuple[lars.Formula, ...]:
        found.append(atom)
        return (atom,)

    for condition in rule.conditions:
        _changed(condition, note)
    return iter(found)


def _in_windows(rule: lars.Rule) -> Iterator[lars.Atom]:
    bare = {id(atom) for atom in _bare(rule)}
    for condition in rule.conditions:
        yield from (atom for atom in atoms(condition) if id(atom) not in bare)


# --- putting relations there ----------------------------------------------------------------------

_Change = Callable[[lars.Atom], tuple[lars.Formula, ...]]


def _changed_rule(rule: lars.Rule, relations: set[lars.Predicate]) -> lars.Rule:
    def change(atom: lars.Atom) -> tuple[lars.Formula, ...]:
        return compared(atom) if atom.predicate in relations else (atom,)

    if not any(atom.predicate in relations for atom in _bare(rule)):
        return rule
    head: lars.Head | None = rule.head
    if isinstance(head, lars.Choice):
        options = (replace(o, condition=_all(o.condition, change)) for o in head.options)
        head = replace(head, options=tuple(options))
    return replace(rule, head=head, body=_all(rule.body, change))


def _all(conditions: tuple[lars.Formula, ...], change: _Change) -> tuple[lars.Formula, ...]:
    return tuple(part for condition in conditions for part in _changed(condition, change))


def _changed(formula: lars.Formula, change: _Change) -> tuple[lars.Formula, ...]:
    """The parts that stand for a formula, joined by `and`."""
    match formula:
        case lars.Atom():
            return change(formula)
        case lars.And(parts=parts):
            return (replace(formula, parts=_all(parts, change)),)
        case lars.Not() | lars.Or() | lars.Implies():
            return (rebuilt(formula, lambda part: _one(part, change)),)
        case lars.Aggregate(elements=elements):
            changed = (replace(e, condition=_all(e.condition, change)) for e in elements)
            return (replace(formula, elements=tuple(changed)),)
        case _:
            return (formula,)


def _one(formula: lars.Formula, change: _Change) -> lars.Formula:
    parts = _changed(formula, change)
    return parts[0] if len(parts) == 1 else lars.And(parts, span=formula.span)
