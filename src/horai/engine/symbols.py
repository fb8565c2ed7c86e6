"""Terms as integers, so that joins and sorts never look at text.

The code of an integer is twice the integer plus one, so whole columns of integers are coded by
arithmetic. Every other term has an even code: twice its place in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from horai.engine.numbering import dense
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, children
from horai.temporal.spans import Ints

LARGEST = 1 << 61  # integers beyond are kept in the table like other terms


class Symbols:
    """The terms that a session has met."""

    def __init__(self, terms: Iterable[Term] = ()) -> None:
        self._terms: list[Term | str] = []  # an atom by its name alone, made when asked for
        self._codes: dict[Term, int] = {}
        self._atoms: dict[str, int] = {}  # atoms by name: most terms are, and text hashes fast
        self.dictionaries: dict[tuple[int, int, int], tuple[object, Ints]] = {}
        """Codes of entries of dictionaries that are kept, by where these lie."""
        for term in terms:
            self.code(term)

    def copy(self) -> Symbols:
        """Other symbols that have met the same terms, with the same codes."""
        found = Symbols()
        found._terms, found._codes = self._terms.copy(), self._codes.copy()
        found._atoms = self._atoms.copy()
        return found

    def code(self, term: Term) -> int:
        """The code of a ground term."""
        if isinstance(term, Int) and -LARGEST < term.value < LARGEST:
            return term.value * 2 + 1
        if isinstance(term, Constant):
            return self.atom(term.name)
        found = self._codes.get(term)
        if found is None:
            kept = _plain(term)
            found = self._codes[kept] = 2 * len(self._terms)
            self._terms.append(kept)
        return found

    def plain(self, terms: Iterable[Compound]) -> list[int]:
        """The codes of terms that are made of terms which have codes."""
        found = []
        for term in terms:
            new = 2 * len(self._terms)
            known = self._codes.setdefault(term, new)  # hashing terms takes long: once
            if known == new:
                self._terms.append(term)
            found.append(known)
        return found

    def known(self, term: Term) -> int | None:
        """The code of a term if it has one: what was never met equals nothing."""
        if isinstance(term, Int) and -LARGEST < term.value < LARGEST:
            return term.value * 2 + 1
        return self._atoms.get(term.name) if isinstance(term, Constant) else self._codes.get(term)

    def atom(self, name: str) -> int:
        """The code of an atom."""
        found = self._atoms.get(name)
        if found is None:
            found = self._atoms[name] = 2 * len(self._terms)
            self._terms.append(name)
        return found

    @property
    def by_name(self) -> dict[str, int]:
        """The codes of all atoms."""
        return self._atoms

    def atoms(self, names: Iterable[str]) -> Ints:
        """The codes of some atoms."""
        every = list(names)
        new = [name for name in dict.fromkeys(every) if name not in self._atoms]
        first = 2 * len(self._terms)
        self._atoms.update(zip(new, range(first, first + 2 * len(new), 2), strict=True))
        self._terms.extend(new)
        return np.array([self._atoms[name] for name in every], np.int64)

    def term(self, code: int) -> Term:
        """The term of a code."""
        if code & 1:
            return Int(code >> 1)
        kept = self._terms[code >> 1]
        if isinstance(kept, str):
            kept = self._terms[code >> 1] = Constant(kept)
        return kept

    def kept(self, first: int = 0) -> list[Term | str]:
        """The terms from a place on in the order of their codes, most atoms by name alone."""
        return self._terms[first:]

    def codes(self, terms: Iterable[Term]) -> Ints:
        """The codes of some terms."""
        return np.fromiter((self.code(term) for term in terms), np.int64)

    def terms(self, codes: Ints) -> list[Term]:
        """The terms of some codes; equal codes give one and the same object."""
        numbers, firsts = dense([codes], len(codes))
        found = [self.term(code) for code in codes[firsts].tolist()]
        return [found[number] for number in numbers.tolist()]

    def __len__(self) -> int:
        return len(self._terms)

    def __iter__(self) -> Iterator[Term]:
        """All terms in the order of their codes."""
        return (self.term(2 * place) for place in range(len(self._terms)))


def _plain(term: Term) -> Term:
    """The term without the places it was written at, which would keep whole files alive."""
    match term:
        case Compound(name=name, args=args):
            return Compound(name, tuple(_plain(arg) for arg in args))
        case ListTerm(items=items, tail=tail):
            return ListTerm(tuple(map(_plain, items)), None if tail is None else _plain(tail))
        case Constant(name=name):
            return Constant(name)
        case _ if not children(term):
            return term
    return term
