"""Bi-LARS and LARS here-and-there: formulas over two streams at once, from their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from horai.lang.core.terms import Int
from horai.lang.lars.syntax import (
    Always,
    And,
    At,
    Atom,
    Formula,
    Implies,
    Not,
    Or,
    Some,
    Truth,
    Within,
)
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.grounding import Instance
from horai.oracle.lars.stream import Pair, Stream, select

FALSE = Truth(False)


@dataclass(frozen=True)
class BiStream:
    """A left and a right stream on the same timeline."""

    left: Stream
    right: Stream

    def entails(self, formula: Formula, time: int) -> bool:
        """Bi-LARS: negations and windows are looked at in each stream on its own."""
        return self._holds(formula, time, is_left=True, is_ht=False)

    def here(self, formula: Formula, time: int) -> bool:
        """Here-and-there: windows select from both streams, and `not f` is `f -> false`."""
        return self._holds(formula, time, is_left=True, is_ht=True)

    def _holds(self, formula: Formula, time: int, *, is_left: bool, is_ht: bool) -> bool:
        stream = self.left if is_left else self.right

        def inside(part: Formula, at: int = time) -> bool:
            return self._holds(part, at, is_left=is_left, is_ht=is_ht)

        match formula:
            case Atom():
                return formula in stream.at(time)
            case Truth(value=value):
                return value
            case And(parts=parts):
                return all(map(inside, parts))
            case Or(parts=parts):
                return any(map(inside, parts))
            case Some(formula=inner):
                return any(inside(inner, point) for point in stream.timeline)
            case Always(formula=inner):
                return all(inside(inner, point) for point in stream.timeline)
            case At(time=Int(value=point), formula=inner):
                return point in stream and inside(inner, point)
            case Implies(left=one, right=other):
                beyond = not is_left or self._holds(formula, time, is_left=False, is_ht=is_ht)
                return beyond and (not inside(one) or inside(other))
            case Not(formula=inner) if is_ht:
                return inside(Implies(inner, FALSE))
            case Within(window=window, formula=inner) if is_ht:
                both = (select(window, one, time) for one in (self.left, self.right))
                return BiStream(*both)._holds(inner, time, is_left=is_left, is_ht=True)
            case Not() | Within():
                streams = (self.left, self.right) if is_left else (self.right,)
                return all(Structure(one).entails(formula, time) for one in streams)
        raise AssertionError(formula)


def implication(instance: Instance) -> Formula:
    """A rule as the implication that it is."""
    head = FALSE if instance.head is None else instance.head
    assert isinstance(head, Formula)
    return Implies(And((*instance.body, Truth(True))), head)


def is_bimodel(rules: Iterable[Instance], streams: BiStream, time: int) -> bool:
    """Do all rules hold in both streams at once?"""
    return all(streams.entails(implication(rule), time) for rule in rules)


def is_bimodel_by_reduct(rules: Sequence[Instance], streams: BiStream, time: int) -> bool:
    """The right stream is a model, and the left one of the rules that apply in the right."""
    left, right = Structure(streams.left), Structure(streams.right)
    applying = [rule for rule in rules if rule.applies(right, time)]
    return all(rule.is_satisfied(right, time) for rule in rules) and all(
        rule.is_satisfied(left, time) for rule in applying
    )


def subsets(pairs: Iterable[Pair]) -> Iterator[tuple[Pair, ...]]:
    """All sets of some atoms at times."""
    kept = list(pairs)
    return chain.from_iterable(combinations(kept, size) for size in range(len(kept) + 1))


def bimodels(
    rules: Sequence[Instance], data: Stream, time: int, universe: Iterable[Pair]
) -> set[tuple[frozenset[Pair], frozenset[Pair]]]:
    """All bi-models over a universe, as pairs of what is derived."""
    return {
        (frozenset(small), frozenset(large))
        for large in subsets(universe)
        for small in subsets(large)
        if is_bimodel_by_reduct(rules, BiStream(data.plus(small), data.plus(large)), time)
    }
