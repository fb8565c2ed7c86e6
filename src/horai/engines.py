"""Engines by name. An engine makes sessions; a session answers at growing query times.

Every engine gives the same answers, so the rest of Horai does not care which one runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from horai.errors import RunError, UsageError
from horai.lang.diagnostics import did_you_mean
from horai.lang.ec.syntax import EventDescription
from horai.oracle.errors import OracleError
from horai.oracle.items import Dropped, Item
from horai.oracle.session import Answer as EngineAnswer
from horai.oracle.session import Session as ReferenceSession
from horai.predicates import Predicate

__all__ = ["ENGINES", "Dropped", "EngineAnswer", "EngineSession", "Item", "engine_named"]


class EngineSession(Protocol):
    """A run in progress."""

    def advance(self, until: int, items: Iterable[Item] = ()) -> EngineAnswer:
        """The answer at query time `until`, with more items known than before."""

    def finish(self) -> list[Dropped]:
        """Items that never came to count."""


class Engine(Protocol):
    """Makes sessions."""

    def __call__(
        self,
        description: EventDescription,
        *,
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None,
        predicates: Mapping[str, Predicate],
    ) -> EngineSession: ...


class _Reference:
    """The reference engine; what makes it give up is said in words."""

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None,
        predicates: Mapping[str, Predicate],
    ) -> None:
        self._session = ReferenceSession(
            description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=predicates,
        )

    def advance(self, until: int, items: Iterable[Item] = ()) -> EngineAnswer:
        try:
            return self._session.advance(until, items)
        except OracleError as error:
            raise RunError(f"{error} (at query time {until})") from error

    def finish(self) -> list[Dropped]:
        return self._session.finish()


ENGINES: dict[str, Engine] = {"reference": _Reference}
"""The engines there are. `reference` is the slow, obvious one."""


def engine_named(name: str) -> Engine:
    """The engine of a name.

    >>> engine_named("refrence")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: there is no engine 'refrence'
      hint: did you mean reference?
    """
    found = ENGINES.get(name)
    if found is not None:
        return found
    near = did_you_mean(name, ENGINES)
    hint = f"did you mean {near}?" if near else f"the engines are: {', '.join(sorted(ENGINES))}"
    raise UsageError(f"there is no engine {name!r}", hint)
