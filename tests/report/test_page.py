"""What is in a page: all that a run found, and what it came from."""

from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.pages import data_of, items_of, lanes, points_of, spans_of

import horai
from horai import combine, io, loads
from horai.io.times import TimeScale
from horai.report import page as report_page
from horai.report.page import PageInput, page, write_page
from horai.runtime.inputs import read_input

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
happensAt(party(X), T) :- happensAt(win(X), T), holdsAt(rich(X)=true, T).
"""
ROWS = ["win|13|13|chris", "lose|19|19|chris", "win|20|20|zoe", "win|30|30|ann", "lose|31|31|ann"]


def read(rules: horai.Rules, rows: object, unit: io.Unit | None = None) -> io.Narrative:
    return read_input(rows, rules.schema, TimeScale(unit))


def test_a_page_has_every_interval_event_and_item() -> None:
    rules = loads(RULES)
    items = read(rules, [*ROWS, "win|35|35|zoe"])
    text = page(rules.run(items), "a day", given=PageInput(items=items))
    assert spans_of(text) == {
        "rich(ann)=true": [(31, 32)],
        "rich(chris)=true": [(14, 20)],
        "rich(zoe)=true": [(21, None)],
    }
    assert points_of(text) == {"party(zoe)": [35]}
    assert items_of(text)["item win(zoe)"] == [20, 35]
    assert data_of(text)["items"]["line"] == [5, 2, 4, 1, 3, 6]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["win", "lose"]),
            st.integers(-(2**61), 2**61) | st.integers(-50, 50),
            st.sampled_from(["a", "b10", "b9", "New York", "<b>", "é", "3", "-2.5"]),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_a_page_has_what_the_answers_have(rows: list[tuple[str, int, str]]) -> None:
    rules = loads(RULES)
    result = rules.run([f"{name}|{time}|{time}|{who}" for name, time, who in rows])
    text = page(result, "random")
    said: dict[str, list[tuple[int, int | None]]] = {}
    for row in result.rows("spans"):
        if row.kind == "fluent":
            label = f"rich({io.to_source(row.args[0])})=true"
            said.setdefault(label, []).append((row.start or 0, row.end))
    data = data_of(text)
    found = spans_of(text)
    if data["time"]["last"] < 2**53:
        assert found == said
    else:  # a browser rounds what is farther apart, and leaves out nothing
        assert {key: len(spans) for key, spans in found.items()} == {
            key: len(spans) for key, spans in said.items()
        }


def test_lanes_stand_in_the_order_in_which_people_count() -> None:
    rules = loads(RULES)
    rows = [f"win|1|1|{who}" for who in ("v10", "v9", "12", "2", "b", "3.5")]
    found = [label[5:-6] for label in spans_of(page(rules.run(rows), "order"))]
    assert found == ["2", "3.5", "12", "b", "v9", "v10"]


def test_names_of_a_stream_never_stand_in_the_page_as_text() -> None:
    rules = loads(RULES)
    evil = "</script><script>alert(1)</script>"
    items = read(rules, pa.table({"type": ["win"], "time": [3], "a": [evil]}))
    text = page(rules.run(items), f"A <title> {evil}", given=PageInput(items=items))
    assert "alert(1)" not in text.replace("&lt;script&gt;alert(1)", "")
    assert "<title>A &lt;title&gt; &lt;/script&gt;" in text
    assert any(evil in label for label in spans_of(text))


def test_the_page_of_nothing(tmp_path: Path) -> None:
    write_page(loads(RULES).run(["lose|5|5|x"]), tmp_path / "page.html", "nothing")
    assert spans_of((tmp_path / "page.html").read_text()) == {}


def test_retractions_and_fluents_of_the_input_are_on_the_page() -> None:
    rules = loads(
        "initiatedAt(late(X)=true, T) :- happensAt(win(X), T), holdsAt(works(X)=true, T)."
    )
    rows: list[dict[str, object]] = [
        {"type": "win", "time": 6, "args": ["ada"]},
        {"type": "win", "time": 7, "args": ["bob"]},
        {"type": "win", "time": 7, "args": ["bob"], "op": "retract", "arrival": 9},
        {"type": "works", "time": 5, "end": 9, "value": "true", "args": ["ada"]},
    ]
    items = read(rules, rows)
    text = page(rules.run(items), "taken back", given=PageInput(items=items))
    assert items_of(text) == {
        "item win(ada)": [6],
        "item win(bob)": [7],
        "retraction win(bob)": [7],
    }
    assert spans_of(text) == {"late(ada)=true": [(7, None)], "works(ada)=true": [(5, 9)]}


def test_of_too_many_items_there_are_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = loads(RULES)
    items = read(rules, [f"win|{time}|{time}|x" for time in range(1, 31)])
    result = rules.run(items)
    monkeypatch.setattr(report_page, "MOST_WITH_ARGUMENTS", 20)
    assert data_of(page(result, "t", given=PageInput(items=items)))["items"]["detail"] == "times"
    monkeypatch.setattr(report_page, "MOST_ITEMS", 20)
    monkeypatch.setattr(report_page, "BINS", 4)
    found = data_of(page(result, "t", given=PageInput(items=items)))["items"]
    assert found["detail"] == "counts"
    assert sum(found["weight"]) == 30
    assert len(found["weight"]) == 4


def test_revisions_are_those_of_late_rows() -> None:
    rules = loads(RULES)
    rows = ["win|3|3|ann", "win|12|12|bob", "lose|18|6|ann"]
    result = rules.run(rows, start=0, end=40, step=10, window=20)
    found = data_of(page(result, "late"))
    told = found["revisions"]
    base = int(found["time"]["base"])
    assert told["known"] and told["number"] == 1
    (row,) = told["rows"]
    assert found["texts"][row["text"]] == "rich(ann)=true"
    assert row["query"] + base == 20
    assert [row["was"][0] + base, row["was"][1]] == [4, None]
    assert [[point + base for point in span] for span in row["now"]] == [[4, 7]]


def test_a_run_that_kept_no_changes_says_so() -> None:
    session = loads(RULES).session(start=0, window=10, answers="final")
    session.advance(10, ["win|5|5|ann"])
    session.advance(20, [])
    assert session.last == 20
    assert data_of(page(session.result(), "t"))["revisions"]["known"] is False


def test_letters_findings_and_metrics_are_on_the_page() -> None:
    rules = loads(RULES + "initiatedAt(odd(X)=true, T) :- happensAt(never(X), T).")
    result = rules.run(
        ["win|3|3|ann", "win|x|3|ann", "win|50|2|ann"], start=0, end=40, step=10, window=10
    )
    data = data_of(page(result, "t"))
    assert data["letters"]["number"] == len(result.dead_letters) == 2
    assert set(data["letters"]["codes"]) == {letter.code for letter in result.dead_letters}
    assert data["about"]["items"]["unreadable"] == 1
    assert len(data["queries"]["time"]) == 4
    assert [one["code"] for one in data["diagnostics"]] == [
        one.code for one in [*rules.warnings, *result.warnings]
    ]


def test_intervals_have_their_proofs_as_far_as_there_is_room() -> None:
    rules = loads(RULES)
    items = read(rules, ROWS)
    result = rules.run(items)
    data = data_of(page(result, "why", given=PageInput(items=items)))
    trees = data["proofs"]["trees"]
    assert data["proofs"]["number"] == len(trees) == 3
    labels = [label for _, label, rows in lanes(data, data["layers"][0]["spans"]) for _ in rows]
    for row, tree in trees.items():
        assert tree["text"] == labels[int(row)]
        assert tree == result.why(labels[int(row)], at=tree["at"]).to_dict()
    fewer = data_of(page(result, "why", given=PageInput(proofs=2)))
    assert fewer["proofs"]["number"] == 2
    assert data_of(page(result, "why", given=PageInput(proofs=0)))["proofs"] is None


def test_proofs_take_turns_between_fluents() -> None:
    rules = loads(RULES + "initiatedAt(zest(X)=true, T) :- happensAt(win(X), T).")
    result = rules.run([f"win|{time}|{time}|x{time}" for time in range(1, 9)])
    data = data_of(page(result, "why", given=PageInput(proofs=4)))
    texts = [tree["text"] for tree in data["proofs"]["trees"].values()]
    assert texts == ["rich(x1)=true", "zest(x1)=true", "rich(x2)=true", "zest(x2)=true"]


def test_atoms_have_their_proofs_alone_and_beside_fluents() -> None:
    windows = loads("hot(X) :- always warm(X) [1].", language="lars")
    events = loads("initiatedAt(alarm(X)=true, T) :- happensAt(hot(X), T).")
    rows = ["warm|4|4|a", "warm|5|5|a", "warm|8|8|b"]
    for rules in (windows, combine(events, windows)):
        result = rules.run(rows, start=1, end=9)
        data = data_of(page(result, "why"))
        labels = [label for _, label, rows in lanes(data, data["layers"][0]["spans"]) for _ in rows]
        trees = data["proofs"]["trees"]
        assert {labels[int(row)] for row in trees} == set(labels)
        for row, tree in trees.items():
            assert tree == result.why(labels[int(row)], at=tree["at"]).to_dict()


def test_what_pages_are_made_of_was_built_from_the_sources() -> None:
    root = Path(__file__).parents[2]
    digest = sha256()
    for path in [*sorted((root / "web" / "src").iterdir()), root / "web" / "package-lock.json"]:
        digest.update(path.read_bytes())
    built = root / "src" / "horai" / "report" / "assets" / "sources.sha256"
    assert built.read_text().strip() == digest.hexdigest(), "run `make web`"


# --- LARS ----------------------------------------------------------------------------------------

CHOICE = "on(X) :- p(X), not off(X).\noff(X) :- p(X), not on(X).\n"


def test_each_answer_stream_can_be_chosen() -> None:
    result = loads(CHOICE, language="lars").run(["p|1|1|a", "p|3|3|b"], models="all")
    text = page(result, "choice")
    labels = [layer["label"] for layer in data_of(text)["layers"]]
    assert labels[:2] == ["in every answer stream", "in some answer stream"]
    assert labels[2:] == ["answer stream 1 of up to 2", "answer stream 2 of up to 2"]
    assert spans_of(text, 0) == {}
    assert spans_of(text, 1) == {
        "off(a)": [(1, 2)], "off(b)": [(3, 4)], "on(a)": [(1, 2)], "on(b)": [(3, 4)],
    }  # fmt: skip
    assert spans_of(text, 2) == {"off(a)": [(1, 2)], "off(b)": [(3, 4)]}
    assert spans_of(text, 3) == {"on(a)": [(1, 2)], "on(b)": [(3, 4)]}
    assert [layer["none"] for layer in data_of(text)["layers"]][3] == [[1, 2]]


def test_where_a_program_has_no_answer_is_known() -> None:
    result = loads("h :- a.\n:- a, b.\n", language="lars").run(["a|1|1", "a|2|2", "b|2|2"])
    data = data_of(page(result, "none"))
    base = int(data["time"]["base"])
    assert [[x + base for x in span] for span in data["layers"][0]["none"]] == [[2, 3]]
