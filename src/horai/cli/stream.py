"""`horai stream`: rules over a stream that goes on, on Spark."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from horai.cli import console
from horai.cli.feed_options import KNOTS, AreasFile, Columns, Limits, SpeedIn
from horai.cli.feeds import feed_from, only_of_positions
from horai.cli.guard import guarded
from horai.cli.lars import refuse_lars
from horai.cli.options import (
    AllenMemory,
    Background,
    Buckets,
    End,
    Incremental,
    InputFormat,
    Master,
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
    choose,
    merged,
)
from horai.cli.stream_telling import Teller, monitor_of
from horai.errors import UsageError
from horai.schedule import Settings

if TYPE_CHECKING:
    from horai.stream_running import Streaming


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
    settings = {
        n: value for n, value in settings.items() if n not in ("answers", "engine", "format")
    }
    place, sinks, folder = _asked(source, sink, checkpoint)
    feed = None
    if positions:
        unit, time_in = settings.get("unit"), settings.get("time_in")
        feed = feed_from(unit, time_in, areas, speed_in, column, set, lateness)
    else:
        only_of_positions("the source has items", areas, speed_in, column, set, lateness)
    from horai.stream_places import seconds_of
    from horai.streaming import start as start_stream

    idle = None if until_idle is None else seconds_of(until_idle)
    lengths = Settings(window=settings.get("window"), step=settings.get("step"))
    if lengths.loses_items and not quiet:
        console.warning(
            f"the window ({lengths.window}) is shorter than the step ({lengths.step}): what "
            "happens between two windows is lost"
        )
    teller = Teller(metrics, folder, quiet)
    monitor = monitor_of(folder, metrics, metrics_port)
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
    """With Ctrl-C the stream ends after the step that runs; whoever insists ends it at once."""

    def stop(number: int, frame: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        console.say("stopping after this step; the same command goes on from there")
        running.ask_to_stop()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGINT, before)


def _asked(
    source: str | None, sink: list[str] | None, checkpoint: Path | None
) -> tuple[str, list[str], Path]:
    missing = [
        name
        for name, given in (("--source", source), ("--sink", sink), ("--checkpoint", checkpoint))
        if not given
    ]
    if not source or not sink or checkpoint is None:
        from horai.spark import sinks, sources

        hint = f"a source is {sources.FORMS}; a sink is {sinks.FORMS}"
        raise UsageError(f"a stream needs {' and '.join(missing)}", hint)
    return source, sink, checkpoint
