"""Nothing fails silently: values that are no numbers, input of no use, files without rows."""

import re
from pathlib import Path

import pytest

from .conftest import Run

RULES = "initiatedAt(slow(X)=true, T) :- happensAt(speed(X, V), T), V < 90.\n"
DAY = ("run", "rules.ec", "--input", "day.csv")


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_text_where_numbers_are_compared_is_told_on_standard_error(horai: Run, engine: str) -> None:
    Path("rules.ec").write_text(RULES)
    # The columns are swapped: a vessel stands where its speed should.
    Path("day.csv").write_text("type,time,speed,vessel\nspeed,1,80,a\nspeed,2,95,b\n")
    result = horai(*DAY, "--engine", engine)
    assert result.exit_code == 0 and result.stdout == ""
    assert "warning[H550]: `V < 90` fails for 2 values" in result.stderr
    assert "--> rules.ec:1:60" in result.stderr
    assert "V = a: `a` is no number (day.csv:2)" in result.stderr
    assert horai(*DAY, "--engine", engine, "--quiet").stderr == ""


@pytest.mark.parametrize("engine", ["plan", "asp", "tms", "reference"])
def test_programs_tell_of_text_where_numbers_are_compared(horai: Run, engine: str) -> None:
    Path("p.lars").write_text("slow(X) :- temp(X, V) [5], V < 90.\n")
    Path("day.csv").write_text("temp|1|1|x|8\ntemp|2|2|x|fast\n")
    asked = ("run", "p.lars", "--input", "day.csv", "--engine", engine)
    result = horai(*asked)
    assert result.exit_code == 0 and "slow" in result.stdout
    assert "warning[H550]: `V < 90` fails for 1 value" in result.stderr
    assert "--> p.lars:1:28" in result.stderr
    assert "V = fast: `fast` is no number (day.csv:2)" in result.stderr
    assert horai(*asked, "--quiet").stderr == ""
    assert "H550" not in horai(*asked, "--severity", "H550=off").stderr


def test_live_programs_tell_of_text_where_numbers_are_compared(horai: Run) -> None:
    Path("p.lars").write_text("slow(X) :- temp(X, V) [5], V < 90.\n")
    Path("day.csv").write_text("temp|1|1|x|8\ntemp|2|2|x|fast\nother|3|3\n")
    asked = ("run", "p.lars", "--input", "day.csv", "--live")
    result = horai(*asked)
    assert result.exit_code == 0 and "slow" in result.stdout
    assert result.stderr.count("warning[") == 1
    assert "warning[H550]: `V < 90` fails for 1 value" in result.stderr
    assert "V = fast: `fast` is no number (day.csv:2)" in result.stderr
    assert horai(*asked, "--severity", "H550=off").stderr == ""
    Path("day.csv").write_text("other|3|3\n")
    assert horai(*asked).exit_code == 0  # what is asked for may still come


@pytest.mark.parametrize("engine", ["auto", "asp", "reference"])
def test_rules_of_two_languages_tell_of_text_where_numbers_are_compared(
    horai: Run, engine: str
) -> None:
    Path("rules.ec").write_text(
        "initiatedAt(level(X)=V, T) :- happensAt(speed(X, V), T).\n"
        "initiatedAt(odd(X)=true, T) :- happensAt(told(X, V), T), V > 3.\n"
    )
    Path("p.lars").write_text(
        "told(X, V) :- note(X, V).\n"
        "slow(X) :- note(X, V) [5], V < 9.\n"
        "high(X) :- level(X, V), V > 3.\n"
        "more(X) :- odd(X).\n"
    )
    Path("day.csv").write_text("speed|1|1|a|many\nspeed|1|1|b|7\nnote|3|3|c|few\nnote|4|4|d|5\n")
    result = horai("run", "rules.ec", "p.lars", "--input", "day.csv", "--engine", engine)
    assert result.exit_code == 0 and '"odd"' in result.stdout
    places = re.findall(r"`(.*)` fails for 1 value.*\n --> (.*)\n", result.stderr)
    wanted = ("V > 3", "rules.ec:2:58"), ("V < 9", "p.lars:2:28"), ("V > 3", "p.lars:3:25")
    assert tuple(places) == wanted
    notes = re.findall(r"note: first V = (.*)", result.stderr)
    assert notes[1:] == [
        "few: `few` is no number (day.csv:3)",
        "many: `many` is no number (said by the description)",
    ]


def test_a_run_that_uses_nothing_of_its_input_fails(horai: Run) -> None:
    Path("rules.ec").write_text(RULES)
    result = horai(*DAY)
    assert result.exit_code == 1
    assert "error[H551]: none of the 2 rows is used by any rule" in result.stderr
    assert "day.csv:1: unknown-type" in result.stderr
    assert horai(*DAY, "--quiet").exit_code == 1
    assert "none of the 4 rows" in horai(*DAY, "--input", "day.csv").stderr
    lowered = horai(*DAY, "--severity", "H551=warning")
    assert lowered.exit_code == 0 and "warning[H551]" in lowered.stderr
    assert horai(*DAY, "--severity", "H551=off").stderr == ""


def test_a_program_that_reads_nothing_of_its_input_fails(horai: Run) -> None:
    Path("p.lars").write_text("hot(X) :- temp(X) [5].\n")
    result = horai("run", "p.lars", "--input", "day.csv")
    assert result.exit_code == 1
    assert "error[H551]: none of the 2 rows is used by any rule" in result.stderr
    assert "there are lose/1, win/1; the rules ask for temp/1" in result.stderr


@pytest.mark.parametrize("text", ["", "type,time,who\n", "\n\n", "Type|Arrival|Time\n"])
@pytest.mark.parametrize("rules", ["rules.ec", "p.lars"])
def test_files_without_rows_are_told_in_a_pipe_too(horai: Run, text: str, rules: str) -> None:
    Path("p.lars").write_text("rich(X) :- win(X) [5].\n")
    Path("none.csv").write_text(text)
    result = horai("run", rules, "--input", "none.csv", "--input", "day.csv")
    assert result.exit_code == 0
    assert "warning[H552]: none.csv has no rows" in result.stderr
    assert "day.csv has no rows" not in result.stderr


def test_types_that_no_rule_reads_are_of_no_concern_and_mistyped_ones_are(horai: Run) -> None:
    Path("day.csv").write_text("win|1|1|chris\nweather|2|2|sunny\n")
    assert horai(*DAY).stderr == ""
    assert horai(*DAY, "--dead-letters", "letters.csv").stderr == ""
    assert "weather" in Path("letters.csv").read_text()
    Path("day.csv").write_text("win|1|1|chris\nwins|2|2|alex\n")
    assert "did you mean win?" in horai(*DAY).stderr


def test_warnings_about_rules_are_shown_with_their_place(horai: Run) -> None:
    with Path("rules.ec").open("a") as more:
        more.write(
            "initiatedAt(happy(X)=true, T) :- happensAt(win(X), T), holdsAt(ritch(X)=true, T).\n"
        )
    result = horai(*DAY)
    assert result.exit_code == 0
    assert "warning[H202]" in result.stderr and "rules.ec:4" in result.stderr
    assert "did you mean `rich`?" in result.stderr
    stopped = horai(*DAY, "--severity", "H202=error")
    assert stopped.exit_code == 2 and "error[H202]" in stopped.stderr and not stopped.stdout


def test_many_warnings_are_not_all_shown(horai: Run) -> None:
    with Path("rules.ec").open("a") as more:
        more.writelines(
            f"happensAt(e{i}(X), T) :- happensAt(win(X), T), {i} > {i}.\n" for i in range(12)
        )
    result = horai(*DAY)
    assert result.stderr.count("warning[H502]") == 10
    assert "the rules have 12 warnings; `horai check` shows all of them" in result.stderr
