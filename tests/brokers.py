"""A Kafka broker of one node on this machine, as long as somebody needs it."""

from __future__ import annotations

import base64
import random
import socket
import subprocess
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from horai.cli.doctor import java
from horai.io.sources.kafka import Topic, TopicReader
from horai.runtime.spark.connect import folder

PATIENCE = 120.0
SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
log.dirs={folder}/log
auto.create.topics.enable=false
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


class Broker:
    """A broker that runs, and what tests ask of it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._client = AdminClient(self._settings)
        self._numbers = count()

    @property
    def _settings(self) -> dict[str, str | int | float | bool]:
        return {"bootstrap.servers": self.address, "log_level": 0}

    def topic(self, partitions: int = 1) -> str:
        """The name of a new topic, nobody else's."""
        name = f"topic{next(self._numbers)}"
        for made in self._client.create_topics([NewTopic(name, partitions, 1)]).values():
            made.result()
        self._wait_for([TopicPartition(name, number) for number in range(partitions)])
        return name

    def _wait_for(self, partitions: list[TopicPartition]) -> None:
        """Return when partitions can be read: a topic is there before they have a leader."""
        until = time.monotonic() + PATIENCE
        while True:
            consumer = Consumer(self._settings | {"group.id": "waiting"})
            try:
                for one in partitions:
                    consumer.get_watermark_offsets(one, timeout=5)
                return
            except KafkaException:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            finally:
                consumer.close()

    def url(self, topic: str) -> str:
        """A topic as `horai` is told of it."""
        return f"kafka://{self.address}/{topic}"

    def read(self, topic: str) -> list[bytes]:
        """The values of all messages that are committed, partition by partition."""
        found = TopicReader(Topic(self.address, topic)).all()
        return [message.value() or b"" for _, some in sorted(found.items()) for message in some]

    def send(self, topic: str, values: Iterable[str | bytes | None], keys: int = 0) -> None:
        """Send messages; with `keys`, these are spread over partitions by so many keys."""
        producer = Producer(self._settings)
        for number, value in enumerate(values):
            key = str(number % keys) if keys else None
            while True:
                try:
                    producer.produce(topic, value, key)
                    break
                except BufferError:
                    producer.poll(1)
        assert producer.flush(PATIENCE) == 0


def classpath() -> str:
    """The jars of the broker."""
    if java().found is None:
        pytest.fail(f"these tests need Java: {java().advice}", pytrace=False)
    jars = folder() / "broker"
    if not (jars / "coordinate").is_file():
        pytest.fail("these tests need a Kafka broker: make jars", pytrace=False)
    return f"{jars}/*"


@contextmanager
def broker(folder: Path) -> Iterator[Broker]:
    """A broker that keeps what it knows in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    port, controller = _free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(SETTINGS.format(port=port, controller=controller, folder=folder))
    name = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
    tool = [*JAVA, "-cp", classpath(), "kafka.tools.StorageTool", "format"]
    subprocess.run(
        [*tool, f"--cluster-id={name}", "-c", str(settings)], check=True, capture_output=True
    )
    log = folder / "broker.log"
    with log.open("wb") as out:
        command = [*JAVA, "-cp", classpath(), "kafka.Kafka", str(settings)]
        process = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        _wait(f"127.0.0.1:{port}", process, log)
        yield Broker(f"127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the broker answers."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        client = AdminClient({"bootstrap.servers": address, "log_level": 0})
        try:
            if client.list_topics(timeout=5).brokers:
                return
        except KafkaException:
            time.sleep(0.2)
    raise RuntimeError(f"the broker does not start:\n{log.read_text(errors='replace')}")


def _free_ports(number: int) -> list[int]:
    """Ports that nobody listens at, below those that systems give to whoever asks for any."""
    found: list[int] = []
    for port in random.sample(range(15_000, 30_000), 1_000):
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == number:
            return found
    raise RuntimeError("there is no free port")
