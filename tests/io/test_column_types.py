"""Columns are typed by what they contain."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.io import InputSchema, Item, Narrative, Term, TermText, read
from horai.io.terms import concat, from_terms, from_text, read_field, to_terms

Reader = Callable[..., Narrative]
SYMBOLS = pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize(
    ("fields", "kind", "rows"),
    [
        (["1", "-2", "007"], "int", [1, -2, 7]),
        (["1.5", "-2.0"], "float", [1.5, -2.0]),
        (["x", "New York", "-"], "atom", ["x", "New York", "-"]),
        (["1e3", "+5", ".5", "5."], "atom", ["1e3", "+5", ".5", "5."]),
        (["3", "3.0"], "term", ["3", "3.0"]),
        (["12", "New York", "-", "x"], "term", ["12", "'New York'", "-", "x"]),
        (["1.50", "1e3"], "term", ["1.5", "'1e3'"]),
        (["9223372036854775808", "1"], "term", ["9223372036854775808", "1"]),
        (["1.5", "5."], "term", ["1.5", "'5.'"]),
        (["-", "1"], "term", ["-", "1"]),
        (["", "x"], "atom", ["", "x"]),
    ],
)
def test_kind_of_a_column(
    read_text: Reader, fields: list[str], kind: str, rows: list[object]
) -> None:
    narrative = read_text("".join(f"go_to|1|1|{field}|x\n" for field in fields))
    table = narrative.tables[0].table
    assert table.schema.field("a0").metadata == {b"horai.type": kind.encode()}
    types = {"int": pa.int64(), "float": pa.float64()}
    assert table.schema.field("a0").type == types.get(kind, SYMBOLS)
    assert table.column("a0").to_pylist() == rows
    assert [item.args[0] for item in narrative.items()] == [read_field(f) for f in fields]


def test_columns_of_a_table(read_text: Reader) -> None:
    narrative = read_text("near|5|1|5|true|a|1\nnear|5|2|inf|true|a|2\nup|1|1\n")
    near, up = (table.table for table in narrative.tables)
    assert near.column_names == [
        *("op", "arrival", "start", "end", "value", "a0", "a1", "file", "line"),
    ]
    assert up.column_names == ["op", "arrival", "start", "file", "line"]
    assert near.schema.field("op").type == pa.int8()
    assert near.schema.field("file").type == SYMBOLS
    assert near.column("end").to_pylist() == [5, None]
    assert near.column("line").to_pylist() == [1, 2]


def test_types_are_those_of_all_files_together(
    read_text: Reader, schema: InputSchema, tmp_path: object
) -> None:
    first = read_text("go_to|1|1|7|1\n", name="a.txt")
    second = read_text("go_to|1|1|x|2\n", name="b.txt")
    paths = [next(narrative.items()).file for narrative in (first, second)]
    both = read(paths, schema)
    assert [both.tables[0].column(name).kind for name in ("a0", "a1")] == ["term", "int"]
    assert [(item.args, item.file) for item in both.items()] == [
        ((7, 1), paths[0]),
        (("x", 2), paths[1]),
    ]


def test_a_bad_row_does_not_change_types(read_text: Reader) -> None:
    narrative = read_text("go_to|1|1|7|1\ngo_to|x|1|seven|1\n-go_to|x|1|seven|1\n")
    assert narrative.tables[0].column("a0").kind == "int"
    assert len(narrative.dead_letters) == 2


terms = st.one_of(
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(["x", "12", "3.5", TermText("f(x)"), TermText("[]")]),
)


def typed(found: list[Term]) -> list[tuple[type, str]]:
    return [(type(term), repr(term)) for term in found]


@given(st.lists(st.lists(terms, min_size=1), min_size=1))
def test_terms_survive_columns_and_their_concatenation(pieces: list[list[Term]]) -> None:
    column = concat([from_terms(piece) for piece in pieces])
    assert typed(to_terms(column)) == typed([term for piece in pieces for term in piece])
    assert from_terms([t for piece in pieces for t in piece]).kind == column.kind


@given(st.lists(st.text("0123456789-. xe\t'é", max_size=5)))
def test_a_column_of_fields_is_read_as_its_fields_are(fields: list[str]) -> None:
    column = from_text(pa.array(fields, pa.string()))
    assert typed(to_terms(column)) == typed([read_field(field.strip(" \t")) for field in fields])


def test_a_narrative_of_items() -> None:
    items = [
        Item(1, "g", "event", "points", 3, 2, None, None, (TermText("f(x)"), "x"), "m", 1),
        Item(-1, "g", "event", "points", 4, 2, None, None, ("y", "z"), "m", 2),
        Item(1, "f", "fluent", "intervals", 4, 2, None, 3.5, (), "m", 3),
    ]
    narrative = Narrative.from_items(items)
    assert sorted(narrative.items(), key=lambda item: item.line) == items
    assert [table.key for table in narrative.tables] == [items[2].key, items[0].key]
    assert narrative.counts().by_type == {"f": 1, "g": 2}
    assert len(Narrative.from_items([])) == 0


def test_a_fluent_item_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="an item of the fluent f needs a value"):
        Narrative.from_items([Item(1, "f", "fluent", "points", 1, 1, None, None, ())])
