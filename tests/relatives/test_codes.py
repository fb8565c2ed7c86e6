"""Every code of related languages is explained, and its example triggers it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import horai
from horai.lang.core.diagnostics import all_codes
from horai.lang.core.source import SourceText
from horai.lang.translate.languages import translated

RELATIVE_CODES = {code: info for code, info in all_codes().items() if info.language}

ROOT = Path(horai.__file__).parent


@pytest.mark.parametrize("code", RELATIVE_CODES)
def test_the_example_triggers_its_code_and_nothing_else(code: str) -> None:
    info = RELATIVE_CODES[code]
    assert info.language is not None
    findings = translated(SourceText("text", info.example), info.language)[1]
    assert [(finding.code, finding.severity) for finding in findings] == [(code, info.severity)]
    assert all(finding.span is not None and finding.hint for finding in findings)


@pytest.mark.parametrize("code", RELATIVE_CODES)
def test_codes_are_explained(code: str) -> None:
    info = RELATIVE_CODES[code]
    assert re.fullmatch(r"H8\d\d", code)
    assert not info.title.endswith(".")
    assert info.explanation.endswith((".", "`"))


def test_every_code_in_the_source_is_registered_and_every_code_is_used() -> None:
    used: set[str] = set()
    for path in ROOT.rglob("*.py"):
        used.update(re.findall(r'"(H8\d{2})"', path.read_text(encoding="utf-8")))
    assert used == set(RELATIVE_CODES)
