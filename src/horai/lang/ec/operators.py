"""The operators on interval lists, each with all that it says of itself.

`op(L, I)` makes one list of those in L, `op(I0, L, I)` of these and a base. At each time-point some
of the lists hold and others do not: the operator *gathers* this to one truth, and says whether the
result holds. The engines, proofs and the split of rules over buckets take all they need from here;
the oracle has definitions of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

States = Sequence[bool]


@dataclass(frozen=True, eq=False)
class Gather:
    """How the truths of some lists become one; of groups of lists it is the same as of all.

    `decides` are the lists that decide it, and `ways` those that would have to be other for it to
    be other, in each way. `needed` says what has to hold somewhere for it to hold anywhere: one of
    the lists, or each of them.
    """

    truth: Callable[[States], bool]
    decides: Callable[[States], Sequence[int]]
    ways: Callable[[States], Sequence[Sequence[int]]]
    needed: OneOf["one", "each"]


@dataclass(frozen=True)
class IntervalOperator:
    """An operator. `base` is what the gathered lists are taken of, or away from if it takes away:
    the first argument, or the time after the start of the run."""

    name: str
    gather: Gather
    base: OneOf["none", "argument", "time"] = "none"
    takes_away: bool = False

    @property
    def arity(self) -> int:
        """How many arguments a condition has."""
        return 3 if self.base == "argument" else 2

    def truth(self, base: bool, lists: States) -> bool:
        """Does the result hold where the base and some lists do? Without lists nothing does."""
        gathered = bool(lists) and self.gather.truth(lists)
        return base and gathered != self.takes_away


def _where(states: States, be: bool) -> list[int]:
    return [place for place, state in enumerate(states) if state == be]


ANY = Gather(
    any,
    lambda states: _where(states, True)[:1] or range(len(states)),
    lambda states: [_where(states, True)] if any(states) else [[n] for n in range(len(states))],
    "one",
)
ALL = Gather(
    all,
    lambda states: _where(states, False)[:1] or range(len(states)),
    lambda states: [[n] for n in range(len(states))] if all(states) else [_where(states, False)],
    "each",
)
ODD = Gather(
    lambda states: sum(states) % 2 == 1,
    lambda states: range(len(states)),
    lambda states: [[place] for place in range(len(states))],
    "one",
)

OPERATORS: dict[str, IntervalOperator] = {
    operator.name: operator
    for operator in (
        # union_all(L, I): where one of the lists holds.
        IntervalOperator("union_all", ANY),
        # intersect_all(L, I): where all lists hold; without any, nowhere.
        IntervalOperator("intersect_all", ALL),
        # complement_all(L, I): the time after the start of the run where none of the lists holds.
        IntervalOperator("complement_all", ANY, base="time", takes_away=True),
        # relative_complement_all(I0, L, I): where I0 holds and none of the lists.
        IntervalOperator("relative_complement_all", ANY, base="argument", takes_away=True),
        # xor_all(L, I): where an odd number of the lists hold.
        IntervalOperator("xor_all", ODD),
    )
}
