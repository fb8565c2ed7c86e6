"""The course of a proof: how deep it has come, and what it has proved already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

DEEPEST = 12
"""How many statements follow from each other before a proof ends with a remark."""
GOES_ON = "the proof goes on: ask about this, or with a greater depth"
AS_ABOVE = "as proved above"


class Course:
    """All provers that take part in a proof share it."""

    def __init__(self) -> None:
        self.proved: set[object] = set()
        self._level, self._deepest = 0, DEEPEST

    def begin(self, depth: int) -> None:
        """Start a proof in which nothing is proved yet."""
        self._level, self._deepest = 0, depth
        self.proved.clear()

    @property
    def is_deep(self) -> bool:
        """Has the proof come as deep as it may?"""
        return self._level >= self._deepest

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Prove what a statement follows from."""
        self._level += 1
        try:
            yield
        finally:
            self._level -= 1

    def forget_after(self, before: set[object]) -> None:
        """Only what was proved before is, for what came after is not part of the proof."""
        self.proved &= before
