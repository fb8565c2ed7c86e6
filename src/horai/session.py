"""A run in progress: fed items as they come, asked at growing query times, saved and taken up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from horai import io
from horai.engine.admission import Dropped
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import Which
from horai.engine.core.session import CompiledSession
from horai.engine.profile import Profile
from horai.errors import RunError, UsageError
from horai.io.items.tables import by_arrival, extent
from horai.io.letters import OF_ENGINES
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.ec.errors import EngineError, heard_by
from horai.lang.lars.predicates import derived, inputs
from horai.result import Answer, Result, RunBasis
from horai.runtime.answers import Answers
from horai.runtime.engines import EngineSession, engine_session, name_of, profiled
from horai.runtime.few import Few
from horai.runtime.findings import RunFindings, Spellings, empty, unread, unused
from horai.runtime.inputs import DroppedRow, files_of, letters_of, read_input
from horai.runtime.lars.admission import numbered
from horai.runtime.lars.answers import AtomFilter, PointAnswers
from horai.runtime.lars.engines import answer_mode
from horai.runtime.lars.session import Items, ProgramEngine, Progress, program_queries
from horai.runtime.lars.signals import AnySignals, LineReader, text_lines
from horai.runtime.lars.undefined import ProgramFindings
from horai.runtime.metrics import LATEST, Counting, Metrics
from horai.settings import RunSettings, Schedule, plan_run, point
from horai.tools.codes import judged

if TYPE_CHECKING:
    from horai.rules import Rules
    from horai.runtime.pipeline import PipelineEngine

S = TypeVar("S")
T = TypeVar("T")
Engine = EngineSession | ProgramEngine
_PARTS: dict[Answers, tuple[Which, ...]] = {
    "final": (),  # of these only the last counts, and it is kept whole
    "windows": ("window",),
    "changelog": ("gone", "new"),
}


class Session:
    """Feed it items as they come and ask at growing query times.

    `settings` are checked ones. The setting `answers` is the only form of answer that is kept, None
    for all. An `archive` of all that has become final is there if the form needs one, unless said
    otherwise. A `single` session is asked for the only query time there is. The result of a
    `revisable` one keeps the engine.
    """

    def __init__(
        self,
        rules: Rules,
        settings: RunSettings,
        *,
        profile: Profile | None = None,
        archive: bool | None = None,
        single: bool = False,
        revisable: bool = False,
    ) -> None:
        self.rules = rules
        self._is_revisable = revisable
        self.start = settings.start or 0
        self.settings = replace(settings, start=self.start)
        self.clock, self.strict = settings.scale, settings.strict
        self.form: Answers | None = settings.answers
        self.answers: list[Answer] = []
        self.dead_letters: list[io.DeadLetter] = []
        self.empty: Sequence[str] = ()  # files without rows
        self.offsets: dict[str, int] = {}
        """By partition of a topic that is followed, the number of the next message."""
        self.last: int | None = None
        """The last query time."""
        self.taken = 0
        """How many rows have come."""
        self._pending: list[io.ItemTable] = []
        # What answers rest on: kept where all of them are.
        self._items: list[io.ItemTable] | None = [] if archive or self.form is None else None
        self._counting = Counting()
        self._findings = RunFindings()
        self._came: dict[tuple[str, int], int] = {}
        self.engine, self.reasons = settings.engine, list[str]()
        self._profile: Profile | None = None
        try:
            with heard_by(self._findings.undefined):  # facts may be worked out now
                self.core = self._made(archive, single)
            """The engine at work."""
        except EngineError as error:  # found out before the first query time
            raise RunError(str(error)) from error
        if profile is not None:
            self.watch(profile)

    def watch(self, profile: Profile) -> None:
        """Note in a profile what each query costs from now on, or a kind error."""
        profiled(cast(EngineSession, self.core), self.engine, profile)
        self._profile = profile

    def _made(self, archive: bool | None, single: bool) -> Engine:
        rules, settings = self.rules, self.settings
        if rules.language == "lars":
            made = ProgramEngine(
                rules.in_points(settings.clock, settings.unit),
                start=self.start,
                step=settings.step or 1,
                engine=settings.engine,
                wanted=answer_mode(settings),
                shown=AtomFilter.of_filter(settings.filter, derived(rules.program)),
                lateness=settings.allowed_lateness,
            )
            self.engine, self.reasons = made.engine, made.reasons
            return made
        if rules.language == "combined":
            from horai.runtime.pipeline import PipelineEngine

            clock = rules.sound_clock(settings.clock, settings.unit)
            stages, functions = rules.stages, rules.predicates
            return PipelineEngine(stages, clock, functions, settings, self.start, single)
        archive = self.form in (None, "final") if archive is None else archive
        description, functions = rules.description, rules.predicates
        session = engine_session(
            settings.engine,
            description,
            settings,
            self.start,
            functions,
            archive,
        )
        self.engine = name_of(session)
        if not settings.include_input and hasattr(session, "hide_input"):
            session.hide_input()
        return session

    # --- items in, answers out -------------------------------------------------------------------

    def feed(self, items: object) -> None:
        """Read items; they are known at the next query time, or once they have arrived."""
        self.give(self._read(items))

    def give(self, items: Items) -> None:
        """Like `feed`, for items that have been read."""
        if self._items is not None and _are_tables(items):
            self._items += cast(Sequence[io.ItemTable], items)
        if not isinstance(self.core, ProgramEngine):
            self._pending += cast(Sequence[io.ItemTable], items)
            return
        self._counting.items += _number(items)
        self._look(items)
        self._undefined.look(items)
        self.core.feed(items)

    def advance(self, until: int, items: object = ()) -> Answer:
        """The answer at query time `until`, with more items known than before.

        A LARS program answers at all its query times up to then. Of many answers that were handed
        out the session keeps the last ones, for its result, and totals of the others.
        """
        until = point(until, "the query time")
        last = self.last if self.last is not None or self.rules.language == "lars" else self.start
        if last is not None and until <= last:
            raise UsageError(
                f"query times must grow: {until} is not after {last}",
                "late items need no early query time; give them with a later one",
            )
        if isinstance(self.core, ProgramEngine) and until < self.core.next:
            hint = f"advance to {self.core.next} or later"
            raise UsageError(f"there is no new query time up to {until}", hint)
        answer = self._take_few(until, items) or self.take(until, self._read(items))
        if self.form not in (None, "final"):
            self.let_go(LATEST)
        return answer

    def _take_few(self, until: int, items: object) -> Answer | None:
        """Like `take`, of a few plain items; None if they are anything else."""
        few = self._few
        if few is None or self._pending or not self._counting.is_idle:
            return None
        given = few.read(items)
        if given is None:
            return None
        if self.answers:
            self._keep(self.answers[-1])
        raw = self._at(until, few.core.advance_few, given)
        if raw is None:
            return None
        if self._findings.is_looking:
            self._findings.look(self._read(items))  # type: ignore[arg-type]
        if given.starts:
            rows = cast(Sequence[object], items)
            self._spellings.look_later(rows, given.types, self._read_again)
        self._counting.judge_few(given.arrivals, given.starts, until, self.last)
        self.last = until
        answer = Answer(raw, self._wanted, few.rows)
        self.answers.append(answer)
        return answer

    @cached_property
    def _few(self) -> Few | None:
        """How a few items are taken, if the engine and the answers wanted allow it."""
        core = self.core
        if not isinstance(core, CompiledSession) or self._profile is not None:
            return None
        if self.form != "changelog" or self._items is not None:
            return None
        return Few(self.rules.schema, self.clock, core, self._wanted)

    def _read(self, given: object) -> Items:
        """Items as the engine takes them; what cannot be read is a dead letter."""
        lines = text_lines(given) if self.rules.language == "lars" else None
        if lines is not None:
            rows = self._reader.of_texts(lines)
            self.dead_letters += self._reader.dead_letters
            self._reader.dead_letters.clear()
            return rows
        narrative = read_input(given, self.rules.schema, self.clock, strict=self.strict)
        return self._tables(narrative, files_of(given))

    def _tables(self, narrative: io.Narrative, files: Sequence[str]) -> Sequence[io.ItemTable]:
        """What was read, with the order of its rows where that matters."""
        self.dead_letters.extend(narrative.dead_letters)
        if self.rules.language == "ec":
            return narrative.tables
        tables = numbered(narrative.tables, files, self.taken)
        self.taken += sum(map(len, tables))
        return tables

    def take(self, until: int, items: Items) -> Answer:
        """Like `advance`, with items that have been read."""
        if self.answers and self.form is not None:
            self._keep(self.answers[-1])
        self.give(items)
        answer = self._asked_at(until)
        self.answers.append(answer)
        return answer

    def ask(self, queries: Iterable[int]) -> Answer:
        """What a LARS program says at some query times, which is not kept; the last may come again.

        The next query time is `next`.
        """
        return self._answered(cast(ProgramEngine, self.core).take(queries))

    @property
    def next(self) -> int:
        """The next query time of a LARS program."""
        return cast(ProgramEngine, self.core).next

    def _asked_at(self, until: int) -> Answer:
        if isinstance(self.core, ProgramEngine):
            core = self.core
            return self._answered(core.take(range(core.next, until + 1, core.step)))
        tables, self._pending = self._pending, []
        raw = self._at(until, self.core.advance, tables)
        self._findings.look(tables)
        self._spellings.look(tables)
        self._counting.judge(tables, raw.dropped, until, self.last)
        self.last = until
        self.dead_letters.extend(letters_of(raw.dropped))
        return Answer(raw, self._wanted)

    def _at(self, until: int, step: Callable[[int, S], T], items: S) -> T:
        """What the engine does at a query time."""
        try:
            with heard_by(self._findings.undefined):
                if self._profile is None:
                    return step(until, items)
                with self._profile.query():
                    return step(until, items)
        except EngineError as error:
            raise RunError(f"{error} (at query time {until})") from error

    def _read_again(self, items: Sequence[object]) -> Sequence[io.ItemTable]:
        return read_input(items, self.rules.schema, self.clock).tables

    def _answered(self, raw: PointAnswers) -> Answer:
        """Count what became of signals."""
        for query, previous, rows in raw.judged:
            self._counting.admit(query, previous, rows)
        if raw.dropped:
            self.dead_letters.extend(letters_of(raw.dropped))
        self.last = cast(ProgramEngine, self.core).last
        return Answer(raw)

    def _keep(self, answer: Answer) -> None:
        """Let go of what is not wanted of an answer that is not the last one any more."""
        assert self.form is not None
        if isinstance(answer.raw, EngineAnswer):
            answer.raw.keep(_PARTS[self.form])
            answer.let_go()
        elif self.form == "final" and not answer.raw.revisable:
            self.answers.clear()

    def _look(self, items: Items) -> None:
        """Which signals come, as long as none has come that a rule asks for."""
        if self._came.keys() & self._asked:
            return
        for one in items:
            key = (one.name, one.arity if isinstance(one, io.ItemTable) else len(one.args))
            rows = len(one) if isinstance(one, io.ItemTable) else 1
            self._came[key] = self._came.get(key, 0) + rows

    @cached_property
    def _reader(self) -> LineReader:
        schema = AnySignals.known(inputs(self.rules.program))
        return LineReader(schema, self.clock, strict=self.strict)

    @cached_property
    def _asked(self) -> set[tuple[str, int]]:
        return inputs(self.rules.program)

    def let_go(self, keep: int = 1) -> None:
        """Forget the answers of query times before the last ones; what they counted is added up.

        It waits until half of them can go, so that it costs each query time next to nothing.
        """
        if len(self._counting.queries) < 2 * keep:
            return
        self._counting.fold(_revised(self.form, self.answers, self._counting), keep)
        del self.answers[:-keep]

    # --- whole runs ------------------------------------------------------------------------------

    def run(
        self,
        narrative: io.Narrative,
        files: Sequence[str],
        schedule: Schedule | range | None,
        progress: Progress | None = None,
        *,
        ended: bool = True,
    ) -> Result:
        """All answers over an input; each row is known once it has arrived.

        A run that has not `ended` goes on later.
        """
        self.empty = narrative.empty
        tables = self._tables(narrative, files)
        kept = self._items
        if isinstance(schedule, range):
            self._items = [] if kept is None else list(tables)
            return self._run_program(tables, schedule, progress)
        self._items = None  # whole tables are kept, not the parts of each query time
        queries = schedule.queries if schedule else ()
        arriving = by_arrival(tables, queries)
        for done, (query, arrived) in enumerate(zip(queries, arriving, strict=True), 1):
            self.take(query, arrived)
            if progress is not None:
                progress(done, len(queries))
        self._items = None if kept is None else [*kept, *tables]
        return self.finish() if ended else self.result()

    def _run_program(
        self, tables: Sequence[io.ItemTable], queries: range, progress: Progress | None
    ) -> Result:
        core = cast(ProgramEngine, self.core)
        self._counting.items += _number(tables)
        self._look(tables)
        self._undefined.look(tables)
        raw = core.over(tables, queries, progress)
        self.answers.append(self._answered(raw))
        self.last = queries[-1]
        if not raw.judged:
            self._counting.cover(tables, queries)
        return self.finish(queries.stop - 1)

    # --- what was found --------------------------------------------------------------------------

    def finish(self, end: int | None = None) -> Result:
        """End the run: everything it found, with the items that never came to count."""
        if isinstance(self.core, ProgramEngine) and end is not None:
            left: Sequence[Dropped | DroppedRow] = self.core.left(end)
        else:
            left = self.core.finish()
        alone = [one.row for one in left if isinstance(one, DroppedRow)]
        self._counting.finish(len(left), ((row.arrival, row.start) for row in alone))
        self.dead_letters.extend(letters_of(left))
        return self.result()

    def result(self) -> Result:
        """Everything that was found so far."""
        letters = sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))
        # Not the session itself: it holds on to all that the engine knows.
        counting, form, answers = self._counting, self.form, list(self.answers)
        items = None if self._items is None else list(self._items)
        core = self.core if self._is_revisable and isinstance(self.core, CompiledSession) else None
        return Result(
            *(self.rules, answers, letters, form or "final", self.clock.unit),
            measure=lambda: counting.metrics(
                _revised(form, answers, counting), _unreadable(letters)
            ),
            warnings=self._warnings(letters),
            engine=self.engine,
            reasons=self.reasons,
            unanswered=getattr(self.core, "unanswered", ()),
            basis=None if items is None else RunBasis(self.settings, lambda: items, core),
        )

    def _warnings(self, letters: Sequence[io.DeadLetter]) -> list[Diagnostic]:
        found = self._without_value()
        if self.rules.language == "lars":
            if self._came and self._asked and not self._came.keys() & self._asked:
                found += unread(sum(self._came.values()), self._came, self._asked)
        else:
            found += self._spellings.findings()
            found += unused(self._counting.items + _unreadable(letters), letters)
        return judged([*found, *empty(self.empty)], self.rules.severities)

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self.rules.description, self.rules.entities)

    @property
    def warnings(self) -> list[Diagnostic]:
        """Conditions that had no value so far: a value that is no number, a division by zero."""
        return judged(self._without_value(), self.rules.severities)

    def _without_value(self) -> list[Diagnostic]:
        found = self._findings.findings()
        if self.rules.language != "ec":
            found += self._undefined.findings(self.last, self.dead_letters)
        return found

    @cached_property
    def _undefined(self) -> ProgramFindings:
        if self.rules.language == "combined":
            return cast("PipelineEngine", self.core).undefined
        return ProgramFindings(self.rules.program, self.start)

    @property
    def metrics(self) -> Metrics:
        """What became of the items so far, at each query time and in all."""
        revised = _revised(self.form, self.answers, self._counting)
        return self._counting.metrics(revised, _unreadable(self.dead_letters))

    def _wanted(self, name: str, arity: int, is_fluent: bool) -> bool:
        return self.settings.include_input or self.rules.is_output(name, arity, is_fluent)

    # --- saving ----------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The run so far, for `horai.load_session`: rules and knowledge, but not old answers."""
        if self._pending:
            hint = "advance to a query time first"
            raise UsageError("items were fed that no query time knows yet", hint)
        engine = self.core.save()
        settings = self.settings.of_session() | {"start": self.start, "engine": self.engine}
        counts = self._counting.to_state(_revised(self.form, self.answers, self._counting))
        saved = Saved(
            self.rules.sources,
            sorted(self.rules.predicates),
            settings,
            self.last,
            self.taken,
            self.dead_letters,
            counts,
            self.offsets,
            engine,
        )
        return to_bytes(saved)

    def restore(self, saved: Saved) -> None:
        """Take up a run that was saved with the same rules and settings."""
        try:
            with whole():
                self.core.restore(saved.engine)
        except EngineError as error:
            raise UsageError(str(error)) from error
        self.last, self.taken = saved.query, saved.taken
        self._items = None  # the saved run had others
        self.dead_letters = list(saved.dead_letters)
        self.offsets = dict(saved.offsets)
        self._counting.restore(saved.counts)


# --- saved sessions as bytes ---------------------------------------------------------------------
#
# A line that says what it is, a checksum of all that follows, a line of JSON, and what the engine
# says. All of it is data only, whatever engine the bytes name: nothing in them can run.

_MARK = b"horai session 3\n"


class Saved(NamedTuple):
    """What a session needs to go on, in this process or in another.

    `sources` are the rules of each language, their names and texts. `predicates` are only names:
    functions have to be given again. `settings` are those of `Rules.session`, `query` is the last
    query time, `taken` the number of rows so far, and `counts` what metrics go on from. `offsets`
    say from where on topics are read.
    """

    sources: dict[str, list[tuple[str, str]]]
    predicates: list[str]
    settings: dict[str, Any]
    query: int | None
    taken: int
    dead_letters: list[io.DeadLetter]
    counts: dict[str, Any]
    offsets: dict[str, int]
    engine: bytes


_HEADER = {
    **dict.fromkeys(("sources", "settings", "counts", "offsets"), (dict,)),
    **dict.fromkeys(("predicates", "dead_letters"), (list,)),
    "query": (int, type(None)),
    "taken": (int,),
}
"""The types that what is saved has in JSON."""


def to_bytes(saved: Saved) -> bytes:
    plain = saved._asdict()
    del plain["engine"]
    rest = json.dumps(plain).encode() + b"\n" + saved.engine
    return _MARK + _checksum(rest) + b"\n" + rest


def from_bytes(data: object) -> Saved:
    """The session that was saved, or a kind error."""
    if not isinstance(data, bytes | bytearray | memoryview):
        hint = "give the bytes that session.save() returned"
        raise UsageError(f"this is no saved session, but of type {type(data).__name__}", hint)
    data = bytes(data)
    if not data.startswith(_MARK):
        hint = "give what session.save() returned, from the same version of Horai"
        raise UsageError("this is no saved session", hint)
    checksum, _, rest = data[len(_MARK) :].partition(b"\n")
    if checksum != _checksum(rest):
        raise _damaged()
    header, _, engine = rest.partition(b"\n")
    with whole():
        plain = json.loads(header)
        are_sound = all(type(plain[name]) in types for name, types in _HEADER.items())
        if not are_sound or not all(type(name) is str for name in plain["predicates"]):
            raise TypeError("this is no header of a session")
        letters = [io.DeadLetter(*letter) for letter in plain.pop("dead_letters")]
        return Saved(**plain, dead_letters=letters, engine=engine)


def read_saved(path: Path, load: Callable[[bytes], T]) -> T:
    """The session in a file; what is wrong with it is told with the name of the file."""
    try:
        return load(path.read_bytes())
    except UsageError as error:
        raise UsageError(f"{path}: {error.problem}", error.hint) from error


@contextmanager
def whole() -> Iterator[None]:
    """Whoever takes up what was saved and stumbles has got something else."""
    try:
        yield
    except UsageError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError) as error:
        raise _damaged() from error


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _damaged() -> UsageError:
    hint = "give exactly what session.save() returned"
    return UsageError("this saved session is damaged", hint)


# --- counting ------------------------------------------------------------------------------------


def _revised(
    form: Answers | None, answers: Sequence[Answer], counting: Counting
) -> list[int | None]:
    """How many answers were taken back at each query time, where changes are kept."""
    if answers and isinstance(answers[0].raw, PointAnswers):
        gone = dict.fromkeys(counting.queries, 0)
        for answer in answers:
            for row in answer.changes if answer.revised else ():
                if row.op == "-" and row.arrived is not None:
                    gone[row.arrived] += 1
        return [gone[query] for query in counting.queries]
    if form in (None, "changelog"):
        return [answer.revised for answer in answers]
    return [None] * len(counting.queries)


def _are_tables(items: Items) -> bool:
    return bool(items) and isinstance(items[0], io.ItemTable)


def _number(items: Items) -> int:
    return sum(map(len, items)) if _are_tables(items) else len(items)


def _unreadable(letters: Iterable[io.DeadLetter]) -> int:
    return sum(letter.code not in OF_ENGINES for letter in letters)


def schedule_of(settings: RunSettings, narrative: io.Narrative) -> Schedule | range | None:
    """The query times of a run over an input."""
    covered = extent(narrative.tables)
    return program_queries(settings, covered) if settings.is_lars else plan_run(settings, covered)
