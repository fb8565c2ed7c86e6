"""Which late or retracted row has changed what query times before said."""

from pathlib import Path

import pytest
from tests.cli.conftest import Run, horai  # noqa: F401  the command line in a folder

import horai as library
from horai.errors import UsageError

RULES = """\
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
happensAt(bell(X), T) :- happensAt(up(X), T).
"""
ROWS = ["up|3|3|a", "up|4|4|b", "down|12|5|b", "down|22|6|a", "-down|31|6|a", "up|33|33|c"]
SETTINGS = {"start": 0, "step": 10, "window": 40, "end": 40}


@pytest.fixture(scope="module")
def result() -> library.Result:
    return library.loads(RULES).run(ROWS, **SETTINGS)  # type: ignore[arg-type]


def test_each_change_names_its_row(result: library.Result) -> None:
    proof = result.why("on(a)=true", 8, about="revision")
    assert [(p.text, [row.line for row in p.rows]) for p in proof.premises] == [
        ("on(a)=true at 8 is not so since the query time 30", [4]),
        ("on(a)=true at 8 is so since the query time 40", [5]),
    ]
    assert [p.note for one in proof.premises for p in one.premises] == [
        "late: arrived at 22",
        "a retraction: arrived at 31",
    ]


def test_of_several_late_rows_the_one_that_matters_is_named() -> None:
    more = [f"up|{15 + n % 5}|2|x{n}" for n in range(20)]
    result = library.loads(RULES).run([*ROWS, *more], **SETTINGS)  # type: ignore[arg-type]
    (late,) = result.why("on(b)=true", 7, about="revision").premises
    assert [row.text for row in late.rows] == ["down|12|5|b"]


def test_events_are_revised_too() -> None:
    rules = library.loads(RULES)
    result = rules.run(["up|3|3|a", "up|15|5|a"], **SETTINGS)  # type: ignore[arg-type]
    (late,) = result.why("bell(a)", 5, about="revision").premises
    assert [row.text for row in late.rows] == ["up|15|5|a"]


def test_what_was_not_revised(result: library.Result) -> None:
    with pytest.raises(UsageError, match="was not revised"):
        result.why("on(c)=true", 38, about="revision")
    with pytest.raises(UsageError, match="has variables"):
        result.why("on(X)=true", 8, about="revision")


def test_the_command(horai: Run) -> None:  # noqa: F811
    Path("rules.ec").write_text(RULES)
    Path("day.csv").write_text("\n".join(ROWS) + "\n")
    asked = ("why", "rules.ec", "on(b)=true", "--at", "7", "--revised", "-i", "day.csv")
    found = horai(*asked, "--start", "0", "--step", "10", "--window", "40")
    assert found.output == (
        "on(b)=true at 7 was revised\n"
        "└── on(b)=true at 7 is not so since the query time 20\n"
        "    └── down|12|5|b  late: arrived at 12  day.csv:3\n"
    )
