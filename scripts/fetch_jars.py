"""Fetch the jars that Spark needs for Kafka and Delta Lake, and a Kafka broker for the tests.

    python scripts/fetch_jars.py [FOLDER]

Maven finds them by their coordinates, with all that they need. A folder that has a part already is
left as it is, so this costs nothing and needs no network the second time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape

import pyspark

from horai.runtime.spark.connect import coordinate, folder, spark_version

BROKER = "org.apache.kafka:kafka_2.13:4.3.1"
# Kafka's connector needs this for delegation tokens, and only for them. Mirrors of Maven Central do
# not always have it for every Spark; the classes have been the same since 4.0.0.
TOKENS = "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0"
# Spark's own project file names a mirror that is tried before Maven Central. It is switched off by
# its name, so that one place is enough: whoever has a mirror of their own sets it for Maven.
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>horai</groupId><artifactId>jars</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>
  <dependencies>{wanted}</dependencies>
  <repositories><repository>
    <id>gcs-maven-central-mirror</id><url>file:.</url>
    <releases><enabled>false</enabled></releases><snapshots><enabled>false</enabled></snapshots>
  </repository></repositories>
</project>
"""
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
MAVEN = ["mvn", "-q", "-B", COPY, "-DincludeScope=runtime", "-DoutputDirectory=jars"]


class NotFetched(Exception):
    """Maven could not get something; its words say why."""


def fetch(wanted: str, into: Path, own: Path | None = None) -> None:
    """Bring a part and what it needs at run time into a folder, all of it or nothing.

    What is in the folder `own` in some version is left out: there must be one of each.
    """
    said = into / "coordinate"
    if said.is_file() and said.read_text(encoding="utf-8").strip() == wanted:
        return
    print(f"fetching {wanted}", flush=True)
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into.parent) as work:
        try:
            _maven(Path(work), wanted)
        except NotFetched as error:
            if TOKENS.split(":")[1] not in str(error):
                raise
            print(f"its token provider is not to be had: {TOKENS} takes its place", flush=True)
            _maven(Path(work), wanted, TOKENS)
        new = Path(work, "jars")
        have = {artifact(jar) for jar in own.glob("*.jar")} if own else set()
        for jar in new.glob("*.jar"):
            if artifact(jar) in have:
                jar.unlink()
        (new / "coordinate").write_text(wanted + "\n", encoding="utf-8")
        shutil.rmtree(into, ignore_errors=True)
        new.rename(into)


def _maven(work: Path, wanted: str, managed: str | None = None) -> None:
    pom = POM.format(wanted=_dependency(wanted), managed=_dependency(managed) if managed else "")
    (work / "pom.xml").write_text(pom, encoding="utf-8")
    run = subprocess.run(MAVEN, cwd=work, capture_output=True, text=True, check=False)
    if run.returncode:
        raise NotFetched(run.stdout + run.stderr)


def _dependency(coordinate: str) -> str:
    group, name, version = (escape(part) for part in coordinate.split(":"))
    inside = (
        f"<groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>"
    )
    return f"<dependency>{inside}</dependency>"


def artifact(jar: Path) -> str:
    """The name of a jar without its version.

    >>> artifact(Path("spark-sql-kafka-0-10_2.13-4.2.0.jar"))
    'spark-sql-kafka-0-10_2.13'
    """
    found = re.fullmatch(r"(.*?)-\d+(\.\d+)+([.-].*)?", jar.stem)
    return jar.stem if found is None else found[1]


def main() -> int:
    """Fetch what is missing."""
    if shutil.which("mvn") is None:
        print("Maven is needed to fetch jars: apt-get install maven", file=sys.stderr)
        return 2
    into = Path(sys.argv[1]) if len(sys.argv) > 1 else folder()
    own = Path(pyspark.__file__).parent / "jars"
    try:
        fetch(coordinate("kafka", spark_version()), into / "kafka", own)
        fetch(coordinate("delta", spark_version()), into / "delta", own)
        fetch(BROKER, into / "broker")
    except NotFetched as error:
        print(f"Maven could not fetch it:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
