"""Spark beside one process: the same rules, the same file, the same answers.

    python bench/bench_spark.py [--only batch,rival,stream,skew,growth,volume] [--events N]
                                [--entities N] [--steps N] [--master URL] [--buckets N] [--runs N]
                                [--quick]

batch    the maritime description in one process (`Rules.run`) and on Spark (`Rules.spark`)
rival    four of its simple fluents: the rules, and what a user would write in Spark SQL instead
stream   the same file as a stream in steps, with a table of what holds; see bench_stream.py
skew     the whole description, events spread evenly, and with half of them about one vessel
growth   Spark with a tenth, a third, all and three times the events: cost per event, and memory
volume   what travels between buckets and rests in them, in bytes

A file with the maritime stream is read and reasoned over in one window, until all intervals and
events are found and counted. Answers of Spark stay with its workers, who read the file. The first
run of each is left out: it loads compiled code, and workers start. CPU time is that of all
processes taking part. Compare within one run.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bench_stream
import spark_rival
import spark_volume
from generators import maritime
from spark_measure import Took, resident, resident_java, took

import horai
from horai.rules import Rules
from horai.runtime.spark.connect import connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HOT = "cargo_1"


class Bench:
    """Settings, a folder for streams, and a Spark that runs."""

    def __init__(self, given: Any, spark: SparkSession, folder: Path) -> None:
        self.given, self.spark, self.folder = given, spark, folder
        self.events, self.entities = given.events, given.entities

    def stream(self, events: int) -> Path:
        """A file with so many events."""
        path = self.folder / f"stream{events}.csv"
        if not path.exists():
            maritime.write(path, events, self.entities)
        return path

    def rules(self) -> Rules:
        """The whole description."""
        return horai.loads(*maritime.rules(self.entities))

    def took(self, job: Callable[[], int]) -> Took:
        """How long it takes."""
        return took(job, self.given.runs)

    def on_spark(self, rules: Rules, path: Path) -> int:
        """Intervals and events that Spark finds, counted there."""
        found = rules.spark(path, buckets=self.given.buckets)
        rows = found.count("fluent") + found.count("event")
        found.unpersist()
        return rows

    def batch(self) -> None:
        """One process, and Spark."""
        rules, path = self.rules(), self.stream(self.events)
        one = self.took(lambda: in_one_process(rules, path))
        many = self.took(lambda: self.on_spark(rules, path))
        assert one.rows == many.rows, (one.rows, many.rows)
        self.show("maritime", self.events, [("one process", one), ("Spark", many)])

    def rival(self) -> None:
        """Four simple fluents: rules, and SQL."""
        background = maritime.rules(self.entities)[1]
        rules, path = horai.loads(spark_rival.RULES, background), self.stream(self.events)
        ways = {
            "one process": lambda: in_one_process(rules, path),
            "Spark": lambda: self.on_spark(rules, path),
            "Spark SQL": lambda: spark_rival.query(self.spark, path, background).count(),
        }
        found = [(name, self.took(job)) for name, job in ways.items()]
        answers = rules.spark(path, buckets=self.given.buckets)
        islands = spark_rival.query(self.spark, path, background)
        assert spark_rival.is_equal(islands, answers.spans), "the query says something else"
        answers.unpersist()
        self.show("four simple fluents", self.events, found)

    def steps(self) -> None:
        """The same file as a stream."""
        steps = 2 if self.given.quick else self.given.steps
        folder, path = self.folder / "steps", self.stream(self.events)
        bench_stream.measure(self.rules(), path, folder, steps, self.given.buckets, self.entities)

    def skew(self) -> None:
        """An even stream, and one with a hot entity."""
        rules, even = self.rules(), self.stream(self.events)
        hot = self.folder / "hot.csv"
        share = heat(even, hot)
        spread = self.took(lambda: self.on_spark(rules, even))
        heated = self.took(lambda: self.on_spark(rules, hot))
        alone = self.took(lambda: in_one_process(rules, hot))
        assert heated.rows == alone.rows, (heated.rows, alone.rows)
        named = [("spread evenly", spread), (f"{share:.0%} one vessel", heated)]
        self.show("skew, on Spark", self.events, named)

    def growth(self) -> None:
        """More and more events."""
        print(f"Spark, cost per event, {self.entities:,} vessels")
        print(f"{'events':>14}{'wall s':>10}{'events/s':>12}{'CPU ns/event':>14}", end="")
        print(f"{'driver MB':>11}{'Java MB':>10}")
        rules = self.rules()
        for events in [self.events // 10, self.events // 3, self.events, 3 * self.events]:
            path = self.stream(events)
            one = self.took(lambda path=path: self.on_spark(rules, path))  # type: ignore[misc]
            cost, speed = one.cpu / events * 1e9, events / one.wall
            print(f"{events:>14,}{one.wall:>10.2f}{speed:>12,.0f}{cost:>14,.0f}", end="")
            print(f"{resident() / 1e6:>11,.0f}{resident_java() / 1e6:>10,.0f}", flush=True)
            path.unlink()

    def volume(self) -> None:
        """Bytes, for few buckets and more."""
        rules, path = self.rules(), self.stream(self.events)
        print(f"volume, {self.events:,} events of {self.entities:,} vessels, bytes per event")
        print(f"a row as text: {path.stat().st_size / self.events:.1f}")
        for buckets in (4, 16, 64):
            batch = spark_volume.batch(rules, path, buckets)
            sent = ", ".join(
                f"{size / self.events:.1f} in {blobs:,}" for blobs, size in batch.sent.values()
            )
            print(f"batch, {buckets} buckets, {batch.stages} stages, {batch.rounds} rounds: {sent}")
            print(f"  answers {batch.answers / self.events:.1f}, driver {batch.messages:,} in all")
            kept = spark_volume.stream(rules, path, buckets, 3600, 1800, 4)
            state = max(kept.bytes) / self.entities
            print(f"stream, {buckets} buckets: state of a vessel {state:,.0f}", end="")
            print(f", from stage to stage {kept.sent / self.events:.1f}")
        narrative = maritime.narrative(self.events, self.entities)
        for buckets in (4, 64, 1000):
            blobs, size = spark_volume.sent(rules, narrative, buckets)
            print(f"read and send, {buckets} buckets: {size / self.events:.1f} in {blobs:,} blobs")

    def show(self, title: str, events: int, found: list[tuple[str, Took]]) -> None:
        """What was measured, each beside the first."""
        rows = f"{found[0][1].rows:,} rows found"
        print(f"{title}, {events:,} events of {self.entities:,} vessels, {rows}")
        print(f"{'':<18}{'wall s':>10}{'events/s':>12}{'CPU s':>10}{'x wall':>9}{'x CPU':>9}")
        first = found[0][1]
        for name, one in found:
            speed = f"{events / one.wall:,.0f}"
            # The CPU of other processes is counted in ticks: a short run may have used none.
            cpu = f"{one.cpu / first.cpu:.2f}" if first.cpu else "-"
            ratios = f"{one.wall / first.wall:>9.2f}{cpu:>9}"
            print(f"{name:<18}{one.wall:>10.2f}{speed:>12}{one.cpu:>10.2f}{ratios}")


def in_one_process(rules: Rules, path: Path) -> int:
    """Intervals and events found."""
    return len(rules.run(path, answers="final").table())


def heat(even: Path, hot: Path) -> float:
    """Every other event is about one vessel now; its share of all of them."""
    number = heated = 0
    with even.open() as lines, hot.open("w") as out:
        for number, line in enumerate(lines, 1):
            fields = line.split("|")
            if number % 2 and fields[0] != "proximity":
                fields[3] = HOT + ("\n" if fields[3].endswith("\n") else "")
                heated += 1
            out.write("|".join(fields))
    return heated / number


PARTS = {
    "batch": Bench.batch,
    "rival": Bench.rival,
    "stream": Bench.steps,
    "skew": Bench.skew,
    "growth": Bench.growth,
    "volume": Bench.volume,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default="batch,rival", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--steps", type=int, default=10, help="of a stream")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--buckets", type=int)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="only to see that it works")
    given = parser.parse_args()
    names = given.only.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]}: there are {', '.join(PARTS)}")
    if given.quick:
        given.events, given.entities = 3_000, 50
    spark = connect(given.master, {"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(given, spark, Path(folder))
        for name in names:
            PARTS[name](bench)
            print()
    spark.stop()


if __name__ == "__main__":
    main()
