"""Topics of Kafka, read from a real broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.brokers import Broker

import horai
from horai.cli.app import app
from horai.io import InputError, InputSchema, read
from horai.io.sources import kafka as kafka_source
from horai.io.sources.kafka import Topic, topic_of
from horai.io.sources.registry import Incoming

ROWS = [
    "go_to|9|9|chris|work",
    "working|15|10|15|true|chris",
    "-go_to|22|9|chris|work",
    'go_to|22|9|chris|"the | pub"',
]


def test_a_topic_is_read_like_a_file(kafka: Broker, schema: InputSchema, tmp_path: Path) -> None:
    topic = kafka.topic()
    kafka.send(topic, ROWS)
    path = tmp_path / "rows.txt"
    path.write_text("\n".join(ROWS))
    found = read(kafka.url(topic), schema)
    wanted = read(path, schema)
    assert [item[:-2] for item in found.items()] == [item[:-2] for item in wanted.items()]
    assert found.dead_letters == []


def test_partitions_and_offsets_tell_where_a_row_stood(kafka: Broker, schema: InputSchema) -> None:
    topic = kafka.topic(3)
    kafka.send(topic, [f"go_to|{t}|{t}|v{t}|x" for t in range(300)], keys=20)
    found = list(read(kafka.url(topic), schema).items())
    assert sorted(item.start for item in found) == list(range(300))
    places = {(item.file, item.line) for item in found}
    assert len(places) == 300
    assert {file for file, _ in places} == {f"{kafka.url(topic)}/{n}" for n in range(3)}


def test_json_messages_may_have_several_lines(kafka: Broker, schema: InputSchema) -> None:
    topic = kafka.topic()
    row = {"type": "go_to", "time": 9, "args": ["chris", "work"]}
    kafka.send(topic, [json.dumps(row, indent=2), json.dumps(row | {"op": "retract"})])
    assert [item.op for item in read(kafka.url(topic), schema).items()] == [1, -1]


def test_bad_messages_are_dead_letters(kafka: Broker, schema: InputSchema) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["go_to|9|9|chris|work", None, "gotoo|1|1|x", b"\xff\xfe|1|1|x"])
    found = read(kafka.url(topic), schema)
    letters = sorted(found.dead_letters, key=lambda letter: letter.line)
    assert [(letter.line, letter.code) for letter in letters] == [
        (1, "null"),
        (2, "unknown-type"),
        (3, "encoding"),
    ]
    assert letters[0].file == f"{kafka.url(topic)}/0"
    with pytest.raises(InputError, match=r"/0:1: the message has no value"):
        read(kafka.url(topic), schema, strict=True)


def test_strict_reading_names_the_offset(kafka: Broker, schema: InputSchema) -> None:
    topic = kafka.topic()
    kafka.send(topic, ["go_to|9|9|chris|work", "gotoo|1|1|x"])
    with pytest.raises(InputError, match=r"/0:1: unknown type 'gotoo'"):
        read(kafka.url(topic), schema, strict=True)


def test_an_empty_topic_has_nothing(kafka: Broker, schema: InputSchema) -> None:
    assert len(read(kafka.url(kafka.topic(2)), schema)) == 0


def test_a_topic_that_is_not_there(kafka: Broker, schema: InputSchema) -> None:
    topic = kafka.topic()
    with pytest.raises(InputError, match=f"there is no topic {topic}x\n.*did you mean {topic}"):
        read(kafka.url(topic + "x"), schema)


def test_a_partition_without_a_leader(
    kafka: Broker, schema: InputSchema, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.topic()
    monkeypatch.setattr(kafka_source, "partitions_of", lambda *_: [7])
    with pytest.raises(InputError, match=r"partition 7 cannot be read: .*\n.*has a leader"):
        read(kafka.url(topic), schema)


def test_a_broker_that_is_not_there(schema: InputSchema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.io.sources.kafka.PATIENCE", 0.5)
    with pytest.raises(InputError, match=r"no broker answers at 127\.0\.0\.1:1\n"):
        read("kafka://127.0.0.1:1/rows", schema)


@pytest.mark.parametrize("url", ["kafak://host:9092/rows", "amqp://h/q", "https://h/rows.csv"])
def test_a_kind_of_place_that_nobody_knows_is_no_file(url: str, schema: InputSchema) -> None:
    with pytest.raises(InputError, match=r"there is no kind of place .*\n.*kafka://HOST:PORT"):
        read(url, schema)
    with pytest.raises(InputError, match="there is no kind of place"):
        Incoming([url], print)


def test_what_has_no_end_is_not_read_at_once(schema: InputSchema) -> None:
    with pytest.raises(InputError, match=r"it has no end\n.*--live"):
        read("tcp:127.0.0.1:1", schema)


@pytest.mark.parametrize("url", ["kafka://host/topic", "kafka://host:9092", "kafka://h:1/a b"])
def test_names_that_name_no_topic(url: str, schema: InputSchema) -> None:
    with pytest.raises(InputError, match=r"this names no topic\n.*kafka://HOST:PORT/TOPIC"):
        read(url, schema)


def test_formats_that_messages_cannot_have(schema: InputSchema) -> None:
    with pytest.raises(InputError, match="a topic cannot be read as parquet"):
        read("kafka://host:9092/rows", schema, format="parquet")


def test_several_servers() -> None:
    assert topic_of("kafka://a:1,b:2/rows") == Topic("a:1,b:2", "rows")


RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def test_runs_take_topics(kafka: Broker, tmp_path: Path) -> None:
    topic = kafka.topic(2)
    rows = ["win|1|1|chris", "win|3|3|anna", "lose|9|4|chris", "-win|12|3|anna", "win|20|20|eve"]
    kafka.send(topic, rows, keys=3)
    path = tmp_path / "rules.ec"
    path.write_text(RULES)
    wanted = horai.load(path).run("\n".join(rows), window=10, step=5)
    found = horai.load(path).run(kafka.url(topic), window=10, step=5)
    assert list(found.changelog) == list(wanted.changelog)
    assert len(list(found.changelog)) > 2
    words = ["run", str(path), "--input", kafka.url(topic), "--window", "10", "--step", "5"]
    shown = CliRunner().invoke(app, [*words, "--format", "jsonl"])
    assert shown.exit_code == 0, shown.output
    assert '"rich"' in shown.stdout


def test_the_command_line_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "rules.ec"
    path.write_text(RULES)
    shown = CliRunner().invoke(app, ["run", str(path), "--input", "kafka://nowhere"])
    assert shown.exit_code == 2
    assert "write kafka://HOST:PORT/TOPIC" in shown.stderr
