"""Topics of Kafka: every message is a row, a JSON object or a line of a narrative.

A topic is named `kafka://HOST:PORT/TOPIC`, with commas between several servers. What a row comes
from is told by partition and offset: the file is the topic with its partition, the line the offset.
A topic is read as it is now, followed line by line, or opened as a stream of Spark; answers are
written to it as messages.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from difflib import get_close_matches
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from horai.io.items.csv import read_csv
from horai.io.items.json import read_json_lines
from horai.io.items.narratives import read_narrative
from horai.io.items.rows import RowReader
from horai.io.items.tables import Harvest
from horai.io.letters import InputError
from horai.io.schema import Format
from horai.io.secrets import kafka_client, kafka_spark
from horai.io.sources.protocol import (
    InputLine,
    LineSink,
    Offsets,
    Source,
    Taker,
    Told,
    lines_format,
)

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Message
    from pyspark.sql import DataFrame, SparkSession


SCHEME = "kafka://"
PATIENCE = 10.0  # seconds that a broker may take to answer
AT_ONCE = 10_000  # messages that are fetched together
_URL = re.compile(r"kafka://([^/\s]+:\d+(?:,[^/\s,]+:\d+)*)/([A-Za-z0-9._-]{1,249})")


class Topic(NamedTuple):
    """A topic and where to ask for it."""

    servers: str
    name: str

    @property
    def url(self) -> str:
        """How people name it."""
        return f"{SCHEME}{self.servers}/{self.name}"

    def partition(self, number: int) -> str:
        """The name that stands as the file of rows of a partition."""
        return f"{self.url}/{number}"


def topic_of(url: str) -> Topic:
    """The topic that a text names.

    >>> topic_of("kafka://localhost:9092/signals")
    Topic(servers='localhost:9092', name='signals')
    """
    found = _URL.fullmatch(url)
    if "@" in url:
        hint = "HORAI_KAFKA_USERNAME and HORAI_KAFKA_PASSWORD, or HORAI_KAFKA_PASSWORD_FILE, say it"
        raise InputError(url, "a topic is named without user and password", hint=hint)
    if found is None:
        raise InputError(url, "this names no topic", hint="write kafka://HOST:PORT/TOPIC")
    return Topic(found[1], found[2])


def read_messages(
    file: str,
    offsets: Sequence[int],
    values: Sequence[bytes | None],
    options: RowReader,
    header: bytes | None = None,
) -> Harvest:
    """The rows of messages. One without a value is a dead letter, like any bad row.

    With the `header` of a file they are CSV.
    """
    harvest = Harvest(options._replace(file=file))
    for line, value in enumerate(values, 1):
        if value is None or not value.strip():
            harvest.refuse(line, b"", "null", "the message has no value")
    # A line break inside a message is no end of a row: JSON takes a blank for it.
    lines = [(value or b"").replace(b"\n", b" ") for value in values]
    text = b"\n".join(lines)
    read = read_json_lines if options.is_json(text) else read_narrative
    if header is not None:
        read, text, offsets = read_csv, header + b"\n" + text, [1, *offsets]
    try:
        harvest.settle()
        read(io.BytesIO(text), harvest)
    except InputError as error:
        if error.line is None:
            raise
        raise error.at(offsets[error.line - 1]) from None
    return _at_offsets(harvest, np.asarray(offsets, np.int64))


def _at_offsets(harvest: Harvest, offsets: Any) -> Harvest:
    """The rows with offsets for their lines."""
    harvest.tables = [
        table.with_lines(offsets[table.table.column("line").to_numpy() - 1])
        for table in harvest.tables
    ]
    harvest.items = [item._replace(line=int(offsets[item.line - 1])) for item in harvest.items]
    harvest.letters = [
        letter._replace(line=int(offsets[letter.line - 1])) for letter in harvest.letters
    ]
    return harvest


def look(topic: Topic) -> None:
    """Raise if a topic is not there, or nobody who knows."""
    with closing(consumer_of(topic)) as consumer:
        partitions_of(consumer, topic)


class KafkaSource(Source):
    """All messages of a topic that are committed, from the oldest on.

    Spark keeps in the checkpoint how far it has read, and reads the same messages again if a step
    is done again. `most` is how many messages there are in a micro-batch, at most.
    """

    form = "kafka://HOST:PORT/TOPIC"
    are_messages = True
    layout = "messages"
    parts = ("kafka",)

    def __init__(self, url: str, format: Format | None = None, most: int | None = None) -> None:
        self.topic = topic_of(url)
        self.url, self.format, self.most = url, lines_format(url, format), most
        self.name = f"the topic {self.topic.name} of Kafka"  # servers may move

    def read(self, options: RowReader) -> Harvest:
        """All messages that it has now."""
        if options.format not in (None, "jsonl", "narrative"):
            hint = "messages are JSON objects (jsonl) or lines of a narrative"
            raise InputError(self.url, f"a topic cannot be read as {options.format}", hint=hint)
        whole = Harvest(options._replace(file=self.url))
        for partition, some in sorted(TopicReader(self.topic).all().items()):
            values = [message.value() for message in some]
            offsets = [message.offset() for message in some]
            file = self.topic.partition(partition)
            found = read_messages(file, offsets, values, options)  # type: ignore[arg-type]
            whole.tables += found.tables
            whole.items += found.items
            whole.letters += found.letters
        return whole

    def follow(self, taker: Taker) -> Callable[[], None]:
        """Read it from the offsets that are known, until somebody closes."""
        reader = TopicReader(self.topic, taker.offsets)

        def run() -> None:
            for line in reader.lines(taker.closed):
                taker.put([line])

        return run

    def sink(self, told: Told) -> LineSink:
        """Messages of the topic."""
        return TopicSink(self.topic)

    def check(self) -> None:
        """The topic has to be there."""
        look(self.topic)

    def open(self, spark: SparkSession) -> DataFrame:
        """Messages with the partition and offset that they have."""
        settings = {
            "kafka.bootstrap.servers": self.topic.servers,
            "subscribe": self.topic.name,
            "startingOffsets": "earliest",
            "kafka.isolation.level": "read_committed",
            **kafka_spark(),
        }
        if self.most is not None:
            settings["maxOffsetsPerTrigger"] = str(self.most)
        return spark.readStream.format("kafka").options(**settings).load()


def partitions_of(consumer: Consumer, topic: Topic) -> list[int]:
    """The partitions of a topic."""
    from confluent_kafka import KafkaException

    try:
        known = consumer.list_topics(timeout=PATIENCE).topics
    except KafkaException as error:
        hint = "check host and port, and that the broker runs"
        raise InputError(topic.url, f"no broker answers at {topic.servers}", hint=hint) from error
    if topic.name not in known:
        near = get_close_matches(topic.name, known, 1)
        hint = f"did you mean {near[0]}?" if near else "check its name"
        raise InputError(topic.url, f"there is no topic {topic.name}", hint=hint)
    return list(known[topic.name].partitions)


def client_of(topic: Topic) -> dict[str, Any]:
    """The settings of every client of a broker."""
    # What goes wrong is told once, in words.
    return {"bootstrap.servers": topic.servers, "log_level": 0, **kafka_client()}


def consumer_of(topic: Topic) -> Consumer:
    """Somebody who can read a topic, and commits nothing; a kind error if there is no client."""
    try:
        from confluent_kafka import Consumer
    except ImportError:
        hint = "pip install 'horai[kafka]'"
        raise InputError(topic.url, "there is no client for Kafka here", hint=hint) from None
    settings: dict[str, Any] = {
        **client_of(topic),
        "group.id": "horai",  # asked for, though nothing is committed
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
    }
    return Consumer(settings)


LINES_AT_ONCE = 1000  # messages that are fetched together
POLL = 0.05  # seconds after which who has nothing new looks whether he may stop


class TopicReader:
    """Reads a topic from `offsets` on, or from its oldest messages; only committed ones.

    What is wrong with the topic is told before it is read.
    """

    def __init__(self, topic: Topic, offsets: Offsets = MappingProxyType({})) -> None:
        self.topic = topic
        self._ends: dict[int, int] = {}
        self._consumer = consumer_of(topic)
        try:
            self._assign(offsets)
        except BaseException:
            self._consumer.close()
            raise

    def _assign(self, offsets: Offsets) -> None:
        """Go to the first message of each partition that is to be read; note where it ends now."""
        from confluent_kafka import KafkaException, TopicPartition

        places, url = [], self.topic.url
        for number in partitions_of(self._consumer, self.topic):
            place = TopicPartition(self.topic.name, number)
            try:
                low, high = self._consumer.get_watermark_offsets(place, timeout=PATIENCE)
            except KafkaException as error:
                problem = f"partition {number} cannot be read: {error.args[0].str()}"
                raise InputError(url, problem, hint="try again when it has a leader") from error
            first = offsets.get(self.topic.partition(number), low)
            if not low <= first <= high:
                problem = f"partition {number} has the messages {low} to {high - 1}, not {first}"
                hint = "messages were removed before they were read: begin anew"
                raise InputError(url, problem, hint=hint)
            places.append(TopicPartition(self.topic.name, number, first))
            if first < high:
                self._ends[number] = high
        self._consumer.assign(places)

    def _some(self, most: int, seconds: float) -> Iterator[tuple[int, int, Message | None]]:
        """Messages with partition and number; None is what a partition has at its end."""
        from confluent_kafka import KafkaError

        for message in self._consumer.consume(most, timeout=seconds):
            error, partition = message.error(), message.partition() or 0
            if error is None:
                yield partition, message.offset() or 0, message
            elif error.code() == KafkaError._PARTITION_EOF:
                yield partition, self._ends.get(partition, 0), None
            else:
                raise InputError(self.topic.url, f"it cannot be read: {error.str()}")

    def all(self) -> dict[int, list[Message]]:
        """All messages that there are now, by partition, oldest first."""
        found: dict[int, list[Message]] = {}
        waiting = dict(self._ends)
        with closing(self._consumer):
            while waiting:
                for partition, offset, message in self._some(AT_ONCE, 1.0):
                    if message is not None and offset < self._ends.get(partition, 0):
                        found.setdefault(partition, []).append(message)
                    if offset + 1 >= self._ends.get(partition, 0):
                        waiting.pop(partition, None)
        return found

    def lines(self, closed: Event) -> Iterator[InputLine]:
        """All messages, and those to come, until somebody closes."""
        with closing(self._consumer):
            while not closed.is_set():
                for partition, offset, message in self._some(LINES_AT_ONCE, POLL):
                    if message is not None:
                        text = (message.value() or b"").decode("utf-8", "surrogateescape")
                        line = text.replace("\n", " ").rstrip("\r")
                        yield InputLine(self.topic.partition(partition), offset, line)


class TopicSink:
    """Sends each line as a message. What is said of an atom stays in its order: it has a key."""

    def __init__(self, topic: Topic) -> None:
        look(topic)
        from confluent_kafka import Producer

        self._topic = topic
        self._refused: str | None = None
        self._producer = Producer(client_of(topic) | {"enable.idempotence": True})

    def write(self, text: str) -> None:
        """Send lines, and see that they have arrived."""
        from confluent_kafka import KafkaException

        for line in text.splitlines():
            try:
                self._produce(line)
            except KafkaException as error:
                self._hear(error.args[0], None)
        left = self._producer.flush(PATIENCE)
        if left or self._refused is not None:
            problem = self._refused or f"{left} messages are not taken"
            hint = "check that the broker runs, and lets messages be written"
            raise InputError(self._topic.url, f"it does not take answers: {problem}", hint=hint)

    def _produce(self, line: str) -> None:
        while True:
            try:
                self._producer.produce(self._topic.name, line, _key(line), callback=self._hear)
                return
            except BufferError:
                self._producer.poll(1)

    def _hear(self, error: Any, message: Any) -> None:
        if error is not None:
            self._refused = str(error.str())


def _key(line: str) -> str | None:
    """The atom that a row is about.

    >>> _key('{"kind":"atom","query":3,"name":"h","args":["x",7]}'), _key("3: h(x)")
    ('h(x,7)', None)
    """
    if not line.startswith("{"):
        return None
    row = json.loads(line)
    args = ",".join(str(arg) for arg in row.get("args", ()))
    return f"{row.get('name', row.get('kind'))}({args})"
