"""Changes as HTTP requests: JSON lines, at least once.

A step that is done again is sent again, with the same number in the header `Horai-Step`: whoever
receives it can tell by `Horai-Stream`, `Horai-Step` and `Horai-Part` what it has seen before.
"""

from __future__ import annotations

import json
import time
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from horai.io.letters import InputError
from horai.io.secrets import BEARER, FILE, WEBHOOK, is_loopback, secret
from horai.runtime.refusals import Refused
from horai.runtime.sinks.protocol import About, Changes, Sink, as_dicts

ROWS = 10_000  # in a request, at most
TRIES = 4
PAUSE = 0.5  # seconds before the second try; twice as long before each other
PATIENCE = 30.0
MOST = 1 << 16  # bytes of an answer that are read


class _Stay(HTTPRedirectHandler):
    """Redirects are not followed: they would ask with GET, and nobody would have the answers."""

    def redirect_request(self, *args: object) -> None:
        return None


_open = build_opener(_Stay).open


def _token() -> str | None:
    try:
        return secret(WEBHOOK)
    except InputError as error:
        raise Refused(f"{error.file}: {error.reason}", error.hint or "name another file") from None


class WebhookSink(Sink):
    """One request after the other; the step has happened when all are answered with 2xx."""

    form = "webhook:URL"

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Refused(f"{url!r} is no address of a webhook", "use webhook:http://HOST/PATH")
        if "@" in parts.netloc:
            hint = f"set {WEBHOOK} or {WEBHOOK}{FILE}, which is sent as a bearer token"
            raise Refused(f"{url!r}: a webhook is named without user and password", hint)
        self.url, self.id = url, ""
        self._is_safe = parts.scheme == "https" or is_loopback(parts.hostname or "")

    def open(self, about: About) -> None:
        """Remember for whom we speak."""
        self.id = about.id
        if _token() is not None and not self._is_safe:
            hint = f"use https, or unset {WEBHOOK}"
            raise Refused(f"the webhook {self.url} would be sent a token that all can read", hint)

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
            request = Request(self.url, body.encode(), headers, method="POST")
            token = _token()
            if token is not None:
                request.add_unredirected_header("Authorization", BEARER + token)
            self._send(request)

    def _send(self, request: Request) -> None:
        for attempt in range(TRIES):
            if attempt:
                time.sleep(PAUSE * 2 ** (attempt - 1))
            try:
                with _open(request, timeout=PATIENCE) as answer:
                    answer.read(MOST)
                return
            except HTTPError as error:
                said = f"{error.code} {error.reason}"
                if error.code < 500 and error.code != 429:
                    break  # it will not be better for being said again
            except (URLError, OSError) as error:
                said = str(getattr(error, "reason", error))
        hint = "what was not sent comes again when the stream goes on"
        raise Refused(f"the webhook {self.url} does not take answers: {said}", hint)
