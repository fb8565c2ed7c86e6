"""Streams with late and retracted items, and the measurements of incremental evaluation with tiny
sizes; how fast is not asked here."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest

import horai
from horai.io import Narrative

BENCH = Path(__file__).parents[1] / "bench"
WINDOW, STEP = 4000, 500


Ints = np.ndarray[Any, np.dtype[np.int64]]


@pytest.fixture
def lateness(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, found as the scripts of its folder find it."""
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("generators.lateness")


@pytest.fixture
def stream(lateness: Any) -> Narrative:
    made: Narrative = importlib.import_module("generators.fleet").narrative(20_000, 100)
    return made


@pytest.fixture
def rules(lateness: Any) -> horai.Rules:
    return horai.loads(*importlib.import_module("generators.fleet").rules(100))


def arrivals(narrative: Narrative) -> Ints:
    """Of all items, in the order of their lines, which delays leave as they are."""
    found: dict[int, int] = {}
    for table in narrative.tables:
        rows = table.table.filter(pc.equal(table.table["op"], 1))
        found |= dict(zip(rows["line"].to_pylist(), rows["arrival"].to_pylist(), strict=True))
    return np.array([found[line] for line in sorted(found)])


def rows(narrative: Narrative) -> list[object]:
    return [(table.key, table.table.to_pylist()) for table in narrative.tables]


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.4, 0.8])
def test_so_many_items_are_delayed(lateness: Any, stream: Narrative, share: float) -> None:
    made = lateness.delayed(stream, lateness.Lateness(WINDOW, STEP, delayed=share))
    assert len(made) == len(stream)
    delays = arrivals(made) - arrivals(stream)
    assert (delays >= 0).all()
    late = delays[delays > 0]
    assert len(late) == pytest.approx(share * len(stream), rel=0.1)
    assert late.max() < WINDOW
    assert 0.3 * WINDOW < late.mean() < 0.5 * WINDOW  # half a window, less what is cut off


def test_without_cutting_off_the_mean_is_what_was_asked_for(
    lateness: Any, stream: Narrative
) -> None:
    asked = lateness.Lateness(WINDOW, STEP, delayed=1.0, fraction=0.75, truncated=False)
    delays = arrivals(lateness.delayed(stream, asked)) - arrivals(stream)
    assert delays.mean() == pytest.approx(0.75 * WINDOW, rel=0.03)


def test_delays_follow_a_gamma_distribution(lateness: Any) -> None:
    asked = lateness.Lateness(WINDOW, STEP, fraction=0.5, truncated=False)
    ours = asked.delays(np.zeros(200_000, np.int64), np.random.default_rng(1))
    theirs = np.random.default_rng(2).gamma(2.0, WINDOW / 4, 200_000)
    shares = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
    assert np.quantile(ours, shares) == pytest.approx(np.quantile(theirs, shares), rel=0.02)


@pytest.mark.parametrize("ratio", [1, 2, 8])
@pytest.mark.parametrize("origin", [0, 123])
def test_nothing_is_too_late_and_every_retraction_finds_its_item(
    lateness: Any, stream: Narrative, rules: horai.Rules, ratio: int, origin: int
) -> None:
    window = ratio * STEP
    asked = lateness.Lateness(window, STEP, 0.8, 0.4, fraction=8 / ratio, origin=origin)
    made = lateness.delayed(stream, asked)
    events = Narrative(tuple(t for t in made.tables if t.form == "points"), [])
    result = rules.run(events, start=origin - STEP, window=window, step=STEP)
    assert result.dead_letters == []


def test_what_is_not_cut_off_comes_too_late(
    lateness: Any, stream: Narrative, rules: horai.Rules
) -> None:
    asked = lateness.Lateness(STEP, STEP, 0.8, fraction=8, truncated=False)
    made = lateness.delayed(stream, asked)
    result = rules.run(made, start=0, window=STEP, step=STEP)
    assert {letter.code for letter in result.dead_letters} == {"too-late", "partly-too-late"}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.4, 1.0])
def test_so_many_items_are_retracted(lateness: Any, stream: Narrative, share: float) -> None:
    made = lateness.delayed(stream, lateness.Lateness(WINDOW, STEP, 0.1, share))
    counts = made.counts()
    assert counts.inserts == len(stream)
    assert counts.retractions == pytest.approx(share * len(stream), rel=0.1)
    for table in made.tables:
        assert (np.diff(table.table["arrival"].to_numpy()) >= 0).all()


def test_what_is_retracted_leaves_nothing(
    lateness: Any, stream: Narrative, rules: horai.Rules
) -> None:
    made = lateness.delayed(stream, lateness.Lateness(WINDOW, STEP, 0.2, 1.0))
    result = rules.run(made, start=0)
    assert len(result.table()) == 0


def test_delays_change_when_answers_are_given_and_not_which(
    lateness: Any, stream: Narrative, rules: horai.Rules
) -> None:
    late = lateness.delayed(stream, lateness.Lateness(WINDOW, STEP, 0.4))
    end = int(arrivals(late).max()) // STEP * STEP + STEP
    found = [rules.run(n, start=0, end=end, window=WINDOW, step=STEP) for n in (stream, late)]
    assert found[0].table().rows() == found[1].table().rows()


def test_the_seed_decides(lateness: Any, stream: Narrative) -> None:
    asked = lateness.Lateness(WINDOW, STEP, 0.2, 0.1)
    assert rows(lateness.delayed(stream, asked)) == rows(lateness.delayed(stream, asked))
    assert rows(lateness.delayed(stream, asked)) != rows(lateness.delayed(stream, asked, seed=8))
    schemas = [table.table.schema for table in stream.tables]
    made = lateness.delayed(stream, asked)
    for table, schema in zip(made.tables, schemas, strict=True):
        assert table.table.schema.equals(schema, check_metadata=True)


# --- the scripts -----------------------------------------------------------------------------


def run(script: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(BENCH / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


SLOW = [pytest.param(part, marks=pytest.mark.slow) for part in "ab"]


@pytest.mark.parametrize("part", ["c", *SLOW])
def test_parts(part: str, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    done = run("bench_incremental.py", "--quick", "--only", part, "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert f"({part})" in done.stdout
    found = json.loads(file.read_text())
    assert {record["application"] for record in found[part]} == {"maritime", "fleet"}


def test_both_modes_run_side_by_side(lateness: Any) -> None:
    measure = importlib.import_module("incremental_measure")
    sizes = measure.Sizes(events_per_step=200, windows=2)
    given = measure.course(measure.Configuration("fleet", 4, 0.5, 0.2), sizes, 4)
    found = measure.side_by_side(given)
    assert list(found.seconds) == ["afresh", "compiled"]
    assert found.changes > 0


def test_a_part_that_is_not_there() -> None:
    done = run("bench_incremental.py", "--only", "a,z")
    assert done.returncode == 2
    assert "there are a to c" in done.stderr


def test_a_picture(tmp_path: Path) -> None:
    modes = {"afresh": 0.2, "compiled": 0.1}
    common = {"application": "fleet", "retracted": 0.0, "seconds": modes}
    late = [common | {"ratio": ratio, "delayed": 0.2} for ratio in (1, 2)]
    on_time = [common | {"ratio": ratio, "delayed": 0.0, "step": 0.1} for ratio in (1, 2, 4)]
    results = tmp_path / "results.json"
    found = {"modes": list(modes), "a": late, "c": on_time}
    results.write_text(json.dumps(found))
    pictures = []
    for name in ("one.svg", "two.svg"):
        done = run("plot_incremental.py", str(results), str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        pictures.append((tmp_path / name).read_text())
    assert pictures[0] == pictures[1]
    for text in ("from scratch", "20% delayed", "nothing late", "times as long"):
        assert text in pictures[0]


def test_nothing_to_draw(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"modes": ["compiled"]}')
    done = run("plot_incremental.py", str(tmp_path / "results.json"), str(tmp_path / "out.svg"))
    assert done.returncode == 1
    assert "nothing to draw" in done.stderr
