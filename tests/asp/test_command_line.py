"""The engines by name, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

RULES = "busy(X) :- job(X) [2].  free(X) :- worker(X), not busy(X).  worker(ada). worker(bob)."
STREAM = "job|1|1|ada\njob|4|3|bob\n"


def run(folder: Path, rules: str, *options: str) -> tuple[int, list[dict[str, object]], str]:
    (folder / "p.lars").write_text(rules)
    (folder / "s.csv").write_text(STREAM)
    arguments = ["run", str(folder / "p.lars"), "--input", str(folder / "s.csv")]
    span = ["--start", "0", "--end", "6", "--format", "jsonl"]
    result = CliRunner().invoke(app, [*arguments, *span, *options])
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return result.exit_code, rows, result.output


@pytest.mark.parametrize("engine", ["asp", "tms", "auto"])
def test_engines_say_what_the_reference_says(tmp_path: Path, engine: str) -> None:
    """Also about a signal that arrives late."""
    code, rows, _ = run(tmp_path, RULES, "--engine", engine)
    expected = run(tmp_path, RULES, "--engine", "reference")[1]
    assert code == 0
    assert sorted(map(str, rows)) == sorted(map(str, expected))
    assert len(rows) > 7


def test_all_answers(tmp_path: Path) -> None:
    rules = "p :- job(X), not q. q :- job(X), not p."
    _, rows, _ = run(tmp_path, rules, "--engine", "asp", "--models", "all")
    found = {(row["query"], row["model"], row["name"]) for row in rows if row["kind"] == "atom"}
    assert {name for query, _, name in found if query == 1} == {"p", "q"}


def test_no_answer(tmp_path: Path) -> None:
    _, rows, _ = run(tmp_path, "p :- job(X). :- p.", "--engine", "asp")
    assert {"kind": "none", "query": 1} in rows


@pytest.mark.parametrize(
    ("engine", "rules", "reason"),
    [
        ("asp", "h :- [3] reset some job(ada).", "the reset operator"),
        ("tms", "{ p } :- job(X).", "a choice"),
        ("tms", "p :- job(X), not p.", "p depends on itself"),
    ],
)
def test_what_an_engine_does_not_run(tmp_path: Path, engine: str, rules: str, reason: str) -> None:
    code, _, output = run(tmp_path, rules, "--engine", engine)
    assert code != 0
    assert reason in " ".join(output.split())


def test_one_model_only(tmp_path: Path) -> None:
    code, rows, _ = run(tmp_path, RULES, "--engine", "tms", "--models", "all")
    assert code == 0 and len(rows) > 7
    several = "p :- not q. q :- not p."
    code, _, output = run(tmp_path, several, "--engine", "tms", "--models", "all")
    assert code != 0 and "there may be several models" in " ".join(output.split())


def test_auto_runs_what_only_the_reference_can(tmp_path: Path) -> None:
    code, rows, _ = run(tmp_path, "h :- [3] (some job(ada), some job(ada)).")
    assert code == 0 and len(rows) == 4
