"""A run of a LARS program in progress: fed as signals come, asked at growing query times.

What a run of a LARS program has to remember of its signals, to go on or to answer again.
What a session of a LARS program knows, as data that can be written down.
What a session of a LARS program says, and query times that are worked out together.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from horai import io
from horai.errors import UsageError
from horai.io.sources.lines import InputLine
from horai.lang.lars.predicates import background_facts, inputs
from horai.lang.lars.syntax import Atom
from horai.plan.lars.reach import SignalReach, reach_of
from horai.runtime.inputs import read_input
from horai.runtime.lars.engines import (
    AUTO,
    AllAtOnce,
    AnswerMode,
    ByChange,
    Changes,
    LarsSession,
    Model,
    Moved,
    chosen,
    lars_engine,
)
from horai.runtime.lars.log import Coming
from horai.runtime.lars.result import LarsAnswer, Row, ShownAtoms, changes, revisions
from horai.runtime.lars.showing import Showing
from horai.runtime.lars.signals import (
    MEMORY,
    AnySignals,
    Arrivals,
    LineReader,
    Signal,
    files_of,
    in_order,
    text_lines,
)
from horai.runtime.saving import Saved, to_bytes
from horai.runtime.values import parse_term, show
from horai.settings import length, point

if TYPE_CHECKING:
    from horai.lang.lars.syntax import Atom, Program
    from horai.lars import LarsProgram
    from horai.session import Progress


ENDLESS = 2**62
FEW = 256
"""With so few signals forgetting is not worth its time."""


@dataclass
class SignalMemory:
    """Signals, each with the time from which it counts and the one until which it does."""

    reach: SignalReach
    _known: dict[int, tuple[Signal, int, int]] = field(default_factory=dict)
    """By its order, which no other signal has: to hash an atom takes longer."""
    _at: dict[int, dict[int, None]] | None = None  # by time, once somebody asks for that
    _kept: int = 0

    @property
    def known(self) -> Iterable[tuple[Signal, int, int]]:
        """All signals, with from when and until when they count."""
        return self._known.values()

    def add(self, signal: Signal, since: int, until: int = ENDLESS) -> None:
        """A signal that counts from a time on."""
        self._known[signal.order] = (signal, since, until)
        if self._at is not None:
            self._at.setdefault(signal.time, {})[signal.order] = None

    def remove(self, signal: Signal, until: int) -> None:
        """A signal that counts until a time; there may be none left at which it does."""
        _, since, _ = self._known[signal.order]
        if until > since:
            self._known[signal.order] = (signal, since, until)
        else:
            self._drop(signal)

    def at(self, query: int, is_wanted: Callable[[Atom], bool]) -> set[Atom]:
        """The wanted atoms that signals say about a query time, as far as they count then."""
        if self._at is None:
            self._at = {}
            for signal, _, _ in self.known:
                self._at.setdefault(signal.time, {})[signal.order] = None
        found: set[Atom] = set()
        for place in self._at.get(query, ()):
            signal, since, until = self._known[place]
            if since <= query < until and is_wanted(signal.atom):
                found.add(signal.atom)
        return found

    def changes(self, queries: Sequence[int]) -> Iterator[Changes]:
        """What comes and goes from query time to query time, for one who knows nothing yet."""
        added: list[list[Signal]] = [[] for _ in queries]
        removed: list[list[Signal]] = [[] for _ in queries]
        for signal, since, until in self.known:
            come, gone = bisect_left(queries, since), bisect_left(queries, until)
            if come < gone:
                added[come].append(signal)
                if gone < len(queries):
                    removed[gone].append(signal)
        for place, query in enumerate(queries):
            yield query, added[place], removed[place]

    def forget(self, horizon: int) -> list[Signal]:
        """Drop what no answer from a time on can depend on, once that is worth the time it takes.

        Signals before that time can no longer be taken back.
        """
        if len(self._known) < 2 * self._kept + FEW:
            return []
        lasting = [signal for signal, _, until in self.known if until == ENDLESS]
        lasting.sort()  # by time and order; no two have the same order
        # Those at the horizon may still go, and leave their place in a window to one before them.
        needed = self.reach.needed([(s.time, s.atom) for s in lasting], horizon - 1)
        gone = [signal for signal, stays in zip(lasting, needed, strict=True) if not stays]
        gone += [signal for signal, _, until in self.known if until <= horizon]
        for signal in gone:
            self._drop(signal)
        self._kept = len(self._known)
        return gone

    def _drop(self, signal: Signal) -> None:
        del self._known[signal.order]
        if self._at is not None:
            here = self._at[signal.time]
            del here[signal.order]
            if not here:
                del self._at[signal.time]


def earliest(signals: Iterable[Signal]) -> int | None:
    """The first time that signals speak of."""
    return min((signal.time for signal in signals), default=None)


LANGUAGE = "lars"
State = dict[str, Any]


def to_state(session: ProgramSession) -> State:
    """All that a session needs to go on."""
    return {
        "last": session.last,
        "offsets": session.offsets,
        "taken": session.arrivals.taken,
        "waiting": [(order, _row(row)) for _, order, row in session.arrivals.waiting],
        "known": [
            (signal.time, signal.order, _atom(signal.atom), *when)
            for signal, *when in session.memory.known
        ],
        "answer": None if session.answer is None else _answer(session.answer),
        "told": [_answer(answer) for answer in session.told.values()],
        "models": [
            (query, None if model is None else [_atom(atom) for atom in model])
            for query, model in session.models.items()
        ],
    }


def from_state(session: ProgramSession, data: bytes) -> None:
    """Put into a new session what another one knew."""
    try:
        _restore(session, json.loads(data))
    except (ValueError, LookupError, TypeError) as error:
        hint = "give exactly what session.save() returned"
        raise UsageError("this saved session is damaged", hint) from error


def _restore(session: ProgramSession, state: State) -> None:
    session.last = state["last"]
    session.offsets = state["offsets"]
    for order, row in state["waiting"]:
        session.arrivals.taken = order
        session.arrivals.feed([_to_row(row)])
    session.arrivals.taken = state["taken"]
    for time, order, atom, since, until in state["known"]:
        signal = Signal(time, order, _to_atom(atom))
        session.memory.add(signal, since, until)
        session.arrivals.predicates.add(signal.atom.predicate)
        if until == ENDLESS:
            session.arrivals.know(signal)
    session.answer = None if state["answer"] is None else _to_answer(state["answer"])
    session.told = {answer.query: answer for answer in map(_to_answer, state["told"])}
    session.models = {
        query: None if atoms is None else frozenset(map(_to_atom, atoms))
        for query, atoms in state["models"]
    }


def _atom(atom: Atom) -> list[str]:
    return [atom.name, *(show(arg) for arg in atom.args)]


def _to_atom(given: list[str]) -> Atom:
    return Atom(given[0], tuple(parse_term(arg) for arg in given[1:]))


def _answer(answer: LarsAnswer) -> list[Any]:
    return [answer.query, [[_atom(atom) for atom in model] for model in answer.models]]


def _to_answer(given: list[Any]) -> LarsAnswer:
    query, models = given
    return LarsAnswer(query, tuple(tuple(_to_atom(atom) for atom in model) for model in models))


def _row(row: io.Item) -> list[Any]:
    args = [io.to_source(arg) for arg in row.args]
    return [row.op, row.name, row.arrival, row.start, args, row.file, row.line]


def _to_row(given: list[Any]) -> io.Item:
    op, name, arrival, start, args, file, line = given
    terms = tuple(io.from_source(arg) for arg in args)
    return io.Item(op, name, "event", "points", arrival, start, None, None, terms, file, line)


@dataclass(frozen=True)
class LarsStep:
    """What a session says when it goes on.

    `answers` are those of the new query times, `revised` those of earlier ones that are different
    now, and `changes` the rows that lead from what was said before to what is said now.
    """

    answers: list[LarsAnswer]
    revised: list[LarsAnswer]
    changes: list[Row]

    @property
    def answer(self) -> LarsAnswer:
        """The answer at the last query time."""
        if not self.answers:
            raise UsageError("there is no new query time", "advance to a later time")
        return self.answers[-1]


def current(changes: Iterable[Changes]) -> Iterator[set[Atom]]:
    """The atoms of signals that say something about each query time itself."""
    now: dict[int, dict[Signal, None]] = {}
    for query, added, removed in changes:
        for signal in added:
            now.setdefault(signal.time, {})[signal] = None
        for signal in removed:
            now[signal.time].pop(signal, None)
        yield {signal.atom for signal in now.get(query, {})}


def answered(
    session: LarsSession, changes: Sequence[Changes], queries: Sequence[int]
) -> Iterator[list[Model]]:
    """What holds at each query time, worked out together if the engine can."""
    together = getattr(session, "advance_all", None)
    if together is not None and len(queries) > 1:
        asked = range(queries[0], queries[-1] + 1, queries[1] - queries[0])
        if list(asked) == list(queries):
            yield from cast(AllAtOnce, session).advance_all(changes, asked)
            return
    for query, added, removed in changes:
        yield session.advance(query, added, removed)


class ProgramSession:
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
        wanted: AnswerMode,
        shown: ShownAtoms,
        lateness: int | None,
        clock: str | None,
        times: io.TimeScale,
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
        self._shown_facts = shown.of(self._facts)
        self._schema = AnySignals.known(inputs(program.program))
        self._reader = LineReader(self._schema, times, strict=strict)
        self.arrivals = Arrivals(start, self.lateness)
        self.memory = SignalMemory(reach_of(points))
        self.last: int | None = None
        """The last query time."""
        self._showing = Showing()
        self._moved: tuple[Sequence[Atom], Sequence[Atom]] = ((), ())
        """What came and what went with the last answer."""
        self._is_followed = False  # whether what is shown is what the engine has derived, and facts
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
        lines = text_lines(signals)
        if lines is not None:
            self.arrivals.feed(
                row
                for number, text in enumerate(lines, 1)
                for row in self._reader.rows(InputLine(MEMORY, number, text))
            )
            self.arrivals.dead_letters.extend(self._reader.dead_letters)
            self._reader.dead_letters.clear()
            return
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
        moves: list[Changes] = [(query, *self.arrivals.until(query)) for query in queries]
        models = answered(self._session, moves, queries)
        for query, found, here in zip(queries, models, current(moves), strict=True):
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
            self.answer = self._next_answer(query, added)
            self._forget(query)
            return [self.answer]
        else:
            told = [] if back is None else [one for one in self.told if one >= back]
            found = list(self._anew(sorted({*told, query})))
        answers: list[LarsAnswer] = []
        for one, models in found:
            answer = self._answer(one, models) if one < query else self._show(one, models)
            if one == query or answer != self.told[one]:
                answers.append(answer)
            self.models[one] = models[0] if models else None
        self.answer = answer
        self._forget(query)
        return answers

    def _next_answer(self, query: int, added: Sequence[Signal]) -> LarsAnswer:
        """The answer when nothing was taken back, at the cost of what changes if that is told."""
        move = getattr(self._session, "move", None)
        if move is None:
            models = self._session.advance(query, added, ())
            self.models[query] = models[0] if models else None
            return self._show(query, models)
        self.models[query] = None  # such an engine need not be near to an answer before
        moved: Moved | None = move(query, added, ())
        follows = moved is not None and moved.has_answer and self._is_followed
        if not follows or self._signals_at(query):
            return self._show(query, cast(ByChange, self._session).models())
        assert moved is not None
        shows = self.shown.shows
        came, gone = ([atom for atom in atoms if shows(atom)] for atoms in moved[:2])
        self._moved = self._showing.change(came, gone)
        return LarsAnswer(query, self._showing.kept)

    def _show(self, query: int, models: list[Model]) -> LarsAnswer:
        """The answer at the current query time, of which the next one may be a change."""
        self._is_followed = False
        if self.wanted.is_numbered or len(models) > 1:
            return self._answer(query, models)
        signals = self._signals_at(query)
        atoms = {*self.shown.of(models[0]), *signals, *self._shown_facts} if models else set()
        self._moved = self._showing.become(atoms)
        self._is_followed = bool(models) and not signals
        return LarsAnswer(query, self._showing.kept if models else ())

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
        moves = list(self.memory.changes(queries))
        yield from zip(queries, answered(self._session, moves, queries), strict=True)

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
        if self.answer is not None and not self.wanted.is_numbered:
            self._showing.become(self.answer.atoms)
        self._is_restored = True

    # --- what is said ----------------------------------------------------------------------------

    def _answer(self, query: int, models: list[Model]) -> LarsAnswer:
        return LarsAnswer.of(query, models, self._signals_at(query), self._facts, self.shown)

    def _signals_at(self, query: int) -> set[Atom]:
        """The signals of a query time that are shown."""
        if not any(map(self.shown.may_show, self.arrivals.predicates)):
            return set()
        return self.memory.at(query, self.shown.shows)

    def _changes(self, answer: LarsAnswer, before: LarsAnswer | None, query: int) -> list[Row]:
        if self.lateness is not None:
            old = self.told.get(answer.query)
            return list(revisions(old, answer, query, self.wanted.is_numbered))
        return [] if self.wanted.is_numbered else list(changes(before, answer, *self._moved))
