"""Normal rules with variables, as the incremental encoding makes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.lang.lars.syntax import Atom, Comparison, Predicate
from horai.lang.terms import Int, Term, Var


@dataclass(frozen=True, slots=True)
class Literal:
    """A predicate of an encoding with arguments; expressions among them are computed."""

    name: str
    args: tuple[Term, ...] = ()
    code: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", hash((self.name, self.args)))

    def __hash__(self) -> int:
        return self.code  # rules are looked up all the time: it is computed once


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison, perhaps negated."""

    comparison: Comparison
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """`head :- positive, not negative, tests`."""

    head: Literal
    positive: tuple[Literal, ...] = ()
    negative: tuple[Literal, ...] = ()
    tests: tuple[Check, ...] = ()
    code: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = (self.head, self.positive, self.negative, self.tests)
        object.__setattr__(self, "code", hash(parts))

    def __hash__(self) -> int:
        return self.code


def plain_name(predicate: Predicate) -> str:
    """The predicate of atoms at the current time; no helper is called like that."""
    return f"p:{predicate[0]}/{predicate[1]}"


def plain(atom: Atom) -> Literal:
    """An atom at the current time."""
    return Literal(plain_name(atom.predicate), atom.args)


def pinned_name(name: str) -> str:
    """The predicate of atoms at a time."""
    return f"@{name}"


def at(literal: Literal, time: Term) -> Literal:
    """A literal pinned to a time."""
    return Literal(pinned_name(literal.name), (*literal.args, time))


def counted(literal: Literal, time: int, count: int) -> Literal:
    """A literal pinned to a tick."""
    return Literal(f"#{literal.name}", (*literal.args, Int(time), Int(count)))


def derived_now(literal: Literal) -> Literal:
    """An atom that a rule derives for the current time, before it gets there."""
    return Literal(f"now:{literal.name}", literal.args)


def open_literal(predicate: Predicate) -> Literal:
    """An atom of a predicate with a variable at every place."""
    args = tuple(Var(f"X{place}'") for place in range(predicate[1]))
    return Literal(plain_name(predicate), args)
