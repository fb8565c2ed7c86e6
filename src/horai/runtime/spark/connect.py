"""A Spark session for a run, or in words why there can be none."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.runtime import jars
from horai.runtime.refusals import Refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 5.0  # seconds that a master may take to answer
MASTERS = "local, local[4], local[*], spark://HOST:PORT, yarn or k8s://URL"
_LOCAL = re.compile(r"local(\[(\*|[1-9][0-9]*)(,[0-9]+)?\])?")
_STANDALONE = re.compile(r"spark://([^:/,]+):([0-9]+)(,[^:/,]+:[0-9]+)*")

QUIET = {
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
# Java only moves blobs here, unless Kafka or Delta Lake are in it: to compile it well costs more
# than it gives, many seconds when a session is young.
LIGHT = {
    "spark.driver.extraJavaOptions": "-XX:+IgnoreUnrecognizedVMOptions -XX:TieredStopAtLevel=1"
}


# With workers in the same process nobody else has to reach it.
ALONE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def connect(
    master: str,
    settings: Mapping[str, str] | None = None,
    parts: Collection[jars.Part] = (),
) -> SparkSession:
    """The session that is there, or a new one with a master, with what Kafka and Delta need."""
    check_master(master)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Refused("PySpark is not installed", "pip install 'horai[spark]'") from None
    active = SparkSession.getActiveSession()
    if active is not None:
        check_parts(active, parts)
        return active
    # Workers on this machine have to be the Python that has Horai in it.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("horai")
    usual = QUIET | ({} if parts else LIGHT) | (ALONE if _LOCAL.fullmatch(master) else {})
    for name, value in (usual | jars.settings(parts) | dict(settings or {})).items():
        builder = builder.config(name, value)
    with _log() as log:
        try:
            spark = builder.getOrCreate()
            check_parts(spark, parts)
            Path(log).unlink()  # all went well, and what comes later comes as exceptions
            return spark
        except Refused:
            raise
        except Exception as error:
            hint = f"horai doctor tells what is absent; what Java said is in {log}"
            said = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise Refused(f"Spark does not start: {said}", hint) from error


def check_parts(spark: SparkSession, parts: Collection[jars.Part]) -> None:
    """A session cannot learn what it was started without."""
    for part in parts:
        try:
            jvm: Any = spark._jvm
            lookup = jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
            lookup(part, spark._jsparkSession.sessionState().conf())
        except Exception as error:
            name = jars.coordinate(part, spark.version)
            hint = f"start it with spark.jars.packages={name}"
            raise Refused(f"this session of Spark has nothing for {part}", hint) from error


def check_master(master: str) -> None:
    """Is there such a kind of master, and does it answer?"""
    if _LOCAL.fullmatch(master) or master == "yarn" or master.startswith("k8s://"):
        return
    if not _STANDALONE.fullmatch(master):
        raise Refused(f"{master!r} is no master of Spark", f"use {MASTERS}")
    places = [place.rpartition(":") for place in master.removeprefix("spark://").split(",")]
    if not any(_answers(host, int(port)) for host, _, port in places):
        hint = "check host and port, and that the master runs; local[*] needs none"
        raise Refused(f"no master of Spark answers at {master}", hint)


def _answers(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=PATIENCE):
            return True
    except (OSError, OverflowError):
        return False


@contextmanager
def _log() -> Iterator[str]:
    """Send the output of Java to a file: it chats, and people wait for answers."""
    handle, path = tempfile.mkstemp(prefix="horai-spark-", suffix=".log")
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(handle, 2)
    try:
        yield path
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(handle)
