"""The parts of the engine that tell a profile what they do.

They stand in for the plain ones where a run is profiled, so that a run that is not pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from horai.engine.chains import Evaluator
from horai.engine.components import Components
from horai.engine.domains import Groundings
from horai.engine.findings import Findings
from horai.engine.frames import Frame
from horai.engine.heads import Heads, Said
from horai.engine.profile import Profile
from horai.engine.relations import Relation
from horai.engine.static import Remembered, Static
from horai.engine.world import Fluent, World
from horai.plan import operators as op
from horai.plan.program import Plan, PointPlan, StaticPlan, Stratum


class WatchedEvaluator(Evaluator):
    """Notes rows and time of every operator."""

    def step(self, step: op.Operator, frame: Frame, needed: frozenset[str]) -> Frame:
        """One operator, watched."""
        plain = super().step
        assert self.profile is not None
        return self.profile.watch(step, frame, lambda: plain(step, frame, needed))


class WatchedHeads(Heads):
    """Notes the time of rules, and how many points they give."""

    def __init__(
        self, world: World, evaluator: Evaluator, groundings: Groundings, profile: Profile
    ) -> None:
        super().__init__(world, evaluator, groundings)
        self.profile = profile

    def start(self, plan: PointPlan) -> Frame:
        """The bindings a rule begins with."""
        with self.profile.rule(plan) as stats:
            frame = super().start(plan)
            stats.rows_in += frame.rows
        return frame

    def candidates(self, plan: PointPlan) -> tuple[Frame, Said]:
        """The solutions of a rule and their points."""
        with self.profile.rule(plan) as stats:
            found = super().candidates(plan)
            stats.calls += 1
            stats.rows_out += len(found[1])
        return found

    def points_of(self, plan: PointPlan, frame: Frame) -> tuple[Frame, Said]:
        """The points of solutions that were found cell by cell."""
        with self.profile.rule(plan) as stats:
            found = super().points_of(plan, frame)
            stats.calls += 1
            stats.rows_out += len(found[1])
        return found


class WatchedStatic(Static):
    """Notes the time of rules for interval lists, and how many intervals they give."""

    def __init__(
        self, world: World, evaluator: Evaluator, groundings: Groundings, profile: Profile
    ) -> None:
        super().__init__(world, evaluator, groundings)
        self.profile = profile

    def evaluate(
        self, plan: StaticPlan, held: Mapping[int, Remembered] | None = None, cut: int = 0
    ) -> tuple[Fluent, Relation | None]:
        """The pairs and spans that one rule gives."""
        with self.profile.rule(plan) as stats:
            found = super().evaluate(plan, held, cut)
            stats.calls += 1
            stats.rows_out += len(found[0].spans)
        return found


class WatchedComponents(Components):
    """Notes the time of components, and which way they were settled."""

    def __init__(
        self,
        program: Plan,
        world: World,
        evaluator: Evaluator,
        groundings: Groundings,
        profile: Profile,
    ) -> None:
        super().__init__(program, world, evaluator, groundings)
        self.profile = profile
        self.heads = WatchedHeads(world, evaluator, groundings, profile)
        self.static = WatchedStatic(world, evaluator, groundings, profile)

    def run(self, stratum: Stratum, *args: Any, **kwargs: Any) -> Findings:
        """Work out one component."""
        with self.profile.component(stratum):
            return super().run(stratum, *args, **kwargs)


def watched(
    profile: Profile,
) -> tuple[Callable[..., Evaluator], Callable[..., Components]]:
    """What makes an evaluator and components that tell a profile what they do."""

    def evaluator(*args: Any) -> Evaluator:
        made = WatchedEvaluator(*args)
        made.profile = profile
        return made

    def components(
        program: Plan, world: World, evaluator: Evaluator, groundings: Groundings
    ) -> Components:
        return WatchedComponents(program, world, evaluator, groundings, profile)

    return evaluator, components
