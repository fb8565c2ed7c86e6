"""How large a program may get when all of it is ground: a bound, told without grounding it.

Every argument of a predicate has at most as many values as facts and rules give it; a rule has at
most as many instances as its variables have values together. Arguments of signals are not bounded
by anything, and variables that occur nowhere else are left out.
"""

from __future__ import annotations

from math import prod

from horai.asp.plain import Ordinary, PlainProgram, PlainRule, WindowAtom
from horai.lang.lars.syntax import Atom, Predicate
from horai.lang.terms import Var

Place = tuple[Predicate, int]
_MOST_ROUNDS = 50  # values only grow, and soon stop to


def most_instances(program: PlainProgram) -> int:
    """At most so many ground rules."""
    sizes = _of_facts(program)
    for _ in range(_MOST_ROUNDS):
        before = dict(sizes)
        for rule in program.rules:
            values = _values(rule, sizes, program)
            for head in rule.heads():
                for place, arg in _places(head.atom):
                    size = values.get(arg.name, 1) if isinstance(arg, Var) else 1
                    sizes[place] = max(sizes.get(place, 0), size)
        if sizes == before:
            break
    return sum(prod(_values(rule, sizes, program).values()) for rule in program.rules)


def _of_facts(program: PlainProgram) -> dict[Place, int]:
    values: dict[Place, set[object]] = {}
    for fact in program.facts:
        for place, arg in _places(fact):
            values.setdefault(place, set()).add(arg)
    return {place: len(found) for place, found in values.items()}


def _values(rule: PlainRule, sizes: dict[Place, int], program: PlainProgram) -> dict[str, int]:
    """How many values each variable may have: those of the condition that leaves it the fewest."""
    found: dict[str, int] = {}
    for condition in rule.body:
        element = condition.element
        if condition.negated or not isinstance(element, Ordinary | WindowAtom):
            continue
        for place, arg in _places(element.atom):
            if isinstance(arg, Var) and place[0] in program.defined:
                size = sizes.get(place, 0)
                found[arg.name] = min(found.get(arg.name, size), size)
    return found


def _places(atom: Atom) -> list[tuple[Place, object]]:
    return [((atom.predicate, number), arg) for number, arg in enumerate(atom.args)]
