"""Sessions that are given a whole stream: rows as they arrive, a question at each query time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from horai import io
from horai.inputs import by_arrival
from horai.schedule import Schedule

Progress = Callable[[int, int], None]
"""Told of the query times that are done, and how many there are."""


class Takes(Protocol):
    """A session that goes on to a query time with more rows."""

    def take(self, until: int, tables: Sequence[io.ItemTable]) -> object:
        """The answer at `until`, with more items known than before."""


def feed(
    session: Takes,
    tables: Iterable[io.ItemTable],
    schedule: Schedule | None,
    progress: Progress | None = None,
) -> None:
    """Give a session each row once it has arrived, and ask it at the times of a schedule."""
    queries = list(schedule.queries()) if schedule else []
    arriving = by_arrival(tables, queries)
    for done, (query, arrived) in enumerate(zip(queries, arriving, strict=True), 1):
        session.take(query, arrived)
        if progress is not None:
            progress(done, len(queries))
