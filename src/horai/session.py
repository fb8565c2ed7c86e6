"""A run in progress, and the answers it gives.

Sessions that are given a whole stream: rows as they arrive, a question at each query time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import Which
from horai.engine.profile import Profile
from horai.errors import RunError, UsageError, counted
from horai.io.items.tables import by_arrival
from horai.io.letters import OF_ENGINES
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.undefined import heard_by
from horai.lang.ec.errors import EngineError
from horai.runtime.answers import AnswerPart, Answers, OutputFilter, answer_table, steps
from horai.runtime.engines import DEFAULT, engine_named, incremental_named, profiled, saving
from horai.runtime.findings import RunFindings, Spellings, empty, unused
from horai.runtime.inputs import letters_of, read_input
from horai.runtime.metrics import Counting, Metrics
from horai.runtime.saving import Saved, to_bytes
from horai.settings import Schedule, point
from horai.tools.codes import judged

if TYPE_CHECKING:
    from horai.result import Result
    from horai.rules import Rules


_PARTS: dict[Answers, tuple[Which, ...]] = {
    "final": (),  # of these only the last counts, and it is kept whole
    "windows": ("window",),
    "changelog": ("gone", "new"),
}


class Answer:
    """What a run knows at a query time. Rows are made when asked for."""

    def __init__(self, raw: EngineAnswer, wanted: OutputFilter) -> None:
        self.raw = raw
        self.wanted = wanted

    @property
    def query(self) -> int:
        """The query time."""
        return self.raw.query

    def steps(self, form: Answers) -> list[AnswerPart]:
        """What it adds to a form of answer."""
        try:
            return steps(self.raw, form)
        except KeyError:
            hint = f"run with answers={form!r}"
            if form != "final":  # which only runs that keep it have at all
                hint = f"ask for it while it is the last one, or {hint}"
            problem = f"the run did not keep the {form} answer at {self.query}"
            raise UsageError(problem, hint) from None

    def table(self, form: Answers) -> io.AnswerTable:
        """The rows of a form of answer as columns."""
        return answer_table(self.steps(form), self.raw.symbols, self.wanted)

    @cached_property
    def rows(self) -> list[io.AnswerRow]:
        """Intervals and events of the window."""
        return self.table("windows").rows()

    @property
    def spans(self) -> list[io.AnswerRow]:
        """The maximal intervals that reach into the window."""
        return [row for row in self.rows if row.kind == "fluent"]

    @property
    def events(self) -> list[io.AnswerRow]:
        """The output events in the window."""
        return [row for row in self.rows if row.kind == "event"]

    @cached_property
    def changes(self) -> list[io.AnswerRow]:
        """What is new (`op` is `+`) and what is taken back (`-`) since the query time before."""
        return self.table("changelog").rows()

    @cached_property
    def everything(self) -> list[io.AnswerRow]:
        """All intervals and events of the run, as known now."""
        return self.table("final").rows()

    @cached_property
    def revised(self) -> int:
        """How many intervals and events of the answer before were taken back."""
        gone = self.steps("changelog")[0].part
        fluents = [len(t.start) for t in gone.fluents if self.wanted(t.name, len(t.args), True)]
        events = [len(t.time) for t in gone.events if self.wanted(t.name, len(t.args), False)]
        return sum(fluents) + sum(events)

    def __repr__(self) -> str:
        table = self.table("windows")
        spans = counted(table.count("fluent"), "interval")
        return f"<Answer at {self.query}: {spans}, {counted(table.count('event'), 'event')}>"


class Session:
    """Feed it items as they come and ask at growing query times.

    `form` is the only form of answer that is kept, None for all. An `archive` of all that has
    become final is there if the form needs one, unless said otherwise.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        engine: str = DEFAULT,
        clock: io.TimeScale | None = None,
        strict: bool = False,
        include_input: bool = False,
        answers: Answers | None = None,
        profile: Profile | None = None,
        archive: bool | None = None,
        incremental: str = "auto",
    ) -> None:
        self.rules = rules
        self.start, self.window, self.tick = start, window, tick
        self.allen_memory = allen_memory
        self.clock, self.strict = clock or io.TimeScale(), strict
        self.include_input = include_input
        self.form = answers
        self.answers: list[Answer] = []
        self.dead_letters: list[io.DeadLetter] = []
        self.empty: Sequence[str] = ()  # files without rows
        self.engine = engine
        make = engine_named(engine)
        self.incremental = incremental_named(incremental, engine)
        self._last = start
        self._counting = Counting()
        self._findings = RunFindings()
        self._session = make(
            rules.description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=rules.predicates,
            archive=answers in (None, "final") if archive is None else archive,
            incremental=self.incremental,
        )
        if not include_input and hasattr(self._session, "hide_input"):
            self._session.hide_input()
        self._profile = profile
        if profile is not None:
            profiled(self._session, self.engine, profile)

    def advance(self, until: int, items: object = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        until = point(until, "the query time")
        if until <= self._last:
            raise UsageError(
                f"query times must grow: {until} is not after {self._last}",
                "late items need no early query time; give them with a later one",
            )
        narrative = read_input(items, self.rules.schema, self.clock, strict=self.strict)
        self.dead_letters.extend(narrative.dead_letters)
        return self.take(until, narrative.tables)

    def take(self, until: int, tables: Sequence[io.ItemTable]) -> Answer:
        """Like `advance`, with items that have been read."""
        if self.answers and self.form is not None:
            self.answers[-1].raw.keep(_PARTS[self.form])
        try:
            with (
                nullcontext() if self._profile is None else self._profile.query(),
                heard_by(self._findings.undefined),
            ):
                raw = self._session.advance(until, tables)
        except EngineError as error:
            raise RunError(f"{error} (at query time {until})") from error
        self._findings.look(tables)
        self._spellings.look(tables)
        previous = None if self._last == self.start else self._last
        self._counting.judge(tables, raw.dropped, until, previous)
        self._last = until
        self.dead_letters.extend(letters_of(raw.dropped))
        answer = Answer(raw, self._wanted)
        self.answers.append(answer)
        return answer

    def finish(self) -> Result:
        """End the run: everything it found, with the items that never came to count."""
        left_over = self._session.finish()
        self._counting.finish(len(left_over))
        self.dead_letters.extend(letters_of(left_over))
        return self.result()

    def result(self) -> Result:
        """Everything that was found so far."""
        from horai.result import Result

        letters = sorted(self.dead_letters, key=lambda letter: (letter.file, letter.line))
        # Not the session itself: it holds on to all that the engine knows.
        counting, form, answers = self._counting, self.form, self.answers
        read = counting.items + _unreadable(letters)
        found = [*self._findings.findings(), *self._spellings.findings()]
        found += [*unused(read, letters), *empty(self.empty)]
        warnings = judged(found, self.rules.severities)
        return Result(
            *(self.rules, answers, letters, form or "final", self.clock.unit),
            measure=lambda: counting.metrics(_revised(form, answers), _unreadable(letters)),
            warnings=warnings,
        )

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self.rules.description, self.rules.entities)

    @property
    def warnings(self) -> list[Diagnostic]:
        """Conditions that had no value so far: a value that is no number, a division by zero."""
        return judged(self._findings.findings(), self.rules.severities)

    @property
    def metrics(self) -> Metrics:
        """What became of the items so far, at each query time and in all."""
        revised = _revised(self.form, self.answers)
        return self._counting.metrics(revised, _unreadable(self.dead_letters))

    def save(self) -> bytes:
        """The run so far, for `horai.load_session`: rules and knowledge, but not old answers."""
        engine = saving(self._session, self.engine).save()
        sources = [(source.name, source.text) for source in self.rules.description.sources]
        settings = {
            "start": self.start,
            "window": self.window,
            "tick": self.tick,
            "allen_memory": self.allen_memory,
            "engine": self.engine,
            "unit": self.clock.unit,
            "time_in": self.clock.time_in,
            "strict": self.strict,
            "include_input": self.include_input,
            "answers": self.form,
            "incremental": self.incremental,
        }
        predicates = sorted(self.rules.predicates)
        letters = self.dead_letters
        counts = self._counting.to_state(_revised(self.form, self.answers))
        return to_bytes(Saved(sources, predicates, settings, self._last, letters, counts, engine))

    def restore(self, saved: Saved) -> None:
        """Take up a run that was saved with the same rules and settings."""
        try:
            saving(self._session, self.engine).restore(saved.engine)
        except EngineError as error:
            raise UsageError(str(error)) from error
        self._last = saved.query
        self.dead_letters = list(saved.dead_letters)
        self._counting.restore(saved.counts)

    def _wanted(self, name: str, arity: int, is_fluent: bool) -> bool:
        return self.include_input or self.rules.is_output(name, arity, is_fluent)


def _revised(form: Answers | None, answers: list[Answer]) -> list[int | None]:
    """How many answers were taken back at each query time, where changes are kept."""
    if form in (None, "changelog"):
        return [answer.revised for answer in answers]
    return [None] * len(answers)


def _unreadable(letters: list[io.DeadLetter]) -> int:
    return sum(letter.code not in OF_ENGINES for letter in letters)


Progress = Callable[[int, int], None]
"""Told of the query times that are done, and how many there are."""


class Takes(Protocol):
    """A session that goes on to a query time with more rows."""

    def take(self, until: int, tables: Sequence[io.ItemTable]) -> object:
        """The answer at `until`, with more items known than before."""


def feed(
    session: Takes,
    tables: Iterable[io.ItemTable],
    schedule: Schedule | None,
    progress: Progress | None = None,
) -> None:
    """Give a session each row once it has arrived, and ask it at the times of a schedule."""
    queries = list(schedule.queries()) if schedule else []
    arriving = by_arrival(tables, queries)
    for done, (query, arrived) in enumerate(zip(queries, arriving, strict=True), 1):
        session.take(query, arrived)
        if progress is not None:
            progress(done, len(queries))
