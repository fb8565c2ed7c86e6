"""The page on both languages tells the truth."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.cli.test_docs import FENCE, commands, fits, run

PAGE = Path(__file__).parents[2] / "docs" / "both-languages.md"


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = 0
    for kind, title, text in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if "." in title:
            Path(title).write_text(text)
        for line, output in commands(text) if kind == "console" else ():
            found = run(line, monkeypatch)
            assert fits(found, output), f"{line}\n{found}"
            shown += 1
    assert shown == 6


def test_the_python() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False).failed == 0
