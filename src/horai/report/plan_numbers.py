"""What a profile says of the parts of a plan, found by what they were made from."""

from __future__ import annotations

from dataclasses import dataclass

from horai.engine.profile import Profile, Stats, Windows
from horai.plan.outline import ComponentOutline, OperatorOutline, RuleOutline


@dataclass(frozen=True, slots=True)
class PlanNumbers:
    """The numbers of a run beside its plan."""

    profile: Profile

    def operator(self, outline: OperatorOutline) -> Stats | None:
        """Rows and time of an operator, None if it never ran."""
        return self.profile.operators.get(outline.path)

    def rule(self, outline: RuleOutline) -> Stats:
        """The points or intervals that a rule gave; its time is that of its operators, and more."""
        found = self.profile.rules.get(outline.id, Stats())
        loose = sum(self.profile.loose.get(root, 0.0) for root in outline.roots)
        return Stats(found.calls, found.rows_in, found.rows_out, found.seconds + loose)

    def component(self, outline: ComponentOutline) -> Stats:
        """The time of a component, that of settling it included."""
        return self.profile.components.get(outline.id, Stats())

    def windows(self, outline: ComponentOutline) -> Windows:
        """How often a component was worked out by change, and how often from scratch."""
        return self.profile.windows.get(outline.id, Windows())

    def settling(self, outline: ComponentOutline) -> float:
        """The seconds that go beyond the rules of a component."""
        inside = sum(self.rule(rule).seconds for rule in outline.rules)
        return max(0.0, self.component(outline).seconds - inside)

    @property
    def elsewhere(self) -> float:
        """The seconds of queries that belong to no component: taking items in, giving answers."""
        inside = sum(stats.seconds for stats in self.profile.components.values())
        return max(0.0, self.profile.seconds - inside)

    def share(self, seconds: float) -> float:
        """A part of the time of all queries."""
        return seconds / self.profile.seconds if self.profile.seconds else 0.0
