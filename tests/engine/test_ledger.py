"""The laws of the changelog: what was, and is new, and is not gone, is what is."""

from __future__ import annotations

import pytest
from hypothesis import given
from tests.engine.comparing import Setting, batches_of, lines, read, seen, tables_of
from tests.strategies.runs import Run, runs
from tests.weights import examples

from horai.engine.answer import Answer, Which
from horai.lang.core.terms import Constant, make
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

CHANGES: tuple[Which, ...] = ("window", "new", "gone")


def answers(run: Run, archive: bool = True) -> list[Answer]:
    """All answers of a run, kept until its end: a part may be asked for late."""
    setting = Setting(run.cut.queries, run.cut.window, run.described.tick)
    session = CompiledEngine(read(run.described.text), **setting.options(), archive=archive)
    batches = batches_of(run.items, setting.queries)
    return [
        session.advance(query, tables_of(batch))
        for query, batch in zip(setting.queries, batches, strict=True)
    ]


@examples("heavy")
@given(runs(lateness=15))
def test_changes_turn_each_answer_into_the_next(run: Run) -> None:
    known: set[str] = set()
    for answer in answers(run):
        parts = {which: seen(answer)[which] for which in ("all", *CHANGES)}
        new, gone = set(parts["new"]), set(parts["gone"])
        assert not new & known and gone <= known
        assert all(len(set(lines)) == len(lines) for lines in parts.values())
        known = known - gone | new
        assert known == set(parts["all"])
        assert set(parts["window"]) <= known


@examples("heavy")
@given(runs(lateness=15))
def test_without_an_archive_changes_are_the_same(run: Run) -> None:
    for full, lean in zip(answers(run), answers(run, archive=False), strict=True):
        for which in CHANGES:
            assert lines(lean, which) == lines(full, which)
        with pytest.raises(KeyError):
            lean.part("all")


def test_what_leaves_the_window_is_not_taken_back() -> None:
    text = (
        "initiatedAt(on=true,T) :- happensAt(up,T).\nterminatedAt(on=true,T) :- happensAt(down,T)."
    )
    items = [OracleItem(Constant("up"), None, 3, 3, 3), OracleItem(Constant("down"), None, 6, 6, 6)]
    session = CompiledEngine(read(text), window=10)
    first = seen(session.advance(10, tables_of(items)))
    later = seen(session.advance(40))
    assert first["new"] == ["down at 6", "on=true (4,7)", "up at 3"]
    assert later["new"] == later["gone"] == later["window"] == []
    assert later["all"] == first["all"]


def test_an_open_span_is_replaced_when_it_ends() -> None:
    text = "initiatedAt(on(X)=true,T) :- happensAt(up(X),T).\n"
    text += "terminatedAt(on(X)=true,T) :- happensAt(down(X),T)."
    session = CompiledEngine(read(text), window=5)
    session.advance(10, tables_of([OracleItem(make("up", Constant("a")), None, 8, 8, 8)]))
    session.advance(20)
    found = seen(
        session.advance(30, tables_of([OracleItem(make("down", Constant("a")), None, 28, 28, 28)]))
    )
    assert found["gone"] == ["on(a)=true (9,inf)"]
    assert found["new"] == ["down(a) at 28", "on(a)=true (9,29)"]
