"""Typed syntax trees of event patterns. Nodes compare by what they say, not by their place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.source import SourceText
from horai.lang.core.terms import Span, Term

Relation = OneOf["SEQ", "AND", "OR", "PAR", "EQUALS", "MEETS", "DURING", "STARTS", "FINISHES"]


@dataclass(frozen=True, slots=True)
class Event:
    """`tram(Id, Stop)`: an event, from the stream or made by a rule."""

    name: str
    args: tuple[Term, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time point: the interval from it to itself."""

    time: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Lasting:
    """`(p).5`: the intervals of p that are at most so long."""

    pattern: Pattern
    most: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`p SEQ q` and its kin."""

    relation: Relation
    left: Pattern
    right: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Absent:
    """`NOT(p).[q, r]`: q SEQ r without any q SEQ p SEQ r."""

    pattern: Pattern
    first: Pattern
    last: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EtalisComparison:
    """`X + 1 < Y`."""

    sign: OneOf["=", "!=", "<", "<=", ">", ">="]
    left: Term
    right: Term
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Where:
    """`p WHERE X > 3, Y != Z`."""

    pattern: Pattern
    conditions: tuple[EtalisComparison, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Pattern = Event | Moment | Lasting | Binary | Absent | Where


@dataclass(frozen=True, slots=True)
class PatternRule:
    """`event <- pattern.`: the intervals of the pattern are intervals of the event."""

    head: Event
    pattern: Pattern
    span: Span | None = field(default=None, compare=False, repr=False)
    source: SourceText | None = field(default=None, compare=False, repr=False)


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns that a pattern is made of; what must be absent comes last."""
    match pattern:
        case Binary(left=left, right=right):
            return (left, right)
        case Absent(pattern=inner, first=first, last=last):
            return (first, last, inner)
        case Lasting(pattern=inner) | Where(pattern=inner):
            return (inner,)
        case _:
            return ()


def events(pattern: Pattern) -> Iterator[Event]:
    """All events of a pattern."""
    if isinstance(pattern, Event):
        yield pattern
    for part in parts(pattern):
        yield from events(part)
