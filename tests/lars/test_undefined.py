"""Text where programs need numbers, and division by zero: told whatever the engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai import loads
from horai.lang.core.diagnostics import Diagnostic
from horai.runtime.lars.buckets import ProgramJob
from horai.runtime.records import LocalGrid
from horai.runtime.spark.batch import run_job
from horai.settings import RunSettings

ENGINES = ("plan", "asp", "tms", "reference")
SLOW = "slow(X) :- temp(X, V) [5 s], V < 90.\n"


def warnings(
    rules: str, rows: object, engine: str = "plan", **settings: object
) -> list[Diagnostic]:
    program = loads(rules, language="lars")
    return program.run(rows, engine=engine, **settings).warnings  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_different_texts_compared_with_a_number_are_counted(engine: str) -> None:
    rows = ["temp|1|1|x|8", "temp|2|2|x|fast", "temp|3|3|y|fast", "temp|4|4|y|8,5"]
    (found,) = warnings(SLOW, rows, engine)
    assert (found.code, found.severity) == ("H550", "warning")
    assert found.message.startswith("`V < 90` fails for 2 values:")
    assert found.note == "first V = fast: `fast` is no number (<memory>:2)"
    assert found.position == (1, SLOW.index("V < 90") + 1)
    (found,) = warnings(SLOW, rows[3:], engine)
    assert found.hint == "write 8.5 in the input"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("rules", "place"),
    [
        ("h(X) :- temp(X, V), 90 > V.", "90 > V"),
        ("h(X) :- temp(X, V), V - 1 > 0.", "V - 1 > 0"),
        ("h(X, Z) :- temp(X, V), Z = 2 * V.", "Z = 2 * V"),
        ("h(X, V + 1) :- temp(X, V).", "h(X, V + 1)"),
        ("h(X) :- temp(X, V), limit(X, L), V > L + 1. limit(x, 3).", "V > L + 1"),
        ("h(X) :- temp(X, V), W = 2 + 1, V < W.", "V < W"),
        ("s(V) :- temp(_, V) [5]. h(V) :- s(V), V < 9.", "V < 9"),
        ("s(X, V) :- temp(X, V). t(V, X) :- s(X, V). h :- t(V, x), V < 9.", "V < 9"),
    ],
)
def test_wherever_a_number_is_needed(engine: str, rules: str, place: str) -> None:
    rows = ["temp|1|1|x|8", "temp|2|2|x|fast"]
    (found,) = warnings(rules, rows, engine)
    assert found.message.startswith(f"`{place}` fails for 1 value:")
    assert found.note is not None and "<memory>:2" in found.note
    assert warnings(rules, rows[:1], engine) == []


@pytest.mark.parametrize(
    "rules",
    [
        ":- temp(_, V), V > 200.",
        "h(X) :- [3] (temp(X, V), V > 200).",
        "{ h(X) : V > 200 } :- temp(X, V).",
    ],
)
def test_in_constraints_formulas_and_choices(rules: str) -> None:
    (found,) = warnings(rules, ["temp|1|1|x|8", "temp|2|2|x|fast"], "reference")
    assert found.message.startswith("`V > 200` fails for 1 value:")


@pytest.mark.parametrize("engine", ["plan", "asp", "reference"])
@pytest.mark.parametrize("function", ["sum", "min", "max"])
def test_text_in_an_aggregate(engine: str, function: str) -> None:
    rules = f"h(S) :- S = {function} {{ V, X : temp(X, V) [3] }}.\n"
    (found,) = warnings(rules, ["temp|1|1|x|8", "temp|2|2|x|fast"], engine)
    assert found.note == "first V = fast: `fast` is no number (<memory>:2)"
    counted = "h(S) :- S = count { V, X : temp(X, V) [3] }.\n"
    assert warnings(counted, ["temp|2|2|x|fast"], engine) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("expression", ["9 / V", "9 mod V"])
def test_division_by_zero(engine: str, expression: str) -> None:
    rules = f"h(X) :- temp(X, V), {expression} > 1.\n"
    (found,) = warnings(rules, ["temp|1|1|x|4", "temp|2|2|x|0"], engine)
    assert found.message.startswith(f"`{expression} > 1` fails for 1 value:")
    assert found.note == "first V = 0: a division by zero (<memory>:2)"
    guarded = rules.replace("temp(X, V),", "temp(X, V), V > 0,")
    assert warnings(guarded, ["temp|1|1|x|4", "temp|2|2|x|0"], engine) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "rules",
    [
        "h(X) :- temp(X, V), V < slow.",
        "h(X) :- temp(X, V), temp(_, W), V < W.",
        "h(X) :- temp(X, V), V != fast, V < 90.",
        "h(X) :- temp(X, V), limit(V), V < 90. limit(8).",
        "h(X) :- temp(y, V), bus(X), V < 90. bus(b).",
        "s(V) :- temp(_, V), V != fast. h :- s(V), V < 90.",
        "s(X, V) :- temp(X, V). h :- s(y, V), V < 90.",
        "h(T) :- @T temp(_, _) [3], T < 90.",
        "h(V) :- temp(_, V), V = 8.",
    ],
)
def test_what_is_meant_is_not_told(engine: str, rules: str) -> None:
    assert warnings(rules, ["temp|1|1|x|8", "temp|2|2|x|fast"], engine) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_never_count_are_not_told(engine: str) -> None:
    rows = ["temp|1|1|x|early", "temp|3|3|x|8", "-temp|4|3|x|gone", "temp|9|9|x|late"]
    assert warnings(SLOW, rows, engine, start=2, end=5) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_facts_are_told_with_their_place(engine: str) -> None:
    rules = "limit(y, 3).\nlimit(x, many).\nh(X) :- temp(X, V), limit(X, L), V > L + 1.\n"
    (found,) = warnings(rules, ["temp|1|1|x|8"], engine)
    assert found.note == "first L = many: `many` is no number (<rules>:2)"


def test_rules_that_derive_from_each_other_are_followed_to_their_signals() -> None:
    rules = "p(X) :- q(X). q(X) :- p(X). p(V) :- temp(_, V). h(X) :- q(X), X < 9.\n"
    (found,) = warnings(rules, ["temp|1|1|x|fast"])
    assert found.message.startswith("`X < 9` fails for 1 value:")
    chain = "".join(f"p{i + 1}(X) :- p{i}(X).\n" for i in range(300))
    (found,) = warnings(f"{chain} h(X) :- p300(X), X < 9.\n", ["p0|1|1|fast"])
    assert found.note == "first X = fast: `fast` is no number (<memory>:1)"


@pytest.mark.parametrize("engine", ENGINES)
def test_sessions_tell_while_they_run(engine: str) -> None:
    session = loads(SLOW, language="lars").session(start=0, engine=engine)
    session.advance(5, ["temp|1|1|x|8", "temp|7|7|x|fast"])
    assert session.warnings == []
    session.advance(9, [])
    (found,) = session.warnings
    assert found.note is not None and "<memory>:2" in found.note


def test_a_code_can_be_turned_off() -> None:
    program = loads(SLOW, language="lars", severity={"H550": "off"})
    assert program.run(["temp|1|1|x|fast"]).warnings == []


def test_many_rows_are_looked_at_as_columns() -> None:
    rows = [{"type": "temp", "time": t, "args": ["x", f"v{t % 40}"]} for t in range(1, 2000)]
    (found,) = warnings(SLOW, rows, step=500)
    assert found.message.startswith("`V < 90` fails for 40 values:")
    assert found.note == "first V = v1: `v1` is no number (<memory>:1)"


@pytest.mark.parametrize("buckets", [1, 3])
@pytest.mark.parametrize(
    "rules",
    [
        SLOW + "h(X) :- slow(X), limit(X, L), L > 3. limit(q, many). z(X, V) :- w(X, V), V > 2.\n",
        "h(S) :- S = sum { V, X : temp(X, V) [3] }.\n",
        "h(X) :- temp(X, V), 9 / V > 1.\n",
        "h(X) :- other(X).\n",
    ],
)
def test_buckets_tell_what_one_process_tells(buckets: int, rules: str) -> None:
    program = loads(rules, language="lars")
    rows = ["temp|1|1|b|8,5", "temp|2|2|c|fast", "temp|2|2|b|fast", "temp|3|3|d|0"]
    rows += ["w|2|2|c|9", "limit|4|4|c|few", "limit|9|2|d|some"]
    job = ProgramJob(program, rows, RunSettings.of("lars", "run", {}))
    found = run_job(LocalGrid(), job, buckets).warnings
    assert found
    assert list(map(str, found)) == list(map(str, program.run(rows).warnings))


def test_buckets_tell_of_files_without_rows(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("none.csv", "head.csv", "some.csv")]
    for file, text in zip(files, ("", "type,time,x,v\n", "temp|1|1|a|fast\n"), strict=True):
        Path(file).write_text(text)
    program = loads(SLOW, language="lars")
    job = ProgramJob(program, files, RunSettings.of("lars", "run", {}))
    found = run_job(LocalGrid(), job, 2).warnings
    assert [one.code for one in found] == ["H550", "H552", "H552"]
    assert list(map(str, found)) == list(map(str, program.run(files).warnings))


VALUES = ("8", "0", "2.5", "-3", "fast", "'8,5'", "x")
NUMERIC = {"8": 8, "0": 0, "2.5": 2.5, "-3": -3}
TESTS: dict[str, Callable[[float], object]] = {
    "V < 5": lambda v: None,
    "5 >= V": lambda v: None,
    "V - 1 > 0": lambda v: None,
    "2 * V = W": lambda v: None,
    "9 / V > 1": lambda v: 1 / v,
    "7 mod V > 1": lambda v: 1 / v,
}


@examples("normal")
@given(
    st.sampled_from(sorted(TESTS)),
    st.lists(st.tuples(st.sampled_from("tu"), st.sampled_from(VALUES)), min_size=1, max_size=8),
    st.sampled_from(["", " [3]", " [2 hop 2]"]),
    st.sampled_from(["t(_, V){}", "t(a, V){}, u(_, V)", "d(V). d(V) :- t(_, V){}"]),
    st.integers(1, 9),
)
def test_the_values_counted_are_those_without_a_value(
    test: str, came: list[tuple[str, str]], window: str, source: str, end: int
) -> None:
    """Every value of a signal that a rule takes for a number, and that is none, is counted once."""
    body, _, more = source.format(window).partition(". ")
    program = loads(
        f"h(V) :- {body}, {test}.\n{more}.\n" if more else f"h(V) :- {body}, {test}.\n",
        language="lars",
    )
    rows = [f"{name}|{time}|{time}|a|{value}" for time, (name, value) in enumerate(came, 1)]
    known = came[:end]

    def has_value(value: str) -> bool:
        try:
            TESTS[test](NUMERIC[value])
        except (KeyError, ZeroDivisionError):
            return False
        return True

    wanted = {value for name, value in known if name == "t" and not has_value(value)}
    if "u(" in source:
        wanted &= {value for name, value in known if name == "u"}
    for engine in ENGINES:
        found = program.run(rows, engine=engine, start=0, end=end).warnings
        told = [one for one in found if one.code == "H550"]
        counts = sorted(int(one.message.split(" for ")[1].split()[0]) for one in told)
        kinds = (wanted - NUMERIC.keys(), wanted & NUMERIC.keys())  # texts, and zeros
        assert counts == sorted(len(some) for some in kinds if some), (engine, counts)
