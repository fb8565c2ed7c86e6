"""Shared conformance cases, where they are at hand: by the command line and from Python."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import horai
from horai.cli.app import app

FILE = Path(__file__).parents[2] / "shared" / "conformance" / "event-calculus.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text())["cases"] if FILE.is_file() else []
ENGINES = pytest.mark.parametrize("engine", ["auto", "reference"])
SETTINGS = ("window", "step", "start", "end", "tick")

Rows = list[dict[str, Any]]
Holds = dict[int, dict[str, list[list[int | str]]]]


def named(cases: list[dict[str, Any]], quick: int | None = None) -> pytest.MarkDecorator:
    """All of them; those after the first `quick` only where there is time."""
    slow = len(cases) if quick is None else quick
    params = [
        pytest.param(case, id=case["id"], marks=pytest.mark.slow if place >= slow else ())
        for place, case in enumerate(cases)
    ]
    return pytest.mark.parametrize("case", params)


def command(case: dict[str, Any], folder: Path) -> list[str]:
    """The case as files, and the arguments that run it."""
    for part, suffix in (("rules", "ec"), ("background", "ec"), ("narrative", "csv")):
        (folder / f"{part}.{suffix}").write_text(case[part], encoding="utf-8")
    options = [word for name in SETTINGS for word in (f"--{name}", str(case[name]))]
    files = [
        "--background",
        str(folder / "background.ec"),
        "--input",
        str(folder / "narrative.csv"),
    ]
    form = ["--answers", "windows", "--format", "jsonl"]
    return ["run", str(folder / "rules.ec"), *files, *options, *form]


def by_query(rows: Rows, case: dict[str, Any]) -> Holds:
    """Intervals per query time and fluent-value pair, written without quotes."""
    found: Holds = {answer["query"]: {} for answer in case["expected"]}
    for row in rows:
        if row["kind"] == "fluent":
            args = f"({','.join(map(str, row['args']))})" if row["args"] else ""
            key = f"{row['name']}{args}={row['value']}"
            end = "inf" if row["end"] is None else row["end"]
            found.setdefault(row["query"], {}).setdefault(key, []).append([row["start"], end])
    return found


def expected(case: dict[str, Any]) -> Holds:
    return {
        answer["query"]: {key.replace("'", ""): value for key, value in answer["holds"].items()}
        for answer in case["expected"]
    }


def by_runner(arguments: list[str]) -> Rows:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def by_process(arguments: list[str]) -> Rows:
    run = subprocess.run(
        [sys.executable, "-m", "horai", *arguments], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(case: dict[str, Any], folder: Path, run: Callable[[list[str]], Rows]) -> None:
    assert by_query(run(command(case, folder)), case) == expected(case)


class TestConformance:
    __test__ = bool(CASES)  # without cases there is nothing to collect, and nothing to skip

    @named(CASES)
    def test_by_the_command_line(self, case: dict[str, Any], tmp_path: Path) -> None:
        check(case, tmp_path, by_runner)

    @named(CASES[::10], quick=2)
    def test_in_a_process_of_its_own(self, case: dict[str, Any], tmp_path: Path) -> None:
        check(case, tmp_path, by_process)

    @ENGINES
    @named(CASES)
    def test_from_python(self, case: dict[str, Any], engine: str) -> None:
        rules = horai.loads(case["rules"], case["background"])
        settings = {name: case[name] for name in SETTINGS}
        result = rules.run(case["narrative"], engine=engine, **settings)
        rows = [row._asdict() for answer in result.answers for row in answer.rows()]
        assert by_query(rows, case) == expected(case)

    @named(CASES)
    def test_on_the_compiled_engine(self, case: dict[str, Any]) -> None:
        """Cases it has no instructions for yet are refused, with the reason."""
        rules = horai.loads(case["rules"], case["background"])
        settings = {name: case[name] for name in SETTINGS}
        try:
            result = rules.run(case["narrative"], engine="compiled", **settings)
        except horai.UsageError as error:
            assert "the compiled engine has no instructions for" in str(error)
            return
        rows = [row._asdict() for answer in result.answers for row in answer.rows()]
        assert by_query(rows, case) == expected(case)
