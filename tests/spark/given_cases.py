"""The cases of the project, and the shared ones where they are at hand, as Spark gets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import horai
from horai.rules import Rules
from horai.testing import Case, case_rules, find_cases, narrative_of, read_cases

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "conformance" / "event-calculus.json"
SETTINGS = ("window", "step", "start", "end", "tick")


@dataclass(frozen=True)
class Given:
    """Rules, which are read when they are needed, rows and settings; `case` if it is our own."""

    name: str
    load: Callable[[], Rules]
    lines: list[str]
    settings: dict[str, Any]
    case: Case | None = None

    @cached_property
    def rules(self) -> Rules:
        """The rules."""
        return self.load()

    @property
    def narrative(self) -> str:
        """The rows as a text."""
        return "".join(f"{line}\n" for line in self.lines)


def _all() -> list[Case]:
    paths = find_cases([ROOT / "tests" / "cases", ROOT / "examples"])
    return [case for path in paths for case in read_cases(path)]


def project_cases() -> list[Given]:
    """All that can be run: those of a language without windows, with rules that are right."""
    return [_given(case) for case in _all() if case.errors is None]


def refused_cases() -> list[Case]:
    """Those that never run, because they are about mistakes in rules."""
    return [case for case in _all() if case.errors is not None]


def _given(case: Case) -> Given:
    name = f"{case.file.name}:{case.line} {case.title}"
    narrative = narrative_of(case)
    if isinstance(narrative, list):
        narrative = "".join(Path(file).read_text(encoding="utf-8") for file in narrative)
    assert isinstance(narrative, str)
    settings: dict[str, Any] = dict(case.settings)
    return Given(name, lambda: case_rules(case), narrative.splitlines(), settings, case)


def shared_cases() -> list[Given]:
    """Those that several projects share, none if they are not at hand."""
    if not SHARED.is_file():
        return []

    def given(case: dict[str, Any]) -> Given:
        return Given(
            case["id"],
            lambda: horai.loads(case["rules"], case["background"]),
            case["narrative"].splitlines(),
            {name: case[name] for name in SETTINGS},
        )

    return [given(case) for case in json.loads(SHARED.read_text(encoding="utf-8"))["cases"]]
