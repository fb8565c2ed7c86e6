"""The generators of the market, the committees, the camera and the feedback loops: what is kept is
what they write, text and memory hold the same, and the bench gets rules that load cleanly."""

import importlib
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import horai
from horai.io import Narrative, read

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FACTS = {
    "netbill": "agents.ec",
    "voting": "committees.ec",
    "activities": "staff.ec",
    "feedback": "organisms.ec",
}
SIZES = {
    "netbill": (1000, 40),
    "voting": (1000, 24),
    "activities": (1000, 20),
    "feedback": (1000, 20),
}


@pytest.fixture(autouse=True)
def path_as_before() -> Iterator[None]:
    """Generators add the folder they share to the path, which is no business of other tests."""
    before = list(sys.path)
    yield
    sys.path[:] = before


def generator(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name / "generate.py"))


def columns(narrative: Narrative) -> dict[tuple[object, ...], list[dict[str, object]]]:
    """All rows by table, without the name of the file."""
    return {t.key: t.table.drop_columns(["file"]).to_pylist() for t in narrative.tables}


@pytest.mark.parametrize("name", FACTS)
def test_the_files_are_what_the_script_writes(name: str, tmp_path: Path) -> None:
    made, (events, entities) = generator(name), SIZES[name]
    made["stream"](events, entities).write(tmp_path / "narrative.csv")
    written = (EXAMPLES / name / "narrative.csv").read_bytes()
    assert (tmp_path / "narrative.csv").read_bytes() == written
    assert (EXAMPLES / name / FACTS[name]).read_text() == made["facts"](entities)


@pytest.mark.parametrize("name", FACTS)
@pytest.mark.parametrize(("late", "retracted"), [(0.0, 0.0), (0.2, 0.05)])
def test_memory_and_text_hold_the_same(
    name: str, late: float, retracted: float, tmp_path: Path
) -> None:
    made = generator(name)
    stream = made["stream"](3000, 21, 5, made["Lateness"](late, retracted, 30.0))
    stream.write(tmp_path / "rows.csv")
    rules = horai.load(sorted((EXAMPLES / name).glob("*.ec")))
    text = read(tmp_path / "rows.csv", rules.schema)
    assert text.dead_letters == []
    assert columns(stream.narrative()) == columns(text)


@pytest.mark.parametrize("name", FACTS)
def test_the_bench_gets_rules_and_a_narrative(name: str) -> None:
    sys.path.insert(0, str(ROOT / "bench"))
    made = importlib.import_module(f"generators.{name}")
    rules, background = made.rules(30)
    assert horai.loads(rules, background=background).warnings == []
    assert len(made.narrative(500, 30)) == 500
