"""Items written in every format are read as the same items."""

import csv
import io
import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.io import InputSchema, InputType, Item, Term, read, to_source
from horai.io.terms import read_field, text_cell
from horai.io.times import MAX_TIME, MIN_TIME

TYPES = [
    InputType("up", "event", 0),
    InputType("go", "event", 2),
    InputType("go", "event", 3),
    InputType("level", "fluent", 1, "points"),
    InputType("near", "fluent", 2, "intervals"),
    InputType("busy", "fluent", 1),
]
SCHEMA = InputSchema.of(TYPES)
times = st.integers(MIN_TIME, MAX_TIME) | st.integers(-20, 20)
plain_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
terms = st.one_of(
    st.sampled_from(["x", "y", "New York", "-", "", "a|b", 'say "hi"', '"', "a,b", "Xavier"]),
    plain_text,
    st.integers(-(2**70), 2**70),
    st.floats(-1e6, 1e6).filter(lambda x: "e" not in repr(x)),
)


@st.composite
def items(draw: st.DrawFn) -> Item:
    type_ = draw(st.sampled_from(TYPES))
    start = draw(times)
    args = tuple(draw(terms) for _ in range(type_.arity))
    op = draw(st.sampled_from([1, -1]))
    if type_.kind == "event":
        return Item(op, type_.name, "event", "points", draw(times), start, None, None, args)
    value = draw(terms)
    if type_.form == "points" or (type_.form == "any" and draw(st.booleans())):
        return Item(op, type_.name, "fluent", "points", draw(times), start, None, value, args)
    start = min(start, MAX_TIME - 1)
    end = draw(st.none() | st.integers(start + 1, MAX_TIME))
    return Item(op, type_.name, "fluent", "intervals", draw(times), start, end, value, args)


def is_written_as_text(term: Term | None) -> bool:
    """False for an atom that fields say otherwise: it looks like a number, or has a guard."""
    return not isinstance(term, str) or read_field(term) == term


text_items = items().filter(lambda i: all(map(is_written_as_text, (*i.args, i.value))))


def field(term: Term, special: str = "|") -> str:
    """A term as a field, in quotes when it has to be."""
    if not isinstance(term, str):
        return repr(term)
    plain = term.strip(" \t") == term and not any(c in term for c in (special, '"'))
    return term if plain and term else '"' + term.replace('"', '""') + '"'


def as_narrative(rows: list[Item], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        for item in rows:
            when = [str(item.start)]
            if item.form == "intervals":
                when.append("inf" if item.end is None else str(item.end))
            value = [] if item.value is None else [field(item.value)]
            type_ = ("-" if item.op < 0 else "") + item.name
            row = [type_, str(item.arrival), *when, *value, *map(field, item.args)]
            out.write("|".join(row) + "\n")


def as_csv(rows: list[Item], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as out:
        out.write("op,type,arrival,time,start,end,value,a0,a1,a2\r\n")
        for item in rows:
            parts = named_parts(item)
            cells = [parts.get(name) for name in ("op", "type", "arrival", "time", "start", "end")]
            given = [field(t, ",") for t in ([] if item.value is None else [item.value])] or [""]
            args = [field(arg, ",") for arg in item.args]
            texts = ["" if cell is None else str(cell) for cell in cells]
            out.write(",".join([*texts, *given, *args, *[""] * (3 - len(args))]) + "\r\n")


def named_parts(item: Item) -> dict[str, object]:
    parts: dict[str, object] = {"type": item.name, "arrival": item.arrival, "value": item.value}
    if item.op < 0:
        parts["op"] = "retract"
    if item.form == "intervals":
        return parts | {"start": item.start, "end": item.end}
    return parts | {"time": item.start}


def as_json_lines(rows: list[Item], path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        for item in rows:
            parts = named_parts(item) | {"args": item.args}
            if item.value is None:
                del parts["value"]
            out.write(json.dumps(parts) + "\n")


def as_table(rows: list[Item]) -> pa.Table:
    """Columns typed where all terms of a column are of one type, source text where not."""
    parts = [named_parts(item) for item in rows]
    columns: dict[str, pa.Array] = {"type": pa.array([p["type"] for p in parts], pa.string())}
    columns["op"] = pa.array([p.get("op") for p in parts], pa.string())
    for name in ("arrival", "time", "start", "end"):
        columns[name] = pa.array([p.get(name) for p in parts], pa.int64())
    fields = [pa.field(name, array.type) for name, array in columns.items()]
    given = {"value": [item.value for item in rows]}
    for i in range(3):
        given[f"a{i}"] = [
            i_args[i] if i < len(i_args) else None for i_args in (r.args for r in rows)
        ]
    for name, terms_ in given.items():
        kinds = {type(term) for term in terms_ if term is not None}
        if kinds <= {str} or kinds <= {float}:
            columns[name] = pa.array(terms_, pa.float64() if kinds == {float} else pa.string())
            fields.append(pa.field(name, columns[name].type))
        else:
            texts = [None if term is None else to_source(term) for term in terms_]
            columns[name] = pa.array(texts, pa.string())
            fields.append(pa.field(name, pa.string(), metadata={b"horai.type": b"term"}))
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))


def as_parquet(rows: list[Item], path: Path) -> None:
    pq.write_table(as_table(rows), path)


def as_feather(rows: list[Item], path: Path) -> None:
    pyarrow.feather.write_feather(as_table(rows), str(path))


def exact(item: Item) -> tuple[object, ...]:
    """What must be the same; 3 and 3.0, or 0.0 and -0.0, are different terms."""
    return (*item[:7], *(f"{type(term).__name__} {term!r}" for term in (item.value, *item.args)))


def check(rows: list[Item], write: Callable[[list[Item], Path], None], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(rows, path)
        narrative = read(path, SCHEMA)
    assert narrative.dead_letters == []
    found = sorted(narrative.items(), key=lambda item: item.line)
    assert [exact(item) for item in found] == [exact(item) for item in rows]


@given(st.lists(text_items, max_size=12))
def test_narrative(rows: list[Item]) -> None:
    check(rows, as_narrative, "s.txt")


@examples("normal")
@given(st.lists(text_items, max_size=12))
def test_csv(rows: list[Item]) -> None:
    check(rows, as_csv, "s.csv")


@given(st.lists(items(), max_size=12))
def test_json_lines(rows: list[Item]) -> None:
    check(rows, as_json_lines, "s.jsonl")


@given(st.lists(items(), max_size=12))
def test_parquet(rows: list[Item]) -> None:
    check(rows, as_parquet, "s.parquet")


@examples("normal")
@given(st.lists(items(), max_size=12))
def test_arrow(rows: list[Item]) -> None:
    check(rows, as_feather, "s.feather")


@pytest.mark.parametrize("number", [0.1, 1 / 3, math.pi, -0.0, 123456.789])
def test_decimals_are_read_exactly(number: float) -> None:
    item = Item(1, "go", "event", "points", 1, 1, None, None, (number, number))
    check([item], as_narrative, "s.txt")


@given(st.lists(st.text('ab",| ', max_size=5), min_size=2, max_size=2))
def test_csv_as_pythons_own_writer_writes_it(args: list[str]) -> None:
    def write(rows: list[Item], path: Path) -> None:
        out = io.StringIO()
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow(["type", "time", "a0", "a1"])
        writer.writerows([item.name, item.start, *item.args] for item in rows)
        path.write_text(out.getvalue(), encoding="utf-8", newline="")

    item = Item(1, "go", "event", "points", 5, 5, None, None, (args[0], args[1]))
    check([item], write, "s.csv")


FORMULAS = st.text("=+-@'\t\ra1", max_size=5)


@given(FORMULAS)
def test_texts_in_cells_are_no_formulas_and_read_as_they_were(text: str) -> None:
    cell = text_cell(text)
    assert not cell or cell[0] not in "=+-@\t\r"
    if cell != text or isinstance(read_field(text), str):
        assert read_field(cell) == text


@given(st.lists(FORMULAS.filter(lambda t: t.strip(" \t\r\n") == t and t), min_size=1))
def test_guarded_cells_are_read_whole_columns_at_once(texts: list[str]) -> None:
    """Atoms that look like numbers need a guard, and numbers have none."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["type", "time", "value", "a0"])
    writer.writerows(["level", 1, text_cell(text), text_cell(text)] for text in texts)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.csv"
        path.write_text(out.getvalue(), newline="")
        found = [(item.value, item.args) for item in read(path, SCHEMA).items()]
    expected = [read_field(text_cell(text)) for text in texts]
    assert sorted(map(repr, found)) == sorted(repr((term, (term,))) for term in expected)
