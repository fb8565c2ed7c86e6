"""Which answers of a LARS program are asked for: one, some, all, or what they have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from horai.errors import UsageError

Which = OneOf["models", "brave", "cautious"]
"""Answers themselves, what holds in some of them, or what holds in all of them."""
REASONING: tuple[Which, ...] = ("models", "brave", "cautious")


@dataclass(frozen=True, slots=True)
class Wanted:
    """`models` is a number, 0 for all. `steady` asks for the answer that changes the least."""

    models: int = 1
    which: Which = "models"
    steady: bool = False

    @classmethod
    def parse(
        cls, models: str | int = "one", reasoning: str = "models", least_change: bool = False
    ) -> Wanted:
        """From what people say: `one`, `all` or a number, and so on.

        >>> Wanted.parse("3").models, Wanted.parse(reasoning="brave").which
        (3, 'brave')
        """
        number = _number(models)
        which = next((one for one in REASONING if one == reasoning), None)
        if which is None:
            hint = f"it is one of {', '.join(REASONING)}"
            raise UsageError(f"reasoning cannot be {reasoning!r}", hint)
        if which != "models" and (number != 1 or least_change):
            other = "the least change" if least_change else f"models {models}"
            hint = "ask for answers themselves, or for what they have in common"
            raise UsageError(f"{which} reasoning gives one answer: {other} says nothing", hint)
        return cls(number, which, bool(least_change))

    @property
    def is_numbered(self) -> bool:
        """Whether there may be several answers at a time."""
        return self.models != 1

    @property
    def is_one(self) -> bool:
        """Whether any answer will do."""
        return self.models == 1 and self.which == "models" and not self.steady


def _number(models: str | int) -> int:
    if models in ("one", "all"):
        return 1 if models == "one" else 0
    is_number = not isinstance(models, bool) and str(models).isdecimal()
    if not is_number or int(models) < 1:
        raise UsageError(
            f"models cannot be {models!r}", "it is `one`, `all`, or a number such as 3"
        )
    return int(models)
