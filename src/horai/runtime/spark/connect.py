"""A Spark session for a run, or in words why there can be none.

The jars that Spark needs for Kafka and Delta Lake have Maven coordinates. They are taken from a
folder if there is one, and nothing has to be fetched; otherwise Spark gets them itself, from Maven
Central, the first time a session asks for them.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from horai.runtime.refusals import Refused

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Part = Literal["kafka", "delta"]
FOLDER = "HORAI_JARS"  # the environment variable that names the folder
SCALA = "2.13"
# Delta Lake is built for one Spark at a time: the last for each.
DELTA = {"4.1": "4.4.0", "4.2": "4.4.0"}
_DELTA_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def coordinate(part: Part, spark: str) -> str:
    """Where Maven has a part for a version of Spark.

    >>> coordinate("kafka", "4.2.0"), coordinate("delta", "4.2.0")
    ('org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0', 'io.delta:delta-spark_4.2_2.13:4.4.0')
    """
    if part == "kafka":
        return f"org.apache.spark:spark-sql-kafka-0-10_{SCALA}:{spark}"
    minor = ".".join(spark.split(".")[:2])
    if minor not in DELTA:
        known = " and ".join(DELTA)
        problem = f"Delta Lake has nothing for Spark {spark}; it has for Spark {known}"
        raise Refused(problem, f"pip install 'pyspark~={max(DELTA)}.0'")
    return f"io.delta:delta-spark_{minor}_{SCALA}:{DELTA[minor]}"


def spark_version() -> str:
    """The version of the PySpark that is installed."""
    return metadata.version("pyspark")


def folder() -> Path:
    """Where jars are looked for: the folder that `make jars` fills, unless another is named."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else Path(__file__).parents[4] / ".jars"


def fetched(part: Part) -> list[Path]:
    """The jars of a part in the folder; none if it was not fetched for this Spark."""
    here = folder() / part
    said = here / "coordinate"
    if not said.is_file() or said.read_text(encoding="utf-8").strip() != _wanted(part):
        return []
    return sorted(here.glob("*.jar"))


def _wanted(part: Part) -> str | None:
    try:
        return coordinate(part, spark_version())
    except (Refused, metadata.PackageNotFoundError):
        return None


def jar_settings(parts: Collection[Part]) -> dict[str, str]:
    """The settings with which a session has to be started, so that it has these parts."""
    found: dict[str, str] = {}
    jars: dict[str, Path] = {}
    absent: list[str] = []
    for part in sorted(set(parts)):
        here = fetched(part)
        jars |= {jar.name: jar for jar in here}
        if not here:
            absent.append(coordinate(part, spark_version()))
    if jars:
        found["spark.jars"] = ",".join(str(jar.resolve()) for jar in jars.values())
    if absent:
        found["spark.jars.packages"] = ",".join(absent)
    if "delta" in parts:
        found |= _DELTA_SETTINGS
    return found


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
    parts: Collection[Part] = (),
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
    for name, value in (usual | jar_settings(parts) | dict(settings or {})).items():
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


def check_parts(spark: SparkSession, parts: Collection[Part]) -> None:
    """A session cannot learn what it was started without."""
    for part in parts:
        try:
            jvm: Any = spark._jvm
            lookup = jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource
            lookup(part, spark._jsparkSession.sessionState().conf())
        except Exception as error:
            name = coordinate(part, spark.version)
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
