"""Typed syntax trees of LARS programs.

Names are those of the papers: `Some` is the diamond, `Always` the box, `At` the @-operator,
`Within` the window operator and `Reset` the triangle that goes back to the whole stream. Nodes
compare by what they say, never by where they were written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.source import Placed, SourceText
from horai.lang.core.terms import Compound, Int, Term
from horai.lang.lars.windows import (
    NAMED,
    NONE,
    FilterWindow,
    IntervalWindow,
    NamedWindow,
    PartitionWindow,
    Pattern,
    TimeWindow,
    TupleWindow,
    Window,
)

__all__ = [
    "NAMED",
    "NONE",
    "FilterWindow",
    "IntervalWindow",
    "NamedWindow",
    "PartitionWindow",
    "Pattern",
    "TimeWindow",
    "TupleWindow",
    "Window",
]

# --- formulas ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Atom(Placed):
    """`tram(Id, b)`: a predicate and its arguments."""

    name: str
    args: tuple[Term, ...] = ()

    @property
    def predicate(self) -> Predicate:
        """Name and number of arguments."""
        return (self.name, len(self.args))


Predicate = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Truth(Placed):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class Not(Placed):
    """`not f`."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class And(Placed):
    """`(f, g)`: at least two parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Or(Placed):
    """`(f ; g)`: at least two parts."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Implies(Placed):
    """`(f -> g)`."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Some(Placed):
    """`some f`: at some point of the current timeline."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class Always(Placed):
    """`always f`: at all points of the current timeline."""

    formula: Formula


@dataclass(frozen=True, slots=True)
class At(Placed):
    """`@T f`: at the point T, if it belongs to the current timeline."""

    time: Term
    formula: Formula


@dataclass(frozen=True, slots=True)
class Within(Placed):
    """`[w] f`: in the part of the current stream that the window selects, at the same time."""

    window: Window
    formula: Formula


@dataclass(frozen=True, slots=True)
class Reset(Placed):
    """`reset f`: in the whole stream again."""

    formula: Formula


Sign = OneOf["=", "!=", "<", "<=", ">", ">="]
SIGNS: tuple[Sign, ...] = ("=", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Comparison(Placed):
    """`Z = X + Y`, `V >= 18`; `=` also gives a variable its value."""

    sign: Sign
    left: Term
    right: Term


Function = OneOf["count", "sum", "min", "max"]
FUNCTIONS: tuple[Function, ...] = ("count", "sum", "min", "max")


@dataclass(frozen=True, slots=True)
class Element(Placed):
    """`X, Y : f, g`: the terms, for all values of variables that make the condition true."""

    terms: tuple[Term, ...]
    condition: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Aggregate(Placed):
    """`count { X : f } sign bound`, over the different rows of terms; the first is summed."""

    function: Function
    elements: tuple[Element, ...]
    sign: Sign
    bound: Term


Formula = (
    Atom
    | Truth
    | Not
    | And
    | Or
    | Implies
    | Some
    | Always
    | At
    | Within
    | Reset
    | Comparison
    | Aggregate
)

# --- rules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChoiceOption(Placed):
    """`a(X) : f`: something that may be chosen; an atom or @-atom, and when it may."""

    head: Atom | At
    condition: tuple[Formula, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice(Placed):
    """`least { a ; b } most`: any of the options, as many as the bounds allow."""

    options: tuple[ChoiceOption, ...]
    least: Term | None = None
    most: Term | None = None


Head = Formula | Choice


@dataclass(frozen=True, slots=True)
class Rule(Placed):
    """`head :- body.`; a constraint has no head, a fact no body."""

    head: Head | None
    body: tuple[Formula, ...] = ()
    source: SourceText | None = field(default=None, compare=False, repr=False)

    @property
    def parts(self) -> tuple[Head, ...]:
        """The head, if there is one, and the conditions of the body."""
        return self.body if self.head is None else (self.head, *self.body)

    @property
    def conditions(self) -> tuple[Formula, ...]:
        """The conditions of the body, and those of the options of a choice."""
        options = self.head.options if isinstance(self.head, Choice) else ()
        return (*self.body, *(part for option in options for part in option.condition))


@dataclass(frozen=True, slots=True)
class Program:
    """All rules of some texts, in their order."""

    rules: tuple[Rule, ...]
    sources: tuple[SourceText, ...] = field(default=(), compare=False, repr=False)


def is_range(term: Term) -> bool:
    """True for `1..9` in a fact, which stands for one fact per number."""
    return isinstance(term, Compound) and term.name == ".." and len(term.args) == 2


def range_of(term: Term) -> range:
    """The numbers of `1..9`."""
    assert isinstance(term, Compound)
    first, last = term.args
    assert isinstance(first, Int) and isinstance(last, Int)
    return range(first.value, last.value + 1)
