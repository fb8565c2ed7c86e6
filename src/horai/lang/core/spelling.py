"""Names that were probably meant: how far one word is from another."""

from __future__ import annotations

from collections.abc import Iterable


def distance(left: str, right: str) -> int:
    """The number of letters to add, drop, change or swap to get from one word to the other.

    >>> distance("happenAt", "happensAt"), distance("hodlsAt", "holdsAt")
    (1, 1)
    """
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        row = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def nearest(word: str, known: Iterable[str], most: int) -> str | None:
    """The known word within `most` changes of a word, the nearest first.

    Small and capital letters and underscores do not count; short words must be closer.

    >>> nearest("holdsfor", ["holdsAt", "holdsFor"], 1)
    'holdsFor'
    """
    best: tuple[int, str] | None = None
    for candidate in sorted(set(known) - {word}):
        if abs(len(candidate) - len(word)) > most + 1:
            continue
        allowed = min(most, len(candidate) // 4)
        far = 0 if _folded(word) == _folded(candidate) else distance(word, candidate)
        if far <= allowed and (best is None or far < best[0]):
            best = (far, candidate)
    return best[1] if best else None


def _folded(word: str) -> str:
    return word.replace("_", "").lower()
