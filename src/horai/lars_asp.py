"""The answer set solver as an engine for LARS programs."""

from __future__ import annotations

from collections.abc import Sequence

from horai.asp.engine import AspSession
from horai.asp.plain import Refused
from horai.asp.solving import Asked
from horai.errors import RunError, UsageError
from horai.lang.lars.syntax import Program
from horai.lars_engines import Model
from horai.lars_signals import Signal

_HINT = "the engine `reference` runs every program"


class Session:
    """A run of the solver."""

    def __init__(self, program: Program, *, start: int) -> None:
        self._program = program
        self._start = start
        self._every = False
        self._session = self._made()

    def _made(self) -> AspSession:
        asked = Asked(models=0 if self._every else 1)
        try:
            return AspSession(self._program, start=self._start, asked=asked)
        except Refused as refused:
            raise UsageError(f"the engine asp does not run this: {refused}", _HINT) from refused

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal], *, every: bool
    ) -> list[Model]:
        """The models at a query time; one is enough unless `every` one is asked for."""
        if every and not self._every:  # the first question tells; nothing is lost by starting anew
            self._every = True
            self._session = self._made()
        came = [(signal.time, signal.atom, signal.order) for signal in added]
        gone = [(signal.time, signal.atom, signal.order) for signal in removed]
        try:
            answers = self._session.advance(query, came, gone)
        except Refused as refused:
            raise RunError(f"{refused} (at time {query})") from refused
        return list(dict.fromkeys(model.now for model in answers.models))
