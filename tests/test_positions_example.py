"""The whole way of the example on positions: what was planted is recognised, and nothing else."""

from __future__ import annotations

import runpy
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import horai
from horai.cli.app import app
from horai.result import Result
from horai.signals import MotionLimits, Pipeline, positions_of, read_areas, read_positions, start

HERE = Path(__file__).parents[1] / "examples" / "positions"
NEAR = 300  # seconds: two reports, and a step of proximity


@pytest.fixture(scope="module")
def made() -> dict[str, Any]:
    return runpy.run_path(str(HERE / "generate.py"))


def rules() -> horai.Rules:
    maritime = HERE.parent / "maritime"
    files = [maritime / "rules.ec", maritime / "background.ec", *sorted(HERE.glob("*.ec"))]
    loaded = horai.load(files)
    assert loaded.warnings == []
    return loaded


def compare(result: Result, made: dict[str, Any]) -> None:
    """All that was planted and may be found, at about the right time."""
    rows = [row for row in result.rows("final") if row.name in made["WATCHED"]]
    found = sorted((row.name, row.args, str(row.value), row.start, row.end) for row in rows)
    planted = sorted(made["PLANTED"])
    assert [row[:3] for row in found] == [row[:3] for row in planted]
    for row, wanted in zip(found, planted, strict=True):
        assert abs(row[3] - wanted[3] * 3600) < NEAR, row
        assert row[4] is None or abs(row[4] - wanted[4] * 3600) < NEAR, row
    dark = [row for row in result.rows("final") if row.name == "darkMeeting"]
    assert [row.args for row in dark] == [(244010004, 244010005)]


def test_the_files_are_what_the_script_writes(made: dict[str, Any]) -> None:
    assert (HERE / "positions.csv").read_text() == made["positions"]()
    assert (HERE / "areas.geojson").read_text() == made["areas"]()
    assert (HERE / "vessels.ec").read_text() == made["facts"]()
    assert (HERE / "areas.ec").read_text().splitlines()[1:] == [
        f"areaType({name}, {kind})." for name, (kind, _) in made["AREAS"].items()
    ]


def test_by_the_commands_of_the_readme(
    made: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(HERE.parent / "maritime", tmp_path / "maritime")
    shutil.copytree(HERE, tmp_path / "positions")
    monkeypatch.chdir(tmp_path / "positions")
    words = ["--positions", "positions.csv", "--areas", "areas.geojson", "-o", "items.csv"]
    signals = CliRunner().invoke(app, ["signals", *words, "--facts", "areas.ec"])
    assert signals.exit_code == 0
    assert "24 rows were not used" in signals.stderr
    ran = CliRunner().invoke(app, ["run", "--format", "timeline"], env={"COLUMNS": "100"})
    assert ran.exit_code == 0
    assert "rendezVous(244010004,244010005)=true" in ran.stdout
    compare(rules().run("items.csv"), made)


def test_at_once_and_in_any_batches(made: dict[str, Any]) -> None:
    pipeline = Pipeline(areas=read_areas(HERE / "areas.geojson"))
    positions = read_positions(HERE / "positions.csv")
    whole = pipeline.run(positions)
    codes = Counter(letter.code for letter in whole.dead_letters)
    assert codes == {"duplicate": 20, "coordinates": 1, "motion": 1, "jump": 2}
    compare(rules().run(whole.narrative()), made)
    state, items = start(), []
    for begin in range(0, len(positions), 700):
        batch = positions.table.slice(begin, 700).drop_columns(["file", "line"])
        rest = positions.table.slice(begin + 700).column("time")
        until = min(rest.to_pylist(), default=86400) - 1
        state, found = pipeline.step(state, positions_of(batch), until)
        items += found.items.to_pylist()
    items += pipeline.finish(state, 86399).items.to_pylist()
    assert len(items) == len(whole.items)
    compare_as_sets(items, whole.items.to_pylist())


def compare_as_sets(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """Numbers of vessels in a batch are text by now, which is written with quotes."""
    plain = [{k: v.strip("'") if isinstance(v, str) else v for k, v in i.items()} for i in ours]
    assert sorted(map(str, plain)) == sorted(map(str, theirs))


@pytest.mark.parametrize("seed", [1, 2])
def test_other_days_and_other_intervals(made: dict[str, Any], seed: int, tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text(made["positions"](60 if seed == 1 else 170, seed))
    pipeline = Pipeline(areas=read_areas(HERE / "areas.geojson"))
    found = pipeline.run(read_positions(tmp_path / "day.csv"))
    compare(rules().run(found.narrative()), made)


def test_limits_matter(made: dict[str, Any]) -> None:
    """With a longer limit nobody is silent, and so no meeting is dark."""
    pipeline = Pipeline(MotionLimits(gap_after=7200), read_areas(HERE / "areas.geojson"))
    result = rules().run(pipeline.run(read_positions(HERE / "positions.csv")).narrative())
    names = {row.name for row in result.rows("final")}
    assert "rendezVous" in names
    assert not names & {"gap", "darkMeeting"}
