"""The options of a run: which there are, for whom, and what is said of wrong ones."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from horai.errors import UsageError
from horai.settings import (
    GROUPS,
    LANGUAGES,
    MODES,
    OPTIONS,
    Language,
    Mode,
    RunSettings,
    options_for,
)


def test_every_field_but_the_language_is_an_option_with_a_place() -> None:
    assert [field.name for field in fields(RunSettings)] == ["language", "named", *OPTIONS]
    for name, option in OPTIONS.items():
        assert option.name == name
        assert option.group in GROUPS
        assert option.help.endswith(".") and len(option.help) < 120
        assert option.places
        assert all(place[0] in LANGUAGES and place[1] in MODES for place in option.places)
        assert not option.instead.keys() & set(option.languages), name


def test_what_is_said_of_a_language_is_used_for_it() -> None:
    assert RunSettings.of("ec", "run", {}).engine == "auto"
    assert RunSettings.of("lars", "run", {}).engine == "auto"
    assert RunSettings.of("lars", "run", {}).step == 1
    assert RunSettings.of("ec", "run", {"step": None}).step is None
    assert RunSettings.of("combined", "run", {}).reasoning == "cautious"


def test_values_become_those_of_python() -> None:
    given: dict[str, Any] = {"window": np.int64(5), "strict": np.True_, "end": "30"}
    found = RunSettings.of("ec", "run", {**given, "columns": ["speed=vessel, knots"]})
    assert (type(found.window), found.window) == (int, 5)
    assert found.strict is True
    assert found.end == 30
    assert found.columns == {"speed": ["vessel", "knots"]}


def test_times_with_a_unit_are_time_points() -> None:
    found = RunSettings.of("ec", "run", {"unit": "s", "start": "1970-01-01T00:01:00"})
    assert found.start == 60


@pytest.mark.parametrize(
    ("language", "mode", "given", "problem", "hint"),
    [
        ("ec", "run", {"windwo": 3}, "there is no setting windwo", "did you mean window?"),
        ("ec", "run", {"zzz": 3}, "there is no setting zzz", "there are input_format"),
        ("lars", "run", {"window": 3}, "window has no meaning for LARS programs", "program itself"),
        ("ec", "run", {"clock": "1s"}, "clock has no meaning for rules of the Event", "--unit"),
        ("ec", "session", {"models": 3}, "models has no meaning", "an option of LARS programs"),
        ("combined", "run", {"tick": 3}, "tick has no meaning for rules of two", "--clock"),
        ("ec", "session", {"end": 3}, "end has no meaning for a session", "over a whole input"),
        ("ec", "run", {"trigger": "1s"}, "trigger has no meaning", "an option of a stream"),
        ("ec", "run", {"window": 0}, "window must be above 0, not 0", "a length of time"),
        ("ec", "run", {"window": 2**62 + 1}, "window must be at most", "a length of time"),
        ("ec", "run", {"step": True}, "step must be a whole number, not True", "a length of time"),
        ("ec", "run", {"strict": "yes"}, "strict must be true or false, not 'yes'", None),
        ("ec", "run", {"unit": "sec"}, "unit cannot be 'sec'", "it is one of ns, us"),
        ("ec", "run", {"answers": "windosw"}, "answers cannot be 'windosw'", "mean windows?"),
        ("ec", "run", {"time_in": "ms"}, "times in ms need a unit", "unit s"),
        ("ec", "run", {"start": 5, "end": 5}, "end of the run, 5, is not after", "after start"),
        ("lars", "run", {"start": 6, "end": 5}, "the end of the run, 5, is before", "from start"),
        ("ec", "run", {"buckets": 3}, "buckets is about runs on Spark", "add engine spark"),
        ("ec", "stream", {"future_skew": 3}, "future-skew needs a unit", "--unit s"),
        ("ec", "run", {"engine": "spark", "columns": ["a=b"]}, "columns cannot be", "rename"),
        ("ec", "run", {"columns": ["a"]}, "--columns a names no columns", "a=vessel"),
        ("lars", "run", {"models": 0}, "models cannot be 0", "`one`, `all`"),
        ("lars", "run", {"filter": " ,"}, "the filter names no predicate", "--filter a,b"),
        ("lars", "run", {"reasoning": "brave", "models": 2}, "gives one answer: models 2", "ask"),
        ("lars", "live", {"state": 3}, "state must be a path, not 3", None),
    ],
)
def test_what_is_wrong_is_told(
    language: Language, mode: Mode, given: dict[str, object], problem: str, hint: str | None
) -> None:
    with pytest.raises(UsageError) as told:
        RunSettings.of(language, mode, given)
    assert problem in told.value.problem
    assert (hint is None) == (told.value.hint is None)
    assert hint is None or hint in str(told.value.hint)


def test_the_spelling_of_the_command_line_is_used() -> None:
    with pytest.raises(UsageError, match="--window has no meaning"):
        RunSettings.of("lars", "run", {"window": 3}, spelled=lambda name: f"--{name}")


@pytest.mark.parametrize("language", LANGUAGES)
def test_settings_that_are_written_are_read_again(language: Language) -> None:
    given = {"start": 3, "strict": True, "unit": "s", "answers": "final", "end": 9}
    found = RunSettings.of(language, "run", given)
    assert found.to_dict() == {**given}
    assert RunSettings.of(language, "run", found.to_dict()) == found


def test_options_are_known_by_language_and_mode() -> None:
    assert "window" in options_for("ec", "run") and "window" not in options_for("lars")
    assert "trigger" in options_for(None, "stream") and "trigger" not in options_for(None, "run")
