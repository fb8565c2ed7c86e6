"""The plan engine for LARS programs: compiled tables follow the stream, live and in one go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from horai.engine.core.built import NotCompiled, Outdated
from horai.engine.lars.run import LarsRun, News, Signal, StepNews
from horai.engine.rows import Rows
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Atom, Predicate, Program
from horai.plan.lars.fragments import ONE, AnswerMode, EndlessValues, NotServed
from horai.plan.lars.intervals import with_fixed_ends
from horai.plan.lars.reach import reach_of as signal_reach
from horai.plan.lars.strata import Key, ProgramPlan, plan_of
from horai.runtime.lars.admission import SignalMemory
from horai.runtime.lars.engines import Model, Moved, stopping
from horai.temporal.spans import INF

MOST_ATOMS = 100_000
"""So many atoms are remembered, so that they need not be made again."""
UNDONE = INF
"""The last query time while a step goes on: after one cut short, all is worked out anew."""
Words = tuple[Predicate, tuple[int, ...]]


class PlanEngine:
    """A run of the plan engine. There is one answer at most, so any that is wanted is that one."""

    def __init__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> None:
        try:
            self.run = LarsRun(planned(program, start), start)
        except NotServed as reason:
            hint = "leave the engine out, and one that can is taken"
            raise UsageError(f"the engine plan does not run this: {reason}", hint) from None
        except (NotCompiled, Outdated) as reason:
            hint = "run `make install`, or take another engine"
            raise UsageError(f"the engine plan cannot run: {reason}", hint) from None
        self._program = program
        self._known = SignalMemory()  # of who gives signals and does not keep them
        self._keeps = signal_reach(program)
        self._atoms: dict[Words, Atom] = {}
        self._model: set[Atom] = set()
        self._has_answer = True
        self._last: int | None = None

    @property
    def symbols(self) -> Symbols:
        """The symbols of the columns that it is given."""
        return self.run.words.symbols

    def again(self) -> None:
        """Begin anew, as if nothing had come."""
        self.run.begin()
        self._model, self._has_answer, self._last = set(), True, None

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The model at a query time, if there is one: such programs never have two."""
        for signal in added:
            self._known.add(signal, query)
        for signal in removed:
            self._known.end(signal, query)
        self.move(query, added, removed, self._known)
        # Any signal may be taken back; in windows that count, another one then takes its place.
        if not self._keeps.counts:
            self._known.forget(query, self._keeps)
        return self.models()

    def models(self) -> list[Model]:
        """The model at the last query time, if there is one."""
        return [frozenset(self._model)] if self._has_answer else []

    def move(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal], known: SignalMemory
    ) -> Moved | None:
        """What has changed since the query time before; `known` are all signals.

        None if all was worked out anew, so that what has changed is not known.
        """
        goes_on = self._last is None or query >= self._last
        self._last = UNDONE
        if goes_on:
            try:
                news = self.run.step(query, added, removed)
            except (EndlessValues, TooLarge):
                news = None  # rows that came and rows that went have met, which never hold together
            if news is not None:
                self._last = query
                return self._moved(news)
        self._anew(query, known)
        return None

    def _anew(self, query: int, known: SignalMemory) -> None:
        """Work out what holds from all signals that count."""
        self.again()
        self._last = UNDONE
        lasting = sorted(signal for signal, since, until in known.known if since <= query < until)
        with stopping(self._program, f"up to time {query}"):
            news = self.run.step(query, lasting, ())
        assert news is not None, "nothing was forgotten yet"
        self._last = query
        self._moved(news)

    def _moved(self, news: News) -> Moved:
        came, gone = (list(map(self._atom, some)) for some in (news.came, news.gone))
        self._model.difference_update(gone)
        self._model.update(came)
        self._has_answer = news.has_answer
        return Moved(came, gone, news.has_answer)

    def _atom(self, one: Words) -> Atom:
        found = self._atoms.get(one)
        if found is None:
            if len(self._atoms) > MOST_ATOMS:
                self._atoms.clear()
            found = self._atoms[one] = self.run.atom(*one)
        return found

    # --- many query times ------------------------------------------------------------------------

    def moves(self, rows: Mapping[Key, Rows], queries: range) -> Iterator[Moved]:
        """What changes from each query time to the next, given all signals there are."""
        self._last = queries[-1]
        return self._each(self.steps(rows, queries), queries)

    def steps(self, rows: Mapping[Key, Rows], queries: range) -> StepNews:
        """The same as columns of words."""
        with stopping(self._program, f"up to time {queries[-1]}"):
            return self.run.steps_of_rows(queries, rows)

    def _each(self, told: StepNews, queries: range) -> Iterator[Moved]:
        """The changes at each query time, while the model is that of this time."""
        news, nothing = told.each(self._has_answer), News(-1, [], [], True)
        next_one, has_answer = next(news, nothing), self._has_answer
        for query in queries:
            if next_one.query == query:
                has_answer = self._has_answer = next_one.has_answer
                yield self._moved(next_one)
                next_one = next(news, nothing)
            else:
                yield Moved((), (), has_answer)


def planned(program: Program, start: int) -> ProgramPlan:
    """How a program is run on a timeline; raises `NotServed`."""
    return plan_of(with_fixed_ends(program, start))
