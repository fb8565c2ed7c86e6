"""What a command works on: rules, input and settings of the command line or of the project.

Rules are loaded and run here, with a progress bar where somebody can see it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.cli import console
from horai.cli.command import FILE, SUFFIX, flagged, language_of
from horai.errors import UsageError, counted
from horai.predicates import Predicate, from_file, outlined
from horai.settings import (
    LANGUAGES,
    OPTIONS,
    SPARK,
    Language,
    Mode,
    RunSettings,
    check_name,
    plan_run,
)
from horai.tools.codes import Severities, checked_severities
from horai.tools.project import Project, find_project, trusted_text

if TYPE_CHECKING:
    from horai.io import Narrative
    from horai.result import Result
    from horai.rules import Rules

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # as in malloc.h
MOST = 2**31 - 1


def keep_memory() -> bool:
    """Let this process keep the memory of arrays it has done with; False where nobody can say so.

    The C library maps every large array anew and gives it back at once, and the system clears each
    page again: a third of the time of ten million events. It is a setting of the whole process, so
    programs choose it, never the library on its own.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(MMAP_MAX, 0) and mallopt(TRIM_THRESHOLD, MOST))


@dataclass(frozen=True)
class Workload:
    """What to work on: given on the command line, or by the project we are in."""

    rules: list[Path]
    background: list[Path]
    input: list[str]
    code: Path | None
    predicates: dict[str, Predicate]
    project: Project | None
    severity: Severities

    @property
    def language(self) -> Language:
        """The language of the rules, which the names of their files tell."""
        return language_of(self.rules)

    def files(self, *more: Path | None) -> list[str | Path]:
        """All files that are read, as far as the command line and the project name them."""
        project = None if self.project is None else self.project.folder / FILE
        named = [path for path in (project, self.code, *more) if path is not None]
        return [*self.rules, *self.background, *self.input, *named]

    def of_project(self, name: str) -> Any:
        """A setting of the project for its runs, None if there is none."""
        return None if self.project is None else self.project.run.get(name)

    def settings(
        self,
        modes: Mode | Sequence[Mode],
        given: Mapping[str, Any],
        known: Collection[str] = OPTIONS,
    ) -> RunSettings:
        """What the command line says, else what the project says.

        Settings of the project that are about other runs are left aside; those of other languages
        are told. `known` are the settings that the command has.
        """
        some = (modes,) if isinstance(modes, str) else tuple(modes)
        for name in given:
            check_name(name, self.language, some, flagged)
        found = {}
        for name, value in (self.project.run if self.project else {}).items():
            option = OPTIONS.get(name)
            if option is None or name not in known:
                continue
            if not option.is_for(self.language):
                problem = f"the setting {name} of the project has no meaning for"
                hint = option.instead.get(self.language)
                raise UsageError(f"{problem} {LANGUAGES[self.language]}", hint)
            if option.is_for(self.language, *some):
                found[name] = value
        return RunSettings.of(self.language, modes, found | dict(given), flagged)

    def demand_input(self, hint: str = "name the stream: --input FILE") -> None:
        """Raise if there is none."""
        if not self.input:
            raise UsageError("no input given", hint)

    def refuse_lars(self, problem: str, hint: str) -> None:
        """Say that a command is not for LARS programs, and what is."""
        for path in self.rules:
            if path.suffix.lower() == SUFFIX:
                raise UsageError(f"{path}: {problem}", hint)

    def load(self) -> Rules:
        """The rules, checked."""
        from horai.rules import load

        return load(self.rules, self.background, self.predicates, self.severity)


def choose(
    rules: list[Path] | None = None,
    background: list[Path] | None = None,
    predicates: Path | None = None,
    input: Sequence[str] = (),
    severity: Sequence[str] = (),
    runs: bool = True,
) -> Workload:
    """Who names rules means just these; otherwise the project is asked and options override it.

    Python predicates that a project names have to be trusted, unless nothing `runs`: then their
    names and parameters are enough.
    """
    project = None if rules else find_project()
    if not rules and project is None:
        hint = f"name a file of rules, or work in a folder with {FILE} (`horai new` makes one)"
        raise UsageError("no rules given", hint)
    if project is not None and not project.rules:
        raise UsageError(f"{project.folder / FILE}: no rules", 'add rules = ["rules.ec"]')
    code = predicates or (project.predicates if project else None)
    return Workload(
        rules=rules or (project.rules if project else []),
        background=background or (project.background if project else []),
        input=list(input) or [str(path) for path in (project.input if project else [])],
        code=code,
        predicates={} if code is None else _functions(code, project, predicates is None, runs),
        project=project,
        severity={**(project.severity if project else {}), **_severities(severity)},
    )


def _severities(given: Sequence[str]) -> Severities:
    found = {}
    for text in given:
        code, sign, level = text.partition("=")
        if not sign:
            raise UsageError(f"--severity {text} names no level", f"write {text}=warning, or =off")
        found[code.strip()] = level.strip()
    return checked_severities(found)


def _functions(
    code: Path, project: Project | None, is_of_project: bool, runs: bool
) -> dict[str, Predicate]:
    if not runs:
        return outlined(code)
    if project is None or not is_of_project:
        return from_file(code)
    return from_file(code, trusted_text(code, project.folder / FILE))


# --- runs ----------------------------------------------------------------------------------------


def with_positions(
    chosen: Workload,
    modes: Mode | Sequence[Mode],
    given: dict[str, Any],
    positions: bool,
    about: Mapping[str, Any],
    known: Collection[str] = OPTIONS,
) -> RunSettings:
    """The settings of a run that may read raw positions; `about` is what options say of them."""
    if positions:
        if chosen.language != "ec":
            problem = f"--positions has no meaning for {LANGUAGES[chosen.language]}"
            raise UsageError(problem, "derive items with `horai signals`")
        given = {"unit": chosen.of_project("unit") or "s", **given}
    settings = chosen.settings(modes, given, known)
    if not positions and not any(about.values()):
        return settings  # most runs need not load what positions take
    from horai.cli.signals import AboutPositions

    found = AboutPositions(**about)
    if positions:
        return replace(settings, positions=found.feed(settings.scale))
    found.refuse("the input has items")
    return settings


def arguments(settings: RunSettings) -> dict[str, Any]:
    """Settings as the arguments of a run."""
    found = settings.to_dict()
    return found if settings.positions is None else {**found, "positions": settings.positions}


def run_rules(
    rules: Rules,
    chosen: Workload,
    settings: RunSettings,
    quiet: bool,
    narrative: Narrative | None = None,
    **more: Any,
) -> Result:
    """Run over the chosen input, with a progress bar where somebody can see it.

    `narrative` is that input, where it has been read before.
    """
    if rules.language == "ec":
        chosen.demand_input()
    elif settings.end is None:
        chosen.demand_input("name the stream: --input FILE, or give --end TIME")
    tell_of_losses(settings, quiet)
    run, asked, given = rules.run, arguments(settings), narrative or chosen.input
    if settings.state is not None:
        del asked["state"]
        run = partial(rules.run_on, settings.state)
    if settings.engine == SPARK:
        return run(given, **asked, **more)  # workers read it
    if rules.language == "ec":
        if narrative is None:
            with console.busy(f"reading {_named(chosen.input)}", quiet):
                narrative = rules.read(chosen.input, settings)
        given = narrative
        asked.pop("positions", None)  # items are derived from them now
        if not quiet:
            _tell_of_a_long_tick(settings, given)
    keep_memory()
    with console.bar("query times", quiet) as progress:
        return run(given, progress=progress, **asked, **more)


def _named(files: Sequence[str]) -> str:
    """Which files, and how large they are together."""
    size = sum(Path(name).stat().st_size for name in files if Path(name).is_file())
    first = files[0] if len(files) == 1 else counted(len(files), "file")
    return f"{first} ({size / 1e6:,.0f} MB)" if size >= 1e6 else first


def tell_of_losses(settings: RunSettings, quiet: bool) -> None:
    """Warn of windows that leave gaps between them."""
    if settings.loses_items and not quiet:
        console.warning(
            f"the window ({settings.window}) is shorter than the step ({settings.step}): what "
            "happens between two windows is lost"
        )


def _tell_of_a_long_tick(settings: RunSettings, narrative: Narrative) -> None:
    """Without a time-point in the run nothing happens in it, whatever the input says."""
    from horai.io.items.tables import extent

    schedule = plan_run(settings, extent(narrative.tables))
    if schedule is not None and schedule.next_point > schedule.end:
        console.warning(
            f"with a tick of {schedule.tick} there is no time-point between {schedule.start} and "
            f"{schedule.end}, so nothing happens in this run; the next one is {schedule.next_point}"
        )
