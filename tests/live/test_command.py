"""`horai serve` as people call it: files, standard input and topics, wrong words, and its end."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.brokers import Broker
from tests.live.serving import PATIENCE, PROGRAM, RULES

import horai
from horai.cli.app import app

ROWS = ["speed|1|1|v1|slow", "meet|12|12|v1|v2", "part|31|31|v1|v2", "stop|45|45|v1"]
TOKEN = "open sesame"
# Where tests run in the background interrupts are ignored, and whoever they start would too.
START = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
START += "from horai.cli import main; main()"


class Page:
    """A process, and the page that it serves."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        self.said = process.stderr.readline()
        found = re.match(r"http://[^:]+:([0-9]+)/ is open", self.said)
        assert found, self.said + process.stderr.read()
        self.port = int(found[1])

    def ask(self, path: str, method: str = "GET", token: str | None = None) -> Any:
        """An answer of the page."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        connection.request(method, path, headers=headers)
        return connection.getresponse()

    def until(self, token: str | None = None, **wanted: object) -> dict[str, Any]:
        """Wait until the page tells something."""
        answer = self.ask("/events", token=token)
        while line := answer.readline():
            if line.startswith(b"data: "):
                told: dict[str, Any] = json.loads(line.removeprefix(b"data: "))
                if wanted.items() <= told.items():
                    return told
        raise AssertionError(f"the page ended before it told {wanted}")

    def end(self, number: signal.Signals = signal.SIGINT, status: int = 0) -> str:
        """End it; what it has said since it began."""
        self.process.send_signal(number)
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert self.process.wait(PATIENCE) == status, said
        return said


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("r.ec").write_text(RULES)
    Path("p.lars").write_text(PROGRAM)
    Path("s.csv").write_text("".join(f"{row}\n" for row in ROWS))
    return tmp_path


@contextmanager
def serve(*words: str, stdin: int | None = None, **environment: str) -> Iterator[Page]:
    command = [sys.executable, "-c", START, "serve", *words, "--port", "0"]
    with subprocess.Popen(
        command,
        stdin=stdin,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    ) as process:
        try:
            yield Page(process)
        finally:
            process.kill()


def refused(*words: str) -> str:
    result = CliRunner().invoke(app, ["serve", *words])
    assert result.exit_code == 2, result.output
    return result.stderr


USUAL = ("r.ec", "--window", "100", "--step", "10", "--start", "0")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_a_file_that_grows_and_a_state_that_goes_on(end: signal.Signals) -> None:
    words = (*USUAL, "-i", "s.csv", "--state", "s.bin")
    with serve(*words) as page:
        assert page.until(queries=4)["state"] == "running"
        with Path("s.csv").open("a") as file:
            file.write("stop|71|71|zz\nmeet|75|75|a|b\n")
        page.until(queries=7)
        assert "s.bin is written" in page.end(end)
    saved = horai.load_session(Path("s.bin").read_bytes())
    assert (saved.last, saved.offsets) == (75, {"s.csv": 6})
    with Path("s.csv").open("a") as file:
        file.write("part|88|88|a|b\nstop|101|101|zz\n")
    with serve(*words) as page:
        assert page.until(query="100")["lines"] == 2
        found = json.loads(page.ask("/why?what=near(a,b)%3Dtrue&at=76").read())
        assert "do not show why" in found["problem"]  # its row was another process's
        page.end(end)


def test_standard_input_has_an_end_and_the_page_stays() -> None:
    with serve("p.lars", "-i", "-", stdin=subprocess.PIPE) as page:
        assert page.process.stdin is not None
        page.process.stdin.write("b|1|1|x\nb|3|3|y\n")
        page.process.stdin.close()
        assert page.until(state="ended")["query"] == "3"
        assert page.ask("/data").status == 200
        assert "the input has ended; the page stays until Ctrl-C" in page.end()


def test_paused_from_the_beginning() -> None:
    with serve(*USUAL, "-i", "s.csv", "--paused") as page:
        assert page.until(lines=4)["queries"] == 0
        page.ask("/step", "POST")
        page.until(queries=1, state="paused")
        page.end()


def test_a_token_is_never_shown() -> None:
    words = (*USUAL, "-i", "s.csv", "--address", "0.0.0.0")
    with serve(*words, HORAI_SERVE_TOKEN=TOKEN) as page:
        assert page.said.endswith("is open; it asks for the token\n")
        assert page.ask("/data").status == 401
        page.until(TOKEN, queries=4)
        assert TOKEN not in page.said + page.end()
    Path("token").write_text(f"{TOKEN}\n")
    with serve(*words, "--token-file", "token") as page:
        page.until(TOKEN, queries=4)


def test_bad_rows_are_told_on_the_page_and_with_strict_end_the_run() -> None:
    Path("s.csv").write_text("speed|1|1|v1|slow\nspeed|oops|1|v1|slow\n")
    with serve(*USUAL, "-i", "s.csv") as page:
        page.until(letters=1)
        page.end()
    with serve(*USUAL, "-i", "s.csv", "--strict") as page:
        assert page.process.stderr is not None
        assert "s.csv:2" in page.process.stderr.read()
        assert page.process.wait(PATIENCE) == 2


def test_wrong_words() -> None:
    assert "no input given" in refused("r.ec", "--step", "5")
    assert "there is no step between query times" in refused("r.ec", "-i", "s.csv")
    assert "No such file" in refused(*USUAL, "-i", "nowhere.csv")
    assert "cannot be read line by line" in refused(*USUAL, "-i", "day.parquet")
    said = refused(*USUAL, "-i", "s.csv", "--address", "0.0.0.0")
    assert "a token is needed" in said and "HORAI_SERVE_TOKEN" in said
    assert "cannot be listened at" in refused(*USUAL, "-i", "s.csv", "--port", "99999")
    assert "names no two arguments" in refused(*USUAL, "-i", "s.csv", "--coordinates", "speed")
    assert "has 2 arguments" in refused(*USUAL, "-i", "s.csv", "--coordinates", "speed=2,3")
    assert "--models has no meaning" in refused(*USUAL, "-i", "s.csv", "--models", "all")
    assert "there is no option --live" in refused(*USUAL, "-i", "s.csv", "--live")
    assert "did you mean compiled" in refused(*USUAL, "-i", "s.csv", "--engine", "compild")
    said = refused(*USUAL, "-i", "kafka://nowhere")
    assert "write kafka://HOST:PORT/TOPIC" in said and "is open" not in said
    Path("s.bin").write_text("x")
    assert "no saved session" in refused(*USUAL, "-i", "s.csv", "--state", "s.bin")


def test_a_run_without_a_window_is_warned_of() -> None:
    words = ("r.ec", "--step", "10", "-i", "s.csv", "--port", "0")
    command = [sys.executable, "-c", START, "serve", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert (
            "without --window all that comes is remembered, and memory grows"
            in process.stderr.readline()
        )
        assert "is open" in process.stderr.readline()
        process.kill()


@pytest.mark.slow
def test_a_topic_is_followed_and_gone_on_with(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, ROWS)
    words = (*USUAL, "-i", kafka.url(topic), "--state", "s.bin")
    with serve(*words) as page:
        page.until(queries=4)
        kafka.send(topic, ["stop|71|71|zz"])
        page.until(queries=7)
        page.end(signal.SIGTERM)
    assert horai.load_session(Path("s.bin").read_bytes()).offsets == {f"{kafka.url(topic)}/0": 5}
    kafka.send(topic, ["stop|101|101|zz"])
    with serve(*words) as page:
        assert page.until(query="100")["lines"] == 1
        began = time.monotonic()
        page.end()
        assert time.monotonic() - began < PATIENCE


@pytest.mark.slow
def test_a_topic_that_is_not_there(kafka: Broker) -> None:
    topic = kafka.topic()
    assert f"did you mean {topic}" in refused(*USUAL, "-i", kafka.url(topic + "x"))
