"""What a run of a LARS program shows, brought up to date by what changes.

A step costs what has come and gone. The whole answer is made when somebody asks for it, at that
step or later.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import Any

from horai.lang.core.terms import Term
from horai.lang.lars.syntax import Atom
from horai.runtime.values import plain

Key = tuple[str, list[tuple[int, Any, str]]]
FEW = 16
"""A change of less than one part in so many is put in its place; more are sorted anew."""


def order(atom: Atom) -> Key:
    """By what atoms are sorted."""
    return (atom.name, [_sort(arg) for arg in atom.args])


def _sort(term: Term) -> tuple[int, Any, str]:
    """Numbers come before text; 3 and 3.0, or a and "a", are not the same and have an order."""
    value = plain(term)
    return (isinstance(value, str), value, type(term).__name__)


class Kept:
    """The atoms shown at a step. While nobody has asked, it knows how the next step differs."""

    __slots__ = ("_came", "_gone", "_later", "_listed", "_showing")

    def __init__(self, showing: Showing) -> None:
        self._showing: Showing | None = showing
        self._listed: tuple[Atom, ...] | None = None
        self._later: Kept | None = None
        self._came: Collection[Atom] = ()
        self._gone: Collection[Atom] = ()

    def leave(self, later: Kept, came: Collection[Atom], gone: Collection[Atom]) -> None:
        """There is a later step. It is held on to by earlier ones, and never the other way."""
        self._showing = None
        if self._listed is None:
            self._later, self._came, self._gone = later, came, gone

    def listed(self) -> tuple[Atom, ...]:
        """The atoms in their order."""
        if self._listed is None:
            if self._showing is not None:
                self._listed = tuple(self._showing.atoms)
            else:
                self._listed = tuple(sorted(self._undone(), key=order))
                self._later, self._came, self._gone = None, (), ()
        return self._listed

    def _undone(self) -> set[Atom]:
        """The atoms of the next step that is known, without what happened up to there."""
        passed: list[Kept] = []
        node = self
        while node._listed is None and node._later is not None:
            passed.append(node)
            node = node._later
        found = set(node.listed())
        for one in reversed(passed):
            found.difference_update(one._came)
            found.update(one._gone)
        return found


class Showing:
    """The atoms shown at the last step, sorted."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._keys: list[Key] = []
        self._known: dict[Atom, Key] = {}
        self._moves = 0  # since an answer was listed
        self.kept = Kept(self)

    def holds(self, atom: Atom) -> bool:
        """Is an atom shown?"""
        return atom in self._known

    def become(self, atoms: Collection[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Show these atoms and no others; what has come and what has gone, sorted."""
        now = atoms if isinstance(atoms, set | frozenset) else set(atoms)
        known = self._known.keys()
        return self.change(now - known, known - now)

    def change(self, came: Iterable[Atom], gone: Iterable[Atom]) -> tuple[list[Atom], list[Atom]]:
        """Show atoms that were not shown, and others no longer; both sorted."""
        fresh = sorted(((order(atom), atom) for atom in came), key=_first)
        old = sorted(((self._known[atom], atom) for atom in gone), key=_first)
        new, past = [atom for _, atom in fresh], [atom for _, atom in old]
        if not new and not past:
            return new, past
        later = Kept(self)
        self.kept.leave(later, new, past)
        self.kept = later
        for atom in past:
            del self._known[atom]
        self._known.update((atom, key) for key, atom in fresh)
        if (len(new) + len(past)) * FEW > len(self._keys):
            self._sort_anew()
        else:
            for key, atom in old:
                place = self._place(key, atom)
                del self._keys[place], self.atoms[place]
            for key, atom in fresh:
                place = bisect_left(self._keys, key)
                self._keys.insert(place, key)
                self.atoms.insert(place, atom)
        # So no way from an answer to a later one that is listed is longer than an answer.
        self._moves += len(new) + len(past)
        if self._moves > len(self.atoms):
            self._moves = 0
            later.listed()
        return new, past

    def _sort_anew(self) -> None:
        pairs = sorted(self._known.items(), key=_second)
        self.atoms = [atom for atom, _ in pairs]
        self._keys = [key for _, key in pairs]

    def _place(self, key: Key, atom: Atom) -> int:
        place = bisect_left(self._keys, key)
        while self.atoms[place] != atom:  # others may be sorted by the same
            place += 1
        return place


def _first(pair: tuple[Key, Atom]) -> Key:
    return pair[0]


def _second(pair: tuple[Atom, Key]) -> Key:
    return pair[1]
