"""Runs behind a live page, in this process: a growing file, its feed and its server."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import horai
from horai.io.sources.protocol import InputLine
from horai.io.sources.registry import Incoming
from horai.live.feed import LiveFeed
from horai.live.recent import Limits
from horai.live.server import LivePage, Shown
from horai.report.tracks import coordinate_types
from horai.settings import RunSettings

PATIENCE = 60.0
RULES = """
initiatedAt(moving(V)=Speed, T) :- happensAt(speed(V, Speed), T).
terminatedAt(moving(V)=slow, T) :- happensAt(stop(V), T).
terminatedAt(moving(V)=fast, T) :- happensAt(stop(V), T).
initiatedAt(near(V,W)=true, T) :- happensAt(meet(V, W), T).
terminatedAt(near(V,W)=true, T) :- happensAt(part(V, W), T).
happensAt(alarm(V), T) :- happensAt(part(V, W), T), holdsAt(near(V,W)=true, T).
"""
PROGRAM = "h(X) :- b(X) [2 s].\n"


def directly(wait: Callable[[], Any]) -> Any:
    """Nobody interrupts."""
    return wait()


def lines_of(rows: Iterable[str], source: str = "stream.csv", first: int = 1) -> list[InputLine]:
    """Rows as lines of a file."""
    return [InputLine(source, number, row) for number, row in enumerate(rows, first)]


def feed_of(
    rules: horai.Rules | str = RULES, limits: Limits | None = None, **settings: Any
) -> LiveFeed:
    """A feed that nobody has fed; rules of the Event Calculus have a window and a step."""
    made = horai.loads(rules) if isinstance(rules, str) else rules
    usual = {} if made.language == "lars" else {"window": 1000, "step": 10, "start": 0}
    asked = RunSettings.of(made.language, "serve", usual | settings)
    return LiveFeed(made, asked, limits=limits, beside=coordinate_types([], made.schema))


def fed(feed: LiveFeed, rows: Iterable[str], together: int = 3) -> LiveFeed:
    """Feed rows, a few at once, up to their end."""
    lines = lines_of(rows)
    for place in range(0, len(lines), together):
        feed.take(lines[place : place + together])
        feed.answer(directly)
    feed.close()
    return feed


@dataclass
class Served:
    """A file that grows, who follows it, and its page."""

    file: Path
    feed: LiveFeed
    page: LivePage

    def grow(self, *rows: str) -> None:
        """Rows come."""
        with self.file.open("a") as file:
            file.writelines(f"{row}\n" for row in rows)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() < began + PATIENCE, self.feed.status()
            time.sleep(0.01)

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        """An answer of the page."""
        host, port = self.page.server_address[:2]
        connection = http.client.HTTPConnection(str(host), int(port), timeout=PATIENCE)
        connection.request(method, path, body, dict(headers or {}))
        return connection.getresponse()

    def read(self, path: str, **more: Any) -> Any:
        """An answer in JSON."""
        return json.loads(self.ask(path, **more).read())


@contextmanager
def served(
    folder: Path, feed: LiveFeed | None = None, address: str = "127.0.0.1", **shown: Any
) -> Iterator[Served]:
    """A run over a file that grows, and its page."""
    file = folder / "stream.csv"
    file.touch()
    feed = feed or feed_of()
    page = LivePage(feed, Shown(**{"title": "Vessels & more", **shown}), address, 0)
    incoming = Incoming([str(file)], print, growing=True)
    threading.Thread(target=_follow, args=(feed, incoming), daemon=True).start()
    try:
        yield Served(file, feed, page)
    finally:
        page.close()
        feed.gate.go()
        incoming.close()


def _follow(feed: LiveFeed, incoming: Incoming) -> None:
    while (lines := incoming.some()) is not None:
        feed.take(lines)
        feed.answer(directly)
