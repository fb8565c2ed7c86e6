"""The reference engine for LARS programs: every query is worked out from scratch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from horai.engine.lars.run import Signal
from horai.errors import RunError
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom, Program
from horai.oracle.lars.answers import answers_at
from horai.oracle.lars.grounding import EndlessDerivation
from horai.oracle.lars.matching import TooManyValues
from horai.plan.lars.fragments import ONE, AnswerMode
from horai.runtime.lars.engines import Model, endless, stopping


class LarsReferenceEngine:
    """A run of the reference engine."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        self._program = program
        self._derived = derived(program)
        self._start = start
        self._wanted = wanted
        self._before = before
        self._known: set[Signal] = set()

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time that are wanted."""
        self._known.update(added)
        self._known.difference_update(removed)
        when = f"at time {query}"
        try:
            with stopping(self._program, when):
                found = self._chosen(self._all(query))
        except TooManyValues as error:
            raise RunError(f"{error} ({when})") from error
        except EndlessDerivation as error:
            raise endless(self._program, error.args[0], when) from error
        self._before = found[0] if found else None
        return found

    def _all(self, query: int) -> Iterator[Model]:
        """What each answer stream says about the query time, each of them once."""
        known = sorted(self._known, key=lambda signal: (signal.time, signal.order))
        signals = [(signal.time, signal.atom) for signal in known]
        seen: set[Model] = set()
        for answer in answers_at(self._program, signals, query, self._start):
            model = frozenset(a for a in answer.stream.at(query) if a.predicate in self._derived)
            if model not in seen:
                seen.add(model)
                yield model

    def _chosen(self, models: Iterator[Model]) -> list[Model]:
        wanted = self._wanted
        most = wanted.models or None
        if wanted.reasoning == "models" and not (wanted.least_change and self._before is not None):
            return list(islice(models, most))
        every = list(models)
        if not every:
            return []
        match wanted.reasoning:
            case "brave":
                return [frozenset[Atom]().union(*every)]
            case "cautious":
                return [every[0].intersection(*every)]
        before = self._before or frozenset()
        least = min(len(model ^ before) for model in every)
        return [model for model in every if len(model ^ before) == least][:most]
