"""Changes as messages of a topic, each a JSON object: a step is a transaction.

With its messages a transaction commits the number of the step, as the offset of a group that nobody
reads with. A step that is done again finds its number there and sends nothing. So who reads only
what is committed has every change once, as long as the broker remembers the group, a week after the
last step unless it is set otherwise. Who reads what is not committed may see a step several times.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from horai.io.letters import InputError
from horai.io.sources.kafka import PATIENCE, SCHEME, client_of, look, topic_of
from horai.runtime.refusals import Refused
from horai.runtime.sinks.protocol import About, Changes, Sink, as_dicts

if TYPE_CHECKING:
    from confluent_kafka import Consumer, Producer

TRANSACTION = 300.0  # seconds that a step may take to be sent


class KafkaSink(Sink):
    """One producer for all; whoever goes on with the stream shuts out the one before."""

    form = "kafka://HOST:PORT/TOPIC"

    def __init__(self, place: str) -> None:
        try:
            self.topic = topic_of(place if place.startswith(SCHEME) else f"kafka:{place}")
        except InputError as error:
            raise Refused(f"{error.file}: {error.reason}", error.hint) from None
        self._done = 0
        self._producer: Producer | None = None
        self._group: Consumer | None = None

    def open(self, about: About) -> None:
        """See that the topic is there, and which step was the last to be sent."""
        from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

        name = f"horai-{about.id}"
        try:
            look(self.topic)
            common = client_of(self.topic)
            timeout = int(TRANSACTION * 1000)
            # One for each topic: two producers of one name shut each other out.
            own = {
                "transactional.id": f"{name}-{self.topic.name}",
                "transaction.timeout.ms": timeout,
                "linger.ms": 20,
            }
            self._producer = Producer(common | own)
            self._producer.init_transactions(PATIENCE)
            self._group = Consumer(common | {"group.id": name, "enable.auto.commit": False})
            place = TopicPartition(self.topic.name, 0)
            self._done = max(0, self._group.committed([place], timeout=PATIENCE)[0].offset)
        except InputError as error:
            raise Refused(f"{error.file}: {error.reason}", error.hint) from error
        except KafkaException as error:
            hint = "check that the broker lets transactions be written"
            raise Refused(f"{self.topic.url} cannot be written: {_said(error)}", hint) from error

    def write(self, changes: Changes) -> None:
        """Send the rows of a step, all or none of them."""
        from confluent_kafka import KafkaException

        if not changes.rows or changes.number <= self._done:
            return
        assert self._producer is not None
        try:
            self._producer.begin_transaction()
            self._send(changes)
            self._producer.commit_transaction(TRANSACTION)
        except KafkaException as error:
            hint = "what was not sent comes again when the stream goes on"
            problem = f"{self.topic.url} does not take answers: {_said(error)}"
            raise Refused(problem, hint) from error
        self._done = changes.number

    def _send(self, changes: Changes) -> None:
        from confluent_kafka import TopicPartition

        assert self._producer is not None and self._group is not None
        for row in as_dicts(changes.table()):
            # What is said of one fluent or event stays in its order: it has one partition.
            key = f"{row['name']}({','.join(row['args'])})"
            value = json.dumps(row, ensure_ascii=False)
            while True:
                try:
                    self._producer.produce(self.topic.name, value, key)
                    break
                except BufferError:
                    self._producer.poll(1)
        self._producer.send_offsets_to_transaction(
            [TopicPartition(self.topic.name, 0, changes.number)],
            self._group.consumer_group_metadata(),
            PATIENCE,
        )

    def close(self) -> None:
        """A transaction that was begun and not committed is never seen."""
        if self._group is not None:
            self._group.close()
        self._producer = self._group = None


def _said(error: Exception) -> str:
    """The message of a broker, or of its client."""
    return str(error.args[0].str()) if error.args else str(error)
