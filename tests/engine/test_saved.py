"""Sessions that are saved and go on elsewhere answer as if nothing had happened."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.itemtables import row
from tests.engine.tables import beyond, huge, nested
from tests.strategies.runs import Run, runs
from tests.strategies.streams import Windows
from tests.weights import examples

from horai import io
from horai.engine.answer import Answer, Which, events_of, spans_of
from horai.engine.columns import Column, as_codes, column_of, terms_of
from horai.engine.packing import Packer, Unpacker
from horai.engine.saved import NAME, NotRestored
from horai.engine.session import Session
from horai.engine.symbols import Symbols
from horai.lang.core.printer import show
from horai.lang.core.terms import DEEPEST, Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.lang.ec.reader import read_text
from horai.oracle.ec.session import OracleItem
from horai.temporal.spans import Spans

PARTS: tuple[Which, ...] = ("window", "all", "new", "gone")


def said(answer: Answer) -> list[object]:
    """All parts of an answer, and what was not used, in a form that can be compared."""
    found: list[object] = [answer.query]
    for which in PARTS:
        part = answer.part(which)
        spans, events = spans_of(part, answer.symbols), events_of(part, answer.symbols)
        found.append({f"{show(f)}={show(v)}": times for (f, v), times in spans.items()})
        found.append({show(event): times for event, times in events.items()})
    found.append([(d.file, d.line, d.reason, d.query, d.text) for d in answer.dropped])
    return found


def tables(items: list[OracleItem], cut: Windows, query: int) -> list[io.ItemTable]:
    """The items given at a query time: all at once at the first but those that arrive later."""
    low = query - cut.step if query > cut.step else -(10**9)
    rows = [row(item, line) for line, item in enumerate(items, 1) if low < item.arrival <= query]
    return list(io.Narrative.from_items(rows).tables)


def check(run: Run, data: st.DataObject) -> None:
    """Save and restore before some of the queries, all of them included."""
    description = read_text(run.described.text)[0]

    def fresh() -> Session:
        return Session(description, tick=run.described.tick, window=run.cut.window)

    whole, other = fresh(), fresh()
    early = data.draw(st.booleans(), label="all items at once")
    for place, query in enumerate(run.cut.queries):
        if data.draw(st.booleans(), label=f"restored before {query}"):
            saved = other.save()
            other = fresh()
            other.restore(saved)
            assert len(other.save()) == len(saved)
        if early:
            rows = [row(item, line) for line, item in enumerate(run.items, 1)] if not place else []
            given_now = list(io.Narrative.from_items(rows).tables)
        else:
            given_now = tables(run.items, run.cut, query)
        assert said(other.advance(query, given_now)) == said(whole.advance(query, given_now))
    left = [[(d.file, d.line, d.text) for d in s.finish()] for s in (whole, other)]
    assert left[0] == left[1]


ANY = runs() | runs(lateness=20)  # in the second, items come too late


@examples("heavy")
@given(run=ANY, data=st.data())
def test_restored_sessions_answer_alike(run: Run, data: st.DataObject) -> None:
    check(run, data)


# --- terms ---------------------------------------------------------------------------------------

STRANGE: list[Term] = [
    Constant("New York"),
    Constant("it's"),
    Constant(""),
    Constant("[]"),
    ListTerm(()),
    Constant("Ünï\n\\"),
    Constant("-"),
    Str('say "no"'),
    Str("a"),
    Float(float("inf")),
    Float(1e-300),
    Float(-2.5),
    Int(-3),
    Int(2**61),
    Int(-(10**5000)),
    Compound("-", (Int(1),)),
    Compound("-", (Compound("-", (Int(-1),)),)),
    Compound(",", (Constant("a"), Compound(":-", (Constant("b"), Constant("|"))))),
    ListTerm((Int(1), ListTerm((Str("x"),))), Constant("t")),
    Compound("f", (Compound("f", (Float(0.1),)), Compound("f", (Float(0.1),)))),
]


def through(term: Term) -> list[Term]:
    """A term as part of a column and by itself, saved and read by a session with other codes."""
    symbols, others = Symbols([Constant("unused")]), Symbols([Str("a"), Constant("met before")])
    column = as_codes(column_of([term, Constant("b"), term], symbols), symbols)
    packed = Packer(symbols, {}).bytes("test 1", (column, term))
    assert b"unused" not in packed
    found, alone = Unpacker("test 1", packed, others, {}).whole()
    assert isinstance(found, Column)
    listed = terms_of(found, others)
    assert listed[1] == Constant("b")
    return [listed[0], listed[2], alone]


@pytest.mark.parametrize("term", STRANGE, ids=range(len(STRANGE)))
def test_strange_terms_come_back(term: Term) -> None:
    assert through(term) == [term, term, term]


@examples("light")
@given(term=nested | st.builds(Int, huge | beyond) | st.builds(Str, st.text()))
def test_any_term_comes_back(term: Term) -> None:
    assert through(term) == [term, term, term]


def test_forms_of_values_keep_their_variables() -> None:
    form = Compound("f", (Var("X"), Var("_#1"), ListTerm((), Var("X"))))
    packed = Packer(Symbols(), {}).bytes("test 1", form)
    assert Unpacker("test 1", packed, Symbols(), {}).whole() == form


def test_the_deepest_terms_come_back() -> None:
    deep: Term = Constant("a")
    for _ in range(DEEPEST):
        deep = Compound("f", (deep,))
    assert through(deep)[0] == deep


# --- refusals ------------------------------------------------------------------------------------

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
"""


def session(
    text: str = RULES,
    start: int = 0,
    window: int = 20,
    tick: int = 1,
    allen_memory: int | None = None,
    archive: bool = True,
) -> Session:
    return Session(
        read_text(text)[0],
        start=start,
        window=window,
        tick=tick,
        allen_memory=allen_memory,
        archive=archive,
    )


def fed() -> Session:
    """A session that has forgotten the start of the run, and knows what may still change."""
    found = session()
    items = [
        OracleItem(Compound(f"{word}", (Constant(name),)), None, time, time, time)
        for word, time, name in [("up", 3, "a"), ("up", 4, "b"), ("down", 12, "a")]
    ]
    rows = [row(item, line) for line, item in enumerate(items, 1)]
    found.advance(15, io.Narrative.from_items(rows).tables)
    found.advance(30)
    return found


SAVED = fed().save()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("start", session(start=1)),
        ("window", session(window=19)),
        ("tick", session(tick=2)),
        ("allen_memory", session(allen_memory=5)),
        ("archive", session(archive=False)),
    ],
)
def test_other_settings_are_refused(name: str, other: Session) -> None:
    with pytest.raises(NotRestored, match=rf"saved with {name}=\w+, and this one has {name}=\w+; "):
        other.restore(SAVED)


def test_other_rules_are_refused() -> None:
    with pytest.raises(NotRestored, match="saved with other rules; load those"):
        session(RULES.replace("down", "off")).restore(SAVED)


def test_a_refusal_leaves_the_session_as_it_was() -> None:
    found = session()
    for saved in (b"", b"something else", SAVED[:-1], session(start=1).save()):
        with pytest.raises(NotRestored):
            found.restore(saved)
    found.restore(SAVED)
    assert said(found.advance(40))[0] == 40
    with pytest.raises(ValueError, match="40 is not after 40"):
        found.advance(40)


@examples("light")
@given(place=st.integers(0, len(SAVED) - 1), change=st.integers(1, 255))
def test_damaged_bytes_are_refused(place: int, change: int) -> None:
    saved = bytearray(SAVED)
    saved[place] ^= change
    with pytest.raises(NotRestored, match="no saved session that can be read: the bytes are "):
        session().restore(bytes(saved))


@examples("light")
@given(place=st.integers(0, len(SAVED) - 200), change=st.integers(1, 255))
def test_bytes_with_a_forged_checksum_crash_nothing(place: int, change: int) -> None:
    body = bytearray(SAVED.partition(b"\n")[2])
    body[place] ^= change
    forged = f"{NAME} {hashlib.sha256(body).hexdigest()}\n".encode() + bytes(body)
    found = session()
    try:
        found.restore(forged)
    except NotRestored:
        return
    assert len(found.memories) == 1


def test_spans_of_pairs_that_are_not_there_are_refused() -> None:
    found = session()
    found.restore(SAVED)
    fluent = found.memories[0].fluents["on", 1]
    fluent.spans = Spans(np.array([7]), np.array([1]), np.array([2]))
    with pytest.raises(NotRestored, match="do not fit together"):
        session().restore(found.save())
