"""What a run cost: runs, rows and seconds of every rule and component.

Who owns the parts of a program whose costs are asked for: rules, and components for the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from horai.engine.core.layout import Relation, Table
from horai.lang.ec import syntax as ec
from horai.plan.program import DelayPlan, Plan, PointPlan, StaticPlan, Stratum
from horai.temporal.spans import Ints

Rule = PointPlan | StaticPlan | DelayPlan


@dataclass(slots=True)
class Stats:
    """How often something ran, over how many rows and for how long, what is inside included."""

    calls: int = 0
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0

    def add(self, rows_in: int, rows_out: int, seconds: float) -> None:
        """One more call."""
        self.calls += 1
        self.rows_in += rows_in
        self.rows_out += rows_out
        self.seconds += seconds


@dataclass(slots=True)
class Profile:
    """Filled in while a session runs. Rules and components are known by `id`."""

    program: Plan | None = None
    rules: dict[int, Stats] = field(default_factory=dict)
    components: dict[int, Stats] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0

    @contextmanager
    def query(self) -> Iterator[None]:
        """The time inside is that of one query."""
        began = perf_counter()
        yield
        self.queries += 1
        self.seconds += perf_counter() - began


class Owners:
    """Rules and components by number, as marks in the program name them; 0 is nobody."""

    def __init__(self, plan: Plan) -> None:
        self._owned: list[tuple[Stratum, Rule | None]] = []
        self._rules: dict[int, int] = {}
        self._components: dict[tuple[str, int], int] = {}
        self._columns: dict[Relation, int] = {}
        for stratum in plan.strata:
            points = [*stratum.initially, *stratum.points]
            defining: list[PointPlan | StaticPlan] = [*points, *stratum.static]
            rules: list[Rule] = [*defining, *stratum.delays]
            for rule in rules:
                self._rules.setdefault(id(rule.clause), self._number(stratum, rule))
            own = self._number(stratum, None)
            self._components |= {one.key: own for one in defining}

    def _number(self, stratum: Stratum, rule: Rule | None) -> int:
        self._owned.append((stratum, rule))
        return len(self._owned)

    def of_rule(self, clause: ec.Clause) -> int:
        """The number of a rule; nobody's for what is made of groundings."""
        return self._rules.get(id(clause), 0)

    def take_lists(
        self, relation: Relation, plans: Sequence[StaticPlan], tables: Iterable[Table]
    ) -> None:
        """A list has its columns; those that are new are its parts.

        Lists of several rules belong to the component: what is shared is not divided by guess.
        """
        is_of_one = len(plans) == 1
        owner = self.of_rule(plans[0].clause) if is_of_one else self._components[relation.key]
        for table in tables:
            for one in table.columns:
                if one is not relation and one.key[0] == "":
                    self._columns.setdefault(one, 2 * owner)
        self._columns[relation] = 2 * owner + is_of_one

    def by_column(self, columns: Iterable[Relation]) -> Ints:
        """Whose the work on each column is: twice the number, one more if its spans are rows."""
        components = self._components
        return np.array(
            [
                self._columns.get(one, 2 * components.get(one.key, 0) * (one.kind == "simple"))
                for one in columns
            ],
            np.int64,
        )

    def __len__(self) -> int:
        return len(self._owned)

    def tell(self, spent: Ints, profile: Profile) -> None:
        """Put what was counted so far into a profile: runs, rows and nanoseconds of each number."""
        components: dict[int, Stats] = {}
        for (stratum, rule), (runs, rows, took) in zip(
            self._owned, spent.reshape(-1, 3)[1:].tolist(), strict=True
        ):
            seconds = took / 1e9
            components.setdefault(id(stratum), Stats()).add(0, 0, seconds)
            if rule is not None:
                profile.rules[id(rule)] = Stats(runs, runs, rows, seconds)
        profile.components = components
