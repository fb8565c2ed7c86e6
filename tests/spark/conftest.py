"""One Spark for all tests: `tests/conftest.py` has those that ask for it run in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.spark.clusters import cluster

from horai.cli.doctor import java
from horai.runtime.spark import connect as jars
from horai.runtime.spark.connect import connect
from horai.runtime.spark.shuffle import SparkGrid

# Spark is young all the time and has few rows: code that is compiled well, and work that is spread
# widely, cost many times what they give.
SETTINGS = {
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def need_java() -> None:
    """Without Java nothing here can be tested, and nobody should believe that it was."""
    found = java()
    if found.found is None:
        pytest.fail(f"these tests need Java: {found.advice}", pytrace=False)


def need_jars() -> None:
    """The same for what Spark needs beside itself: tests do not fetch it."""
    if not (
        jars.fetched("kafka") and jars.fetched("delta") and (jars.folder() / "broker").is_dir()
    ):
        pytest.fail("these tests need jars: make jars", pytrace=False)


@pytest.fixture(scope="session")
def grid() -> Iterator[SparkGrid]:
    """Two tasks at once, in this process's own Spark."""
    need_java()
    need_jars()
    spark = connect("local[2]", SETTINGS, ["kafka", "delta"])
    yield SparkGrid(spark)
    spark.stop()


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a standalone cluster with two workers."""
    need_java()
    with cluster(tmp_path) as address:
        yield address
