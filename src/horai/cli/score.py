"""`horai score`: how right recognitions are, against intervals that people marked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from horai.cli import console
from horai.cli.command import (
    FAILED,
    ON_STREAM,
    Exit,
    ForPeople,
    Quiet,
    option,
    run_options,
    takes,
    writes,
)
from horai.cli.output import tell_of_run
from horai.cli.query import RUN_SETTINGS
from horai.cli.workload import choose, run_rules
from horai.errors import UsageError
from horai.settings import nearest

if TYPE_CHECKING:
    from horai.tools.score import Counts, Score

HEAD = ("precision", "recall", "F1")


@takes(*ON_STREAM, *run_options("run", only=RUN_SETTINGS))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    truth: Annotated[
        Path,
        option(
            "Intervals that people marked: CSV with the columns fluent,start,end.",
            "-t",
            group="input",
        ),
    ],
    at_least: Annotated[
        float | None,
        writes(
            "Exit status 1 if F1 of a fluent is less, in time-points or in intervals.",
            metavar="F1",
        ),
    ],
    quiet: Quiet,
    overlap: Annotated[
        float,
        writes(
            "How much of both an interval must share with one that was marked: 0.5.",
            metavar="SHARE",
        ),
    ] = 0.5,
    format: ForPeople = "text",
) -> None:
    from horai.tools.score import read_marked, score

    if at_least is not None and not 0 <= at_least <= 1:
        raise UsageError(f"--at-least must lie between 0 and 1, not {at_least}")
    chosen = choose(**named)
    settings = chosen.settings("run", given, RUN_SETTINGS)
    marked = read_marked(truth, settings.scale)
    loaded = chosen.load()
    result = run_rules(loaded, chosen, settings, quiet)
    tell_of_run(result, quiet)
    found = score(result, marked, start=settings.start, overlap=overlap)
    known = {str(entity) for entity in loaded.entities.outputs}
    known |= {f"{name}/{arity}" for name, arity in loaded.predicates_of_program}
    for name in found.fluents:
        if name not in known and not quiet:
            hint = nearest(name, known)
            console.warning(f"{truth}: no rule derives {name}{f'; {hint}' if hint else ''}")
    console.show(format, found.to_dict(), lines(found))
    scores = [counts.f1 for one in found.fluents.values() for counts in one]
    if at_least is not None and any(f1 is not None and f1 < at_least for f1 in scores):
        raise Exit(FAILED)


def lines(found: Score) -> list[str]:
    """The scores as a table for people."""
    every = {**found.fluents, "all": found.all}
    width = max(map(len, every))
    group = len(" ".join(f"{head:>9}" for head in HEAD))
    table = [
        f"{'':{width}}  {'time-points':>{group}}   {'intervals':>{group}}",
        "   ".join([f"{'fluent':{width}} ", *[" ".join(f"{head:>9}" for head in HEAD)] * 2]),
    ]
    for name, scores in every.items():
        table.append("   ".join([f"{name:{width}} ", *map(_numbers, scores)]))
    return [line.rstrip() for line in table]


def _numbers(counts: Counts) -> str:
    """Shares with three digits; `-` where there is nothing to divide by."""
    shares = (counts.precision, counts.recall, counts.f1)
    return " ".join(f"{'-' if share is None else f'{share:.3f}':>9}" for share in shares)
