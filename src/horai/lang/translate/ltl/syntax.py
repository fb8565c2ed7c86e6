"""Typed syntax trees of temporal logic about the past.

`Previous`, `Once`, `Historically` and `Since` are the operators of past LTL; bounds are those of
metric temporal logic: `Once(f, 2, 5)` looks from 5 to 2 points back. Nodes compare by what they
say, never by where they were written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span, Term


@dataclass(frozen=True, slots=True)
class Proposition:
    """`hot`, `tram(a1, b)`: an atom without variables."""

    name: str
    args: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlTruth:
    """`true` or `false`."""

    value: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlNot:
    """`not f`."""

    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlAnd:
    """`f and g`."""

    left: Formula
    right: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlOr:
    """`f or g`."""

    left: Formula
    right: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class LtlImplies:
    """`f -> g`."""

    left: Formula
    right: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Iff:
    """`f <-> g`."""

    left: Formula
    right: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Previous:
    """`previous f`: there is a point before, and f holds there."""

    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Once:
    """`once[least, most] f`: at some point that far back; `most` None has no limit."""

    formula: Formula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Historically:
    """`historically[least, most] f`: at all points that far back."""

    formula: Formula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Since:
    """`f since[least, most] g`: g at some point that far back, and f at all points after it."""

    left: Formula
    right: Formula
    least: int = 0
    most: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Formula = (
    Proposition
    | LtlTruth
    | LtlNot
    | LtlAnd
    | LtlOr
    | LtlImplies
    | Iff
    | Previous
    | Once
    | Historically
    | Since
)


@dataclass(frozen=True, slots=True)
class Definition:
    """`name := formula.`; what the names in it stand for is put in their places."""

    name: str
    formula: Formula
    span: Span | None = field(default=None, compare=False, repr=False)
    source: SourceText | None = field(default=None, compare=False, repr=False)


def parts(formula: Formula) -> tuple[Formula, ...]:
    """The formulas that a formula is made of.

    >>> parts(Once(Proposition("a")))
    (Proposition(name='a', args=()),)
    """
    match formula:
        case LtlAnd() | LtlOr() | LtlImplies() | Iff() | Since():
            return (formula.left, formula.right)
        case LtlNot() | Previous() | Once() | Historically():
            return (formula.formula,)
        case _:
            return ()


def with_parts(formula: Formula, inner: Sequence[Formula]) -> Formula:
    """The formula made of other parts."""
    match formula:
        case LtlAnd() | LtlOr() | LtlImplies() | Iff() | Since():
            left, right = inner
            return replace(formula, left=left, right=right)
        case LtlNot() | Previous() | Once() | Historically():
            return replace(formula, formula=inner[0])
        case _:
            return formula
