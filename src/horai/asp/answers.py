"""What engines answer at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from horai.lang.lars.syntax import Atom

Pair = tuple[int, Atom]
"""An atom at a time."""


@dataclass(frozen=True)
class Model:
    """An answer stream, told by the atoms that rules derive: at the query time, and elsewhere."""

    time: int
    now: frozenset[Atom]
    elsewhere: frozenset[Pair] = frozenset()

    @property
    def derived(self) -> frozenset[Pair]:
        """All atoms with their times."""
        return self.elsewhere | {(self.time, atom) for atom in self.now}

    def at(self, time: int) -> frozenset[Atom]:
        """What is derived for a time."""
        if time == self.time:
            return self.now
        return frozenset(atom for moment, atom in self.elsewhere if moment == time)


@dataclass(frozen=True)
class Answers:
    """The answer streams at a time: as many as were asked for, none if there is none."""

    time: int
    models: tuple[Model, ...]

    @classmethod
    def of(cls, time: int, models: Iterable[Model]) -> Answers:
        """Answers without repetition, in an order that depends on nothing but them."""
        found = list(models)
        if len(found) > 1:
            found = sorted(dict.fromkeys(found), key=_order)
        return cls(time, tuple(found))


def _order(model: Model) -> list[tuple[int, str]]:
    return sorted((time, repr(atom)) for time, atom in model.derived)
