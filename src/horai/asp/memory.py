"""Atoms of models that were read before: the next model has most of them again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from horai.lang.lars.syntax import Atom
from horai.lang.terms import Term


@dataclass(slots=True)
class Memory:
    """Atoms (with their time if they have one) and terms by codes of symbols; the last model."""

    atoms: dict[Hashable, tuple[Atom, int | None]] = field(default_factory=dict)
    terms: dict[Hashable, Term] = field(default_factory=dict)
    last: frozenset[Hashable] = frozenset()
    held: frozenset[Atom] = frozenset()

    def now(self, codes: frozenset[Hashable]) -> frozenset[Atom]:
        """The atoms of a model: those of the last one, but for what has changed.

        To put an atom into a set takes longer than all the rest of reading it.
        """
        gone, came = self.last - codes, codes - self.last
        if len(gone) + len(came) > len(codes):
            self.held = frozenset([self.atoms[code][0] for code in codes])
        else:
            self.held = self.held.difference([self.atoms[code][0] for code in gone])
            self.held = self.held.union([self.atoms[code][0] for code in came])
        self.last = codes
        return self.held

    def forget(self) -> None:
        """Begin anew."""
        self.atoms.clear()
        self.terms.clear()
        self.last = frozenset()
        self.held = frozenset()
