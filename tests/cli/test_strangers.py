"""What strangers wrote steers no terminal, fills no screen, and shows nobody's files."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Run

STEERING = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def is_tame(text: str) -> bool:
    return not any(char in text for char in "\x1b\x07\x9b\u202e")


def test_dead_letters_steer_nothing(horai: Run) -> None:
    Path("day.csv").write_text(f"nobody{STEERING}|1|1\nwin|x{STEERING}|2|chris\n")
    for words in ((), ("--strict",)):
        result = horai("run", "rules.ec", "-i", "day.csv", "--end", "20", *words)
        assert "owned" in result.stderr
        assert is_tame(result.stderr)


def test_findings_steer_nothing(horai: Run) -> None:
    Path("rules.ec").write_text(f"initiatedAt(a=b, T) :- happensAt('x{STEERING}', T) ,, .\n")
    result = horai("check", "rules.ec")
    assert result.exit_code == 2
    assert is_tame(result.stderr)


@pytest.mark.parametrize("rows", ["win|" + "9" * 300_000 + "|1|a\n", "x" * 300_000 + "|1|1\n"])
@pytest.mark.parametrize("words", [(), ("--strict",)])
def test_long_rows_are_not_shown_whole(horai: Run, rows: str, words: tuple[str, ...]) -> None:
    Path("day.csv").write_text(rows)
    result = horai("run", "rules.ec", "-i", "day.csv", "--end", "20", *words)
    assert 0 < len(result.stderr) < 20_000


@pytest.mark.parametrize("text", ["{x}(.\n", "p({x}) :- .\n", "p :- '{x}' q.\n", "{x}"])
def test_long_rules_are_not_shown_whole(horai: Run, text: str) -> None:
    Path("rules.ec").write_text(text.replace("{x}", "x" * 300_000))
    result = horai("check", "rules.ec")
    assert result.exit_code == 2
    assert 0 < len(result.stderr) < 20_000


def test_marks_stand_below_what_they_mark(horai: Run) -> None:
    Path("rules.ec").write_text(f"{'p(a), ' * 200}q(\x1b) :- r r.\n")
    lines = horai("check", "rules.ec").stderr.splitlines()
    place = next(number for number, line in enumerate(lines) if line.endswith("^"))
    marked = lines[place - 1][lines[place].index("^") :]
    assert "…" in lines[place - 1]
    assert not marked.startswith(" ")


@pytest.mark.parametrize("name", ["secrets", "secrets.txt", "link.pl"])
def test_rules_cannot_show_other_files(horai: Run, tmp_path: Path, name: str) -> None:
    secrets = tmp_path / ("secrets.txt" if name == "secrets.txt" else "secrets")
    secrets.write_text("root:planted:0:0\n")
    if name == "link.pl":
        (tmp_path / name).symlink_to(secrets)
    for file in (tmp_path / name, Path(name)):
        Path("rules.ec").write_text(f":- ['{file}'].\np.\n")
        for words in (("check", "rules.ec"), ("check", "rules.ec", "--format", "json")):
            result = horai(*words)
            assert "no file of rules by its name" in result.output
            assert "planted" not in result.output


def test_addresses_keep_their_secrets(horai: Run) -> None:
    for url in ("kafka://me:planted@127.0.0.1:1/t", "kafka://me:planted@127.0.0.1:1"):
        result = horai("run", "rules.ec", "-i", url, "--end", "9")
        assert result.exit_code == 2
        assert "planted" not in result.output
        words = ("--sink", url, "--checkpoint", "kept", "--step", "5")
        result = horai("stream", "rules.ec", "--source", url, *words)
        assert result.exit_code == 2
        assert "planted" not in result.output


@pytest.mark.parametrize("form", ["text", "timeline"])
def test_answers_for_people_steer_nothing(horai: Run, form: str) -> None:
    Path("day.csv").write_text(f"win|13|13|x{STEERING}\n")
    Path("p.lars").write_text("q(X) :- win(X).\n")
    for rules in ("rules.ec", "p.lars"):
        words = ("-i", "day.csv", "--start", "12", "--end", "14", "--format", form)
        result = horai("run", rules, *words)
        assert result.exit_code == 0, result.stderr
        assert "31m" in result.stdout or form == "timeline"
        assert is_tame(result.stdout)


CASE = """case: of {s}
rules:
    initiatedAt(rich(X)=true, T) :- happensAt('{s}'(X), T).
narrative:
    win|1|1|x{s}
expect:
    rich(a)=true: (2,inf)
"""


@pytest.mark.parametrize("words", [("test", "a.case"), ("plan", "a.ec"), ("plan", "a.lars")])
@pytest.mark.parametrize("form", ["text", "json"])
def test_what_commands_show_steers_nothing(horai: Run, words: tuple[str, ...], form: str) -> None:
    Path("a.case").write_text(CASE.replace("{s}", STEERING))
    Path("a.ec").write_text(f"initiatedAt('{STEERING}'(X)=true, T) :- happensAt(win(X), T).\n")
    Path("a.lars").write_text(f"q(X, '{STEERING}') :- win(X).\n")
    more = () if words[0] == "test" else ("--format", form)
    result = horai(*words, *more)
    assert "owned" in result.stdout
    assert is_tame(result.output)


def test_json_steers_nothing_and_says_the_same(horai: Run) -> None:
    Path("day.csv").write_text(f"win|13|13|x{STEERING}\n")
    result = horai("run", "rules.ec", "-i", "day.csv", "--format", "jsonl")
    assert is_tame(result.stdout)
    found = [json.loads(line)["args"] for line in result.stdout.splitlines()]
    assert found == [[f"x{STEERING}"]] * 2


def test_a_terminal_is_not_steered_by_answers(horai: Run) -> None:
    """Files and pipes get all as it is."""
    Path("rules.ec").write_text("initiatedAt(last=X, T) :- happensAt(win(X), T).\n")
    Path("day.csv").write_text(f"win|13|13|x{STEERING}\n")
    words = [sys.executable, "-m", "horai", "run", "rules.ec", "-i", "day.csv", "--format", "csv"]
    piped = subprocess.run(words, capture_output=True, check=True).stdout.decode()
    assert f"x{STEERING}" in piped
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb") as terminal:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=theirs, check=True)
        os.close(theirs)
        shown = terminal.readline() + terminal.readline()
    assert b"owned" in shown
    assert is_tame(shown.decode())
