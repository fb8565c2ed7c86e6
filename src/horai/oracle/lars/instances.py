"""Ground rules: what they are, when a stream is a model of them, and their reduct."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from horai.lang.lars.syntax import (
    Always,
    And,
    At,
    Atom,
    Choice,
    Formula,
    Head,
    Implies,
    Not,
    Or,
    Reset,
    Some,
    Truth,
    Within,
)
from horai.lang.terms import Int
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.stream import Pair, Stream
from horai.oracle.lars.windows import select


@dataclass(frozen=True)
class Instance:
    """A ground rule; a constraint has no head."""

    head: Head | None
    body: tuple[Formula, ...] = ()

    def applies(self, structure: Structure, time: int) -> bool:
        """Does the body hold?"""
        return all(structure.entails(condition, time) for condition in self.body)

    def is_satisfied(self, structure: Structure, time: int) -> bool:
        """Does the head hold if the body does?"""
        if not self.applies(structure, time):
            return True
        if self.head is None:
            return False
        if isinstance(self.head, Choice):
            return _within_bounds(self.head, structure, time)
        return structure.entails(self.head, time)


def _within_bounds(choice: Choice, structure: Structure, time: int) -> bool:
    chosen = {
        option.head
        for option in choice.options
        if all(structure.entails(part, time) for part in (option.head, *option.condition))
    }
    least = choice.least.value if isinstance(choice.least, Int) else 0
    most = choice.most.value if isinstance(choice.most, Int) else len(chosen)
    return least <= len(chosen) <= most


def is_model(instances: Iterable[Instance], structure: Structure, time: int) -> bool:
    """Are all rules satisfied?"""
    return all(instance.is_satisfied(structure, time) for instance in instances)


def reduct(instances: Iterable[Instance], structure: Structure, time: int) -> list[Instance]:
    """The rules whose body holds, whole.

    What a choice has chosen needs no other reason, and what it has not chosen is not asked for: of
    a choice, there remains one rule for every option that is taken.
    """
    kept: list[Instance] = []
    for instance in instances:
        if not instance.applies(structure, time):
            continue
        if isinstance(instance.head, Choice):
            for option in instance.head.options:
                if all(structure.entails(part, time) for part in (option.head, *option.condition)):
                    kept.append(Instance(option.head, (*instance.body, *option.condition)))
        else:
            kept.append(instance)
    return kept


def head_pairs(head: Head | None, stream: Stream, time: int) -> Iterator[Pair]:
    """The atoms at times that a head may make true; those it denies are not among them."""
    if head is None:
        return
    if isinstance(head, Choice):
        for option in head.options:
            yield from head_pairs(option.head, stream, time)
    else:
        yield from _pairs(head, stream, time, stream)


def _pairs(head: Formula, stream: Stream, time: int, whole: Stream) -> Iterator[Pair]:
    match head:
        case Atom():
            if time in stream:
                yield (time, head)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from _pairs(part, stream, time, whole)
        case Implies(right=right):
            yield from _pairs(right, stream, time, whole)
        case Some(formula=inner) | Always(formula=inner):
            for point in stream.timeline:
                yield from _pairs(inner, stream, point, whole)
        case At(time=Int(value=point), formula=inner):
            if point in stream:
                yield from _pairs(inner, stream, point, whole)
        case Within(window=window, formula=inner):
            yield from _pairs(inner, select(window, stream, time), time, whole)
        case Reset(formula=inner):
            yield from _pairs(inner, whole, time, whole)
        case Not() | Truth():
            return
        case _:
            raise AssertionError(f"{head} cannot be made true")


def sure_pairs(head: Head | None, time: int) -> Iterator[Pair]:
    """The atoms at times without which a head cannot hold, as far as that is plain to see."""
    match head:
        case Atom():
            yield (time, head)
        case At(time=Int(value=point), formula=Atom() as atom):
            yield (point, atom)
        case And(parts=parts):
            for part in parts:
                yield from sure_pairs(part, time)
        case _:
            return
