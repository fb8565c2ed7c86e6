"""`--times`: dates and times of day in every form of output, and in questions."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from horai.cli.app import app

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
happensAt(party(X), T) :- happensAt(win(X), T).
"""
WIN, RICH, LOSE = "2024-05-01T08:00:00Z", "2024-05-01T08:00:01Z", "2024-05-01T09:30:00Z"
POOR = "2024-05-01T09:30:01Z"
EPOCH = 1714550400
Say = Callable[..., Result]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.chdir(tmp_path)
    Path("r.ec").write_text(RULES)
    Path("p.lars").write_text("h(X) :- win(X) [2 s].\n")
    Path("f.csv").write_text(f"win|{WIN}|{WIN}|ann\nlose|{LOSE}|{LOSE}|ann\n")
    Path("win.csv").write_text(f"win|{WIN}|{WIN}|ann\n")
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


def run(say: Say, *words: str) -> str:
    found = say("run", "r.ec", "-i", "f.csv", "--unit", "s", "-q", *words)
    assert found.exit_code == 0, found.output
    return found.stdout


def test_each_form_has_both_kinds_of_times(say: Say) -> None:
    text = [f"party(ann)      at {WIN}", f"rich(ann)=true  ({RICH},{POOR})"]
    assert run(say, "--format", "text").splitlines() == text
    assert run(say, "--format", "text", "--times", "iso").splitlines() == text
    plain = run(say, "--format", "text", "--times", "epoch").splitlines()
    assert plain[1] == f"rich(ann)=true  ({EPOCH + 1},{EPOCH + 5401})"
    rows = [json.loads(line) for line in run(say, "--times", "iso").splitlines()]
    assert (rows[0]["time"], rows[0]["time_iso"]) == (EPOCH, WIN)
    assert (rows[1]["start_iso"], rows[1]["end_iso"]) == (RICH, POOR)
    assert "iso" not in run(say)
    run(say, "--times", "iso", "-o", "o.csv")
    with Path("o.csv").open() as file:
        assert [row["start_iso"] for row in csv.DictReader(file)] == ["", RICH]
    run(say, "--times", "iso", "-o", "o.parquet")
    assert pq.read_table("o.parquet")["end_iso"].to_pylist() == [None, POOR]
    assert "08:30" in run(say, "--format", "timeline")
    assert "08:30" not in run(say, "--format", "timeline", "--times", "epoch")


def test_query_times_are_times_too(say: Say) -> None:
    words = ("--answers", "windows", "--step", "3600", "--window", "7200")
    rows = [json.loads(line) for line in run(say, *words, "--times", "iso").splitlines()]
    assert {row["query_iso"] for row in rows} == {"2024-05-01T08:59:59Z", LOSE}
    assert run(say, *words, "--format", "text").startswith("2024-05-01T08:59:59Z:  ")


@pytest.mark.parametrize("live", [(), ("--live",)])
def test_programs_say_when_in_every_form(say: Say, live: tuple[str, ...]) -> None:
    words = ("run", "p.lars", "-i", "win.csv", "--unit", "s", "-q", "--end", EPOCH + 1, *live)
    after = "2024-05-01T08:00:01Z"
    found = say(*words, "--format", "text")
    assert found.stdout.splitlines() == [f"{WIN}: h(ann)", f"{after}: h(ann)"], found.output
    found = say(*words, "--format", "text", "--times", "epoch")
    assert found.stdout.splitlines()[0] == f"{EPOCH}: h(ann)"
    found = say(*words, "--times", "iso")
    assert json.loads(found.stdout.splitlines()[1]) == {
        "kind": "atom",
        "query": EPOCH + 1,
        "query_iso": after,
        "name": "h",
        "args": ["ann"],
    }
    found = say(*words, "--times", "iso", "--format", "csv")
    assert found.stdout.splitlines()[1].startswith(f"atom,{EPOCH},{WIN},,h,")


def test_questions_read_and_answers_say_dates(say: Say) -> None:
    def ask(question: str, *words: str) -> str:
        found = say("query", "r.ec", "-i", "f.csv", "--unit", "s", "-q", question, *words)
        assert found.exit_code == 0, found.output
        return found.stdout.strip()

    assert ask("holdsFor(rich(ann)=true,I)") == f"I = [({RICH},{POOR})]"
    assert ask("happensAt(party(X),T)") == f"X = ann,\nT = {WIN}"
    assert ask("holdsFor(F,[(S,E)])") == f"F = (rich(ann)=true),\nS = {RICH},\nE = {POOR}"
    assert ask("happensAt(party(X),T)", "--times", "epoch") == f"X = ann,\nT = {EPOCH}"
    assert ask(f"holdsAt(F,{RICH})") == ask(f"holdsAt(F, '{RICH}' ).") == "F = (rich(ann)=true)"
    assert ask("holdsAt(F,2024-05-01T11:30:01+02:00)") == "false"
    assert ask(f"happensAt(win(ann),{WIN})") == "true"


def test_questions_about_atoms_read_dates(say: Say) -> None:
    words = ("query", "p.lars", "-i", "win.csv", "--unit", "s", "-q")
    assert say(*words, f"@{WIN} h(X)").stdout == "X = ann\n"
    assert say(*words, "@T h(X)").stdout == f"T = {WIN},\nX = ann\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "r.ec", "-i", "f.csv", "--times", "iso"), "--times iso needs the length"),
        (("query", "r.ec", "-i", "f.csv", "--times", "iso", "h(x)"), "--times iso needs"),
        (("run", "r.ec", "-i", "f.csv", "--times", "utc"), "'utc' is not one of"),
        (("query", "r.ec", "-i", "n.csv", f"holdsAt(F,{WIN})"), "ISO time needs --unit"),
        (
            ("query", "r.ec", "-i", "f.csv", "--unit", "s", "holdsAt(F,2024-13-01)"),
            "is not an ISO 8601 time",
        ),
    ],
)
def test_wrong_use(say: Say, words: tuple[str, ...], told: str) -> None:
    Path("n.csv").write_text("win|3|3|ann\n")
    found = say(*words)
    assert found.exit_code == 2, found.output
    assert told in found.stderr
