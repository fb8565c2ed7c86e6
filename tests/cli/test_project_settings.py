"""Settings of `horai.toml`: patterns for files, severities, and what is wrong with them."""

from pathlib import Path

import pytest

from .conftest import NARRATIVE, Run

WARNED = "initiatedAt(odd(X)=true, T) :- happensAt(win(X), T), happensAt(lose(Y), T).\n"


def project(text: str) -> None:
    Path("horai.toml").write_text(text)


def test_patterns_name_files_in_order(horai: Run) -> None:
    Path("days/more").mkdir(parents=True)
    for name, who in (("b.csv", "b"), ("a.csv", "a"), ("more/c.csv", "c"), ("d[1].csv", "d")):
        (Path("days") / name).write_text(f"win|1|1|{who}\n")
    for given, names in (
        ('"days/*.csv"', "abd"),
        ('"days/[ab].csv"', "ab"),
        ('"days/**/*.csv"', "abcd"),
        ('"days/a.csv", "days/?.csv"', "ab"),
        ('"days/d[1].csv"', "d"),
    ):
        project(f'[project]\nrules = ["*.ec"]\ninput = [{given}]\n')
        result = horai("run", "--format", "text")
        assert result.exit_code == 0, result.stderr
        found = {line.split(")")[0][-1] for line in result.stdout.splitlines()}
        assert found == set(names)


def test_a_pattern_that_fits_no_file_is_told(horai: Run) -> None:
    project('[project]\nrules = ["rules.ec"]\ninput = ["days/*.csv"]\n')
    result = horai("run")
    assert result.exit_code == 2
    assert "horai.toml: input in [project]: no file is called like days/*.csv" in result.stderr


def test_an_unknown_setting_is_told_once(horai: Run) -> None:
    project('[project]\nrules = ["rules.ec"]\nwindows = 5\n')
    result = horai("run")
    assert result.exit_code == 2
    assert result.stderr.count("error") == 1 and result.stderr.count("windows") == 1


def test_severities_of_a_project_and_of_the_command_line(horai: Run) -> None:
    with Path("rules.ec").open("a") as rules:
        rules.write(WARNED)
    project('[project]\nrules = ["rules.ec"]\ninput = ["day.csv"]\n[severity]\nH309 = "error"\n')
    assert Path("day.csv").read_text() == NARRATIVE
    for command in ("run", "check"):
        assert horai(command).exit_code == 2
        lowered = horai(command, "--severity", "h309=off")
        assert lowered.exit_code == 0 and "H309" not in lowered.output


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("H309", "names no level"),
        ("H309=never", "H309 cannot be 'never'"),
        ("H300=off", "H300 is always an error"),
        ("X1=off", "there is no code X1"),
    ],
)
def test_wrong_severities_are_told(horai: Run, option: str, said: str) -> None:
    result = horai("check", "rules.ec", "--severity", option)
    assert result.exit_code == 2 and said in result.stderr
    code, _, level = option.partition("=")
    if level:
        project(f'[project]\nrules = ["rules.ec"]\n[severity]\n{code} = "{level}"\n')
        result = horai("check")
        assert result.exit_code == 2 and f"horai.toml: {said}" in result.stderr


def test_a_relation_of_intervals_without_a_mode_is_explained(horai: Run) -> None:
    Path("rules.ec").write_text(
        "initiatedAt(f(X)=true, T) :- happensAt(win(X), T).\n"
        "holdsFor(g(X)=true, I) :- "
        "holdsFor(f(X)=true, A), holdsFor(f(X)=true, B), during(A, B, I).\n"
    )
    assert "write `during(A, B, source, I)`" in horai("check", "rules.ec").stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("day.csv", "type,time,value,who\nwin,1,3,\nwin,2,,zoe\n"),
        ("day.jsonl", '{"type":"win","time":1,"value":3}\n{"type":"win","time":2,"args":[4]}\n'),
    ],
)
def test_a_value_of_an_event_is_explained(horai: Run, name: str, text: str) -> None:
    Path(name).write_text(text)
    result = horai("run", "rules.ec", "-i", name)
    assert result.exit_code == 0
    assert "win takes 1 argument, 0 given; `value` is the value of a fluent" in result.stderr


def test_columns_of_the_command_line_and_of_a_project(horai: Run) -> None:
    Path("rules.ec").write_text(
        "initiatedAt(slow(X)=true, T) :- happensAt(speed(X, V), T), V < 9.\n"
    )
    Path("day.csv").write_text("knots,when,ship\n5,1,a\n10,2,b\n")
    expected = "slow(a)=true  (2,inf)\n"
    text = ("--format", "text")
    option = ("--columns", "speed=time:when,ship,knots")
    result = horai("run", "rules.ec", "-i", "day.csv", *option, *text)
    assert (result.exit_code, result.stdout) == (0, expected), result.stderr
    project(
        '[project]\nrules = ["rules.ec"]\ninput = ["day.csv"]\n'
        '[columns]\nspeed = ["time:when", "ship", "knots"]\n'
    )
    assert horai("run", *text).stdout == expected
    assert "X = a" in horai("query", "holdsAt(slow(X)=true,2)").stdout
    assert horai("report").exit_code == 0
    wrong = horai("run", "--columns", "speed")
    assert wrong.exit_code == 2 and "--columns speed names no columns" in wrong.stderr
    project('[project]\nrules = ["rules.ec"]\n[columns]\nspeed = "ship"\n')
    assert "speed in [columns] must be a list of columns" in horai("run").stderr
