"""An event description and a LARS program that read each other, run over one stream.

>>> import horai
>>> rules = horai.loads('''
...     initiatedAt(alarm(R)=true, T) :- happensAt(hot(R), T).
...     terminatedAt(alarm(R)=true, T) :- happensAt(reset(R), T).
... ''')
>>> from horai import lars
>>> program = lars.loads("hot(R) :- always heat(R) [2].")
>>> result = horai.together(rules, program).run(
...     ["heat|1|1|k", "heat|2|2|k", "heat|3|3|k", "reset|6|6|k"], start=0, end=9
... )
>>> [(row.kind, row.name, row.start, row.end) for row in result.rows()]
[('atom', 'hot', 1, 4), ('fluent', 'alarm', 2, 7)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from horai import io, parameters
from horai.both_log import numbered
from horai.both_result import TogetherResult
from horai.both_schema import AllBut, keys_of, schema_of
from horai.both_session import TogetherSession
from horai.both_settings import engines_named, incremental_of, names_shown, reasoning_named
from horai.errors import UsageError
from horai.feeding import Progress, feed
from horai.inputs import checked_clock, checked_format, extent, read_input, time_point
from horai.io.schema import TableKey
from horai.lang.diagnostics import Diagnostic, RulesError, sort_key
from horai.lang.ec.syntax import EventDescription
from horai.lang.lars.anyone import with_rules_for_any
from horai.lang.lars.clock import Clock
from horai.lang.lars.points import in_points
from horai.lang.lars.syntax import Program
from horai.lang.report import has_errors
from horai.lars_clock import DEFAULT_CLOCK, clock_for
from horai.lars_engines import AUTO
from horai.lars_program import LarsProgram
from horai.plan.both import Exchange, Stage, check, exchange, stages
from horai.rows import Wanted, answers_named
from horai.rules import Rules
from horai.schedule import Schedule, Settings, plan_run

_ABOUT_NAMES = frozenset({"H202", "H708"})  # read, and defined by nobody: perhaps by the other one


def together(rules: Rules, program: LarsProgram) -> Together:
    """A description and a program as one: each may read what the other derives."""
    given: tuple[object, object] = (rules, program)
    if not (isinstance(given[0], Rules) and isinstance(given[1], LarsProgram)):
        hint = "load them with horai.load and horai.lars.load: together(rules, program)"
        raise UsageError("together takes an event description and a LARS program", hint)
    return Together(rules, program)


class Together:
    """A description and a program. `check` says what is wrong between them."""

    def __init__(self, rules: Rules, program: LarsProgram) -> None:
        self.rules = rules
        self.program = program
        self.passing: Exchange = exchange(rules.entities, program.program)
        self.schema = schema_of(rules, program.program)
        self._clock = Clock.parse(DEFAULT_CLOCK)
        self._stages: list[Stage] | None = None

    @property
    def stages(self) -> list[Stage]:
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
    ) -> TogetherResult:
        """Run over a whole stream.

        Settings are those of `Rules.run`: query times are start + k*step, and points after `start`
        count. At each query time both languages are worked out for the points of the window, with
        all that is known by then. `clock` is the length of a time point, for windows in seconds.
        `engine` is `auto`, `reference`, or an engine for the program. `filter` names the predicates
        of the program that are shown. Where a program has several answers, `reasoning` says what of
        it counts: what holds in all of them (`cautious`) or in some (`brave`).
        """
        times = checked_clock(unit, time_in)
        settings = Settings(
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
    ) -> TogetherSession:
        """A run that is fed step by step; settings are those of `run`."""
        settings = Settings(window=window, allen_memory=allen_memory)
        self._demand_sound(clock, unit)
        names = names_shown(filter)
        return TogetherSession(
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

    def points(self, stage: Stage) -> Program:
        """The program of a stage, with windows in time points."""
        assert isinstance(stage.rules, Program)
        return in_points(with_rules_for_any(stage.rules), self._clock)

    def rules_of(self, stage: Stage) -> Rules:
        """The rules of a stage."""
        assert isinstance(stage.rules, EventDescription)
        return Rules(stage.rules, (), self.rules.predicates)

    def keys_of(self, stage: Stage) -> set[TableKey]:
        """The rows of the stream that a stage of the description reads."""
        return keys_of(self.rules_of(stage).schema)

    @property
    def own_signals(self) -> AllBut:
        """The rows that the program alone reads."""
        return AllBut(keys_of(self.rules.schema))

    def wanted(self, include_input: bool) -> Wanted:
        """Which events and fluents belong into answers?"""
        is_output: Callable[[str, int, bool], bool] = self.rules.is_output
        return lambda name, arity, is_fluent: include_input or is_output(name, arity, is_fluent)

    def __repr__(self) -> str:
        return f"<Together of {self.rules!r} and {self.program!r}>"


def feed_both(
    session: TogetherSession,
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


__all__ = ["Together", "TogetherResult", "TogetherSession", "feed_both", "together"]
