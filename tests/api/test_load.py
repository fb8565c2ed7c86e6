"""Loading rules, with background knowledge and Python predicates."""

from pathlib import Path
from typing import Any

import pytest

import horai
from horai.predicates import from_file

NEAR = """
initiatedAt(near(X)=true, T) :- happensAt(seen(X, D), T), close_by(D).
initiatedAt(zone(X)=Z, T) :- happensAt(seen(X, D), T), zone_of(D, Z).
"""


@horai.predicate
def close_by(distance: int) -> bool:
    return distance < 10


@horai.predicate
def zone_of(distance: int) -> str | None:
    return "inner" if distance < 50 else "outer" if distance < 100 else None


ROWS = ["seen|1|1|a|5", "seen|2|2|b|70", "seen|3|3|c|500"]


def found(rules: horai.Rules) -> list[tuple[str, object, object]]:
    return [(row.name, row.args[0], row.value) for row in rules.run(ROWS).rows()]


def test_predicates_test_and_compute() -> None:
    expected = [("near", "a", "true"), ("zone", "a", "inner"), ("zone", "b", "outer")]
    assert found(horai.loads(NEAR, predicates=[close_by, zone_of])) == expected
    named = {"close_by": lambda d: d < 10, "zone_of": zone_of}
    assert found(horai.loads(NEAR, predicates=named)) == expected


def test_predicates_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("import horai\n\n@horai.predicate\ndef close_by(d):\n    return d < 10\n")
    assert list(from_file(path)) == ["close_by"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("def f(x):\n    return x\n", "no predicate in it"),
        ("1/0\n", "ZeroDivisionError"),
        ("import horai\n@horai.predicate\ndef f(*xs):\n    return xs\n", "fixed number"),
    ],
)
def test_a_bad_file_of_predicates_is_explained(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "own.py"
    path.write_text(text)
    with pytest.raises(horai.UsageError, match=problem):
        from_file(path)


def test_rules_and_background_come_from_files(tmp_path: Path) -> None:
    rules, more = tmp_path / "a.ec", tmp_path / "b.ec"
    rules.write_text("initiatedAt(at(X)=P, T) :- happensAt(go(X,P), T), place(P).\n")
    more.write_text("place(pub).\n")
    loaded = horai.load(rules, background=more)
    result = loaded.run(["go|1|1|chris|pub", "go|2|2|chris|moon"])
    assert [row.value for row in result.rows()] == ["pub"]
    assert repr(loaded) == "<Rules for at/1>"


def test_a_program_as_background_is_told_how_to_be_combined(tmp_path: Path) -> None:
    rules, program = tmp_path / "a.ec", tmp_path / "b.lars"
    rules.write_text("initiatedAt(on=true, T) :- happensAt(up, T).\n")
    program.write_text("h :- b [2].\n")
    with pytest.raises(horai.UsageError, match=r"b\.lars: a LARS program.*\n.*horai\.combine"):
        horai.load(rules, program)
    assert horai.load([rules, program]).language == "combined"


def test_all_errors_come_at_once() -> None:
    text = "intiatedAt(f=true, T) :- happensAt(a, T).\ninitiatedAt(g, T) :- happensAt(b, T).\n"
    with pytest.raises(horai.RulesError) as caught:
        horai.loads(text)
    assert {d.position[0] for d in caught.value.diagnostics} == {1, 2}


@pytest.mark.parametrize("given", [None, 5, b"p.", ["p."]])
def test_text_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(horai.UsageError, match="rules must be a text"):
        horai.loads(given)


@pytest.mark.parametrize("given", [None, 5, [None]])
def test_files_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(horai.UsageError, match="names no file"):
        horai.load(given)


@pytest.mark.parametrize("given", [5, "close_by", {5: close_by}, {"close_by": 5}])
def test_predicates_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(horai.UsageError, match="predicate"):
        horai.loads(NEAR, predicates=given)


def test_no_rules_is_an_error() -> None:
    with pytest.raises(horai.UsageError, match="no rules given"):
        horai.load([])


def test_a_missing_file_is_named() -> None:
    with pytest.raises((horai.RulesError, OSError), match=r"nowhere\.ec"):
        horai.load("nowhere.ec")
