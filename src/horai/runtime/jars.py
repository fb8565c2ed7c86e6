"""The jars that Spark needs for Kafka and Delta Lake, by their Maven coordinates.

They are taken from a folder if there is one, and nothing has to be fetched; otherwise Spark gets
them itself, from Maven Central, the first time a session asks for them.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from importlib import metadata
from pathlib import Path
from typing import Literal

from horai.runtime.refusals import Refused

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
    return Path(named) if named else Path(__file__).parents[3] / ".jars"


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


def settings(parts: Collection[Part]) -> dict[str, str]:
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
