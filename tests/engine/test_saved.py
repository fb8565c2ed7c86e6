"""Sessions that are saved and go on elsewhere answer as if nothing had happened."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.engine.comparing import NO_INSTRUCTIONS, batches_of, tables_of
from tests.engine.itemtables import row
from tests.engine.tables import beyond, huge, nested
from tests.engine.test_compiled import RUNS
from tests.strategies.runs import Run
from tests.weights import examples

import horai
from horai import io
from horai.engine.answer import Answer, Which, events_of, spans_of
from horai.engine.columns import Column, as_codes, column_of, terms_of
from horai.engine.core.saved import NAME
from horai.engine.packing import NotRestored, Packer, Unpacker
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.lang.core.printer import show
from horai.lang.core.terms import DEEPEST, Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.lang.ec.errors import EngineError
from horai.lang.ec.reader import read_text
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine
from horai.runtime.engines import EngineSession

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


def check(run: Run, data: st.DataObject) -> None:
    """Save and restore before some of the queries, all of them included."""
    description = read_text(run.described.text)[0]

    def fresh() -> EngineSession:
        return CompiledEngine(
            description,
            start=0,
            window=run.cut.window,
            tick=run.described.tick,
            allen_memory=None,
            predicates={},
        )

    whole, other = fresh(), fresh()
    early = data.draw(st.booleans(), label="all items at once")
    numbered = [replace(item, tag=line) for line, item in enumerate(run.items, 1)]
    batches = batches_of(numbered, run.cut.queries)
    for place, query in enumerate(run.cut.queries):
        if data.draw(st.booleans(), label=f"restored before {query}"):
            saved = other.save()
            other = fresh()
            other.restore(saved)
            assert len(other.save()) == len(saved)
        if early:
            given_now = [] if place else tables_of(numbered)
        else:
            given_now = tables_of(batches[place])
        assert said(other.advance(query, given_now)) == said(whole.advance(query, given_now))
    left = [[(d.file, d.line, d.text) for d in s.finish()] for s in (whole, other)]
    assert left[0] == left[1]


@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(data=st.data())
def test_restored_sessions_answer_alike(kind: str, data: st.DataObject) -> None:
    try:
        check(data.draw(RUNS[kind]()), data)
    except UsageError as error:
        assert NO_INSTRUCTIONS in str(error)
        event("refused")
    except EngineError:
        event("impossible")
    else:
        event("ran")


def test_the_same_rules_are_the_same_program_every_time() -> None:
    text = """
    collectIntervals(i(_)=_). collectIntervals(j(_)=_). collectIntervals(k(_)=_).
    holdsFor(both(E)=true,I) :-
        holdsFor(i(E)=a,I1), holdsFor(j(E)=b,I2), holdsFor(k(E)=c,I3), intersect_all([I1,I2,I3],I).
    """
    made = [CompiledEngine(horai.loads(text).description).program for _ in range(20)]
    assert all(one.code == made[0].code for one in made)


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
    packed = Packer(symbols).bytes("test 1", (column, term))
    assert b"unused" not in packed
    found, alone = Unpacker("test 1", packed, others).whole()
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
    packed = Packer(Symbols()).bytes("test 1", form)
    assert Unpacker("test 1", packed, Symbols()).whole() == form


def test_the_deepest_terms_come_back() -> None:
    deep: Term = Constant("a")
    for _ in range(DEEPEST):
        deep = Compound("f", (deep,))
    assert through(deep)[0] == deep


# --- refusals ------------------------------------------------------------------------------------

RULES = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
initiatedAt(beside(X)=Y, T) :- happensAt(meet(X, Y), T), holdsAt(on(Y)=true, T).
holdsFor(both(X)=true, I) :-
    holdsFor(on(X)=true, I1), holdsFor(near(X)=true, I2), intersect_all([I1, I2], I).
fi(on(X)=true, on(X)=tired, 30).
"""


def session(
    text: str = RULES,
    start: int = 0,
    window: int = 20,
    tick: int = 1,
    allen_memory: int | None = None,
    archive: bool = True,
) -> EngineSession:
    return CompiledEngine(
        read_text(text)[0],
        start=start,
        window=window,
        tick=tick,
        allen_memory=allen_memory,
        predicates={},
        archive=archive,
    )


def items(*said: tuple[Any, ...], since: int = 0, back: int = 0) -> list[io.ItemTable]:
    """Events (name, time, arguments...), near(a) since a time, and a retraction of an event."""
    listed = [
        OracleItem(Compound(name, tuple(map(Constant, args))), None, time, time, max(time, back))
        for name, time, *args in said
    ]
    if since:
        near = Compound("near", (Constant("a"),))
        listed.append(OracleItem(near, Constant("true"), since, since + 40, since))
    if back:
        listed[0] = replace(listed[0], retract=True)
    rows = [row(item, line) for line, item in enumerate(listed, 1)]
    return list(io.Narrative.from_items(rows).tables)


def fed(text: str = RULES) -> EngineSession:
    """A session that has forgotten the start of the run, and knows what may still change."""
    found = session(text)
    found.advance(
        15, items(("up", 3, "a"), ("up", 4, "b"), ("up", 5, "c"), ("down", 12, "a"), since=2)
    )
    late = (("meet", 20, "c", "b"), ("meet", 21, "c", "a"), ("up", 22, "a"), ("down", 29, "b"))
    found.advance(30, items(*late))
    return found


SAVED = fed().save()


@pytest.mark.parametrize(
    ("name", "value"), [("start", 1), ("window", 19), ("tick", 2), ("archive", False)]
)
def test_other_settings_are_refused(name: str, value: int | bool) -> None:
    text = RULES if name != "tick" else RULES.partition("holdsFor")[0]
    other = session(text, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(NotRestored, match=rf"saved with {name}=\w+, and this one has {name}=\w+; "):
        other.restore(SAVED)


def test_another_memory_of_relations_is_refused() -> None:
    with pytest.raises(NotRestored, match="saved with allen_memory=None, and this one has"):
        session(allen_memory=5).restore(SAVED)


def test_other_rules_are_refused() -> None:
    with pytest.raises(NotRestored, match="saved with other rules; load those"):
        session(RULES.replace("down", "off")).restore(SAVED)


def test_a_refusal_leaves_the_session_as_it_was() -> None:
    found = session()
    for saved in (b"", b"something else", SAVED[:-1], session(start=1).save()):
        with pytest.raises(NotRestored):
            found.restore(saved)
    found.restore(SAVED)
    assert said(found.advance(40, []))[0] == 40
    with pytest.raises(ValueError, match="40 is not after 40"):
        found.advance(40, [])


PLACES = st.floats(0, 1, exclude_max=True)


@examples("light")
@given(place=PLACES, change=st.integers(1, 255))
def test_damaged_bytes_are_refused(place: float, change: int) -> None:
    saved = bytearray(SAVED)
    saved[int(place * len(saved))] ^= change
    with pytest.raises(NotRestored, match="no saved session that can be read: the bytes are "):
        session().restore(bytes(saved))


@examples("light")
@given(places=st.lists(PLACES, min_size=1, max_size=4), change=st.integers(1, 255))
def test_bytes_with_a_forged_checksum_crash_nothing(places: list[float], change: int) -> None:
    """Whatever is not refused answers something, or says why not."""
    body = bytearray(SAVED.partition(b"\n")[2])
    for place in places:
        body[int(place * len(body))] ^= change
    name = SAVED.partition(b"\n")[0].rpartition(b" ")[0]
    forged = b"%s %s\n%s" % (name, hashlib.sha256(body).hexdigest().encode(), body)
    found = session()
    try:
        found.restore(forged)
    except NotRestored:
        return
    go_on(found)


def go_on(found: EngineSession) -> None:
    """Let a session answer once more, or say why not."""
    more = (("meet", 31, "c", "b"), ("down", 32, "c"), ("up", 33, "d"))
    with suppress(EngineError):
        said(found.advance(40, items(("up", 22, "a"), *more, since=35, back=36)))
        found.save()


LISTS = """
collectIntervals(near(_)=true).
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
initiatedAt(beside(X)=Y, T) :- happensAt(meet(X, Y), T), holdsAt(near(_)=true, T).
holdsFor(off(X)=true, I) :- holdsFor(on(X)=true, I1), complement_all([I1], I).
holdsFor(any=true, I) :- holdsFor(on(_)=true, I1), union_all([I1], I).
holdsFor(long(X)=true, I) :- holdsFor(near(X)=true, I1), intDurGreater(I1, 5, I).
holdsFor(within(X)=true, I) :-
    holdsFor(near(X)=true, I1), holdsFor(on(X)=true, I2), allen(overlaps, I1, I2, union, I).
happensAt(begun(X), T) :- happensAt(start(off(X)=true), T), holdsAt(on(Y)=true, T), X \\= Y.
initiatedAt(late(X)=true, T) :- happensAt(begun(X), T), \\+ holdsAt(any=true, T).
fi(late(X)=true, late(X)=false, 9) :- holdsAt(off(X)=true, T).
"""
SYMBOLS = Symbols()
STATES = {text: Unpacker(NAME, fed(text).save(), SYMBOLS).whole() for text in (RULES, LISTS)}
ODD = st.integers(-9, 70) | st.sampled_from([2**31, 2**40, 2**62, -(2**62), 2**63 - 1, -(2**63)])


@pytest.mark.parametrize("text", STATES, ids=["points", "lists"])
@examples("light")
@given(data=st.data())
def test_numbers_that_do_not_fit_crash_nothing(text: str, data: st.DataObject) -> None:
    """Of arrays of the machine: numbers that are other, pieces that are too short or long."""
    arrays = {name: array.copy() for name, array in STATES[text]["machine"].items()}
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from([name for name in sorted(arrays) if len(arrays[name])]))
        place = data.draw(st.integers(0, len(arrays[name]) - 1))
        match data.draw(st.sampled_from(["other", "other", "other", "more", "less"])):
            case "other":
                arrays[name][place] = data.draw(ODD)
            case "more":
                arrays[name] = np.insert(arrays[name], place, data.draw(ODD))
            case "less":
                arrays[name] = np.delete(arrays[name], place)
    forged = Packer(SYMBOLS).bytes(NAME, STATES[text] | {"machine": arrays})
    found = session(text)
    try:
        found.restore(forged)
    except NotRestored:
        event("refused")
        return
    event("taken up")
    go_on(found)


DURING = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
terminatedAt(on(X)=true, T) :- happensAt(down(X), T).
initiatedAt(near(X)=true, T) :- happensAt(come(X), T).
terminatedAt(near(X)=true, T) :- happensAt(go(X), T).
holdsFor(seen(X)=true, I) :-
    holdsFor(on(X)=true, A), holdsFor(near(X)=true, B), allen(during, A, B, target, I).
"""


def test_what_lies_inside_of_an_open_interval_is_not_forgotten() -> None:
    """What was inside of it may lie before the window when the interval ends."""
    steps = {10: [("come", 4, "a"), ("up", 8, "a")], 20: [("down", 12, "a")], 30: [], 45: []}
    found = session(DURING, window=10, archive=False)
    for query, come in (steps | {60: [("go", 55, "a")]}).items():
        saved = found.save()
        found = session(DURING, window=10, archive=False)
        if query > 10:
            found.restore(saved)
        answer = found.advance(query, items(*come))
    spans = {
        show(f): times for (f, _), times in spans_of(answer.part("new"), answer.symbols).items()
    }
    assert spans == {"near(a)": [(5, 56)], "seen(a)": [(5, 56)]}
