"""What the tests of the command line share."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from horai.cli.app import app

RULES = """\
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
happensAt(party(X), T) :- happensAt(win(X), T).
"""
NARRATIVE = "win|13|13|chris\nlose|19|19|chris\n"

Run = Callable[..., Result]


@pytest.fixture
def horai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line in a folder with rules.ec and day.csv in it."""
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "day.csv").write_text(NARRATIVE)
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, list(words), input=stdin)

    return run
