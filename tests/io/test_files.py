"""Which file is read how, and files that cannot be read."""

import bz2
import gzip
import io
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from horai.io import InputError, InputSchema, Item, Narrative, read, read_object
from horai.io.items.text import chunks

Reader = Callable[..., Narrative]
ROW = b"go_to|9|9|chris|work\n"


@pytest.mark.parametrize("name", ["s.txt", "s.narrative", "s.psv", "s.csv", "S.CSV", "a.b.txt"])
def test_narratives_by_name(read_text: Reader, name: str) -> None:
    assert len(read_text(ROW, name=name)) == 1


@pytest.mark.parametrize("name", ["s.csv", "s.tsv", "s.txt"])
def test_a_header_makes_csv(read_text: Reader, name: str) -> None:
    narrative = read_text("time,type\n3,up\n", name=name)
    assert [item.start for item in narrative.items()] == [3]


def test_a_header_in_the_order_of_a_narrative_leaves_it_a_narrative(read_text: Reader) -> None:
    text = "type|arrival|time|a0\nup|3|3\nworking|5|1|5|true|x\n"
    narrative = read_text(text, name="s.csv")
    assert narrative.dead_letters == []
    assert len(narrative) == 2


def test_the_caller_may_name_the_format(read_text: Reader) -> None:
    assert len(read_text(ROW, name="rows.log", format="narrative")) == 1
    assert len(read_text("type,time\nup,3\n", name="rows.log", format="csv")) == 1
    assert len(read_text('{"type":"up","time":3}', name="rows.csv", format="jsonl")) == 1
    # The caller knows better: without this, the first line would be a header of CSV.
    assert len(read_text("type|time|t\n" + ROW.decode(), format="narrative")) == 1


def test_an_unknown_format_is_refused(schema: InputSchema) -> None:
    wrong: Any = "xml"
    with pytest.raises(ValueError, match="unknown format 'xml': use one of narrative, csv"):
        read("x.csv", schema, format=wrong)


def packed_by_arrow(codec: str) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as out:
            out.write(data)
        packed: bytes = sink.getvalue().to_pybytes()
        return packed

    return pack


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [
        ("gz", gzip.compress),
        ("bz2", bz2.compress),
        ("zst", packed_by_arrow("zstd")),
        ("lz4", packed_by_arrow("lz4")),
    ],
)
def test_compressed_files(read_text: Reader, suffix: str, pack: Callable[[bytes], bytes]) -> None:
    assert len(read_text(pack(ROW) + pack(ROW), name=f"s.csv.{suffix}")) == 2
    json = pack(b'{"type":"up","time":3}\n')
    assert len(read_text(json, name=f"s.jsonl.{suffix}")) == 1


@pytest.mark.parametrize("name", ["s.csv", "s.txt", "s.jsonl"])
@pytest.mark.parametrize("text", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf"])
def test_empty_files(read_text: Reader, name: str, text: bytes) -> None:
    narrative = read_text(text, name=name)
    assert (len(narrative), narrative.dead_letters) == (0, [])


def test_many_files_keep_their_order(schema: InputSchema, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_bytes(b"up|2|2\nup|x|x\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"type":"up","time":1}\n{}\n')
    narrative = read([tmp_path / "b.txt", str(tmp_path / "a.jsonl")], schema)
    assert [(Path(i.file).name, i.line, i.start) for i in narrative.items()] == [
        ("b.txt", 1, 2),
        ("a.jsonl", 1, 1),
    ]
    assert [Path(x.file).name for x in narrative.dead_letters] == ["b.txt", "a.jsonl"]
    assert len(read([], schema)) == 0


def test_the_same_file_twice(schema: InputSchema, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"up|2|2\nup|1|1\n")
    narrative = read([tmp_path / "a.txt"] * 2, schema)
    assert [item.line for item in narrative.items()] == [1, 2, 1, 2]


def test_standard_input(schema: InputSchema, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROW + b"up|x|3\n")))
    narrative = read("-", schema)
    assert [item.file for item in narrative.items()] == ["<stdin>"]
    assert [letter.file for letter in narrative.dead_letters] == ["<stdin>"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"type,time\nup,3\n")))
    assert len(read("-", schema, format="csv")) == 1


def test_a_named_pipe(schema: InputSchema, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(ROW * 3,))
    writer.start()
    assert len(read(pipe, schema)) == 3
    writer.join()


@pytest.mark.parametrize(
    ("name", "content", "reason", "hint"),
    [
        ("missing.csv", None, "there is no such file", "check the spelling"),
        ("rows.xyz", b"", "does not tell its format", "narrative, csv, jsonl, parquet, arrow"),
        ("rows", b"", "does not tell its format", ".parquet"),
        ("rows.csv", b"a,b\n1,2\n", "no header names the columns", "type,time,a0,a1"),
        ("rows.parquet", b"not parquet", "it cannot be read", "is the file complete"),
        ("rows.arrow", b"not arrow", "it cannot be read", "is the file complete"),
        ("rows.csv.gz", b"not gzip", "it cannot be read", "is the file complete"),
        ("rows.csv", "type,time\n".encode("utf-16"), "the text is UTF-16", "save it as UTF-8"),
    ],
)
def test_files_that_cannot_be_read(
    schema: InputSchema, tmp_path: Path, name: str, content: bytes | None, reason: str, hint: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path, schema)
    error = caught.value
    assert (error.file, error.line) == (str(path), None)
    assert reason in error.reason
    assert hint in error.hint
    assert str(error).startswith(f"{path}: ")


def test_a_directory_is_no_file(schema: InputSchema, tmp_path: Path) -> None:
    folder = tmp_path / "data.csv"
    folder.mkdir()
    with pytest.raises(InputError, match="this is a directory") as caught:
        read(folder, schema)
    assert "*.csv" in caught.value.hint


def test_rows_in_memory(schema: InputSchema) -> None:
    lines = ["go_to|9|9|chris|work\n", "up|3|3", "", "up|x|3"]
    narrative = read_object(lines, schema, name="lines")
    assert [(i.name, i.line, i.file) for i in narrative.items()] == [
        ("go_to", 1, "lines"),
        ("up", 2, "lines"),
    ]
    assert [letter.line for letter in narrative.dead_letters] == [4]
    assert len(read_object("\n".join(lines), schema)) == 2
    assert len(read_object(ROW, schema)) == 1
    assert len(read_object((line for line in lines), schema)) == 2
    assert len(read_object([], schema)) == 0


def test_dicts_in_memory(schema: InputSchema) -> None:
    rows = [
        {"type": "go_to", "time": 9, "args": ("chris", "work")},
        {"type": "go_to", "time": 9, "args": ["chris"], "where": {1, 2}},
        {"type": "working", "start": 1, "end": float("inf"), "value": True, "args": ["x"]},
    ]
    narrative = read_object(rows, schema)
    assert [(i.name, i.line, i.end) for i in narrative.items()] == [
        ("go_to", 1, None),
        ("working", 3, None),
    ]
    assert [letter.code for letter in narrative.dead_letters] == ["arity"]
    with pytest.raises(InputError, match="<memory>:2: go_to takes 2 arguments"):
        read_object(rows, schema, strict=True)


def test_items_in_memory(schema: InputSchema) -> None:
    items = [Item(1, "up", "event", "points", 3, 3, None, None, ())]
    assert list(read_object(items, schema).items()) == items


def test_half_a_character_in_a_line(schema: InputSchema) -> None:
    (letter,) = read_object(["go_to|1|1|\ud800|x"], schema).dead_letters
    assert letter.code == "encoding"


@pytest.mark.parametrize("source", [7, None, {"type": "up", "time": 3}])
def test_objects_that_cannot_be_read(schema: InputSchema, source: object) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_object(source, schema)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n\n", b"ab\ncdefghij\n\nk", b"a\r\nb\r\n"])
def test_chunks_hold_whole_lines(text: bytes, size: int) -> None:
    pieces = list(chunks(io.BytesIO(text), "f", size))
    assert all(piece.data.endswith(b"\n") for piece in pieces)
    whole = b"".join(piece.data for piece in pieces)
    assert whole == (text if text.endswith(b"\n") or not text else text + b"\n")
    line = 1
    for piece in pieces:
        assert piece.first_line == line
        line += piece.data.count(b"\n")
