"""A LARS program in progress: signals in, answers at growing query times out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from horai import io
from horai.engine.admission import Dropped
from horai.engine.lars.run import Signal
from horai.errors import UsageError
from horai.lang.lars.predicates import background_facts
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.fragments import AnswerMode
from horai.plan.lars.reach import reach_of
from horai.runtime.inputs import DroppedRow
from horai.runtime.lars.admission import Arrivals, Coming, in_order
from horai.runtime.lars.answers import (
    AtomFilter,
    CurrentAtoms,
    GivenAnswer,
    PointAnswer,
    PointAnswers,
)
from horai.runtime.lars.engines import (
    ByChange,
    Model,
    Moved,
    choose_engine,
    lars_engine,
)
from horai.runtime.values import parse_term, show
from horai.settings import MOST_QUERIES, RunSettings

Items = Sequence[io.ItemTable] | Sequence[io.Item]
"""Numbered tables, or rows in their order."""
Progress = Callable[[int, int], None]
"""Told of the query times that are done, and how many there are."""


class ProgramEngine:
    """Takes signals as they come, and answers at growing query times.

    With a `lateness`, a signal counts from its own time on even if it comes later: answers that
    were given are revised, as long as they are not older than that. Without one, a signal counts
    from its arrival on, and nothing that was said changes.
    """

    def __init__(
        self,
        points: Program,
        *,
        start: int,
        step: int,
        engine: str,
        wanted: AnswerMode,
        shown: AtomFilter,
        lateness: int | None,
    ) -> None:
        self.points = points
        self.start, self.step = start, step
        self.wanted, self.shown, self.lateness = wanted, shown, lateness
        choice, self._session = choose_engine(points, engine, start, wanted)
        self.engine, self.reasons = choice
        self._facts = background_facts(points)
        self._shown_facts = shown.only(self._facts)
        self.arrivals, self.reach = Arrivals(start, lateness), reach_of(points)
        self.memory = self.arrivals.memory
        self.last: int | None = None
        """The last query time."""
        self._showing = CurrentAtoms()
        self._moved: tuple[Sequence[Atom], Sequence[Atom]] = ((), ())
        """What came and what went with the last answer."""
        self._is_followed = False  # whether what is shown is what the engine has derived, and facts
        self.answer: PointAnswer | None = None
        """The answer that was given then."""
        self.told: dict[int, PointAnswer] = {}
        """The answers that may still be revised."""
        self.models: dict[int, Model | None] = {}
        """The models they show, and the last one before these."""
        self._is_restored = False  # then the engine knows nothing yet
        self._after: list[Dropped] = []

    @property
    def next(self) -> int:
        """The next query time."""
        return self.start if self.last is None else self.last + self.step

    # --- going on --------------------------------------------------------------------------------

    def advance(self, until: int, tables: Items) -> PointAnswers:
        """The answers at all query times up to and including `until`, with more signals known.

        Signals are rows in their order, or numbered tables. One that arrived earlier counts from
        the first of these query times on.
        """
        self.feed(tables)
        return self.take(range(self.next, until + 1, self.step))

    def feed(self, items: Items) -> None:
        """More signals, that count when their query times come."""
        rows = cast(Sequence[io.Item], items)
        if items and isinstance(items[0], io.ItemTable):
            rows = in_order(cast(Sequence[io.ItemTable], items))
        self.arrivals.feed(rows)

    def over(
        self,
        tables: Sequence[io.ItemTable],
        queries: range,
        progress: Progress | None = None,
    ) -> PointAnswers:
        """The answers at many query times, for one who gives all signals and asks nothing else."""
        session = self._by_change()
        coming = None
        if session is not None and self.lateness is None:
            coming = Coming.of(tables, self.shown.may_show)
        if session is None or coming is None:
            self.feed(tables)
            steps = _each((self.take([query]) for query in queries), len(queries), progress)
            return PointAnswers.together(steps)
        # As `Arrivals.until` does, whoever arrives by the last query time is judged there.
        early, self._after = coming.outside(self.start, queries[-1], queries.stop - 1)
        moves = session.moves(coming.rows(queries, self.start, session.symbols), queries)
        made = (self._given(query, moved) for query, moved in zip(queries, moves, strict=True))
        said = _each(made, len(queries), progress)
        return PointAnswers(said, self.wanted.is_numbered, dropped=early)

    def _by_change(self) -> ByChange | None:
        """The engine, if it can tell what changes."""
        return cast(ByChange, self._session) if hasattr(self._session, "moves") else None

    def _given(self, query: int, moved: Moved) -> GivenAnswer:
        before, self.answer = self.answer, self._followed(query, moved)
        return self._as_given(query, self.answer, before)

    def _as_given(
        self, query: int, answer: PointAnswer, before: PointAnswer | None, is_new: bool = True
    ) -> GivenAnswer:
        """An answer, and how it differs from that of the query time before if that is known."""
        is_known = self.lateness is None and not self.wanted.is_numbered
        came, gone = self._moved if is_known else (None, None)
        return GivenAnswer(query, answer, before, came, gone, is_new)

    def _dropped(self) -> list[DroppedRow]:
        found, self.arrivals.dropped = self.arrivals.dropped, []
        return found

    def take(self, queries: Iterable[int]) -> PointAnswers:
        """Like `advance`, for these query times; the last one may be asked again."""
        found = PointAnswers([], self.wanted.is_numbered, self.lateness is not None)
        judged = []
        for query in queries:
            before, previous = self.answer, self.last
            is_new = query != previous
            for answer in self._at(query):
                is_own = answer.query == query and is_new
                if self.lateness is not None:
                    before = self.told.get(answer.query)
                    self.told[answer.query] = answer
                found.said.append(self._as_given(query, answer, before, is_own))
            judged.append((query, previous, self.arrivals.judged))
        found.judged, found.dropped = judged, self._dropped()
        return found

    def _at(self, query: int) -> list[PointAnswer]:
        """What is new at a query time: answers of earlier ones that change, and its own."""
        added, removed = self.arrivals.until(query, self.last)
        back = self._from(query, added, removed)
        self.last = query
        goes_on = not removed or self._by_change() is not None
        if back is None and goes_on and not self._is_restored:
            self.answer = self._next_answer(query, added, removed)
            self._forget(query)
            return [self.answer]
        told = [] if back is None else [one for one in self.told if one >= back]
        answers: list[PointAnswer] = []
        for one, models in self._anew(sorted({*told, query})):
            answer = self._answer(one, models) if one < query else self._show(one, models)
            if one == query or answer != self.told[one]:
                answers.append(answer)
            self.models[one] = models[0] if models else None
        self.answer = answer
        self._forget(query)
        return answers

    def _next_answer(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> PointAnswer:
        """The answer when none before it changes, at the cost of what changes if that is told."""
        session = self._by_change()
        if session is None:
            models = self._session.advance(query, added, removed)
            self.models[query] = models[0] if models else None
            return self._show(query, models)
        self.models[query] = None  # such an engine need not be near to an answer before
        return self._followed(query, session.move(query, added, removed, self.memory))

    def _followed(self, query: int, moved: Moved | None) -> PointAnswer:
        """The answer after that of the query time before."""
        follows = moved is not None and moved.has_answer and self._is_followed
        if not follows or self._signals_at(query):
            return self._show(query, cast(ByChange, self._session).models())
        assert moved is not None
        shows = self.shown.shows
        came, gone = ([atom for atom in atoms if shows(atom)] for atoms in moved[:2])
        self._moved = self._showing.change(came, gone)
        return PointAnswer(query, self._showing.kept)

    def _show(self, query: int, models: list[Model]) -> PointAnswer:
        """The answer at the current query time, of which the next one may be a change."""
        self._is_followed = False
        if self.wanted.is_numbered or len(models) > 1:
            return self._answer(query, models)
        signals = self._signals_at(query)
        atoms = {*self.shown.only(models[0]), *signals, *self._shown_facts} if models else set()
        self._moved = self._showing.become(atoms)
        self._is_followed = bool(models) and not signals
        return PointAnswer(query, self._showing.kept if models else ())

    def _from(self, query: int, added: Sequence[Signal], removed: Sequence[Signal]) -> int | None:
        """The time from which on answers have to be revised; None if all may stay."""
        if self.lateness is None or self.last is None:
            return None
        back = min((signal.time for signal in (*added, *removed)), default=None)
        return back if back is not None and back <= self.last and back < query else None

    def _anew(self, queries: Sequence[int]) -> Iterator[tuple[int, list[Model]]]:
        """Answers at query times up to the current one, from what is remembered."""
        earlier = [one for one in self.models if one < queries[0]]
        before = self.models[max(earlier)] if earlier else None
        session = self._by_change()
        if session is not None:
            session.again()
        else:
            make = lars_engine(self.engine)
            self._session = make(self.points, start=self.start, wanted=self.wanted, before=before)
        self._is_restored = False
        for query, added, removed in list(self.memory.changes(queries)):
            if session is None:
                yield query, self._session.advance(query, added, removed)
            else:
                session.move(query, added, removed, self.memory)
                yield query, session.models()

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
        counts = self.reach.last or self.reach.groups
        if self.lateness is not None or not counts:
            self.memory.forget(final, self.reach, self.arrivals.predicates)

    def finish(self) -> Sequence[Dropped | DroppedRow]:
        """Signals that come after the end of the run."""
        return self.left(self.start if self.last is None else self.last)

    def left(self, end: int) -> Sequence[Dropped | DroppedRow]:
        """The same where a run has an end that is no query time."""
        return [*self._after, *self.arrivals.finish(end)]

    # --- saving ----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """All that is needed to go on."""
        state = {
            "last": self.last,
            "taken": self.arrivals.taken,
            "waiting": [(order, _row(row)) for _, order, *_, row in sorted(self.arrivals.waiting)],
            "known": [
                (signal.time, signal.order, _atom(signal.atom), *when)
                for signal, *when in self.memory.known
            ],
            "answer": None if self.answer is None else _answer(self.answer),
            "told": [_answer(answer) for answer in self.told.values()],
            "models": [
                (query, None if model is None else [_atom(atom) for atom in model])
                for query, model in self.models.items()
            ],
        }
        return json.dumps(state).encode()

    def restore(self, saved: bytes) -> None:
        """Take up the run of another one with the same program and settings."""
        state = json.loads(saved)
        if type(state["last"]) not in (int, type(None)) or type(state["taken"]) is not int:
            raise TypeError("these are no times and numbers")
        self.last = state["last"]
        for order, row in state["waiting"]:
            self.arrivals.taken = order
            self.arrivals.feed([_to_row(row)])
        self.arrivals.taken = state["taken"]
        for time, order, atom, since, until in state["known"]:
            signal = Signal(time, order, _to_atom(atom))
            self.memory.add(signal, since, until)
            self.arrivals.predicates.add(signal.atom.predicate)
        self.answer = None if state["answer"] is None else _to_answer(state["answer"])
        self.told = {answer.query: answer for answer in map(_to_answer, state["told"])}
        self.models = {
            query: None if atoms is None else frozenset(map(_to_atom, atoms))
            for query, atoms in state["models"]
        }
        if self.answer is not None and not self.wanted.is_numbered:
            self._showing.become(self.answer.atoms)
        self._is_restored = True

    # --- what is said ----------------------------------------------------------------------------

    def _answer(self, query: int, models: Sequence[Model]) -> PointAnswer:
        return PointAnswer.of(query, models, self._signals_at(query), self._facts, self.shown)

    def _signals_at(self, query: int) -> set[Atom]:
        """The signals of a query time that are shown."""
        if not any(map(self.shown.may_show, self.arrivals.predicates)):
            return set()
        return self.memory.at(query, self.shown.shows)


def program_queries(settings: RunSettings, extent: tuple[int, int] | None) -> range:
    """The query times of a run over a whole input, once it is known what that covers."""
    first, last = extent or (0, 0)
    start = first if settings.start is None else settings.start
    end = last if settings.end is None else settings.end
    step = settings.step or 1
    if end < start:
        hint = "a run covers the time points from start up to and including end"
        raise UsageError(f"the end of the run, {end}, is before its start, {start}", hint)
    if (end - start) // step > MOST_QUERIES:
        hint = "choose a longer step, or a start near the first signal"
        problem = f"from {start} to {end} there are more than {MOST_QUERIES:,} query times"
        raise UsageError(problem, hint)
    return range(start, end + 1, step)


T = TypeVar("T")


def _each(found: Iterable[T], number: int, progress: Progress | None) -> list[T]:
    """All of them; somebody is told how many there are."""
    listed: list[T] = []
    for one in found:
        listed.append(one)
        if progress is not None:
            progress(len(listed), number)
    return listed


def _atom(atom: Atom) -> list[str]:
    return [atom.name, *(show(arg) for arg in atom.args)]


def _to_atom(given: list[str]) -> Atom:
    return Atom(given[0], tuple(parse_term(arg) for arg in given[1:]))


def _answer(answer: PointAnswer) -> list[Any]:
    return [answer.query, [[_atom(atom) for atom in model] for model in answer.models]]


def _to_answer(given: list[Any]) -> PointAnswer:
    query, models = given
    return PointAnswer(query, tuple(tuple(_to_atom(atom) for atom in model) for model in models))


def _row(row: io.Item) -> list[Any]:
    args = [io.to_source(arg) for arg in row.args]
    return [row.op, row.name, row.arrival, row.start, args, row.file, row.line]


def _to_row(given: list[Any]) -> io.Item:
    op, name, arrival, start, args, file, line = given
    terms = tuple(io.from_source(arg) for arg in args)
    return io.Item(op, name, "event", "points", arrival, start, None, None, terms, file, line)
