"""The page on LARS tells the truth: its programs run, and its answers come out."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
from tests.cli.test_docs import FENCE, commands, fits, run

import horai
from horai.runtime.lars.answers import written

PAGE = Path(__file__).parents[2] / "docs" / "lars.md"
BLOCKS = re.findall(r'```(\w+)(?: title="([\w.]+)")?\n(.*?)```', PAGE.read_text("utf-8"), re.DOTALL)
KINDS = [title or language for language, title, _ in BLOCKS]
STORIES = [
    (BLOCKS[i][2], BLOCKS[i + 1][2], BLOCKS[i + 2][2])
    for i in range(len(BLOCKS) - 2)
    if KINDS[i : i + 3] == ["lars", "stream", "answer"]
]


def answers(text: str) -> dict[int, list[list[str]]]:
    found = {}
    for line in text.splitlines():
        time, _, models = line.partition(": ")
        listed = [] if models == "no answer" else models.split(" | ")
        atoms = [re.findall(r"\w+(?:\([^)]*\))?", model) for model in listed]
        found[int(time)] = sorted(sorted(model) for model in atoms)
    return found


def test_every_program_has_its_answer() -> None:
    assert len(STORIES) == KINDS.count("lars") >= 6


@pytest.mark.parametrize(("program", "stream", "answer"), STORIES)
def test_a_program(program: str, stream: str, answer: str) -> None:
    wanted = answers(answer)
    loaded = horai.loads(program, language="lars")
    result = loaded.run(stream.splitlines(), start=0, end=max(wanted), models="all")
    found = {
        time: sorted(sorted(map(written, model)) for model in result.at(time).models)
        for time in wanted
    }
    assert found == wanted
    assert result.dead_letters == []


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
    assert shown == 12


def test_the_examples_in_python() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, report=True)
    assert (failed, tried) == (0, 13)


def test_the_older_notation() -> None:
    rows = re.findall(r"^\| (`b .*`) \| (`.*`) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 3
    for older, newer in rows:
        new = [
            horai.loads(f"h :- {text}, t(T).", language="lars").program
            for text in re.findall("`(.*?)`", newer)
        ]
        for text in re.findall("`(.*?)`", older):
            assert horai.loads(f"h :- {text}, t(T).", language="lars").program in new
