"""What delayed effects carry over from one query to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

Key = tuple[str, int]
Owner = tuple[Key, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Pending:
    """An attempt that nothing has cancelled up to the cut: a rule, the pair and its initiation."""

    rule: int
    owner: Owner
    value: int
    since: int


@dataclass(slots=True)
class ClockState:
    """Attempts that are still open, and when effects of a rule and pair last acted."""

    pending: list[Pending] = field(default_factory=list)
    acted: dict[tuple[int, Owner, int], int] = field(default_factory=dict)

    def first(self, cut: int) -> int:
        """The time of the earliest attempt that is open, at most the cut."""
        return min((pending.since for pending in self.pending), default=cut)
