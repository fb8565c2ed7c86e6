"""Items from a topic of Kafka, each message a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from horai.io.formats import Format
from horai.io.letters import InputError
from horai.io.topics import Topic, look, topic_of
from horai.spark.jars import Part
from horai.spark.refusals import Refused
from horai.spark.sources import Layout, lines_format

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """All messages of a topic that are committed, from the oldest on.

    Spark keeps in the checkpoint how far it has read, and reads the same messages again if a step
    is done again. `most` is how many messages there are in a micro-batch, at most.
    """

    topic: Topic
    format: Format | None = None
    most: int | None = None
    layout: Layout = "messages"
    parts: tuple[Part, ...] = ("kafka",)

    @property
    def name(self) -> str:
        """The topic; servers may move."""
        return f"the topic {self.topic.name} of Kafka"

    def check(self) -> None:
        """The topic has to be there."""
        try:
            look(self.topic)
        except InputError as error:
            raise Refused(f"{error.file}: {error.reason}", error.hint) from error

    def open(self, spark: SparkSession) -> DataFrame:
        """Messages with the partition and offset that they have."""
        settings = {
            "kafka.bootstrap.servers": self.topic.servers,
            "subscribe": self.topic.name,
            "startingOffsets": "earliest",
            "kafka.isolation.level": "read_committed",
        }
        if self.most is not None:
            settings["maxOffsetsPerTrigger"] = str(self.most)
        return spark.readStream.format("kafka").options(**settings).load()


def kafka_source(place: str, format: Format | None, most: int | None) -> KafkaSource:
    """The source that people name `kafka://HOST:PORT/TOPIC`."""
    try:
        return KafkaSource(topic_of(f"kafka:{place}"), lines_format(format), most)
    except InputError as error:
        raise Refused(f"kafka:{place} names no topic", error.hint) from error
