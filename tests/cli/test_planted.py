"""Passwords and tokens of the environment are in nothing that a run says or leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.spark.streaming import Driver

import horai
from horai.cli.app import app
from horai.cli.command import DEBUG
from horai.io import InputError
from horai.io.secrets import KAFKA, METRICS, SERVE, SOCKET, WEBHOOK

WORD = "pLanTed-7f3a"
SECRETS = {
    KAFKA + "USERNAME": "somebody",
    **{name: f"{WORD}-{place}" for place, name in enumerate((METRICS, SOCKET, WEBHOOK))},
    SERVE: f"{WORD}-4",
    KAFKA + "PASSWORD": f"{WORD}-3",
}
RULES = """
initiatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S < 5.
terminatedAt(slow(V)=true, T) :- happensAt(velocity(V, S), T), S >= 5.
"""
PROGRAM = "fast(V) :- velocity(V, S) [3], S > 5.\n"
ROWS = ["velocity|1|1|ann|2", "velocity|12|11|bob|9", "nobody|1|1", "velocity|1|x|ann"]
TOPIC = "kafka://127.0.0.1:1/t"
COMMANDS = {
    "run": "run rules.ec -i rows.csv -o out.jsonl --metrics m.json --dead-letters d.csv",
    "windows": "run rules.ec -i rows.csv --engine reference --answers windows --window 5",
    "lars": "run p.lars -i rows.csv -o out.csv --state kept.state --dead-letters d.csv",
    "live": "run p.lars -i - --live",
    "both": "run rules.ec p.lars -i rows.csv",
    "plan": "plan rules.ec --analyze -i rows.csv",
    "plan of a program": "plan p.lars",
    "check": "check rules.ec --format json",
    "graph": "graph rules.ec",
    "report": "report rules.ec -i rows.csv -o page.html",
    "tune": "tune rules.ec -i rows.csv",
    "doctor": "doctor",
    "a topic that is not there": f"run rules.ec -i {TOPIC}",
    "a live topic that is not there": f"run p.lars --live -i {TOPIC}",
    "a served topic that is not there": f"serve p.lars -i {TOPIC} --port 0 --address 0.0.0.0",
    "a sink that is not there": f"run p.lars --live -i - -o {TOPIC}",
    "a stream without Java": f"stream rules.ec --source {TOPIC} --sink webhook:http://127.0.0.1:1"
    " --checkpoint kept --metrics m.prom --metrics-port 0 --metrics-address 0.0.0.0",
    "wrong use": "run rules.ec --windw 3",
}


def left(folder: Path) -> bytes:
    """All bytes that are in a folder, names included."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"".join(str(path).encode() + path.read_bytes() for path in files)


def shows(said: bytes) -> bool:
    """Is a secret in it, as it is or as a header would send it?"""
    forms = [WORD.encode(), WORD.lower().encode(), b64encode(WORD.encode())[:12]]
    return any(form in text for form in forms for text in (said, said.lower()))


def test_a_secret_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "file").write_text(f"password={SECRETS[KAFKA + 'PASSWORD']}")
    assert shows(left(tmp_path))
    assert shows(b64encode(f"{WORD}-3".encode()))
    assert not shows(b"another word")


NOT_THERE = {name for name in COMMANDS if name.endswith("not there")}
OTHERS = {"a stream without Java", "doctor", "wrong use"}
FAILING = NOT_THERE | OTHERS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Rules of both languages, and rows for them."""
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "p.lars").write_text(PROGRAM)
    (tmp_path / "rows.csv").write_text("".join(f"{row}\n" for row in ROWS))
    return tmp_path


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in FAILING])
def test_no_command_tells_a_secret(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(app, COMMANDS[name].split(), input="", env=SECRETS)
    assert result.exit_code == 0, result.output
    assert not shows(result.output.encode() + left(folder))


@pytest.mark.parametrize("name", sorted(NOT_THERE))
def test_no_topic_tells_a_secret(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """With all that Python says of a problem, and the client in C."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv(DEBUG, "1")
    monkeypatch.setattr("horai.io.sources.kafka.PATIENCE", 0.5)
    result = CliRunner().invoke(app, COMMANDS[name].split(), input="", env=SECRETS)
    assert isinstance(result.exception, InputError)
    said = [result.output, *traceback.format_exception(result.exception), *capfd.readouterr()]
    assert "no broker answers" in "".join(said)
    assert not shows("".join(said).encode() + left(folder))


@pytest.mark.parametrize("name", sorted(OTHERS))
def test_no_failure_tells_a_secret(name: str, folder: Path) -> None:
    """With all that Python says of a problem, wherever it says it."""
    run = subprocess.run(
        [sys.executable, "-m", "horai", "--debug", *COMMANDS[name].split()],
        cwd=folder,
        env=os.environ | SECRETS | {"JAVA_HOME": "/nowhere"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert run.returncode in (1, 2), run.stderr.decode()
    assert not shows(run.stdout + run.stderr + left(folder))


def test_no_state_has_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    rules, program = horai.loads(RULES), horai.loads(PROGRAM, language="lars")
    both = horai.combine(rules, program)
    sessions: list[Any] = [
        rules.session(start=0, engine=engine) for engine in ("compiled", "reference")
    ]
    sessions += [program.session(engine=engine) for engine in ("plan", "asp", "tms")]
    for session in [*sessions, both.session()]:
        session.advance(15, ROWS[:3])
        assert len(saved := session.save()) > 100
        assert not shows(saved + repr(vars(session)).encode())
    result = rules.run(ROWS)
    assert not shows(repr((result, result.metrics.to_dict(), result.dead_letters)).encode())
    stream = Driver(rules, tmp_path / "c", {"start": 0, "window": 20, "step": 10}, 2)
    stream.take(0, ROWS)
    assert (tmp_path / "c" / "stream.json").is_file()
    assert not shows(left(tmp_path))
