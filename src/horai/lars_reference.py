"""The reference engine for LARS programs: every query is worked out from scratch."""

from __future__ import annotations

from collections.abc import Sequence

from horai.errors import RunError
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Program
from horai.lars_engines import Model
from horai.lars_signals import Signal
from horai.oracle.lars.grounding import Endless
from horai.oracle.lars.run import answers_at
from horai.oracle.lars.writing import TooMany


class Session:
    """A run of the reference engine."""

    def __init__(self, program: Program, *, start: int) -> None:
        self._program = program
        self._derived = derived(program)
        self._start = start
        self._known: set[Signal] = set()

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal], *, every: bool
    ) -> list[Model]:
        """The models at a query time; one is enough unless `every` one is asked for."""
        self._known.update(added)
        self._known.difference_update(removed)
        signals = [(signal.time, signal.atom) for signal in sorted(self._known, key=_place)]
        models: dict[Model, None] = {}
        try:
            for answer in answers_at(self._program, signals, query, self._start):
                holding = (a for a in answer.stream.at(query) if a.predicate in self._derived)
                models[frozenset(holding)] = None
                if not every:
                    break
        except (Endless, TooMany) as error:
            raise RunError(f"{error} (at time {query})") from error
        return list(models)


def _place(signal: Signal) -> tuple[int, int]:
    return (signal.time, signal.order)
