"""A run of a LARS program in progress: fed as signals come, asked at growing query times."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from horai import io
from horai.errors import UsageError
from horai.inputs import read_input
from horai.lang.lars.predicates import background_facts, inputs
from horai.lars_columns import Coming
from horai.lars_engines import (
    AUTO,
    Changes,
    LarsSession,
    Model,
    chosen,
    lars_engine,
)
from horai.lars_memory import Memory, earliest
from horai.lars_result import LarsAnswer, Row, Shown, differences, revisions
from horai.lars_saving import LANGUAGE, from_state, to_state
from horai.lars_signals import AnySignals, Arrivals, Signal, files_of, in_order
from horai.lars_steps import LarsStep, answered, current
from horai.lars_wanted import Wanted
from horai.parameters import length, point
from horai.plan.lars.reach import reach_of
from horai.saving import Saved, to_bytes

if TYPE_CHECKING:
    from horai.feeding import Progress
    from horai.lang.lars.syntax import Atom, Program
    from horai.lars_program import LarsProgram


class Session:
    """Feed it signals as they come, and ask at growing query times.

    With a `lateness`, a signal counts from its own time on even if it comes later: answers that
    were given are revised, as long as they are not older than that. Without one, a signal counts
    from its arrival on, and nothing that was said changes.
    """

    def __init__(
        self,
        program: LarsProgram,
        points: Program,
        *,
        start: int,
        step: int,
        engine: str,
        wanted: Wanted,
        shown: Shown,
        lateness: int | None,
        clock: str | None,
        times: io.Clock,
        strict: bool,
        together: bool = False,
    ) -> None:
        self.program = program
        self.clock = clock
        self.points = points
        self.start, self.step = start, step
        self.wanted, self.shown = wanted, shown
        self.lateness = None if lateness is None else length(lateness, "lateness", 0)
        self.times, self.strict = times, strict
        found = chosen(points, start, wanted, together=together) if engine == AUTO else None
        self.engine = engine if found is None else found.name
        """The name of the engine; `reasons` are those against the engines before it."""
        self.reasons = [] if found is None else found.reasons
        self._session = self._fresh(None)
        self._facts = background_facts(points)
        self._schema = AnySignals.known(inputs(program.program))
        self.arrivals = Arrivals(start, self.lateness)
        self.memory = Memory(reach_of(points))
        self.last: int | None = None
        """The last query time."""
        self.answer: LarsAnswer | None = None
        """The answer that was given then."""
        self.told: dict[int, LarsAnswer] = {}
        """The answers that may still be revised."""
        self.models: dict[int, Model | None] = {}
        """The models they show, and the last one before these."""
        self.asked = 0
        """How many query times there have been."""
        self.offsets: dict[str, int] = {}
        """By partition of a topic that is followed, the number of the next message."""
        self._is_restored = False  # then the engine knows nothing yet

    def _fresh(self, before: Model | None) -> LarsSession:
        make = lars_engine(self.engine)
        return make(self.points, start=self.start, wanted=self.wanted, before=before)

    @property
    def dead_letters(self) -> list[io.DeadLetter]:
        """Rows that were not used."""
        return self.arrivals.dead_letters

    @property
    def next(self) -> int:
        """The next query time."""
        return self.start if self.last is None else self.last + self.step

    # --- going on --------------------------------------------------------------------------------

    def advance(self, until: int, signals: object = ()) -> LarsStep:
        """The answers at all query times up to and including `until`, with more signals known.

        A signal that arrived earlier counts from the first of them on.
        """
        until = point(until, "the query time")
        if self.last is not None and until <= self.last:
            hint = "late signals need no early query time; give them with a later one"
            raise UsageError(f"query times must grow: {until} is not after {self.last}", hint)
        self.feed(signals)
        return self.take(range(self.next, until + 1, self.step))

    def feed(self, signals: object) -> None:
        """Read signals; they count when their query times come."""
        narrative = read_input(signals, self._schema, self.times, strict=self.strict)
        self.take_in(narrative, files_of(signals))

    def take_in(self, narrative: io.Narrative, files: Sequence[str] = ()) -> None:
        """Signals that have been read, from files in this order."""
        self.arrivals.dead_letters.extend(narrative.dead_letters)
        self.arrivals.feed(in_order(narrative, files))

    def over(
        self,
        narrative: io.Narrative,
        files: Sequence[str],
        queries: range,
        progress: Progress | None = None,
    ) -> list[LarsAnswer]:
        """The answers at many query times, for one who gives all signals and asks nothing else."""
        columns = getattr(self._session, "advance_columns", None)
        coming = None if columns is None else Coming.of(narrative, files, self.shown)
        if columns is None or coming is None:
            self.take_in(narrative, files)
            return self.together(queries, progress)
        self.dead_letters.extend(narrative.dead_letters)
        # As `Arrivals.until` does, whoever arrives by the last query time is judged there.
        early, after = coming.outside(self.start, queries[-1])
        for row in early:
            self.arrivals.refuse_early(row)
        for row in after:
            self.arrivals.refuse_after(row, queries.stop - 1)
        models = columns(coming, queries)
        nothing: frozenset[Atom] = frozenset()
        answers: list[LarsAnswer] = []
        for query, found in zip(queries, models, strict=True):
            answers.append(LarsAnswer.of(query, found, nothing, self._facts, self.shown))
            if progress is not None:
                progress(len(answers), len(queries))
        return answers

    def together(self, queries: range, progress: Progress | None = None) -> list[LarsAnswer]:
        """The answers at many query times, for one who asks for nothing afterwards."""
        answers: list[LarsAnswer] = []
        for answer in self._one_by_one(queries):
            answers.append(answer)
            if progress is not None:
                progress(len(answers), len(queries))
        return answers

    def _one_by_one(self, queries: range) -> Iterator[LarsAnswer]:
        if getattr(self._session, "advance_all", None) is None:
            yield from (self.take([query]).answer for query in queries)
            return
        changes: list[Changes] = [(query, *self.arrivals.until(query)) for query in queries]
        models = answered(self._session, changes, queries)
        for query, found, here in zip(queries, models, current(changes), strict=True):
            yield LarsAnswer.of(query, found, here, self._facts, self.shown)

    def take(self, queries: Iterable[int]) -> LarsStep:
        """Like `advance`, for these query times; the last one may be asked again."""
        step = LarsStep([], [], [])
        for query in queries:
            before = self.answer
            is_new = query != self.last
            self.asked += 1
            for answer in self._at(query):
                is_own = answer.query == query and is_new
                (step.answers if is_own else step.revised).append(answer)
                step.changes.extend(self._changes(answer, before, query))
                if self.lateness is not None:
                    self.told[answer.query] = answer
        return step

    def _at(self, query: int) -> list[LarsAnswer]:
        """What is new at a query time: answers of earlier ones that change, and its own."""
        added, removed = self.arrivals.until(query, self.last)
        self._remember(query, added, removed)
        back = self._from(query, added, removed)
        self.last = query
        if back is None and not removed and not self._is_restored:
            found = [(query, self._session.advance(query, added, removed))]
        else:
            told = [] if back is None else [one for one in self.told if one >= back]
            found = list(self._anew(sorted({*told, query})))
        answers: list[LarsAnswer] = []
        for one, models in found:
            answer = self._answer(one, models)
            if one == query or answer != self.told[one]:
                answers.append(answer)
            self.models[one] = models[0] if models else None
        self.answer = answer
        self._forget(query)
        return answers

    def _remember(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> None:
        for signal in added:
            self.memory.add(signal, self._counts(signal, query))
        for signal in removed:
            self.memory.remove(signal, self._counts(signal, query))

    def _counts(self, signal: Signal, query: int) -> int:
        """From when on something counts that has come since the query time before."""
        return query if self.lateness is None else min(signal.time, query)

    def _from(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> int | None:
        """The time from which on answers have to be revised; None if all may stay."""
        if self.lateness is None or self.last is None:
            return None
        back = earliest([*added, *removed])
        return back if back is not None and back <= self.last and back < query else None

    def _anew(self, queries: Sequence[int]) -> Iterator[tuple[int, list[Model]]]:
        """Answers at query times up to the current one, from what is remembered."""
        earlier = [one for one in self.models if one < queries[0]]
        self._session = self._fresh(self.models[max(earlier)] if earlier else None)
        self._is_restored = False
        changes = list(self.memory.changes(queries))
        yield from zip(queries, answered(self._session, changes, queries), strict=True)

    def _forget(self, query: int) -> None:
        """Answers that are final, and signals that none can depend on any more."""
        final = query - (self.lateness or 0)
        while self.told and (first := next(iter(self.told))) < final:
            del self.told[first]
        # One before the others stays: it is what the first of them may have to be near to.
        while len(self.models) > 1 and list(islice(self.models, 2))[1] < final:
            del self.models[next(iter(self.models))]
        # Any signal may be taken back if nothing is ever too late; in windows that count signals,
        # another one then takes its place.
        counts = self.memory.reach.last or self.memory.reach.groups
        if self.lateness is not None or not counts:
            self.arrivals.forget(self.memory.forget(final))

    # --- saving ----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The run so far, for `horai.lars.load_session`: all that is needed to go on."""
        settings = {"language": LANGUAGE, **self.settings()}
        sources = [(source.name, source.text) for source in self.program.program.sources]
        last = self.start - 1 if self.last is None else self.last
        state = json.dumps(to_state(self)).encode()
        return to_bytes(Saved(sources, [], settings, last, self.dead_letters, {}, state))

    def settings(self) -> dict[str, Any]:
        """The parameters of `LarsProgram.session` that make such a session."""
        return {
            "clock": self.clock,
            "start": self.start,
            "step": self.step,
            "engine": self.engine,
            "models": self.wanted.models or "all",
            "reasoning": self.wanted.which,
            "least_change": self.wanted.steady,
            "filter": self.shown.text,
            "lateness": self.lateness,
            "unit": self.times.unit,
            "time_in": self.times.time_in,
            "strict": self.strict,
        }

    def restore(self, saved: Saved) -> None:
        """Take up a run that was saved with the same program and settings."""
        self.arrivals.dead_letters = list(saved.dead_letters)
        from_state(self, saved.engine)
        self._is_restored = True

    # --- what is said ----------------------------------------------------------------------------

    def _answer(self, query: int, models: list[Model]) -> LarsAnswer:
        return LarsAnswer.of(query, models, self.memory.at(query), self._facts, self.shown)

    def _changes(self, answer: LarsAnswer, before: LarsAnswer | None, query: int) -> list[Row]:
        if self.lateness is not None:
            old = self.told.get(answer.query)
            return list(revisions(old, answer, query, self.wanted.is_numbered))
        return [] if self.wanted.is_numbered else list(differences(before, answer))
