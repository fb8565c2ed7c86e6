"""Every code is explained, and its example triggers it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import horai.lang
from horai.lang.core.diagnostics import all_codes
from horai.lang.ec.reader import read_files, read_text

CODES = {code: info for code, info in all_codes().items() if code < "H2"}

_NEED_FILES = {"H015", "H028"}


@pytest.mark.parametrize("code", sorted(set(CODES) - _NEED_FILES))
def test_example_triggers_its_code_and_nothing_else(code: str) -> None:
    info = CODES[code]
    findings = read_text(info.example)[1]
    assert [(finding.code, finding.severity) for finding in findings] == [(code, info.severity)]
    assert all(finding.span is not None for finding in findings)


def test_examples_that_need_files(tmp_path: Path) -> None:
    latin = tmp_path / "latin.ec"
    latin.write_text(CODES["H015"].example, encoding="latin-1")
    assert [finding.code for finding in read_files([latin])[1]] == ["H015"]
    assert [finding.code for finding in read_files([tmp_path / "missing.ec"])[1]] == ["H028"]


@pytest.mark.parametrize("code", sorted(CODES))
def test_codes_are_explained(code: str) -> None:
    info = CODES[code]
    assert info.code == code
    assert re.fullmatch(r"H[01]\d\d", code)
    assert info.title
    assert not info.title.endswith(".")
    assert info.explanation.endswith((".", ")"))


def test_every_code_in_the_source_is_registered_and_every_registered_code_is_used() -> None:
    package = Path(horai.lang.__file__).parent
    used: set[str] = set()
    for path in package.rglob("*.py"):
        used.update(re.findall(r'"(H[01]\d{2})"', path.read_text(encoding="utf-8")))
    assert used == set(CODES)
