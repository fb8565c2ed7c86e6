"""The language page tells the truth: its rules load, and its answers come out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import horai
from horai.lang.ec.reader import read_text

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
BLOCKS = re.findall(r'```(\w+)(?: title="(\w+)")?\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)


def _stories() -> list[tuple[str, str, str]]:
    """Rules with the stream and the answer that follow them."""
    kinds = [title or language for language, title, _ in BLOCKS]
    return [
        (BLOCKS[i][2], BLOCKS[i + 1][2], BLOCKS[i + 2][2])
        for i in range(len(BLOCKS) - 2)
        if kinds[i : i + 3] == ["prolog", "stream", "answer"]
    ]


@pytest.mark.parametrize("rules", [text for language, _, text in BLOCKS if language == "prolog"])
def test_rules_load(rules: str) -> None:
    assert read_text(rules)[1] == []


def test_every_example_has_its_answer() -> None:
    assert len(_stories()) == sum(language == "prolog" for language, _, _ in BLOCKS)


@pytest.mark.parametrize(("rules", "stream", "answer"), _stories())
def test_answers(rules: str, stream: str, answer: str) -> None:
    result = horai.loads(rules).run(stream.splitlines(), start=0, end=100)
    found: list[str] = []
    for row in result.rows():
        name = f"{row.name}({','.join(map(str, row.args))})" if row.args else row.name
        if row.kind == "event":
            found.append(f"{name} {row.time}")
        else:
            end = "inf" if row.end is None else row.end
            found.append(f"{name}={row.value} ({row.start},{end})")
    assert sorted(found) == sorted(answer.splitlines())
