"""LARS programs on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from horai.cli.app import app

PROGRAM = "h(X) :- b(X) [2 s].\n"
STREAM = "b|1|1|x\nb|3|3|7\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p.lars").write_text(PROGRAM)
    Path("f.csv").write_text(STREAM)
    return tmp_path


def run(*words: str, status: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == status, result.output
    return result.stdout if status == 0 else result.output


def test_json_lines() -> None:
    out = run("run", "p.lars", "--input", "f.csv", "--clock", "1s", "--start", "0", "--end", "4")
    assert out.splitlines() == [
        '{"kind":"atom","query":1,"name":"h","args":["x"]}',
        '{"kind":"atom","query":2,"name":"h","args":["x"]}',
        '{"kind":"atom","query":3,"name":"h","args":[7]}',
        '{"kind":"atom","query":3,"name":"h","args":["x"]}',
        '{"kind":"atom","query":4,"name":"h","args":[7]}',
    ]


def test_it_is_the_same_in_a_process_of_its_own() -> None:
    words = ["run", "p.lars", "-i", "f.csv", "--start", "0", "--end", "4"]
    done = subprocess.run(
        [sys.executable, "-m", "horai", *words], capture_output=True, text=True, check=True
    )
    assert done.stdout == run(*words)
    assert done.stderr == ""


def test_text_and_csv() -> None:
    words = ("run", "p.lars", "-i", "f.csv", "--start", "2", "--end", "3")
    Path("f.csv").write_text("b|2|2|x\nb|3|3|7\n")
    assert run(*words, "--format", "text") == "2: h(x)\n3: h(7), h(x)\n"
    assert run(*words, "--format", "csv", "--answers", "final").splitlines() == [
        "kind,query,model,name,args,op,arrived,signals",
        "atom,3,,h,[7],,,",
        'atom,3,,h,"[""x""]",,,',
    ]
    run(*words, "-o", "out.jsonl")
    assert Path("out.jsonl").read_text() == run(*words)


def test_models_and_no_answer() -> None:
    Path("p.lars").write_text("a :- b(X), not c. c :- b(X), not a. :- b(7).\n")
    words = ("run", "p.lars", "-i", "f.csv", "--start", "0", "--end", "3", "--models", "all")
    assert [json.loads(line) for line in run(*words).splitlines()] == [
        {"kind": "empty", "query": 0, "model": 1},
        {"kind": "atom", "query": 1, "model": 1, "name": "a", "args": []},
        {"kind": "atom", "query": 1, "model": 2, "name": "c", "args": []},
        {"kind": "empty", "query": 2, "model": 1},
        {"kind": "none", "query": 3},
    ]
    assert run(*words, "--format", "text").splitlines() == [
        "0 model 1: -",
        "1 model 1: a",
        "1 model 2: c",
        "2 model 1: -",
        "3: no answer",
    ]
    assert run(*words[:-2], "--filter", "c,zz").count("atom") <= 1


def test_steps_and_changes() -> None:
    words = ("run", "p.lars", "-i", "f.csv", "--start", "0", "--end", "6")
    assert [json.loads(line)["query"] for line in run(*words, "--step", "3").splitlines()] == [3, 3]
    changes = [json.loads(line) for line in run(*words, "--answers", "changelog").splitlines()]
    assert [(row["query"], row["op"], row["args"]) for row in changes] == [
        (1, "+", ["x"]),
        (3, "+", [7]),
        (4, "-", ["x"]),
        (6, "-", [7]),
    ]


def test_without_input() -> None:
    Path("p.lars").write_text("h :- not b.\n")
    assert run("run", "p.lars", "--end", "0") == '{"kind":"atom","query":0,"name":"h","args":[]}\n'
    Path("f.csv").write_text("")
    assert run("run", "p.lars", "-i", "f.csv", "--end", "0").count("atom") == 1


def test_dead_letters() -> None:
    Path("f.csv").write_text("b|x|1|x\nb|1|1|x\n")
    result = CliRunner().invoke(app, ["run", "p.lars", "-i", "f.csv", "--dead-letters", "d.csv"])
    assert result.exit_code == 0
    assert "1 row was not used" in result.stderr
    assert "bad-time" in Path("d.csv").read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--window", "3"), "--window has no meaning for LARS programs"),
        (("--tick", "3"), "--tick has no meaning"),
        (("--include-input",), "--include-input has no meaning"),
        (("--clock", "fast"), "is no clock time"),
        (("--clock", "3s"), "H703"),
        (("--models", "few"), "models cannot be 'few'"),
        (("--models", "0"), "models cannot be '0'"),
        (("--reasoning", "wild"), "reasoning cannot be 'wild'"),
        (("--brave", "--cautious"), "cannot be brave and cautious at once"),
        (("--brave", "--models", "2"), "brave reasoning gives one answer"),
        (("--cautious", "--least-change"), "the least change says nothing"),
        (("--allowed-lateness", "-1"), "lateness must be at least 0"),
        (("--output-every", "often"), "answers cannot be given every 'often'"),
        (("--output-every", "1500ms"), "1500 ms is no multiple of 1 s"),
        (("--output-every", "2s", "--step", "2"), "both say how often"),
        (("--state", "s.bin", "-o", "socket:99999"), "a port is at most 65535"),
        (("-i", "socket:0", "--output-every", "signal"), "has no end"),
        (("-o", "tcp:127.0.0.1:1"), "cannot connect"),
        (("--engine", "compiled"), "there is no engine 'compiled' for LARS programs"),
        (("--format", "timeline", "--models", "all"), "spans are those of one answer at a time"),
        (("--live", "--format", "timeline"), "a run that goes on writes lines"),
        (("-o", "out.xyz"), "does not tell its format"),
        (("--start", "9", "--end", "3"), "before its start"),
        (("--input", "none.csv"), "none.csv"),
        (("--answers", "changelog", "--models", "all"), "changes are those of one model"),
    ],
)
def test_wrong_use(words: tuple[str, ...], problem: str) -> None:
    assert problem in run("run", "p.lars", "-i", "f.csv", *words, status=2)


def test_wrong_files() -> None:
    Path("p.ec").write_text("initiatedAt(on=true, T) :- happensAt(up, T).\n")
    assert "no meaning for rules of the Event Calculus" in run(
        "run", "p.ec", "-i", "f.csv", "--clock", "1s", status=2
    )
    assert "no meaning for rules of the Event Calculus" in run(
        "check", "p.ec", "--clock", "1s", status=2
    )
    assert "no input given" in run("run", "p.lars", status=2)
    assert "cannot be read" in run("run", "none.lars", "-i", "f.csv", status=2)


def test_check() -> None:
    said = "fragment: positive (time)\nengine: plan\n1 file, 1 rule: all is well\n"
    assert run("check", "p.lars") == said
    Path("p.lars").write_text("{ h } :- b(X).\n")
    out = run("check", "p.lars")
    assert "engine: asp\n  because the engine plan does not run this: p.lars:1:1: it has" in out
    Path("p.lars").write_text("h :- b [3 s].\ng :- not g.\nk(X) :- h.\n")
    out = run("check", "p.lars", "--clock", "2s", status=2)
    assert [code for code in ("H703", "H704", "H700") if f"[{code}]" in out] == [
        *("H703", "H704", "H700")
    ]
    assert "fragment: plain (negation, time)" in out
    assert "because predicates depend on each other through `not` (p.lars:2)" in out
    assert "1 file, 3 rules: 2 errors and 1 warning" in out


def test_check_for_editors() -> None:
    Path("p.lars").write_text("h :- b [3 parsec].\n")
    (found,) = json.loads(run("check", "p.lars", "--format", "json", status=2))
    place = (found["line"], found["column"], found["text"])
    assert (found["code"], *place) == ("H602", 1, 11, "parsec")


def test_a_project(folder: Path) -> None:
    (folder / "horai.toml").write_text(
        '[project]\nrules = ["p.lars"]\ninput = ["f.csv"]\n'
        '[run]\nclock = "1s"\nstart = 0\nend = 1\nfilter = "h"\n'
    )
    assert run("run").count("atom") == 1
    (folder / "horai.toml").write_text('[project]\nrules = ["p.lars"]\n[run]\nwindow = 3\n')
    assert "window of the project has no meaning" in run("run", "-i", "f.csv", status=2)


def test_a_rule_is_explained() -> None:
    assert "Window that does not fit the clock" in run("rule", "H703")


def test_warnings_are_mentioned() -> None:
    Path("p.lars").write_text("h :- b(X), not h.\n")
    result = CliRunner().invoke(app, ["run", "p.lars", "-i", "f.csv", "--end", "1"])
    assert "warning[H704]" in result.stderr
    quiet = CliRunner().invoke(app, ["run", "p.lars", "-i", "f.csv", "--end", "1", "-q"])
    assert "H704" not in quiet.stderr


def test_a_row_without_fields_is_told_shortly(tmp_path: Path) -> None:
    (tmp_path / "p.lars").write_text("h(X) :- b(X) [2 s].\n")
    (tmp_path / "f.csv").write_text("b|1|1|x\nsome noise\nb|2\n")
    run = CliRunner().invoke(
        app, ["run", str(tmp_path / "p.lars"), "--input", str(tmp_path / "f.csv")]
    )
    assert run.exit_code == 0
    assert "f.csv:2: field-count: no '|' in this row" in run.stderr
    assert "f.csv:3: field-count: 2 fields given, expected b|Arrival|Time" in run.stderr
    assert max(map(len, run.stderr.splitlines())) < 200


def test_what_is_told_before_a_run() -> None:
    Path("p.lars").write_text("alarm(X) :- b(X) [2 s].\n")
    words = ("run", "p.lars", "-i", "f.csv", "--filter", "alarn,b,x")
    said = CliRunner().invoke(app, list(words)).stderr
    assert said.splitlines() == [
        "warning: no rule has the predicate alarn of the filter: did you mean alarm?",
        "warning: no rule has the predicate x of the filter",
    ]
    Path("p.lars").write_text("g(1).\nh :- g(X) [2 s].\n")
    said = CliRunner().invoke(app, ["run", "p.lars", "-i", "f.csv"]).stderr
    assert said.startswith(
        "warning[H705]: the background predicate g/1 in a window\n --> p.lars:2:6"
    )
    Path("p.lars").write_text("g(1).\nh(Y) :- g(X) [2 s].\n")
    said = run("run", "p.lars", "-i", "f.csv", status=2)
    assert "shows them" not in said and "the rules have 1 error" in said
