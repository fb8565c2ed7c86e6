"""The rules of the shared conformance cases are read without errors, where they are at hand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.lang.texts import show_description

from horai.lang.core.diagnostics import has_errors
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_files, read_text


def _cases() -> list[Any]:
    default = Path(__file__).parents[3] / "shared" / "conformance" / "event-calculus.json"
    path = Path(os.environ.get("HORAI_CONFORMANCE", default))
    if not path.exists():
        return []
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases]


CASES = _cases()

if CASES:  # there is nothing to collect without them; the project has cases of its own

    @pytest.mark.parametrize("case", CASES)
    def test_rules_and_background(case: dict[str, Any]) -> None:
        sources = [
            SourceText("rules", case["rules"]),
            SourceText("background", case["background"] or ""),
        ]
        description, findings = read_files(sources)
        assert findings == []
        assert description.rules
        again, more = read_text(show_description(description))
        assert not has_errors(more)
        assert len(again.rules) == len(description.rules)
