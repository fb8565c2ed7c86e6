"""`horai report`: a page of what rules find in a stream, for people; `horai run` makes one, too."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from horai.cli import console
from horai.cli.command import (
    ABOUT_POSITIONS,
    COORDINATES,
    ON_STREAM,
    POSITIONS,
    Quiet,
    flagged,
    run_options,
    takes,
    writes,
)
from horai.cli.output import check_outputs, tell_of_run
from horai.cli.query import RUN_SETTINGS
from horai.cli.workload import Workload, choose, run_rules, with_positions
from horai.errors import UsageError
from horai.settings import SPARK, RunSettings

if TYPE_CHECKING:
    from horai.io import Narrative
    from horai.report.tracks import Tracks
    from horai.result import Result
    from horai.rules import Rules


@dataclass(frozen=True)
class PageOrder:
    """A page that was asked for; `about` is what options say of raw positions."""

    path: Path
    chosen: Workload
    about: Mapping[str, Any]
    derived: bool  # are items derived from raw positions?
    track: Sequence[str] = ()
    coordinates: Sequence[str] = ()
    title: str | None = None
    proofs: int | None = None

    def __post_init__(self) -> None:
        if self.path.suffix.lower() not in (".html", ".htm"):
            raise UsageError(f"{self.path}: a page is HTML", "name a file such as report.html")
        if self.derived and (self.track or self.coordinates):
            wrong = "--track" if self.track else "--coordinates"
            raise UsageError(f"{wrong} has no meaning here", "the map shows the --positions")

    @property
    def about_items(self) -> Mapping[str, Any]:
        """What options say of the positions that items are derived from."""
        if self.derived:
            return self.about
        if self.track:  # they say how tracks are written, and what is drawn under them
            return {}
        return {**self.about, "areas": None}

    def read(self, rules: Rules, settings: RunSettings) -> Narrative | None:
        """The items, if the run can take them as they are read here.

        The order of the files counts for programs, and what is read does not tell it.
        """
        if settings.engine == SPARK or not self.chosen.input:
            return None
        if rules.language != "ec" and len(self.chosen.input) > 1:
            return None
        return rules.read(self.chosen.input, settings)

    def write(
        self,
        result: Result,
        settings: RunSettings,
        narrative: Narrative | None,
        given: Mapping[str, Any],
    ) -> None:
        """Write the page of a run that is over."""
        from horai.report.page import MOST_PROOFS, PageInput, write_page

        if narrative is None and settings.engine != SPARK and "-" not in self.chosen.input:
            narrative = result.rules.read(self.chosen.input, settings)
        found = PageInput(
            items=narrative,
            tracks=self._tracks(result, settings, narrative),
            areas=self._areas(settings),
            rules=[path.name for path in self.chosen.rules],
            command=self._command(given),
            proofs=MOST_PROOFS if self.proofs is None else self.proofs,
        )
        project = self.chosen.project
        named = project.name if project else ", ".join(found.rules)
        write_page(result, self.path, self.title or named, settings.unit, found)

    def _tracks(
        self, result: Result, settings: RunSettings, narrative: Narrative | None
    ) -> Tracks | None:
        from horai.report.tracks import tracks_of_items, tracks_of_positions

        if self.derived or self.track:
            from horai.cli.signals import AboutPositions
            from horai.signals import read_positions

            feed = settings.positions or AboutPositions(**self.about).feed(settings.scale)
            files = self.chosen.input if self.derived else list(self.track)
            positions = read_positions(files, feed.layout)
            return tracks_of_positions(positions, feed.pipeline.run(positions).dead_letters)
        if narrative is None:
            if self.coordinates:
                raise UsageError("--coordinates needs items that are read in this process")
            return None
        return tracks_of_items(narrative, self.coordinates)

    def _areas(self, settings: RunSettings) -> Any:
        if settings.positions is not None:
            return settings.positions.pipeline.areas
        if self.about.get("areas") is None:
            return None
        from horai.signals import read_areas

        return read_areas(self.about["areas"])

    def _command(self, given: Mapping[str, Any]) -> str:
        """The beginning of a command that asks about the same run, where there is one."""
        if self.derived or self.chosen.language != "ec":
            return ""
        words = ["horai", "why"]
        if self.chosen.project is None:
            words += map(str, self.chosen.rules)
            for path in self.chosen.background:
                words += ["-b", str(path)]
            for name in self.chosen.input:
                words += ["-i", name]
        for name, value in given.items():
            if name not in RUN_SETTINGS:
                continue
            if isinstance(value, bool):
                words.append(flagged(name) if value else flagged(f"no-{name}"))
            elif isinstance(value, int | str):
                words += [flagged(name), str(value)]
        return shlex.join(words)


_SETTINGS = [
    *(n for n in RUN_SETTINGS if n not in ("master", "buckets")),
    "include_input",
    "filter",
]


@takes(*ON_STREAM, *run_options("run", only=_SETTINGS), POSITIONS, *ABOUT_POSITIONS)
def command(
    named: dict[str, Any],
    positions: list[str],
    given: dict[str, Any],
    track: Annotated[list[str], writes("Raw positions, for the map of the page.", metavar="FILE")],
    coordinates: Annotated[list[str], writes(COORDINATES, metavar="TYPE=LON,LAT")],
    proofs: Annotated[
        int | None,
        writes(
            "How many intervals have their proof on the page (100).",
            metavar="N",
            type=click.IntRange(0),
        ),
    ],
    title: Annotated[str | None, writes("What the page is called.", metavar="TEXT")],
    quiet: Quiet,
    output: Annotated[Path, writes("The page.", "-o")] = Path("report.html"),
    **raw: Any,
) -> None:
    if named["input"] and positions:
        hint = "to show where entities of --input were, name positions as --track"
        raise UsageError("--input names items and --positions positions: a run reads one", hint)
    chosen = choose(**named | {"input": named["input"] or positions})
    order = PageOrder(output, chosen, raw, bool(positions), track, coordinates, title, proofs)
    check_outputs({"--output": output}, chosen.files(raw["areas"], *map(Path, track)))
    settings = with_positions(
        chosen, "run", given, bool(positions), order.about_items, known=_SETTINGS
    )
    chosen.demand_input()
    rules = chosen.load()
    items = order.read(rules, settings)
    result = run_rules(rules, chosen, settings, quiet, items)
    order.write(result, settings, items, given)
    tell_of_run(result, quiet)
    if not quiet:
        console.say(f"{output} is written")
