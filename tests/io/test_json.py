"""JSON lines, and a JSON array."""

import json
from collections.abc import Callable
from io import StringIO

import pytest

from horai.io import AnswerRow, InputError, Item, Narrative, write_answers

Reader = Callable[..., Narrative]


def read_rows(read_text: Reader, *rows: dict[str, object]) -> list[Item]:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    narrative = read_text(text, name="s.jsonl")
    assert narrative.dead_letters == []
    return sorted(narrative.items(), key=lambda item: item.line)


def test_events_and_fluents(read_text: Reader) -> None:
    items = read_rows(
        read_text,
        {"type": "go_to", "arrival": 10, "time": 9, "args": ["chris", "work"]},
        {"name": "go_to", "time": 9, "args": ["chris", "work"], "op": "retract"},
        {"type": "working", "start": 10, "end": 15, "value": "true", "args": ["chris"]},
        {"type": "working", "start": 10, "value": True, "args": ["chris"]},
        {"type": "level", "time": 10, "value": 2.5, "a0": "x"},
        {"type": "up", "occurrence": 9.0},
    )
    assert [item[:9] for item in items] == [
        (1, "go_to", "event", "points", 10, 9, None, None, ("chris", "work")),
        (-1, "go_to", "event", "points", 9, 9, None, None, ("chris", "work")),
        (1, "working", "fluent", "intervals", 10, 10, 15, "true", ("chris",)),
        (1, "working", "fluent", "intervals", 10, 10, None, "true", ("chris",)),
        (1, "level", "fluent", "points", 10, 10, None, 2.5, ("x",)),
        (1, "up", "event", "points", 9, 9, None, None, ()),
    ]


def test_strings_are_atoms_and_numbers_are_numbers(read_text: Reader) -> None:
    args = ["12", " x ", True, 2**70, -1, 3.0]
    rows = [{"type": "go_to", "time": 1, "args": [arg, 1]} for arg in args]
    found = [item.args[0] for item in read_rows(read_text, *rows)]
    assert [(type(arg), arg) for arg in found] == [
        (str, "12"),
        (str, " x "),
        (str, "true"),
        (int, 2**70),
        (int, -1),
        (float, 3.0),
    ]


def test_answers_are_input_again(read_text: Reader) -> None:
    answers = [
        AnswerRow("event", "go_to", ["chris", "work"], time=9, query=20),
        AnswerRow("fluent", "working", ["chris"], "true", 14, 20),
        AnswerRow("fluent", "working", ["chris"], "true", 24, None, query=20, op="-"),
    ]
    written = StringIO()
    write_answers(answers, written)
    items = sorted(
        read_text(written.getvalue(), name="s.jsonl").items(), key=lambda item: item.line
    )
    assert [(i.op, i.name, i.start, i.end, i.value) for i in items] == [
        (1, "go_to", 9, None, None),
        (1, "working", 14, 20, "true"),
        (-1, "working", 24, None, "true"),
    ]


def test_blank_lines_crlf_and_a_byte_order_mark(read_text: Reader) -> None:
    text = '\ufeff\r\n{"type":"up","time":1}\r\n  \r\n{"type":"up","time":2}'
    narrative = read_text(text, name="s.ndjson")
    assert [(item.line, item.start) for item in narrative.items()] == [(2, 1), (4, 2)]


def test_one_type_for_all_rows(read_text: Reader) -> None:
    narrative = read_text('{"time":1}\n{"type":"level","time":1}\n', name="s.jsonl", type_name="up")
    assert len(narrative) == 1
    assert [letter.code for letter in narrative.dead_letters] == ["arity"]


def test_an_array_of_objects(read_text: Reader) -> None:
    text = '\n [{"type":"up","time":1},\n {"type":"up","time":"x"}, 7]\n'
    narrative = read_text(text, name="s.json")
    assert [(item.line, item.start) for item in narrative.items()] == [(1, 1)]
    assert [(x.line, x.code, x.text) for x in narrative.dead_letters] == [
        (2, "bad-time", '{"type": "up", "time": "x"}'),
        (3, "json", "7"),
    ]
    with pytest.raises(InputError, match="not JSON"):
        read_text('[{"type":"up","time":1},', name="s.json")


def test_an_event_and_a_fluent_of_one_name(read_text: Reader) -> None:
    from horai.io import InputSchema, InputType

    schema = InputSchema.of([InputType("a", "event", 1), InputType("a", "fluent", 1)])
    rows = [
        {"type": "a", "time": 1, "args": ["x"]},
        {"type": "a", "time": 1, "args": ["x"], "value": "v"},
        {"type": "a", "kind": "fluent", "start": 1, "args": ["x"], "value": "v"},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    narrative = read_text(text, name="s.jsonl", schema=schema)
    assert [(i.line, i.kind, i.form) for i in narrative.items()] == [
        (1, "event", "points"),
        (3, "fluent", "intervals"),
        (2, "fluent", "points"),
    ]
