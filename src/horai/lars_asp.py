"""The answer set solver as an engine for LARS programs."""

from __future__ import annotations

from collections.abc import Sequence

from horai.asp.answers import Answers
from horai.asp.answers import Model as AnswerStream
from horai.asp.engine import AspSession
from horai.asp.plain import Endless, Refused
from horai.asp.solving import Asked
from horai.errors import RunError, UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Program
from horai.lars_engines import ONE, Model
from horai.lars_signals import Signal
from horai.lars_trouble import endless, too_large
from horai.lars_wanted import Wanted
from horai.plan.lars.intervals import with_fixed_ends

_HINT = "the engine `reference` runs every program"


class Session:
    """A run of the solver."""

    def __init__(
        self, program: Program, *, start: int, wanted: Wanted = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        asked = Asked(wanted.models, wanted.which, wanted.steady)
        try:
            self._session = AspSession(with_fixed_ends(program, start), start=start, asked=asked)
        except Refused as refused:
            raise UsageError(f"the engine asp does not run this: {refused}", _HINT) from refused
        if before is not None:
            self._session.last = Answers(start, (AnswerStream(start, before),))

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time that are wanted."""
        came = [(signal.time, signal.atom, signal.order) for signal in added]
        gone = [(signal.time, signal.atom, signal.order) for signal in removed]
        when = f"at time {query}"
        try:
            answers = self._session.advance(query, came, gone)
        except Refused as refused:
            raise RunError(f"{refused} ({when}); try the engine `reference`") from refused
        except Endless as error:
            raise endless(self._program, error.args[0], when) from error
        except TooLarge as error:
            raise too_large(self._program, error.sign, error.numbers, when) from error
        return list(dict.fromkeys(model.now for model in answers.models))
