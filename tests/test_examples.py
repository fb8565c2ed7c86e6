"""The generators of the large examples: what they write, what they make in memory, and that the
rules find everything in it. The case files of the examples run with all other case files."""

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import horai
from horai.io import Narrative, read

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ["maritime", "citytransport", "fleet"]
SIZES = {"maritime": (2000, 16), "citytransport": (2000, 8), "fleet": (2000, 8)}
FACTS = {"maritime": "fleet.ec", "citytransport": "vehicles.ec", "fleet": "vehicles.ec"}


@pytest.fixture(autouse=True)
def path_as_before() -> Iterator[None]:
    """Generators add the folder they share to the path, which is no business of other tests."""
    before = list(sys.path)
    yield
    sys.path[:] = before


def generator(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name / "generate.py"))


def rules_of(name: str) -> horai.Rules:
    rules = horai.load(sorted((EXAMPLES / name).glob("*.ec")))
    assert rules.warnings == []
    return rules


def columns(narrative: Narrative) -> dict[tuple[object, ...], list[dict[str, object]]]:
    """All rows by table, without the name of the file."""
    return {t.key: t.table.drop_columns(["file"]).to_pylist() for t in narrative.tables}


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_what_the_script_writes(name: str, tmp_path: Path) -> None:
    made, (events, entities) = generator(name), SIZES[name]
    made["stream"](events, entities).write(tmp_path / "narrative.csv")
    written = (EXAMPLES / name / "narrative.csv").read_bytes()
    assert (tmp_path / "narrative.csv").read_bytes() == written
    assert (EXAMPLES / name / FACTS[name]).read_text() == made["facts"](entities)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("late", "retracted"), [(0.0, 0.0), (0.2, 0.05)])
def test_memory_and_text_hold_the_same(
    name: str, late: float, retracted: float, tmp_path: Path
) -> None:
    made = generator(name)
    stream = made["stream"](3000, 21, 5, made["Lateness"](late, retracted, 300.0))
    stream.write(tmp_path / "rows.csv")
    text = read(tmp_path / "rows.csv", rules_of(name).schema)
    assert text.dead_letters == []
    memory = stream.narrative()
    assert columns(memory) == columns(text)
    for ours, theirs in zip(memory.tables, text.tables, strict=True):
        assert ours.table.schema.equals(theirs.table.schema, check_metadata=True)


@pytest.mark.parametrize("name", NAMES)
def test_size_seed_and_lateness(name: str) -> None:
    made = generator(name)
    on_time = made["narrative"](5000, 9, 1)
    assert len(on_time) == 5000
    assert columns(on_time) == columns(made["narrative"](5000, 9, 1))
    assert columns(on_time) != columns(made["narrative"](5000, 9, 2))
    counts = made["narrative"](5000, 9, 1, made["Lateness"](0.0, 0.1)).counts()
    assert counts.inserts == 5000
    assert 400 < counts.retractions < 600
    late = made["narrative"](5000, 9, 1, made["Lateness"](0.3, 0.0, 600.0))
    delays = [
        delay
        for table in late.tables
        for delay in pc.subtract(
            table.table["arrival"], table.table["end" if table.form == "intervals" else "start"]
        ).to_pylist()
        if delay
    ]
    assert 1350 < len(delays) < 1650
    assert 500 < sum(delays) / len(delays) < 700


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("entities", [1, 2, 5])
def test_few_entities(name: str, entities: int) -> None:
    made = generator(name)
    assert len(made["narrative"](400, entities)) == 400
    assert len(made["narrative"](0, entities)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_rule_finds_something(name: str) -> None:
    rules = rules_of(name)
    result = rules.run(EXAMPLES / name / "narrative.csv", start=0)
    found = {(row.name, len(row.args)) for row in result.rows("final")}
    assert found == {(entity.name, entity.arity) for entity in rules.entities.outputs}
