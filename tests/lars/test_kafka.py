"""Signals of topics as they come, and answers as messages: against a real broker."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner
from tests.brokers import Broker

import horai
from horai.cli.app import app
from horai.io import InputError
from horai.io.sources.kafka import Topic, TopicReader, TopicSink

PROGRAM = "h(X) :- b(X) [2 s].\n"
ROWS = ["b|1|1|x", "b|3|3|y", '{"type": "b", "time": 4, "args": ["z"]}']
LAST = "b|9|9|end"  # what comes after the end of a run ends it


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.lars").write_text(PROGRAM)
    return tmp_path


def run(*words: str, status: int = 0) -> tuple[str, str]:
    result = CliRunner().invoke(app, ["run", "p.lars", *words])
    assert result.exit_code == status, result.output
    return result.stdout, result.stderr


def test_a_topic_is_followed(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, [*ROWS[:2], json.dumps(json.loads(ROWS[2]), indent=1), LAST])
    words = ("--start", "0", "--end", "6", "--format", "text")
    found, _ = run("-i", kafka.url(topic), "--live", *words)
    Path("f.csv").write_text("\n".join(ROWS[:2]) + "\nb|4|4|z\n")
    assert found == run("-i", "f.csv", *words)[0]
    assert "4: h(y), h(z)" in found


def test_what_cannot_be_read_is_named_by_its_offset(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["b|1|1|x", None, "b|oops|1|x", LAST])
    _, said = run("-i", kafka.url(topic), "--live", "--end", "2", "--dead-letters", "lost.jsonl")
    lost = [json.loads(line) for line in Path("lost.jsonl").read_text().splitlines()]
    assert [(letter["line"], letter["code"]) for letter in lost] == [
        *((1, "null"), (2, "bad-time"), (3, "outside-run"))
    ]
    assert lost[0]["file"] == f"{kafka.url(topic)}/0"
    assert "3 rows were not used" in said


def test_answers_are_messages_and_what_is_said_of_an_atom_stays_in_order(kafka: Broker) -> None:
    source, sink = kafka.topic(), kafka.topic(3)
    kafka.send(source, [f"b|{t}|{t}|v{t % 5}" for t in range(20)] + ["b|99|99|end"])
    words = ("-i", kafka.url(source), "--live", "--end", "25", "--answers", "changelog")
    printed, _ = run(*words, "-o", f"stdout,{kafka.url(sink)}")
    sent = [json.loads(value) for value in kafka.read(sink)]
    shown = [json.loads(line) for line in printed.splitlines()]
    assert sorted(map(str, sent)) == sorted(map(str, shown))
    for name in {str(row["args"]) for row in shown}:
        mine = [row for row in sent if str(row["args"]) == name]
        assert mine == [row for row in shown if str(row["args"]) == name]


def test_a_saved_run_goes_on_after_the_last_message(kafka: Broker) -> None:
    topic = kafka.topic()
    state = ("--state", "s.bin", "--live", "-i", kafka.url(topic), "--answers", "changelog")
    kafka.send(topic, ["b|1|1|x", "b|3|3|y", "b|7|7|z"])
    first, _ = run(*state, "--start", "0", "--end", "5")
    saved = horai.load_session(Path("s.bin").read_bytes())
    assert sum(saved.offsets.values()) == 3
    kafka.send(topic, ["b|8|8|w", "b|20|20|end"])
    second, _ = run(*state, "--end", "12")
    rows = ["b|1|1|x", "b|3|3|y", "b|7|7|z", "b|8|8|w"]
    whole = horai.loads(PROGRAM, language="lars").run(rows, start=0, end=12).rows("changelog")
    told = [json.loads(line) for line in (first + second).splitlines()]
    assert told == [row.as_dict() for row in whole]


def test_it_is_ended_by_an_interrupt(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["b|1|1|x", "b|2|2|y"])
    words = ["run", "p.lars", "-i", kafka.url(topic), "--live", "--format", "text"]
    words += ["--state", "s.bin"]
    # Where tests run in the background interrupts are ignored, and whoever they start would too.
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    program += "from horai.cli import main; main()"
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "1: h(x)\n"
        process.send_signal(signal.SIGINT)  # in the middle of the second message
        assert process.stdout.read() == "2: h(x), h(y)\n"
        assert process.wait(60) == 0
    assert horai.load_session(Path("s.bin").read_bytes()).offsets == {f"{kafka.url(topic)}/0": 2}


# --- what is wrong --------------------------------------------------------------------------------


def test_topics_that_are_not_there(kafka: Broker) -> None:
    topic = kafka.topic()
    _, said = run("-i", kafka.url(topic + "x"), "--live", status=2)
    assert f"did you mean {topic}" in said
    Path("f.csv").write_text("b|1|1|x\n")
    _, said = run("-i", "f.csv", "-o", kafka.url(topic + "x"), status=2)
    assert f"there is no topic {topic}x" in said
    _, said = run("-i", "kafka://nowhere", "--live", status=2)
    assert "write kafka://HOST:PORT/TOPIC" in said


def test_messages_that_were_removed_are_missed(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["b|1|1|x"])
    with pytest.raises(InputError, match="has the messages 0 to 0, not 7"):
        TopicReader(Topic(kafka.address, topic), {f"{kafka.url(topic)}/0": 7})


def test_a_closed_follower_stops(kafka: Broker) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["b|1|1|x"])
    closed = Event()
    lines = TopicReader(Topic(kafka.address, topic), {}).lines(closed)
    assert next(lines).text == "b|1|1|x"
    closed.set()
    assert list(lines) == []


def test_a_broker_that_takes_no_more(kafka: Broker, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = TopicSink(Topic(kafka.address, kafka.topic()))
    with pytest.raises(InputError, match="does not take answers"):
        sink.write("x" * 3_000_000)
