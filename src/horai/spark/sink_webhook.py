"""Changes as HTTP requests: JSON lines, at least once.

A step that is done again is sent again, with the same number in the header `Horai-Step`: whoever
receives it can tell by `Horai-Stream`, `Horai-Step` and `Horai-Part` what it has seen before.
"""

from __future__ import annotations

import json
import time
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from horai.spark.changelog import Changes, as_dicts
from horai.spark.jars import Part
from horai.spark.refusals import Refused
from horai.spark.sinks import About

ROWS = 10_000  # in a request, at most
TRIES = 4
PAUSE = 0.5  # seconds before the second try; twice as long before each other
PATIENCE = 30.0


class WebhookSink:
    """One request after the other; the step has happened when all are answered with 2xx."""

    parts: tuple[Part, ...] = ()

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Refused(f"{url!r} is no address of a webhook", "use webhook:http://HOST/PATH")
        self.url, self.id = url, ""

    def open(self, about: About) -> None:
        """Remember for whom we speak."""
        self.id = about.id

    def write(self, changes: Changes) -> None:
        """Send the rows of a step."""
        rows = as_dicts(changes.table()) if changes.rows else []
        parts = [rows[first : first + ROWS] for first in range(0, len(rows), ROWS)]
        for place, part in enumerate(parts, 1):
            body = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
            headers = {
                "Content-Type": "application/x-ndjson; charset=utf-8",
                "Horai-Stream": self.id,
                "Horai-Step": str(changes.number),
                "Horai-Part": f"{place}/{len(parts)}",
            }
            self._send(Request(self.url, body.encode(), headers, method="POST"))

    def close(self) -> None:
        """Every request stands for itself."""

    def _send(self, request: Request) -> None:
        for attempt in range(TRIES):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                with urlopen(request, timeout=PATIENCE) as answer:
                    answer.read()
                return
            except HTTPError as error:
                said = f"{error.code} {error.reason}"
                if error.code < 500 and error.code != 429:
                    break  # it will not be better for being said again
            except (URLError, OSError) as error:
                said = str(getattr(error, "reason", error))
        hint = "what was not sent comes again when the stream goes on"
        raise Refused(f"the webhook {self.url} does not take answers: {said}", hint)
