"""Every code of LARS is explained, and its example triggers it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import horai.lang.lars
from horai.lang.core.diagnostics import all_codes
from horai.lang.lars.reader import read_text

LARS_CODES = {code: info for code, info in all_codes().items() if code.startswith("H6")}


@pytest.mark.parametrize("code", LARS_CODES)
def test_the_example_triggers_its_code_and_nothing_else(code: str) -> None:
    info = LARS_CODES[code]
    findings = read_text(info.example)[1]
    assert [(finding.code, finding.severity) for finding in findings] == [(code, info.severity)]
    assert all(finding.span is not None and finding.hint for finding in findings)


@pytest.mark.parametrize("code", LARS_CODES)
def test_codes_are_explained(code: str) -> None:
    info = LARS_CODES[code]
    assert re.fullmatch(r"H6\d\d", code)
    assert not info.title.endswith(".")
    assert info.explanation.endswith((".", "`"))


def test_every_code_in_the_source_is_registered_and_every_own_code_is_used() -> None:
    used: set[str] = set()
    for path in Path(horai.lang.lars.__file__).parent.rglob("*.py"):
        used.update(re.findall(r'"(H\d{3})"', path.read_text(encoding="utf-8")))
    assert all(code.startswith(("H0", "H6")) for code in used)
    assert used <= set(all_codes())
    assert set(LARS_CODES) <= used
