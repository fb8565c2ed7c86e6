"""Lines from and to topics of Kafka, as they come: each message is a line.

A topic that is followed is read from its oldest message on, or from where somebody stopped, and has
no end. What is sent is there when `write` returns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from .letters import InputError
from .topics import PATIENCE, Topic, consumer_of, error_codes, look, partitions_of

if TYPE_CHECKING:
    from confluent_kafka import Message

Offsets = Mapping[str, int]
"""By partition, the number of the next message."""
AT_ONCE = 1000  # messages that are fetched together
POLL = 0.05  # seconds after which who has nothing new looks whether he may stop


class Read(NamedTuple):
    """A message as a line: the partition, its number there, and what it says."""

    source: str
    number: int
    text: str


class Follower:
    """Reads a topic, for ever. What is wrong with it is told before it is read."""

    def __init__(self, topic: Topic, offsets: Offsets) -> None:
        self.topic = topic
        self._consumer = consumer_of(topic, {"auto.offset.reset": "error"})
        try:
            self._assign(offsets)
        except BaseException:
            self._consumer.close()
            raise

    def _assign(self, offsets: Offsets) -> None:
        from confluent_kafka import TopicPartition

        places = []
        for number in partitions_of(self._consumer, self.topic):
            place = TopicPartition(self.topic.name, number)
            low, high = self._consumer.get_watermark_offsets(place, timeout=PATIENCE)
            first = offsets.get(self.topic.partition(number), low)
            if not low <= first <= high:
                problem = f"partition {number} has the messages {low} to {high - 1}, not {first}"
                hint = "messages were removed before they were read: begin anew"
                raise InputError(self.topic.url, problem, hint=hint)
            places.append(TopicPartition(self.topic.name, number, first))
        self._consumer.assign(places)

    def lines(self, closed: Event) -> Iterator[Read]:
        """All messages, and those to come, until somebody closes."""
        try:
            while not closed.is_set():
                for message in self._consumer.consume(AT_ONCE, timeout=POLL):
                    error = message.error()
                    if error is None:
                        yield self._line(message)
                    elif error.code() != error_codes()._PARTITION_EOF:
                        raise InputError(self.topic.url, f"it cannot be read: {error.str()}")
        finally:
            self._consumer.close()

    def _line(self, message: Message) -> Read:
        value = message.value() or b""
        text = value.decode("utf-8", "surrogateescape").replace("\n", " ").rstrip("\r")
        return Read(self.topic.partition(message.partition() or 0), message.offset() or 0, text)


class TopicSink:
    """Sends each line as a message. What is said of an atom stays in its order: it has a key."""

    def __init__(self, topic: Topic) -> None:
        look(topic)
        from confluent_kafka import Producer

        self._topic = topic
        self._refused: str | None = None
        settings: dict[str, Any] = {"bootstrap.servers": topic.servers, "log_level": 0}
        self._producer = Producer(settings | {"enable.idempotence": True})

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
