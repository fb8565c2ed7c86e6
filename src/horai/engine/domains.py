"""Who there is: groundings, and values for variables that no condition chooses.

A grounding restricts what is computed, and it gives values to head variables that a body leaves
open. Values of a fluent that no grounding mentions are not restricted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import Column, bits, codes, codes_of, concat
from horai.engine.frames import Frame, deduplicated, stack, unit
from horai.engine.hashing import dense, distinct
from horai.engine.matching import build
from horai.engine.relations import Relation, join
from horai.engine.world import World
from horai.lang.core.terms import Term, key_of
from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import GroundingPlan, Plan
from horai.temporal.spans import Ints, Mask

Key = tuple[str, int]


class Groundings:
    """The groundings of a program in a world. `key` is name and arity; events have no value."""

    def __init__(self, program: Plan, evaluator: Evaluator) -> None:
        self.plans = program.groundings
        self.dynamic = bool(program.dynamic)
        self.evaluator = evaluator
        self.symbols = evaluator.symbols
        self._instances: dict[int, tuple[Relation, bool] | None] = {}

    def restricts(self, key: Key) -> bool:
        """Is there any grounding for the entity?"""
        return key in self.plans

    def allows(self, key: Key, args: tuple[Column, ...], value: Column | None, rows: int) -> Mask:
        """Which rows are in the domain of the entity?"""
        if key not in self.plans or not rows:
            return np.ones(rows, np.bool_)
        columns = args if value is None else (*args, value)
        ids, firsts = dense([bits(column) for column in columns], rows)
        asked = tuple(column.take(firsts) for column in columns)
        found = self._ask(
            key, asked[: len(args)], None if value is None else asked[-1], firsts.size
        )
        return found[ids]

    def _ask(self, key: Key, args: tuple[Column, ...], value: Column | None, rows: int) -> Mask:
        spoken = np.zeros(rows, np.bool_)
        allowed = np.zeros(rows, np.bool_)
        for plan, meant, frame in self._asked(key, args, value, rows):
            spoken[meant] = True
            found = self.evaluator.run(plan.check, frame)
            allowed[found.columns["@row"].data] = True
        return allowed | ~spoken

    def _asked(
        self, key: Key, args: tuple[Column, ...], value: Column | None, rows: int
    ) -> Iterator[tuple[GroundingPlan, Ints, Frame]]:
        """For each grounding the rows whose value it speaks of, and those that fit its head."""
        for plan in self.plans[key]:
            if value is None and plan.value is not None:
                continue
            frame = Frame(rows).numbered("@row")
            if value is not None and plan.value is not None:
                frame = self.evaluator.bind(plan.value, frame, value)
            meant: Ints = frame.columns["@row"].data
            for pattern, column in zip(plan.terms, args, strict=True):
                frame = self.evaluator.bind(pattern, frame, column.take(frame.columns["@row"].data))
            yield plan, meant, frame

    def speaks_of(self, key: Key, value: Term | None) -> bool:
        """Is there a grounding for the entity and a value that fits?"""
        for plan in self.plans.get(key, ()):
            if value is None and plan.value is None:
                return True
            if value is not None and (plan.value is None or may_match(plan.value, value)):
                return True
        return False

    def lists_all(self, key: Key) -> bool:
        """Do the groundings of an entity name every argument?"""
        return all(self.listed(plan) is not None for plan in self.plans.get(key, ()))

    def complete(self, frame: Frame, key: Key, args: tuple[Term, ...], value: Term | None) -> Frame:
        """All ways to give the free variables of a head a value by its groundings.

        A value without a grounding of its own has the arguments that the other values have.
        """
        spoken = value is None or self.speaks_of(key, value)
        found: list[Frame] = []
        for plan in self.plans.get(key, ()):
            listed = self.listed(plan)
            if listed is None:
                continue
            table, has_value = listed
            if value is None or not has_value:
                table = Relation(table.columns[: len(args)], table.rows)
                terms = args
            elif spoken:
                terms = (*args, value)
            else:
                table, terms = Relation(table.columns[: len(args)], table.rows), args
            match = join(frame, table, terms, self.symbols)
            columns = match.to_frame(lambda name: not name.startswith("#whole")).columns
            found.append(Frame(len(match.left), columns))
        if not any(one.rows for one in found):
            return Frame(0)
        return deduplicated(stack([one for one in found if one.rows], self.symbols))

    def instances(self, key: Key) -> list[tuple[Relation, bool]]:
        """What the groundings of an entity list; the flag says that the last column is a value."""
        found = [self.listed(plan) for plan in self.plans.get(key, ())]
        return [listed for listed in found if listed is not None]

    def listed(self, plan: GroundingPlan) -> tuple[Relation, bool] | None:
        """The instances of one grounding, None where it leaves an argument open."""
        if id(plan) not in self._instances:
            self._instances[id(plan)] = self._list(plan)
        return self._instances[id(plan)]

    def _list(self, plan: GroundingPlan) -> tuple[Relation, bool] | None:
        frame = self.evaluator.run(plan.listing, unit())
        if not frame.rows:
            empty = tuple(Column("term", np.empty(0, np.int64)) for _ in plan.terms)
            return Relation(empty, 0), False
        if not names(*plan.terms) <= set(frame.columns):
            return None
        terms = list(plan.terms)
        has_value = plan.value is not None and names(plan.value) <= set(frame.columns)
        if plan.value is not None and has_value:
            terms.append(plan.value)
        columns = tuple(build(term, frame.columns, frame.rows, self.symbols) for term in terms)
        return Relation(columns, frame.rows), has_value


class Domains(dict[str, Column]):
    """The domains of the variables of one body, worked out when asked for.

    `holdsFor` never fails, so it cannot choose values for its variables. They range over all
    instances that some fluent of the body is known to have, or that its grounding lists.
    """

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
