"""`horai tune`: which window a stream needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from horai.cli import console
from horai.cli.command import FAILED, ON_STREAM, Exit, ForPeople, Quiet, option, run_options, takes
from horai.cli.output import tell_dead_letters
from horai.cli.workload import Workload, arguments, choose
from horai.errors import UsageError
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.tools.tune import Trial, Tuning

_TRIED = ["step", "start", "end", "tick", "unit", "allen_memory", "engine"]
_SETTINGS = [*_TRIED, "time_in", "input_format", "strict", "columns"]
_SHOWN = (0.5, 0.9, 0.99, 1.0)
HEAD = ["window", "items lost", "share", "answers missing", "wrong", "share", "most of"]


@takes(*ON_STREAM, *run_options("run", only=_SETTINGS))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    windows: Annotated[
        str | None,
        option(
            "The windows to try; else by how late items are.",
            metavar="N,N,...",
            group="windows",
        ),
    ],
    quiet: Quiet,
    max_loss: Annotated[
        str, option("What may be lost of items and answers.", metavar="SHARE", group="windows")
    ] = "1%",
    format: ForPeople = "text",
) -> None:
    chosen = choose(**named)
    chosen.refuse_lars(
        "the windows of a LARS program stand in the program itself",
        "`horai run --allowed-lateness N --metrics FILE` counts how late signals are",
    )
    limit, lengths = share(max_loss), None if windows is None else whole_numbers(windows)
    chosen.demand_input("name a sample of the stream: --input FILE")
    settings = chosen.settings("run", given, _SETTINGS)
    found = _tuned(chosen, settings, quiet, windows=lengths, max_loss=limit)
    console.show(format, found.to_dict(), lines(found))
    if found.recommended is None:
        console.warning(f"no window that was tried loses at most {percent(limit)}")
        raise Exit(FAILED)


def _tuned(chosen: Workload, settings: RunSettings, quiet: bool, **asked: Any) -> Tuning:
    loaded = chosen.load()
    narrative = loaded.read(chosen.input, settings)
    tell_dead_letters(narrative.dead_letters, None, quiet)
    asked |= {name: value for name, value in arguments(settings).items() if name in _TRIED}
    with console.bar("windows", quiet) as progress:
        return loaded.tune(narrative, progress=progress, **asked)


# --- what people write and read ------------------------------------------------------------------


def share(text: str) -> float:
    """A share such as `1%` or `0.01`.

    >>> share("1%"), share("0.25"), share("0")
    (0.01, 0.25, 0.0)
    """
    number, sign, rest = text.strip().partition("%")
    try:
        found = float(number) / (100 if sign else 1)
    except ValueError:
        found = -1.0
    if rest or not 0 <= found <= 1:
        hint = "give a share such as 1% or 0.01; 0 for nothing at all"
        raise UsageError(f"--max-loss {text}: this is no share between 0% and 100%", hint)
    return found


def whole_numbers(text: str) -> list[int]:
    """Lengths separated by commas."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        hint = "give lengths in time-points, separated by commas: --windows 60,120,600"
        raise UsageError(f"--windows {text}: these are no whole numbers", hint) from None


def percent(part: float) -> str:
    """A share for people; what is little is not nothing.

    >>> percent(0.01), percent(0.3333), percent(0.00001), percent(0)
    ('1%', '33.33%', '0.001%', '0%')
    """
    if part < 0.0001:
        return f"{100 * part:.1g}%"
    return f"{100 * part:.2f}".rstrip("0").rstrip(".") + "%"


def lines(found: Tuning) -> list[str]:
    """What was tried, one window per line, and what follows from it."""
    late = ", ".join(f"{percent(part)} at most {found.lateness[part]}" for part in _SHOWN)
    rows = [HEAD, *(_cells(trial) for trial in found.trials)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        f"{found.items} items, {found.answers} answers, a query every {found.step}",
        f"lateness of items: {late}",
        "",
        *("  ".join(map(str.rjust, row, widths)).rstrip() for row in rows),
        *_advice(found),
    ]


def _cells(trial: Trial) -> list[str]:
    worst = max(trial.by_name, key=lambda n: trial.by_name[n].missing, default="")
    return [
        *(str(trial.window), str(trial.items_lost), percent(trial.items_share)),
        *(str(trial.answers_missing), str(trial.answers_wrong), percent(trial.answers_share)),
        worst,
    ]


def _advice(found: Tuning) -> list[str]:
    if found.recommended is None:
        return []
    most = percent(found.max_loss)
    settings = f"--window {found.recommended} --step {found.step}"
    return ["", f"{settings}: the shortest of these that loses at most {most}"]
