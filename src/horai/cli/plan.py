"""`horai plan`: how rules are worked out, and what that costs."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import pyarrow.compute as pc
import typer

from horai import io
from horai.cli import console
from horai.cli.combined import speaks_both
from horai.cli.guard import guarded
from horai.cli.lars import is_lars, refuse_lars_options, refuse_lars_settings
from horai.cli.options import (
    AllenMemory,
    Background,
    Clock,
    End,
    Incremental,
    Input,
    InputFormat,
    Predicates,
    Quiet,
    RulesArgument,
    Start,
    Step,
    Strict,
    Tick,
    TimeIn,
    Unit,
    Window,
    Workload,
    choose,
    merged,
    read_chosen,
    run_rules,
)
from horai.cli.output import tell_dead_letters
from horai.engine.deltas.parts import update_of
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.lang.core.values import parameter_count
from horai.plan.ec.estimates import InputSize, Source
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.outline import outline
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan
from horai.plan.split.lars import parts_of
from horai.plan.split.stages import stages_of
from horai.report.plan import PlanNumbers, plan_json, plan_lines
from horai.report.stages import part_lines, parts_json, stage_lines, stages_json
from horai.rules import Rules

# A run that is shorter is repeated: the first one also loads compiled code.
SHORT = 2.0
_NOT_HERE = ("answers", "format", "include_input", "engine")


class PlanFormat(StrEnum):
    """For people or for machines."""

    text = "text"
    json = "json"


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    input: Input = None,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Run the rules and show rows and times.")
    ] = False,
    spark: Annotated[
        bool, typer.Option("--spark", help="Show what Spark runs in buckets, stage by stage.")
    ] = False,
    window: Window = None,
    step: Step = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    strict: Strict = None,
    allen_memory: AllenMemory = None,
    incremental: Incremental = None,
    predicates: Predicates = None,
    clock: Clock = None,
    format: Annotated[
        PlanFormat, typer.Option(help="For people, or for machines.")
    ] = PlanFormat.text,
    quiet: Quiet = False,
) -> None:
    """Show how rules are worked out, operator by operator, and what that costs."""
    chosen = choose(rules, background, predicates, input, runs=analyze)
    if is_lars(chosen.rules):
        refuse_lars_settings(
            {"window": window, "tick": tick, "allen-memory": allen_memory},
            {"incremental": incremental, "predicates": predicates, "analyze": analyze or None},
        )
        _show_lars(chosen, spark, clock, format)
        return
    refuse_lars_options(clock=clock)
    if speaks_both(chosen.rules):
        raise UsageError("rules of two languages have no common plan", "name files of one of them")
    timing = {
        "window": window,
        "step": step,
        "start": start,
        "end": end,
        "tick": tick,
        "allen_memory": allen_memory,
        "incremental": incremental,
    }
    _refuse_idle(timing, analyze)
    settings = merged(
        chosen, **timing, unit=unit, time_in=time_in, input_format=input_format, strict=strict
    )
    settings = {name: value for name, value in settings.items() if name not in _NOT_HERE}
    if analyze and not chosen.input:
        raise UsageError(
            "no input given", "--analyze runs the rules: name the stream, --input FILE"
        )
    if spark:
        if analyze:
            raise UsageError("--analyze runs in one process", "leave out --spark or --analyze")
        _show_stages(chosen.load(), format)
        return
    loaded, tick = chosen.load(), settings.get("tick", 1)
    narrative = read_chosen(loaded, chosen, settings) if chosen.input else None
    sizes = None if narrative is None else _sizes(narrative)
    if analyze and narrative is not None:
        profile = _profile(loaded, chosen, narrative, settings, quiet)
        assert profile.program is not None
        _show(profile.program, sizes, PlanNumbers(profile), format, tick)
    else:
        _show(_compiled(loaded), sizes, None, format, tick)


def _show_stages(rules: Rules, format: PlanFormat) -> None:
    stages = stages_of(rules.description)
    if format is PlanFormat.json:
        typer.echo(json.dumps(stages_json(stages), ensure_ascii=False, indent=1))
        return
    for line in stage_lines(stages):
        typer.echo(line)


def _show_lars(chosen: Workload, spark: bool, clock: str | None, format: PlanFormat) -> None:
    """The rules of a LARS program in their order, or its parts as Spark runs them."""
    from horai import lars
    from horai.cli.lars import outline_json, outline_lines

    program = lars.load(chosen.rules, chosen.background)
    timed = clock or chosen.run.get("clock"), chosen.run.get("unit")
    if spark:
        parts = parts_of(program.in_points(*timed))
        lines, shown = part_lines(parts), parts_json(parts)
    else:
        found = program.outline(*timed)
        lines, shown = outline_lines(found), [outline_json(found)]
    if format is PlanFormat.json:
        typer.echo(json.dumps(shown if spark else shown[0], ensure_ascii=False, indent=1))
        return
    for line in lines:
        typer.echo(line)


def _refuse_idle(timing: dict[str, Any], analyze: bool) -> None:
    """Settings of a run mean nothing where nothing runs."""
    idle = [name.replace("_", "-") for name, value in timing.items() if value is not None]
    if idle and not analyze:
        raise UsageError(f"--{idle[0]} is about a run", "add --analyze to run the rules")


def _sizes(narrative: io.Narrative) -> dict[Source, InputSize]:
    """How many items there are of each type, and how many different values per column."""
    found: dict[Source, InputSize] = {}
    for one in narrative.tables:
        op = one.table.column("op")
        items = one.table.filter(pc.greater(op, 0))  # a retraction is none
        columns = [f"a{i}" for i in range(one.arity)] + (["value"] if one.kind == "fluent" else [])
        distinct = tuple(len(items.column(name).unique()) for name in columns)
        times = len(items.column("start").unique())
        found[one.kind, (one.name, one.arity)] = InputSize(len(items), distinct, times)
    return found


def _compiled(rules: Rules) -> Plan:
    given = [
        PythonPredicate(name, parameter_count(function))
        for name, function in rules.predicates.items()
    ]
    return compile_program(rules.description, given)


def _profile(
    rules: Rules, chosen: Workload, narrative: io.Narrative, settings: dict[str, Any], quiet: bool
) -> Profile:
    profile = Profile()
    result = run_rules(rules, chosen, settings | {"profile": profile}, quiet, narrative)
    if profile.seconds < SHORT:
        profile = Profile()
        result = run_rules(rules, chosen, settings | {"profile": profile}, True, narrative)
    tell_dead_letters(result.dead_letters, None, quiet)
    return profile


def _show(
    program: Plan,
    sizes: dict[Source, InputSize] | None,
    numbers: PlanNumbers | None,
    format: PlanFormat,
    tick: int,
) -> None:
    plan = outline(program, sizes)
    updates = {id(stratum): update_of(stratum, program, tick) for stratum in program.strata}
    if format is PlanFormat.json:
        typer.echo(json.dumps(plan_json(plan, numbers, updates), ensure_ascii=False, indent=1))
        return
    screen = console.stdout()
    for line in plan_lines(plan, numbers, screen.is_terminal, updates):
        screen.print(line)
