"""A program is made once for sessions of the same description, which share nothing that changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.engine.comparing import at, batches_of, tables_of
from tests.engine.test_compiled import NO_INSTRUCTIONS, RUNS
from tests.engine.test_dynamic_domains import DOMAIN
from tests.engine.test_dynamic_domains import RULES as DYNAMIC
from tests.engine.test_dynamic_domains import items as guests
from tests.engine.test_saved import said
from tests.strategies.wild_parts import PREDICATES
from tests.weights import examples

import horai
from horai.engine.core.layout import NotLowered
from horai.engine.core.lowered import MOST, Remembered
from horai.engine.core.program import Lowering
from horai.engine.profile import Profile
from horai.errors import UsageError
from horai.lang.ec.errors import EngineError, Undefined, heard_by
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

RULES = """
initiatedAt(at(X)=P, T) :- happensAt(come(X, N), T), place(N, P), \\+ closed(P).
initially(at(door)=open).
place(1, here). place(2, f(there, 2.5)). place(3, 1e300).
closed(P) :- place(N, P), N > 2.
"""


def described(text: str) -> EventDescription:
    return read_text(text)[0]


def outcome(session: CompiledEngine, query: int, items: Sequence[OracleItem]) -> list[object] | str:
    """An answer, or why there is none."""
    try:
        return said(session.advance(query, tables_of(items)))
    except EngineError as error:
        return str(error)


class Beside:
    """A session, and one whose description nobody else has: they have to answer alike."""

    def __init__(self, text: str, description: EventDescription, **options: Any) -> None:
        self._make: Callable[[], CompiledEngine] = lambda: CompiledEngine(description, **options)
        self.session = self._make()
        self.alone = CompiledEngine(described(text), **options)

    def advance(self, query: int, items: Sequence[OracleItem]) -> None:
        """Raises `EngineError` where both do."""
        expected = outcome(self.alone, query, items)
        assert outcome(self.session, query, items) == expected
        if isinstance(expected, str):
            raise EngineError(expected)

    def restored(self) -> None:
        """Go on in another session."""
        saved = self.session.save()
        self.session = self._make()
        self.session.restore(saved)


def check(
    text: str, items: Sequence[OracleItem], queries: Sequence[int], data: st.DataObject, **how: Any
) -> None:
    """Sessions of one description that are made one after the other, each with items of its own."""
    description = described(text)
    batches = batches_of(items, queries)
    sessions: list[Beside] = []
    for query, batch in zip(queries, batches, strict=True):
        if len(sessions) < 3:
            sessions.append(Beside(text, description, **how))
        for number, one in enumerate(sessions):
            if data.draw(st.booleans(), label=f"session {number} restored before {query}"):
                one.restored()
            one.advance(query, batch[:: number + 1])


@pytest.mark.parametrize("kind", RUNS)
@examples("heavy")
@given(data=st.data())
def test_sessions_do_not_disturb_each_other(kind: str, data: st.DataObject) -> None:
    run = data.draw(RUNS[kind]())
    how = {"window": run.cut.window, "tick": run.described.tick, "predicates": PREDICATES}
    try:
        check(run.described.text, run.items, run.cut.queries, data, **how)
    except UsageError as error:
        assert NO_INSTRUCTIONS in str(error)
        event("refused")
    except EngineError:
        event("impossible")


@examples("normal")
@given(rules=st.sampled_from([*DYNAMIC]), items=guests(), data=st.data())
def test_sessions_have_members_of_their_own(
    rules: str, items: list[OracleItem], data: st.DataObject
) -> None:
    window = data.draw(st.sampled_from([None, 16]))
    check(DOMAIN + DYNAMIC[rules], items, range(6, 37, 6), data, window=window)


def test_a_second_session_has_the_program_of_the_first() -> None:
    description = described(RULES)
    first = CompiledEngine(description)
    assert CompiledEngine(description, window=5, archive=False).program is first.program
    for others in ({"start": 1}, {"tick": 2}, {"allen_memory": 3}, {"predicates": {"own": len}}):
        assert CompiledEngine(description, **others).program is not first.program
    assert CompiledEngine(described(RULES)).program is not first.program


def test_a_later_session_begins_with_the_terms_of_the_rules_and_no_items() -> None:
    description = described(RULES)
    begun = list(CompiledEngine(description).symbols)
    for _ in range(3):
        session = CompiledEngine(description)
        assert list(session.symbols) == begun
        session.advance(9, tables_of([at("come(new, 1)", 3), at("come(f(new), 2)", 4)]))
        assert len(session.symbols) > len(begun)


def test_rules_python_had_a_say_in_become_a_program_for_each_session() -> None:
    """What a function answers may be other in the next run."""
    homes = {1: "here", 2: "there"}
    rules = horai.loads(
        """
        happensAt(seen(X, P), T) :- happensAt(come(X), T), home(P).
        home(P) :- n(N), own(N, P).
        n(1). n(2).
        """,
        predicates={"own": lambda n: homes[n]},
    )
    found = []
    for homes[2] in ("there", "elsewhere"):
        rows = rules.run("come|1|1|a\n", engine="compiled").rows()
        found.append([row.args for row in rows])
    assert found == [[("a", "here"), ("a", "there")], [("a", "elsewhere"), ("a", "here")]]


def test_questions_to_python_are_those_of_the_session() -> None:
    """Functions of one name and as many parameters make the same program, and answer for each."""
    description = described("initiatedAt(at(X)=P, T) :- happensAt(come(X), T), own(X, P).")
    sessions = [
        CompiledEngine(description, predicates={"own": own})
        for own in (lambda x: f"{x} one", lambda x: f"{x} two")
    ]
    assert sessions[0].program is sessions[1].program
    for session, number in zip(sessions, ("one", "two"), strict=True):
        found = said(session.advance(5, tables_of([at("come(a)", 1)])))
        assert f"at(a)='a {number}'" in str(found)


def test_what_has_no_value_is_told_to_each_session() -> None:
    text = "initiatedAt(has(X)=P, T) :- happensAt(speed(X, _), T), share(P).\n"
    description = described(f"{text}share(P) :- part(N), P is 6 / N.\npart(0). part(2).")
    heard = []
    for _ in range(3):
        run = Undefined()
        with heard_by(run):
            CompiledEngine(description)
        heard.append([(one.condition, list(one.values)) for one in run.places.values()])
    assert heard[0] and heard[1] == heard[2] == heard[0]


def test_a_refusal_is_the_same_every_time() -> None:
    description = described("holdsFor(p(X)=true,I) :- holdsFor(q(X)=true,I).\n")
    refused = NotLowered("what is asked here", description.rules[0].clause)
    refusals = []
    with patch.object(Lowering, "program", side_effect=refused) as lowering:
        for _ in range(3):
            with pytest.raises(UsageError) as caught:
                CompiledEngine(description)
            refusals.append(str(caught.value))
        assert lowering.call_count == 1
    assert NO_INSTRUCTIONS in refusals[0] and len(set(refusals)) == 1


def test_a_second_session_can_be_watched() -> None:
    description = described(RULES)
    items = tables_of([at("come(a, 1)", 1), at("come(b, 2)", 2)])
    plain = CompiledEngine(description).advance(5, items)
    watched, profile = CompiledEngine(description), Profile()
    watched.watch(profile)
    assert said(watched.advance(5, items)) == said(plain)
    assert any(one.rows_out for one in profile.rules.values())
    assert said(CompiledEngine(description).advance(5, items)) == said(plain)


def test_what_was_used_last_is_remembered() -> None:
    known: Remembered[int] = Remembered()
    descriptions = [described(RULES) for _ in range(MOST + 1)]
    for number, one in enumerate(descriptions[:MOST]):
        known.put(one, (), number)
    assert known.get(descriptions[0], ()) == 0
    assert known.get(descriptions[0], (1,)) is None
    known.put(descriptions[MOST], (), MOST)
    assert [known.get(one, ()) for one in descriptions] == [0, None, *range(2, MOST + 1)]
