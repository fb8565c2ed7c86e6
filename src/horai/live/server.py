"""The live page: served to browsers that may see it, told of what is new, asked for proofs.

A browser is told how far the run is, at most a few times a second, and fetches what it draws when
it is ready to: whoever is slow misses steps in between, and nobody waits for him.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from ipaddress import ip_address
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from horai.errors import UsageError
from horai.io import Narrative
from horai.io.secrets import SERVE, is_bearer
from horai.live.feed import LiveFeed
from horai.live.recent import LetGo, costs
from horai.report.lanes import Pack
from horai.report.page import PageInput, graphs, page_header, text_of
from horai.report.tracks import tracks_of_items
from horai.result import Result
from horai.runtime.refusals import cannot_listen, demand_token
from horai.signals import Areas

EVERY = 0.25  # seconds between two messages to a browser, at least
ALIVE = 5.0  # seconds after which it is told how fast lines come, though nothing is new
LOOKS = 0.1  # seconds after which the server sees that it is to end
PATIENCE = 30  # seconds that a browser may take to say or take something
MOST_BROWSERS = 64  # that are told what is new; each has a thread
MOST_ASKING = 128  # at once
MOST_SAID = 4096  # bytes that a browser may say
MOST_CHANGES = 200  # that are listed
GUESS = 0.5  # seconds that a wrong token costs
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
ASSETS = {"/page.js": "text/javascript", "/page.css": "text/css"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows of a run: who may see it, and what is on it beside the run."""

    title: str
    rules: Sequence[str] = ()
    coordinates: Sequence[str] = ()
    areas: Areas | None = None
    names: frozenset[str] = frozenset()  # of this machine, as others call it
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The run at a query time: as a result that can be asked, and as what the page draws."""

    version: int
    result: Result
    data: bytes
    gone: LetGo


class LivePage(ThreadingHTTPServer):
    """A server of its own threads; closing it lets everybody go."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, feed: LiveFeed, shown: Shown, address: str, port: int) -> None:
        demand_token("the page", address, shown.token, SERVE, "--token-file")
        self.feed, self.shown, self.address = feed, shown, address
        self.browsers = BoundedSemaphore(MOST_BROWSERS)
        self.pass_word = secrets.token_urlsafe(32)
        """What a browser that has said the token is known by."""
        self.closing = False
        self._places = BoundedSemaphore(MOST_ASKING)
        self._making = Lock()
        self._snapshot: Snapshot | None = None
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        try:
            super().__init__((address, port), _Handler)
        except (OSError, OverflowError) as error:
            raise cannot_listen(address, port, error) from error
        Thread(target=self.serve_forever, args=(LOOKS,), daemon=True).start()

    @property
    def url(self) -> str:
        """Where browsers of this machine find it."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.server_port}/"

    @property
    def cookie(self) -> str:
        """What a browser says that has said the token; ports of one host share their cookies."""
        return f"horai-{self.server_port}={self.pass_word}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Each who asks has a thread, as long as there are not too many."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, and make room for somebody else."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who goes away while he is told something is told nowhere; mistakes of ours are."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Nobody is told any more."""
        with self.feed.lock:
            self.closing = True
            self.feed.changed.notify_all()
        self.shutdown()
        self.server_close()

    # --- who may ask -----------------------------------------------------------------------------

    def is_known(self, host: str) -> bool:
        """May a page of this name show us? A name that somebody else chose may lead here, too."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        with suppress(ValueError):
            ip_address(name)
            return True
        return name in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        own = {"localhost", socket.gethostname().lower(), socket.getfqdn().lower()}
        return frozenset({name.lower() for name in self.shown.names} | own)

    # --- what is drawn ---------------------------------------------------------------------------

    @cached_property
    def _graphs(self) -> list[dict[str, Any]]:
        return graphs(self.feed.rules)

    def snapshot(self) -> Snapshot | None:
        """The run at its last query time, made once for all browsers; None before the first."""
        with self._making:
            if self._snapshot is None or self._snapshot.version != self.feed.version:
                self._snapshot = self._made()
            return self._snapshot

    def _made(self) -> Snapshot | None:
        feed, shown = self.feed, self.shown
        with feed.lock:
            session, version = feed.session, feed.version
            if session is None or session.last is None or not version:
                return None
            recent, last = feed.recent.copy(), session.last
            spent = costs(feed.profile, feed.seconds)
        narrative = recent.narrative(last)
        result = recent.result(session, narrative.tables)
        known = PageInput(
            items=narrative,
            tracks=_tracks(narrative, shown.coordinates),
            areas=shown.areas,
            rules=shown.rules,
            proofs=0,
            graphs=self._graphs,
        )
        pack = Pack()
        header = page_header(pack, result, shown.title, session.clock.unit, known)
        base = int(header["time"]["base"])
        header["live"] = {
            "version": version,
            "query": last - base,
            "gone": recent.gone.to_dict(),
            "costs": spent,
            "changes": [
                _change(pack, query, row, base)
                for query, row in recent.latest(MOST_CHANGES)
                if row.name
            ],
        }
        return Snapshot(version, result, pack.compressed(header), recent.gone)

    def why(self, what: str, at: str) -> dict[str, Any]:
        """The proof of something, or in words why there is none."""
        snapshot = self.snapshot()
        if snapshot is None:
            return {"problem": "nothing is known yet"}
        try:
            with self._making:  # a prover is for one at a time
                return {"proof": snapshot.result.why(what, at=int(at)).to_dict()}
        except (UsageError, ValueError) as error:
            problem = getattr(error, "problem", "the time is no time-point")
            until = snapshot.gone.items_until
            if until is None:
                return {"problem": problem}
            return {"problem": problem, "until": str(until)}


def _tracks(narrative: Narrative, coordinates: Sequence[str]) -> Any:
    """Where entities were; what has not come so far may come later."""
    there = {table.name for table in narrative.tables}
    come = [one for one in coordinates if one.partition("=")[0] in there]
    return None if coordinates and not come else tracks_of_items(narrative, come)


def _change(pack: Pack, query: int, row: Any, base: int) -> list[Any]:
    """A change for the page: when it was known, what came or went, if it lasts, and when."""
    start = row.time if row.start is None else row.start
    point = query if start is None else start
    return [
        query - base,
        row.op,
        pack.text(text_of(row.name, row.args, row.value)),
        row.start is not None,
        point - base,
        None if row.end is None else row.end - base,
    ]


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server_version, sys_version = "horai", ""

    @property
    def page(self) -> LivePage:
        return cast(LivePage, self.server)

    def log_message(self, format: str, *args: Any) -> None:
        """Who asks is told nowhere."""

    # --- questions -------------------------------------------------------------------------------

    def do_GET(self) -> None:
        """The page, its parts, what is new, and proofs."""
        asked = urlsplit(self.path)
        if not self._is_from_here():
            return
        if asked.path in ASSETS:
            asset = files("horai.report").joinpath("assets", asked.path[1:])
            return self._say(asset.read_bytes(), ASSETS[asked.path])
        if not self._is_welcome():
            if asked.path == "/":
                return self._say(_door().encode(), "text/html")
            return self._refuse(
                HTTPStatus.UNAUTHORIZED, "say the token: Authorization: Bearer TOKEN"
            )
        match asked.path:
            case "/":
                self._say(_document(self.page.shown.title).encode(), "text/html")
            case "/events":
                self._tell()
            case "/data":
                snapshot = self.page.snapshot()
                data = b"" if snapshot is None else snapshot.data
                self._say(data, "application/octet-stream")
            case "/why":
                given = parse_qs(asked.query)
                what, at = (given.get(name, [""])[0] for name in ("what", "at"))
                self._say_json(self.page.why(what, at))
            case _:
                self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        """Pause, go on, one step; or the token."""
        said = self._read()
        if said is None or not self._is_from_here():
            return
        if self.path == "/token":
            return self._let_in(said)
        if not self._is_welcome():
            return self._refuse(
                HTTPStatus.UNAUTHORIZED, "say the token: Authorization: Bearer TOKEN"
            )
        feed = self.page.feed
        actions: Mapping[str, Callable[[], None]] = {
            "/pause": feed.gate.pause,
            "/go": feed.gate.go,
            "/step": feed.gate.step,
        }
        if self.path not in actions:
            return self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        actions[self.path]()
        with feed.lock:
            feed.changed.notify_all()
        self._say_json(feed.status())

    # --- who asks --------------------------------------------------------------------------------

    def _is_from_here(self) -> bool:
        """Is it our own page that asks, or somebody at a command line?"""
        host = self.headers.get("Host", "")
        if not self.page.is_known(host):
            said = f"{host!r} is no name of this page: name it with --host-name"
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, said)
            return False
        origin = self.headers.get("Origin")
        is_own = origin is None or urlsplit(origin).netloc == host
        site = self.headers.get("Sec-Fetch-Site", "none")
        visits = self.headers.get("Sec-Fetch-Mode") == "navigate" and self.command == "GET"
        if not is_own or (site not in ("none", "same-origin") and not visits):
            self._refuse(HTTPStatus.FORBIDDEN, "pages of others may not ask here")
            return False
        return True

    def _is_welcome(self) -> bool:
        token = self.page.shown.token
        if token is None or is_bearer(self.headers.get("Authorization"), token):
            return True
        cookies = self.headers.get("Cookie", "").split("; ")
        return any(_same(one, self.page.cookie) for one in cookies)

    def _let_in(self, said: bytes) -> None:
        token = self.page.shown.token
        given = parse_qs(said.decode("utf-8", "replace")).get("token", [""])[0].strip()
        if token is None or not _same(given, token):
            time.sleep(GUESS)
            return self._say(
                _door("This is not the token.").encode(), "text/html", HTTPStatus.FORBIDDEN
            )
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        self.send_header("Set-Cookie", f"{self.page.cookie}; HttpOnly; SameSite=Strict; Path=/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    # --- answers ---------------------------------------------------------------------------------

    def _read(self) -> bytes | None:
        said = self.headers.get("Content-Length") or "0"
        if not said.isdecimal() or int(said) > MOST_SAID:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"say at most {MOST_SAID} bytes")
            return None
        return self.rfile.read(int(said))

    def _head(self, status: HTTPStatus, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")

    def _say(self, data: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._head(status, kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _say_json(self, value: object) -> None:
        self._say(json.dumps(value).encode(), "application/json")

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        self._say(f"{problem}\n".encode(), "text/plain", status)

    def _tell(self) -> None:
        """What is new, as long as somebody listens; several steps are told as one."""
        page, feed = self.page, self.page.feed
        if not page.browsers.acquire(blocking=False):
            problem = f"{MOST_BROWSERS} browsers are looking already"
            return self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        try:
            self._head(HTTPStatus.OK, "text/event-stream")
            self.end_headers()
            told: dict[str, Any] = {}
            while not page.closing:
                status = feed.status()
                if status != told:
                    self.wfile.write(f"data: {json.dumps(status)}\n\n".encode())
                    told = status
                else:
                    self.wfile.write(b": nothing new\n\n")
                time.sleep(EVERY)
                with feed.lock:
                    if feed.status() == told and not page.closing:
                        feed.changed.wait(ALIVE)
        finally:
            page.browsers.release()


def _same(said: str, wanted: str) -> bool:
    return hmac.compare_digest(said.encode("utf-8", "replace"), wanted.encode())


# --- documents -----------------------------------------------------------------------------------

_HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n<title>{title}</title>\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css"></head>\n'
)


def _document(title: str) -> str:
    """The page. All that a run says comes as data, none of it as HTML."""
    body = files("horai.report").joinpath("assets", "page.html").read_text(encoding="utf-8")
    head = _HEAD.format(title=escape(title))
    return f'{head}<body>{body}\n<script src="/page.js"></script></body></html>\n'


def _door(problem: str = "") -> str:
    """Asks for the token."""
    head = _HEAD.format(title="Horai")
    return (
        f'{head}<body><form id="door" method="post" action="/token"><h1>Horai</h1>'
        '<p><input hidden name="user" value="horai" autocomplete="username">'
        '<label>Token <input name="token" type="password" autocomplete="current-password" '
        f'required autofocus></label> <button>open</button></p><p role="status">{problem}</p>'
        "</form></body></html>\n"
    )
