"""The page on positions says what is true: its tables are compared, its Python is run."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from horai.signals import CODES, SPEED_UNITS, MotionLimits
from horai.signals.items import ARITY
from horai.signals.reading import ALIASES

PAGE = (Path(__file__).parents[2] / "docs" / "signals.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_table_of_codes() -> None:
    table = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", PAGE.split("## Cleaning")[1], re.M))
    assert {code: table[code] for code in CODES} == CODES


def test_the_table_of_limits() -> None:
    table = re.findall(r"^\| `([a-z_]+)` \| ([0-9.]+) \|", PAGE.split("## Limits")[1], re.M)
    limits = {
        f.name: getattr(MotionLimits(), f.name) for f in fields(MotionLimits) if f.name != "unit"
    }
    assert {name: float(value) for name, value in table} == limits


def test_every_name_is_mentioned() -> None:
    aliases = [alias for names in ALIASES.values() for alias in names]
    assert [name for name in [*aliases, *SPEED_UNITS] if f"`{name}`" not in PAGE] == []
    assert [name for name in ARITY if f"`{name}(" not in PAGE] == []


def test_the_python_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall(PAGE.split("## On Spark")[0])
    for _, title, text in blocks:
        if title:
            Path(title).write_text(text)
    day = pd.read_csv("day.csv")
    batches = [(day[:4], 150), (day[4:7], 300), (day[7:8], 1100), (day[8:], 2000)]
    names: dict[str, Any] = {"batches": batches}
    python = [text for kind, _, text in blocks if kind == "python"]
    assert len(python) == 2
    exec(python[0], names)
    whole = names["found"]
    assert {row["type"] for row in whole.items.to_pylist()} == {*ARITY} - {
        *("slow_motion_start", "slow_motion_end", "change_in_heading", "proximity"),
        *("gap_start", "gap_end"),  # the page sets a longer limit here
    }
    exec(python[1], names)
    said = [(row.name, row.start, row.end) for row in names["session"].finish().rows("final")]
    assert said == [("at", 0, 181), ("moored", 1, 181)]
