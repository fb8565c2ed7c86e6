"""Plain LARS: the normal form that the encodings work on.

A rule has atoms or @-atoms as heads; its body has extended atoms (ordinary, @-atoms and window
atoms), comparisons and aggregates, each perhaps negated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.lars.syntax import Atom, Comparison, Function, Pattern, Predicate, Rule, Sign
from horai.lang.terms import Span, Term

Modality = OneOf["some", "always", "at"]


class Refused(Exception):
    """A program that an engine does not serve, and why; another engine may."""

    def __init__(self, reason: str, rule: Rule | None = None, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.span = rule.span if span is None and rule is not None else span

    def __str__(self) -> str:
        if self.rule is None or self.rule.source is None or self.span is None:
            return self.reason
        line, column = self.rule.source.position(self.span[0])
        return f"{self.rule.source.name}:{line}:{column}: {self.reason}"


class Endless(Exception):
    """Rules that compute ever new values, it seems; says after how much that was."""


# --- windows, measured in time points ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Times:
    """Time points around the current one, or around the last multiple of `hop`; None is endless."""

    past: int | None
    future: int | None = 0
    hop: int = 1


@dataclass(frozen=True, slots=True)
class Tuples:
    """The last and the next signals; None is all of them."""

    past: int | None
    future: int | None = 0


@dataclass(frozen=True, slots=True)
class Groups:
    """A tuple window for every group of signals that patterns tell apart."""

    past: int | None
    future: int | None
    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Only:
    """What fits a pattern, at all times."""

    patterns: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class Between:
    """The points between two fixed times."""

    first: int
    last: int


Window = Times | Tuples | Groups | Only | Between
Chain = tuple[Window, ...]
"""Windows applied one after the other, the outermost first; without any, the whole stream."""
NOW: Chain = (Times(0),)

# --- bodies -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ordinary:
    """An atom at the current time."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class WindowAtom:
    """An atom under a modality in windows; `time` is that of `at`."""

    windows: Chain
    modality: Modality
    atom: Atom
    time: Term | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """An element of an aggregate."""

    terms: tuple[Term, ...]
    condition: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate compared with a bound."""

    function: Function
    rows: tuple[Row, ...]
    sign: Sign
    bound: Term


Extended = Ordinary | WindowAtom


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a body, perhaps negated."""

    element: Extended | Comparison | Measure
    negated: bool = False


# --- rules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Headed:
    """An atom to derive, at the current time or at another one."""

    atom: Atom
    time: Term | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """An option of a choice."""

    head: Headed
    condition: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Choosing:
    """A choice between options."""

    picks: tuple[Pick, ...]
    least: Term | None
    most: Term | None


@dataclass(frozen=True, slots=True)
class PlainRule:
    """Heads (several are a disjunction, none is a constraint) or a choice, and the body."""

    head: tuple[Headed, ...] | Choosing
    body: tuple[Condition, ...]
    origin: Rule = field(compare=False, repr=False)

    def heads(self) -> tuple[Headed, ...]:
        """All atoms that the rule can derive."""
        if isinstance(self.head, Choosing):
            return tuple(pick.head for pick in self.head.picks)
        return self.head

    def conditions(self) -> tuple[Condition, ...]:
        """All conditions, those inside aggregates and choices included."""
        found = list(self.body)
        if isinstance(self.head, Choosing):
            found.extend(part for pick in self.head.picks for part in pick.condition)
        for condition in tuple(found):
            if isinstance(condition.element, Measure):
                found.extend(part for row in condition.element.rows for part in row.condition)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """Rules in normal form, with what their predicates are.

    `background` predicates have facts only, `derived` ones have rules; all others are signals.
    """

    rules: tuple[PlainRule, ...]
    facts: tuple[Atom, ...]
    background: frozenset[Predicate]
    derived: frozenset[Predicate]

    @property
    def defined(self) -> frozenset[Predicate]:
        """The predicates that have facts or rules; a stream may bring signals of them, too."""
        return self.background | self.derived

    def extended(self) -> tuple[Extended, ...]:
        """All ordinary atoms, @-atoms and window atoms of bodies."""
        return tuple(
            condition.element
            for rule in self.rules
            for condition in rule.conditions()
            if isinstance(condition.element, Ordinary | WindowAtom)
        )
