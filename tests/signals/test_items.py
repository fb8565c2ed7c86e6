"""Items in all forms are the same stream, and fit the rules they are made for."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.signals.making import areas, positions, shapes
from tests.signals.slow import Row

import horai
from horai.io import InputError, Narrative, read
from horai.signals import DerivedItems, Pipeline, read_positions, write_items
from horai.signals.items import ARITY

ROOT = Path(__file__).parents[2]
MARITIME = ROOT / "examples" / "maritime"
ROWS = [
    Row(
        name,
        60 * i,
        10 + (0.0005 + 0.00001 * i) * n,
        50 + 0.0001 * i,
        0.3 if i < 9 else 6.0,
        20.0 * (i % 4),
    )
    for n, name in enumerate(["v1", 'Big, "Ship"'])
    for i in range(40)
    if not 20 < i < 33
]


@pytest.fixture
def found() -> DerivedItems:
    return Pipeline(areas=areas(shapes(ROWS))).run(positions(ROWS))


def said(narrative: Narrative) -> list[tuple[object, ...]]:
    return sorted(
        (
            (i.name, i.kind, i.form, i.arrival, i.start, i.end, i.value, i.args)
            for i in narrative.items()
        ),
        key=str,
    )


def test_files_and_memory_hold_the_same(found: DerivedItems, tmp_path: Path) -> None:
    rules = horai.load(sorted(MARITIME.glob("*.ec")))
    wanted = found.narrative()
    assert wanted.counts().by_type.keys() > {"velocity", "proximity", "entersArea", "stop_start"}
    for name in ("items.csv", "items.parquet"):
        write_items(tmp_path / name, found.items)
        again = read(tmp_path / name, rules.schema)
        assert again.dead_letters == []
        assert said(again) == said(wanted)
    with pytest.raises(InputError, match="does not tell its format"):
        write_items(tmp_path / "items.xls", found.items)


def test_the_rules_of_the_example_read_every_type() -> None:
    schema = horai.load(sorted(MARITIME.glob("*.ec"))).schema
    assert {name: [t.arity for t in types] for name, types in schema.types.items()} == {
        name: [arity] for name, arity in ARITY.items()
    }


def test_rules_run_over_what_was_derived(found: DerivedItems) -> None:
    rules = horai.load(sorted(MARITIME.glob("*.ec")))
    result = rules.run(found.narrative())
    assert result.dead_letters == []
    assert {row.name for row in result.rows("final")} > {"stopped", "gap"}


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    """Numbers of vessels in a file are numbers in rules, as in every other file of a stream."""
    lines = [f"244660000,{60 * i},{4 + 0.001 * i},51" for i in range(5)]
    (tmp_path / "day.csv").write_text("\n".join(["mmsi,t,lon,lat", *lines]))
    found = Pipeline().run(read_positions(tmp_path / "day.csv"))
    rules = horai.load(sorted(MARITIME.glob("*.ec")))
    for name in ("items.csv", "items.parquet"):
        write_items(tmp_path / name, found.items)
        items = list(read(tmp_path / name, rules.schema).items())
        assert {item.args[0] for item in items} == {244660000}
        assert said(Narrative.from_items(items)) == said(found.narrative())
