"""Terms and atoms as symbols of clingo, and back.

clingo has 32-bit integers, strings and function symbols. Whatever else there is becomes a function
of a string, under a name that starts with an underscore, as no name of a program does. Atoms that
were read before are remembered: the next model has most of them again.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from clingo import Function, Number, String, Symbol, SymbolType

from horai.lang.core.terms import Compound, Constant, Float, Int, Str, Term, subterms
from horai.lang.lars.syntax import Atom, Predicate

LARGEST = 2**30
"""Sums of two smaller numbers fit into 32 bits."""
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_QUOTED, _DECIMAL, _LONG, _APPLIED = "_quoted", "_decimal", "_long", "_applied"


def is_name(text: str) -> bool:
    """Whether clingo reads a text as a name."""
    return text != "not" and _NAME.fullmatch(text) is not None


def is_tame(term: Term) -> bool:
    """Whether clingo can compute and compare with a term by itself."""
    return not any(
        isinstance(part, Float) or (isinstance(part, Int) and abs(part.value) > LARGEST)
        for part in subterms(term)
    )


def to_symbol(term: Term) -> Symbol:
    """The symbol of a ground term."""
    match term:
        case Int(value=value):
            if abs(value) > LARGEST:
                return Function(_LONG, [String(str(value))])
            return Number(value)
        case Str(value=text):
            return String(text)
        case Float(value=real):
            return Function(_DECIMAL, [String(repr(real))])
        case Constant(name=name):
            return Function(name) if is_name(name) else Function(_QUOTED, [String(name)])
        case Compound(name=name, args=args):
            inner = [to_symbol(arg) for arg in args]
            return Function(name, inner) if is_name(name) else _applied(name, inner)
    raise AssertionError(f"no ground term of LARS: {term}")


def _applied(name: str, args: list[Symbol]) -> Symbol:
    return Function(_APPLIED, [String(name), *args])


def to_term(symbol: Symbol) -> Term:
    """The ground term of a symbol."""
    if symbol.type is SymbolType.Number:
        return Int(symbol.number)
    if symbol.type is SymbolType.String:
        return Str(symbol.string)
    name, args = symbol.name, symbol.arguments
    match name:
        case "_quoted":
            return Constant(args[0].string)
        case "_decimal":
            return Float(float(args[0].string))
        case "_long":
            return Int(int(args[0].string))
        case "_applied":
            return Compound(args[0].string, tuple(map(to_term, args[1:])))
    return Compound(name, tuple(map(to_term, args))) if args else Constant(name)


class PredicateNames:
    """The names of predicates in encodings: their own where clingo can read it."""

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        odd = sorted({name for name, _ in predicates if not is_name(name)})
        self._odd = {name: f"_p{place}" for place, name in enumerate(odd)}

    def now(self, name: str) -> str:
        """The predicate of atoms at the current time."""
        return self._odd.get(name, name)

    def at(self, name: str) -> str:
        """The predicate of time-pinned atoms."""
        return f"_at_{self.now(name)}"


@dataclass(slots=True)
class ModelMemory:
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
