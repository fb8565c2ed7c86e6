"""The answer set solver as an engine for LARS programs."""

from __future__ import annotations

from collections.abc import Sequence

from horai.asp.engine import AspSession
from horai.asp.plain import EndlessValues, NotServed
from horai.asp.solving import AnswerSets, SolveRequest
from horai.asp.solving import Model as AnswerStream
from horai.errors import RunError, UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Program
from horai.plan.lars.intervals import with_fixed_ends
from horai.runtime.lars.engines import ONE, AnswerMode, Model, endless, too_large
from horai.runtime.lars.signals import Signal

_HINT = "the engine `reference` runs every program"


class AspEngine:
    """A run of the solver."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        asked = SolveRequest(wanted.models, wanted.which, wanted.steady)
        try:
            self._session = AspSession(with_fixed_ends(program, start), start=start, asked=asked)
        except NotServed as refused:
            raise UsageError(f"the engine asp does not run this: {refused}", _HINT) from refused
        if before is not None:
            self._session.last = AnswerSets(start, (AnswerStream(start, before),))

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time that are wanted."""
        came = [(signal.time, signal.atom, signal.order) for signal in added]
        gone = [(signal.time, signal.atom, signal.order) for signal in removed]
        when = f"at time {query}"
        try:
            answers = self._session.advance(query, came, gone)
        except NotServed as refused:
            raise RunError(f"{refused} ({when}); try the engine `reference`") from refused
        except EndlessValues as error:
            raise endless(self._program, error.args[0], when) from error
        except TooLarge as error:
            raise too_large(self._program, error.sign, error.numbers, when) from error
        return list(dict.fromkeys(model.now for model in answers.models))
