"""Which fragment of LARS a program belongs to, and why not to a smaller one; which answers it is
asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal as OneOf

from horai.lang.core.terms import Span
from horai.lang.lars import syntax as lars
from horai.lang.lars.walk import subformulas
from horai.plan.lars.dependencies import odd_loops, strata


class NotServed(Exception):
    """A program that an engine does not serve, and why; another engine may."""

    def __init__(
        self, reason: str, rule: lars.Rule | None = None, span: Span | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.rule = rule
        self.span = rule.span if span is None and rule is not None else span

    def __str__(self) -> str:
        if self.rule is None or self.rule.source is None or self.span is None:
            return self.reason
        line, column = self.rule.source.position(self.span[0])
        return f"{self.rule.source.name}:{line}:{column}: {self.reason}"


class EndlessValues(Exception):
    """Rules that compute ever new values, it seems; says after how much that was."""


class Fragment(StrEnum):
    """From small to large."""

    POSITIVE = "positive"
    STRATIFIED = "stratified"
    PLAIN = "plain"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class FragmentReason:
    """Why a program is not in a smaller fragment."""

    text: str
    rule: lars.Rule | None = None


@dataclass(frozen=True, slots=True)
class Classification:
    """The fragment of a program, what it uses, and an order of its predicates if there is one.

    Programs with `strata` have at most one answer, whatever their fragment. `features` are among
    negation, constraint, choice, disjunction, aggregate, nesting, reset, future, hop, time,
    tuple, partition, filter, interval, and the names of windows that have one.
    """

    fragment: Fragment
    features: frozenset[str]
    strata: tuple[frozenset[lars.Predicate], ...] | None
    reasons: tuple[FragmentReason, ...]


def classify(program: lars.Program) -> Classification:
    """The smallest fragment that contains a program."""
    features = frozenset(f for rule in program.rules for f in _features(rule))
    order = strata(program)
    strange = [rule for rule in program.rules if not is_plain(rule)]
    if strange:
        reasons = tuple(FragmentReason(_why_not_plain(rule), rule) for rule in strange)
        fragment = Fragment.FULL
    elif order is None:
        loops = list(odd_loops(program))
        text = "predicates depend on each other through `not`"
        reasons = tuple(FragmentReason(text, rule) for _, rule in loops) or (FragmentReason(text),)
        fragment = Fragment.PLAIN
    elif "negation" in features:
        negated = next(rule for rule in program.rules if "negation" in _features(rule))
        reasons = (FragmentReason("rules use `not`", negated),)
        fragment = Fragment.STRATIFIED
    else:
        reasons, fragment = (), Fragment.POSITIVE
    return Classification(fragment, features, None if order is None else tuple(order), reasons)


def is_plain(rule: lars.Rule) -> bool:
    """True for a head that is an atom or @-atom and a body of extended atoms, some under `not`."""
    return _is_plain_head(rule.head) and all(
        is_extended_atom(part.formula if isinstance(part, lars.Not) else part) for part in rule.body
    )


def _is_plain_head(head: lars.Head | None) -> bool:
    return isinstance(head, lars.Atom) or (
        isinstance(head, lars.At) and isinstance(head.formula, lars.Atom)
    )


def is_extended_atom(formula: lars.Formula) -> bool:
    """True for an atom, an @-atom or a window atom; comparisons count as atoms."""
    if isinstance(formula, lars.Within):
        inner = formula.formula
        return isinstance(inner, lars.Some | lars.Always | lars.At) and isinstance(
            inner.formula, lars.Atom
        )
    if isinstance(formula, lars.At):
        return isinstance(formula.formula, lars.Atom)
    return isinstance(formula, lars.Atom | lars.Comparison)


def _why_not_plain(rule: lars.Rule) -> str:
    match rule.head:
        case None:
            return "this is a constraint"
        case lars.Choice():
            return "the head is a choice"
        case lars.Or():
            return "the head is a disjunction"
        case head if not _is_plain_head(head):
            return "the head is no atom"
    if any(isinstance(part, lars.Aggregate) for part in rule.body):
        return "the body has an aggregate"
    return "the body has a formula that is no atom in one window"


def _features(rule: lars.Rule) -> set[str]:
    found: set[str] = set()
    if rule.head is None:
        found.add("constraint")
    for part in rule.parts:
        for inner in subformulas(part):
            found |= _of_one(inner)
    if any(isinstance(part, lars.Within) and _nests(part) for part in rule.body):
        found.add("nesting")
    return found


def _of_one(formula: lars.Head) -> set[str]:
    match formula:
        case lars.Not():
            return {"negation"}
        case lars.Choice():
            return {"choice"}
        case lars.Or():
            return {"disjunction"}
        case lars.Aggregate():
            return {"aggregate"}
        case lars.Reset():
            return {"reset"}
        case lars.Within(window=window):
            return window.features
        case _:
            return set()


def _nests(formula: lars.Within) -> bool:
    return any(isinstance(inner, lars.Within) for inner in subformulas(formula.formula))


# --- which answers are given --------------------------------------------------------------------

Reasoning = OneOf["models", "brave", "cautious"]
"""Answers themselves, what holds in some of them, or what holds in all of them."""


@dataclass(frozen=True, slots=True)
class AnswerMode:
    """Which answers are given: so many `models`, 0 for all, or what they have in common.

    With `least_change` they are those that differ the least from the answer before.
    """

    models: int = 1
    reasoning: Reasoning = "models"
    least_change: bool = False

    @property
    def is_numbered(self) -> bool:
        """Whether there may be several answers at a time."""
        return self.models != 1

    @property
    def is_one(self) -> bool:
        """Whether any answer will do."""
        return self.models == 1 and self.reasoning == "models" and not self.least_change


ONE = AnswerMode()
