"""What the rules expect, and what is said about names they do not know."""

import pytest

from horai.io import InputSchema, InputType
from horai.io.schema import TableKey


def test_a_fluent_with_points_and_with_intervals_accepts_both() -> None:
    types = [InputType("f", "fluent", 1, "points"), InputType("f", "fluent", 1, "intervals")]
    for schema in (InputSchema.of(types), InputSchema({"f": types})):
        assert schema.lookup("f") == [InputType("f", "fluent", 1, "any")]
        assert [key.form for key in schema.keys("f")] == ["intervals", "points"]


def test_arities_and_kinds_stay_apart() -> None:
    types = [InputType("a", "event", 1), InputType("a", "event", 2), InputType("a", "fluent", 1)]
    assert InputSchema.of([*types, *types]).lookup("a") == types


@pytest.mark.parametrize(
    ("key", "layout", "fields"),
    [
        (TableKey("up", 0, "event", "points"), "up|Arrival|Time", 3),
        (TableKey("go", 2, "event", "points"), "go|Arrival|Time|Arg1|Arg2", 5),
        (TableKey("f", 1, "fluent", "points"), "f|Arrival|Time|Value|Arg1", 5),
        (TableKey("f", 1, "fluent", "intervals"), "f|Arrival|Start|End|Value|Arg1", 6),
    ],
)
def test_layouts(key: TableKey, layout: str, fields: int) -> None:
    assert (key.layout, key.fields) == (layout, fields)
    assert layout.count("|") + 1 == fields


def test_unknown_names() -> None:
    schema = InputSchema.of([InputType("velocity", "event", 2)], derived=["stopped"])
    assert schema.why_unknown("stopped") == (
        "derived-type",
        "stopped is derived by the rules, not an input",
    )
    assert schema.why_unknown("velosity") == (
        "unknown-type",
        "unknown type 'velosity'; did you mean velocity?",
    )
    assert schema.why_unknown("x")[1] == "unknown type 'x'; the rules read velocity"
    assert InputSchema.of([]).why_unknown("x")[1] == "unknown type 'x'; the rules read nothing"
    assert len(schema.why_unknown("x" * 10_000)[1]) < 120


def test_a_name_that_is_both_input_and_derived_is_an_input() -> None:
    schema = InputSchema.of([InputType("f", "fluent", 1)], derived=["f"])
    assert len(schema.lookup("f")) == 1
