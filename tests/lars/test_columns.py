"""Signals as columns and signals one by one make no difference but in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, reject
from hypothesis import strategies as st
from tests.spark.lars_runs import LarsRun, plain_runs, split_runs
from tests.weights import examples

from horai import io, lars
from horai.errors import RunError
from horai.io.items.tables import extent
from horai.runtime.inputs import read_input
from horai.runtime.lars.log import Coming
from horai.runtime.lars.result import LarsAnswer, ShownAtoms

Said = tuple[list[LarsAnswer], list[io.DeadLetter]]


def both_ways(text: str, given: Any, files: list[str], **asked: Any) -> tuple[Said, Said]:
    """What a run says by columns, and row by row."""
    job = lars.loads(text).job(**asked)
    narrative = read_input(given, job.schema, job.times)
    queries = job.queries(extent(narrative.tables))
    assert Coming.of(narrative, files, job.shown) is not None
    fast, slow = job.session(queries.start, "plan"), job.session(queries.start, "plan")
    found = fast.over(narrative, files, queries)
    slow.take_in(narrative, files)
    wanted = slow.together(queries)
    end = queries.stop - 1
    return (found, fast.arrivals.finish(end)), (wanted, slow.arrivals.finish(end))


@examples("normal")
@given(st.one_of(plain_runs(), split_runs()))
def test_columns_and_rows_say_the_same(run: LarsRun) -> None:
    program = lars.loads(run.text)
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
        assert [answer.texts() for answer in found[0]] == [[f"last({last})"]]


def test_rows_outside_of_the_run_are_told() -> None:
    rows = ["s|0|0|x", "s|5|1|x", "s|6|6|y", "s|9|9|z", "s|7|0|x"]
    found, wanted = both_ways("h(X) :- s(X) [1].", rows, [], start=1, end=7, step=2)
    assert found == wanted
    assert [letter.line for letter in found[1]] == [1, 4, 5]


def test_what_is_taken_back_or_shown_goes_row_by_row() -> None:
    program = lars.loads("h(X) :- s(X) [1].")
    job = program.job()

    def coming(rows: list[str], shown: ShownAtoms = job.shown) -> Coming | None:
        return Coming.of(read_input(rows, job.schema, job.times), [], shown)

    assert coming(["s|1|1|x"]) is not None
    assert coming([]) is not None
    assert coming(["s|1|1|x", "-s|2|1|x"]) is None
    assert coming(["h|1|1|x"]) is None
    assert coming(["s|1|1|x"], ShownAtoms.parse("s", set())) is None
    assert coming(["s|1|1|x"], replace(job.shown, everything=True)) is None
