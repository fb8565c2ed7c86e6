"""Positions from files and tables, and what becomes of rows that cannot be used."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from horai.io import InputError, TimeScale
from horai.signals import Layout, positions_of, read_positions
from horai.signals.positions import as_letters

GOOD = """mmsi,timestamp,lon,lat,sog,cog,heading
244660000,2024-03-01T12:00:00Z,4.5,51.9,12.3,90,88
244660000,2024-03-01T12:00:10Z,4.51,51.9,102.3,360.0,511
ferry,2024-03-01T12:00:20Z,4.52,51.9,,,
"""


def rows(found: object) -> list[dict[str, object]]:
    table = found.table.drop_columns(["file", "line"])  # type: ignore[attr-defined]
    return [{k: None if v != v else v for k, v in row.items()} for row in table.to_pylist()]


WANTED = [
    {
        "entity": "244660000",
        "time": 1709294400,
        "lon": 4.5,
        "lat": 51.9,
        "speed": 12.3,
        "course": 90.0,
        "heading": 88.0,
    },
    {
        "entity": "244660000",
        "time": 1709294410,
        "lon": 4.51,
        "lat": 51.9,
        "speed": None,
        "course": None,
        "heading": None,
    },
    {
        "entity": "ferry",
        "time": 1709294420,
        "lon": 4.52,
        "lat": 51.9,
        "speed": None,
        "course": None,
        "heading": None,
    },
]


def test_csv_with_the_names_of_ais(tmp_path: Path) -> None:
    (tmp_path / "day.csv").write_text(GOOD)
    found = read_positions(tmp_path / "day.csv")
    assert rows(found) == WANTED
    assert found.letters.num_rows == 0
    assert found.table.column("line").to_pylist() == [2, 3, 4]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_separators_windows_line_ends_blank_lines(sign: str, tmp_path: Path) -> None:
    text = "\n" + GOOD.replace(",", sign).replace("\n", "\r\n").replace("ferry", '"ferry"') + "\n\n"
    with gzip.open(tmp_path / "day.csv.gz", "wt", newline="") as out:
        out.write(text)
    found = read_positions(tmp_path / "day.csv.gz")
    assert sorted(rows(found), key=str) == sorted(WANTED, key=str)
    assert sorted(found.table.column("line").to_pylist()) == [3, 4, 5]


def test_tables_say_themselves_what_is_a_number(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "vessel": ["v 1", "12"],
            "t": pd.to_datetime(["2024-03-01T12:00:00", "2024-03-01T12:00:01"]),
            "longitude": [1.0, 2.0],
            "latitude": [3, 4],
            "Speed": [None, 3.5],
        }
    )
    wanted = [("'v 1'", 1709294400, 1.0), ("'12'", 1709294401, 2.0)]
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "day.parquet")
    pyarrow.feather.write_feather(table, tmp_path / "day.arrow")
    paths = [tmp_path / "day.parquet", tmp_path / "day.arrow"]
    for found in (positions_of(frame), positions_of(table), *map(read_positions, paths)):
        assert [(r["entity"], r["time"], r["lon"]) for r in rows(found)] == wanted
        assert [r["speed"] for r in rows(found)] == [None, 3.5]
    assert len(read_positions(paths)) == 4


def test_units_and_names_of_columns() -> None:
    table = pa.table({"who": [7], "when": [60_000], "x": [1.0], "y": [2.0], "v": [10.0]})
    columns = {"entity": "who", "time": "when", "speed": "v"}
    found = positions_of(table, Layout(TimeScale("s", "ms"), "m/s", columns))
    assert rows(found)[0]["time"] == 60
    assert rows(found)[0]["speed"] == pytest.approx(19.438, abs=0.001)


BAD = """vessel,time,lon,lat,speed,course,heading
,1,1,1,,,
v,soon,1,1,,,
v,3,1,,,,
v,4,east,1,,,
v,5,181,91,,,
v,6,1,-90.5,,,
v,7,1,1,-1,,
v,8,1,1,1,400,
v,9,1,1,1,1,-5
v,10,1,1
v,11,1,1,nan,,
v,12,1,inf,,,
"v,13,1,1,,,
v,14,1,1,1,1,360
v,2024-03-01,1,1,,,
"""


def test_every_bad_row_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(BAD)
    found = read_positions(tmp_path / "bad.csv", Layout(TimeScale()))
    letters = sorted(tuple(row.values()) for row in found.letters.to_pylist())
    told = {line: (code, reason) for _, line, _, reason, code in letters}
    assert told == {
        2: ("null", "entity is empty"),
        3: ("bad-time", "time: 'soon' is not a time: a whole number is expected"),
        4: ("null", "lat is empty"),
        5: ("bad-number", "lon is no number: 'east'"),
        6: ("coordinates", "lon 181 is beyond 180"),
        7: ("coordinates", "lat -90.5 is beyond 90"),
        8: ("motion", "speed -1 is below zero"),
        9: ("motion", "course 400 is not between 0 and 360"),
        10: ("motion", "heading -5 is not between 0 and 360"),
        11: ("field-count", "4 fields given, the header has 7"),
        12: ("bad-number", "speed is no number: 'nan'"),
        13: ("bad-number", "lat is no number: 'inf'"),
        14: ("quote", 'a field opens with " and does not close on this line'),
        16: ("unit", "time: ISO time needs --unit: '2024-03-01'; for example --unit s"),
    }
    assert next(line for line in letters if line[1] == 3)[2] == "v,soon,1,1,,,"
    assert {row["time"] for row in rows(found)} == {14}


def test_bad_rows_of_tables() -> None:
    table = pa.table(
        {"id": ["a", None, "c"], "t": [1, 2, 3], "lon": [1.0, 1.0, 200.0], "lat": 3 * [1.0]}
    )
    found = positions_of(table)
    told = [(row["line"], row["code"], row["text"]) for row in found.letters.to_pylist()]
    assert told == [(2, "null", ",2,1.0,1.0"), (3, "coordinates", "c,3,200.0,1.0")]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("a,time,lon,lat\n", "no column tells entity; there are a, time, lon, lat"),
        ("id,when,lon,lat\n", "no column tells time(.|\n)*--column time=NAME"),
        ("1,2,3,4\n", "no column tells entity or time or lon or lat"),
        ("", "the file is empty"),
        ("\n  \n", "the file is empty"),
    ],
)
def test_files_without_a_header(text: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError, match=part):
        read_positions(tmp_path / "x.csv")


def test_what_cannot_be_read_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_positions(tmp_path / "none.csv")
    (tmp_path / "x.parquet").write_text("no")
    with pytest.raises(InputError, match="it cannot be read"):
        read_positions(tmp_path / "x.parquet")
    with pytest.raises(InputError, match="int cannot be read"):
        positions_of(3)
    table = pa.table({"id": [1], "t": [1], "lon": [1.0], "lat": [1.0], "speeed": [1.0]})
    with pytest.raises(InputError, match="did you mean speeed"):
        positions_of(table, Layout(columns={"speed": "speeeds"}))


def test_lines_of_json(tmp_path: Path) -> None:
    rows = [
        '{"mmsi": 244, "time": "2024-05-01T00:00:10", "lon": 4, "lat": 52.5, "sog": null}',
        "",
        '{"mmsi": "MS Ida", "time": 20, "lon": 4.5, "lat": 52, "sog": 7, "seen": [1, 2]}',
        '{"t": 30, "y": 52, "x": 4, "id": "ida"}',
        "no JSON",
        "[1]",
        '{"mmsi": 1, "time": 40, "lon": 4}',
        '{"mmsi": 1, "time": 40, "lon": 4, "lat": null}',
        '{"mmsi": 1, "time": 40, "lon": 4, "lat": 99}',
        '{"mmsi": 1, "time": 123456789012345678901234567890, "lon": 4, "lat": 5}',
        '{"mmsi": {"a": 1}, "time": 40, "lon": 4, "lat": 5}',
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(rows))
    found = read_positions(tmp_path / "x.jsonl")
    told = {(r["entity"], r["time"], r["lon"], r["line"]) for r in found.table.to_pylist()}
    day = 1_714_521_600
    assert told == {("244", day + 10, 4.0, 1), ("'MS Ida'", 20, 4.5, 3), ("ida", 30, 4.0, 4)}
    letters = {x.line: (x.code, x.text) for x in as_letters(found.letters)}
    codes = ["json", "json", "missing-column", "null", "coordinates", "bad-number"]
    assert letters == {
        n: (code, rows[n - 1]) for n, code in zip(range(5, 12), [*codes, "bad-term"], strict=True)
    }


def test_values_of_json_that_cannot_be_what_they_should(tmp_path: Path) -> None:
    place = '"lon": 4, "lat": 52'
    rows = {
        f'{{"id": "a", "time": 1, {place}, "speed": true}}': "bad-number",
        f'{{"id": "a", "time": 2, {place}, "speed": [1]}}': "bad-number",
        f'{{"id": "a", "time": [3], {place}}}': "bad-time",
        f'{{"id": "", "time": 4, {place}}}': "null",
        f'{{"id": "\\ud800", "time": 5, {place}}}': "encoding",
        f'{{"id": 99999999999999999999, "time": 6, {place}}}': "bad-number",
        f'{{"id": "a", "time": 7, {place}, "note": "\\ud800", "n": 99999999999999999999}}': "",
        f'{{"id": 5, "time": 8, {place}, "speed": ""}}': "",
        f'{{"id": 5.5, "time": 8, {place}, "speed": ""}}': "",
    }
    (tmp_path / "x.jsonl").write_text("\n".join(rows))
    found = read_positions(tmp_path / "x.jsonl")
    # A name does not depend on its company: 5 stays 5.
    assert sorted(found.table.column("entity").to_pylist()) == ["5", "5.5", "a"]
    told = {letter.text: letter.code for letter in as_letters(found.letters)}
    assert told == {row: code for row, code in rows.items() if code}


def test_columns_that_cannot_be_what_they_should() -> None:
    fine = {"id": ["a", "b"], "t": [1, 2], "lon": [1.0, 2.0], "lat": [1.0, 2.0]}
    for name, odd, code in (
        ("id", [[1], [2]], "bad-term"),
        ("t", [{"s": 1}, {"s": 2}], "bad-time"),
        ("lat", [True, False], "bad-number"),
        ("lon", [[1.0], [2.0]], "bad-number"),
        ("speed", pa.array([1, 2], pa.timestamp("s")), "bad-number"),
        ("id", ["", "  "], "null"),
    ):
        found = positions_of(pa.table(fine | {name: odd}))
        assert [row["code"] for row in found.letters.to_pylist()] == [code, code]
    texts = positions_of(pa.table(fine | {"speed": ["", "3"]}))
    assert not texts.letters.num_rows
    assert texts.table.column("speed").to_pylist()[1] == 3.0
