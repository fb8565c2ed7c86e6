"""What help shows: options in groups, those of LARS programs where they apply."""

import re
from pathlib import Path

import click
import pytest

from horai.cli.app import COMMANDS, app
from horai.cli.command import TITLES, Command, GroupedOption
from horai.runtime.lars.engines import LARS_ENGINES
from horai.settings import OPTIONS, options_for

from .conftest import Run

MOST = 40


def groups(text: str) -> dict[str, list[str]]:
    """The options of a help text by the title they stand under."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            title = line[:-1]
        elif option := re.match(r"  (?:-\w, )?(--[a-z-]+)", line):
            found.setdefault(title, []).append(option[1])
    return found


def command_named(name: str) -> click.Command:
    found = app.get_command(click.Context(app), name)
    assert found is not None
    return found


def test_options_of_a_run_stand_in_their_groups(horai: Run) -> None:
    shown = groups(horai("run", "--help").stdout)
    assert list(shown) == [
        *("Input", "Raw positions", "Time", "Windows", "Engine", "Output", "Other"),
    ]
    for name, option in options_for("ec", "run").items():
        if option.written:
            assert f"--{name.replace('_', '-')}" in shown[TITLES[option.group]]
    listed = [option for some in shown.values() for option in some]
    assert len(listed) == len(set(listed)) < MOST
    assert "--models" not in listed and "--help-lars" in shown["Other"]


def test_options_of_programs_are_shown_where_they_apply(horai: Run) -> None:
    Path("p.lars").write_text("h :- b [2].\n")
    for words in (("--help-lars",), ("p.lars", "--help")):
        listed = [o for some in groups(horai("run", *words).stdout).values() for o in some]
        assert {"--models", "--allowed-lateness", "--live", "--clock"} <= set(listed)
        assert not {"--window", "--tick", "--positions"} & set(listed)
        assert len(listed) < MOST
        engines = horai("run", *words).stdout.split("--engine NAME")[1].split("--")[0]
        assert set(LARS_ENGINES) <= set(re.findall("[a-z]+", engines))
    both = horai("run", "rules.ec", "p.lars", "--help").stdout
    assert "--clock" in both and "--window" in both and "--models" not in both


def test_a_project_of_programs_has_their_help(horai: Run) -> None:
    Path("p.lars").write_text("h :- b [2].\n")
    Path("horai.toml").write_text('[project]\nrules = ["p.lars"]\n')
    assert "--models" in horai("run", "--help").stdout
    Path("horai.toml").write_text("[projekt]\n")  # what is wrong there is told by a run
    assert "--window" in horai("run", "--help").stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_options_have_one_name_and_a_word_of_help(name: str) -> None:
    command = command_named(name)
    assert isinstance(command, Command) and command.help == COMMANDS[name]
    options = [one for one in command.params if isinstance(one, click.Option)]
    names = [written for one in options for written in (*one.opts, *one.secondary_opts)]
    assert len(names) == len(set(names))
    for one in options:
        assert one.help and one.help.endswith("."), one.name
        if isinstance(one, GroupedOption) and one.name in OPTIONS and OPTIONS[one.name].written:
            assert (one.group, one.help) == (OPTIONS[one.name].group, OPTIONS[one.name].help)


def test_a_wrong_name_is_told_with_the_nearest_one(horai: Run) -> None:
    for words, problem, hint in (
        (("run", "--wndow", "3"), "there is no option --wndow", "did you mean --window?"),
        (("run", "--zzzz"), "there is no option --zzzz", "`horai run --help` shows all"),
        (("chek",), "there is no command chek", "did you mean check?"),
        (("run", "--strict=3"), "--strict", "`horai run --help`"),
        (("run", "--window"), "Option '--window' requires an argument", "`horai run --help`"),
    ):
        result = horai(*words)
        assert result.exit_code == 2 and result.stdout == ""
        assert problem in result.stderr and hint in result.stderr
        assert len(result.stderr.splitlines()) == 2


def test_a_key_of_a_project_is_told_with_the_nearest_one(horai: Run) -> None:
    Path("horai.toml").write_text('[project]\nrules = ["rules.ec"]\n[run]\nwindwo = 3\nstep = 0\n')
    result = horai("run")
    assert result.exit_code == 2
    assert "unknown setting windwo in [run]; did you mean window?" in result.stderr
    assert "step must be above 0, not 0 ([run])" in result.stderr


def test_settings_of_a_project_that_are_about_other_runs_are_left_aside(horai: Run) -> None:
    run = "window = 50\ntrigger = '5s'\nwatermark_delay = 3\n"
    Path("horai.toml").write_text(f'[project]\nrules = ["rules.ec"]\n[run]\n{run}')
    assert horai("run", "-i", "day.csv").exit_code == 0
    Path("p.lars").write_text("h :- b [2].\n")
    Path("horai.toml").write_text(f'[project]\nrules = ["p.lars"]\n[run]\n{run}')
    result = horai("run", "-i", "day.csv")
    assert result.exit_code == 2
    assert "the setting window of the project has no meaning for LARS programs" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_can_complete(horai: Run, shell: str) -> None:
    result = horai("--show-completion", shell)
    assert result.exit_code == 0 and "_HORAI_COMPLETE" in result.stdout
