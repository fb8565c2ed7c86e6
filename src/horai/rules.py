"""Rules: loaded, checked, and ready to run over a stream.

They are event descriptions of the Event Calculus, LARS programs, or both combined, which read each
other.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from horai import io
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.io.items.tables import extent
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors, sort_key
from horai.lang.core.reader import clean
from horai.lang.core.source import SourceText
from horai.lang.core.terms import parameter_count
from horai.lang.ec.reader import read_files
from horai.lang.ec.syntax import EventDescription
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import background as background_of
from horai.lang.lars.predicates import derived, inputs, is_made, with_rules_for_any
from horai.lang.lars.reader import read_files as read_programs
from horai.lang.lars.reader import read_sources as read_program
from horai.lang.lars.syntax import Predicate as LarsPredicate
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.plan.check import check
from horai.plan.combined.check import check as check_between
from horai.plan.combined.stages import CombinedStage, Exchange, exchange, stages
from horai.plan.ec.entities import Entities, find_entities
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.rule_order import computed
from horai.plan.lars.check import check as check_program
from horai.plan.lars.fragments import Classification, classify
from horai.predicates import Given, Predicate, collect, collect_again
from horai.result import Result
from horai.runtime.checkpoint import write_whole
from horai.runtime.engines import SPARK, engine_named
from horai.runtime.inputs import (
    DEFAULT_CLOCK,
    clock_for,
    clock_of,
    files_of,
    input_schema,
    read_input,
)
from horai.runtime.lars.engines import EngineChoice, choose_engine
from horai.runtime.lars.session import Progress
from horai.runtime.lars.signals import AnySignals
from horai.session import Session, from_bytes, read_saved, schedule_of, whole
from horai.settings import Language, RunSettings, Schedule, flag, function
from horai.settings import text as text_of
from horai.tools.codes import Severities, checked_severities, judged, lenient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.plan.program import Plan
    from horai.report.graph import ShownGraph
    from horai.report.plan import ShownPlan
    from horai.runtime.lars.outline import LarsOutline
    from horai.runtime.spark.batch import SparkAnswers
    from horai.runtime.spark.streaming import Streaming
    from horai.tools.tune import Tuning


PathLike = str | os.PathLike[str]
_ABOUT_NAMES = frozenset({"H202", "H708"})  # read, and defined by nobody: perhaps by the other one


class Rules:
    """Rules of one language or of both: `ec`, `lars` or `combined`.

    An event description has passed all checks; what is wrong with a program depends on the clock,
    so a run says it. `schema` says which rows the rules read.
    """

    def __init__(
        self,
        description: EventDescription | None = None,
        warnings: Iterable[Diagnostic] = (),
        predicates: dict[str, Predicate] | None = None,
        severities: Severities | None = None,
        program: Program | None = None,
    ) -> None:
        self.language: Language = "ec"
        if program is not None:
            self.language = "lars" if description is None else "combined"
        self.description = description or EventDescription()
        self.program = program or Program(())
        self.predicates = predicates or {}
        self.severities = severities or {}  # as chosen, of findings of a run too
        self.entities: Entities = find_entities(self.description)
        self._warnings = list(warnings)  # of the description

    @cached_property
    def schema(self) -> io.InputSchema:
        """The rows that the rules read."""
        if self.language == "lars":
            return AnySignals.known(inputs(self.program))
        own = input_schema(self.description, self.entities)
        return own if self.language == "ec" else _combined_schema(own, self.entities, self.program)

    @property
    def sources(self) -> dict[str, list[tuple[str, str]]]:
        """Names and texts of the rules of each language."""
        found = {"ec": self.description.sources, "lars": self.program.sources}
        return {
            language: [(source.name, source.text) for source in some]
            for language, some in found.items()
            if some
        }

    # --- what is wrong, and how they are worked out ----------------------------------------------

    @property
    def warnings(self) -> list[Diagnostic]:
        """The findings that do not stop a run."""
        if self.language == "ec":
            return self._warnings
        return [one for one in self.check() if not has_errors([one])]

    def check(self, clock: str | None = None, unit: str | None = None) -> list[Diagnostic]:
        """All that is wrong or doubtful when a time point is as long as the clock says."""
        if self.language == "ec":
            return self._warnings
        length = clock_for(clock, unit)
        found = check_program(self.program, length)
        if self.language == "combined":
            met = {one.entity.name for one in self.passing.to_description}
            met |= {one.predicate[0] for one in self.passing.to_program}
            alone = [*self._warnings, *found]
            found = [one for one in alone if one.code not in _ABOUT_NAMES or _name(one) not in met]
            parts = (self.description, self.entities, self.program, self.passing)
            found += check_between(*parts, has_clock=clock is not None or unit is not None)
        return judged(sorted(found, key=sort_key), self.severities)

    def sound_clock(self, clock: str | None, unit: str | None) -> Clock:
        """The length of a time point; raises `RulesError` if the rules are wrong for it."""
        findings = self.check(clock, unit)
        if has_errors(findings):
            raise RulesError(findings)
        return clock_for(clock, unit)

    def in_points(self, clock: str | None = None, unit: str | None = None) -> Program:
        """The program with its windows in time points; raises `RulesError`."""
        found = self.sound_clock(clock, unit)
        return in_points(with_rules_for_any(self.program), found)

    @property
    def classification(self) -> Classification:
        """Which fragment the program is in, and what it uses."""
        return classify(self.program)

    @property
    def predicates_of_program(self) -> set[LarsPredicate]:
        """The predicates that the program speaks of."""
        return derived(self.program) | inputs(self.program) | background_of(self.program)

    def engine(self, clock: str = DEFAULT_CLOCK) -> EngineChoice:
        """The engine that `auto` takes for a program, and the reasons against those before it."""
        clock_of(clock)
        return choose_engine(self.in_points(clock))[0]

    def outline(self, clock: str | None = None, unit: str | None = None) -> LarsOutline:
        """How the program is worked out, for `horai plan`; raises `RulesError`."""
        from horai.runtime.lars.outline import outline_of

        points = self.in_points(clock, unit)
        return outline_of(points, in_points(self.program, clock_for(clock, unit)))

    def plan(self, clock: str | None = None, unit: str | None = None) -> ShownPlan:
        """How the rules are worked out; notebooks show it, and `to_dict` gives plain values."""
        from horai.report.plan import (
            ShownPlan,
            outline_json,
            outline_lines,
            plan_json,
            plan_lines,
        )

        if self.language == "ec":
            found = plan_json(self.compiled)
            return ShownPlan(found, (line.plain for line in plan_lines(found)))
        self._alone("have no common plan")
        outlined = self.outline(clock, unit)
        return ShownPlan(outline_json(outlined), outline_lines(outlined))

    @cached_property
    def compiled(self) -> Plan:
        """The plan of a description, as engines take it."""
        from horai.plan.pipeline import compile_program

        return compile_program(self.description, _python(self.predicates))

    def graph(self, *, inputs: bool = False) -> ShownGraph:
        """What depends on what, as a picture in notebooks; `inputs` draws what comes in, too."""
        from horai.plan.lars.dependencies import readings_of
        from horai.report.graph import ShownGraph, dependency_graph, program_graph

        if self.language == "ec":
            return ShownGraph(dependency_graph(self.description, inputs))
        self._alone("are drawn apart")
        return ShownGraph(program_graph(readings_of(self.program, inputs)))

    def _alone(self, problem: str) -> None:
        if self.language == "combined":
            raise UsageError(f"rules of two languages {problem}", "load those of one of them")

    @cached_property
    def passing(self) -> Exchange:
        """What passes between description and program."""
        return exchange(self.entities, self.program)

    @cached_property
    def stages(self) -> list[CombinedStage]:
        """The order in which description and program are worked out."""
        return stages(self.description, self.program, self.passing)

    # --- runs ------------------------------------------------------------------------------------

    def run(
        self,
        input: object = (),
        *,
        progress: Progress | None = None,
        profile: Profile | None = None,
        revisable: bool = False,
        **settings: Any,
    ) -> Result:
        """Run over a whole stream.

        `input` is a path or several, narrative text or lines, dicts, an Arrow table or a data
        frame. `settings` are those of `horai.settings.RunSettings`, as the page on Python lists
        them. Query times are start + k*step, the last one clipped to `end`; those of a LARS program
        begin at `start`. Without `start` and `end` the run covers the input. With the engine
        `spark`, `master` says where Spark runs and `buckets` in how many parts entities are split.
        `progress(done, all)` is called after each query; `profile` is filled with what rules cost
        on the compiled engine. The result of a `revisable` run keeps the
        engine, if it can: then `what_if` and `why_not` work out only what other rows change.

        >>> from horai import loads
        >>> rules = loads("initiatedAt(on=true, T) :- happensAt(up, T).")
        >>> rules.run(["up|5|5"]).holds_for("on=true")
        [(6, inf)]
        """
        asked = RunSettings.of(self.language, "run", settings)
        if asked.engine == SPARK and self.language != "combined":
            from horai.runtime.spark.batch import run

            return run(self, input, asked)
        if progress is not None:
            function(progress, "progress")
        if self.language == "ec":
            engine_named(asked.engine)  # what is wrong is told before the input is read
        revisable = flag(revisable, "revisable")
        narrative = self.read(input, asked)
        schedule = schedule_of(asked, narrative)
        start = asked.start if schedule is None else schedule.start
        session = Session(
            self,
            replace(asked, start=start),
            profile=profile,
            archive=True,  # a result can be asked about all of the run
            single=isinstance(schedule, Schedule) and len(schedule.queries) == 1,
            revisable=revisable,
        )
        return session.run(narrative, files_of(input), schedule, progress)

    def read(self, input: object, asked: RunSettings) -> io.Narrative:
        """The input of a run; items are derived from positions where it has these."""
        if asked.positions is not None:
            from horai.runtime.jobs import derived_items

            return derived_items(input, asked)
        return read_input(
            input,
            self.schema,
            asked.scale,
            format=asked.input_format,
            strict=asked.strict,
            columns=asked.columns,
        )

    def session(self, **settings: Any) -> Session:
        """A run that is fed step by step.

        With the setting `answers` the session keeps only that form of answer of earlier query
        times; a run that goes on for long then needs no more memory than its rows. With `windows`
        or `changelog` there is no `final` answer then.

        >>> from horai import loads
        >>> rules = loads("initiatedAt(on=true, T) :- happensAt(up, T).")
        >>> session = rules.session(start=0, window=10)
        >>> session.advance(10, ["up|5|5"]).spans
        [AnswerRow(kind='fluent', name='on', args=(), value='true', start=6, end=None, ...)]
        """
        return Session(self, RunSettings.of(self.language, "session", settings))

    def run_on(
        self,
        path: Path,
        input: object,
        *,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Result:
        """Run over rows that are new, and save in a file what it takes to go on, as `run` does.

        It is for rules of two languages. If the file is there, the run goes on after the last query
        time of the one that saved it.
        """
        if self.language != "combined":
            hint = "feed a session, and save it: session.save()"
            raise UsageError("rules of one language do not run on from a file", hint)
        asked = RunSettings.of(self.language, ("live", "run"), settings)
        session = taken_up(self, path, asked, settings) if path.exists() else None
        narrative = self.read(input, asked)
        if session is not None:
            last = session.start if session.last is None else session.last
            _demand_later(path, last, asked.end, narrative)
            asked = replace(asked, start=last)
        schedule = schedule_of(asked, narrative)
        if session is None:
            start = asked.start if schedule is None else schedule.start
            session = Session(self, replace(asked, start=start))
        result = session.run(narrative, files_of(input), schedule, progress, ended=False)
        write_whole(path, session.save())
        return result

    def spark(
        self,
        input: object,
        *,
        session: SparkSession | None = None,
        **settings: Any,
    ) -> SparkAnswers:
        """Run on Spark and leave the answers there, as data frames: spans, events, dead letters.

        `input` is a data frame of Spark, or whatever `run` takes; `settings` are those of `run`. Of
        the forms of `answers` one is worked out, `final` without any. The session is that of the
        data frame, the active one, or a new one with `master`.
        """
        from horai.runtime.spark.batch import frames_of

        asked = RunSettings.of(self.language, "spark", settings)
        return frames_of(self, input, asked, session=session)

    def stream(
        self,
        source: object,
        *,
        sink: object,
        checkpoint: PathLike,
        session: SparkSession | None = None,
        **settings: Any,
    ) -> Streaming:
        """Start a stream on Spark: items in as they come, changes of the answers out.

        `source` is a streaming data frame with columns named as in a CSV file, or the name of a
        source such as `csv:FOLDER`; `sink` is one of them or a list, such as `parquet:FOLDER`. In
        the folder `checkpoint` the stream keeps its state, and goes on from there when it is
        started again. A query time is asked once an item has arrived that is later by more than
        `watermark_delay`. Rows that name times more than `future_skew` after now are dead letters:
        it takes a unit. `trigger` is how often Spark looks for items, or `available-now` to read
        all there is and end. `settings` are those of `run` that are about time and input.
        """
        from horai.runtime.spark.streaming import start

        return start(self, source, sink=sink, checkpoint=checkpoint, session=session, **settings)

    def tune(
        self,
        input: object,
        *,
        windows: Sequence[int] | None = None,
        step: int | None = None,
        max_loss: float = 0.01,
        progress: Progress | None = None,
        **settings: Any,
    ) -> Tuning:
        """Try windows on a sample of a stream: what does each of them lose?

        Every window is compared with one over everything. Without `windows` some are taken from
        how late items are; without `step` a run has a hundred query times. Recommended is the
        shortest that loses no more than `max_loss` of the items and of the answers. `settings` are
        those of `run` that are about the input, the time and the engine.

        >>> from horai import loads
        >>> rules = loads("initiatedAt(on=true, T) :- happensAt(up, T).")
        >>> rules.tune(["up|5|5", "up|40|21", "up|90|90"], step=10).recommended
        30
        """
        from horai.tools.tune import tune

        asked: dict[str, Any] = {"windows": windows, "step": step, "max_loss": max_loss}
        return tune(self, input, progress=progress, **asked, **settings)

    def is_output(self, name: str, arity: int, is_fluent: bool) -> bool:
        """Is the event or fluent defined by rules?"""
        table = self.entities.fluents if is_fluent else self.entities.events
        entity = table.get((name, arity))
        return entity is not None and not entity.is_input

    def again(self, texts: Iterable[tuple[str, str]]) -> Rules:
        """The rules of other texts, with the same Python predicates."""
        return rules_of(texts, self.predicates)

    def __repr__(self) -> str:
        atoms = sorted(f"{name}/{arity}" for name, arity in derived(self.program))
        outputs = ", ".join([*map(str, self.entities.outputs), *atoms])
        return f"<Rules for {outputs or 'nothing'}>"


# --- what combined rules read ---------------------------------------------------------------------


class CombinedSchema(AnySignals):
    """Rows of the description as it knows them; rows of any other name are signals."""

    def lookup(self, name: str) -> Sequence[io.InputType]:
        return self.types.get(name, ()) or super().lookup(name)


def _combined_schema(own: io.InputSchema, entities: Entities, program: Program) -> io.InputSchema:
    """The rows that a description and a program read from one stream."""
    known = {*inputs(program), *derived(program)}
    types = [kind for listed in own.types.values() for kind in listed]
    fluents = {(kind.name, kind.arity) for kind in types if kind.kind == "fluent"}
    fluents |= {(name, arity + 1) for name, arity in fluents}
    made = {entity.key for entity in entities.outputs}
    types += [
        io.InputType(name, "event", arity)
        for name, arity in sorted(known)
        if (name, arity) not in fluents | made and not is_made(name)
    ]
    if classify(program).features & {"tuple", "partition"}:
        return CombinedSchema.of(types, own.derived)
    return io.InputSchema.of(types, own.derived)


def _name(finding: Diagnostic) -> str:
    """The name that a finding is about."""
    if finding.source is None or finding.span is None:
        return ""
    return finding.source.snippet(finding.span).partition("(")[0].partition("=")[0].strip()


# --- loading --------------------------------------------------------------------------------------

SUFFIX = ".lars"
"""How the names of files of LARS programs end; all others are of the Event Calculus."""


def load(
    paths: PathLike | Iterable[PathLike],
    background: PathLike | Iterable[PathLike] = (),
    predicates: Given = None,
    severity: Severities | None = None,
) -> Rules:
    """Read and check rules from files. Those that end in `.lars` are LARS programs.

    Files of both languages become combined rules. `background` are files of facts and helper rules.
    `predicates` are Python functions that rules may call, by name or as a list. All that is wrong
    is raised at once as `RulesError`; `severity` makes findings of a code an `error`, a `warning`,
    or turns them `off`: {"H206": "off"}.
    """
    files, more = _paths(paths), _paths(background)
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    (programs, others), (facts, helpers) = _parted(files), _parted(more)
    functions, levels = collect(predicates), checked_severities(severity)
    if not programs:
        if facts:
            hint = "name both as rules, horai.load([RULES, PROGRAM]), or use horai.combine"
            raise UsageError(f"{facts[0]}: a LARS program is no background of other rules", hint)
        return checked(*read_files(others, more), functions, levels)
    if not others:
        return readable(*read_programs([*programs, *more]), levels)
    found: list[Rules] = []
    wrong: list[Diagnostic] = []
    read: list[Callable[[], Rules]] = [
        lambda: checked(*read_files(others, helpers), functions, levels),
        lambda: readable(*read_programs([*programs, *facts]), levels),
    ]
    for one in read:
        try:
            found.append(one())
        except RulesError as error:
            wrong += error.diagnostics
    if wrong:
        raise RulesError(wrong)
    return combine(*found)


def loads(
    text: str,
    background: str = "",
    *,
    language: str = "ec",
    predicates: Given = None,
    severity: Severities | None = None,
) -> Rules:
    """Read and check rules from text, of the Event Calculus or, with `language="lars"`, of LARS.

    >>> loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    <Rules for on/0>
    >>> loads("h :- b [2 s].", language="lars")
    <Rules for h/0>
    """
    hint = "to read files, use horai.load"
    sources = [SourceText("<rules>", clean(text_of(text, "rules", hint)))]
    if background:
        more = text_of(background, "background", hint)
        sources.append(SourceText("<background>", clean(more)))
    functions, levels = collect(predicates), checked_severities(severity)
    if language == "lars":
        return readable(*read_program(sources), levels)
    if language != "ec":
        hint = "combined rules are horai.combine(rules, program)"
        raise UsageError(f"a text is of the language ec or lars, not {language!r}", hint)
    return checked(*read_files(sources), functions, levels)


def combine(rules: Rules, program: Rules) -> Rules:
    """A description and a program as one: each may read what the other derives."""
    given: tuple[object, object] = (rules, program)
    said = [one.language if isinstance(one, Rules) else None for one in given]
    if said != ["ec", "lars"]:
        hint = "load them with horai.load: horai.combine(rules, program)"
        raise UsageError("combine takes an event description and a LARS program", hint)
    severities = {**program.severities, **rules.severities}
    parts = (rules.description, rules.warnings, rules.predicates, severities)
    return Rules(*parts, program=program.program)


def load_session(saved: bytes, predicates: Given = None) -> Session:
    """The session that `Session.save` saved, with its rules, ready to go on.

    Python predicates are not saved; give them again. Bytes are data only: nothing in them runs.
    """
    found = from_bytes(saved)
    functions = collect_again(predicates, found.predicates, "load_session")
    with whole():
        texts = found.sources
        if "lars" not in texts:
            rules = rules_of(texts["ec"], functions)
        else:
            rules = readable(*read_program(starmap(SourceText, texts["lars"])))
            if "ec" in texts:
                rules = combine(rules_of(texts["ec"], functions), rules)
        session = rules.session(**found.settings)
        session.restore(found)
        return session


_FREE = frozenset({"strict", "time_in", "start", "end", "step", "input_format", "answers"})
"""Settings that may be others each time; the step is one of LARS programs only."""


def taken_up(rules: Rules, path: Path, asked: RunSettings, given: Iterable[str]) -> Session:
    """The session that a file has, if it is one of these rules and of the settings given."""
    session = read_saved(path, partial(load_session, predicates=rules.predicates))
    texts = [
        [[text for _, text in some] for some in one.sources.values()]
        for one in (rules, session.rules)
    ]
    if texts[0] != texts[1] or rules.language != session.rules.language:
        hint = f"use the rules it was saved with, or another file than {path}"
        raise UsageError(f"{path} was saved by a run of other rules", hint)
    fixed = set(given) - (_FREE - {"step"} if rules.language == "lars" else _FREE)
    for name in sorted(fixed - {"state", "live", "real_time", "output_every"}):
        was = getattr(session.settings, name)
        if getattr(asked, name) != was and not (name == "engine" and asked.engine == "auto"):
            said = "no" if was is None else was
            problem = f"{path} was saved with {said} as {name.replace('_', '-')}"
            raise UsageError(problem, "leave the option out, or begin another file")
    if asked.start is not None and asked.start != session.start:
        goes_on = f"at {session.next}" if rules.language == "lars" else f"after {session.last}"
        raise UsageError(f"{path} goes on {goes_on}: a start makes no sense", "leave out --start")
    return session


def _demand_later(path: Path, last: int, end: int | None, narrative: io.Narrative) -> None:
    covers = extent(narrative.tables)
    until = end if end is not None or covers is None else covers[1]
    if until is None or until <= last:
        said = "there are no rows" if until is None else f"this run ends at {until}"
        hint = "give rows that are later, or a later end"
        raise UsageError(f"{path} goes on after {last}, and {said}", hint)


def rules_of(texts: Iterable[tuple[str, str]], predicates: dict[str, Predicate]) -> Rules:
    """An event description from names and texts that somebody has let pass before."""
    return checked(*read_files(starmap(SourceText, texts)), predicates, lenient())


def checked(
    description: EventDescription,
    findings: list[Diagnostic],
    predicates: dict[str, Predicate],
    severities: Severities | None = None,
) -> Rules:
    """Rules from a description, or `RulesError` with all that is wrong."""
    found = all_findings(description, findings, predicates)
    told = judged(found, severities or {})
    if has_errors(told):
        raise RulesError(told)
    if any(finding.code == "H314" for finding in found):
        description = computed(description, _python(predicates))
    return Rules(description, told, predicates, severities)


def readable(
    program: Program, findings: list[Diagnostic], severities: Severities | None = None
) -> Rules:
    """Rules from a program that could be read, or `RulesError` with all that is wrong."""
    if has_errors(findings):
        # What the checks find in the rules that could be read is worth knowing, too.
        raise RulesError([*findings, *check_program(program, Clock.parse(DEFAULT_CLOCK))])
    return Rules(severities=severities, program=program)


class Examined(NamedTuple):
    """Rules as far as they can be read, and all that is wrong with them."""

    rules: Rules
    findings: list[Diagnostic]
    is_sound: bool  # else what they say to each other is not known
    is_readable: bool  # what is wrong, if anything, is not how they are written


def examined(
    files: Sequence[Path],
    background: Sequence[Path] = (),
    predicates: dict[str, Predicate] | None = None,
    severity: Severities | None = None,
    timed: tuple[str | None, str | None] = (None, None),
    unsaved: Mapping[Path, str] | None = None,
) -> Examined:
    """Rules for those who look at them as they are written, sound or not: `timed` by clock or unit.

    Files may be `unsaved`: their texts count, not the disk.
    """
    programs, others = _parted(files)
    facts, helpers = _parted(background) if programs and others else (background, background)
    description, program, functions = None, None, predicates or {}
    findings: list[Diagnostic] = []
    wrong: list[Diagnostic] = []  # with how they are written
    if others:
        description, wrong = read_files(others, helpers, unsaved)
        findings += all_findings(description, wrong, functions)
    if programs:
        program, read = read_programs([*programs, *facts], unsaved)
        findings, wrong = [*findings, *read], [*wrong, *read]
    rules, is_sound = (
        Rules(description, findings, functions, None, program),
        not has_errors(findings),
    )
    if others and programs and is_sound:
        # What either says of names that the other defines is taken back.
        findings = rules.check(*timed)
    elif program is not None:
        findings += Rules(program=program).check(*timed)
    told = judged(sorted(findings, key=sort_key), severity or {})
    return Examined(rules, told, is_sound, not has_errors(wrong))


def all_findings(
    description: EventDescription, findings: list[Diagnostic], predicates: dict[str, Predicate]
) -> list[Diagnostic]:
    """What reading found and what the checks of the plan find, in the order of the text."""
    found = check(description, _python(predicates), findings)
    return sorted([*findings, *found], key=sort_key)


def _python(predicates: dict[str, Predicate]) -> list[PythonPredicate]:
    return [
        PythonPredicate(name, parameter_count(function)) for name, function in predicates.items()
    ]


def _parted(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files of LARS programs, and the others."""
    programs = [path for path in paths if path.suffix.lower() == SUFFIX]
    return programs, [path for path in paths if path not in programs]


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    if isinstance(given, str | os.PathLike):
        return [Path(given)]
    try:
        return [Path(path) for path in given]
    except TypeError:
        hint = "name a file or several; for rules as text there is horai.loads"
        raise UsageError("this names no file of rules", hint) from None
