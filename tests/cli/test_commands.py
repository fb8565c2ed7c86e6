"""check, query, test, new, rule and the frame around them."""

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from horai.lang.core.diagnostics import all_codes
from horai.tools.codes import letter_codes

from .conftest import Run

TOY = Path(__file__).parents[2] / "examples" / "toy"


def test_version(horai: Run) -> None:
    assert horai("--version").stdout == f"horai {version('horai')}\n"


@pytest.mark.parametrize("command", ["", "new", "check", "run", "query", "test", "graph", "rule"])
def test_every_command_has_help(horai: Run, command: str) -> None:
    result = horai(*command.split(), "--help")
    assert result.exit_code == 0
    assert "Usage" in result.stdout


def test_check_good_rules(horai: Run) -> None:
    result = horai("check", "rules.ec")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "1 file, 3 rules, 0 facts: all is well\n"


def test_check_shows_errors_and_warnings(horai: Run) -> None:
    Path("bad.ec").write_text(
        "initiatedAt(f(X), T) :- happensAt(a(X), T).\n"
        "initiatedAt(g(X)=true, T) :- happensAt(a(X), T), happensAt(a(Y), T).\n"
    )
    result = horai("check", "bad.ec")
    assert result.exit_code == 2
    assert "error[H103]" in result.stderr and " --> bad.ec:1:13" in result.stderr
    assert "warning[" in result.stderr
    assert result.stdout.endswith("1 error and 1 warning\n")


def test_warnings_alone_are_no_failure(horai: Run) -> None:
    Path("doubt.ec").write_text(
        "initiatedAt(g(X)=true, T) :- happensAt(a(X), T), happensAt(a(Y), T).\n"
    )
    result = horai("check", "doubt.ec")
    assert result.exit_code == 0
    assert "warning[" in result.stderr


def test_check_for_editors(horai: Run) -> None:
    Path("bad.ec").write_text("initiatedAt(f(X), T) :- happensAt(a(X), T).\n")
    result = horai("check", "bad.ec", "--format", "json")
    assert (result.exit_code, result.stderr) == (2, "")
    (finding,) = json.loads(result.stdout)
    assert (finding["code"], finding["line"], finding["column"]) == ("H103", 1, 13)
    assert json.loads(horai("check", "rules.ec", "--format", "json").stdout) == []


def test_the_session_of_the_manual(horai: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOY)
    assert horai("query", "holdsFor(happy(chris)=true,I).").stdout == "I = [(14,22)]\n"
    assert horai("query", "holdsFor(F,I).").stdout == (
        "F = (rich(chris)=true),\nI = [(14,20)] ;\n"
        "F = (location(chris)=home),\nI = [(22,inf)] ;\n"
        "F = (location(chris)=pub),\nI = [(18,22)] ;\n"
        "F = (location(chris)=work),\nI = [(10,18)] ;\n"
        "F = (happy(chris)=true),\nI = [(14,22)]\n"
    )
    assert horai("query", "holdsAt(F,16).").stdout == (
        "F = (rich(chris)=true) ;\nF = (location(chris)=work) ;\nF = (happy(chris)=true)\n"
    )


def test_the_manual_interactively(horai: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOY)
    result = horai("run", "--interactive", stdin="holdsFor(happy(chris)=true,I).\n")
    assert (result.exit_code, result.stdout) == (0, "I = [(14,22)]\n")


def test_several_queries_are_told_apart(horai: Run) -> None:
    words = ("query", "rules.ec", "-i", "day.csv")
    result = horai(*words, "holdsAt(F,15)", "happensAt(party(X),T)", "holdsAt(rich(zoe)=true,1)")
    assert result.stdout == (
        "?- holdsAt(F,15).\nF = (rich(chris)=true)\n"
        "?- happensAt(party(X),T).\nX = chris,\nT = 13\n"
        "?- holdsAt(rich(zoe)=true,1).\nfalse\n"
    )
    assert horai(*words, stdin="holdsAt(rich(chris)=true,15)\n").stdout == "true\n"


def test_graphs(horai: Run) -> None:
    for name, begin in (("g.svg", "<?xml"), ("g.dot", "digraph"), ("g.mmd", "")):
        result = horai("graph", "rules.ec", "-o", name)
        assert (result.exit_code, result.output) == (0, "")
        text = Path(name).read_text()
        assert text.startswith(begin) and "party" in text and "win" not in text
    assert Path("g.mmd").read_text() == horai("graph", "rules.ec").stdout
    assert horai("graph", "rules.ec", "-o", "g.png").exit_code == 0
    assert Path("g.png").read_bytes().startswith(b"\x89PNG")
    assert "win" in horai("graph", "rules.ec", "--with-input").stdout


CASE = """\
rules: rules.ec
narrative: day.csv
case: one
expect:
    rich(chris)=true: (14,{end})
    happens party(chris): 13
case: two
expect some:
    happens party(chris): 13
"""


def test_cases_that_pass(horai: Run) -> None:
    Path("a.case").write_text(CASE.format(end=20))
    result = horai("test", "a.case")
    assert result.exit_code == 0
    assert result.stdout == "ok    a.case:3  one\nok    a.case:7  two\n2 of 2 cases passed\n"
    assert horai("test", "--quiet", ".").stdout == "2 of 2 cases passed\n"


def test_cases_that_fail(horai: Run) -> None:
    Path("a.case").write_text(CASE.format(end=21))
    result = horai("test", "a.case")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "FAIL  a.case:3  one",
        "        at the end (a.case:4)",
        "        - rich(chris)=true: (14,21)  (missing)",
        "        + rich(chris)=true: (14,20)  (unexpected)",
        "ok    a.case:7  two",
        "1 of 2 cases passed",
    ]


def test_malformed_cases(horai: Run) -> None:
    Path("a.case").write_text("rulez: x\n")
    Path("b.case").write_text("expect:\n    what\n")
    result = horai("test", "a.case", "b.case")
    assert result.exit_code == 2
    assert "a.case:1: unknown keyword `rulez`" in result.stderr
    assert "b.case:2: " in result.stderr


def test_a_new_project_works_without_arguments(
    horai: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = horai("new", "lights")
    assert made.exit_code == 0
    assert "horai test" in made.stdout
    monkeypatch.chdir(tmp_path / "lights")
    assert "all is well" in horai("check").stdout
    assert '"name":"wasted"' in horai("run").stdout
    assert horai("test").stdout.endswith("2 of 2 cases passed\n")
    assert "# lights" in Path("README.md").read_text()
    monkeypatch.chdir(tmp_path / "lights" / "tests")
    rows = [json.loads(line) for line in horai("run", "--end", "22").stdout.splitlines()]
    assert {"lit", "inside", "wasted"} == {row["name"] for row in rows}
    assert horai("test").exit_code == 0
    monkeypatch.chdir(tmp_path)
    again = horai("new", "lights")
    assert again.exit_code == 2


def test_rules_on_the_command_line_leave_the_project_aside(horai: Run) -> None:
    Path("horai.toml").write_text('[project]\nrules = ["nowhere.ec"]\n[run]\nwindow = 1\n')
    result = horai("run", "rules.ec", "-i", "day.csv")
    assert (result.exit_code, result.stderr) == (0, "")


def test_every_code_is_explained(horai: Run) -> None:
    listed = horai("rule").stdout
    for code, info in all_codes().items():
        assert code in listed
        explained = horai("rule", code.lower())
        assert explained.exit_code == 0
        assert info.title in explained.stdout
    for code in letter_codes():
        assert horai("rule", code).stdout.startswith(f"{code}: ")
