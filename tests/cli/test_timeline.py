"""Timelines fit the terminal and show what holds when."""

import pytest

from horai.cli.timeline import FANCY, PLAIN, timeline
from horai.io import AnswerRow, Unit

ROWS = [
    AnswerRow("event", "bang", ["a"], time=50),
    AnswerRow("fluent", "on", ["a"], "true", 0, 50),
    AnswerRow("fluent", "on", ["a"], "true", 75, None),
    AnswerRow("fluent", "a_fluent_with_a_long_name", ["and", "long", "arguments"], "true", 99, 100),
]


def lines(width: int) -> list[str]:
    return timeline(ROWS, width, PLAIN).plain.split("\n")


@pytest.mark.parametrize("width", [40, 80, 100, 109, 110, 140, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in lines(width)) <= width
    fancy = timeline(ROWS, width, FANCY).plain.split("\n")
    assert [len(line) for line in fancy[2:]] == [len(line) for line in lines(width)[2:]]


def test_bars_stand_where_the_intervals_are() -> None:
    _, _, bang, on, long = (line.split("  ", 1) for line in lines(80))
    bar = on[1].strip()
    share = len(bar) / 105  # open at the end: some room is left after 100
    assert bar[0] == "=" and bar[int(48 * share)] == "=" and bar[int(60 * share)] == "."
    assert bar[int(80 * share)] == "=" and bar[-1] == ">"
    assert bang[1].count("*") == 1
    assert long[1].count("=") == 1, "what is too short for a column still shows"
    assert long[0].endswith("..")


def test_times_are_listed_where_there_is_room() -> None:
    assert "(0,50) (75,inf)" in lines(140)[3]
    assert "(0,50)" not in lines(80)[3]


def test_the_axis_has_round_times() -> None:
    assert set(lines(80)[0].split()) <= {"0", "50", "100", "20", "40", "60", "80"}


@pytest.mark.parametrize(
    ("unit", "start", "end", "words"),
    [
        ("s", 1704096000, 1704103200, ["08:00", "08:30"]),
        ("s", 1704096000, 1704096020, ["08:00:00", "08:00:05"]),
        ("min", 28401600, 28401720, ["08:00", "08:30"]),
        ("ms", 1704096000000, 1704103200000, ["08:00", "08:30"]),
        ("h", 473360, 473400, ["01-01", "12:00"]),
        ("d", 19723, 19783, ["2024-01-18", "2024-02-15"]),
    ],
)
def test_real_time_shows_as_a_clock(unit: Unit, start: int, end: int, words: list[str]) -> None:
    rows = [AnswerRow("fluent", "on", [], "true", start, end)]
    axis = timeline(rows, 80, PLAIN, unit=unit).plain.split("\n")[0]
    assert axis.split()[:2] == words


def test_an_open_interval_reaches_as_far_as_the_run_has_come() -> None:
    bar = timeline(ROWS, 80, PLAIN, until=400).plain.split("\n")[3]
    assert bar.count("=") > 40 and bar.endswith("=>")


def test_nothing_is_said_in_words() -> None:
    assert timeline([], 80, PLAIN).plain == "nothing holds and nothing happens"
