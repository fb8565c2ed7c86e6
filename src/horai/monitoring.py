"""Numbers of a stream for Prometheus: a file that is always whole, and a page to be read.

Counters tell of the whole stream, not of the process: they go on after a restart where they were.
Only what Spark says of its own time begins anew with each process.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, start_http_server, write_to_textfile
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from horai.errors import UsageError
from horai.spark.listening import Progress

if TYPE_CHECKING:
    from horai.stream_reports import StepReport

FATES = (
    *("on_time", "late", "too_late", "retracted", "unknown_retractions"),
    *("outside_run", "partly_too_late"),
)
# Name, what it is, and where a report has it.
_TOTALS = (
    ("horai_items", "Items that were read.", "items"),
    ("horai_changes", "Rows of the changelog: what is new, and what was taken back.", "changes"),
    ("horai_dead_letters", "Rows that were not used, or not in full.", "dead_letters"),
)
_NOW = (
    ("horai_step", "Number of the last step.", "step"),
    ("horai_query_time", "The last query time.", "query"),
    ("horai_state_bytes", "Size of the state after the last step.", "state_bytes"),
    ("horai_waiting_files", "Files of items that wait for a query time.", "waiting"),
    ("horai_step_seconds", "How long the last step took.", "seconds"),
    ("horai_step_queries", "Query times of the last step.", "queries"),
)
_SPENT = (
    ("horai_steps_seconds", "Time of steps, in this process.", "seconds"),
    ("horai_engine_seconds", "Time of all buckets inside the engine.", "engine_seconds"),
)


class Monitor:
    """What a stream has done so far."""

    def __init__(self, stream: str, file: Path | None = None, port: int | None = None) -> None:
        self.stream, self.file = stream, file
        self.registry = CollectorRegistry()
        self.registry.register(self)
        self._lock = Lock()
        self._report: dict[str, Any] = {}
        self._spent: dict[str, float] = {}
        self._phases: dict[str, float] = {}
        self._rows = 0
        self._server: Any = None
        if port is not None:
            try:
                self._server, _ = start_http_server(port, registry=self.registry)
            except (OSError, OverflowError) as error:
                hint = "choose another port"
                raise UsageError(f"port {port} cannot be listened at: {error}", hint) from error
        self._write()

    @property
    def port(self) -> int | None:
        """Where the page is."""
        return None if self._server is None else int(self._server.server_port)

    def step(self, report: StepReport) -> None:
        """A step has happened."""
        with self._lock:
            self._report = report.to_dict()
            for _, _, name in _SPENT:
                self._spent[name] = self._spent.get(name, 0.0) + self._report[name]
        self._write()

    def progress(self, progress: Progress) -> None:
        """Spark has told of a micro-batch."""
        with self._lock:
            self._rows += progress.rows
            for phase, seconds in progress.seconds.items():
                self._phases[phase] = self._phases.get(phase, 0.0) + seconds
        self._write()

    def collect(self) -> Iterator[Metric]:
        """All numbers, as Prometheus asks for them."""
        with self._lock:
            report, spent = dict(self._report), dict(self._spent)
            phases, rows = dict(self._phases), self._rows
        totals = report.get("totals", {})
        for name, what, key in _TOTALS:
            yield self._counter(name, what, {(): totals.get(key, 0)})
        fates: dict[tuple[str, ...], int] = {(fate,): totals.get(fate, 0) for fate in FATES}
        yield self._counter("horai_items_judged", "Items by what became of them.", fates, "fate")
        for name, what, key in _NOW:
            yield self._gauge(name, what, report.get(key))
        for name, what, key in _SPENT:
            yield self._counter(name, what, {(): spent.get(key, 0.0)})
        yield self._counter("horai_spark_rows", "Rows that Spark has read.", {(): rows})
        by_phase: dict[tuple[str, ...], float] = {
            (phase,): seconds for phase, seconds in sorted(phases.items())
        }
        what = "Time that Spark spent on micro-batches, by phase; addBatch is the steps."
        yield self._counter("horai_spark_seconds", what, by_phase, "phase")

    def text(self) -> str:
        """All numbers in Prometheus' text format."""
        return generate_latest(self.registry).decode()

    def close(self) -> None:
        """Nobody is told any more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def _write(self) -> None:
        if self.file is not None:
            with self._lock:
                path = str(self.file)
            write_to_textfile(path, self.registry)

    def _counter(
        self, name: str, what: str, values: dict[tuple[str, ...], Any], *labels: str
    ) -> Metric:
        family = CounterMetricFamily(name, what, labels=["stream", *labels])
        for key, value in values.items():
            family.add_metric([self.stream, *key], value)
        return family

    def _gauge(self, name: str, what: str, value: float | None) -> Metric:
        family = GaugeMetricFamily(name, what, labels=["stream"])
        if value is not None:
            family.add_metric([self.stream], value)
        return family
