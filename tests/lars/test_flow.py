"""Runs that go on: when answers are given, from where signals come, and how a run is taken up."""

from __future__ import annotations

import io as text_io
import json
import socket
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai import io
from horai.asp.engine import AspSession
from horai.cli.app import app
from horai.errors import UsageError
from horai.io.sources.protocol import InputLine, LineCutter, numbered_lines
from horai.io.sources.registry import Incoming, sink_of
from horai.io.sources.sockets import Serving, address_of
from horai.lang.lars.clock import Clock
from horai.runtime.lars.flow import AnswerTiming, Flow
from horai.runtime.lars.signals import AnySignals, LineReader
from horai.runtime.metrics import LATEST

PROGRAM = "h(X) :- b(X) [2 s].\n"
ROWS = ["b|1|1|x", "b|3|3|y", "b|3|3|z", "b|9|9|x"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.lars").write_text(PROGRAM)
    Path("f.csv").write_text("\n".join(ROWS) + "\n")
    return tmp_path


def run(*words: str, status: int = 0, typed: str | None = None) -> str:
    result = CliRunner().invoke(app, ["run", "p.lars", *words], input=typed)
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.output


def flowing(every: str, answers: str = "windows", **settings: Any) -> list[str]:
    """What is said, in the order in which it is; `<` is a row that comes."""
    said: list[str] = []

    def say(groups: Any) -> None:
        rows = [row for group in groups for row in group.rows()]
        said.extend(f"{row.query}{row.op or ':'}{row.args[0] if row.args else '-'}" for row in rows)

    timing = AnswerTiming.parse(every, Clock(1, "s"))
    session = horai.loads(PROGRAM, language="lars").session(
        step=timing.number if timing.by == "time" else 1
    )
    flow = Flow(session, timing, answers, say, **settings)
    reader = LineReader(AnySignals.known([("b", 1)]), io.TimeScale())
    for number, row in enumerate(ROWS):
        said.append("<")
        flow.rows(reader.rows([InputLine("rows", number, row)]))
    flow.close()
    return said


def test_t42_push_asks_for_every_signal_and_pull_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    true_advance = AspSession.advance

    def counted(self: AspSession, time: int, *given: Any) -> Any:
        calls.append(time)
        return true_advance(self, time, *given)

    monkeypatch.setattr(AspSession, "advance", counted)
    reader = LineReader(AnySignals.known([("b", 1)]), io.TimeScale())
    rows = [InputLine("rows", 5 * t + n, f"b|{t}|{t}|{n}") for t in range(10) for n in range(5)]
    for every, number in (("signal", 50), ("1s", 1)):
        timing = AnswerTiming.parse(every, Clock(100, "ms"))
        session = horai.loads("h(X) :- b(X) [1 s].", language="lars").session(
            clock="100ms", engine="asp", step=timing.number if timing.by == "time" else 1
        )
        flow = Flow(session, timing, "windows", lambda said: None)
        calls.clear()
        for row in rows:
            flow.rows(reader.rows([row]))
        flow.close()
        assert len(calls) == number, every


def test_at_every_time() -> None:
    said = flowing("time")
    assert said == ["<", "<", "1:x", "2:x", "<", "<", "3:x", "3:y", "3:z", *_both(4, 5), "9:x"]


def _both(*queries: int) -> list[str]:
    return [f"{query}:{arg}" for query in queries for arg in "yz"]


def test_when_something_changes() -> None:
    said = [one for one in flowing("change") if one != "<"]
    assert said == ["0:-", "1:x", "3:x", "3:y", "3:z", "4:y", "4:z", "6:-", "9:x"]


def test_after_signals() -> None:
    assert flowing("signal") == [
        *("<", "1:x", "<", "3:x", "3:y", "<", "3:x", "3:y", "3:z", "<", "9:x"),
    ]
    assert flowing("2signals") == ["<", "<", "3:x", "3:y", "<", "<", "9:x"]


def test_every_so_often_and_at_the_end() -> None:
    assert [one for one in flowing("4s") if one != "<"] == ["4:y", "4:z"]
    assert flowing("time", "final") == ["<", "<", "<", "<", "9:x"]
    changes = [one for one in flowing("time", "changelog") if one != "<"]
    assert changes == ["1+x", "3+y", "3+z", "4-x", "6-y", "6-z", "9+x"]


def test_a_run_with_an_end() -> None:
    assert [one for one in flowing("time", end=4) if one != "<"][-2:] == ["4:y", "4:z"]
    assert [one for one in flowing("time", end=10) if one != "<"][-1] == "10:x"


@pytest.mark.parametrize("is_live", [True, False])
def test_a_live_run_keeps_numbers_of_its_last_query_times(is_live: bool) -> None:
    Path("f.csv").write_text("b|1|1|x\nb|900|9|y\nb|2500|2500|x\n")
    run("-i", "f.csv", *(["--live"] if is_live else ["--state", "s"]), "--metrics", "m.json")
    told = json.loads(Path("m.json").read_text())
    queries = [window["query"] for window in told["windows"]]
    first = queries[0]
    assert queries == list(range(first, 2501))
    assert LATEST <= len(queries) < 2 * LATEST if is_live else first == 1
    assert sum(window["on_time"] for window in told["windows"]) == (1 if is_live else 2)
    assert (told["run"]["on_time"], told["run"]["late"], told["run"]["items"]) == (2, 1, 3)


def test_wrong_use_of_a_flow() -> None:
    session = horai.loads(PROGRAM, language="lars").session(models="all")
    with pytest.raises(UsageError, match="changes are those of one model"):
        Flow(session, AnswerTiming(), "changelog", lambda rows: None)
    with pytest.raises(UsageError, match="there is no form of answer 'last'"):
        Flow(session, AnswerTiming(), "last", lambda rows: None)


# --- lines ------------------------------------------------------------------------------------


def test_lines_of_all_forms() -> None:
    reader = LineReader(AnySignals.known([("b", 1)]), io.TimeScale())
    texts = ["b|2|1|x", '{"type": "b", "time": 3, "args": ["y"]}', "  ", "Type|Arrival|Time"]
    rows = list(reader.rows(numbered_lines("in", texts)))
    rows += reader.rows([InputLine("in", 5, "b(z); -c('New York', 1.5); d.")], 7)
    rows += reader.rows([InputLine("in", 6, "b|2|1|w")], 8)
    assert [(row.op, row.name, row.arrival, row.start, row.args) for row in rows] == [
        (1, "b", 2, 1, ("x",)),
        (1, "b", 3, 3, ("y",)),
        (1, "b", 7, 7, ("z",)),
        (-1, "c", 7, 7, ("New York", 1.5)),
        (1, "d", 7, 7, ()),
        (1, "b", 8, 1, ("w",)),
    ]
    assert {row.file for row in rows} == {"in"}
    assert reader.dead_letters == []


def test_lines_that_cannot_be_read() -> None:
    reader = LineReader(AnySignals.known([("b", 1)]), io.TimeScale())
    texts = ["b", "b|x|1|y", "{", '{"type": "b"}']
    assert list(reader.rows(numbered_lines("in", texts))) == []
    assert list(reader.rows(numbered_lines("in", ["b(X)", "b(", "3"], 5), 1)) == []
    codes = [letter.code for letter in reader.dead_letters]
    assert codes == ["field-count", "bad-time", "json", "missing-column", *["bad-term"] * 3]
    assert [letter.line for letter in reader.dead_letters] == [*range(1, 8)]
    strict = LineReader(AnySignals.known([("b", 1)]), io.TimeScale(), strict=True)
    with pytest.raises(io.InputError, match="in:1"):
        list(strict.rows([InputLine("in", 1, "b|x|1|y")]))


# --- the command line -------------------------------------------------------------------------


def test_standard_input_line_by_line() -> None:
    """An answer comes as soon as its point is over, while the stream is still open."""
    words = [sys.executable, "-m", "horai", "run", "p.lars", "-i", "-", "--live"]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write("b|1|1|x\nb|2|2|y\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline()) == {
        "kind": "atom",
        "query": 1,
        "name": "h",
        "args": ["x"],
    }
    process.stdin.close()
    rest = [json.loads(line) for line in process.stdout]
    assert [(row["query"], row["args"]) for row in rest] == [(2, ["x"]), (2, ["y"])]
    process.stdout.close()
    assert process.wait() == 0


def test_live_and_at_once_say_the_same() -> None:
    for words in (
        [],
        ["--answers", "changelog"],
        ["--allowed-lateness", "3", "--answers", "changelog"],
    ):
        assert run("-i", "f.csv", "--live", *words) == run("-i", "f.csv", *words)


def test_the_clock_of_the_machine() -> None:
    Path("p.lars").write_text("seen(X) :- b(X) [inf].\n")
    words = ("-i", "-", "--real-time", "--clock", "10ms", "--answers", "final", "--format", "text")
    out = run(*words, typed="b(x); b(y)\nc(1)\n")
    assert out.partition(": ")[2] == "seen(x), seen(y)\n"


@examples("normal")
@given(st.binary(max_size=40) | st.text("ab\r\n\x0b\u2028é", max_size=40), st.data())
def test_lines_that_come_in_pieces(given: bytes | str, data: st.DataObject) -> None:
    said = given if isinstance(given, bytes) else given.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=4)))
    cutter = LineCutter("in")
    pieces = [said[a:b] for a, b in pairwise([0, *cuts, len(said)]) if a < b]
    found = [line for piece in pieces for line in cutter.take(piece)] + cutter.last()
    file = text_io.TextIOWrapper(text_io.BytesIO(said), "utf-8", errors="surrogateescape")
    wanted = [InputLine("in", n, line.rstrip("\r\n")) for n, line in enumerate(file, 1)]
    assert found == wanted


def test_lines_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.io.sources.protocol.LONGEST_LINE", 10)
    monkeypatch.setattr("horai.io.sources.protocol.SHOWN", 3)
    for size in (1, 7, 50, 1000):
        said = b"abcdefghij\n" + "é".encode() * 100 + b"\nshort\n" + b"x" * 300
        cutter = LineCutter("in")
        pieces = [said[at : at + size] for at in range(0, len(said), size)]
        found = [line for piece in pieces for line in cutter.take(piece)] + cutter.last()
        assert found == [
            InputLine("in", 1, "abcdefghij"),
            InputLine("in", 2, "ééé", True),
            InputLine("in", 3, "short"),
            InputLine("in", 4, "xxx", True),
        ]


def test_sockets() -> None:
    """Signals come from who connects, and answers go to who connects."""
    told: list[str] = []
    incoming = Incoming(["socket:0"], told.append)
    port = int(told[0].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as sender:
        sender.sendall(b"b|1|1|x\nb|2|2|y\n")
    lines = [incoming.next(60) for _ in range(2)]
    assert [line.text for line in lines if line] == ["b|1|1|x", "b|2|2|y"]
    address = address_of("socket:0")
    assert address is not None
    serving = Serving("socket:0", address, told.append)
    with socket.create_connection(("127.0.0.1", int(told[1].rpartition(":")[2]))) as listener:
        while not serving.clients:
            threading.Event().wait(0.01)
        serving.write("hello\n")
        assert listener.makefile().readline() == "hello\n"


def test_a_server_as_source_and_sink() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        received: list[str] = []

        def serve() -> None:
            sink, _ = server.accept()  # answers have their place before signals come
            source, _ = server.accept()
            source.sendall(("\n".join(ROWS) + "\n").encode())
            source.close()
            received.append(sink.makefile().read())
            sink.close()

        other = threading.Thread(target=serve, daemon=True)
        other.start()
        words = ("-i", f"tcp:127.0.0.1:{port}", "--live", "-o", f"tcp:127.0.0.1:{port}")
        process = subprocess.run(
            [sys.executable, "-m", "horai", "run", "p.lars", *words],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert process.returncode == 0, process.stderr
        other.join(60)
    assert received == [run("-i", "f.csv")]


def test_names_of_endpoints() -> None:
    assert address_of("tcp:host:80") == (False, "host", 80)
    assert address_of("socket:0.0.0.0:80") == (True, "0.0.0.0", 80)
    assert address_of("data/tcp.csv") is None
    with pytest.raises(io.InputError, match="neither stdout nor a socket"):
        sink_of("answers.csv", print)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(io.InputError, match="cannot listen there"):
            Incoming([f"socket:{port}"], print)


# --- state ------------------------------------------------------------------------------------


def test_a_run_is_taken_up() -> None:
    words = ("--state", "s.bin", "--answers", "changelog", "--allowed-lateness", "4")
    Path("a.csv").write_text("b|1|1|x\nb|3|3|y\n")
    Path("b.csv").write_text("b|5|2|z\n-b|6|3|y\nb|7|7|x\n")
    Path("f.csv").write_text(Path("a.csv").read_text() + Path("b.csv").read_text())
    first = run("-i", "a.csv", *words, "--start", "0")
    second = run("-i", "b.csv", *words)
    assert "2, 5" not in first
    whole = run("-i", "f.csv", "--start", "0", "--answers", "changelog", "--allowed-lateness", "4")
    assert first + second == whole
    assert '"query":2,"name":"h","args":["z"],"op":"+","arrived":5' in second


def test_a_state_that_does_not_fit() -> None:
    run("-i", "f.csv", "--state", "s.bin")
    assert "leave out --start" in run("-i", "f.csv", "--state", "s.bin", "--start", "3", status=2)
    assert "has passed" in run("-i", "f.csv", "--state", "s.bin", "--end", "3", status=2)
    late = run("-i", "f.csv", "--state", "s.bin", "--allowed-lateness", "3", status=2)
    assert "s.bin was saved with no as allowed-lateness" in late
    Path("p.lars").write_text("g(X) :- b(X) [2 s].\n")
    assert "run of other rules" in run("-i", "f.csv", "--state", "s.bin", status=2)
    Path("s.bin").write_bytes(b"horai")
    assert "this is no saved session" in run("-i", "f.csv", "--state", "s.bin", status=2)


def test_a_saved_session_says_its_language() -> None:
    rules = horai.loads("initiatedAt(on=true, T) :- happensAt(up, T).")
    program = horai.loads(PROGRAM, language="lars")
    for one in (rules, program, horai.combine(rules, program)):
        asked = {} if one is rules else {"clock": "1s"}
        assert horai.load_session(one.session(**asked).save()).rules.language == one.language


def test_values_survive_saving() -> None:
    program = horai.loads('h(X) :- b(X) [9 s]. k("text", 1.5).', language="lars")
    session = program.session(filter="none")
    rows = [{"type": "b", "time": 0, "args": [one]} for one in ("New York", "it's", 2.5, -3)]
    before = session.advance(0, [*rows, *({"type": "b", "time": 5, "args": ["later"]},)])
    again = horai.load_session(session.save())
    assert again.advance(1).texts() == [
        text for text in before.texts() if not text.startswith("b(")
    ]
    assert "h(later)" in again.advance(6).texts()


def test_wrong_use_of_a_session() -> None:
    session = horai.loads(PROGRAM, language="lars").session(start=3)
    assert [answer.query for answer in session.advance(5, ["b|4|4|x"]).answers] == [3, 4, 5]
    with pytest.raises(UsageError, match="query times must grow: 5 is not after 5"):
        session.advance(5)
    with pytest.raises(UsageError, match="allowed-lateness must be at least 0"):
        horai.loads(PROGRAM, language="lars").session(allowed_lateness=-1)
    with pytest.raises(UsageError, match="there is no new query time"):
        horai.loads(PROGRAM, language="lars").session(start=9).advance(3)
    session.advance(6, ["b|2|2|x", "-b|6|6|never"])
    assert [letter.code for letter in session.dead_letters] == [
        "outside-run",
        "unknown-retraction",
    ]


def test_text_of_changes() -> None:
    out = run("-i", "f.csv", "--start", "0", "--allowed-lateness", "2", "--answers", "changelog")
    said = text_io.StringIO(out)
    rows = [json.loads(line) for line in said]
    assert all(row["arrived"] >= row["query"] for row in rows)
    text = run(
        "-i", "f.csv", "--allowed-lateness", "2", "--answers", "changelog", "--format", "text"
    )
    assert text.splitlines()[0] == "1, 1 +: h(x)"
