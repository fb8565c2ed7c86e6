"""What the page about streams shows is what happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.test_docs import FENCE, ROOT, commands, fits, run

from horai.runtime.spark.shuffle import SparkGrid


def test_the_walk_through(grid: SparkGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    page = (ROOT / "docs" / "streaming.md").read_text(encoding="utf-8")
    for kind, title, text in FENCE.findall(page):
        if title:
            Path(title).parent.mkdir(exist_ok=True)
            Path(title).write_text(text, encoding="utf-8")
        for line, shown in commands(text) if kind == "console" else ():
            found = run(line, monkeypatch)
            assert fits(found, shown), f"{line}\n{found}"
            ran += 1
    assert ran == 6
