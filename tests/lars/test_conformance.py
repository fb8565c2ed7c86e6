"""Shared cases of LARS, where they are at hand: by the command line and from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import horai
from horai.cli.app import app
from horai.runtime.engines import AUTO
from horai.runtime.lars.engines import LARS_ENGINES

FILE = Path(__file__).parents[3] / "shared" / "conformance" / "lars.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"] if FILE.is_file() else []
Answers = dict[int, list[list[str]]]


def narrative(case: dict[str, Any]) -> str:
    rows = []
    for signal in case["signals"]:
        name, _, args = signal["atom"].rstrip(")").partition("(")
        time = signal["time"]
        rows.append("|".join([name, str(time), str(time), *(args.split(",") if args else [])]))
    return "".join(f"{row}\n" for row in rows)


def by_query(rows: list[dict[str, Any]], times: list[int]) -> Answers:
    """The answers at some times, each a sorted list of atoms."""
    found: dict[int, dict[int, list[str]]] = {time: {} for time in times}
    for row in rows:
        if row["query"] in found and row["kind"] != "none":
            model = found[row["query"]].setdefault(row["model"], [])
            if row["kind"] == "atom":
                args = f"({','.join(map(str, row['args']))})" if row["args"] else ""
                model.append(row["name"] + args)
    return {time: sorted(map(sorted, models.values())) for time, models in found.items()}


def expected(case: dict[str, Any]) -> Answers:
    return {check["time"]: sorted(map(sorted, check["answers"])) for check in case["checks"]}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
class TestConformance:
    __test__ = bool(CASES)  # without cases there is nothing to collect, and nothing to skip

    @pytest.mark.parametrize("engine", [AUTO, *LARS_ENGINES])
    def test_by_the_command_line(self, case: dict[str, Any], engine: str, tmp_path: Path) -> None:
        (tmp_path / "p.lars").write_text(case["program"], encoding="utf-8")
        (tmp_path / "f.csv").write_text(narrative(case), encoding="utf-8")
        wanted = expected(case)
        files = [str(tmp_path / "p.lars"), "--input", str(tmp_path / "f.csv")]
        times = ["--clock", case["clock"], "--start", "0", "--end", str(max(wanted))]
        shown = ["--filter", ",".join(case["shown"]), "--models", "all"]
        form = ["--answers", "windows", "--format", "jsonl", "--engine", engine]
        result = CliRunner().invoke(app, ["run", *files, *times, *shown, *form])
        assert result.exit_code == 0, result.output
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        assert by_query(rows, list(wanted)) == wanted

    def test_from_python(self, case: dict[str, Any]) -> None:
        wanted = expected(case)
        result = horai.loads(case["program"], language="lars").run(
            narrative(case),
            clock=case["clock"],
            start=0,
            end=max(wanted),
            filter=case["shown"],
        )
        for time, answers in wanted.items():
            answer = result.at(time)
            assert answer.has_answer == bool(answers)
            assert not answers or sorted(answer.texts()) in answers
