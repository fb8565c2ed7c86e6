"""What cases say about rules: a part is found exactly when no answer changes without it."""

from pathlib import Path

import pytest

from horai import CaseError, loads
from horai.testing import Case, parse_cases
from horai.tools.cover import cover

RULES = """\
initiatedAt(rich(X)=true, T) :- happensAt(win(X, N), T), N > 10.
initiatedAt(rich(X)=true, T) :- happensAt(inherit(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T), holdsAt(rich(X)=true, T).
holdsFor(glad(X)=true, I) :-
    holdsFor(rich(X)=true, R), holdsFor(loved(X)=true, L), union_all([R, L], I).
initiatedAt(loved(X)=true, T) :- happensAt(kiss(X), T).
"""
CASE = """\
case: one
narrative:
    win|3|3|ann|20
    lose|9|9|ann
{}
expect some:
    rich(ann)=true: (4,10)
"""


def found(more: str, rules: str = RULES) -> dict[str, str]:
    cases = parse_cases(CASE.format(more), Path("day.case"))
    return {part.text: part.verdict for part in cover(cases, loads(rules))}


def test_a_condition_that_never_rejects_anything_never_decides() -> None:
    without = found("")
    assert without["N > 10"] == "never"
    assert found("    win|4|4|bob|5")["N > 10"] == "decides"
    assert found("    win|10|10|ann|5")["N > 10"] == "expected"


def test_a_rule_that_never_fires_never_decides() -> None:
    parts = found("")
    assert parts["initiatedAt(rich(X)=true, T)"] == "never"  # the second of the two
    assert parts["terminatedAt(rich(X)=true, T)"] == "expected"
    assert parts["holdsAt(rich(X)=true, T)"] == "never"
    assert parts["holdsFor(glad(X)=true, I)"] == "decides"


def test_intervals_in_a_list_decide_where_they_add_something() -> None:
    parts = found("")
    assert parts["holdsFor(rich(X)=true, R)"] == "decides"
    assert parts["holdsFor(loved(X)=true, L)"] == "never"
    assert found("    kiss|5|5|eve")["holdsFor(loved(X)=true, L)"] == "decides"


def test_conditions_that_give_variables_their_values_are_not_left_out() -> None:
    assert not any(text.startswith("happensAt(win") for text in found(""))


def test_programs_are_covered_too(tmp_path: Path) -> None:
    (tmp_path / "p.lars").write_text(
        "hot(X) :- temp(X, V) [3], V > 30, not off(X) [3].\ncold(X) :- ice(X) [3].\n"
    )
    text = """\
rules: p.lars
narrative:
    temp|1|1|a|35
    temp|2|2|b|20
run: start 0, end 3
expect some:
    happens hot(a): 1 2 3
    happens hot(b): none
"""
    parts = {p.text: p.verdict for p in cover(parse_cases(text, tmp_path / "day.case"))}
    assert parts == {
        "hot(X)": "expected",
        "V > 30": "expected",
        "not off(X) [3]": "never",
        "cold(X)": "never",
    }


def test_a_case_that_fails_says_nothing() -> None:
    cases = parse_cases(CASE.format("").replace("(4,10)", "(4,11)"), Path("day.case"))
    with pytest.raises(CaseError, match="only cases that pass"):
        cover(cases, loads(RULES))


def test_cases_of_errors_are_left_aside(tmp_path: Path) -> None:
    text = "case: wrong\nrules:\n    initiatedAt(f(X)=true, T) :- X > 1.\nerrors: H301\n"
    cases: list[Case] = parse_cases(text, tmp_path / "day.case")
    assert cover(cases) == []
