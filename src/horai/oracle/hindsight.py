"""Did a rule of a cycle depend on what came later?

Cycles are settled in time order, so a rule that looks ahead at its own cycle sees nothing yet and
would be wrong without a sound. Such rules are asked again when all is known: they must say the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from horai.lang.ec.syntax import (
    Call,
    Edge,
    Happens,
    HoldsAt,
    InitiatedAt,
    Literal,
    TerminatedAt,
    walk,
)
from horai.oracle.background import Background
from horai.oracle.errors import FutureRead
from horai.oracle.points import Said
from horai.oracle.timeline import Members, Variant
from horai.oracle.world import Key, key_of


class Hindsight:
    """What the rules that may look ahead have said."""

    def __init__(
        self, variants: Iterable[Variant], members: Members, background: Background
    ) -> None:
        self._looks_at: dict[int, Key] = {}
        self._variants: dict[int, Variant] = {}
        self._said: dict[tuple[int, int], frozenset[Said]] = {}
        for variant in variants:
            for key in _at_other_times(variant, members, background):
                self._looks_at[id(variant)] = key
                self._variants[id(variant)] = variant

    def note(self, variant: Variant, t: int, said: Iterable[Said]) -> None:
        """Remember what a rule said when it was last asked about t."""
        if id(variant) in self._looks_at:
            self._said[id(variant), t] = frozenset(said)

    def check(self, fire: Callable[[Variant, int], Iterator[Said]]) -> None:
        """Ask again, now that everything is known."""
        for (number, t), said in self._said.items():
            variant = self._variants[number]
            if frozenset(fire(variant, t)) != said:
                error = FutureRead(self._looks_at[number])
                error.clause = variant.rule.clause
                raise error


def _at_other_times(variant: Variant, members: Members, background: Background) -> Iterator[Key]:
    """What a rule reads of its own component at a time that is not its own."""
    for literal in walk(variant.body):
        if isinstance(literal, Call):
            if literal.key in background.temporal:
                yield literal.key
        else:
            key, time = _reading(literal)
            if key in members.fluents | members.events and time != variant.rule.time:
                yield key


def _reading(literal: Literal) -> tuple[Key, object]:
    match literal:
        case Happens(event=event, time=time):
            return key_of(event), time
        case (
            HoldsAt(fvp=fvp, time=time)
            | Edge(fvp=fvp, time=time)
            | InitiatedAt(fvp=fvp, time=time)
            | TerminatedAt(fvp=fvp, time=time)
        ):
            return key_of(fvp.fluent), time
        case _:
            return ("", -1), None
