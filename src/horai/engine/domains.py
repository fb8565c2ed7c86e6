"""Values for variables that no condition chooses.

`holdsFor` never fails, so it cannot choose values for its variables. They range over all instances
that some fluent of the body is known to have, or that its grounding lists.
"""

from __future__ import annotations

import numpy as np

from horai.engine.columns import Column, codes, codes_of, concat
from horai.engine.frames import unit
from horai.engine.groundings import Groundings
from horai.engine.hashing import distinct
from horai.engine.relations import Relation, join
from horai.engine.world import World
from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import names
from horai.plan.program import key_of


class Domains(dict[str, Column]):
    """The domains of the variables of one body, worked out when asked for."""

    def __init__(
        self, body: ec.Literal, world: World, groundings: Groundings, formula: bool = False
    ) -> None:
        super().__init__()
        self._world = world
        self._groundings = groundings
        self._known = groundings.evaluator.known_pairs
        self._fluents: list[ec.FVP] = []
        parts = list(ec.walk(body))
        if formula or any(isinstance(part, ec.HoldsFor) for part in parts):
            self._fluents = [p.fvp for p in parts if isinstance(p, ec.HoldsFor | ec.HoldsAt)]

    def __missing__(self, name: str) -> Column:
        found = [
            column
            for fvp in self._fluents
            if name in names(fvp.fluent, fvp.value)
            for column in self._values(fvp, name)
        ]
        symbols = self._world.symbols
        whole = concat(found, symbols) if found else codes(np.empty(0, np.int64))
        self[name] = whole.take(distinct([codes_of(whole, symbols)], len(whole)))
        return self[name]

    def get(self, name: str, default: object = None) -> Column | None:  # type: ignore[override]
        """The domain of a variable, None for one that no fluent of the body has."""
        if any(name in names(fvp.fluent, fvp.value) for fvp in self._fluents):
            return self[name]
        return None

    def _values(self, fvp: ec.FVP, name: str) -> list[Column]:
        key = key_of(fvp.fluent)
        args: tuple[Term, ...] = getattr(fvp.fluent, "args", ())
        tables = [self._world.fluent(key).pairs]
        if key in self._known:
            tables.append(self._known[key])
        tables += [table for table, has_value in self._groundings.instances(key) if has_value]
        return [self._column(table, (*args, fvp.value), name) for table in tables]

    def _column(self, table: Relation, terms: tuple[Term, ...], name: str) -> Column:
        found = join(unit(), table, terms, self._world.symbols)
        frame = found.to_frame(lambda n: n == name)
        return frame.columns.get(name, codes(np.empty(0, np.int64)))
