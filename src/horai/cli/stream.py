"""`horai stream`: rules over a stream that goes on, on Spark.

What it says of its steps: to people, to a file of metrics, to Prometheus.
"""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from horai.cli import console
from horai.cli.command import (
    ABOUT_POSITIONS,
    INTERRUPTED,
    ON_RULES,
    Exit,
    Quiet,
    about_time,
    option,
    run_options,
    takes,
    writes,
)
from horai.cli.output import check_outputs, tell_dead_letters, tell_findings
from horai.cli.workload import arguments, choose, tell_of_losses, with_positions
from horai.errors import UsageError, counted
from horai.io import DeadLetter
from horai.lang.core.diagnostics import Diagnostic
from horai.settings import length

if TYPE_CHECKING:
    from horai.runtime.prometheus import Monitor
    from horai.runtime.spark.streaming import Streaming
    from horai.runtime.streams import StepReport


PROMETHEUS = ".prom"
tells = partial(option, group="metrics")


def monitor_of(
    folder: Path, file: Path | None, port: int | None, address: str | None, token: Path | None
) -> Monitor | None:
    """Who tells Prometheus, if somebody wants it."""
    text = file if file is not None and file.suffix == PROMETHEUS else None
    if port is None and (address or token):
        raise UsageError("there is no page of metrics", "add --metrics-port PORT")
    if text is None and port is None:
        return None
    from horai.io.secrets import METRICS
    from horai.io.sources.sockets import LOCAL
    from horai.runtime.prometheus import Monitor
    from horai.runtime.refusals import token_of

    known = token_of(METRICS, token)
    try:
        return Monitor(folder.resolve().name, text, port, address or LOCAL, known)
    except OSError as error:
        raise _unwritable(file, error) from error


def _unwritable(file: Path | None, error: OSError) -> UsageError:
    """Better said before the stream begins than after its first step."""
    problem = f"metrics cannot be written to {file}: {error.strerror or error}"
    return UsageError(problem, "name a file in a folder that is there, and that you may write to")


class Teller:
    """Says what steps do: to people, and to a file of metrics."""

    def __init__(self, metrics: Path | None, checkpoint: Path, quiet: bool) -> None:
        self.metrics, self.checkpoint, self.quiet = metrics, checkpoint, quiet
        self.letters: list[DeadLetter] = []
        self.lost = 0
        self.told: set[object] = set()
        self.monitor: Monitor | None = None
        if metrics is not None and metrics.suffix != PROMETHEUS:
            try:
                metrics.open("a", encoding="utf-8").close()
            except OSError as error:
                raise _unwritable(metrics, error) from error

    def step(
        self, report: StepReport, letters: Sequence[DeadLetter], found: Sequence[Diagnostic]
    ) -> None:
        """A step has happened."""
        # The first time: how many values there are is known in no step.
        new = {(one.code, one.source and one.source.name, one.span): one for one in found}
        tell_findings([one for key, one in new.items() if key not in self.told], self.quiet)
        self.told |= new.keys()
        self.lost += len(letters)
        self.letters += letters[: max(0, _FEW - len(self.letters))]
        if self.monitor is not None:
            self.monitor.step(report)
        if self.metrics is not None and self.metrics.suffix != PROMETHEUS:
            with self.metrics.open("a", encoding="utf-8") as out:
                out.write(json.dumps(report.to_dict()) + "\n")
        if not self.quiet and console.is_watched():
            console.say(line(report.to_dict()), "dim")

    def end(self) -> None:
        """The stream is over, or was stopped."""
        if self.lost:
            tell_dead_letters(self.letters, self.checkpoint / "dead-letters", self.quiet)
            if self.lost > len(self.letters):
                console.warning(f"{self.lost} rows in all were not used, or only in part")


_FEW = 1000


def line(report: dict[str, Any]) -> str:
    """A step in a line.

    >>> report = {"step": 4, "query": 60, "queries": 2, "changes": 1, "dead_letters": 0}
    >>> line({**report, "seconds": 0.5})
    'step 4: 2 query times up to 60, 1 change, 0.5 s'
    """
    asked = "no query time due"
    if report["queries"]:
        asked = f"{counted(report['queries'], 'query time')} up to {report['query']}"
    lost = f", {counted(report['dead_letters'], 'row')} not used" if report["dead_letters"] else ""
    changes = counted(report["changes"], "change")
    return f"step {report['step']}: {asked}, {changes}{lost}, {report['seconds']} s"


@takes(*ON_RULES, *run_options("stream"), *ABOUT_POSITIONS)
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    source: Annotated[
        str | None,
        option("FOLDER, csv:FOLDER, kafka://HOST:PORT/TOPIC, ...", metavar="SOURCE", group="input"),
    ],
    until_idle: Annotated[
        str | None, about_time("End when nothing has come for so long.", metavar="TIME")
    ],
    positions: Annotated[
        bool, option("The source has raw positions, not items.", group="positions")
    ],
    sink: Annotated[
        list[str],
        writes("parquet:, table:, delta:FOLDER, kafka:, console, ...", metavar="SINK"),
    ],
    checkpoint: Annotated[
        Path | None, writes("Where the stream keeps its state.", metavar="FOLDER")
    ],
    metrics: Annotated[Path | None, writes("What every step did, as JSON lines, or all as .prom.")],
    metrics_port: Annotated[int | None, tells("Where Prometheus reads numbers.", metavar="PORT")],
    metrics_address: Annotated[str | None, tells("Of that page; else 127.0.0.1.", metavar="IP")],
    metrics_token_file: Annotated[Path | None, tells("Bearer token of that page.")],
    quiet: Quiet,
    position_lateness: Annotated[
        int, option("How far out of order positions may be.", metavar="N", group="positions")
    ] = 0,
    **raw: Any,
) -> None:
    chosen = choose(**named)
    chosen.refuse_lars(
        "a LARS program does not run as a stream of Spark",
        "`horai run --live` follows Kafka, sockets and standard input in one process; "
        "`horai run --engine spark` runs over a history",
    )
    if chosen.of_project("columns"):
        raise UsageError("columns cannot be chosen in a stream", "rename those of the source")
    length(position_lateness, "--position-lateness", 0)
    settings = with_positions(
        chosen, "stream", given, positions, {**raw, "lateness": position_lateness}
    )
    check_outputs({"--metrics": metrics}, chosen.files(raw["areas"]))
    place, sinks, folder = _asked(source, sink, checkpoint)
    from horai.runtime.spark.streaming import seconds_of
    from horai.runtime.spark.streaming import start as start_stream

    idle = None if until_idle is None else seconds_of(until_idle)
    tell_of_losses(settings, quiet)
    teller = Teller(metrics, folder, quiet)
    monitor = monitor_of(folder, metrics, metrics_port, metrics_address, metrics_token_file)
    if monitor is not None:
        teller.monitor = monitor
    running = start_stream(
        chosen.load(),
        place,
        sink=sinks,
        checkpoint=folder,
        on_step=teller.step,
        on_progress=None if monitor is None else monitor.progress,
        **arguments(settings),
    )
    # What goes wrong is told by who waits, once; the bridge to Java would tell it too.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    try:
        with _gently(running):
            running.wait(idle)
    finally:
        teller.end()
        if monitor is not None:
            monitor.close()


@contextmanager
def _gently(running: Streaming) -> Iterator[None]:
    """With Ctrl-C or SIGTERM it ends after the step that runs; whoever insists ends it at once."""

    def stop(number: int, frame: object) -> None:
        for one, at_once in plain.items():
            signal.signal(one, at_once)
        console.say("stopping after this step; the same command goes on from there")
        running.ask_to_stop()

    plain: dict[signal.Signals, Any] = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, stop) for number in plain}
    try:
        yield
    except KeyboardInterrupt:
        raise Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _asked(
    source: str | None, sink: list[str], checkpoint: Path | None
) -> tuple[str, list[str], Path]:
    missing = [
        name
        for name, given in (("--source", source), ("--sink", sink), ("--checkpoint", checkpoint))
        if not given
    ]
    if not source or not sink or checkpoint is None:
        from horai.io.sources.registry import FORMS as SOURCE_FORMS
        from horai.runtime.sinks.registry import FORMS as SINK_FORMS

        hint = f"a source is {SOURCE_FORMS}; a sink is {SINK_FORMS}"
        raise UsageError(f"a stream needs {' and '.join(missing)}", hint)
    return source, sink, checkpoint
