"""The exchange between an event description and a LARS program.

A predicate of the program and an event or fluent of the description are the same if they have the
same name and as many arguments. The atom of a fluent says that its value is `true`; with one more
argument, that the last one is its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.lars.predicates import derived, inputs
from horai.lang.lars.syntax import Predicate, Program
from horai.plan.ec.entities import Entities, Entity, Kind


@dataclass(frozen=True, slots=True)
class Passing:
    """A predicate of the program that stands for an event or fluent of the description."""

    predicate: Predicate
    entity: Entity
    with_value: bool = False

    @property
    def is_fluent(self) -> bool:
        """Is it a fluent, rather than an event?"""
        return self.entity.kind is Kind.FLUENT


@dataclass(frozen=True, slots=True)
class Exchange:
    """The predicates that the program hands to the description, and those it gets from there."""

    to_description: tuple[Passing, ...]
    to_program: tuple[Passing, ...]

    def __bool__(self) -> bool:
        return bool(self.to_description or self.to_program)


def exchange(entities: Entities, program: Program) -> Exchange:
    """The predicates that one of the two derives, and the other reads.

    Input fluents of the description pass as well, for their rows are spans. Input events need not:
    both read their rows.
    """
    made, read = derived(program), inputs(program)
    given = [p for entity in entities.inputs for p in _alike(entity) if p.predicate in made]
    taken = [
        passing
        for entity in entities
        if not (entity.is_input and entity.kind is Kind.EVENT)
        for passing in _alike(entity)
        if passing.predicate in read
    ]
    return Exchange(tuple(given), tuple(taken))


def _alike(entity: Entity) -> Iterator[Passing]:
    yield Passing(entity.key, entity)
    if entity.kind is Kind.FLUENT:
        yield Passing((entity.name, entity.arity + 1), entity, with_value=True)
