"""Times in the input and back in the output."""

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.io import UNITS, TimeScale, Unit, format_time
from horai.io.letters import BadRow
from horai.io.times import read_times

NOON = 1709294400  # 2024-03-01T12:00:00Z


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2024-03-01T12:00:00Z", NOON),
        ("2024-03-01 12:00:00", NOON),
        ("2024-03-01T12:00", NOON),
        ("2024-03-01T12", NOON),
        ("2024-03-01T14:00:00+02:00", NOON),
        ("2024-03-01T14:00:00+0200", NOON),
        ("2024-03-01T08:00:00-04", NOON),
        ("2024-03-01T12:00:00.999999999Z", NOON),
        ("2024-03-01T12:00:00,5Z", NOON),
        ("2024-03-01", NOON - 12 * 3600),
        ("1969-12-31T23:59:59.5Z", -1),
        ("0001-01-01", -62135596800),
        ("17", 17),
        ("-17.0", -17),
    ],
)
def test_times_become_points_by_flooring(text: str, seconds: int) -> None:
    assert TimeScale("s").point(text) == seconds
    assert read_times(pa.array([text]), TimeScale("s")).points.to_pylist() == [seconds]


@pytest.mark.parametrize(
    ("unit", "point"),
    [
        ("ns", 5_400_500_000_000),
        ("us", 5_400_500_000),
        ("ms", 5_400_500),
        ("s", 5400),
        ("min", 90),
        ("h", 1),
        ("d", 0),
    ],
)
def test_every_unit(unit: Unit, point: int) -> None:
    assert TimeScale(unit).point("1970-01-01T01:30:00.5Z") == point


@pytest.mark.parametrize(
    "text",
    [
        "nine",
        "",
        "1e3",
        "+5",
        "3.5",
        "inf",
        "9223372036854775808",
        "9" * 5000,
        "2024-02-30",
        "2024-03-01T24:00:00",
        "2024-03-01T12:00:60",
        "2024-03-01T12:00:00+25:00",
        "2024-03-01T12:00:00 Z",
    ],
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(BadRow) as caught:
        TimeScale("s").point(text)
    assert caught.value.code == "bad-time"
    assert not read_times(pa.array([text]), TimeScale("s")).readable.to_pylist()[0]


def test_iso_times_need_a_unit() -> None:
    with pytest.raises(BadRow, match="ISO time needs --unit") as caught:
        TimeScale().point("2024-03-01T12:00:00Z")
    assert caught.value.code == "unit"


@pytest.mark.parametrize(
    ("unit", "time_in", "given", "point"),
    [("s", "ms", 1999, 1), ("s", "ms", -1, -1), ("ms", "s", 2, 2000), ("min", "us", 6 * 10**7, 1)],
)
def test_epoch_times_change_their_unit(unit: Unit, time_in: Unit, given: int, point: int) -> None:
    clock = TimeScale(unit, time_in)
    assert clock.point(given) == clock.point(str(given)) == clock.point(float(given)) == point


def test_epoch_times_that_leave_64_bits_are_bad() -> None:
    clock = TimeScale("ns", "d")
    with pytest.raises(BadRow):
        clock.point(2**62)
    times = read_times(pa.array([2**62, 3]), clock)
    assert times.readable.to_pylist() == [False, True]


@pytest.mark.parametrize("unit", ["fortnight", "S"])
def test_an_unknown_unit_is_refused(unit: Any) -> None:
    with pytest.raises(ValueError, match="use one of ns, us, ms, s, min, h, d"):
        TimeScale(unit)


def test_time_in_needs_unit() -> None:
    with pytest.raises(ValueError, match="time_in needs unit"):
        TimeScale(None, "ms")


@pytest.mark.parametrize("given", [True, None, [5], 3.5, float("nan"), float("inf")])
def test_other_values_are_no_times(given: object) -> None:
    with pytest.raises(BadRow):
        TimeScale().point(given)


def test_python_dates_are_times() -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    assert TimeScale("s").point(dt.datetime(2024, 3, 1, 14, tzinfo=zone)) == NOON
    assert TimeScale("d").point(dt.date(1970, 1, 3)) == 2


@given(st.integers(-(10**12), 10**12), st.sampled_from(UNITS))
def test_formatted_times_are_read_back(point: int, unit: Unit) -> None:
    shown = format_time(point, unit)
    assert TimeScale(unit).point(shown) == point


def test_times_outside_the_calendar_stay_numbers() -> None:
    assert format_time(10**15, "d") == "1000000000000000"


@given(
    st.lists(
        st.one_of(
            st.integers(-(2**64), 2**64).map(str),
            st.decimals(-100, 100, places=1).map(str),
            st.datetimes(min_value=dt.datetime(1, 1, 2)).map(dt.datetime.isoformat),
            st.datetimes(
                dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30), timezones=st.just(dt.UTC)
            ).map(dt.datetime.isoformat),
            st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}", fullmatch=True),
            st.sampled_from(["", " ", "inf", "x", " 5 ", "5\t", "--5", "0x5", "-"]),
        )
    ),
    st.sampled_from([None, *UNITS]),
    st.sampled_from([None, *UNITS]),
)
def test_columns_are_read_as_single_times_are(
    texts: list[str], unit: Unit | None, time_in: Unit | None
) -> None:
    clock = TimeScale(unit, time_in if unit is not None else None)
    expected: list[int | None] = []
    for text in texts:
        try:
            expected.append(clock.point(text))
        except BadRow:
            expected.append(None)
    times = read_times(pa.array(texts, pa.string()), clock)
    assert times.points.to_pylist() == expected
    assert times.readable.to_pylist() == [point is not None for point in expected]
