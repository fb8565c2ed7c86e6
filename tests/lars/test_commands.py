"""The commands that take LARS programs beside `run` and `check`, and those that do not."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.lars.test_cli import run

import horai

PROGRAM = """\
late(Bus) :- bus(Bus), not seen(Bus) [5 s].
crowded :- always full [2 s].
reach(X, Y) :- edge(X, Y) [9 s].
reach(X, Z) :- reach(X, Y), edge(Y, Z) [9 s].
:- crowded, strike.
bus(b1).
"""
ROWS = ["seen|0|0|b1", "full|0|0", "full|1|1", "edge|1|1|a|b", "edge|2|2|b|c"]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.lars").write_text(PROGRAM)
    Path("f.csv").write_text("".join(f"{row}\n" for row in ROWS))
    Path("p.ec").write_text("initiatedAt(on=true, T) :- happensAt(up, T).\n")


class TestQuery:
    @pytest.mark.parametrize(
        ("query", "answer"),
        [
            ("crowded", "false"),
            ("@1 crowded", "true"),
            ("@T crowded", "T = 0 ;\nT = 1"),
            ("@T reach(a,c).", "T = 2"),
            ("reach(X, c)", "X = a ;\nX = b"),
            ("@T reach(X, X)", "false"),
            ("bus(B)", "B = b1"),
            ("@T seen(b1)", "T = 0"),
        ],
    )
    def test_questions(self, query: str, answer: str) -> None:
        assert run("query", "p.lars", query, "-i", "f.csv") == answer + "\n"

    @pytest.mark.parametrize(
        ("query", "problem"),
        [
            ("seem(X)", "no predicate seem/1 in the program\n  = help: did you mean seen/1?"),
            ("reach(X)", "did you mean reach/2?"),
            ("zzz(X)", "the predicates of the program are: bus/1, crowded/0,"),
            ("@7 crowded", "7 is no query time of this run\n  = help: they are 0 to 2"),
            ("@T not crowded", "is not a query\n  = help: ask h(X)"),
            ("crowded(", "cannot be read"),
        ],
    )
    def test_wrong_questions(self, query: str, problem: str) -> None:
        assert problem in run("query", "p.lars", query, "-i", "f.csv", status=2)

    def test_wrong_options(self) -> None:
        ask = ("query", "p.lars", "crowded")
        assert "no input given" in run(*ask, status=2)
        assert "--window has no meaning" in run(*ask, "-i", "f.csv", "--window", "3", status=2)
        both = run("query", "p.lars", "p.ec", "crowded", "-i", "f.csv", status=2)
        assert "H905" in both

    def test_from_python(self) -> None:
        result = horai.loads(PROGRAM, language="lars").run(ROWS)
        assert [str(found["T"]) for found in result.query("@T late(b1)")] == []
        assert len(result.query("@T crowded")) == 2


class TestGraph:
    def test_what_rules_derive(self) -> None:
        text = run("graph", "p.lars")
        assert 'n2["reach/2"]:::determined' in text
        assert "n2 --> n2" in text
        assert "seen" not in text

    def test_with_signals(self) -> None:
        run("graph", "p.lars", "--with-input", "-o", "g.mmd")
        text = Path("g.mmd").read_text()
        names = {
            line.split('"')[1]: line.split("[")[0].strip()
            for line in text.splitlines()
            if ":::" in line
        }
        assert names.keys() == {
            *("bus/1", "crowded/0", "edge/2", "full/0", "late/1", "reach/2", "seen/1")
        }
        assert f"{names['bus/1']} --> {names['late/1']}" in text
        assert f"{names['seen/1']} --x {names['late/1']}" in text

    def test_the_legend_is_about_programs(self) -> None:
        run("graph", "p.lars", "-o", "g.dot")
        assert "red box: recursion" in Path("g.dot").read_text()
        run("graph", "p.ec", "-o", "e.dot")
        assert "simple fluent" in Path("e.dot").read_text()

    def test_two_languages(self) -> None:
        assert "drawn apart" in run("graph", "p.lars", "p.ec", status=2)


def test_what_is_wrong_in_either_language_is_told_as_json(tmp_path: Path) -> None:
    files = (tmp_path / "wrong.ec", tmp_path / "wrong.lars")
    for file, text in zip(files, ("initiatedAt(on=true, T) :- up(", "h :- a(."), strict=True):
        file.write_text(text)
    found = json.loads(run("check", *map(str, files), "--format", "json", status=2))
    assert {Path(one["file"]).name for one in found} == {"wrong.ec", "wrong.lars"}


class TestPlan:
    def test_in_words(self) -> None:
        text = run("plan", "p.lars")
        assert text.startswith("fragment: full (constraint, negation, time)\n  because")
        assert "engine: plan\n" in text
        assert "reach/2, in rounds until nothing is new" in text
        assert "take out: stretch  not seen(Bus) [5]" in text
        assert "shrink  always full [2]" in text
        assert "1 constraint: no answer where one is broken" in text
        order = [text.index(name) for name in ("crowded/0", "late/1", "reach/2", "constraint:")]
        assert order == sorted(order)

    def test_as_json(self) -> None:
        found = json.loads(run("plan", "p.lars", "--format", "json"))
        assert (found["fragment"], found["engine"]) == ("full", "plan")
        layer = next(one for one in found["layers"] if one["predicates"] == ["reach/2"])
        assert layer["recursive"] is True
        assert layer["rules"][1]["steps"][0] == ["join", "reach(X, Y)"]

    def test_another_engine_says_why(self) -> None:
        Path("p.lars").write_text("{ h } :- b [3 #]. a :- h, not c. c :- h, not a.\n")
        text = run("plan", "p.lars")
        assert "engine: asp\n  because the engine plan does not run this: p.lars:1:1" in text
        assert "2. a/0, c/0, in rounds" in text or "a/0, c/0, in rounds" in text

    def test_what_stands_for_any_is_not_shown(self) -> None:
        Path("p.lars").write_text("quiet :- not job(_) [5 s].\n")
        text = run("plan", "p.lars")
        assert "1. quiet/0\n   quiet :- not job(_) [5].  [p.lars:1]\n" in text
        assert "horai_any" not in text
        assert "constraint" not in text

    def test_wrong_options(self) -> None:
        assert "--clock" in run("check", "p.ec", "--clock", "1s", status=2)
        assert "H703" in run("plan", "p.lars", "--clock", "3s", status=2)
        assert "--analyze has no meaning" in run("plan", "p.lars", "--analyze", status=2)


class TestWriting:
    def test_a_timeline(self) -> None:
        text = run("run", "p.lars", "-i", "f.csv", "--format", "timeline")
        lines = {line.split()[0]: line.split()[1] for line in text.splitlines()[2:]}
        assert lines.keys() == {"crowded", "reach(a,b)", "reach(a,c)", "reach(b,c)"}
        assert lines["crowded"].startswith("==")
        assert lines["reach(a,c)"].strip(".").strip("=") == ""
        run("run", "p.lars", "-i", "f.csv", "--format", "timeline", "-o", "t.txt")
        assert "crowded" in Path("t.txt").read_text()

    def test_parquet(self) -> None:
        run("run", "p.lars", "-i", "f.csv", "-o", "a.parquet")
        rows = pq.read_table("a.parquet").to_pylist()
        lines = run("run", "p.lars", "-i", "f.csv", "--format", "jsonl").splitlines()
        assert rows == [json.loads(line) for line in lines]
        run("run", "p.lars", "-i", "f.csv", "-o", "c.parquet", "--answers", "changelog")
        assert pq.read_table("c.parquet").column_names == ["kind", "query", "name", "args", "op"]

    def test_metrics(self) -> None:
        Path("h.lars").write_text("h(X) :- b(X) [2 s].\n")
        rows = ["b|1|1|x", "b|3|3|y", "b|5|2|z", "-b|6|3|y", "b|9|1|w", "-b|9|9|q", "b|99|99|q"]
        Path("late.csv").write_text("\n".join([*rows, "garbage"]) + "\n")
        run(
            *(
                "run",
                "h.lars",
                "-i",
                "late.csv",
                "--start",
                "0",
                "--end",
                "9",
                "--allowed-lateness",
                "4",
            ),
            *("--metrics", "m.json", "--answers", "changelog", "-q"),
        )
        found = json.loads(Path("m.json").read_text())
        told = {name: number for name, number in found["run"].items() if isinstance(number, int)}
        assert told == {
            "items": 7,
            "on_time": 2,
            "late": 1,
            "too_late": 1,
            "retracted": 1,
            "unknown_retractions": 1,
            "outside_run": 1,
            "partly_too_late": 0,
            "revised": 3,
            "unreadable": 1,
            "waiting": 0,
        }
        assert sum(one["items"] for one in found["run"]["lateness"]) == 7
        at = {window["query"]: window for window in found["windows"]}
        assert (at[5]["late"], at[6]["retracted"], at[6]["revised"], at[9]["too_late"]) == (
            1,
            1,
            3,
            1,
        )

    def test_a_live_run_counts_as_one_over_the_whole(self) -> None:
        Path("h.lars").write_text("h(X) :- b(X) [2 s].\n")
        Path("some.csv").write_text("b|1|1|x\nb|3|2|y\nb|5|1|z\ngarbage\n")
        words = ["run", "h.lars", "-i", "some.csv", "--start", "0", "--end", "6", "-q"]
        words += ["--allowed-lateness", "4", "--answers", "changelog", "--metrics"]
        run(*words, "whole.json")
        run(*words, "live.json", "--live")
        whole, live = (json.loads(Path(f"{n}.json").read_text())["run"] for n in ("whole", "live"))
        told = ("items", "on_time", "late", "too_late", "unreadable", "lateness")
        assert [live[name] for name in told] == [whole[name] for name in told]
        assert (live["items"], live["late"], live["unreadable"]) == (3, 2, 1)

    def test_metrics_of_other_engines_are_the_same(self) -> None:
        found = []
        for engine in ("plan", "asp", "reference"):
            result = horai.loads(PROGRAM, language="lars").run(
                [*ROWS, "full|3|1", "-full|3|0"], engine=engine
            )
            found.append(result.metrics.to_dict())
        assert found[0] == found[1] == found[2]
        assert (found[0]["run"]["late"], found[0]["run"]["retracted"]) == (1, 1)


@pytest.mark.parametrize(
    ("words", "problem", "hint"),
    [
        (
            ("tune", "p.lars", "-i", "f.csv"),
            "stand in the program itself",
            "--allowed-lateness N --metrics",
        ),
        (("stream", "p.lars", "--source", "in"), "as a stream of Spark", "horai run --live"),
    ],
)
def test_commands_that_are_not_for_programs(
    words: tuple[str, ...], problem: str, hint: str
) -> None:
    said = run(*words, status=2)
    assert f"p.lars: {'the windows' if words[0] == 'tune' else 'a LARS'}" in said
    assert problem in said
    assert hint in said


def test_check_and_plan_name_the_engine() -> None:
    Path("p.lars").write_text("{ a(X) } :- s(X) [+1 #].\n")
    said = "engine: asp\n  because the engine plan does not run this"
    assert said in run("check", "p.lars")
    assert said in run("plan", "p.lars")
    found = json.loads(run("plan", "p.lars", "--format", "json"))
    assert (found["engine"], len(found["why"])) == ("asp", 1)


class TestCases:
    CASE = """\
rules: h.lars
run: start 0, end 5

case: two seconds
narrative:
    b|1|1|x
    b|3|3|y
expect:
    happens h(x): 1 2 3
    happens h(y): 3 4 5
    at 4:
        happens h(y): 4
changes:
    at 4:
        - happens h(x): 4
"""

    def test_what_is_expected(self) -> None:
        Path("h.lars").write_text("h(X) :- b(X) [2 s].\n")
        Path("h.case").write_text(self.CASE)
        assert run("test", "h.case").endswith("1 of 1 case passed\n")
        assert run("test", "h.case", "--engine", "reference").endswith("1 of 1 case passed\n")

    def test_what_is_not(self) -> None:
        Path("h.lars").write_text("h(X) :- b(X) [1 s].\n")
        Path("h.case").write_text(self.CASE + "dead letters:\n    1 bad-time\n")
        said = run("test", "h.case", status=1)
        assert "- happens h(x): 3  (missing)" in said
        assert "- happens h(y): 5  (missing)" in said
        assert "- - happens h(x): 4  (missing)" in said
        assert "- 1 bad-time  (missing)" in said

    @pytest.mark.parametrize(
        ("program", "more", "problem"),
        [
            ("h(X) :- b(X).", "run: window 3\n", "window has no meaning for LARS programs"),
            ("h(X) :- b(X).", "background:\n    b(1).\n", "stands in files"),
            ("h(X) :- b.", "", "H700"),
            ("h(X) :- b(X).", "errors: H700\n", "errors H700: the rules were accepted"),
        ],
    )
    def test_wrong_cases(self, program: str, more: str, problem: str) -> None:
        Path("h.lars").write_text(program + "\n")
        Path("h.case").write_text(self.CASE + more)
        assert problem in run("test", "h.case", status=1)
