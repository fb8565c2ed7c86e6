"""Signals as columns and signals one by one make no difference but in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st
from tests.spark.lars_runs import LarsRun, plain_runs, split_runs
from tests.weights import examples

import horai
from horai import io
from horai.errors import RunError
from horai.io.items.tables import extent
from horai.lang.lars.predicates import derived
from horai.runtime.inputs import letters_of, read_input
from horai.runtime.lars.admission import Coming, numbered
from horai.runtime.lars.answers import AtomFilter, PointAnswer, PointAnswers, written
from horai.runtime.lars.engines import answer_mode
from horai.runtime.lars.session import ProgramEngine, program_queries
from horai.settings import RunSettings

Found = tuple[list[PointAnswer], list[io.DeadLetter]]


def engine_of(rules: horai.Rules, settings: RunSettings, start: int) -> ProgramEngine:
    """The plan engine for a whole run."""
    return ProgramEngine(
        rules.in_points(),
        start=start,
        step=settings.step or 1,
        engine="plan",
        wanted=answer_mode(settings),
        shown=AtomFilter.of_filter(settings.filter, derived(rules.program)),
        lateness=None,
    )


def both_ways(text: str, given: Any, files: list[str], **asked: Any) -> tuple[Found, Found]:
    """What a run says by columns, and row by row."""
    rules = horai.loads(text, language="lars")
    settings = RunSettings.of("lars", "run", asked)
    narrative = read_input(given, rules.schema, settings.scale)
    queries = program_queries(settings, extent(narrative.tables))
    tables = numbered(narrative.tables, files)
    fast, slow = (engine_of(rules, settings, queries.start) for _ in range(2))
    assert Coming.of(tables, fast.shown.may_show) is not None
    found = fast.over(tables, queries)
    slow.feed(tables)
    wanted = slow.take(queries)
    end = queries.stop - 1

    def letters(engine: ProgramEngine, said: PointAnswers) -> list[io.DeadLetter]:
        every = [*letters_of(said.dropped), *letters_of(engine.left(end))]
        return sorted(every, key=lambda letter: (letter.file, letter.line))

    return (found.points, letters(fast, found)), (wanted.points, letters(slow, wanted))


@examples("normal")
@given(st.one_of(plain_runs(), split_runs()))
def test_columns_and_rows_say_the_same(run: LarsRun) -> None:
    program = horai.loads(run.text, language="lars")
    if program.engine().name != "plan":
        return
    signals = [row for row in run.rows if row[0] in "srw"]  # what rules derive is shown
    asked = {name: run.settings[name] for name in ("start", "end", "step")}
    try:
        found, wanted = both_ways(run.text, signals, [], **asked)
    except RunError as error:
        assert "without end" in str(error)  # which has nothing to do with columns
        reject()
    assert found == wanted


def test_files_come_in_the_order_in_which_they_are_given(tmp_path: Path) -> None:
    for name, first in (("a.csv", "x"), ("b.csv", "y")):
        (tmp_path / name).write_text(f"s|1|1|{first}\nr|1|1|1\ns|1|1|{first}{first}\n")
    text = "last(X) :- s(X) [2 #]."
    for names, last in ((["a.csv", "b.csv"], "yy"), (["b.csv", "a.csv"], "xx")):
        files = [str(tmp_path / name) for name in names]
        found, wanted = both_ways(text, files, files)
        assert found == wanted
        assert [list(map(written, answer.atoms)) for answer in found[0]] == [[f"last({last})"]]


def test_rows_outside_of_the_run_are_told() -> None:
    rows = ["s|0|0|x", "s|5|1|x", "s|6|6|y", "s|9|9|z", "s|7|0|x"]
    found, wanted = both_ways("h(X) :- s(X) [1].", rows, [], start=1, end=7, step=2)
    assert found == wanted
    assert [letter.line for letter in found[1]] == [1, 4, 5]


def test_what_is_taken_back_or_shown_goes_row_by_row() -> None:
    rules = horai.loads("h(X) :- s(X) [1].", language="lars")
    inferred = AtomFilter.of_filter("inferences", derived(rules.program))

    def coming(rows: list[str], shown: AtomFilter = inferred) -> Coming | None:
        narrative = read_input(rows, rules.schema, io.TimeScale())
        return Coming.of(numbered(narrative.tables), shown.may_show)

    assert coming(["s|1|1|x"]) is not None
    assert coming([]) is not None
    assert coming(["s|1|1|x", "-s|2|1|x"]) is None
    assert coming(["h|1|1|x"]) is None
    assert coming(["s|1|1|x"], AtomFilter.of_filter("s", set())) is None
    assert coming(["s|1|1|x"], replace(inferred, everything=True)) is None
