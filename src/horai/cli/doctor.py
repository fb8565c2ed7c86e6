"""`horai doctor`: the parts that Horai needs beside itself: which are there, how to get others."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import click

from horai.cli import console
from horai.cli.command import FAILED, Exit, takes
from horai.engine.core.built import PARTS, NotCompiled, Outdated, compiled
from horai.errors import UsageError, counted
from horai.runtime.spark import connect

OLDEST_JAVA = 17
PATIENCE = 30  # seconds that a program may take to tell its version


class Finding(NamedTuple):
    """One thing that is there (`found` says which) or not (`advice` says what to do)."""

    name: str
    use: str
    found: str | None
    advice: str = ""


def examine() -> list[Finding]:
    """Everything that Horai can use, needed or not."""
    return [
        Finding("python", "everything", sys.version.split()[0]),
        engine(),
        _package("pandas", "answers as data frames; Spark", "pip install 'pandas<3'"),
        _package("pyspark", "runs on Spark", "pip install 'horai[spark]'"),
        java(),
        _jars("kafka", "topics of Kafka on Spark"),
        _jars("delta", "tables of Delta Lake on Spark"),
        _package(
            "prometheus-client", "`horai stream --metrics-port`", "pip install 'horai[spark]'"
        ),
        _package("confluent-kafka", "topics of Kafka in one process", "pip install 'horai[kafka]'"),
        _package("shapely", "areas in `horai signals`", "pip install 'horai[space]'"),
        _package("h3", "positions on Spark", "pip install 'horai[space]'"),
        Finding(
            *("dot", "pictures of dependencies"),
            *(_version(["dot", "-V"]), "apt-get install graphviz"),
        ),
    ]


def engine() -> Finding:
    """The compiled engine; installed packages have it, and a clone of the sources compiles it."""
    name, use = "compiled engine", "all runs but those of `--engine reference`"
    try:
        for part in PARTS:
            compiled(part.name)
    except (NotCompiled, Outdated) as error:
        return Finding(name, use, None, f"{error}: make install")
    return Finding(name, use, f"compiled for {sysconfig.get_platform()}")


def java() -> Finding:
    """The Java runtime that Spark would take."""
    use = f"runs on Spark, which needs Java {OLDEST_JAVA} or later"
    advice = (
        f"apt-get install openjdk-{OLDEST_JAVA}-jre-headless, or set JAVA_HOME to where Java is"
    )
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else "java"
    found = _version([program, "-version"])
    if found is None:
        wrong = f"JAVA_HOME is {home}, and there is no Java in it: " if home else ""
        return Finding("java", use, None, wrong + advice)
    major = java_version(found)
    if major is not None and major < OLDEST_JAVA:
        return Finding("java", use, None, f"Java {major} is too old: {advice}")
    return Finding("java", use, found)


def java_version(text: str) -> int | None:
    """The number people call a Java by.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0"')
    (17, 8)
    """
    found = re.search(r'"(?:1\.)?(\d+)', text)
    return None if found is None else int(found[1])


def _jars(part: connect.Part, use: str) -> Finding:
    """Jars that are there already: without them, Spark gets them itself when it starts."""
    name = f"jars for {part}"
    try:
        wanted = connect.coordinate(part, connect.spark_version())
    except (UsageError, metadata.PackageNotFoundError) as error:
        wrong = getattr(error, "problem", error)
        return Finding(name, use, None, f"{wrong}; see the line on pyspark")
    advice = (
        f"make jars, or set {connect.FOLDER} to their folder; without them "
        f"Spark fetches {wanted} when it starts, if it has a network"
    )
    return Finding(name, use, wanted if connect.fetched(part) else None, advice)


def _package(name: str, use: str, advice: str) -> Finding:
    try:
        return Finding(name, use, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Finding(name, use, None, advice)


def _version(command: list[str]) -> str | None:
    """The first line of what a program says of itself, None if there is no such program."""
    if shutil.which(command[0]) is None:
        return None
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (said.stderr + said.stdout).strip().splitlines()
    return lines[0] if said.returncode == 0 and lines else None


@takes()
def command() -> None:
    findings = examine()
    width = max(len(finding.name) for finding in findings)
    for one in findings:
        click.echo(
            f"{'ok     ' if one.found else 'absent '} {one.name:<{width}}  {one.found or ''}"
        )
        if one.found is None:
            click.echo(f"        for {one.use}: {one.advice}")
    absent = [finding for finding in findings if finding.found is None]
    if absent:
        console.warning(f"{counted(len(absent), 'thing')} absent")
        raise Exit(FAILED)
