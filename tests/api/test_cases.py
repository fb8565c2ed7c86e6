"""Case files: what they say, how they fail, and how malformed ones are explained."""

from pathlib import Path

import pytest

from horai import CaseError, UsageError
from horai.testing import find_cases, parse_cases, run_case

RULES = """\
rules:
    initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
    terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
    happensAt(bang(X), T) :- happensAt(up(X), T), holdsAt(on(X)=true, T).
narrative:
    up|3|3|a
    up|5|5|a
    down|7|7|a
run: start 0, end 10, window 5, step 5
"""


def failures(text: str) -> list[str]:
    (case,) = parse_cases(RULES + text, Path("my.case"))
    return [f"{d.place}: {d.sign} {d.text}" for d in run_case(case)]


@pytest.mark.parametrize(
    "text",
    [
        "expect:\n    on(a)=true: (4,8)\n    happens bang(a): 5\n",
        "expect:\n    on( a ) = true:(4,8)\n    happens bang(a): 5\n",
        "expect some:\n    on(a)=true: (4,8)\n",
        "expect some:\n    on(b)=true: none\n    happens bang(b): none\n",
        "expect:\n    at 5:\n        on(a)=true: (4,inf)\n        happens bang(a): 5\n",
        "expect:\n    at 10:\n        on(a)=true: (4,8)\n",
        "changes:\n    at 10:\n        - on(a)=true: (4,inf)\n        + on(a)=true: (4,8)\n",
        "changes:\n    at 5:\n        + happens bang(a): 5\n        + on(a)=true: (4,inf)\n",
        "dead letters: none\n",
        "# a comment\nexpect some:\n\n# another\n    on(a)=true: (4,8)\n",
    ],
)
def test_cases_that_pass(text: str) -> None:
    assert failures(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "expect:\n    on(a)=true: (4,9)\n    happens bang(a): 5\n",
            ["at the end: - on(a)=true: (4,9)", "at the end: + on(a)=true: (4,8)"],
        ),
        ("expect:\n    on(a)=true: (4,8)\n", ["at the end: + happens bang(a): 5"]),
        ("expect some:\n    on(b)=true: (1,2)\n", ["at the end: - on(b)=true: (1,2)"]),
        ("expect some:\n    on(a)=true: none\n", ["at the end: + on(a)=true: (4,8)"]),
        (
            "expect:\n    at 10:\n        on(a)=true: (4,inf)\n",
            ["at 10: - on(a)=true: (4,inf)", "at 10: + on(a)=true: (4,8)"],
        ),
        (
            "expect:\n    at 7:\n        on(a)=true: (4,inf)\n",
            ["at 7: ! 7 is no query time of this run; these are 5, 10"],
        ),
        ("dead letters:\n    2 too-late\n", ["dead letters: - 2 too-late"]),
        ("errors: H103\n", ["rules: - errors H103: the rules were accepted"]),
        (
            "run: window 0\ndead letters: none\n",
            [
                "run: ! window must be above 0, not 0\n"
                "  hint: window is a length of time, counted in time-points"
            ],
        ),
    ],
)
def test_cases_that_fail_say_how(text: str, expected: list[str]) -> None:
    assert failures(text) == expected


def test_dead_letters_are_expected_by_line_of_the_narrative() -> None:
    text = "narrative:\n    up|3|3|a\n    what|1|1\n    up|9|2|a\n"
    assert failures(text + "dead letters:\n    2 unknown-type\n    3 too-late\n") == []
    found = failures(text + "expect:\n    on(a)=true: (4,inf)\n")
    assert [line.split(" (")[0] for line in found] == [
        "dead letters: + 2 unknown-type",
        "dead letters: + 3 too-late",
    ]


def test_wrong_rules_are_expected_by_code() -> None:
    text = "case: x\nrules:\n    initiatedAt(f, T) :- happensAt(a, T).\nerrors: {}\n"
    (case,) = parse_cases(text.format("H103"), Path("x.case"))
    assert run_case(case) == []
    (case,) = parse_cases(text.format("H104"), Path("x.case"))
    assert [(d.sign, d.text) for d in run_case(case)] == [("+", "error H103"), ("-", "error H104")]


def test_findings_about_inline_rules_point_into_the_case_file() -> None:
    text = "case: x\nrules:\n    initiatedAt(f, T) :- happensAt(a, T).\nexpect: \n"
    (case,) = parse_cases(text, Path("x.case"))
    assert "x.case:3:17" in run_case(case)[0].text


def test_what_comes_first_is_shared() -> None:
    text = RULES + "case: one\nexpect some:\n    on(a)=true: (4,8)\n"
    text += (
        "case: two\nnarrative:\n    up|1|1|b\nrun: window 10\nexpect:\n    on(b)=true: (2,inf)\n"
    )
    one, two = parse_cases(text, Path("x.case"))
    assert (one.title, two.title) == ("one", "two")
    assert two.settings == {"start": 0, "end": 10, "window": 10, "step": 5}
    assert run_case(one) == run_case(two) == []


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("    indented first\n", 1, "an indented line before any keyword"),
        ("rules\n", 1, "a keyword with a colon is expected"),
        ("rulez:\n    x\n", 1, "did you mean `rules:`?"),
        ("weather: fine\n", 1, "keywords are"),
        ("rules: nowhere.ec\nexpect: \n", 1, "there is no file nowhere.ec"),
        ("rules: my.ec\n    a.\nexpect: \n", 1, "has a file name and a text"),
        ("run: window\nexpect: \n", 1, "write a setting and its value"),
        ("run: window ten\nexpect: \n", 1, "window is a whole number, not `ten`"),
        ("run: speed 3\nexpect: \n", 1, "settings are window"),
        ("expect:\n    on(a)=true (4,8)\n", 2, "write `rich(chris)=true: (14,20)`"),
        ("expect:\n    on(a)=true: 4,8\n", 2, "intervals such as"),
        ("expect:\n    on(a)=true: (4,8\n", 2, "intervals such as"),
        ("expect:\n    happens up(a): (4,8)\n", 2, "times such as"),
        ("expect:\n    on(a): (4,8)\n", 2, "a fluent-value pair F=V is expected"),
        ("expect:\n    happens on(a)=true: 4\n", 2, "an event after `happens` is expected"),
        ("expect:\n    on(X)=true: (4,8)\n", 2, "has a variable"),
        ("expect:\n    on(a=true: (4,8)\n", 2, "cannot be read"),
        ("expect:\n    on=true: (1,2)\n    on=true: (4,8)\n", 3, "is given twice"),
        ("changes:\n    + on=true: (1,2)\n", 2, "changes stand below a line `at Q:`"),
        ("changes:\n    at 5:\n        on=true: (1,2)\n", 3, "a change starts with + or -"),
        ("dead letters:\n    late\n", 2, "write the line of the narrative and the code"),
        ("errors: 103\n", 1, "is no code such as H103"),
        ("case: idle\nrules:\n    a.\n", 1, "expects nothing"),
    ],
)
def test_malformed_files_are_explained(text: str, line: int, problem: str) -> None:
    with pytest.raises(CaseError) as caught:
        parse_cases(text, Path("my.case"))
    assert any(at == line and problem in said for at, said in caught.value.problems)


def test_all_problems_of_a_file_come_at_once() -> None:
    with pytest.raises(CaseError) as caught:
        parse_cases("rulez:\nrun: speed 3\nexpect:\n    x\n", Path("my.case"))
    assert [line for line, _ in caught.value.problems] == [1, 2, 4]


def test_a_case_without_rules_needs_a_project() -> None:
    (case,) = parse_cases("expect: \n", Path("my.case"))
    with pytest.raises(UsageError, match="has no rules"):
        run_case(case)


def test_cases_are_found_in_folders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.case", "a.case", "deep/c.case", "other.txt"):
        (tmp_path / name).write_text("")
    found = [str(path.relative_to(tmp_path)) for path in find_cases([tmp_path])]
    assert found == ["a.case", "b.case", "deep/c.case"]
