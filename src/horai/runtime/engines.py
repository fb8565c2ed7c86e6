"""Engines by name. An engine makes sessions; a session answers at growing query times.

Every engine gives the same answers, so the rest of Horai does not care which one runs. Items go in
as Arrow tables and answers come out as columns.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from horai.engine.admission import Dropped
from horai.engine.answer import Answer
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.io import ItemTable
from horai.lang.ec.syntax import EventDescription
from horai.predicates import Predicate
from horai.settings import RunSettings, nearest, text


class EngineSession(Protocol):
    """A run in progress, of one stage or several, here or in a bucket of a cluster."""

    def advance(self, until: int, tables: Sequence[ItemTable]) -> Answer:
        """The answer at query time `until`, with more items known than before.

        Raises `EngineError` when the rules make it impossible.
        """

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""

    def save(self) -> bytes:
        """All that the session knows."""

    def restore(self, saved: bytes) -> None:
        """Take up the run that was saved, with the same rules and settings."""


class Engine(Protocol):
    """Makes sessions. Without `archive` their answers need no part `all`."""

    def __call__(
        self,
        description: EventDescription,
        *,
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None,
        predicates: Mapping[str, Predicate],
        archive: bool = True,
    ) -> EngineSession: ...


AUTO = "auto"
"""The best engine for some rules: `compiled` for those of the Event Calculus."""

SPARK = "spark"
"""The best engine in the partitions of Spark: over whole streams, without sessions."""

ENGINES = {
    AUTO: "horai.runtime.compiled.CompiledEngine",
    "compiled": "horai.runtime.compiled.CompiledEngine",
    "reference": "horai.runtime.reference.ReferenceEngine",
}
"""The engines there are, by where they are found: only the one that runs is loaded.

`compiled` works entity by entity; `reference` is the slow, obvious one.
"""


def engine_named(name: str) -> Engine:
    """The engine of a name.

    >>> engine_named("refrence")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: there is no engine 'refrence'
      hint: did you mean reference?
    """
    return cast(Engine, loaded(name, ENGINES, [*sorted((*ENGINES, SPARK))]))


def loaded(name: str, engines: Mapping[str, str], names: list[str], whose: str = "") -> Any:
    """What makes sessions of the engine of a name, or a kind error that lists the names."""
    listed = f"the engines are: {', '.join(names)}"
    found = engines.get(text(name, "engine", listed))
    if found is not None:
        module, _, attribute = found.rpartition(".")
        return getattr(import_module(module), attribute)
    if name == SPARK:
        raise UsageError("Spark runs over whole streams only", "use Rules.run or Rules.spark")
    hint = nearest(name, names) or listed
    raise UsageError(f"there is no engine {name!r}{whose}", hint)


def name_of(session: EngineSession) -> str:
    """The name of the engine that a session is of."""
    made = f"{type(session).__module__}.{type(session).__qualname__}"
    return next(name for name, found in ENGINES.items() if found == made and name != AUTO)


def engine_session(
    name: str,
    description: EventDescription,
    settings: RunSettings,
    start: int,
    predicates: Mapping[str, Predicate],
    archive: bool = True,
) -> EngineSession:
    """A session of the engine of a name, which knows nothing yet."""
    session = engine_named(name)(
        description,
        start=start,
        window=settings.window,
        tick=settings.tick,
        allen_memory=settings.allen_memory,
        predicates=predicates,
        archive=archive,
    )
    if hasattr(session, "threads"):
        session.threads = settings.threads or _cores()
    elif settings.threads is not None:
        hint = "leave threads out, or use the engine compiled"
        raise UsageError(f"a run of the engine {name!r} has one thread", hint)
    return session


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def profiled(session: EngineSession, name: str, profile: Profile) -> None:
    """Let the session tell a profile what it does, or a kind error."""
    if not isinstance(profile, Profile):
        raise UsageError("profile must be a Profile of horai.engine.profile")
    watch = getattr(session, "watch", None)
    if watch is None:
        raise UsageError(f"a run of the engine {name!r} cannot be profiled", "use compiled")
    watch(profile)
