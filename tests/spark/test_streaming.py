"""Streams on Spark itself: folders, data frames, sockets; answers as files, tables and requests."""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.streamed_cases import Failing
from tests.spark.test_running import horai_cli

import horai
from horai.errors import RunError, RunFailed, UsageError
from horai.rules import Rules
from horai.runtime import subscriptions
from horai.runtime.sinks.protocol import About, Changes
from horai.runtime.sinks.table import read_current
from horai.runtime.spark.shuffle import SparkGrid

RULES = """
collectIntervals(close(_, _)=true).
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
holdsFor(meeting(V1, V2)=true, I) :-
    holdsFor(close(V1, V2)=true, C), holdsFor(slow(V1)=true, S1), holdsFor(slow(V2)=true, S2),
    intersect_all([C, S1, S2], I).
"""
SETTINGS: dict[str, Any] = {"start": 0, "window": 60, "step": 20}


def stream_of(seed: int, rows: int = 120) -> list[str]:
    """Rows in the order of their arrival, some of them late, some taken back."""
    some = random.Random(seed)
    lines: list[tuple[int, str]] = []
    for _ in range(rows):
        time, late = some.randrange(1, 400), some.choice((0, 0, 3, 15, 90))
        who, other = some.sample(("ann", "bob", "cat", "dan"), 2)
        row = f"velocity|{time + late}|{time}|{who}|{some.randrange(10)}"
        if some.random() < 0.3:
            row = f"close|{time + late}|{time}|{time + some.randrange(1, 50)}|true|{who}|{other}"
        lines.append((time + late, row))
        if some.random() < 0.1:
            name, _, rest = row.split("|", 2)
            lines.append((time + late + 9, f"-{name}|{time + late + 9}|{rest}"))
    return [row for _, row in sorted(lines, key=lambda pair: pair[0])]


def drop(folder: Path, lines: list[str], files: int, first: int = 0) -> None:
    """Files that hold the lines, one after the other."""
    folder.mkdir(exist_ok=True)
    size = -(-len(lines) // files)
    for number in range(files):
        part = "".join(f"{line}\n" for line in lines[number * size : (number + 1) * size])
        path = folder / f"{first + number:03}.txt"
        path.write_text(part, encoding="utf-8")
        # Spark takes files in the order in which they were written.
        os.utime(path, (1_700_000_000 + first + number, 1_700_000_000 + first + number))


def rows_of(table: pa.Table, names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    plain = [
        tuple(tuple(row[name]) if name == "args" else row[name] for name in names)
        for row in table.to_pylist()
    ]
    return sorted(plain, key=str)


FINAL = ("kind", "name", "args", "value", "start", "end", "time")
CHANGES = (*FINAL, "query", "op")


def wanted(rules: Rules, lines: list[str], form: str, **settings: Any) -> list[tuple[Any, ...]]:
    """What one process says."""
    names = FINAL if form == "final" else CHANGES
    result = rules.run(lines, answers=form, **settings)
    found: list[tuple[Any, ...]] = []
    for row in result.rows():
        plain = row._asdict()
        plain["args"] = tuple(map(str, row.args))
        plain["value"] = None if row.value is None else str(row.value)
        found.append(tuple(plain[name] for name in names))
    return sorted(found, key=str)


def changelog(folder: Path) -> pa.Table:
    files = sorted(folder.glob("changes-*.parquet"))
    return pa.concat_tables([pq.read_table(file) for file in files])


@pytest.fixture(scope="module")
def rules() -> Rules:
    return horai.loads(RULES)


def run(rules: Rules, folder: Path, **more: Any) -> None:
    """All that is in the folder, up to its end."""
    settings: dict[str, Any] = SETTINGS | {"files_per_step": 1, "buckets": 2} | more
    sinks = settings.pop("sink", [f"parquet:{folder}/changes", f"table:{folder}/table"])
    rules.stream(
        str(folder / "drop"),
        sink=sinks,
        checkpoint=folder / "checkpoint",
        trigger="available-now",
        **settings,
    ).wait()


def test_a_folder_gives_the_answers_of_one_process(
    grid: SparkGrid, rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "STEPS", 1)  # so that buckets say anew whom they ask for
    lines = stream_of(1)
    drop(tmp_path / "drop", lines, 4)
    run(rules, tmp_path)
    assert rows_of(changelog(tmp_path / "changes"), CHANGES) == wanted(
        rules, lines, "changelog", **SETTINGS
    )
    assert rows_of(read_current(tmp_path / "table"), FINAL) == wanted(
        rules, lines, "final", **SETTINGS
    )
    letters = [
        json.loads(line)["code"]
        for path in sorted((tmp_path / "checkpoint" / "dead-letters").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    one = rules.run(lines, **SETTINGS)
    assert sorted(letters) == sorted(letter.code for letter in one.dead_letters)
    assert "too-late" in letters


def test_what_fails_in_between_goes_on_as_if_nothing_had_happened(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    """The sinks before the one that fails have written the step: they get it again."""
    lines = stream_of(2)
    drop(tmp_path / "drop", lines, 3)
    sinks = [f"parquet:{tmp_path}/changes", f"table:{tmp_path}/table"]
    with pytest.raises(RunFailed, match="the disk is full"):
        run(rules, tmp_path, sink=[*sinks, Failing(2)])
    run(rules, tmp_path, sink=sinks)
    assert rows_of(changelog(tmp_path / "changes"), CHANGES) == wanted(
        rules, lines, "changelog", **SETTINGS
    )
    assert rows_of(read_current(tmp_path / "table"), FINAL) == wanted(
        rules, lines, "final", **SETTINGS
    )


def test_a_streaming_data_frame(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    (tmp_path / "drop").mkdir()
    text = "velocity,3,ann,2\nvelocity,30,ann,7\nvelocity,95,bob,1\noops,96,bob,1\n"
    (tmp_path / "drop" / "a.csv").write_text(text, encoding="utf-8")
    frame = grid.spark.readStream.schema("type string, time long, who string, speed int").csv(
        str(tmp_path / "drop")
    )
    stream = rules.stream(
        frame,
        sink=f"table:{tmp_path}/table",
        checkpoint=tmp_path / "checkpoint",
        trigger="available-now",
        buckets=2,
        **SETTINGS,
    )
    stream.wait()
    found = rows_of(read_current(tmp_path / "table"), ("name", "args", "start", "end"))
    assert found == [("slow", ("ann",), 4, 31), ("slow", ("bob",), 96, None)]
    assert stream.known.totals["dead_letters"] == 1
    assert not stream.is_running


class Slow:
    """A sink that takes longer for a step than a stream waits for items."""

    parts = ()
    has_slept = False

    def open(self, about: About) -> None: ...

    def write(self, changes: Changes) -> None:
        if not self.has_slept:
            time.sleep(7)
        self.has_slept = True

    def close(self) -> None: ...


def test_a_stream_at_work_is_not_idle(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    lines = stream_of(4)
    drop(tmp_path / "drop", lines, 2)
    stream = rules.stream(
        str(tmp_path / "drop"),
        sink=[f"table:{tmp_path}/table", Slow()],
        checkpoint=tmp_path / "checkpoint",
        **SETTINGS | {"files_per_step": 1, "buckets": 2},
    )
    stream.wait(until_idle=5)
    assert rows_of(read_current(tmp_path / "table"), FINAL) == wanted(
        rules, lines, "final", **SETTINGS
    )


@pytest.fixture
def server() -> Iterator[int]:
    """Sends lines to whoever asks."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        line, _ = listener.accept()
        with line:
            line.sendall(b'velocity|3|3|ann|2\n{"odd": 1}\nvelocity|70|70|ann|8\n')
            done.wait(120)

    done = threading.Event()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    done.set()
    listener.close()


def test_a_socket_until_nothing_comes(grid: SparkGrid, server: int, tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8")
    code, out, said = horai_cli(
        *("stream", str(tmp_path / "rules.ec"), "--source", f"tcp:127.0.0.1:{server}"),
        *("--sink", "console", "--checkpoint", str(tmp_path / "c"), "--until-idle", "8s"),
        *("--start", "0", "--window", "60", "--step", "20", "--buckets", "2"),
    )
    assert code == 0, said
    assert out.splitlines() == [
        "20 + slow(ann)=true from 4 on",
        "70 - slow(ann)=true from 4 on",
        "70 + slow(ann)=true from 4 until 71",
    ]
    assert "1 row was not used" in said


def test_conditions_without_a_value_are_told_once(grid: SparkGrid, tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8")
    (tmp_path / "in").mkdir()
    for number, text in enumerate(("velocity|5|5|ann|fast\n", "velocity|30|30|bob|slow\n")):
        (tmp_path / "in" / f"{number}.csv").write_text(text, encoding="utf-8")
    code, _, said = horai_cli(
        *("stream", str(tmp_path / "rules.ec"), "--source", str(tmp_path / "in")),
        *("--sink", "console", "--checkpoint", str(tmp_path / "c"), "--trigger", "available-now"),
        *("--start", "0", "--step", "20", "--buckets", "2", "--files-per-step", "1"),
    )
    assert code == 0, said
    assert said.count("warning[H550]: `S < 5` fails for 1 value") == 1
    assert "S = fast: `fast` is no number" in said
    assert said.count("warning[") == 2  # the other is S >= 5


class Hook(BaseHTTPRequestHandler):
    """Keeps what it is sent; the first request is answered with an error."""

    got: list[tuple[dict[str, str], str]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.got.append((dict(self.headers), body))
        self.send_response(503 if len(self.got) == 1 else 204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None: ...


def test_a_webhook(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    handler = type("Handler", (Hook,), {"got": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    drop(tmp_path / "drop", ["velocity|3|3|ann|2", "velocity|30|30|ann|7"], 1)
    url = f"http://127.0.0.1:{server.server_address[1]}/answers"
    run(rules, tmp_path, sink=f"webhook:{url}")
    server.shutdown()
    server.server_close()
    requests: list[tuple[dict[str, str], str]] = handler.got  # type: ignore[attr-defined]
    assert [head["Horai-Step"] for head, _ in requests] == ["2", "2", "3"]
    assert requests[0][1] == requests[1][1]
    first = json.loads(requests[1][1])
    assert (first["name"], first["args"], first["start"], first["end"], first["op"]) == (
        *("slow", ["ann"], 4, None),
        "+",
    )


# --- wrong use ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "a stream needs --source and --sink and --checkpoint"),
        (["--source", "kafak:x", "--sink", "console", "--checkpoint", "c"], "there is no source"),
        (
            ["--source", "csv:nowhere", "--sink", "console", "--checkpoint", "c"],
            "no folder nowhere",
        ),
        (["--source", "drop", "--sink", "parket:x", "--checkpoint", "c"], "did you mean parquet?"),
        (["--source", "drop", "--sink", "parquet:", "--checkpoint", "c"], "names no place"),
        (
            ["--source", "drop", "--sink", "webhook:x", "--checkpoint", "c"],
            "no address of a webhook",
        ),
        (
            ["--source", "tcp:x", "--sink", "console", "--checkpoint", "c"],
            "use tcp:HOST:PORT",
        ),
        (
            ["--source", "socket:7001", "--sink", "console", "--checkpoint", "c"],
            "Spark does not read from socket:7001",
        ),
        (["--source", "drop", "--sink", "console", "--checkpoint", "s3://x"], "is no folder"),
    ],
)
def test_wrong_words(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop").mkdir()
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8")
    code, _, shown = horai_cli("stream", "rules.ec", *words, "--step", "10")
    assert code == 2
    assert said in shown


def test_when_to_ask_has_to_be_said(rules: Rules, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="when to ask"):
        rules.stream(str(tmp_path), sink="console", checkpoint=tmp_path / "c")
    with pytest.raises(UsageError, match="no length of time"):
        rules.stream(str(tmp_path), sink="console", checkpoint=tmp_path / "c", step=5, trigger="5")


def test_a_checkpoint_belongs_to_one_stream(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    drop(tmp_path / "drop", ["velocity|3|3|ann|2"], 1)
    run(rules, tmp_path)
    other = horai.loads(RULES.replace("S < 5", "S < 4"))
    with pytest.raises(UsageError, match="with other rules"):
        run(other, tmp_path)
    with pytest.raises(UsageError, match="with window 60, not 80"):
        run(rules, tmp_path, window=80)
    with pytest.raises(UsageError, match="in 2 buckets, not 3"):
        run(rules, tmp_path, buckets=3)
    (tmp_path / "again").mkdir()
    drop(tmp_path / "again" / "drop", ["velocity|3|3|ann|2"], 1)
    with pytest.raises(UsageError, match="has the answers of another stream"):
        run(rules, tmp_path / "again", sink=f"parquet:{tmp_path}/changes")


def test_a_predicate_that_fails_ends_the_stream(grid: SparkGrid, tmp_path: Path) -> None:
    def bad(x: Any) -> bool:
        raise ValueError(f"what is {x}?")

    rules = horai.loads(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), bad(X).", predicates=[bad]
    )
    drop(tmp_path / "drop", ["e|3|3|ann", "e|50|50|bob"], 1)
    with pytest.raises(RunError, match=r"what is ann\?"):
        run(rules, tmp_path)


def test_a_folder_that_nobody_may_write(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    (tmp_path / "drop").mkdir()
    (tmp_path / "checkpoint").write_text("a file", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot be written"):
        run(rules, tmp_path)
