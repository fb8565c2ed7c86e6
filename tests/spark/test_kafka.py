"""From topic to topic, through a real broker, and into tables of Delta Lake."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.brokers import Broker
from tests.spark import fleet
from tests.spark.test_running import RULES as JOINED

import horai
from horai.errors import UsageError
from horai.io.sources.kafka import KafkaSource
from horai.rules import Rules
from horai.runtime.refusals import Refused
from horai.runtime.sinks.delta import DeltaSink, DeltaTableSink
from horai.runtime.sinks.kafka import KafkaSink
from horai.runtime.sinks.protocol import ROWS, About, Changes
from horai.runtime.sinks.registry import sink_of
from horai.runtime.spark.shuffle import SparkGrid

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
"""


def from_topic_to_topic(
    kafka: Broker,
    grid: SparkGrid,
    folder: Path,
    rules: Rules,
    narrative: Path,
    settings: dict[str, Any],
    most: int,
) -> None:
    """A stream and a run in one process say the same, query time by query time."""
    given, taken = kafka.topic(3), kafka.topic(2)
    with narrative.open() as lines:
        kafka.send(given, (line.rstrip("\n") for line in lines), keys=97)
    # Partitions are read side by side, and not at the same pace: that is what a delay is for.
    stream = rules.stream(
        KafkaSource(kafka.url(given), most=most),
        sink=[kafka.url(taken), f"delta:{folder / 'log'}"],
        checkpoint=folder / "checkpoint",
        trigger="available-now",
        session=grid.spark,
        buckets=3,
        watermark_delay=4 * settings["step"],
        **settings,
    )
    stream.wait()
    found = fleet.stream_changes(map(json.loads, kafka.read(taken)))
    wanted = rules.run(narrative, answers="changelog", **settings)
    assert fleet.summed(found) == fleet.summed(fleet.batch_changes(wanted))
    assert found == fleet.batch_changes(wanted)
    log = grid.spark.read.format("delta").load(str(folder / "log")).toArrow().to_pylist()
    assert fleet.stream_changes(log) == found
    totals, counted = stream.known.totals, wanted.metrics.run
    assert counted.late > 0 and counted.retracted > 0
    for name in ("on_time", "late", "too_late", "retracted", "unknown_retractions"):
        assert totals[name] == getattr(counted, name)


def some_thousand() -> list[str]:
    """Events of fifty entities in the order of arrival, some late and some taken back."""
    dice = random.Random(5)
    lines = []
    for _ in range(3_000):
        time, who = dice.randrange(1, 4_000), f"v{dice.randrange(50)}"
        kind = dice.choice(("e", "g"))
        arrival = time + dice.choice((0, 0, 0, 5, 60, 400))
        lines.append((arrival, f"{kind}|{arrival}|{time}|{who}"))
        if dice.random() < 0.1:
            later = arrival + dice.randrange(1, 200)
            lines.append((later, f"-{kind}|{later}|{time}|{who}"))
        if dice.random() < 0.1:
            other = f"v{dice.randrange(50)}"
            interval = f"{arrival}|{time}|{time + 50}|true|{who}|{other}"
            lines.append((arrival, f"close|{interval}"))
    return [line for _, line in sorted(lines)]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_from_topic_to_topic(kafka: Broker, grid: SparkGrid, tmp_path: Path) -> None:
    narrative = tmp_path / "narrative.txt"
    narrative.write_text("\n".join(some_thousand()) + "\n")
    settings = {"start": 0, "window": 300, "step": 100}
    rules = horai.loads(JOINED)
    from_topic_to_topic(kafka, grid, tmp_path, rules, narrative, settings, 2_000)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_million_events_from_topic_to_topic(
    kafka: Broker, grid: SparkGrid, tmp_path: Path
) -> None:
    narrative = tmp_path / "narrative.csv"
    fleet.write(narrative, 1_000_000, 5_000)
    rules = fleet.rules(5_000)
    from_topic_to_topic(kafka, grid, tmp_path, rules, narrative, fleet.SETTINGS, 200_000)


def stream(kafka: Broker, grid: SparkGrid, folder: Path, source: str, sink: object) -> Any:
    running = horai.loads(RULES).stream(
        source,
        sink=sink,
        checkpoint=folder / "checkpoint",
        trigger="available-now",
        session=grid.spark,
        buckets=1,
        start=0,
        step=10,
    )
    running.wait()
    return running


@pytest.mark.timeout(900)
def test_a_stream_goes_on_where_it_was(kafka: Broker, grid: SparkGrid, tmp_path: Path) -> None:
    given, taken = kafka.topic(), kafka.topic()
    sinks = [kafka.url(taken), f"delta-table:{tmp_path / 'table'}"]
    kafka.send(given, ["win|1|1|chris", "win|5|5|anna", "win|12|12|eve"])
    stream(kafka, grid, tmp_path, kafka.url(given), sinks)
    kafka.send(given, ["-win|13|5|anna", "lose|14|14|chris", "gotoo|15|15|x", "win|31|31|zoe"])
    running = stream(kafka, grid, tmp_path, kafka.url(given), sinks)
    assert running.known.totals["dead_letters"] == 1
    letters = (tmp_path / "checkpoint" / "dead-letters").glob("*.jsonl")
    [letter] = [json.loads(line) for path in letters for line in path.read_text().splitlines()]
    assert (letter["file"], letter["line"]) == (f"{kafka.url(given)}/0", 5)

    said = fleet.stream_changes(map(json.loads, kafka.read(taken)))
    table = {(row[1], row[3], row[4]) for row in fleet.summed(said)}
    assert table == {("chris", 2, 15), ("eve", 13, None), ("zoe", 32, None)}
    rows = grid.spark.read.format("delta").load(str(tmp_path / "table")).collect()
    assert {(row["args"][0], row["start"], row["end"]) for row in rows} == table


def changes(number: int, *rows: tuple[str, int, int | None]) -> Changes:
    """A step that says so of one fluent: op, start and end."""
    same: dict[str, Any] = {"kind": "fluent", "name": "on", "args": ["a"], "value": "true"}
    same |= {"time": None, "query": number}
    plain = [same | {"start": start, "end": end, "op": op} for op, start, end in rows]
    table = pa.Table.from_pylist(plain, ROWS)
    return Changes(number, [number], len(plain), lambda: table, lambda: None)  # type: ignore[arg-type,return-value]


FIRST = changes(2, ("+", 4, None))
SECOND = changes(4, ("-", 4, None), ("+", 4, 9))


def test_a_step_that_is_done_again_is_sent_once(kafka: Broker) -> None:
    topic = kafka.topic()
    sink = sink_of(kafka.url(topic))
    assert isinstance(sink, KafkaSink)
    sink.open(About("one", 0))
    sink.write(FIRST)
    sink.write(SECOND)
    sink.write(SECOND)
    sink.close()
    again = sink_of(kafka.url(topic))  # the driver died before the manifest was there
    again.open(About("one", 2))
    again.write(SECOND)
    again.write(changes(6))
    again.close()
    rows = [json.loads(value) for value in kafka.read(topic)]
    assert [(row["query"], row["op"], row["end"]) for row in rows] == [
        (2, "+", None),
        (4, "-", None),
        (4, "+", 9),
    ]


def test_who_goes_on_shuts_out_the_one_before(kafka: Broker) -> None:
    topic = kafka.topic()
    old, new = sink_of(kafka.url(topic)), sink_of(kafka.url(topic))
    old.open(About("two", 0))
    new.open(About("two", 0))
    with pytest.raises(Refused, match="does not take answers"):
        old.write(FIRST)
    new.write(FIRST)
    assert len(kafka.read(topic)) == 1


def test_a_stream_sends_to_several_topics(kafka: Broker) -> None:
    topics = [kafka.topic(), kafka.topic()]
    sinks = [sink_of(kafka.url(topic)) for topic in topics]
    for sink in sinks:
        sink.open(About("both", 0))
    for step in (FIRST, SECOND):
        for sink in sinks:
            sink.write(step)
    assert [len(kafka.read(topic)) for topic in topics] == [3, 3]


def test_what_was_begun_and_not_committed_is_never_seen(kafka: Broker) -> None:
    topic = kafka.topic()
    sink = KafkaSink(kafka.url(topic))
    sink.open(About("three", 0))
    assert sink._producer is not None
    sink._producer.begin_transaction()
    sink._send(FIRST)
    sink._producer.flush()
    again = KafkaSink(kafka.url(topic))
    again.open(About("three", 0))
    again.write(FIRST)
    assert len(kafka.read(topic)) == 1


def in_frames(grid: SparkGrid, step: Changes) -> Changes:
    """The same step, with its rows in Spark."""
    frame = grid.spark.createDataFrame(step.table())
    return Changes(step.number, step.queries, step.rows, step.table, lambda: frame)


@pytest.mark.timeout(900)
def test_a_step_that_is_done_again_is_in_tables_once(grid: SparkGrid, tmp_path: Path) -> None:
    log, table = DeltaSink(str(tmp_path / "log")), DeltaTableSink(str(tmp_path / "table"))
    for sink in (log, table):
        sink.open(About("one", 0, grid.spark))
        for step in (FIRST, SECOND):
            sink.write(in_frames(grid, step))
        sink.open(About("one", 2, grid.spark))
        sink.write(in_frames(grid, SECOND))
        sink.write(changes(6))
    read = grid.spark.read.format("delta")
    found = read.load(str(tmp_path / "log")).orderBy("query", "op").collect()
    assert [(row["query"], row["op"]) for row in found] == [(2, "+"), (4, "+"), (4, "-")]
    [row] = read.load(str(tmp_path / "table")).collect()
    assert (row["args"], row["start"], row["end"], row["query"]) == (["a"], 4, 9, 4)


def test_a_table_belongs_to_one_stream(grid: SparkGrid, tmp_path: Path) -> None:
    place = str(tmp_path / "table")
    sink_of(f"delta:{place}").open(About("one", 0, grid.spark))
    with pytest.raises(Refused, match="is a table that another writes to"):
        sink_of(f"delta:{place}").open(About("two", 0, grid.spark))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(Refused, match="is not empty"):
        sink_of(f"delta-table:{tmp_path / 'full'}").open(About("one", 0, grid.spark))
    with pytest.raises(Refused, match="are written by Spark"):
        sink_of(f"delta:{place}").open(About("one", 0))


def test_topics_that_are_not_there(
    kafka: Broker, grid: SparkGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.topic()
    with pytest.raises(UsageError, match=f"there is no topic {topic}x"):
        stream(kafka, grid, tmp_path, kafka.url(topic + "x"), "console")
    with pytest.raises(UsageError, match=f"there is no topic {topic}x"):
        stream(kafka, grid, tmp_path, kafka.url(topic), kafka.url(topic + "x"))
    with pytest.raises(UsageError, match="names no topic"):
        stream(kafka, grid, tmp_path, "kafka:somewhere", "console")
    with pytest.raises(UsageError, match="names no topic"):
        stream(kafka, grid, tmp_path, kafka.url(topic), "kafka://somewhere")
    monkeypatch.setattr("horai.io.sources.kafka.PATIENCE", 0.5)
    with pytest.raises(UsageError, match="no broker answers"):
        stream(kafka, grid, tmp_path, "kafka://127.0.0.1:1/topic", "console")
