"""`horai report` and `horai run --report`: what they write, and what they refuse."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.report.pages import data_of, items_of, spans_of

from horai.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"
RULES = "initiatedAt(at(V)=true, T) :- happensAt(coord(V, _, _), T)."
ROWS = "coord|1|1|v|4.5|52.0\ncoord|5|5|v|4.6|52.1\n"
Say = Callable[..., Result]


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    monkeypatch.chdir(tmp_path)
    Path("r.ec").write_text(RULES)
    Path("f.csv").write_text(ROWS)
    return lambda *words: CliRunner().invoke(app, list(map(str, words)))


def page(name: str = "report.html") -> str:
    return Path(name).read_text(encoding="utf-8")


def test_coordinates_of_events_make_a_map(say: Say) -> None:
    found = say("report", "r.ec", "-i", "f.csv", "--unit", "s")
    assert found.exit_code == 0, found.output
    assert "report.html is written" in found.stderr
    drawn = data_of(page())["map"]
    assert drawn["rows"] == [2]
    assert drawn["lon"] == [184_500_000, 184_600_000]
    assert drawn["lat"] == [142_000_000, 142_100_000]
    assert data_of(page())["time"]["unit"] == "s"


def test_what_names_no_place_makes_no_map(say: Say) -> None:
    Path("f.csv").write_text("coord|1|1|v|abc|52.0\ncoord|1|1|v|4.0|952.0\n")
    assert say("report", "r.ec", "-i", "f.csv").exit_code == 0
    assert "rows" not in data_of(page())["map"]


def test_a_run_may_write_a_page_besides(say: Say) -> None:
    words = ("--format", "text", "--end", 9, "--no-strict")
    found = say("run", "r.ec", "-i", "f.csv", *words, "--report", "p.html")
    assert found.exit_code == 0, found.output
    assert "at(v)=true  (2,inf)" in found.stdout
    assert spans_of(page("p.html")) == {"at(v)=true": [(2, None)]}
    assert items_of(page("p.html")) == {"item coord(v)": [1, 5]}
    command = data_of(page("p.html"))["about"]["command"]
    assert command == "horai why r.ec -i f.csv --no-strict --end 9"
    found = say(*shlex.split(command)[1:], "at(v)=true", "--at", 2)
    assert "at(v)=true holds at 2" in found.stdout, found.output


def test_positions_and_areas_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES / "positions")
    out, items = tmp_path / "p.html", tmp_path / "items.csv"
    runner = CliRunner()
    positions = ["-p", "positions.csv", "-a", "areas.geojson"]
    rules = ["../maritime/rules.ec"]
    for name in ("../maritime/background.ec", "vessels.ec", "areas.ec"):
        rules += ["-b", name]
    found = runner.invoke(app, ["report", *rules, *positions, "-o", str(out), "-q"])
    assert found.exit_code == 0, found.output
    derived = data_of(out.read_text())
    assert len(derived["map"]["rows"]) == 7
    assert sum(derived["map"]["rows"]) == 5017 - derived["letters"]["number"]
    assert [derived["texts"][area["name"]] for area in derived["map"]["areas"]] == [
        *("port", "coast", "roads", "bank")
    ]
    runner.invoke(app, ["signals", *positions, "-o", str(items), "-q"])
    track = ["-i", str(items), "--track", "positions.csv", "-a", "areas.geojson", "--unit", "s"]
    found = runner.invoke(app, ["report", *rules, *track, "-o", str(out), "-q"])
    assert found.exit_code == 0, found.output
    beside = data_of(out.read_text())
    assert beside["map"]["rows"] == derived["map"]["rows"]
    assert spans_of(out.read_text()).keys() >= {"trawling(244010003)=true"}


def test_several_files_of_a_program_are_read_in_their_order(say: Say) -> None:
    Path("p.lars").write_text("last(X) :- a(X) [1 #].\n")
    Path("z.csv").write_text("a|1|1|first\n")
    Path("b.csv").write_text("a|1|1|second\n")
    found = say("report", "p.lars", "-i", "z.csv", "-i", "b.csv", "--start", 1, "--end", 1)
    assert found.exit_code == 0, found.output
    assert spans_of(page()) == {"last(second)": [(1, 2)]}
    assert items_of(page()) == {"item a(first)": [1], "item a(second)": [1]}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("report", "-o", "page.pdf"), "a page is HTML"),
        (("report", "--coordinates", "coord"), "names no two arguments"),
        (("report", "--coordinates", "cord=2,3"), "the input has no cord"),
        (("report", "--coordinates", "coord=2,4"), "coord has 3 arguments"),
        (("report", "--coordinates", "coord=1,2"), "is no number"),
        (("report", "--track", "nowhere.csv"), "there is no such file"),
        (("report", "--areas", "nowhere.json"), "there is no such file"),
        (("report", "--speed-in", "m/s"), "about raw positions"),
        (("report", "--positions", "f.csv"), "--input names items and --positions positions"),
        (("report", "-o", "f.csv"), "a page is HTML"),
        (("run", "--report", "page"), "a page is HTML"),
    ],
)
def test_wrong_use(say: Say, words: tuple[str, ...], told: str) -> None:
    found = say(words[0], "r.ec", "-i", "f.csv", *words[1:])
    assert found.exit_code == 2, found.output
    assert told in found.stderr


def test_what_goes_on_has_no_page(say: Say) -> None:
    Path("p.lars").write_text("h(X) :- a(X).\n")
    found = say("run", "p.lars", "-i", "f.csv", "--live", "--report", "p.html")
    assert found.exit_code == 2
    assert "--report shows a run over a whole input" in found.stderr
