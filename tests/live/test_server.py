"""Who may look at a live page, what he is told, and that nobody waits for him."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.live.serving import PATIENCE, Served, feed_of, served

from horai.errors import UsageError
from horai.live import server
from horai.live.recent import Limits

ROWS = [
    "speed|1|1|v1|slow",
    "meet|12|12|v1|v2",
    "part|31|31|v1|v2",
    "stop|45|45|v1",
    "stop|90|90|z",
]
TOKEN = "a word that nobody guesses"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path) as found:
        found.grow(*ROWS)
        found.until(lambda: found.feed.queries == 8)
        yield found


def events(answer: http.client.HTTPResponse) -> Iterator[dict[str, object]]:
    """The messages of a stream of them."""
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


def test_the_page_and_its_parts(run: Served) -> None:
    answer = run.ask("/")
    text = answer.read().decode()
    assert answer.status == 200
    assert "<title>Vessels &amp; more</title>" in text
    assert "style=" not in text and "onclick" not in text
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src")
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    for path, kind in (("/page.js", "text/javascript"), ("/page.css", "text/css")):
        found = run.ask(path)
        assert found.headers["Content-Type"] == f"{kind}; charset=utf-8"
        assert len(found.read()) > 1000
    assert run.ask("/../page.py").status == 404
    assert run.ask("/pause").status == 404
    assert run.ask("/why", "POST").status == 404


def test_browsers_are_told_what_is_new(run: Served) -> None:
    told = events(run.ask("/events"))
    first = next(told)
    assert (first["state"], first["query"], first["queries"]) == ("running", "80", 8)
    run.grow("stop|130|130|z")
    for status in told:
        if status["query"] == "120":
            break
    assert status["lines"] == 6
    assert run.feed.version == status["version"] == 12


def test_a_browser_that_sleeps_misses_steps_and_nothing_waits_for_him(run: Served) -> None:
    slow = socket.create_connection(("127.0.0.1", run.page.server_port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    slow.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    run.grow(*(f"speed|{t}|{t}|v{t % 9}|fast" for t in range(100, 3000, 7)))
    run.until(lambda: run.feed.queries == 299)
    told = events(run.ask("/events"))
    assert next(told)["queries"] == 299  # one message, and not 299
    slow.close()


def test_more_browsers_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_BROWSERS", 1)
    monkeypatch.setattr(server, "ALIVE", 0.1)
    with served(tmp_path) as run:
        one = run.ask("/events")
        next(events(one))
        assert run.ask("/events").status == 503
        one.close()  # whoever has gone is noticed when he is told
        run.until(lambda: run.ask("/events").status == 200)


def test_data_are_made_once_for_all(run: Served) -> None:
    first, second = run.ask("/data").read(), run.ask("/data").read()
    assert first == second and len(first) > 500
    before = run.page.snapshot()
    assert run.page.snapshot() is before
    run.grow("stop|130|130|z")
    run.until(lambda: run.feed.queries == 12)
    assert run.page.snapshot() is not before


def test_why_is_proved_from_what_is_kept(run: Served) -> None:
    found = run.read(f"/why?what={quote('near(v1,v2)=true')}&at=13")
    assert "near(v1,v2)=true holds at 13" in found["proof"]["says"]
    assert "stream.csv" in json.dumps(found)
    found = run.read(f"/why?what={quote('near(v1,v2)=true')}&at=3")
    assert found["problem"].startswith("near(v1,v2)=true does not hold at 3")
    assert "problem" in run.read("/why?what=near(v1&at=3")
    assert run.read("/why?what=near&at=noon")["problem"] == "the time is no time-point"
    assert "problem" in run.read("/why")


def test_what_was_let_go_has_no_proof_and_that_is_said(tmp_path: Path) -> None:
    with served(tmp_path, feed_of(limits=Limits(items=2))) as run:
        run.grow(*ROWS, *(f"stop|{t}|{t}|z" for t in range(100, 150)))
        run.until(lambda: run.feed.queries == 14)
        run.grow("stop|200|200|z")
        run.until(lambda: run.feed.queries == 19)
        found = run.read(f"/why?what={quote('near(v1,v2)=true')}&at=13")
        assert "do not show why" in found["problem"]
        assert 90 <= int(found["until"]) < 150


def test_before_the_first_query_time_there_is_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as run:
        assert run.ask("/data").read() == b""
        assert run.read("/why?what=x&at=1") == {"problem": "nothing is known yet"}
        assert next(events(run.ask("/events")))["state"] == "waiting"


def test_pause_go_on_and_step(run: Served) -> None:
    assert run.read("/pause", method="POST")["state"] == "paused"
    run.grow("stop|130|130|z")
    run.until(lambda: run.feed.lines == 6)
    assert run.feed.queries == 8
    assert run.read("/step", method="POST")["state"] == "paused"
    run.until(lambda: run.feed.queries == 9)
    time.sleep(0.05)
    assert run.feed.queries == 9
    assert run.read("/go", method="POST")["state"] == "running"
    run.until(lambda: run.feed.queries == 12)


# --- who may ask ----------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil.example"])
def test_names_of_others_are_refused(run: Served, host: str) -> None:
    for path in ("/", "/data", "/page.js"):
        answer = run.ask(path, headers={"Host": host})
        assert answer.status == 421
        assert b"--host-name" in answer.read()
    assert run.ask("/pause", "POST", headers={"Host": host}).status == 421
    assert not run.feed.gate.paused


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9", "[::1]:80", "LOCALHOST:1"])
def test_own_names_are_taken(run: Served, host: str) -> None:
    assert run.ask("/", headers={"Host": host}).status == 200


def test_a_name_can_be_added(tmp_path: Path) -> None:
    with served(tmp_path, names=frozenset({"Ships.Example"})) as run:
        assert run.ask("/", headers={"Host": "ships.example:80"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_pages_of_others_cannot_pause_nor_read(run: Served, headers: dict[str, str]) -> None:
    for path in ("/pause", "/step", "/go", "/token"):
        assert run.ask(path, "POST", headers=headers).status == 403
    assert not run.feed.gate.paused
    if "Sec-Fetch-Mode" not in headers:
        assert run.ask("/data", headers=headers).status == 403


def test_our_own_page_may_pause(run: Served) -> None:
    host = f"localhost:{run.page.server_port}"
    own = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    assert run.ask("/pause", "POST", headers=own).status == 200


def test_who_says_too_much_is_refused(run: Served) -> None:
    assert run.ask("/token", "POST", "x" * 5000).status == 413
    assert run.ask("/token", "POST", headers={"Content-Length": "-1"}).status == 413


# --- the token ------------------------------------------------------------------------------------


def test_without_a_token_only_this_machine_is_listened_to() -> None:
    for address in ("0.0.0.0", "::", "192.0.2.7"):
        with pytest.raises(UsageError, match="a token is needed") as refused:
            server.LivePage(feed_of(), server.Shown("x"), address, 0)
        assert "HORAI_SERVE_TOKEN" in str(refused.value.hint)
        assert "--token-file" in str(refused.value.hint)


def test_a_port_that_somebody_has(run: Served) -> None:
    with pytest.raises(UsageError, match="cannot be listened at"):
        server.LivePage(feed_of(), server.Shown("x"), "127.0.0.1", run.page.server_port)


def test_the_token_opens_the_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "GUESS", 0.0)
    with served(tmp_path, address="0.0.0.0", token=TOKEN) as run:
        door = run.ask("/")
        text = door.read().decode()
        assert 'type="password"' in text and TOKEN not in text and "Vessels" not in text
        for path in ("/data", "/events", "/why?what=x&at=1"):
            assert run.ask(path).status == 401
        assert run.ask("/pause", "POST").status == 401
        assert not run.feed.gate.paused
        wrong = run.ask("/token", "POST", "token=wrong")
        assert wrong.status == 403 and "Set-Cookie" not in wrong.headers
        right = run.ask("/token", "POST", f"token={quote(TOKEN)}")
        assert (right.status, right.headers["Location"]) == (303, "/")
        cookie = right.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
        known = {"Cookie": f"other=1; {cookie.partition(';')[0]}"}
        assert run.ask("/data", headers=known).status == 200
        assert b"Vessels" in run.ask("/", headers=known).read()
        assert run.ask("/pause", "POST", headers=known).status == 200
        assert run.ask("/data", headers={"Cookie": "horai=x"}).status == 401


def test_programs_say_the_token_as_a_bearer(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as run:
        assert run.ask("/data", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
        assert run.ask("/data", headers={"Authorization": "Bearer x"}).status == 401
        assert run.ask("/data", headers={"Authorization": TOKEN}).status == 401


# --- the end --------------------------------------------------------------------------------------


def test_closing_lets_everybody_go(tmp_path: Path) -> None:
    with served(tmp_path) as run:
        told = run.ask("/events")
        next(events(told))
    began = time.monotonic()
    assert list(events(told)) == []
    assert time.monotonic() < began + PATIENCE
    with pytest.raises(OSError):
        run.ask("/")


def test_who_asks_too_much_at_once_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_ASKING", 1)
    with served(tmp_path) as run:
        first = socket.create_connection(("127.0.0.1", run.page.server_port))  # says nothing
        run.until(lambda: run.page._places._value == 0)
        with pytest.raises((OSError, http.client.HTTPException)):
            run.ask("/")
        first.close()
        run.until(lambda: run.page._places._value == 1)
        assert run.ask("/").status == 200
