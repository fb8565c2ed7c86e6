"""Webhooks: who we are is told to them only, and they have what they were sent."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest

from horai.runtime.refusals import Refused
from horai.runtime.sinks.protocol import About
from horai.runtime.sinks.registry import sink_of
from horai.runtime.sinks.webhook import WebhookSink


class Handler(BaseHTTPRequestHandler):
    """Keeps what it is asked; sends those elsewhere who ask for /away."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer()

    do_GET = _any = lambda self: self._answer()

    def _answer(self) -> None:
        self.server.asked.append((self.command, self.path, self.headers["Authorization"]))  # type: ignore[attr-defined]
        self.send_response(302 if self.path == "/away" else 200)
        if self.path == "/away":
            self.send_header("Location", "/here")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked = []  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


class OneRow:
    """Changes of a step, as far as a webhook asks."""

    number, rows = 1, 1

    def table(self) -> Any:
        import pyarrow as pa

        return pa.table({"name": ["up"], "args": [["a"]]})


Asked = list[tuple[str, str, str | None]]


def sent(
    server: Any, path: str, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[str, str, str | None]]:
    monkeypatch.setattr("horai.runtime.sinks.protocol.as_dicts", lambda table: table.to_pylist())
    sink = WebhookSink(f"http://127.0.0.1:{server.server_port}{path}")
    sink.open(About("a", 0))
    sink.write(OneRow())  # type: ignore[arg-type]
    found: Asked = server.asked
    return found


def test_without_a_token(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent(server, "/here", monkeypatch) == [("POST", "/here", None)]


def test_with_a_token(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORAI_WEBHOOK_TOKEN", "planted")
    assert sent(server, "/here", monkeypatch) == [("POST", "/here", "Bearer planted")]


def test_who_is_sent_elsewhere_has_not_been_heard(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HORAI_WEBHOOK_TOKEN", "planted")
    with pytest.raises(Refused, match="does not take answers: 302") as told:
        sent(server, "/away?key=planted".partition("?")[0], monkeypatch)
    assert "planted" not in str(told.value)
    assert [path for _, path, _ in server.asked] == ["/away"]


def test_tokens_are_not_sent_in_the_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HORAI_WEBHOOK_TOKEN", "planted")
    with pytest.raises(Refused, match="all can read") as told:
        WebhookSink("http://example.org/x?key=planted").open(About("a", 0))
    assert "planted" not in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "webhook:http://me:planted@h/x",
        "http://planted@h/x",
        "kafka://me:planted@h:1/t",
        "kafkaa://me:planted@h:1/t",
        "webhook:ftp://me:planted@h/x",
    ],
)
def test_sinks_that_cannot_be_keep_their_secrets(text: str) -> None:
    with pytest.raises(Refused) as told:
        sink_of(text)
    assert "planted" not in str(told.value) + repr(vars(told.value))
