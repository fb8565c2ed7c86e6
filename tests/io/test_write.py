"""Answers as JSON lines, CSV, Parquet and text."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from horai.io import AnswerRow, DeadLetter, InputError, TermText, write_answers, write_dead_letters
from horai.io.shown import printable

ROWS = [
    AnswerRow("fluent", "rich", ["chris"], "true", 14, 20),
    AnswerRow("fluent", "location", ["chris"], "New York", 9, None),
    AnswerRow("event", "g", ["x", 3, 3.5, TermText("f(a,B)")], time=9),
    AnswerRow("event", "up", [], time=-1),
]


def written(rows: Any, **options: Any) -> str:
    out = io.StringIO()
    write_answers(rows, out, **options)
    return out.getvalue()


def test_json_lines() -> None:
    assert written(ROWS).splitlines() == [
        '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":20}',
        '{"kind":"fluent","name":"location","args":["chris"],"value":"New York",'
        '"start":9,"end":null}',
        '{"kind":"event","name":"g","args":["x",3,3.5,"f(a,B)"],"time":9}',
        '{"kind":"event","name":"up","args":[],"time":-1}',
    ]


def test_query_and_op_come_last() -> None:
    assert written([ROWS[0]._replace(query=20, op="+"), ROWS[3]._replace(query=20)]) == (
        '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":20,'
        '"query":20,"op":"+"}\n'
        '{"kind":"event","name":"up","args":[],"time":-1,"query":20}\n'
    )


def test_rows_may_be_dicts() -> None:
    row = {"kind": "event", "name": "g", "args": ["é"], "time": 9}
    assert written([row]) == '{"kind":"event","name":"g","args":["é"],"time":9}\n'


def test_iso_times_beside_the_points() -> None:
    assert json.loads(written(ROWS[:1], times="iso", unit="min")) == {
        "kind": "fluent",
        "name": "rich",
        "args": ["chris"],
        "value": "true",
        "start": 14,
        "end": 20,
        "start_iso": "1970-01-01T00:14:00Z",
        "end_iso": "1970-01-01T00:20:00Z",
    }
    open_row = json.loads(written(ROWS[1:2], times="iso", unit="d"))
    assert (open_row["start_iso"], open_row["end_iso"]) == ("1970-01-10", None)
    with pytest.raises(ValueError, match="needs unit"):
        written(ROWS, times="iso")


def test_csv() -> None:
    text = written(ROWS, format="csv")
    assert text.splitlines()[:2] == [
        "kind,name,args,value,start,end,time",
        'fluent,rich,"[""chris""]",true,14,20,',
    ]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["end"] for row in rows] == ["20", "inf", "", ""]
    assert json.loads(rows[2]["args"]) == ["x", 3, 3.5, "f(a,B)"]
    assert written([], format="csv") == "kind,name,args,value,start,end,time\n"


def test_csv_with_more_columns() -> None:
    rows = [ROWS[0]._replace(query=20), ROWS[3]._replace(query=30, op="-")]
    lines = written(rows, format="csv", times="iso", unit="s").splitlines()
    assert (
        lines[0]
        == "kind,name,args,value,start,end,time,start_iso,end_iso,time_iso,query,query_iso,op"
    )
    assert lines[2] == "event,up,[],,,,-1,,,1969-12-31T23:59:59Z,30,1970-01-01T00:00:30Z,-"


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    write_answers([ROWS[1]._replace(query=20), ROWS[2]], path)
    table = pq.read_table(path)
    assert table.to_pylist() == [
        {
            "kind": "fluent",
            "name": "location",
            "args": ["chris"],
            "value": "'New York'",
            "start": 9,
            "end": None,
            "time": None,
            "query": 20,
        },
        {
            "kind": "event",
            "name": "g",
            "args": ["x", "3", "3.5", "f(a,B)"],
            "value": None,
            "start": None,
            "end": None,
            "time": 9,
            "query": None,
        },
    ]
    assert table.schema.field("args").metadata[b"horai.type"] == b"term"


def test_text_is_aligned() -> None:
    assert written(ROWS, format="text") == (
        "rich(chris)=true            (14,20)\n"
        "location(chris)='New York'  (9,inf)\n"
        "g(x,3,3.5,f(a,B))           at 9\n"
        "up                          at -1\n"
    )
    assert written([], format="text") == ""


def test_text_with_query_times_and_changes() -> None:
    rows = [ROWS[0]._replace(query=20, op="+"), ROWS[3]._replace(query=9, op="-")]
    assert written(rows, format="text", times="iso", unit="h").splitlines() == [
        "1970-01-01T20:00:00Z:  +  rich(chris)=true  (1970-01-01T14:00:00Z,1970-01-01T20:00:00Z)",
        "1970-01-01T09:00:00Z:  -  up                at 1969-12-31T23:00:00Z",
    ]


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json", "a.csv", "a.txt", "a.pq"])
def test_the_file_name_tells_the_format(tmp_path: Path, name: str) -> None:
    write_answers(ROWS, tmp_path / name)
    start = (tmp_path / name).read_bytes()[:4]
    expected = {"csv": b"kind", "txt": b"rich", "pq": b"PAR1"}
    assert start == expected.get(name.split(".")[1], b'{"ki')


def test_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    write_answers(ROWS[3:], "-")
    assert capsys.readouterr().out == '{"kind":"event","name":"up","args":[],"time":-1}\n'


def test_formats_nobody_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not tell its format"):
        write_answers(ROWS, tmp_path / "answers.xyz")
    with pytest.raises(ValueError, match="use one of jsonl, csv, parquet, text"):
        written(ROWS, format="xml")


@pytest.mark.parametrize("value", ["=cmd()", "+1", "-x", "@a", "\tx", "\rx", "'=x"])
def test_csv_has_no_formulas(value: str, tmp_path: Path) -> None:
    text = written([ROWS[0]._replace(value=value)], format="csv")
    [row] = csv.DictReader(io.StringIO(text, newline=""))
    assert row["value"] == f"'{value}"
    letter = DeadLetter(value, 3, value, value, "json")
    write_dead_letters(tmp_path / "d.csv", [letter])
    with (tmp_path / "d.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert [row[name] for name in ("file", "text", "reason")] == [printable(f"'{value}")] * 3


def test_numbers_in_csv_stay_numbers() -> None:
    text = written([ROWS[0]._replace(value=-5, start=-14)], format="csv")
    assert ",-5,-14," in text
