"""Continuous queries: read, translated, and run against their definition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.relatives.cql_semantics import Arrivals, World
from tests.relatives.running import EVERY, answers, program_text
from tests.weights import examples

from horai.lang.core.source import SourceText as Text
from horai.lang.core.terms import Int
from horai.lang.lars.clock import Duration
from horai.lang.lars.printer import show_program
from horai.lang.lars.reader import read_text
from horai.lang.translate.cql import (
    Connective,
    CqlComparison,
    CqlView,
    FromItem,
    Range,
    Reference,
    RowsWindow,
    Select,
    SelectItem,
    read_source,
    translated,
)

END = 6
STREAMS = "CREATE STREAM s (a, b); CREATE STREAM r (a);\n"
DECLARED = STREAMS + "CREATE TABLE k (a, c); INSERT INTO k VALUES (1, 1), (1, 2), (2, 3);\n"


def test_reading() -> None:
    text = "select x.a, 3 n from s [range 5 sec slide 2 sec] as x, r [rows 2] where a < 3 or 1 = 1;"
    (found,), findings = read_source(Text("q", text))
    assert findings == []
    assert found == CqlView(
        None,
        Select(
            (SelectItem(Reference("x", "a")), SelectItem(Int(3), "n")),
            (
                FromItem("s", Range(Duration(5, "s"), Duration(2, "s")), "x"),
                FromItem("r", RowsWindow(2), "r"),
            ),
            Connective(
                "or",
                (
                    CqlComparison("<", Reference(None, "a"), Int(3)),
                    CqlComparison("=", Int(1), Int(1)),
                ),
            ),
        ),
    )


def test_joins_are_conditions() -> None:
    (found,), _ = read_source(Text("q", "SELECT * FROM s [NOW] JOIN k ON s.a = k.a WHERE b > 1;"))
    assert isinstance(found, CqlView) and isinstance(found.query, Select)
    joined = CqlComparison("=", Reference("s", "a"), Reference("k", "a"))
    assert found.query.where == Connective(
        "and", (joined, CqlComparison(">", Reference(None, "b"), Int(1)))
    )


@pytest.mark.parametrize(
    ("query", "program"),
    [
        ("SELECT a FROM s [RANGE 5 minutes]", "answer(S_a) :- s(S_a, _) [5 min]."),
        ("SELECT a FROM r [RANGE 5 min SLIDE 1 MIN]", "answer(R_a) :- r(R_a) [5 min hop 1 min]."),
        ("SELECT * FROM r [UNBOUNDED]", "answer(R_a) :- r(R_a) [inf]."),
        ("SELECT a FROM r [NOW]", "answer(R_a) :- r(R_a) [0]."),
        ("SELECT a FROM s [ROWS 3]", "answer(S_a) :- s(S_a, _) [3 # per s(_, _)]."),
        (
            "SELECT b FROM s [PARTITION BY a ROWS 1]",
            "answer(S_b) :- s(_, S_b) [1 # per s(A, _)].",
        ),
        (
            "SELECT b FROM s [RANGE 4 SLIDE 2], r [NOW] WHERE s.a = r.a",
            "answer(S_b) :- s(S_a, S_b) [4 hop 2], r(S_a) [0].",
        ),
        (
            "SELECT COUNT(*) FROM r [RANGE 3]",
            "rows_1(R_a) :- r(R_a) [3].\nanswer(Value) :- count { R_a : rows_1(R_a) } = Value.",
        ),
    ],
)
def test_programs(query: str, program: str) -> None:
    assert program_text(f"{STREAMS}{query};", "cql") == f"{program}\n"


# --- the example of the thesis ---

TRAMS = """
CREATE STREAM tram (id, st, t);
CREATE STREAM jam (st);
CREATE TABLE line (id, line);
CREATE TABLE plan (line, x, y, d);
INSERT INTO plan VALUES ('l1', 'b', 'm', 8), ('l2', 'g', 'm', 7), ('l3', 'h', 'm', 3);
INSERT INTO line VALUES ('a1', 'l1'), ('a2', 'l2'), ('a3', 'l3');
SELECT tram.id, plan.y, tram.t + plan.d AS ty
FROM tram [PARTITION BY id ROWS 1], line, plan
WHERE tram.id = line.id AND line.line = plan.line AND tram.st = plan.x
  AND NOT EXISTS (SELECT * FROM jam [RANGE 20] WHERE jam.st = tram.st);
"""
BOTH = {"answer(a1,m,44)", "answer(a3,m,43)"}


@pytest.mark.parametrize("engine", EVERY)
@pytest.mark.parametrize(
    ("more", "time", "expected"),
    [
        ([], 42, BOTH),
        (["jam|42|42|b"], 42, {"answer(a3,m,43)"}),
        (["jam|22|22|b"], 42, {"answer(a3,m,43)"}),
        (["jam|21|21|b"], 42, BOTH),
        (["jam|41|41|h"], 42, {"answer(a1,m,44)"}),
        (["jam|41|41|z"], 42, BOTH),
        (["tram|44|44|a1|m|44"], 45, {"answer(a3,m,43)"}),
    ],
)
def test_g36_trams(more: list[str], time: int, expected: set[str], engine: str) -> None:
    rows = ["tram|36|36|a1|b|36", "tram|40|40|a3|h|40", *more]
    found = answers(program_text(TRAMS, "cql"), sorted(rows, key=_time), time, engine, "answer")
    assert found[time] == expected


def _time(row: str) -> int:
    return int(row.split("|")[1])


# --- random queries ---

windows = st.sampled_from(
    ["[NOW]", "[UNBOUNDED]", "[RANGE 2]", "[RANGE 3 SLIDE 2]", "[RANGE 2 SLIDE 2]", "[ROWS 2]"]
)


@st.composite
def sources(draw: DrawFn, number: int) -> tuple[str, list[str]]:
    """Text of a source with an alias, and its columns."""
    name, columns = draw(st.sampled_from([("s", "ab"), ("s", "ab"), ("r", "a"), ("k", "ac")]))
    window = "" if name == "k" else draw(windows)
    if name == "s" and draw(st.integers(0, 3)) == 0:
        window = "[PARTITION BY a ROWS 1]"
    alias = f"x{number}"
    return f"{name} {window} AS {alias}", [f"{alias}.{column}" for column in columns]


@st.composite
def conditions(draw: DrawFn, columns: list[str], depth: int, number: int) -> str:
    """A condition over columns, perhaps with an inner query."""
    form = draw(st.sampled_from(["compare", "compare", "and", "or", "not", "exists", "in", "list"]))
    if depth == 0 or form == "compare":
        sign = draw(st.sampled_from(["=", "=", "<>", "<", ">="]))
        left = draw(st.sampled_from(columns))
        right = draw(st.sampled_from([*columns, "1", "2", f"{columns[0]} + 1"]))
        return f"{left} {sign} {right}"
    if form in ("and", "or"):
        parts = [draw(conditions(columns, depth - 1, number)) for _ in range(2)]
        return f"({f' {form.upper()} '.join(parts)})"
    if form == "not":
        return f"NOT {draw(conditions(columns, depth - 1, number))}"
    if form == "list":
        return f"{draw(st.sampled_from(columns))} {draw(st.sampled_from(['', 'NOT ']))}IN (1, 3)"
    source, inner = draw(sources(number))
    where = draw(conditions([*inner, *columns], depth - 1, number + 1))
    if form == "in":
        column = draw(st.sampled_from(columns))
        return f"{column} IN (SELECT {inner[0]} FROM {source} WHERE {where})"
    return f"EXISTS (SELECT * FROM {source} WHERE {where})"


@st.composite
def selects(draw: DrawFn, width: int) -> str:
    """A query with so many columns."""
    found = [draw(sources(number)) for number in range(draw(st.integers(1, 2)))]
    columns = [column for _, own in found for column in own]
    text = f"FROM {', '.join(source for source, _ in found)}"
    if draw(st.booleans()):
        text += f" WHERE {draw(conditions(columns, 2, 5))}"
    if draw(st.integers(0, 2)):
        wanted = [*columns, "7", f"{columns[0]} * 2", f"{columns[-1]} - 1"]
        chosen = [draw(st.sampled_from(wanted)) for _ in range(width)]
        return f"SELECT {', '.join(chosen)} {text}"
    keys = [column for column in columns if draw(st.booleans())]
    calls = ["COUNT(*)", *(f"{f}({columns[-1]})" for f in ("SUM", "MIN", "MAX"))]
    calls += [f"COUNT(DISTINCT {columns[0]})", f"SUM({columns[0]} + 1) - 1"]
    wanted = [*keys, *calls]
    chosen = [draw(st.sampled_from(wanted)) for _ in range(width - 1)]
    chosen.append(draw(st.sampled_from(calls)))
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    if draw(st.booleans()):
        text += f" HAVING {draw(st.sampled_from(calls))} > {draw(st.integers(0, 2))}"
    return f"SELECT {', '.join(chosen)} {text}"


@st.composite
def queries(draw: DrawFn) -> str:
    """One query, or two combined."""
    width = draw(st.integers(1, 2))
    if draw(st.integers(0, 3)):
        return draw(selects(width))
    how = draw(st.sampled_from(["UNION", "EXCEPT", "INTERSECT"]))
    return f"{draw(selects(width))} {how} {draw(selects(width))}"


values = st.integers(1, 3)
arrivals = st.lists(
    st.tuples(st.integers(0, END), st.just("s"), st.tuples(values, values))
    | st.tuples(st.integers(0, END), st.just("r"), st.tuples(values)),
    max_size=6,
).map(lambda found: sorted(found, key=lambda one: one[0]))


def check(query: str, stream: Arrivals, engines: tuple[str, ...]) -> None:
    text = f"{DECLARED}{query};"
    source = Text("q", text)
    statements, findings = read_source(source)
    assert findings == []
    program = program_text(text, "cql")
    read, mistakes = read_text(program)
    assert mistakes == [] and show_program(read) == program
    rows = [f"{name}|{time}|{time}|{'|'.join(map(str, row))}" for time, name, row in stream]
    expected = {}
    for time in range(END + 1):
        relation = World(statements, stream, time).relations["answer"]
        expected[time] = {f"answer({','.join(map(str, row))})" for row in relation}
    for engine in engines:
        assert answers(program, rows, END, engine, "answer") == expected, engine


@given(queries(), arrivals)
@examples("normal")
def test_programs_answer_queries(query: str, stream: Arrivals) -> None:
    check(query, stream, ("asp", "reference"))


@pytest.mark.slow
@pytest.mark.timeout(7200)
@given(queries(), arrivals)
@examples("normal")
def test_programs_answer_queries_at_length(query: str, stream: Arrivals) -> None:
    check(query, stream, ("auto", "asp", "reference"))


@st.composite
def plain_queries(draw: DrawFn) -> str:
    """A query without aggregates, which every engine runs."""
    return draw(queries().filter(lambda text: "COUNT" not in text and "(x" not in text))


@given(plain_queries(), arrivals)
@examples("normal")
def test_every_engine_answers_plain_queries(query: str, stream: Arrivals) -> None:
    check(query, stream, EVERY)


def test_views_and_tables() -> None:
    text = (
        f"{DECLARED}CREATE VIEW v AS SELECT a x FROM r [RANGE 2]; SELECT c FROM v, k WHERE x = a;"
    )
    found = answers(program_text(text, "cql"), ["r|1|1|1"], 4, "plan", "answer,v")
    assert found == {
        t: {"v(1)", "answer(1)", "answer(2)"} if 0 < t < 4 else set() for t in range(5)
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM r [NOW]", ("H800", "")),
        ("SELECT FROM r [NOW];", ("H801", "FROM")),
        ("SELECT a FROM r [LAST 5];", ("H801", "LAST")),
        ("SELECT a # 3 FROM r [NOW];", ("H801", "#")),
        ("SELECT ISTREAM a FROM r [NOW];", ("H802", "ISTREAM")),
        ("DSTREAM (SELECT a FROM r [NOW]);", ("H802", "DSTREAM")),
        ("SELECT a FROM r [NOW] UNION ALL SELECT a FROM r [NOW];", ("H802", "UNION ALL")),
        ("SELECT s.a FROM s [NOW] LEFT JOIN r [NOW] ON s.a = r.a;", ("H802", "LEFT JOIN")),
        ("SELECT a FROM r [NOW] WHERE a IS NULL;", ("H802", "a IS NULL")),
        ("SELECT a FROM r [NOW] WHERE a LIKE 'x%';", ("H802", "a LIKE 'x%'")),
        ("SELECT a FROM r [ROWS 5 SLIDE 2];", ("H802", "[ROWS 5 SLIDE 2]")),
        ("SELECT a FROM r [ROWS 0];", ("H802", "0")),
        ("SELECT a FROM r [NOW] ORDER BY a;", ("H802", "ORDER BY")),
        ("SELECT a FROM r [NOW] WHERE a > 1 order by a LIMIT 3;", ("H802", "order by")),
        ("SELECT a FROM r [NOW] GROUP BY a LIMIT 3;", ("H802", "LIMIT")),
        ("SELECT a FROM r [NOW] AS x OFFSET 3;", ("H802", "OFFSET")),
        ("SELECT TOP 3 a FROM r [NOW];", ("H802", "TOP")),
        ("SELECT x.a FROM (SELECT a FROM r [NOW]) x;", ("H802", "(SELECT")),
        ("SELECT a FROM r [NOW], (SELECT a FROM r [NOW]) AS x;", ("H802", "(SELECT")),
        ("SELECT CASE WHEN a > 1 THEN 1 ELSE 0 END FROM r [NOW];", ("H802", "CASE")),
        ("SELECT CASE a WHEN 1 THEN 1 END FROM r [NOW];", ("H802", "CASE")),
        ("SELECT a FROM r [NOW] WHERE CASE WHEN a = 1 THEN 1 END = 1;", ("H802", "CASE")),
        ("SELECT SUM(a) OVER (PARTITION BY b) FROM s [NOW];", ("H802", "OVER")),
        ("WITH v AS (SELECT a FROM r [NOW]) SELECT a FROM v;", ("H802", "WITH")),
        ("SELECT limit.a FROM r [NOW] limit, ;", ("H801", ";")),
        ("SELECT a FROM r [RANGE 5 parsecs];", ("H802", "parsecs")),
        (
            "SELECT a FROM s [PARTITION BY a ROWS 1 RANGE 3];",
            ("H802", "[PARTITION BY a ROWS 1 RANGE 3]"),
        ),
        ("SELECT AVG(a) FROM r [NOW];", ("H802", "AVG(a)")),
        (
            "SELECT a FROM r [NOW] WHERE EXISTS (SELECT COUNT(*) FROM s [NOW]);",
            ("H802", "SELECT"),
        ),
        ("CREATE TABLE r (x);", ("H804", "CREATE TABLE r (x)")),
        ("SELECT 1 FROM r [NOW], r [NOW];", ("H804", "r")),
        ("SELECT a FROM q [NOW];", ("H807", "q")),
        ("SELECT c FROM r [NOW];", ("H807", "c")),
        ("SELECT t.a FROM r [NOW];", ("H807", "t.a")),
        ("SELECT a FROM r [NOW], s [NOW];", ("H807", "a")),
        ("SELECT a FROM s [PARTITION BY z ROWS 1];", ("H807", "z")),
        ("INSERT INTO k VALUES (1);", ("H808", "INSERT INTO k")),
        ("SELECT a FROM r [NOW] UNION SELECT a, b FROM s [NOW];", ("H808", "*")),
        ("SELECT a FROM r [NOW] WHERE a IN (SELECT * FROM s [NOW]);", ("H808", "a")),
        ("SELECT a FROM r;", ("H809", "r")),
        ("SELECT a FROM k [NOW];", ("H809", "k")),
        ("SELECT a, COUNT(*) FROM r [NOW];", ("H810", "a")),
        ("SELECT a FROM r [NOW] WHERE COUNT(*) > 1;", ("H810", "COUNT(*)")),
    ],
)
def test_one_mistake(text: str, expected: tuple[str, str]) -> None:
    source = Text("q", DECLARED + text)
    statements, findings = read_source(source)
    found = [*findings, *translated(statements, source)[1]]
    assert [finding.code for finding in found] == [expected[0]]
    shown = found[0].as_json()
    assert expected[1] in ("*", shown["text"])
    assert shown["line"] == 3 and shown["hint"]
