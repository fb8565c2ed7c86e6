"""Truth maintenance as an engine for LARS programs."""

from __future__ import annotations

from collections.abc import Sequence

from horai.asp.engine import most_instances
from horai.asp.plain import EndlessValues, NotServed
from horai.asp.tms import TmsSession
from horai.errors import RunError, UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Program
from horai.plan.lars.intervals import with_fixed_ends
from horai.runtime.lars.engines import ONE, AnswerMode, Model, endless, too_large
from horai.runtime.lars.signals import Signal


class TmsEngine:
    """A run that keeps one answer and mends it."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        try:
            self._session = TmsSession(with_fixed_ends(program, start), start=start)
        except NotServed as refused:
            hint = "the engine `asp` runs all plain programs, `reference` every program"
            raise UsageError(f"the engine tms does not run this: {refused}", hint) from refused
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
        came = [(signal.time, signal.atom, signal.order) for signal in added]
        gone = [(signal.time, signal.atom, signal.order) for signal in removed]
        when = f"at time {query}"
        try:
            answers = self._session.advance(query, came, gone)
        except NotServed as refused:
            raise RunError(f"{refused} ({when}); try the engine `asp`") from refused
        except EndlessValues as error:
            raise endless(self._program, error.args[0], when) from error
        except TooLarge as error:
            raise too_large(self._program, error.sign, error.numbers, when) from error
        return [model.now for model in answers.models]
