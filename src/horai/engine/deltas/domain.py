"""Who is in the domain of each fluent, kept from one query to the next.

Members of dynamic domains come with items. While none is taken back there are only more of them,
and where a grounding asks for members without a negation, whoever was in the domain stays there.
"""

from __future__ import annotations

import numpy as np

from horai.engine.deltas.reading import changing_background
from horai.engine.deltas.store import FluentStore, SpanChange, reviewed
from horai.engine.domains import Groundings
from horai.engine.dynamic import Members
from horai.engine.relations import Relation
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, no_fluent
from horai.plan import operators as op
from horai.plan.program import GroundingPlan, Key, Plan
from horai.temporal.spans import Mask


class Domain:
    """All members, and the pairs that are in the domain of their fluent."""

    def __init__(self, program: Plan, symbols: Symbols) -> None:
        self.symbols = symbols
        self._dynamic = program.dynamic
        moving = changing_background(program) | set(program.dynamic)
        self._growing = {
            key
            for key, plans in program.groundings.items()
            if all(_grows(plan, program, moving) for plan in plans)
        }
        self._members: dict[Key, FluentStore] = {}
        self._lost = True  # may there be fewer members than at the last query?
        self._new: dict[Key, Relation] = {}  # those who were none at the last query
        self._allowed: dict[tuple[int, Key], Mask] = {}  # by component and pair

    def members(self, members: Members, stream: Stream, built: bool) -> dict[Key, Relation]:
        """All members now; once something has been built only the change is looked at."""
        self._lost = not built or members.lost(stream)
        if self._lost:
            self._members = {
                key: FluentStore(no_fluent(key[1]), self.symbols) for key in self._dynamic
            }
        before = {key: store.fluent.pairs.rows for key, store in self._members.items()}
        found = members.now(stream) if self._lost else members.came(stream)
        for key, rows in found.items():
            self._members[key].added(rows)
        now = {key: store.fluent.pairs for key, store in self._members.items()}
        self._new = {
            key: rows.where(np.arange(before[key], rows.rows))
            for key, rows in now.items()
            if rows.rows > before[key]
        }
        return now

    def seen(
        self, place: int, key: Key, change: SpanChange, fluent: Fluent, groundings: Groundings
    ) -> SpanChange:
        """The change among the pairs of the domain, which may itself have changed."""
        known = self._allowed.get((place, key), np.empty(0, np.bool_))
        now = np.zeros(fluent.pairs.rows, np.bool_)
        now[: len(known)] = known
        if self._dynamic and (self._lost or (self._new and key not in self._growing)):
            asked = np.arange(len(now))
        else:
            asked = np.arange(len(known), len(now))
            outside = np.flatnonzero(~known) if self._new else asked[:0]
            if len(outside):
                *args, value = fluent.pairs.where(outside).columns
                new = groundings.allows_now(key, tuple(args), value, len(outside), self._new)
                now[outside] = new
        *args, value = fluent.pairs.where(asked).columns
        now[asked] = groundings.allows(key, tuple(args), value, len(asked))
        before = now.copy()  # pairs that are new hold nothing but for this change
        before[: len(known)] = known
        self._allowed[place, key] = now
        return reviewed(change, fluent.spans, before, now)


def _grows(plan: GroundingPlan, program: Plan, moving: set[Key]) -> bool:
    """Does a grounding allow no less when there are more members?"""
    for step in plan.check.steps:
        if isinstance(step, op.FactJoin) and step.key in program.dynamic:
            continue
        every = (step, *(one for part in op.inside(step) for one in op.walk(part)))
        if any(isinstance(one, op.FactJoin | op.Procedure) and one.key in moving for one in every):
            return False
    return True
