"""`horai run --positions`: the same answers as by way of a file of items."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = EXAMPLES / "positions"
RULES = [str(EXAMPLES / "maritime" / f"{name}.ec") for name in ("rules", "background")]
RULES += [str(HERE / f"{name}.ec") for name in ("vessels", "areas")]
RAW = ["--positions", str(HERE / "positions.csv"), "--areas", str(HERE / "areas.geojson")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def call(*words: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, words, input=stdin)
    return result.exit_code, result.stdout, result.stderr


def rows(text: str) -> list[str]:
    assert text
    return sorted(text.splitlines())


@pytest.mark.parametrize("more", [[], ["--set", "gap_after=7200", "--set", "close=300"]])
def test_one_command_or_two(more: list[str]) -> None:
    code, _, told = call("signals", *RAW, *more, "-o", "items.parquet", "-q")
    assert code == 0, told
    timing = ["--window", "90000", "--step", "3600", "--unit", "s", "--format", "jsonl"]
    code, two, told = call("run", *RULES, "--input", "items.parquet", *timing)
    assert code == 0, told
    code, one, told = call("run", *RULES, *RAW, *more, *timing, "--dead-letters", "dead.jsonl")
    assert code == 0, told
    assert rows(one) == rows(two)
    letters = [json.loads(line)["code"] for line in Path("dead.jsonl").read_text().splitlines()]
    assert len(letters) == 24 and set(letters) == {"coordinates", "duplicate", "jump", "motion"}


def test_standard_input_and_other_names() -> None:
    rules = "initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, S, _, _), T), S > 10."
    Path("r.ec").write_text(rules)
    lines = "ship,when,lon,lat,speed\na,5,4,52,7\nb,6,4,52,4\n"
    words = ["run", "r.ec", "-p", "-", "--column", "time=when", "--format", "text"]
    code, out, _ = call(*words, "--speed-in", "m/s", stdin=lines)
    assert code == 0 and out.startswith("fast(a)=true") and "fast(b)" not in out
    code, _, told = call(*words, "--strict", stdin=lines + "a,x,4,52,1\n")
    assert code == 2 and "<stdin>:4: time: 'x' is not a time" in told


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([*RULES, *RAW, "--input", "items.csv"], "a run reads one"),
        ([*RULES, "--input", "x", "--areas", "y"], "--areas is about raw positions"),
        ([*RULES, "--input", "x", "--speed-in", "mph", "--set", "turn=1"], "--speed-in and --set"),
        ([*RULES, "--positions", "none.csv"], "none.csv: there is no such file"),
        ([*RULES, *RAW, "--input-format", "narrative"], "cannot be narrative rows"),
        ([*RULES, *RAW, "--set", "turns=3"], "did you mean turn?"),
        ([*RULES, "-p", "-", "--interactive"], "already the stream"),
        (["p.lars", *RAW], "--positions has no meaning for LARS programs"),
        (["p.lars", *RULES, *RAW], "--positions has no meaning for rules of two languages"),
    ],
)
def test_wrong_use(words: list[str], part: str) -> None:
    Path("p.lars").write_text("a :- b.\n")
    code, out, told = call("run", *words)
    assert (code, out) == (2, "")
    assert part in " ".join(told.split())
