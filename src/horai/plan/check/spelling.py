"""When two names are so alike that one is probably mistyped.

Input events can have any name, so an unknown name alone proves nothing. Names that differ in a way
people mean (`stop_start` and `stop_end`, `zone1` and `zone2`, `walking` and `talking`, `close` and
`closed`) must not be taken for mistakes.
"""

from __future__ import annotations

import re

from horai.lang.ec.names import distance

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
SHORTEST = 4
SHORT = 4  # `ping` and `pong` are two words; in short ones only swapped letters are a slip


def looks_mistyped(word: str, known: str) -> bool:
    """True when a word is most likely the known one, mistyped.

    >>> looks_mistyped("win_lotery", "win_lottery"), looks_mistyped("go_To", "goTo")
    (True, True)
    >>> looks_mistyped("stop_end", "stop_start"), looks_mistyped("walking", "talking")
    (False, False)
    """
    if word == known or _without_digits(word) == _without_digits(known):
        return False
    mine, theirs = _WORDS.findall(word), _WORDS.findall(known)
    if "".join(mine).lower() == "".join(theirs).lower():
        return True
    if len(mine) != len(theirs):
        return False
    differing = [(a, b) for a, b in zip(mine, theirs, strict=True) if a != b]
    return len(differing) <= 2 and all(_slip(a, b) for a, b in differing)


def _slip(word: str, known: str) -> bool:
    """One letter added, dropped, changed or swapped; not the first one, and no other ending."""
    if min(len(word), len(known)) < SHORTEST or word[0] != known[0]:
        return False
    shorter, longer = sorted((word, known), key=len)
    if longer in (shorter + "s", shorter + "d", shorter + "n"):
        return False
    if len(shorter) <= SHORT and sorted(word) != sorted(known):
        return False
    return distance(word, known) == 1


def _without_digits(word: str) -> str:
    return re.sub(r"\d+", "#", word)
