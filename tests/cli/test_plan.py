"""`horai plan`: every operator is shown, numbers are true, machines find what they know."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from horai.cli.app import app
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.plan.pipeline import compile_program
from horai.report.plan import plan_json, plan_lines
from horai.rules import load, load_session, loads

from .conftest import Run

ROOT = Path(__file__).parents[2]


def _has_a_plan(settings: Path) -> bool:
    """Does a project have event descriptions only, and all of its input?"""
    project = tomllib.loads(settings.read_text(encoding="utf-8"))["project"]
    described = all(name.endswith(".ec") for name in project["rules"])
    return described and all((settings.parent / name).exists() for name in project["input"])


EXAMPLES = sorted(
    path.parent.name for path in (ROOT / "examples").glob("*/horai.toml") if _has_a_plan(path)
)

# Every kind of operator, in rules as short as they can be.
EVERYTHING = """\
initiatedAt(on(X)=V, T) :- happensAt(up(X, V), T), kind(X, _), V > 0, W is V + 1, W = U, U < 9.
terminatedAt(on(X)=_, T) :- happensAt(down(X), T), \\+ holdsAt(on(X)=3, T).
initially(on(X)=1) :- kind(X, lamp).
happensAt(seen(X), T) :- happensAt(down(X), T), holdsAt(on(X)=_, T), (kind(X, lamp) ; kind(X, fan)).
happensAt(judged(X, R), T) :-
    happensAt(down(X), T), (kind(X, lamp) -> R = good ; R = bad), twice(X, T, 9).
twice(X, T, Most) :-
    happensAt(up(X, A), T0), T0 =< T, T - T0 < Most, happensAt(up(X, B), T), A =\\= B.
happensAt(counted(X, N, L), T) :-
    happensAt(down(X), T), aggregate_all(count, holdsAt(on(_)=_, T), N),
    findall(K, kind(X, K), L), length(L, Length), Length > 0, total(L, _).
total([], 0).
total([_ | R], N) :- total(R, M), N is M + 1.
holdsFor(bright(X)=true, I) :-
    holdsFor(on(X)=1, I1), holdsFor(on(X)=2, I2), union_all([I1, I2], J), intDurGreater(J, 5, I).
holdsFor(met(X)=true, I) :-
    holdsFor(on(X)=1, I1), holdsFor(on(X)=2, I2), allen(meets, I1, I2, target, I).
holdsAt(calm(X)=true, T) :- holdsAt(on(X)=1, T), \\+ holdsAt(bright(X)=true, T).
happensAt(late(X), T) :- happensAt(down(X), T), queryTime(Q), Q - T < 5.
happensAt(again(X), T) :- happensAt(down(X), T), happensAt(down(X), T0), T0 < T, T - T0 < 9.
happensAt(odd(X), T) :- happensAt(up(X, V), T), is_odd(V).
initiatedAt(mood(X)=up, T) :- happensAt(down(X), T), \\+ holdsAt(mood(X)=up, T).
fi(mood(X)=up, mood(X)=down, 10).
p(mood(_)=up).
initiatedAt(level(X)=N, T) :- happensAt(down(X), T), holdsAt(level(X)=M, T), N is M + 1.
initiatedAt(crowd(X)=N, T) :-
    happensAt(down(X), T), aggregate_all(count, holdsAt(crowd(_)=_, T), N).
happensAt(always(X), T) :- holdsAt(on(X)=1, T).
initiatedAt(all(X)=true, T) :- happensAt(reset, T).
grounding(all(X)=true) :- kind(X, _).
grounding(on(X)=_) :- kind(X, _).
kind(a, lamp).
kind(b, fan).
"""
PYTHON = """\
import horai

@horai.predicate
def is_odd(number: int) -> bool:
    return number % 2 == 1
"""
KINDS = {
    "join",
    "stab",
    "walk",
    "lookup",
    "span",
    "duration",
    "allen",
    "filter",
    "unify",
    "extend",
    "anti-join",
    "union",
    "choice",
    "aggregate",
    "builtin",
    "python",
    "query time",
    "procedure",
}

SMALL = """\
initiatedAt(on(X)=true, T) :- happensAt(up(X), T), lamp(X).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
happensAt(dark(X), T) :- happensAt(look(X), T), \\+ holdsAt(on(X)=true, T).
lamp(a).
lamp(b).
"""
# Two of three go up as lamps; of four looks, one is at a lamp that is on.
STREAM = (
    "up|1|1|a\nup|2|2|b\nup|3|3|c\ndown|4|4|b\nlook|5|5|a\nlook|6|6|b\nlook|7|7|c\nlook|8|8|d\n"
)


@pytest.fixture
def everything(horai: Run) -> tuple[str, ...]:
    Path("all.ec").write_text(EVERYTHING)
    Path("odd.py").write_text(PYTHON)
    return ("plan", "all.ec", "--predicates", "odd.py")


@pytest.fixture
def small(horai: Run) -> tuple[str, ...]:
    Path("small.ec").write_text(SMALL)
    Path("small.csv").write_text(STREAM)
    return ("plan", "small.ec", "--input", "small.csv")


def operators(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for part in parts:
        for one in part["operators"]:
            found += [one, *operators(one["inside"])]
    return found


def rules(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for one in plan["components"] for rule in one["rules"]]


def test_every_kind_of_operator_appears(horai: Run, everything: tuple[str, ...]) -> None:
    result = horai(*everything, "--format", "json")
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    found = {one["operator"] for rule in rules(plan) for one in operators(rule["parts"])}
    assert found >= KINDS
    text = horai(*everything).stdout
    for word in KINDS:
        assert f" {word} " in text, word


def test_components_say_how_they_are_settled(horai: Run, everything: tuple[str, ...]) -> None:
    plan = json.loads(horai(*everything, "--format", "json").stdout)
    how = {one["entities"][0]: one["settled"] for one in plan["components"]}
    assert how["on/1"] == how["mood/1"] == how["level/1"] == how["crowd/1"] == "time"
    assert how["bright/1"] == "lists"
    assert how["seen/1"] == "points"
    assert how["all/1"] == "plain"


def test_rules_say_what_else_matters(horai: Run, everything: tuple[str, ...]) -> None:
    text = horai(*everything).stdout
    assert "initiates mood(X)=down 10 after mood(X)=up begins; a new initiation restarts" in text
    assert "from the grounding: X" in text
    assert "looks back 8" in text
    assert "final never: it depends on the query time" in text
    assert "where no interval waits for its duration (5)" in text
    assert "only where T0 =< T-1, T0 >= T-8" in text
    assert "can be split by argument 1 of mood/1, down/1" in text
    assert "calls itself" in text


def test_the_whole_text_of_a_small_plan(horai: Run, small: tuple[str, ...]) -> None:
    assert horai("plan", "small.ec").stdout == (
        "The rules read up/1, down/1, look/1 from the stream.\n"
        "\n"
        "component 1, level 1: on/1\n"
        "  plain inertia\n"
        "  can be split by argument 1 of on/1, up/1, down/1\n"
        "  initiatedAt(on(X)=true, T)  [small.ec:1]\n"
        "    join happensAt(up(X), T)  [binds T, X]\n"
        "    join lamp(X)\n"
        "  terminatedAt(on(X)=true, T)  [small.ec:2]\n"
        "    join happensAt(down(X), T)  [binds T, X]\n"
        "\n"
        "component 2, level 2: dark/1\n"
        "  points in time\n"
        "  can be split by argument 1 of dark/1, look/1, on/1\n"
        "  happensAt(dark(X), T)  [small.ec:3]\n"
        "    join happensAt(look(X), T)  [binds T, X]\n"
        "    anti-join where there is no\n"
        "      stab holdsAt(on(X)=true, T)\n"
    )


def test_an_input_without_items(horai: Run, small: tuple[str, ...]) -> None:
    Path("small.csv").write_text("")
    text = horai(*small, "--analyze").stdout
    assert "There was no query time, so nothing was run.\n" in text
    assert "% of the run" not in text


def test_values_are_quoted_where_they_need_it(horai: Run, small: tuple[str, ...]) -> None:
    Path("small.ec").write_text("initiatedAt(at('New York')=true, T) :- happensAt(up(_), T).\n")
    assert "does not carry 'New York'\n" in horai("plan", "small.ec").stdout


def test_analyze_shows_the_true_rows(horai: Run, small: tuple[str, ...]) -> None:
    result = horai(*small, "--analyze", "--format", "json")
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    actual = [rule["actual"] for rule in rules(plan)]
    assert [(one["rows_in"], one["rows"]) for one in actual] == [(3, 2), (1, 1), (4, 3)]
    assert all(0 <= one["seconds"] <= plan["actual"]["seconds"] for one in actual)
    assert plan["actual"]["queries"] == 1


def test_times_of_parts_add_up(horai: Run, small: tuple[str, ...]) -> None:
    plan = json.loads(horai(*small, "--analyze", "--format", "json").stdout)
    whole = plan["actual"]["seconds"]
    inside = sum(one["actual"]["seconds"] for one in plan["components"])
    assert inside + plan["actual"]["seconds_elsewhere"] == pytest.approx(whole, abs=1e-4)
    assert 0 <= sum(one["actual"]["share"] for one in plan["components"]) <= 1.001
    for one in plan["components"]:
        parts = sum(rule["actual"]["seconds"] for rule in one["rules"])
        assert parts + one["actual"]["seconds_settling"] == pytest.approx(
            one["actual"]["seconds"], abs=1e-4
        )


def test_analyze_adds_up_all_query_times(horai: Run, small: tuple[str, ...]) -> None:
    plan = json.loads(
        horai(*small, "--analyze", "--start", "0", "--step", "4", "--format", "json").stdout
    )
    assert plan["actual"]["queries"] == 2
    up = rules(plan)[0]["actual"]
    assert (up["calls"], up["rows"]) == (3, 2)


def test_analyze_of_all_kinds_of_rules(horai: Run, everything: tuple[str, ...]) -> None:
    Path("all.csv").write_text("up|1|1|a|1\nup|3|3|a|2\ndown|5|5|a\nup|6|6|b|1\nreset|7|7\n")
    options = ("--input", "all.csv", "--analyze", "--start", "0", "--window", "5", "--step", "4")
    result = horai(*everything, *options)
    assert result.exit_code == 0, result.output
    assert "The run took " in result.stdout
    assert "% of the run" in result.stdout


def test_analyze_reads_standard_input_once(horai: Run, small: tuple[str, ...]) -> None:
    words = ("plan", "small.ec", "--input", "-", "--input-format", "narrative", "--analyze")
    result = horai(*words, stdin=STREAM)
    assert result.exit_code == 0, result.output
    assert "The run took" in result.stdout


def test_rows_that_are_not_used_are_told(horai: Run, small: tuple[str, ...]) -> None:
    Path("small.csv").write_text(STREAM + "upp|9|9|a\n")
    result = horai(*small, "--analyze")
    assert result.exit_code == 0
    assert "1 row was not used" in result.stderr or "(1 unknown-type)" in result.stderr


def test_keys_of_the_json_are_stable(horai: Run, small: tuple[str, ...]) -> None:
    plan = json.loads(horai(*small, "--analyze", "--format", "json").stdout)
    component = plan["components"][0]
    rule = component["rules"][0]
    operator = rule["parts"][0]["operators"][0]
    assert list(plan) == ["inputs", "components", "groundings", "actual"]
    assert set(component) == {
        "id",
        "level",
        "entities",
        "members",
        "cyclic",
        "settled",
        "partition",
        "rules",
        "actual",
    }
    assert set(rule) == {
        "id",
        "defines",
        "kind",
        "head",
        "place",
        "effect",
        "from_grounding",
        "looks",
        "parts",
        "actual",
    }
    assert set(operator) == {"id", "operator", "text", "note", "binds", "inside"}
    assert (component["id"], rule["id"], operator["id"]) == ("1", "1.1", "1.1.1")


def test_the_json_is_the_same_every_time(horai: Run, everything: tuple[str, ...]) -> None:
    first, second = (horai(*everything, "--format", "json").stdout for _ in range(2))
    assert first == second


def test_a_project_needs_no_arguments(horai: Run, small: tuple[str, ...]) -> None:
    Path("horai.toml").write_text(
        '[project]\nrules = ["small.ec"]\ninput = ["small.csv"]\n'
        '[run]\nstart = 0\nanswers = "final"\nengine = "reference"\n'
    )
    result = horai("plan", "--analyze")
    assert result.exit_code == 0, result.output
    assert "The run took" in result.stdout


def test_a_terminal_gets_a_tree() -> None:
    plan = plan_json(compile_program(loads(SMALL).description))
    lines = [line.plain for line in plan_lines(plan, tree=True)]
    assert any("├─ initiatedAt(on(X)=true, T)" in line for line in lines)
    assert any("│  └─ join lamp(X)" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("plan",), "no rules given"),
        (("plan", "nowhere.ec"), "nowhere.ec"),
        (("plan", "rules.ec", "--analyze"), "no input given"),
        (("plan", "rules.ec", "--input", "day.csv"), "--input is about a run"),
        (("plan", "rules.ec", "-i", "nowhere.csv", "--analyze"), "there is no such file"),
        (("plan", "rules.ec", "-i", "day.csv", "--analyze", "--window", "0"), "window must be"),
        (
            ("plan", "rules.ec", "-i", "day.csv", "--analyze", "--unit", "year"),
            "unit cannot be 'year'",
        ),
        (("plan", "rules.ec", "--window", "5"), "--window is about a run"),
        (("plan", "rules.ec", "--allen-memory", "5"), "--allen-memory is about a run"),
        (("plan", "rules.ec", "--format", "xml"), "is not one of"),
        (("plan", "day.csv"), "day.csv"),
    ],
)
def test_wrong_use_is_explained(horai: Run, words: tuple[str, ...], reason: str) -> None:
    result = horai(*words)
    assert result.exit_code == 2
    assert reason in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_plan(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples" / name)
    text = CliRunner().invoke(app, ["plan"]).stdout
    result = CliRunner().invoke(app, ["plan", "--format", "json"])
    assert result.exit_code == 0, result.output
    plan = json.loads(result.stdout)
    assert len(rules(plan)) > 3
    for rule in rules(plan):
        assert f"{rule['head']}  [{rule['place']}]" in text
        assert all("~" not in one["text"] for one in operators(rule["parts"]))


def test_a_profile_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples" / "harbour")
    loaded = load("rules.ec", "background.ec")
    settings: dict[str, Any] = {"start": 0, "window": 300, "step": 200}
    profile = Profile()
    watched = loaded.run("narrative.csv", profile=profile, **settings)
    assert watched.rows() == loaded.run("narrative.csv", **settings).rows()
    assert profile.queries > 1
    assert any(stats.rows_out for stats in profile.rules.values())


LISTED = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
holdsFor(long(X)=true, I) :- holdsFor(on(X)=true, J), intDurGreater(J, 2, I).
initiatedAt(seen(X)=true, T) :- happensAt(look(X), T), holdsAt(long(X)=true, T).
"""


def test_a_session_can_be_watched_at_any_time() -> None:
    """What was counted is of the time since then; late items and lists count, too."""
    items = {9: "up|1|1|a\nup|2|2|b\ndown|7|7|a\nlook|8|8|b\n", 19: "look|12|3|a\nlook|18|5|a\n"}
    plain = loads(LISTED).session(start=0, window=30)
    watched = loads(LISTED).session(start=0, window=30)
    profile = Profile()
    for query, lines in items.items():
        for session in (plain, watched):
            session.feed(lines)
        found = [session.advance(query).rows() for session in (plain, watched)]
        assert found[0] == found[1]
        if profile.program is None:
            watched.watch(profile)
            again = load_session(watched.save())
            again.watch(Profile())
    again.feed(items[19])
    assert again.advance(19).rows() == found[0]
    assert profile.program is not None
    told = [rule["actual"] for rule in rules(plan_json(profile.program, profile))]
    assert [(one["rows_in"], one["rows"]) for one in told] == [(0, 0), (0, 0), (0, 0), (2, 2)]


def test_the_reference_engine_cannot_be_profiled() -> None:
    with pytest.raises(UsageError, match="cannot be profiled"):
        loads(SMALL).run(STREAM, engine="reference", profile=Profile())
