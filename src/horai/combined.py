"""An event description and a LARS program that read each other, run over one stream.

>>> import horai
>>> rules = horai.loads('''
...     initiatedAt(alarm(R)=true, T) :- happensAt(hot(R), T).
...     terminatedAt(alarm(R)=true, T) :- happensAt(reset(R), T).
... ''')
>>> from horai import lars
>>> program = lars.loads("hot(R) :- always heat(R) [2].")
>>> result = horai.combine(rules, program).run(
...     ["heat|1|1|k", "heat|2|2|k", "heat|3|3|k", "reset|6|6|k"], start=0, end=9
... )
>>> [(row.kind, row.name, row.start, row.end) for row in result.rows()]
[('atom', 'hot', 1, 4), ('fluent', 'alarm', 2, 7)]


Which rows of one stream an event description and a LARS program read.
Settings of a run in two languages, from what people write.
A run in two languages as bytes, and back: what each stage knows, and nothing that can run.
Runs in two languages that go on where another one ended, by way of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai import io, settings
from horai import settings as parameters
from horai.engine.deltas.store import FluentStore
from horai.engine.lars.signals import Rows
from horai.engine.packing import Packer, Unpacker
from horai.engine.saved import RECORDS
from horai.errors import UsageError
from horai.io import DeadLetter, Narrative
from horai.io.items.tables import extent
from horai.io.schema import TableKey, row_keys
from horai.lang.core.diagnostics import Diagnostic, RulesError, did_you_mean, has_errors, sort_key
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_sources
from horai.lang.ec.syntax import EventDescription
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import derived, inputs, is_made, with_rules_for_any
from horai.lang.lars.reader import read_sources as read_program
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.lars import LarsProgram, readable
from horai.plan.combined.check import check
from horai.plan.combined.exchange import Exchange, exchange
from horai.plan.combined.stages import CombinedStage, stages
from horai.plan.lars.fragments import classify
from horai.predicates import Given, collect_again
from horai.rules import Rules, checked
from horai.runtime.answers import OutputFilter, answers_named
from horai.runtime.combined.session import CombinedResult, CombinedSession
from horai.runtime.combined.stages import DescriptionStage, ProgramStage
from horai.runtime.engines import DEFAULT, ENGINES, SPARK, incremental_named
from horai.runtime.inputs import checked_clock, checked_format, read_input, time_point
from horai.runtime.lars.engines import AUTO, LARS_ENGINES, REASONING, Reasoning
from horai.runtime.lars.job import DEFAULT_CLOCK, clock_for
from horai.runtime.lars.log import numbered
from horai.runtime.lars.signals import AnySignals
from horai.runtime.saving import Saved, demand_language, from_bytes, read_saved, to_bytes, whole
from horai.session import Progress, feed
from horai.settings import RunSettings, Schedule, plan_run
from horai.tools.codes import lenient

if TYPE_CHECKING:
    from horai.runtime.combined.session import CombinedResult, CombinedSession
    from horai.session import Progress


class AllBut:
    """All keys but some."""

    def __init__(self, without: set[TableKey]) -> None:
        self.without = without

    def __contains__(self, key: object) -> bool:
        return key not in self.without


class CombinedSchema(AnySignals):
    """Rows of the description as it knows them; others are signals of the program.

    If windows count signals, rows of any name are signals; otherwise only those it knows.
    """

    everything = True

    def lookup(self, name: str) -> Sequence[io.InputType]:
        known = self.types.get(name, ())
        return known if known or not self.everything else super().lookup(name)


def schema_of(rules: Rules, program: Program) -> io.InputSchema:
    """The rows that a description and a program read from one stream."""
    known = {*inputs(program), *derived(program)}
    types = [kind for listed in rules.schema.types.values() for kind in listed]
    fluents = {(kind.name, kind.arity) for kind in types if kind.kind == "fluent"}
    fluents |= {(name, arity + 1) for name, arity in fluents}
    made = {entity.key for entity in rules.entities.outputs}
    types += [
        io.InputType(name, "event", arity)
        for name, arity in sorted(known)
        if (name, arity) not in fluents | made and not is_made(name)
    ]
    if classify(program).features & {"tuple", "partition"}:
        return CombinedSchema.of(types, rules.schema.derived)
    return io.InputSchema.of(types, rules.schema.derived)


def keys_of(schema: io.InputSchema) -> set[TableKey]:
    """The tables that rows of a schema come in."""
    return {key for types in schema.types.values() for kind in types for key in row_keys(kind)}


def engines_named(name: str) -> tuple[str, str]:
    """The engines of description and program, by one name.

    >>> engines_named("auto"), engines_named("reference"), engines_named("asp")
    (('columnar', 'auto'), ('reference', 'reference'), ('columnar', 'asp'))
    """
    known = [AUTO, *ENGINES, *(engine for engine in LARS_ENGINES if engine not in ENGINES)]
    wanted = settings.text(name, "engine", f"the engines are: {', '.join(known)}")
    if wanted == SPARK:
        hint = "leave the engine out; each language by itself has its own engines"
        raise UsageError("rules of two languages run in one process, not on Spark", hint)
    if wanted not in known:
        near = did_you_mean(wanted, known)
        hint = f"did you mean {near}?" if near else f"the engines are: {', '.join(known)}"
        raise UsageError(f"there is no engine {wanted!r} for rules of two languages", hint)
    description = wanted if wanted in ENGINES else DEFAULT
    return description, wanted if wanted in LARS_ENGINES else AUTO


def reasoning_named(given: str) -> Reasoning:
    """What counts of a program with several answers."""
    which = next((one for one in REASONING if one == given and one != "models"), None)
    if which is None:
        hint = "it is cautious (what holds in all answers) or brave (in some); answers themselves "
        hint += "are those of a run of the program alone"
        raise UsageError(f"reasoning cannot be {given!r} for rules of two languages", hint)
    return which


def incremental_of(given: str, engine: str) -> str:
    """When the description is worked out by change, if its engine can be."""
    return incremental_named(given, engines_named(engine)[0])


def names_shown(given: str | Iterable[str] | None) -> frozenset[str] | None:
    """The predicates of the program that a filter names, None for all."""
    if given is None or given == "inferences":
        return None
    listed = given.split(",") if isinstance(given, str) else list(given)
    names = frozenset(name.strip() for name in listed if name.strip())
    if not names or "none" in names:
        raise UsageError("the filter names no predicate", "write names: --filter a,b")
    return names


_ABOUT_NAMES = frozenset({"H202", "H708"})  # read, and defined by nobody: perhaps by the other one


def combine(rules: Rules, program: LarsProgram) -> CombinedRules:
    """A description and a program as one: each may read what the other derives."""
    given: tuple[object, object] = (rules, program)
    if not (isinstance(given[0], Rules) and isinstance(given[1], LarsProgram)):
        hint = "load them with horai.load and horai.lars.load: together(rules, program)"
        raise UsageError("together takes an event description and a LARS program", hint)
    return CombinedRules(rules, program)


class CombinedRules:
    """A description and a program. `check` says what is wrong between them."""

    def __init__(self, rules: Rules, program: LarsProgram) -> None:
        self.rules = rules
        self.program = program
        self.passing: Exchange = exchange(rules.entities, program.program)
        self.schema = schema_of(rules, program.program)
        self._clock = Clock.parse(DEFAULT_CLOCK)
        self._stages: list[CombinedStage] | None = None

    @property
    def stages(self) -> list[CombinedStage]:
        """The order in which both are worked out."""
        if self._stages is None:
            self._stages = stages(self.rules.description, self.program.program, self.passing)
        return self._stages

    def check(self, clock: str | None = None, unit: str | None = None) -> list[Diagnostic]:
        """All that is wrong or doubtful, of each by itself and between them."""
        met = {one.entity.name for one in self.passing.to_description}
        met |= {one.predicate[0] for one in self.passing.to_program}
        length = str(clock_for(clock, unit))
        alone = [*self.rules.warnings, *self.program.check(length)]
        kept = [one for one in alone if one.code not in _ABOUT_NAMES or _name(one) not in met]
        between = check(
            self.rules.description,
            self.rules.entities,
            self.program.program,
            self.passing,
            has_clock=clock is not None or unit is not None,
        )
        return sorted([*kept, *between], key=sort_key)

    def run(
        self,
        input: object = (),
        *,
        window: int | None = None,
        step: int | None = None,
        start: int | str | None = None,
        end: int | str | None = None,
        clock: str | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        engine: str = AUTO,
        answers: str | None = None,
        filter: str | Iterable[str] | None = None,
        input_format: str | None = None,
        strict: bool = False,
        include_input: bool = False,
        allen_memory: int | None = None,
        incremental: str = "auto",
        reasoning: str = "cautious",
        progress: Progress | None = None,
    ) -> CombinedResult:
        """Run over a whole stream.

        Settings are those of `Rules.run`: query times are start + k*step, and points after `start`
        count. At each query time both languages are worked out for the points of the window, with
        all that is known by then. `clock` is the length of a time point, for windows in seconds.
        `engine` is `auto`, `reference`, or an engine for the program. `filter` names the predicates
        of the program that are shown. Where a program has several answers, `reasoning` says what of
        it counts: what holds in all of them (`cautious`) or in some (`brave`).
        """
        times = checked_clock(unit, time_in)
        settings = RunSettings(
            window=window,
            step=step,
            start=time_point(start, times.unit, "start"),
            end=time_point(end, times.unit, "end"),
            allen_memory=allen_memory,
        )
        form = checked_format(input_format)
        self._demand_sound(clock, unit)
        narrative = read_input(input, self.schema, times, format=form, strict=strict)
        schedule = plan_run(settings, extent(narrative.tables))
        session = self.session(
            start=schedule.start if schedule else 0,
            window=window,
            clock=clock,
            unit=unit,
            time_in=time_in,
            engine=engine,
            answers=answers,
            filter=filter,
            strict=strict,
            include_input=include_input,
            allen_memory=allen_memory,
            incremental=incremental,
            reasoning=reasoning,
        )
        session.single = schedule is not None and schedule.number == 1
        feed_both(session, narrative, schedule, progress)
        return session.finish()

    def session(
        self,
        *,
        start: int = 0,
        window: int | None = None,
        clock: str | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        engine: str = AUTO,
        answers: str | None = None,
        filter: str | Iterable[str] | None = None,
        strict: bool = False,
        include_input: bool = False,
        allen_memory: int | None = None,
        incremental: str = "auto",
        reasoning: str = "cautious",
    ) -> CombinedSession:
        """A run that is fed step by step; settings are those of `run`."""
        settings = RunSettings(window=window, allen_memory=allen_memory)
        self._demand_sound(clock, unit)
        names = names_shown(filter)
        return CombinedSession(
            self,
            start=parameters.point(start, "start"),
            window=settings.window,
            engines=engines_named(engine),
            clock=checked_clock(unit, time_in),
            strict=strict,
            include_input=include_input,
            form=None if answers is None else answers_named(answers),
            allen_memory=settings.allen_memory,
            incremental=incremental_of(incremental, engine),
            names=names,
            which=reasoning_named(reasoning),
            settings={
                "start": int(start),
                "window": settings.window,
                "clock": clock,
                "unit": unit,
                "time_in": time_in,
                "engine": engine,
                "answers": answers,
                "filter": None if names is None else sorted(names),
                "strict": bool(strict),
                "include_input": bool(include_input),
                "allen_memory": settings.allen_memory,
                "incremental": incremental,
                "reasoning": reasoning,
            },
        )

    def _demand_sound(self, clock: str | None, unit: str | None) -> None:
        self._clock = clock_for(clock, unit)
        findings = self.check(clock, unit)
        if has_errors(findings):
            raise RulesError(findings)

    # --- what stages are made of -----------------------------------------------------------------

    def points(self, stage: CombinedStage) -> Program:
        """The program of a stage, with windows in time points."""
        assert isinstance(stage.rules, Program)
        return in_points(with_rules_for_any(stage.rules), self._clock)

    def rules_of(self, stage: CombinedStage) -> Rules:
        """The rules of a stage."""
        assert isinstance(stage.rules, EventDescription)
        return Rules(stage.rules, (), self.rules.predicates)

    def keys_of(self, stage: CombinedStage) -> set[TableKey]:
        """The rows of the stream that a stage of the description reads."""
        return keys_of(self.rules_of(stage).schema)

    @property
    def own_signals(self) -> AllBut:
        """The rows that the program alone reads."""
        return AllBut(keys_of(self.rules.schema))

    def wanted(self, include_input: bool) -> OutputFilter:
        """Which events and fluents belong into answers?"""
        is_output: Callable[[str, int, bool], bool] = self.rules.is_output
        return lambda name, arity, is_fluent: include_input or is_output(name, arity, is_fluent)

    def __repr__(self) -> str:
        return f"<CombinedRules of {self.rules!r} and {self.program!r}>"


def feed_both(
    session: CombinedSession,
    narrative: io.Narrative,
    schedule: Schedule | None,
    progress: Progress | None = None,
) -> None:
    """Give a session what was read, in the order of files and lines, as it arrives."""
    session.dead_letters.extend(narrative.dead_letters)
    feed(session, numbered(narrative.tables, session.taken), schedule, progress)


def _name(finding: Diagnostic) -> str:
    """The name that a finding is about."""
    if finding.source is None or finding.span is None:
        return ""
    return finding.source.snippet(finding.span).partition("(")[0].partition("=")[0].strip()


LANGUAGE = "both"
NAME = "horai program stage 2"


def save(session: CombinedSession) -> bytes:
    """All that is needed to go on."""
    both = session.both
    sources = [both.rules.description.sources, both.program.program.sources]
    parts = [_saved(stage) for stage in session.runners]
    settings = {
        "language": LANGUAGE,
        "sources": len(sources[0]),
        "parts": [len(part) for part in parts],
        "taken": session.taken,
        "waiting": [(time, tuple(letter)) for time, letter in session.ahead()],
        **session.settings,
    }
    return to_bytes(
        Saved(
            [(source.name, source.text) for some in sources for source in some],
            sorted(both.rules.predicates),
            settings,
            session.last,
            session.letters(),
            session.counting.to_state([answer.revised for answer in session.answers]),
            b"".join(parts),
        )
    )


def _saved(stage: ProgramStage | DescriptionStage) -> bytes:
    if isinstance(stage, DescriptionStage):
        return stage.session.save()
    state = {
        "last": stage.last,
        "signals": {key: tuple(rows) for key, rows in stage.log.rows.items()},
        "feeds": {key: store.public() for key, store in stage.feeds.items()},
        "said": {key: store.public() for key, store in stage.stores.items()},
        "unanswered": list(stage.unanswered),
    }
    return Packer(stage.symbols, RECORDS).bytes(NAME, state)


def load_combined(saved: bytes, predicates: Given = None) -> CombinedSession:
    """The session that `TogetherSession.save` saved, with its rules, ready to go on.

    Python predicates are not saved; give them again. Bytes are data only: nothing in them runs.
    """
    found = from_bytes(saved)
    demand_language(found, LANGUAGE)
    functions = collect_again(predicates, found.predicates, "load_combined")
    with whole():
        return _restored(found, functions)


def _restored(found: Saved, functions: dict[str, Any]) -> CombinedSession:
    settings = dict(found.settings)
    del settings["language"]
    number, lengths = settings.pop("sources"), settings.pop("parts")
    taken, waiting = settings.pop("taken"), settings.pop("waiting")
    sources = [SourceText(name, text) for name, text in found.sources]
    rules = checked(*read_sources(sources[:number]), functions, lenient())
    both: CombinedRules = combine(rules, readable(*read_program(sources[number:])))
    session = both.session(**settings)
    session.last, session.taken = found.query, taken
    session.dead_letters = list(found.dead_letters)
    session.waiting = [(time, DeadLetter(*letter)) for time, letter in waiting]
    session.counting.restore(found.counts)
    place = 0
    for stage, length in zip(session.runners, lengths, strict=True):
        _restore(stage, found.engine[place : place + length])
        place += length
    return session


def _restore(stage: ProgramStage | DescriptionStage, data: bytes) -> None:
    if isinstance(stage, DescriptionStage):
        stage.session.restore(from_bytes(data))
        stage.session.dead_letters.clear()  # the session of both has them
        return
    state = Unpacker(NAME, data, stage.symbols, RECORDS).whole()
    stage.last = state["last"]
    stage.log.rows = {key: Rows(*rows) for key, rows in state["signals"].items()}
    stage.feeds = {key: FluentStore(one, stage.symbols) for key, one in state["feeds"].items()}
    stage.stores = {key: FluentStore(one, stage.symbols) for key, one in state["said"].items()}
    stage.unanswered = [(start, end) for start, end in state["unanswered"]]
    stage.is_restored = True


_FREE = frozenset({"strict", "time_in"})
"""Settings that may be others each time."""


def run_on(
    both: CombinedRules,
    path: Path,
    input: object,
    *,
    step: int | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    input_format: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> CombinedResult:
    """Run over rows that are new, and save in a file what it takes to go on, as `run` does.

    If the file is there, the run goes on after the last query time of the one that saved it.
    """
    times = checked_clock(settings.get("unit"), settings.get("time_in"))
    first, last = (time_point(t, times.unit, n) for t, n in ((start, "start"), (end, "end")))
    form = checked_format(input_format)
    found = _both_state_restored(both, path, first, settings) if path.exists() else None
    strict = bool(settings.get("strict"))
    narrative = read_input(input, both.schema, times, format=form, strict=strict)
    if found is not None:
        first = found.last
        _demand_later(path, first, last, narrative)
    schedule = plan_run(
        RunSettings(window=settings.get("window"), step=step, start=first, end=last),
        extent(narrative.tables),
    )
    session = found or both.session(start=_start(schedule), **settings)
    feed_both(session, narrative, schedule, progress)
    part = path.with_name(path.name + ".part")
    part.write_bytes(session.save())
    part.replace(path)  # so that it is never there in part
    return session.finish(ended=False)


def _start(schedule: Schedule | None) -> int:
    return 0 if schedule is None else schedule.start


def _both_state_restored(
    both: CombinedRules, path: Path, start: int | None, settings: dict[str, Any]
) -> CombinedSession:
    """The session that a file has, if it is one of these rules and settings."""
    session = read_saved(path, partial(load_combined, predicates=both.rules.predicates))
    if _texts(session.both) != _texts(both):
        hint = f"use the rules it was saved with, or another file than {path}"
        raise UsageError(f"{path} was saved by a run of other rules", hint)
    asked = both.session(start=session.start, **settings).settings
    for name in settings.keys() & asked.keys() - _FREE:
        if asked[name] != session.settings[name]:
            said = "no" if session.settings[name] is None else session.settings[name]
            problem = f"{path} was saved with {said} as {name.replace('_', '-')}"
            raise UsageError(problem, "leave the option out, or begin another file")
    if start is not None and start != session.start:
        problem = f"{path} goes on after {session.last}: a start makes no sense"
        raise UsageError(problem, "leave out the start")
    return session


def _demand_later(path: Path, last: int, end: int | None, narrative: Narrative) -> None:
    covers = extent(narrative.tables)
    until = end if end is not None or covers is None else covers[1]
    if until is None or until <= last:
        said = "there are no rows" if until is None else f"this run ends at {until}"
        hint = "give rows that are later, or a later end"
        raise UsageError(f"{path} goes on after {last}, and {said}", hint)


def _texts(both: CombinedRules) -> list[list[str]]:
    sources = (both.rules.description.sources, both.program.program.sources)
    return [[source.text for source in some] for some in sources]
