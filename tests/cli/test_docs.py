"""What the pages and the README show is what happens."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    *("docs/cli.md", "docs/plan.md", "docs/relatives.md", "docs/signals.md", "docs/spark.md"),
    *("docs/editor.md", "docs/tutorial.md", "docs/why.md", "README.md"),
]


def run(line: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command of a page prints."""
    program, *words = shlex.split(line)
    if program == "cd":
        monkeypatch.chdir(words[0])
        return ""
    if program == "cat":
        return Path(words[0]).read_text()
    assert program == "horai", line
    result = CliRunner().invoke(app, words, env={"COLUMNS": "88"})
    expected = (0, 1, 2) if words[0] == "equiv" else (0, 2)  # 1: the programs differ
    assert result.exit_code in expected, result.output
    return result.stdout + result.stderr if result.exit_code == 0 else result.output


def fits(found: str, shown: str) -> bool:
    """Is the output the one shown? A line `...` stands for any lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown.splitlines()
    )
    return re.fullmatch(pattern, found) is not None


def commands(block: str) -> list[tuple[str, str]]:
    """Each command of a block with the output shown for it."""
    found = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for kind, title, text in FENCE.findall((ROOT / page).read_text(encoding="utf-8")):
        if title:
            Path(title).write_text(text)
        for line, shown in commands(text) if kind == "console" else ():
            found = run(line, monkeypatch)
            assert fits(found, shown), f"{line}\n{found}"
            ran += 1
    assert ran
