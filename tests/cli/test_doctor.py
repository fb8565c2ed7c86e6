"""`horai doctor` tells what is absent and how to get it."""

import os
from importlib import metadata

import pytest
from click.testing import CliRunner

from horai.cli import doctor
from horai.cli.app import app
from horai.engine.core.built import NotCompiled, Outdated


def run() -> tuple[int, str]:
    result = CliRunner().invoke(app, ["doctor"])
    return result.exit_code, result.stdout


def test_with_everything_there_all_is_well() -> None:
    code, shown = run()
    assert code == 0, shown
    assert "absent" not in shown
    assert all(name in shown for name in ("python", "pyspark", "java", "dot"))
    assert "ok      compiled engine" in shown


@pytest.mark.parametrize("problem", [NotCompiled("not there"), Outdated("of other sources")])
def test_an_engine_that_has_to_be_compiled(
    monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def compiled(name: str) -> None:
        raise problem

    monkeypatch.setattr(doctor, "compiled", compiled)
    code, shown = run()
    assert code == 1
    assert "absent  compiled engine" in shown and f"{problem}: make install" in shown


def test_a_program_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    code, shown = run()
    assert code == 1
    assert "absent  java" in shown
    assert "jre-headless" in shown
    assert "apt-get install graphviz" in shown


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    known = metadata.version

    def version(name: str) -> str:
        if name == "pyspark":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr("importlib.metadata.version", version)
    code, shown = run()
    assert code == 1
    assert "pip install 'horai[spark]'" in shown


def test_java_is_looked_for_where_java_home_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "JAVA_HOME", "/nowhere")
    found = doctor.java()
    assert found.found is None
    assert "JAVA_HOME is /nowhere" in found.advice


def test_an_old_java_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_version", lambda command: 'openjdk version "11.0.2"')
    assert "Java 11 is too old" in doctor.java().advice
