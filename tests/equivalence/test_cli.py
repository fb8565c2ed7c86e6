"""`horai equiv` on the command line."""

from __future__ import annotations

import doctest
import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

PAGE = Path(__file__).parents[2] / "docs" / "relatives.md"


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.lars").write_text("h(X) :- a(X) [3 s].\n")
    Path("b.lars").write_text("h(X) :- a(X) [2 s].\n")
    Path("c.lars").write_text("h(Y) :- a(Y) [2 s].\n")
    Path("either.lars").write_text("p ; q.\n")
    Path("choice.lars").write_text("p :- not q. q :- not p.\n")
    return tmp_path


@pytest.mark.usefixtures("folder")
class TestVerdicts:
    def test_equal(self) -> None:
        code, out, err = run("equiv", "b.lars", "c.lars")
        assert (code, err) == (0, "")
        assert out == "equivalent (data): they have the same bi-models, so no context matters\n"

    def test_different_on_a_stream_that_replays(self) -> None:
        code, out, _ = run("equiv", "a.lars", "b.lars", "-o", "differ")
        assert code == 1
        assert out.startswith("not equivalent (data): their answers differ at 3\n")
        assert Path("differ.csv").read_text() == "a|0|0|c1\n"
        assert not Path("differ.lars").exists()
        assert self.replayed(out) == [{"h(c1)"}, set()]

    def test_different_in_a_context_that_replays(self) -> None:
        words = ["either.lars", "choice.lars", "--notion", "strong", "-o", "differ"]
        code, out, _ = run("equiv", *words)
        assert code == 1
        assert Path("differ.lars").read_text() == "@0 q :- @0 p.\n@0 p :- @0 q.\n"
        assert not Path("differ.csv").exists()
        assert self.replayed(out) == [{"p()", "q()"}, {"none"}]

    def replayed(self, out: str) -> list[set[str]]:
        """What the commands show that the output proposes."""
        found = []
        for line in out.splitlines():
            if line.startswith("  horai run"):
                code, shown, _ = run(*shlex.split(line)[1:], "--format", "jsonl")
                assert code == 0
                rows = [json.loads(row) for row in shown.splitlines()]
                atoms = {f"{r['name']}({','.join(r['args'])})" for r in rows if r["kind"] == "atom"}
                found.append(atoms | {"none" for row in rows if row["kind"] == "none"})
        return found

    def test_for_programs(self) -> None:
        code, out, _ = run("equiv", "a.lars", "b.lars", "--format", "json")
        assert code == 1
        assert json.loads(out) == {
            "notion": "data",
            "equivalent": False,
            "reason": "their answers differ",
            "time": 3,
            "stream": ["a|0|0|c1"],
            "rules": [],
            "answers": [["@0 a(c1), @3 h(c1)"], ["@0 a(c1)"]],
        }

    def test_not_settled(self) -> None:
        Path("d.lars").write_text("h(X) :- a(X) [2 s], X = X + 0.\n")
        code, out, _ = run("equiv", "c.lars", "d.lars", "--tries", "5", "--filter", "g")
        assert code == 0
        assert out.startswith("no difference found (data): 5 attempts up to time point 3")

    def test_on_one_stream(self) -> None:
        Path("s.csv").write_text("a|1|1|x\n")
        words = ["equiv", "a.lars", "b.lars", "--notion", "ordinary", "--input", "s.csv", "--end"]
        assert run(*words, "3")[0] == 0
        assert run(*words, "4")[0] == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.lars"], "Missing argument"),
        (["a.lars", "none.lars"], "this file cannot be read"),
        (["a.lars", "b.ec"], "b.ec is no LARS program"),
        (["a.lars", "b.lars", "--notion", "weak"], "weak"),
        (["a.lars", "b.lars", "--input", "s.csv"], "--input is for the ordinary notion"),
        (["a.lars", "b.lars", "--clock", "2s"], "does not fit the clock"),
        (["a.lars", "b.lars", "--tries", "-1"], "tries must be at least 0"),
        (["a.lars", "b.lars", "--notion", "strong", "--filter", "h"], "about all predicates"),
    ],
)
def test_wrong_use(words: list[str], message: str) -> None:
    code, out, err = run("equiv", *words)
    assert (code, out) == (2, "")
    assert message in err


def test_the_example_in_python() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, report=True)
    assert (failed, tried) == (0, 5)
