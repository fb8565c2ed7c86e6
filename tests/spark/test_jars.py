"""What Spark needs for Kafka and Delta Lake is found, named or fetched."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests.spark.conftest import need_java

from horai.cli import doctor
from horai.runtime.refusals import Refused
from horai.runtime.spark import connect as jars
from horai.runtime.spark.connect import connect
from horai.runtime.spark.shuffle import SparkGrid

SCRIPT = Path(__file__).parents[2] / "scripts" / "fetch_jars.py"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which jars are looked for."""
    monkeypatch.setenv(jars.FOLDER, str(tmp_path))
    return tmp_path


def put(folder: Path, part: str, coordinate: str | None = None) -> Path:
    (folder / part).mkdir()
    (folder / part / "some.jar").touch()
    said = coordinate or jars.coordinate(part, jars.spark_version())  # type: ignore[arg-type]
    (folder / part / "coordinate").write_text(said + "\n")
    return (folder / part / "some.jar").resolve()


def test_jars_of_the_folder_are_taken(folder: Path) -> None:
    jar = put(folder, "kafka")
    assert jars.jar_settings(["kafka"]) == {"spark.jars": str(jar)}


def test_what_is_not_in_the_folder_spark_fetches_itself(folder: Path) -> None:
    jar = put(folder, "kafka")
    found = jars.jar_settings(["delta", "kafka"])
    assert found["spark.jars"] == str(jar)
    assert found["spark.jars.packages"] == jars.coordinate("delta", jars.spark_version())
    assert "DeltaCatalog" in found["spark.sql.catalog.spark_catalog"]


def test_jars_for_another_spark_are_not_taken(folder: Path) -> None:
    put(folder, "kafka", jars.coordinate("kafka", "4.0.0"))
    assert jars.fetched("kafka") == []


def test_nothing_is_needed_for_nothing(folder: Path) -> None:
    assert jars.jar_settings([]) == {}


def test_a_spark_for_which_there_is_no_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars, "spark_version", lambda: "9.9.0")
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(
        Refused, match=r"(?s)nothing for Spark 9\.9\.0.*pip install 'pyspark~=4\.2\.0'"
    ):
        connect("local", parts=["delta"])


def test_the_doctor_tells_how_to_get_them(folder: Path) -> None:
    absent = {one.name: one for one in doctor.examine() if one.found is None}
    assert set(absent) == {"jars for kafka", "jars for delta"}
    assert "make jars" in absent["jars for kafka"].advice
    assert "spark-sql-kafka" in absent["jars for kafka"].advice
    put(folder, "kafka")
    assert [one.name for one in doctor.examine() if one.found is None] == ["jars for delta"]


def test_what_was_fetched_works(grid: SparkGrid, tmp_path: Path) -> None:
    spark = connect("local[2]", parts=["kafka", "delta"])
    assert spark is grid.spark
    path = str(tmp_path / "table")
    spark.range(3).write.format("delta").save(path)
    assert spark.read.format("delta").load(path).count() == 3


BARE = """
from horai.runtime.refusals import Refused
from horai.runtime.spark.connect import connect
first = connect("local[1]")
try:
    connect("local[1]", parts=["kafka"])
except Refused as error:
    print(error)
first.stop()
"""


def test_a_session_without_them_cannot_learn_it() -> None:
    need_java()
    run = subprocess.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
    assert "this session of Spark has nothing for kafka" in run.stdout
    assert "spark.jars.packages=org.apache.spark:spark-sql-kafka" in run.stdout


def test_fetching_twice_asks_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = runpy.run_path(str(SCRIPT))
    for part in ("kafka", "delta"):
        put(folder, part)
    put(folder, "broker", script["BROKER"])
    monkeypatch.setattr(subprocess, "run", lambda *args, **kw: pytest.fail("Maven was asked"))
    monkeypatch.setattr(sys, "argv", [str(SCRIPT)])
    assert script["main"]() == 0


def test_what_cannot_be_fetched_leaves_nothing_behind(folder: Path) -> None:
    script = runpy.run_path(str(SCRIPT))
    with pytest.raises(script["NotFetched"]):
        script["fetch"]("org.example.nowhere:nothing:1.0", folder / "nothing")
    assert list(folder.iterdir()) == []


def test_names_without_versions() -> None:
    artifact = runpy.run_path(str(SCRIPT))["artifact"]
    names = ["spark-sql-kafka-0-10_2.13-4.2.0.jar", "zstd-jni-1.5.7-3.jar", "jts-core-1.20.0.jar"]
    found = [artifact(Path(name)) for name in names]
    assert found == ["spark-sql-kafka-0-10_2.13", "zstd-jni", "jts-core"]
