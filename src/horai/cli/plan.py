"""`horai plan`: how rules are worked out, and what that costs."""

from __future__ import annotations

from typing import Annotated, Any

from horai import io
from horai.cli import console
from horai.cli.command import ON_STREAM, ForPeople, Quiet, flagged, run_options, takes, writes
from horai.cli.output import tell_dead_letters
from horai.cli.workload import Workload, choose, run_rules
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.plan.program import Plan
from horai.plan.split.lars import parts_of
from horai.plan.split.stages import stages_of
from horai.report.plan import (
    part_lines,
    parts_json,
    plan_json,
    plan_lines,
    stage_lines,
    stages_json,
)
from horai.rules import Rules
from horai.settings import RunSettings

# A run that is shorter is repeated: the first one also loads compiled code.
SHORT = 2.0
_TIMING = ["window", "step", "start", "end", "tick", "allen_memory"]
_SETTINGS = [*_TIMING, "unit", "time_in", "input_format", "strict", "columns", "clock"]


@takes(*ON_STREAM, *run_options("run", only=_SETTINGS))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    analyze: Annotated[bool, writes("Run the rules and show rows and times.", languages=["ec"])],
    spark: Annotated[bool, writes("Show what Spark runs in buckets, stage by stage.")],
    quiet: Quiet,
    format: ForPeople = "text",
) -> None:
    chosen = choose(**named, runs=analyze)
    if chosen.language == "combined":
        raise UsageError("rules of two languages have no common plan", "name files of one of them")
    settings = chosen.settings("run", given, _SETTINGS)
    if chosen.language == "lars":
        if analyze:
            hint = "leave it out: what is shown are the operators, in their order"
            raise UsageError("--analyze has no meaning for LARS programs", hint)
        _show_lars(chosen, spark, settings, format)
        return
    # Settings of a run mean nothing where nothing runs.
    idle = [flagged(name) for name in given if name in _TIMING]
    idle += ["--input"] if named.get("input") else []
    if idle and not analyze:
        raise UsageError(f"{idle[0]} is about a run", "add --analyze to run the rules")
    if analyze:
        chosen.demand_input("--analyze runs the rules: name the stream, --input FILE")
    if spark:
        if analyze:
            raise UsageError("--analyze runs in one process", "leave out --spark or --analyze")
        stages = stages_json(stages_of(chosen.load().description))
        console.show(format, stages, stage_lines(stages))
        return
    loaded = chosen.load()
    if analyze:
        narrative = loaded.read(chosen.input, settings)
        profile = _profile(loaded, chosen, narrative, settings, quiet)
        assert profile.program is not None
        _show(profile.program, profile, format)
    else:
        _show(loaded.compiled, None, format)


def _show_lars(chosen: Workload, spark: bool, settings: RunSettings, format: str) -> None:
    """The rules of a LARS program in their order, or its parts as Spark runs them."""
    program = chosen.load()
    timed = settings.clock, settings.unit
    if spark:
        parts = parts_json(parts_of(program.in_points(*timed)))
        console.show(format, parts, part_lines(parts))
    else:
        shown = program.plan(*timed)
        console.show(format, shown.to_dict(), repr(shown).splitlines())


def _profile(
    rules: Rules, chosen: Workload, narrative: io.Narrative, settings: RunSettings, quiet: bool
) -> Profile:
    profile = Profile()
    result = run_rules(rules, chosen, settings, quiet, narrative, profile=profile)
    if profile.seconds < SHORT:
        profile = Profile()
        result = run_rules(rules, chosen, settings, True, narrative, profile=profile)
    tell_dead_letters(result.dead_letters, None, quiet)
    return profile


def _show(program: Plan, profile: Profile | None, format: str) -> None:
    found = plan_json(program, profile)
    if format == "json":
        console.show(format, found, ())
        return
    for line in plan_lines(found, console.stdout().is_terminal):
        console.put(line)
