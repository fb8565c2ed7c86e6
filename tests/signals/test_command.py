"""`horai signals`: what it writes, and what it says of wrong use."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli import doctor
from horai.cli.app import app

LINES = ["vessel,t,lon,lat,speed", *(f"v,{60 * i},{4 + 0.001 * i},52,{i % 3}" for i in range(9))]
AREA = {
    "type": "Feature",
    "properties": {"name": "Pier 7", "type": "nearPorts"},
    "geometry": {"type": "Polygon", "coordinates": [[[3, 51], [5, 51], [5, 53], [3, 51]]]},
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("day.csv").write_text("\n".join(LINES) + "\n")
    Path("areas.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": [AREA]}))


def call(*words: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["signals", *words], input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_items_facts_and_dead_letters_go_to_files() -> None:
    with Path("day.csv").open("a") as day:
        day.write("v,9999,4,99,1\n")
    words = ["-p", "day.csv", "-a", "areas.geojson", "-o", "items.csv", "--facts", "areas.ec"]
    status, said, told = call(*words, "--dead-letters", "dead.csv")
    assert (status, said) == (0, "")
    assert "1 row was not used, or only in part (1 coordinates); see dead.csv" in told
    assert Path("areas.ec").read_text() == "% From areas.geojson.\nareaType('Pier 7', nearPorts).\n"
    assert Path("dead.csv").read_text().splitlines()[1].startswith('day.csv,11,"v,9999,4,99,1"')
    assert "entersArea,-1,-1,,,,v,Pier 7,," in Path("items.csv").read_text().splitlines()


def test_pipes_are_quiet() -> None:
    status, said, told = call("-p", "-", "--only", "velocity", stdin="\n".join(LINES))
    assert (status, told) == (0, "")
    assert len(said.splitlines()) == 10


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "no positions given"),
        (["-p", "none.csv"], "none.csv: there is no such file"),
        (["-p", "day.csv", "--facts", "x.ec"], "give --areas"),
        (["-p", "day.csv", "-o", "x.xls"], "use .csv, .parquet, .pq"),
        (["-p", "day.csv", "--set", "turns=3"], "did you mean turn?"),
        (["-p", "day.csv", "--set", "turn"], "as gap_after=1800"),
        (["-p", "day.csv", "--set", "trust_after=1.5"], "a whole number is expected"),
        (["-p", "day.csv", "--set", "slow_speed=0"], "is below stop_speed"),
        (["-p", "day.csv", "--unit", "x"], "unit cannot be 'x'"),
        (["-p", "day.csv", "--speed-in", "bft"], "kn, m/s, km/h, mph"),
        (["-p", "day.csv", "--column", "entty=v"], "did you mean entity?"),
        (["-p", "day.csv", "--only", "velocities"], "did you mean velocity?"),
        (["-p", "day.csv", "--until", "soon"], "until: 'soon' is not a time"),
        (["-p", "day.csv", "-a", "day.csv"], "day.csv:1: this is no JSON"),
        (["-p", "areas.geojson"], "the file name does not tell its format"),
    ],
)
def test_wrong_use_is_explained(words: list[str], part: str) -> None:
    status, _, told = call(*words)
    assert status == 2
    assert part in " ".join(told.split())


def test_strict_stops_at_a_bad_row() -> None:
    with Path("day.csv").open("a") as day:
        day.write("v,0,4,52,0\n")
    status, said, told = call("-p", "day.csv", "--strict")
    assert (status, said) == (2, "")
    assert "day.csv:11: the same position again" in told


def test_doctor_names_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", absent)
    advice = {finding.name: finding.advice for finding in doctor.examine()}
    assert advice["shapely"] == advice["h3"] == "pip install 'horai[space]'"
