"""Rules: loaded, checked, and ready to run over a stream.

Rules from files, from text and from saved sessions, with all that is wrong told at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai import settings
from horai import settings as parameters
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.io.items.tables import extent
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors, sort_key
from horai.lang.core.reader import clean
from horai.lang.core.source import SourceText
from horai.lang.core.values import parameter_count
from horai.lang.ec.reader import read_files, read_sources
from horai.lang.ec.syntax import EventDescription
from horai.plan.check import check
from horai.plan.ec.entities import Entities, find_entities
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.ungrounded import computed
from horai.predicates import Given, Predicate, collect, collect_again
from horai.result import Result
from horai.runtime.answers import answers_named
from horai.runtime.engines import DEFAULT, SPARK, engine_named, incremental_named
from horai.runtime.inputs import (
    InputColumns,
    checked_clock,
    checked_format,
    input_schema,
    read_input,
    time_point,
)
from horai.runtime.saving import demand_language, from_bytes, whole
from horai.session import Progress, Session, feed
from horai.settings import RunSettings, plan_run
from horai.tools.codes import Severities, checked_severities, judged, lenient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.runtime.spark.batch import SparkAnswers
    from horai.runtime.spark.streaming import Streaming
    from horai.tools.tune import Tuning


PathLike = str | os.PathLike[str]


class Rules:
    """An event description that has passed all checks.

    `warnings` are the findings that do not stop a run; `schema` says which rows the rules read.
    """

    def __init__(
        self,
        description: EventDescription,
        warnings: Iterable[Diagnostic] = (),
        predicates: dict[str, Predicate] | None = None,
        severities: Severities | None = None,
    ) -> None:
        self.description = description
        self.warnings = list(warnings)
        self.predicates = predicates or {}
        self.severities = severities or {}  # as chosen, of findings of a run too
        self.entities: Entities = find_entities(description)
        self.schema = input_schema(description, self.entities)

    def run(
        self,
        input: object,
        *,
        window: int | None = None,
        step: int | None = None,
        start: int | str | None = None,
        end: int | str | None = None,
        tick: int = 1,
        engine: str = DEFAULT,
        answers: str | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        input_format: str | None = None,
        strict: bool = False,
        allen_memory: int | None = None,
        include_input: bool = False,
        incremental: str = "auto",
        progress: Progress | None = None,
        profile: Profile | None = None,
        master: str | None = None,
        buckets: int | None = None,
        columns: InputColumns | None = None,
    ) -> Result:
        """Run over a whole stream.

        `input` is a path or several, narrative text or lines, dicts, an Arrow table or a data
        frame. Query times are start + k*step, the last one clipped to `end`. Without `window` all
        of the past counts; without `step` it is the window; without `start` and `end` the run
        covers the input. `unit` is the length of a time-point and `time_in` the unit of epoch times
        in the input. `answers` is the form of answer that `Result.rows()` gives, and then the only
        one that is kept; without it that is `final`, and all forms are kept. With `strict` the
        first bad row raises `InputError`. `incremental` says when windows that overlap are worked
        out by what has changed: `auto` where that pays, `always` where it can be, or `never`.
        `progress(done, all)` is called after each query; `profile` is filled with what the columnar
        engine did and how long it took. With the engine `spark`, `master` says where Spark runs and
        `buckets` in how many parts entities are split; it takes neither progress nor profile.
        `columns` names the columns that are arguments of a type: {"speed": ["vessel", "knots"]};
        `time:when` in such a list says that the time is in the column when.

        >>> from horai import loads
        >>> rules = loads("initiatedAt(on=true, T) :- happensAt(up, T).")
        >>> rules.run(["up|5|5"]).holds_for("on=true")
        [(6, inf)]
        """
        if engine == SPARK:
            if columns:
                hint = "rename the columns of the data frame, or use the engine columnar"
                raise UsageError("columns cannot be chosen on Spark", hint)
            from horai.runtime.spark.batch import run

            return run(
                self,
                input,
                master=master,
                buckets=buckets,
                window=window,
                step=step,
                start=start,
                end=end,
                tick=tick,
                answers=answers,
                unit=unit,
                time_in=time_in,
                input_format=input_format,
                strict=strict,
                allen_memory=allen_memory,
                include_input=include_input,
                incremental=incremental,
            )
        if master is not None or buckets is not None:
            name = "master" if master is not None else "buckets"
            raise UsageError(f"{name} is about runs on Spark", "add engine='spark'")
        form = None if answers is None else answers_named(answers)
        clock = checked_clock(unit, time_in)
        engine_named(engine)
        incremental_named(incremental, engine)
        if progress is not None:
            parameters.function(progress, "progress")
        settings = RunSettings(
            window=window,
            step=step,
            start=time_point(start, clock.unit, "start"),
            end=time_point(end, clock.unit, "end"),
            tick=tick,
            allen_memory=allen_memory,
        )
        narrative = read_input(
            input,
            self.schema,
            clock,
            format=checked_format(input_format),
            strict=strict,
            columns=columns,
        )
        schedule = plan_run(settings, extent(narrative.tables))
        session = Session(
            self,
            start=schedule.start if schedule else 0,
            window=settings.window,
            tick=settings.tick,
            allen_memory=settings.allen_memory,
            engine=engine,
            clock=clock,
            include_input=include_input,
            answers=form,
            profile=profile,
            archive=True,  # a result can be asked about all of the run
            incremental=incremental,
        )
        session.dead_letters.extend(narrative.dead_letters)
        session.empty = narrative.empty
        feed(session, narrative.tables, schedule, progress)
        return session.finish()

    def session(
        self,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        engine: str = DEFAULT,
        unit: str | None = None,
        time_in: str | None = None,
        strict: bool = False,
        allen_memory: int | None = None,
        include_input: bool = False,
        answers: str | None = None,
        incremental: str = "auto",
    ) -> Session:
        """A run that is fed step by step.

        With `answers` the session keeps only that form of answer of earlier query times; a run
        that goes on for long then needs no more memory than its rows. With `windows` or
        `changelog` there is no `final` answer then. `incremental` is that of `run`.

        >>> from horai import loads
        >>> rules = loads("initiatedAt(on=true, T) :- happensAt(up, T).")
        >>> session = rules.session(start=0, window=10)
        >>> session.advance(10, ["up|5|5"]).spans
        [AnswerRow(kind='fluent', name='on', args=(), value='true', start=6, end=None, ...)]
        """
        settings = RunSettings(window=window, tick=tick, allen_memory=allen_memory)
        return Session(
            self,
            start=parameters.point(start, "start"),
            window=settings.window,
            tick=settings.tick,
            allen_memory=settings.allen_memory,
            engine=engine,
            clock=checked_clock(unit, time_in),
            strict=strict,
            include_input=include_input,
            answers=None if answers is None else answers_named(answers),
            incremental=incremental,
        )

    def spark(
        self,
        input: object,
        *,
        session: SparkSession | None = None,
        master: str | None = None,
        buckets: int | None = None,
        **settings: Any,
    ) -> SparkAnswers:
        """Run on Spark and leave the answers there, as data frames: spans, events, dead letters.

        `input` is a data frame of Spark, or whatever `run` takes; `settings` are those of `run`. Of
        the forms of `answers` one is worked out, `final` without any. The session is that of the
        data frame, the active one, or a new one with `master`.
        """
        from horai.runtime.spark.batch import frames_of

        return frames_of(self, input, session=session, master=master, buckets=buckets, **settings)

    def stream(
        self,
        source: object,
        *,
        sink: object,
        checkpoint: PathLike,
        trigger: str = "1s",
        delay: int = 0,
        max_ahead: int | None = None,
        session: SparkSession | None = None,
        master: str | None = None,
        buckets: int | None = None,
        **settings: Any,
    ) -> Streaming:
        """Start a stream on Spark: items in as they come, changes of the answers out.

        `source` is a streaming data frame with columns named as in a CSV file, or the name of a
        source such as `csv:FOLDER`; `sink` is one of them or a list, such as `parquet:FOLDER`. In
        the folder `checkpoint` the stream keeps its state, and goes on from there when it is
        started again. A query time is asked once an item has arrived that is later by more than
        `delay`. Rows that name times more than `max_ahead` after now are dead letters: it takes a
        unit. `trigger` is how often Spark looks for items, or `available-now` to read all there
        is and end. `settings` are those of `run` that are about time and input.
        """
        from horai.runtime.spark.streaming import start

        return start(
            self,
            source,
            sink=sink,
            checkpoint=checkpoint,
            trigger=trigger,
            delay=delay,
            max_ahead=max_ahead,
            session=session,
            master=master,
            buckets=buckets,
            **settings,
        )

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

    def __repr__(self) -> str:
        outputs = ", ".join(str(entity) for entity in self.entities.outputs)
        return f"<Rules for {outputs or 'nothing'}>"


def load(
    paths: PathLike | Iterable[PathLike],
    background: PathLike | Iterable[PathLike] = (),
    predicates: Given = None,
    severity: Severities | None = None,
) -> Rules:
    """Read and check rules from files.

    `background` are files of facts and helper rules. `predicates` are Python functions that rules
    may call, by name or as a list. All that is wrong is raised at once as `RulesError`; `severity`
    makes findings of a code an `error`, a `warning`, or turns them `off`: {"H206": "off"}.
    """
    files, more = _paths(paths), _paths(background)
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    for path in files:
        if path.suffix == ".lars":
            hint = "horai run, check, plan, graph, query and report take it; or horai.lars.load"
            raise UsageError(f"{path} is a LARS program", hint)
    description, findings = read_files(files, more)
    return checked(description, findings, collect(predicates), checked_severities(severity))


def loads(
    text: str,
    background: str = "",
    predicates: Given = None,
    severity: Severities | None = None,
) -> Rules:
    """Read and check rules from text.

    >>> loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    <Rules for on/0>
    """
    hint = "to read files, use horai.load"
    sources = [SourceText("<rules>", clean(settings.text(text, "rules", hint)))]
    if background:
        more = settings.text(background, "background", hint)
        sources.append(SourceText("<background>", clean(more)))
    description, findings = read_sources(sources)
    return checked(description, findings, collect(predicates), checked_severities(severity))


def load_session(saved: bytes, predicates: Given = None) -> Session:
    """The session that `Session.save` saved, with its rules, ready to go on.

    Python predicates are not saved; give them again. Bytes are data only: nothing in them runs.
    """
    found = from_bytes(saved)
    demand_language(found, None)
    functions = collect_again(predicates, found.predicates, "load_session")
    with whole():
        description, findings = read_sources(SourceText(name, text) for name, text in found.sources)
        session = checked(description, findings, functions, lenient()).session(**found.settings)
        session.restore(found)
        return session


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


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    if isinstance(given, str | os.PathLike):
        return [Path(given)]
    try:
        return [Path(path) for path in given]
    except TypeError:
        hint = "name a file or several; for rules as text there is horai.loads"
        raise UsageError("this names no file of rules", hint) from None
