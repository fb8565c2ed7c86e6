"""Every way a row can be bad, what is said about it, and what strict reading does."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from horai.io import CODES, DeadLetter, InputError, Narrative, write_dead_letters
from horai.io.letters import AHEAD, OF_ENGINES, UNREADABLE

Reader = Callable[..., Narrative]

NARRATIVE = [
    ("go_to|9|9|chris", "field-count", "4 fields given, expected go_to|Arrival|Time|Arg1|Arg2"),
    ("go_to|9|9|chris|work|x", "field-count", "(5 fields)"),
    ("working|9|9|true", "field-count", "working|Arrival|Start|End|Value|Arg1 (6 fields) or"),
    ("up", "field-count", "1 field given"),
    ("hello world", "field-count", "no '|' in this row"),
    ("level|9|9|12|5|x", "field-count", "expected level|Arrival|Time|Value|Arg1 (5 fields)"),
    ("up|nine|9", "bad-time", "arrival: 'nine' is not a time"),
    ("up|9|", "bad-time", "time: '' is not a time"),
    ("up|9|9.5", "bad-time", "a whole number is expected"),
    ("up|9|inf", "bad-time", "time: 'inf' is not a time"),
    ("up|9|9223372036854775808", "bad-time", "times lie between -2**61 and 2**61"),
    ("up|9|2305843009213693952", "bad-time", "times lie between -2**61 and 2**61"),
    ("up|9|-9223372036854775808", "bad-time", "times lie between -2**61 and 2**61"),
    ("up|9223372036854775806|9", "bad-time", "times lie between -2**61 and 2**61"),
    ("near|9|1|x|true|a|b", "bad-time", "end: 'x' is not a time"),
    ("near|9|1||true|a|b", "bad-time", "end: '' is not a time"),
    ("up|9|2024-03-01T12:00:00Z", "unit", "ISO time needs --unit"),
    ("near|9|9|5|true|a|b", "end-before-start", "the interval [9, 5) is empty"),
    ("near|9|9|9|true|a|b", "end-before-start", "its end must be after its start"),
    ("gotoo|9|9|chris|work", "unknown-type", "did you mean go_to?"),
    ("zzz|9|9", "unknown-type", "the rules read go_to, level"),
    ("-zzz|9|9", "unknown-type", "unknown type 'zzz'"),
    ("- up|9|9", "unknown-type", "did you mean up?"),
    ("rich|9|9|chris", "derived-type", "rich is derived by the rules, not an input"),
    ('go_to|9|9|"chris|work', "quote", "does not close on this line"),
    ('go_to|9|9|"chris"x|work', "quote", "text after the closing"),
]


@pytest.mark.parametrize(("row", "code", "reason"), NARRATIVE)
def test_bad_narrative_row(read_text: Reader, row: str, code: str, reason: str) -> None:
    narrative = read_text(f"up|1|1\n{row}\nup|2|2\n")
    assert len(narrative) == 2
    (letter,) = narrative.dead_letters
    assert (letter.line, letter.text, letter.code) == (2, row, code)
    assert reason in letter.reason
    assert letter.file.endswith("stream.txt")


JSON = [
    ("nope", "json", "not JSON"),
    ("[1]", "json", "a row is an object"),
    ("[" * 100_000, "json", "not JSON"),
    ('{"type":"up"}', "missing-column", "there is no 'time'"),
    ('{"time":3}', "missing-column", "there is no 'type'"),
    ('{"type":"up","time":null}', "null", "the time is empty"),
    ('{"type":null,"time":3}', "null", "the type of the row is empty"),
    ('{"type":7,"time":3}', "unknown-type", "is not a name"),
    ('{"type":"upp","time":3}', "unknown-type", "did you mean up?"),
    ('{"type":"rich","time":3,"args":["x"]}', "derived-type", "derived by the rules"),
    ('{"type":"up","time":true}', "bad-time", "True is not a time"),
    ('{"type":"up","time":3,"arrival":"x"}', "bad-time", "arrival: 'x' is not a time"),
    ('{"type":"up","time":"1970-01-01"}', "unit", "needs --unit"),
    ('{"type":"go_to","time":3,"args":["x"]}', "arity", "go_to takes 2 arguments, 1 given"),
    ('{"type":"go_to","time":3,"who":"x"}', "arity", 'give who as a list: "args":[...]'),
    ('{"type":"go_to","time":3,"args":["x",null]}', "null", "argument 2 of go_to is empty"),
    ('{"type":"go_to","time":3,"args":["x",[1]]}', "bad-term", "[1] is neither text"),
    ('{"type":"go_to","time":3,"args":"x"}', "bad-term", "args is a list"),
    ('{"type":"go_to","time":3,"args":["x",1e999]}', "bad-number", "inf is not a number"),
    ('{"type":"go_to","time":3,"args":["x",NaN]}', "bad-number", "nan is not a number"),
    ('{"type":"go_to","time":3,"args":["x","\\ud800"]}', "encoding", "half a character"),
    ('{"type":"up","time":3,"op":"maybe"}', "op", "insert or retract, not 'maybe'"),
    ('{"type":"up","time":3,"value":"true"}', "value", "up is an event and has no value"),
    ('{"type":"up","start":3,"end":4}', "form", "up is an event"),
    ('{"type":"up","kind":"fluent","time":3}', "form", "do not read up as 'fluent'"),
    ('{"type":"working","time":3,"args":["x"]}', "missing-column", "value of the fluent working"),
    ('{"type":"working","time":3,"value":null,"args":["x"]}', "null", "working is empty"),
    ('{"type":"level","start":3,"value":1,"args":["x"]}', "form", "level arrives as points"),
    ('{"type":"near","time":3,"value":1,"args":["x","y"]}', "form", "near arrives as intervals"),
    ('{"type":"working","time":3,"start":3,"value":1,"args":["x"]}', "form", "not both"),
    (
        '{"type":"working","start":3,"end":3,"value":1,"args":["x"]}',
        "end-before-start",
        "[3, 3) is empty",
    ),
]


@pytest.mark.parametrize(("row", "code", "reason"), JSON, ids=lambda text: text[:60])
def test_bad_json_row(read_text: Reader, row: str, code: str, reason: str) -> None:
    good = '{"type":"up","time":3}'
    narrative = read_text(f"{good}\n{row}\n{good}\n", name="s.jsonl")
    assert len(narrative) == 2
    (letter,) = narrative.dead_letters
    assert (letter.line, letter.text, letter.code) == (2, row, code)
    assert reason in letter.reason


CSV = [
    ("up,3,,,x,y,z,w", "field-count", "8 fields given, the header has 7"),
    ("go_to,3,,,,x", "arity", "go_to takes 2 arguments, 1 given"),
    ("go_to,3,,,,,y", "null", "argument 1 of go_to is empty"),
    (",3", "null", "the type of the row is empty"),
    ("up", "null", "the time is empty"),
    ("working,3,,,,x", "null", "the value of the fluent working is empty"),
    ("up,x", "bad-time", "'x' is not a time"),
    ("up,3,4", "form", "not both"),
    ("up,,3,4", "form", "up is an event"),
    ("near,3,,,1,x,y", "form", "near arrives as intervals"),
    ("level,,3,,1,x", "form", "level arrives as points"),
    ("working,,9,5,true,x", "end-before-start", "[9, 5) is empty"),
    ('go_to,3,,,,"x,y', "quote", "does not close"),
]


@pytest.mark.parametrize(("row", "code", "reason"), CSV)
def test_bad_csv_row(read_text: Reader, row: str, code: str, reason: str) -> None:
    header = "type,time,start,end,value,a0,a1"
    narrative = read_text(f"{header}\nup,1\n{row}\nup,2,,,,,\n", name="s.csv")
    assert len(narrative) == 2
    (letter,) = narrative.dead_letters
    assert (letter.line, letter.text, letter.code) == (3, row, code)
    assert reason in letter.reason


@pytest.mark.parametrize("name", ["s.txt", "s.csv", "s.jsonl"])
def test_bytes_that_are_not_utf8(read_text: Reader, name: str) -> None:
    rows = {
        "s.txt": b"up|1|1\ngo_to|1|1|\xff|\xc3\xa9\nup|2|2\n",
        "s.csv": b"type,time,a0,a1\ngo_to,1,\xff,\xc3\xa9\ngo_to,1,x,\xc3\xa9\n",
        "s.jsonl": b'{"type":"up","time":1}\n{"type":"\xff"}\n',
    }
    (letter,) = read_text(rows[name], name=name).dead_letters
    assert (letter.line, letter.code) == (2, "encoding")
    assert "is not UTF-8" in letter.reason
    assert "\\xff" in letter.text


def test_letters_come_in_the_order_of_the_file(read_text: Reader) -> None:
    narrative = read_text("zzz|1|1\nup|x|x\nup|1|1\nrich|1|1\nup|1\n")
    assert [letter.line for letter in narrative.dead_letters] == [1, 2, 4, 5]
    counts = narrative.counts()
    assert (counts.items, counts.dead_letters) == (1, 4)
    assert counts.by_code == {
        "unknown-type": 1,
        "bad-time": 1,
        "derived-type": 1,
        "field-count": 1,
    }


def test_strict_reading_stops_at_the_first_bad_row(read_text: Reader) -> None:
    with pytest.raises(InputError) as caught:
        read_text("up|1|1\nup|x|1\nzzz|1|1\n", strict=True)
    error = caught.value
    assert (error.line, error.text) == (2, "up|x|1")
    message = str(error)
    assert "stream.txt:2: arrival: 'x' is not a time" in message
    assert "row:  up|x|1" in message
    assert "hint: correct the row" in message


def test_strict_reading_of_good_rows(read_text: Reader) -> None:
    assert len(read_text("up|1|1\n", strict=True)) == 1


def test_every_code_of_a_reader_is_tested() -> None:
    tested = {code for _, code, _ in [*NARRATIVE, *JSON, *CSV]} | {"encoding"}
    assert tested == CODES.keys() - OF_ENGINES - {UNREADABLE, AHEAD, "too-long"}


LETTERS = [
    DeadLetter("a.txt", 3, 'go_to|"é', "no end", "quote"),
    DeadLetter("a.txt", 9, "x\ny", "late", "too-late"),
]


def test_dead_letters_as_json_lines(tmp_path: Path) -> None:
    write_dead_letters(tmp_path / "dead.jsonl", LETTERS)
    text = (tmp_path / "dead.jsonl").read_text(encoding="utf-8")
    assert [DeadLetter(**json.loads(line)) for line in text.splitlines()] == LETTERS


def test_dead_letters_as_csv(tmp_path: Path) -> None:
    write_dead_letters(tmp_path / "dead.csv", LETTERS)
    with (tmp_path / "dead.csv").open(encoding="utf-8", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [row["code"] for row in rows] == ["quote", "too-late"]
    assert rows[1] == {
        "file": "a.txt",
        "line": "9",
        "text": "x\ny",
        "reason": "late",
        "code": "too-late",
    }


def test_letters_in_csv_steer_no_terminal(tmp_path: Path) -> None:
    letters = [DeadLetter("a\x1bb.csv", 1, "x|\x1b[2J|\x9b", "no \x07 time", "bad-time")]
    for name in ("dead.csv", "dead.jsonl"):
        write_dead_letters(tmp_path / name, letters)
        written = (tmp_path / name).read_text(encoding="utf-8")
        assert "2J" in written and not re.search("[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]", written)
    (row,) = (tmp_path / "dead.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["text"] == letters[0].text
