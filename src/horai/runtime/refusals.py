"""Why something that was asked for cannot be had, and what to do instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from horai.io.shown import redacted


class Refused(Exception):
    """It cannot be done; `hint` says what to do."""

    def __init__(self, problem: str, hint: str) -> None:
        self.problem, self.hint = redacted(problem), hint
        super().__init__(f"{self.problem}; {hint}")


def unknown(what: str, name: str, known: Iterable[str], all_of_them: str) -> Refused:
    """Somebody names a kind of source or sink that is not there."""
    close = difflib.get_close_matches(name, list(known), n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return Refused(f"there is no {what} {name!r}", f"{hint}use {all_of_them}")
