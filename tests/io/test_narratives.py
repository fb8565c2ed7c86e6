"""Narrative rows, good ones."""

from collections.abc import Callable

import pytest

from horai.io import InputSchema, InputType, Item, Narrative
from horai.io.times import MAX_TIME, MIN_TIME

Reader = Callable[..., Narrative]

MANUAL = """\
go_to|9|9|chris|work
working|15|10|15|true|chris
working|15|15|true|chris
working|16|16|true|chris
working|21|17|21|true|chris
go_to|21|21|chris|home
"""


def lines(narrative: Narrative) -> list[tuple[int, int, object]]:
    return sorted((item.line, item.start, item.args) for item in narrative.items())


def test_the_three_forms_of_row(read_text: Reader) -> None:
    narrative = read_text(MANUAL)
    assert narrative.dead_letters == []
    assert [(t.name, t.arity, t.kind, t.form, len(t)) for t in narrative.tables] == [
        ("go_to", 2, "event", "points", 2),
        ("working", 1, "fluent", "intervals", 2),
        ("working", 1, "fluent", "points", 2),
    ]
    file = next(narrative.items()).file
    assert file.endswith("stream.txt")
    assert list(narrative.items()) == [
        Item(1, "go_to", "event", "points", 9, 9, None, None, ("chris", "work"), file, 1),
        Item(1, "go_to", "event", "points", 21, 21, None, None, ("chris", "home"), file, 6),
        Item(1, "working", "fluent", "intervals", 15, 10, 15, "true", ("chris",), file, 2),
        Item(1, "working", "fluent", "intervals", 21, 17, 21, "true", ("chris",), file, 5),
        Item(1, "working", "fluent", "points", 15, 15, None, "true", ("chris",), file, 3),
        Item(1, "working", "fluent", "points", 16, 16, None, "true", ("chris",), file, 4),
    ]


def test_a_type_without_arguments(read_text: Reader) -> None:
    assert [item.args for item in read_text("up|5|5\nup|6|6\n").items()] == [(), ()]


def test_open_ends(read_text: Reader) -> None:
    narrative = read_text("near|5|5|inf|true|a|b\nnear|5|5|INF|true|a|c\nnear|5|5|9|true|a|d\n")
    assert [item.end for item in narrative.items()] == [None, None, 9]


def test_retractions(read_text: Reader) -> None:
    narrative = read_text("go_to|17|17|chris|pub\n-go_to|21|17|chris|pub\n-up|9|9\nup|9|9\n")
    assert [(item.name, item.op) for item in narrative.items()] == [
        ("go_to", 1),
        ("go_to", -1),
        ("up", -1),
        ("up", 1),
    ]
    assert narrative.counts()[:3] == (4, 2, 2)


def test_byte_order_mark_crlf_and_blank_lines(read_text: Reader) -> None:
    text = b"\xef\xbb\xbf\r\n  \r\ngo_to|9|9|chris|work\r\n\r\n \t\r\nup|3|3\r\ngo_to|9|9|a|b"
    narrative = read_text(text)
    assert narrative.dead_letters == []
    assert lines(narrative) == [(3, 9, ("chris", "work")), (6, 3, ()), (7, 9, ("a", "b"))]


def test_blanks_around_fields_do_not_count(read_text: Reader) -> None:
    narrative = read_text(" velocity | 7|8 | the ship |\t3.5|12 \n velocity|7|8|x| 4.5|13\n")
    assert lines(narrative) == [(1, 8, ("the ship", 3.5, 12)), (2, 8, ("x", 4.5, 13))]
    assert [narrative.tables[0].column(f"a{i}").kind for i in range(3)] == ["atom", "float", "int"]


def test_quoted_fields(read_text: Reader) -> None:
    text = 'go_to|9|9|"a|b"|"say ""hi"""\n"go_to"|"9"|9| " x " |""\ngo_to|9|9|5" pipe|"12"\n'
    narrative = read_text(text)
    assert narrative.dead_letters == []
    assert [item.args for item in narrative.items()] == [
        ("a|b", 'say "hi"'),
        (" x ", ""),
        ('5" pipe', 12),
    ]


@pytest.mark.parametrize(
    "header",
    [
        "type|arrival|time|a0|a1",
        "EventType|ArrivalTime|OccurrTime|Attr1|AttrN",
        "Type|Arrival|Start|End|Value|Args",
        "what|t|t",
        "# what|arrival|occurrence",
    ],
)
def test_a_header_line_is_skipped(read_text: Reader, header: str) -> None:
    narrative = read_text(f"\n{header}\ngo_to|9|9|chris|work\n", name="stream.csv")
    assert narrative.dead_letters == []
    assert lines(narrative) == [(3, 9, ("chris", "work"))]


@pytest.mark.parametrize("first", ["go_to|time|start|x|y", "gotoo|x|y|z", "event|1|time|z"])
def test_a_bad_first_row_is_not_taken_for_a_header(read_text: Reader, first: str) -> None:
    narrative = read_text(f"{first}\ngo_to|9|9|chris|work\n")
    assert [letter.line for letter in narrative.dead_letters] == [1]


def test_only_the_first_line_can_be_a_header(read_text: Reader) -> None:
    narrative = read_text("up|3|3\ntype|arrival|time\n")
    assert [letter.code for letter in narrative.dead_letters] == ["unknown-type"]


def test_rows_need_not_be_sorted_and_keep_their_order(read_text: Reader) -> None:
    narrative = read_text('up|9|9\nup|3|3\n"up"|7|7\nup|5|5\n')
    assert [item.start for item in narrative.items()] == [9, 3, 7, 5]


def test_times_at_the_limits(read_text: Reader) -> None:
    low, high = MIN_TIME, MAX_TIME
    narrative = read_text(f"near|{high}|{low}|{high}|true|a|b\nup|-5|-5\n")
    items = list(narrative.items())
    assert (items[0].arrival, items[0].start, items[0].end) == (high, low, high)
    assert items[1].start == -5


def test_a_name_with_several_arities(read_text: Reader) -> None:
    schema = InputSchema.of(
        [
            InputType("a", "event", 1),
            InputType("a", "event", 2),
            InputType("f", "fluent", 1),
            InputType("f", "fluent", 2),
        ]
    )
    text = "a|1|1|x\na|1|1|x|y\nf|1|1|true|x|y\nf|1|1|9|true|x\nf|1|1|inf|true|x\nf|1|1|v|x|y\n"
    narrative = read_text(text, schema=schema)
    assert narrative.dead_letters == []
    found = {(i.name, len(i.args), i.form, i.line) for i in narrative.items()}
    assert found == {
        ("a", 1, "points", 1),
        ("a", 2, "points", 2),
        ("f", 2, "points", 3),
        ("f", 1, "intervals", 4),
        ("f", 1, "intervals", 5),
        ("f", 2, "points", 6),
    }


def test_iso_times_and_epoch_times(read_text: Reader) -> None:
    iso = read_text("up|1970-01-01T00:02:00Z|1970-01-01\nup|3|1970-01-01T00:01:59\n", unit="min")
    assert [(item.arrival, item.start) for item in iso.items()] == [(2, 0), (3, 1)]
    epoch = read_text("up|2500|1999\n", unit="s", time_in="ms")
    assert [(item.arrival, item.start) for item in epoch.items()] == [(2, 1)]
