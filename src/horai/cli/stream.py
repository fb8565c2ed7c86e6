"""`horai stream`: rules over a stream that goes on, on Spark.

What `horai stream` says of its steps: to people, to a file of metrics, to Prometheus.
"""

from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from horai.cli import console
from horai.cli.guard import guarded
from horai.cli.lars import refuse_lars
from horai.cli.options import (
    KNOTS,
    AllenMemory,
    AreasFile,
    Background,
    Buckets,
    Columns,
    End,
    Incremental,
    InputFormat,
    Limits,
    Master,
    Predicates,
    Quiet,
    RulesArgument,
    SpeedIn,
    Start,
    Step,
    Strict,
    Tick,
    TimeIn,
    Unit,
    Window,
    choose,
    feed_from,
    merged,
    only_of_positions,
)
from horai.cli.output import check_outputs, tell_dead_letters
from horai.errors import UsageError, counted
from horai.io import DeadLetter
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.runtime.metrics import Monitor
    from horai.runtime.spark.streaming import Streaming
    from horai.runtime.streams import StepReport


PROMETHEUS = ".prom"


def monitor_of(
    folder: Path, file: Path | None, port: int | None, address: str | None, token: Path | None
) -> Monitor | None:
    """Who tells Prometheus, if somebody wants it."""
    text = file if file is not None and file.suffix == PROMETHEUS else None
    if port is None and (address or token):
        raise UsageError("there is no page of metrics", "add --metrics-port PORT")
    if text is None and port is None:
        return None
    from horai.io.secrets import FILE, METRICS, secret
    from horai.io.sources.lines import LOCAL
    from horai.runtime.metrics import Monitor

    given = {METRICS + FILE: str(token)} if token else os.environ
    try:
        return Monitor(folder.resolve().name, text, port, address or LOCAL, secret(METRICS, given))
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
        self.monitor: Monitor | None = None
        if metrics is not None and metrics.suffix != PROMETHEUS:
            try:
                metrics.open("a", encoding="utf-8").close()
            except OSError as error:
                raise _unwritable(metrics, error) from error

    def step(self, report: StepReport, letters: Sequence[DeadLetter]) -> None:
        """A step has happened."""
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


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    source: Annotated[
        str | None,
        typer.Option(metavar="SOURCE", help="FOLDER, csv:FOLDER, kafka://HOST:PORT/TOPIC, ..."),
    ] = None,
    sink: Annotated[
        list[str] | None,
        typer.Option(metavar="SINK", help="parquet:, table:, delta:FOLDER, kafka:, console, ..."),
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where the stream keeps its state.")
    ] = None,
    from_savepoint: Annotated[
        Path | None,
        typer.Option("--from-savepoint", metavar="FOLDER", help="Begin from a savepoint."),
    ] = None,
    trigger: Annotated[
        str, typer.Option(metavar="TIME", help="How often Spark looks: 5s, or available-now.")
    ] = "1s",
    until_idle: Annotated[
        str | None, typer.Option(metavar="TIME", help="End when nothing has come for so long.")
    ] = None,
    window: Window = None,
    step: Step = None,
    delay: Annotated[
        int, typer.Option(metavar="N", help="How far out of order arrivals may be.")
    ] = 0,
    max_ahead: Annotated[
        int | None, typer.Option(metavar="N", help="How far ahead of now rows may be.")
    ] = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    files_per_step: Annotated[
        int | None, typer.Option(metavar="N", help="Files of a folder in a step, at most.")
    ] = None,
    positions: Annotated[
        bool, typer.Option("--positions", help="The source has raw positions, not items.")
    ] = False,
    areas: AreasFile = None,
    lateness: Annotated[
        int, typer.Option(metavar="N", help="How far out of order positions may be.")
    ] = 0,
    speed_in: SpeedIn = KNOTS,
    column: Columns = None,
    set: Limits = None,
    strict: Strict = None,
    include_input: Annotated[
        bool | None,
        typer.Option("--include-input/--no-include-input", help="Show the input too."),
    ] = None,
    allen_memory: AllenMemory = None,
    incremental: Incremental = None,
    master: Master = None,
    buckets: Buckets = None,
    predicates: Predicates = None,
    metrics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What every step did, as JSON lines, or all as .prom."),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option("--metrics-port", metavar="PORT", help="Where Prometheus reads numbers."),
    ] = None,
    metrics_address: Annotated[
        str | None,
        typer.Option("--metrics-address", metavar="IP", help="Of that page; else 127.0.0.1."),
    ] = None,
    metrics_token_file: Annotated[
        Path | None,
        typer.Option("--metrics-token-file", metavar="FILE", help="Bearer token of that page."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run rules over a stream that goes on, on Spark."""
    chosen = choose(rules, background, predicates)
    refuse_lars(
        chosen.rules,
        "a LARS program does not run as a stream of Spark",
        "`horai run --live` follows Kafka, sockets and standard input in one process; "
        "`horai run --engine spark` runs over a history",
    )
    settings = merged(
        chosen,
        window=window,
        step=step,
        start=start,
        end=end,
        tick=tick,
        unit=unit,
        time_in=time_in,
        input_format=input_format,
        strict=strict,
        include_input=include_input,
        allen_memory=allen_memory,
        incremental=incremental,
        master=master,
        buckets=buckets,
    )
    if settings.pop("columns", None):
        raise UsageError("columns cannot be chosen in a stream", "rename those of the source")
    settings = {
        n: value for n, value in settings.items() if n not in ("answers", "engine", "format")
    }
    check_outputs({"--metrics": metrics}, chosen.files(predicates, areas))
    place, sinks, folder = _asked(source, sink, checkpoint)
    feed = None
    if positions:
        unit, time_in = settings.get("unit"), settings.get("time_in")
        feed = feed_from(unit, time_in, areas, speed_in, column, set, lateness)
    else:
        only_of_positions("the source has items", areas, speed_in, column, set, lateness)
    from horai.runtime.spark.sources import seconds_of
    from horai.runtime.spark.streaming import start as start_stream

    idle = None if until_idle is None else seconds_of(until_idle)
    lengths = RunSettings(window=settings.get("window"), step=settings.get("step"))
    if lengths.loses_items and not quiet:
        console.warning(
            f"the window ({lengths.window}) is shorter than the step ({lengths.step}): what "
            "happens between two windows is lost"
        )
    teller = Teller(metrics, folder, quiet)
    monitor = monitor_of(folder, metrics, metrics_port, metrics_address, metrics_token_file)
    if monitor is not None:
        teller.monitor = monitor
    running = start_stream(
        chosen.load(),
        place,
        sink=sinks,
        checkpoint=folder,
        trigger=trigger,
        delay=delay,
        max_ahead=max_ahead,
        files_per_step=files_per_step,
        from_savepoint=from_savepoint,
        positions=feed,
        on_step=teller.step,
        on_progress=None if monitor is None else monitor.progress,
        **settings,
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
        raise typer.Exit(130) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _asked(
    source: str | None, sink: list[str] | None, checkpoint: Path | None
) -> tuple[str, list[str], Path]:
    missing = [
        name
        for name, given in (("--source", source), ("--sink", sink), ("--checkpoint", checkpoint))
        if not given
    ]
    if not source or not sink or checkpoint is None:
        from horai.runtime.sinks import sinks
        from horai.runtime.spark import sources

        hint = f"a source is {sources.FORMS}; a sink is {sinks.FORMS}"
        raise UsageError(f"a stream needs {' and '.join(missing)}", hint)
    return source, sink, checkpoint
