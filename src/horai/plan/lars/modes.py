"""Which answers of a LARS program are given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

Reasoning = OneOf["models", "brave", "cautious"]
"""Answers themselves, what holds in some of them, or what holds in all of them."""


@dataclass(frozen=True, slots=True)
class AnswerMode:
    """Which answers are given: so many `models`, 0 for all, or what they have in common.

    With `least_change` they are those that differ the least from the answer before.
    """

    models: int = 1
    reasoning: Reasoning = "models"
    least_change: bool = False

    @property
    def is_numbered(self) -> bool:
        """Whether there may be several answers at a time."""
        return self.models != 1

    @property
    def is_one(self) -> bool:
        """Whether any answer will do."""
        return self.models == 1 and self.reasoning == "models" and not self.least_change


ONE = AnswerMode()
