"""The answer set solver and truth maintenance as engines for LARS programs."""

from __future__ import annotations

from collections.abc import Sequence

from horai.asp.engine import AspSession
from horai.asp.solving import AnswerSets
from horai.asp.solving import Model as AnswerStream
from horai.asp.tms import TmsSession
from horai.engine.lars.run import Signal
from horai.errors import RunError, UsageError
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.fragments import ONE, AnswerMode, NotServed
from horai.plan.lars.intervals import with_fixed_ends
from horai.runtime.lars.engines import Model, stopping


class AspEngine:
    """A run of the solver."""

    name, other = "asp", "reference"
    hint = "the engine `reference` runs every program"

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        try:
            self._session = self._made(with_fixed_ends(program, start), start, wanted)
        except NotServed as refused:
            problem = f"the engine {self.name} does not run this: {refused}"
            raise UsageError(problem, self.hint) from refused
        if before is not None:
            self._session.last = AnswerSets(start, (AnswerStream(start, before),))

    def _made(self, program: Program, start: int, wanted: AnswerMode) -> AspSession:
        return AspSession(program, start=start, asked=wanted)

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time that are wanted."""
        when = f"at time {query}"
        try:
            with stopping(self._program, when):
                found = self._session.advance(query, _plain(added), _plain(removed))
        except NotServed as refused:
            raise RunError(f"{refused} ({when}); try the engine `{self.other}`") from refused
        return list(dict.fromkeys(model.now for model in found.models))


class TmsEngine(AspEngine):
    """A run that keeps one answer and mends it."""

    name, other = "tms", "asp"
    hint = "the engine `asp` runs all plain programs, `reference` every program"

    def _made(self, program: Program, start: int, wanted: AnswerMode) -> TmsSession:
        found = TmsSession(program, start=start)
        if not (wanted.is_one or found.is_unique):
            problem = "the engine tms does not run this: there may be several models, it finds one"
            raise UsageError(problem, "use the engine `asp`")
        return found


def _plain(signals: Sequence[Signal]) -> list[tuple[int, Atom, int]]:
    return [(signal.time, signal.atom, signal.order) for signal in signals]
