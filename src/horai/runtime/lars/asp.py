"""The answer set solver and truth maintenance as engines for LARS programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from horai.asp.engine import AspSession, most_instances
from horai.asp.solving import AnswerSets
from horai.asp.solving import Model as AnswerStream
from horai.asp.tms import TmsSession
from horai.errors import RunError, UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.fragments import EndlessValues, NotServed
from horai.plan.lars.intervals import with_fixed_ends
from horai.plan.lars.modes import ONE, AnswerMode
from horai.runtime.lars.admission import Signal
from horai.runtime.lars.engines import Model, endless, too_large


class AspEngine:
    """A run of the solver."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        with _served("asp", "the engine `reference` runs every program"):
            self._session = AspSession(with_fixed_ends(program, start), start=start, asked=wanted)
        if before is not None:
            self._session.last = AnswerSets(start, (AnswerStream(start, before),))

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time that are wanted."""
        with _told(self._program, query, "reference"):
            found = self._session.advance(query, *_plain(added, removed))
        return list(dict.fromkeys(model.now for model in found.models))


class TmsEngine:
    """A run that keeps one answer and mends it."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        with _served("tms", "the engine `asp` runs all plain programs, `reference` every program"):
            self._session = TmsSession(with_fixed_ends(program, start), start=start)
        if not (wanted.is_one or self._session.is_unique):
            problem = "the engine tms does not run this: there may be several models, it finds one"
            raise UsageError(problem, "use the engine `asp`")

    @property
    def size(self) -> int:
        """How many ground rules there may be at most, as far as the program tells."""
        return most_instances(self._session.plain)

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The model at a query time."""
        with _told(self._program, query, "asp"):
            found = self._session.advance(query, *_plain(added, removed))
        return [model.now for model in found.models]


Plain = list[tuple[int, Atom, int]]


def _plain(added: Sequence[Signal], removed: Sequence[Signal]) -> tuple[Plain, Plain]:
    came, gone = (
        [(signal.time, signal.atom, signal.order) for signal in some] for some in (added, removed)
    )
    return came, gone


@contextmanager
def _served(engine: str, hint: str) -> Iterator[None]:
    """What an engine does not run is wrong use of it."""
    try:
        yield
    except NotServed as refused:
        raise UsageError(f"the engine {engine} does not run this: {refused}", hint) from refused


@contextmanager
def _told(program: Program, query: int, other: str) -> Iterator[None]:
    """What stops a run, said with the rules it is about."""
    when = f"at time {query}"
    try:
        yield
    except NotServed as refused:
        raise RunError(f"{refused} ({when}); try the engine `{other}`") from refused
    except EndlessValues as error:
        raise endless(program, error.args[0], when) from error
    except TooLarge as error:
        raise too_large(program, error.sign, error.numbers, when) from error
