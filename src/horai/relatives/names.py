"""Names for predicates that translations make, different from all names that are there."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Hands out names that are not taken.

    >>> names = Names(["once_1"])
    >>> names.fresh("once"), names.fresh("once"), names.fresh("so")
    ('once_2', 'once_3', 'so_1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def fresh(self, word: str) -> str:
        """A new name that begins with a word."""
        number = 1
        while f"{word}_{number}" in self._taken:
            number += 1
        name = f"{word}_{number}"
        self._taken.add(name)
        return name

    def free(self, name: str) -> str:
        """The name itself if it is not taken, otherwise a new one that begins with it."""
        if name in self._taken:
            return self.fresh(name)
        self._taken.add(name)
        return name
