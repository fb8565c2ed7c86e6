"""What a session of a LARS program says, and query times that are worked out together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from horai.errors import UsageError
from horai.lang.lars.syntax import Atom
from horai.lars_engines import AllAtOnce, Changes, LarsSession, Model
from horai.lars_result import LarsAnswer, Row
from horai.lars_signals import Signal


@dataclass(frozen=True)
class LarsStep:
    """What a session says when it goes on.

    `answers` are those of the new query times, `revised` those of earlier ones that are different
    now, and `changes` the rows that lead from what was said before to what is said now.
    """

    answers: list[LarsAnswer]
    revised: list[LarsAnswer]
    changes: list[Row]

    @property
    def answer(self) -> LarsAnswer:
        """The answer at the last query time."""
        if not self.answers:
            raise UsageError("there is no new query time", "advance to a later time")
        return self.answers[-1]


def current(changes: Iterable[Changes]) -> Iterator[set[Atom]]:
    """The atoms of signals that say something about each query time itself."""
    now: dict[int, dict[Signal, None]] = {}
    for query, added, removed in changes:
        for signal in added:
            now.setdefault(signal.time, {})[signal] = None
        for signal in removed:
            now[signal.time].pop(signal, None)
        yield {signal.atom for signal in now.get(query, {})}


def answered(
    session: LarsSession, changes: Sequence[Changes], queries: Sequence[int]
) -> Iterator[list[Model]]:
    """What holds at each query time, worked out together if the engine can."""
    together = getattr(session, "advance_all", None)
    if together is not None and len(queries) > 1:
        asked = range(queries[0], queries[-1] + 1, queries[1] - queries[0])
        if list(asked) == list(queries):
            yield from cast(AllAtOnce, session).advance_all(changes, asked)
            return
    for query, added, removed in changes:
        yield session.advance(query, added, removed)
