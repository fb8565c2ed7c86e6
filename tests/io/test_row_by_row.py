"""The fast reader against a parser of a few lines that reads one row at a time.

The parser here is written from the description of narratives and shares no code with the reader.
"""

import io
import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horai.io import InputSchema, InputType, Narrative, TimeScale, read_object
from horai.io.items.csv import read_csv
from horai.io.items.json import read_json_lines
from horai.io.items.narratives import read_narrative
from horai.io.items.rows import RowReader
from horai.io.items.tables import Harvest
from horai.io.letters import InputError

# Name, then per kind of row its number of arguments.
EVENTS = {"up": [0], "go": [1, 2]}
POINTS = {"level": [1], "busy": [1]}
INTERVALS = {"near": [2], "busy": [1]}
SCHEMA = InputSchema.of(
    [
        InputType("up", "event", 0),
        InputType("go", "event", 1),
        InputType("go", "event", 2),
        InputType("level", "fluent", 1, "points"),
        InputType("near", "fluent", 2, "intervals"),
        InputType("busy", "fluent", 1),
    ],
    derived=["rich"],
)

Outcome = tuple[object, ...]


def plain_parse(raw: bytes) -> Outcome | None:
    """The item, or the code of what is wrong, or None for a blank line."""
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError:
        return ("encoding",)
    if line.strip(" \t") == "":
        return None
    fields = plain_split(line)
    if fields is None:
        return ("quote",)
    op, name = (-1, fields[0][1:]) if re.match(r"-.", fields[0], re.S) else (1, fields[0])
    if name == "rich":
        return ("field-count",) if len(fields) == 1 else ("derived-type",)
    if name not in {*EVENTS, *POINTS, *INTERVALS}:
        return ("field-count",) if len(fields) == 1 else ("unknown-type",)
    if len(fields) - 3 in EVENTS.get(name, []):
        form, times, rest = "event", fields[1:3], fields[3:]
    elif len(fields) - 4 in POINTS.get(name, []):
        form, times, rest = "points", fields[1:3], fields[3:]
    elif len(fields) - 5 in INTERVALS.get(name, []):
        form, times, rest = "intervals", fields[1:4], fields[4:]
    else:
        return ("field-count",)
    end_is_open = form == "intervals" and times[2].strip(" \t").lower() in (
        *("inf", "+inf", "infinity", "+infinity"),
    )
    points = [plain_time(text) for text in (times[:2] if end_is_open else times)]
    bad = next((point for point in points if isinstance(point, str)), None)
    if bad is not None:
        return (bad,)
    numbers = [point for point in points if isinstance(point, int)]
    if len(numbers) == 3 and numbers[2] <= numbers[1]:
        return ("end-before-start",)
    return (op, name, form, numbers, [plain_term(text) for text in rest])


def plain_split(line: str) -> list[str] | None:
    """Fields by one regular expression each; None when quotes do not fit."""
    fields = []
    rest: str | None = line
    while rest is not None:
        if re.match(r'[ \t]*"', rest):
            found = re.match(r'[ \t]*"((?:[^"]|"")*)"(?!")[ \t]*(?:\|(.*))?$', rest, re.S)
            if found is None:
                return None
            fields.append(found[1].replace('""', '"'))
        else:
            found = re.match(r"()([^|]*)$|([^|]*)\|(.*)", rest, re.S)
            assert found is not None
            fields.append((found[3] if found[3] is not None else found[2]).strip(" \t"))
        rest = found[found.re.groups]
        if found.re.groups == 4 and found[3] is None:
            rest = None
    return fields


def plain_time(text: str) -> int | str:
    text = text.strip(" \t")
    if re.fullmatch(r"-?[0-9]+(\.0+)?", text, re.A):
        number = int(text.split(".")[0])
        return number if abs(number) <= 2**62 else "bad-time"
    return "unit" if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?", text) else "bad-time"


def plain_term(text: str) -> tuple[str, object]:
    if re.fullmatch("-?[0-9]+", text):
        return ("int", int(text))
    if re.fullmatch(r"-?[0-9]+\.[0-9]+", text):
        return ("float", float(text))
    return ("str", text)


def outcomes(narrative: Narrative) -> dict[int, Outcome]:
    found: dict[int, Outcome] = {letter.line: (letter.code,) for letter in narrative.dead_letters}
    for item in narrative.items():
        times = [item.arrival, item.start] + ([] if item.end is None else [item.end])
        terms = [item.value, *item.args] if item.kind == "fluent" else [*item.args]
        form = "event" if item.kind == "event" else item.form
        kinds = [(type(term).__name__, term) for term in terms]
        assert item.line not in found
        found[item.line] = (item.op, item.name, form, times, kinds)
    return found


def check(text: bytes, size: int = 1 << 20) -> None:
    """Read in chunks of `size` bytes and compare every line. The first line is never a header."""
    harvest = Harvest(RowReader(SCHEMA, TimeScale(), "f"))
    stream = io.BytesIO(b"up|0|0\n" + text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("horai.io.items.text.chunks.__defaults__", (size,))
        read_narrative(stream, harvest)
    narrative = Narrative.of(harvest.sorted_tables(), harvest.letters)
    expected: dict[int, Outcome] = {}
    for number, raw in enumerate((b"up|0|0\n" + text).split(b"\n"), 1):
        outcome = plain_parse(raw.removesuffix(b"\r"))
        if outcome is not None:
            expected[number] = outcome
    assert outcomes(narrative) == expected
    for table in narrative.tables:
        lines = table.table.column("line").to_pylist()
        assert lines == sorted(lines)


def noise(pieces: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=9).map("".join)


NAMES = [
    "up",
    "go",
    "level",
    "near",
    "busy",
    "-go",
    "-busy",
    "gou",
    "rich",
    '"go"',
    " go ",
    "",
    "-",
]
TIMES = ["5", "9", "-3", "12", " 7 ", "inf", "x", "", "3.0", "2.5", "9223372036854775808"]
TIMES += ["1970-01-01", "+5", '"8"', "9223372036854775807", "-9223372036854775808", "1e3", "007"]
TERMS = ["x", "true", "12", "3.5", "New York", "-", "", '"a|b"', '"open', 'q"r', "é", "0x5", "3"]
TERMS += [" x ", '" x"', "5.", "-0", "-0.0", "9223372036854775808", "\x00", "\u2028", "'x'", "\t"]
rows = st.one_of(
    st.tuples(
        st.sampled_from(NAMES),
        st.lists(st.sampled_from(TIMES), min_size=1, max_size=3),
        st.lists(st.sampled_from(TERMS), max_size=4),
    ).map(lambda row: "|".join([row[0], *row[1], *row[2]])),
    noise(["|", '"', " ", "up", "go", "5", "9", "-", "x", "\t", "\r", "é", "inf"]),
)
endings = st.sampled_from(["\n", "\n", "\r\n", "\n\n", "\r\r\n", " \n"])


@given(
    st.lists(st.tuples(rows, endings).map("".join), max_size=25).map("".join),
    st.sampled_from([5, 40, 1 << 20]),
)
@example('go|1|1|"x"y\n', 1 << 20)
@example('go|1|1|x|""\n', 1 << 20)
def test_rows_are_read_as_the_plain_parser_reads_them(text: str, size: int) -> None:
    check(text.encode(), size)


@given(st.binary(max_size=200) | st.text('upgo|59-\n\r"\xe9', max_size=80).map(str.encode))
def test_random_bytes(text: bytes) -> None:
    check(text)


def test_many_rows_with_a_few_bad_ones() -> None:
    dice = random.Random(3)
    good = ["up|5|5", "go|7|6|x", "go|8|6|x|12", "level|5|5|3.5|y", "near|9|1|9|true|x|y"]
    bad = ["go|x|5|z", "near|9|9|9|true|x|y", "zzz|1|1", 'go|1|1|"z"', "go|1|1|é|3.25", "go"]
    lines = [dice.choice(good if dice.random() < 0.97 else bad) for _ in range(5000)]
    check("\n".join(lines).encode(), 3000)


@given(st.binary(max_size=300), st.sampled_from(["csv", "jsonl"]))
@example(b"type,time\n\xff,1\n", "csv")
@example(b"type,time,a0\ngo,1,\x00\n", "csv")
def test_garbage_is_never_a_traceback(text: bytes, format: str) -> None:
    harvest = Harvest(RowReader(SCHEMA, TimeScale(), "f"))
    prefix = b"type,time,end,value,a0,a1\n" if format == "csv" else b""
    try:
        if format == "csv":
            read_csv(io.BytesIO(prefix + text), harvest)
        else:
            read_json_lines(io.BytesIO(text), harvest)
    except InputError:
        pytest.fail("every row can be set aside")
    Narrative.of(harvest.sorted_tables(), harvest.letters)


csv_cells = st.sampled_from(
    ["", "up", "go", "busy", "near", "level", "5", "9", "inf", "x", "true", "3.5", '"a"', '""', " "]
)


@given(st.lists(st.lists(csv_cells, min_size=6, max_size=6), max_size=12))
def test_csv_rows_alone_and_together_are_read_alike(cells: list[list[str]]) -> None:
    """One quoted field sends a row to the slow reader; it must find what the fast one finds."""

    def read_all(quote: bool) -> tuple[object, object]:
        lines = [b"type,time,end,value,a0,a1"]
        for row in cells:
            first = f'"{row[0]}"' if quote and row[0].isalpha() else row[0]
            lines.append(",".join([first, *row[1:]]).encode())
        harvest = Harvest(RowReader(SCHEMA, TimeScale(), "f"))
        read_csv(io.BytesIO(b"\n".join(lines)), harvest)
        narrative = Narrative.of(harvest.sorted_tables(), harvest.letters)
        codes = [(letter.line, letter.code) for letter in narrative.dead_letters]
        return sorted(map(repr, narrative.items())), codes

    assert read_all(quote=True) == read_all(quote=False)


dicts = st.fixed_dictionaries(
    {"type": st.sampled_from(["up", "go", "busy", "near", "level", "rich", "zz"])},
    optional={
        "time": st.none() | st.integers(-5, 5) | st.sampled_from(["7", "x"]),
        "start": st.none() | st.integers(-5, 5),
        "end": st.none() | st.integers(-5, 5) | st.just("inf"),
        "arrival": st.none() | st.integers(-5, 5),
        "value": st.sampled_from([None, "true", "x"]),
        "op": st.sampled_from([None, "insert", "-", "maybe"]),
        "kind": st.sampled_from([None, "event", "fluent"]),
        "args": st.lists(st.sampled_from(["x", "y"]), max_size=3),
    },
)


@given(st.lists(dicts, min_size=1, max_size=10))
def test_tables_are_read_as_their_rows_are(given_rows: list[dict[str, object]]) -> None:
    """Columns of an Arrow table against dicts with a None for every column that is empty."""
    import pyarrow as pa

    names = ("type", "time", "start", "end", "arrival", "value", "op", "kind")
    texts: dict[str, object] = {
        name: pa.array(
            [None if row.get(name) is None else str(row[name]) for row in given_rows], pa.string()
        )
        for name in names
    }
    args = [row.get("args", []) for row in given_rows]
    table = pa.table(texts | {"args": pa.array(args, pa.list_(pa.string()))})
    full = [
        {**{name: row.get(name) for name in names}, "args": row.get("args", [])}
        for row in given_rows
    ]
    fast, slow = read_object(table, SCHEMA), read_object(full, SCHEMA)
    assert list(fast.items()) == list(slow.items())
    assert [(x.line, x.code) for x in fast.dead_letters] == [
        (x.line, x.code) for x in slow.dead_letters
    ]
