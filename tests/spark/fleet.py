"""A fleet at sea with late reports and retractions, and answers in a form that can be compared."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import horai
from horai.io import to_source
from horai.result import Result
from horai.rules import Rules

EXAMPLE = Path(__file__).parents[2] / "examples" / "maritime"
SETTINGS: dict[str, Any] = {"start": 0, "window": 3600, "step": 1800}
Row = tuple[Any, ...]


@cache
def _generator() -> ModuleType:
    name = "maritime_generate_for_spark"
    spec = importlib.util.spec_from_file_location(name, EXAMPLE / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def rules(entities: int) -> Rules:
    """The maritime description for so many vessels."""
    texts = [(EXAMPLE / name).read_text("utf-8") for name in ("rules.ec", "background.ec")]
    return horai.loads(texts[0], texts[1] + str(_generator().facts(entities)))


def write(path: Path, events: int, entities: int) -> None:
    """A narrative in the order of arrival: some reports come late, some are taken back."""
    lateness = _generator().Lateness(0.1, 0.05, 900.0)
    _generator().stream(events, entities, 7, lateness).write(path)


def batch_changes(result: Result) -> Counter[Row]:
    """The changelog of a run in one process."""
    return Counter(
        (
            *(row.query, row.op, row.name, *map(to_source, row.args)),
            None if row.value is None else to_source(row.value),
            *(row.start, row.end, row.time),
        )
        for row in result.changelog
    )


def stream_changes(rows: Iterable[Mapping[str, Any]]) -> Counter[Row]:
    """The same of rows that a sink has."""
    return Counter(
        (
            *(row["query"], row["op"], row["name"], *row["args"]),
            *(row.get(name) for name in ("value", "start", "end", "time")),
        )
        for row in rows
    )


def summed(changes: Counter[Row]) -> Counter[Row]:
    """What holds in the end: what was said and not taken back."""
    found: Counter[Row] = Counter()
    for (_, op, *rest), number in changes.items():
        found[tuple(rest)] += number if op == "+" else -number
    return +found
