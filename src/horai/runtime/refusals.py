"""Why something that was asked for cannot be had, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterable

from horai.errors import UsageError
from horai.io.shown import redacted
from horai.settings import nearest


class Refused(UsageError):
    """A place that cannot be read or written, a part that is not there; it gives no secret away."""

    def __init__(self, problem: str, hint: str | None) -> None:
        super().__init__(redacted(problem), hint)


def unknown(what: str, name: str, known: Iterable[str], all_of_them: str) -> Refused:
    """Somebody names a kind of source or sink that is not there."""
    near = nearest(name.partition(":")[0], known)
    return Refused(f"there is no {what} {name!r}", f"{near + ' ' if near else ''}use {all_of_them}")
