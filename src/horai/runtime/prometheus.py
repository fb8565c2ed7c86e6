"""Numbers of a stream for Prometheus: a file that is always whole, and a page to be read."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app, write_to_textfile
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from horai.io.secrets import METRICS, is_bearer
from horai.io.sources.sockets import LOCAL
from horai.runtime.metrics import FATES
from horai.runtime.refusals import cannot_listen, demand_token

if TYPE_CHECKING:
    from horai.runtime.spark.streaming import Progress
    from horai.runtime.streams import StepReport

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


App = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def _serving(page: App, address: str, port: int, token: str | None) -> WSGIServer:
    """A server of its own thread, for this machine or for those who know the token."""
    demand_token("metrics", address, token, METRICS, "--metrics-token-file")

    def app(asked: dict[str, Any], answer: Callable[..., Any]) -> Iterable[bytes]:
        if token is not None and not is_bearer(asked.get("HTTP_AUTHORIZATION"), token):
            answer("401 Unauthorized", [("WWW-Authenticate", "Bearer")])
            return [b""]
        return page(asked, answer)

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        address_family = socket.AF_INET6 if ":" in address else socket.AF_INET

    try:
        server = make_server(address, port, app, Server, _Silent)
    except (OSError, OverflowError) as error:
        raise cannot_listen(address, port, error) from error
    Thread(target=server.serve_forever, daemon=True).start()
    return server


class _Silent(WSGIRequestHandler):
    timeout = 30  # seconds: who connects and says nothing is not waited for

    def log_message(self, format: str, *args: Any) -> None:
        """Who asks is told nowhere."""


class Monitor:
    """What a stream has done so far."""

    def __init__(
        self,
        stream: str,
        file: Path | None = None,
        port: int | None = None,
        address: str = LOCAL,
        token: str | None = None,
    ) -> None:
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
            self._server = _serving(make_wsgi_app(self.registry), address, port, token)
        self._write()

    @property
    def port(self) -> int | None:
        return None if self._server is None else int(self._server.server_port)

    def step(self, report: StepReport) -> None:
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
