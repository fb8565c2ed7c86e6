"""Names that do not fit together: numbers of arguments, and spellings."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.diagnostics import Diagnostic, did_you_mean
from horai.lang.lars.predicates import body_atoms, head_predicates, inputs
from horai.lang.lars.syntax import Atom, Predicate, Program, Rule
from horai.plan.lars.findings import finding, named

_SHORTEST = 5
"""Shorter names are often alike on purpose."""


def other_numbers_of_arguments(program: Program) -> Iterator[Diagnostic]:
    """A name that rules define, or know as a signal, with another number of arguments."""
    defined = {p for rule in program.rules for p in head_predicates(rule)}
    seen: dict[str, Predicate] = {}
    for rule, atom in _asked(program, inputs(program)):
        others = sorted(p for p in defined if p[0] == atom.name)
        first = seen.setdefault(atom.name, atom.predicate)
        if others:
            message = f"{named(atom.predicate)} is asked for, and rules define {named(others[0])}"
            hint = "give it the same number of arguments, or another name if it is a signal"
            yield finding("H707", message, rule, atom.span, hint)
        elif first != atom.predicate:
            message = f"the signal {named(atom.predicate)} is asked for, and {named(first)} too"
            hint = "give both the same number of arguments; `_` stands for any value"
            yield finding("H707", message, rule, atom.span, hint)


def misspelt_names(program: Program) -> Iterator[Diagnostic]:
    """A name that no rule defines, and that is close to one that is defined."""
    defined = {p for rule in program.rules for p in head_predicates(rule)}
    for rule, atom in _asked(program, inputs(program)):
        alike = {p[0] for p in defined if p[1] == len(atom.args)}
        if len(atom.name) < _SHORTEST or atom.name in {p[0] for p in defined}:
            continue
        near = did_you_mean(atom.name, alike)
        if near is not None and _has_same_ends(atom.name, near):
            message = f"no rule defines {named(atom.predicate)}, so it is taken for a signal"
            yield finding("H708", message, rule, atom.span, f"did you mean `{near}`?")


def _has_same_ends(one: str, other: str) -> bool:
    """Numbers and suffixes tell names apart on purpose: `sensor1`, `sensor2`."""
    return one[-1] == other[-1] and not any(c.isdigit() for c in one + other)


def _asked(program: Program, wanted: set[Predicate]) -> Iterator[tuple[Rule, Atom]]:
    seen: set[Predicate] = set()
    for rule in program.rules:
        for atom in body_atoms(rule):
            if atom.predicate in wanted and atom.predicate not in seen:
                seen.add(atom.predicate)
                yield rule, atom
