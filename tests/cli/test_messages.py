"""Messages: for people on a terminal, quiet in a pipe, and one JSON object each where asked."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import Run

RULES = "initiatedAt(slow(X)=true, T) :- happensAt(speed(X, V), T), V < 90.\n"


@pytest.fixture
def logged(horai: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What a command logs as JSON, and its exit status."""
    monkeypatch.chdir(tmp_path)
    Path("rules.ec").write_text(RULES)
    Path("day.csv").write_text("speed|1|1|a|80\nspeed|2|2|b|fast\n")

    def run(*words: str) -> tuple[int, list[dict[str, Any]]]:
        result = horai(*words, "--log-format", "json")
        return result.exit_code, [json.loads(line) for line in result.stderr.splitlines()]

    return run


def test_findings_say_where(logged: Any) -> None:
    status, found = logged("run", "rules.ec", "--input", "day.csv")
    assert status == 0
    assert [(one["level"], one["code"], one["line"]) for one in found] == [("warning", "H550", 1)]
    Path("rules.ec").write_text(RULES.replace("happensAt", "hapensAt"))
    status, found = logged("check", "rules.ec")
    assert (status, found[0]["level"], found[0]["hint"]) == (
        2,
        "error",
        "did you mean `happensAt`?",
    )


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("run", "rules.ec", "-i", "nope.csv"), "nope.csv: there is no such file", "check the"),
        (("run", "rules.ec", "--frmat", "x"), "there is no option --frmat", "--format?"),
        (("run", "rules.ec"), "no input given", "--input FILE"),
    ],
)
def test_wrong_use_is_an_object_too(
    logged: Any, words: tuple[str, ...], message: str, hint: str
) -> None:
    status, found = logged(*words)
    assert status == 2
    assert len(found) == 1
    assert found[0]["level"] == "error"
    assert found[0]["message"] == message
    assert hint in found[0]["hint"]


def test_the_option_may_stand_before_the_command(logged: Any, horai: Run) -> None:
    result = horai("--log-format", "json", "run", "rules.ec")
    assert json.loads(result.stderr)["level"] == "error"


def test_the_next_command_speaks_to_people_again(logged: Any, horai: Run) -> None:
    logged("run", "rules.ec")
    assert horai("run", "rules.ec").stderr.startswith("error: no input given")


def on_a_terminal(*words: str) -> str:
    """What a person sees on standard error."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "horai", *words], stdout=subprocess.DEVNULL, stderr=slave
    ) as process:
        os.close(slave)
        seen = b""
        try:
            while piece := os.read(master, 4096):
                seen += piece
        except OSError:  # nobody holds the other end any more
            pass
        os.close(master)
    assert process.returncode == 0
    return seen.decode()


def test_long_work_is_seen_on_a_terminal_only(logged: Any, horai: Run) -> None:
    words = ("run", "rules.ec", "--input", "day.csv", "-o", "out.csv")
    seen = on_a_terminal(*words)
    for part in ("reading day.csv", "query times", "writing answers", "1 interval at 1 query time"):
        assert part in seen
    assert horai(*words, "--severity", "H550=off").stderr == ""
    assert "reading" not in on_a_terminal(*words, "--quiet")
