"""`scripts/random_programs.py`: many random programs, each found again by its kind and seed."""

from __future__ import annotations

import sys
from unittest.mock import patch

import pytest
from scripts import random_programs


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, list[str]]:
    monkeypatch.setattr(sys, "argv", ["random_programs.py", *words])
    said: list[str] = []
    return random_programs.main(said.append), said


@pytest.mark.parametrize("kind", random_programs.KINDS)
def test_a_kind_is_compared(kind: str) -> None:
    assert random_programs.lot(kind, 1, 2) == (2, "")


def test_programs_are_counted_by_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = run(monkeypatch, "--programs", "3", "--seed", "7", "--kind", "one entity")
    assert code == 0
    assert said[0] == "3 programs, seeds from 7"
    assert said[1].split() == ["3", "rules", "about", "one", "entity"]


def test_a_difference_is_told_with_its_program() -> None:
    with patch.object(random_programs, "check_story", side_effect=AssertionError("other answers")):
        tried, told = random_programs.lot(random_programs.LARS, 3, 5)
    assert tried == 0
    assert "other answers" in told
    assert "Draw 1: Story(" in told


def test_a_kind_that_does_not_exist_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(monkeypatch, "--kind", "nothing")
    assert ended.value.code == 2
    assert "no kind has 'nothing' in its name" in capsys.readouterr().err
