"""What engines answer at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from horai.lang.lars.syntax import Atom

Pair = tuple[int, Atom]
"""An atom at a time."""


@dataclass(frozen=True)
class Model:
    """An answer stream, told by the atoms that rules derive at each time."""

    derived: frozenset[Pair]

    @cached_property
    def _by_time(self) -> dict[int, frozenset[Atom]]:
        found: dict[int, set[Atom]] = {}
        for time, atom in self.derived:
            found.setdefault(time, set()).add(atom)
        return {time: frozenset(atoms) for time, atoms in found.items()}

    def at(self, time: int) -> frozenset[Atom]:
        """What is derived for a time."""
        return self._by_time.get(time, frozenset())


@dataclass(frozen=True)
class Answers:
    """The answer streams at a time: as many as were asked for, none if there is none."""

    time: int
    models: tuple[Model, ...]

    @classmethod
    def of(cls, time: int, models: Iterable[Model]) -> Answers:
        """Answers without repetition, in an order that depends on nothing but them."""
        unique = dict.fromkeys(models)
        return cls(time, tuple(sorted(unique, key=_order)))


def _order(model: Model) -> list[tuple[int, str]]:
    return sorted((time, repr(atom)) for time, atom in model.derived)
