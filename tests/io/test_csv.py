"""CSV with a header."""

from collections.abc import Callable

import pytest

from horai.io import InputError, Item, Narrative

Reader = Callable[..., Narrative]


def found(narrative: Narrative) -> list[tuple[object, ...]]:
    assert narrative.dead_letters == []
    items = sorted(narrative.items(), key=lambda item: item.line)
    return [(i.op, i.name, i.arrival, i.start, i.end, i.value, i.args) for i in items]


def test_all_columns(read_text: Reader) -> None:
    text = """\
type,arrival,time,start,end,value,op,a0,a1
go_to,10,9,,,,,chris,work
go_to,21,9,,,,retract,chris,work
working,15,,10,15,true,insert,chris,
working,15,,10,inf,true,+,chris,
working,15,,10,,true,,chris,
working,16,16,,,true,-,chris,
up,3,3,,,,delete,,
"""
    narrative = read_text(text, name="s.csv")
    assert found(narrative) == [
        (1, "go_to", 10, 9, None, None, ("chris", "work")),
        (-1, "go_to", 21, 9, None, None, ("chris", "work")),
        (1, "working", 15, 10, 15, "true", ("chris",)),
        (1, "working", 15, 10, None, "true", ("chris",)),
        (1, "working", 15, 10, None, "true", ("chris",)),
        (-1, "working", 16, 16, None, "true", ("chris",)),
        (-1, "up", 3, 3, None, None, ()),
    ]
    forms = [table.form for table in narrative.tables if table.name == "working"]
    assert forms == ["intervals", "points"]


@pytest.mark.parametrize("name", ["time", "occurrence", "occurs", "timestamp", "t", "Time"])
def test_names_for_the_time_and_arrival_at_once(read_text: Reader, name: str) -> None:
    assert found(read_text(f"type,{name}\nup,7\n", name="s.csv")) == [
        (1, "up", 7, 7, None, None, ())
    ]


def test_an_interval_without_arrival_arrives_at_its_start(read_text: Reader) -> None:
    text = "type,start,end,value,a0\nworking,10,15,true,chris\n"
    assert found(read_text(text, name="s.csv")) == [(1, "working", 10, 10, 15, "true", ("chris",))]


def test_time_and_end_make_an_interval_too(read_text: Reader) -> None:
    text = "type,time,end,value,a0\nworking,10,15,true,chris\nworking,10,,true,chris\n"
    assert [item[3:5] for item in found(read_text(text, name="s.csv"))] == [(10, 15), (10, None)]


def test_an_event_may_have_its_time_in_the_column_start(read_text: Reader) -> None:
    assert found(read_text("type,start,end\nup,7,\n", name="s.csv")) == [
        (1, "up", 7, 7, None, None, ())
    ]


def test_arguments_stand_in_file_order_or_by_number(read_text: Reader) -> None:
    by_place = "to,time,who,type\nwork,9,chris,go_to\n"
    assert found(read_text(by_place, name="a.csv"))[0][-1] == ("work", "chris")
    by_number = "a1,time,a0,type\nwork,9,chris,go_to\n"
    assert found(read_text(by_number, name="b.csv"))[0][-1] == ("chris", "work")
    from_one = "arg2,time,arg1,type\nwork,9,chris,go_to\n"
    assert found(read_text(from_one, name="c.csv"))[0][-1] == ("chris", "work")


def test_a_column_name_beside_type_is_an_argument(read_text: Reader) -> None:
    text = "type,time,name,t\ngo_to,9,chris,work\n"
    assert found(read_text(text, name="s.csv"))[0][-1] == ("chris", "work")


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(read_text: Reader, delimiter: str) -> None:
    text = "time,type,vessel,speed,heading\n9,velocity,v1,3.5,90\n".replace(",", delimiter)
    assert found(read_text(text, name="s.csv"))[0][-1] == ("v1", 3.5, 90)


def test_quotes_blanks_crlf_and_a_byte_order_mark(read_text: Reader) -> None:
    text = '\ufeff"type", time ,a0,a1\r\n\r\ngo_to, 9 ," a, b",""\r\n go_to ,9,c , d\r\n'
    assert [item[-1] for item in found(read_text(text, name="s.csv"))] == [
        (" a, b", ""),
        ("c", "d"),
    ]


def test_one_type_for_all_rows(read_text: Reader) -> None:
    text = "time,vessel,speed,heading\n9,v1,3.5,90\n10,v1\n"
    narrative = read_text(text, name="s.csv", type_name="velocity")
    assert [item.args for item in narrative.items()] == [("v1", 3.5, 90)]
    assert [letter.code for letter in narrative.dead_letters] == ["arity"]


def test_columns_are_typed_per_type_of_row(read_text: Reader) -> None:
    text = "type,time,a0,a1,a2\nvelocity,1,7,3.5,90\ngo_to,1,chris,work,\n"
    narrative = read_text(text, name="s.csv")
    kinds = {t.name: [t.column(f"a{i}").kind for i in range(t.arity)] for t in narrative.tables}
    assert kinds == {"velocity": ["int", "float", "int"], "go_to": ["atom", "atom"]}


def test_arguments_as_a_json_list(read_text: Reader) -> None:
    text = 'kind,name,args,value,start,end,time\nevent,go_to,"[""chris"",12]",,,,9\n'
    text += 'fluent,working,"[""chris""]",true,14,inf,\nevent,up,,,,,3\nevent,up,[,,,,3\n'
    narrative = read_text(text, name="s.csv")
    assert [(i.name, i.start, i.args) for i in narrative.items()] == [
        ("go_to", 9, ("chris", 12)),
        ("up", 3, ()),
        ("working", 14, ("chris",)),
    ]
    assert [letter.code for letter in narrative.dead_letters] == ["json"]


def test_iso_times(read_text: Reader) -> None:
    text = "type,time\nup,1970-01-01T00:01:00Z\nup,1970-01-01T00:02:00Z\n"
    assert [item.start for item in read_text(text, name="s.csv", unit="s").items()] == [60, 120]
    assert {x.code for x in read_text(text, name="s.csv").dead_letters} == {"unit"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("who,time\nchris,9\n", "no column says the type"),
        ("type,who\nup,9\n", "no column says the time"),
        ('"type,time\nup,9\n', "the header cannot be read"),
        (b"\xfftype,time\nup,9\n", "the header cannot be read"),
        ("type,time,who,speed,who\nup,9,a,3,b\n", "two columns are called 'who'"),
        ("type,time, Time \nup,9,8\n", "two columns are called 'time'"),
    ],
)
def test_a_header_that_cannot_be_used(read_text: Reader, text: str | bytes, reason: str) -> None:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(InputError, match=rf"s\.csv:2: {reason}"):
        read_text(b"\n" + data, name="s.csv", format="csv")


def test_columns_without_a_name_may_be_many(read_text: Reader) -> None:
    (item,) = read_text("type,time,,\nup,9,,\n", name="s.csv").items()
    assert (item.name, item.start) == ("up", 9)


def test_a_file_with_only_a_header(read_text: Reader) -> None:
    assert len(read_text("type,time\n", name="s.csv")) == 0
    assert len(read_text("\n \n", name="s.csv", format="csv")) == 0


def test_where_items_come_from(read_text: Reader) -> None:
    narrative = read_text('type,time\n\nup,1\n"up",2\nup,3\n', name="s.csv")
    items: list[Item] = list(narrative.items())
    assert [(item.line, item.start) for item in items] == [(3, 1), (4, 2), (5, 3)]
