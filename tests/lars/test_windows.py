"""Window functions: the worked examples, and properties of all windows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.story import content, formula, stream

from horai.lang.lars.syntax import Window, Within
from horai.oracle.lars.stream import Stream, select, tuple_based

MORNING = {36: "tram(a1,b), bus(b1,b)", 40: "tram(a3,h), bus(b1,s)"}
NOON = {**MORNING, 43: "tram(a3,m)", 44: "tram(a1,m)", 45: "bus(b2,m)"}
D1, D2 = stream(0, 50, MORNING), stream(0, 50, NOON)
EMPTY = Stream(0, 9)


def window(text: str) -> Window:
    found = formula(f"{text} b")
    assert isinstance(found, Within)
    return found.window


def cut(text: str, data: Stream, time: int) -> tuple[int, int, dict[int, set[str]]]:
    found = data
    for one in text.split("|"):
        found = select(window(one.strip()), found, time)
    return (found.first, found.last, content(found))


def timelines(text: str, times: range = range(10)) -> list[str]:
    return ["{}-{}".format(*cut(text, EMPTY, time)[:2]) for time in times]


@pytest.mark.parametrize("text", ["[4]", "[4 hop 2]", "[4 hop 3]"])
def test_g01_sliding_and_hopping_at_one_point(text: str) -> None:
    assert cut(text, D1, 42) == (38, 42, {40: {"tram(a3,h)", "bus(b1,s)"}})


def test_g01_tumbling_at_one_point() -> None:
    assert cut("[4 tumbling]", D1, 42)[:2] == (36, 40)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[3]", "0-0 0-1 0-2 0-3 1-4 2-5 3-6 4-7 5-8 6-9"),
        ("[3 hop 2]", "0-0 0-0 0-2 0-2 1-4 1-4 3-6 3-6 5-8 5-8"),
        ("[3 tumbling]", "0-0 0-0 0-0 0-3 0-3 0-3 3-6 3-6 3-6 6-9"),
        ("[3, +1 hop 3]", "0-1 0-1 0-1 0-4 0-4 0-4 3-7 3-7 3-7 6-9"),
        ("[+2]", "0-2 1-3 2-4 3-5 4-6 5-7 6-8 7-9 8-9 9-9"),
        ("[inf]", "0-0 0-1 0-2 0-3 0-4 0-5 0-6 0-7 0-8 0-9"),
        ("[from 3 to 12]", "3-9 " * 10),
    ],
)
def test_g02_g03_timelines_in_the_course_of_time(text: str, expected: str) -> None:
    assert timelines(text) == expected.split()


def test_a_pivot_before_the_timeline_selects_nothing() -> None:
    assert cut("[2 hop 4]", stream(5, 9, {5: "a"}), 6) == (5, 5, {})


def test_g04_tuple_windows_take_the_last_signals() -> None:
    kept = {40: {"bus(b1,s)"}, 43: {"tram(a3,m)"}, 44: {"tram(a1,m)"}}
    assert cut("[3 #]", D2, 44) == (40, 44, kept)
    assert cut("[5 #]", stream(0, 9, {4: "a"}), 7) == (0, 7, {4: {"a"}})
    assert cut("[1 #]", stream(0, 9, {4: "a"}), 7) == (4, 7, {4: {"a"}})
    nothing = tuple_based(D2, 44, 0)  # no text says that
    assert (nothing.first, nothing.last, content(nothing)) == (44, 44, {})


def test_tuple_windows_into_the_future_leave_out_what_is_now() -> None:
    data = stream(0, 9, {3: "a, b", 5: "c, d", 7: "e"})
    assert cut("[+1 #]", data, 3) == (3, 5, {5: {"c"}})
    assert cut("[1 #, +2 #]", data, 3) == (3, 5, {3: {"b"}, 5: {"c", "d"}})
    assert cut("[+4 #]", data, 3) == (3, 9, {5: {"c", "d"}, 7: {"e"}})


def test_repeated_signals_count() -> None:
    data = stream(0, 4, {4: "b, c, c"})
    assert cut("[2 #]", data, 4) == (4, 4, {4: {"c"}})
    assert cut("[3 #]", data, 4) == (4, 4, {4: {"b", "c"}})


def test_g05_the_last_three_trams() -> None:
    kept = {40: {"tram(a3,h)"}, 43: {"tram(a3,m)"}, 44: {"tram(a1,m)"}}
    assert cut("[3 # per tram(_,_)]", D2, 44) == (40, 44, kept)
    assert cut("[only tram] | [3 #]", D2, 44) == (40, 44, kept)


def test_g06_the_last_position_of_every_vehicle() -> None:
    kept = {
        40: {"bus(b1,s)"},
        43: {"tram(a3,m)"},
        44: {"tram(a1,m)"},
        45: {"bus(b2,m)"},
    }
    assert cut("[1 # per tram(Id,_), bus(Id,_)]", D2, 45) == (40, 45, kept)


def test_a_partition_without_atoms_is_empty() -> None:
    assert cut("[1 # per taxi(Id)]", D2, 45) == (45, 45, {})


def test_repeats_in_a_partition() -> None:
    data = stream(0, 4, {4: "b, c, b, c, c"})
    found = select(window("[2 # per b, c]"), data, 4)
    assert [str(atom.name) for _, atom in found.signals] == ["b", "b", "c", "c"]


def test_g07_filters_and_time_windows_may_change_places() -> None:
    kept = (36, 42, {36: {"bus(b1,b)"}, 40: {"bus(b1,s)"}})
    assert cut("[6 hop 2] | [only bus]", D2, 43) == kept
    assert cut("[only bus] | [6 hop 2]", D2, 43) == kept
    for time in range(51):  # one group of trams is a filter and a count
        trams = cut("[only tram] | [3 #]", D2, time)
        if trams[2]:
            assert cut("[3 # per tram(_,_)]", D2, time) == trams


def test_g08_the_next_expected_tram() -> None:
    data = stream(0, 50, {43: "exp(a3,m)", 44: "exp(a1,m)", 45: "exp(a9,k)"})
    kept = (42, 43, {43: {"exp(a3,m)"}})
    assert cut("[+1 # per exp(_,m)]", data, 42) == kept
    assert cut("[only exp(_,m)] | [+1 #]", data, 42) == kept


@pytest.mark.parametrize("text", ["[2]", "[2 #]", "[2 # per a]", "[only a]"])
def test_g09_at_a_time_outside_of_the_timeline_all_is_selected(text: str) -> None:
    data = stream(0, 3, {1: "a"})
    assert select(window(text), data, 9) == data


def test_t15_t16_ticks() -> None:
    data = stream(0, 4, {3: "a, b"})
    assert cut("[1]", data, 4) == (3, 4, {3: {"a", "b"}})
    assert cut("[1 #]", data, 4) == (3, 4, {3: {"b"}})


def test_t44_an_interval_beyond_the_timeline() -> None:
    assert cut("[from 3 to 9]", Stream(0, 6), 1)[:2] == (3, 6)
    assert cut("[from 7 to 9]", stream(0, 6, {6: "a"}), 1) == (0, 0, {})


# --- properties ---

signals = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(["a", "b", "c(1)"])), max_size=8)
any_window = st.sampled_from(
    [
        "[0]",
        "[3]",
        "[3 hop 2]",
        "[2 tumbling]",
        "[+2]",
        "[1, +2]",
        "[inf]",
        "[1 #]",
        "[3 #]",
        "[+1 #]",
        "[2 #, +1 #]",
        "[inf #]",
        "[1 # per a, b]",
        "[2 # per c(X)]",
        "[only a]",
        "[only b, c]",
        "[from 2 to 4]",
    ]
)


def data_of(found: list[tuple[int, str]]) -> Stream:
    by_time: dict[int, str] = {}
    for time, atom in sorted(found, key=lambda pair: pair[0]):
        by_time[time] = f"{by_time[time]}, {atom}" if time in by_time else atom
    return stream(0, 8, by_time)


@given(signals, any_window, st.integers(0, 8))
def test_a_window_is_a_part_of_the_stream(
    found: list[tuple[int, str]], text: str, time: int
) -> None:
    data = data_of(found)
    part = select(window(text), data, time)
    assert data.first <= part.first <= part.last <= data.last
    assert part.pairs <= data.pairs
    assert all(moment in part for moment, _ in part.pairs)


@given(signals, st.sampled_from(["[3]", "[+2]", "[1 #]", "[3 #]", "[2 # per a, b]"]))
def test_a_window_twice_is_the_window(found: list[tuple[int, str]], text: str) -> None:
    once = select(window(text), data_of(found), 4)
    assert select(window(text), once, 4).pairs == once.pairs


@given(signals, signals, st.sampled_from(["[3]", "[3 hop 2]", "[+2]", "[only a]", "[from 2 to 4]"]))
def test_time_windows_and_filters_are_monotone(
    less: list[tuple[int, str]], more: list[tuple[int, str]], text: str
) -> None:
    small, large = data_of(less), data_of([*less, *more])
    for time in range(9):
        one, other = select(window(text), small, time), select(window(text), large, time)
        assert one.pairs <= other.pairs
        assert (one.first, one.last) == (other.first, other.last)


def test_g32_tuple_windows_are_not_monotone() -> None:
    small = stream(0, 4, {1: "a", 3: "b", 4: "a"})
    large = stream(0, 4, {1: "a", 3: "b", 4: "a, c"})
    assert cut("[3 #]", small, 4) == (1, 4, {1: {"a"}, 3: {"b"}, 4: {"a"}})
    assert cut("[3 #]", large, 4) == (3, 4, {3: {"b"}, 4: {"a", "c"}})


@given(signals, st.integers(1, 6), st.integers(0, 8))
def test_a_tuple_window_has_as_many_signals_as_it_says(
    found: list[tuple[int, str]], size: int, time: int
) -> None:
    data = data_of(found)
    before = sum(moment <= time for moment, _ in data.signals)
    assert len(select(window(f"[{size} #]"), data, time).signals) == min(size, before)


def test_since_the_last_multiple() -> None:
    assert [cut("[since 4]", D2, time)[:2] for time in (0, 3, 4, 43, 44)] == [
        *((0, 0), (0, 3), (4, 4), (40, 43), (44, 44))
    ]
    assert cut("[since 4]", D2, 43) == (
        40,
        43,
        {40: {"tram(a3,h)", "bus(b1,s)"}, 43: {"tram(a3,m)"}},
    )


def test_the_point_some_time_ago() -> None:
    assert cut("[ago 4]", D2, 44) == (40, 40, {40: {"tram(a3,h)", "bus(b1,s)"}})
    assert cut("[ago 4]", D2, 3) == (0, 0, {}), "before the start nothing was"
