"""What a session shows is what a run over all signals shows, and is made when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

import horai
from horai import io
from horai.lang.core.terms import Constant, Float, Int, Str
from horai.lang.lars.syntax import Atom
from horai.runtime.inputs import read_input
from horai.runtime.lars.admission import in_order, numbered
from horai.runtime.lars.answers import AtomTexts, CurrentAtoms, Key, StepAtoms, order
from horai.runtime.lars.signals import AnySignals, LineReader, text_lines

VALUES = [Int(1), Int(20), Float(1.0), Constant("a"), Str("a"), Constant("b")]
atoms = st.builds(
    lambda name, args: Atom(name, tuple(args)),
    st.sampled_from("pq"),
    st.lists(st.sampled_from(VALUES), max_size=2),
)


MANY = frozenset(Atom("q", (Int(number),)) for number in range(40))
slowly = st.lists(st.frozensets(atoms, max_size=2).map(lambda few: MANY ^ few), max_size=12)
"""Of many atoms a few come and go."""


@examples("normal")
@given(st.lists(st.frozensets(atoms, max_size=12), max_size=12) | slowly, st.data())
def test_steps_can_be_listed_at_any_time(steps: list[frozenset[Atom]], data: st.DataObject) -> None:
    showing = CurrentAtoms()
    kept: list[tuple[StepAtoms, frozenset[Atom]]] = []
    before: frozenset[Atom] = frozenset()
    for now in steps:
        came, gone = showing.become(now)
        assert (frozenset(came), frozenset(gone)) == (now - before, before - now)
        assert [came, gone] == [sorted(came, key=order), sorted(gone, key=order)]
        kept.append((showing.kept, now))
        if data.draw(st.booleans()):
            one, wanted = data.draw(st.sampled_from(kept))
            assert one.listed() == tuple(sorted(wanted, key=order))
        before = now
    for one, wanted in data.draw(st.permutations(kept)):
        assert one.listed() == tuple(sorted(wanted, key=order))


def test_steps_that_nobody_holds_are_gone() -> None:
    showing = CurrentAtoms()
    first = showing.kept
    for number in range(100):
        showing.change([Atom("p", (Int(number),))], [])
    assert first.listed() == ()
    assert first._later is None, "it needs the others no longer"
    assert len(showing.known) == 100


def test_a_step_costs_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is shown, a step looks only at atoms that come or go, and so does a changelog."""
    program = horai.loads("h(X) :- s(X) [1000].", language="lars")
    session = program.session(start=0, engine="plan")
    session.advance(0, [f"s|0|0|{number}" for number in range(400)])
    asked: list[Atom] = []
    compared: list[object] = []
    equal = Atom.__eq__

    def noted_order(atom: Atom) -> Key:
        asked.append(atom)
        return order(atom)

    def noted_equal(one: Atom, other: object) -> bool:
        compared.append(one)
        return equal(one, other)

    monkeypatch.setattr("horai.runtime.lars.answers.order", noted_order)
    monkeypatch.setattr(Atom, "__eq__", noted_equal)
    for time in range(1, 21):
        step = session.advance(time, [f"s|{time}|{time}|{1000 + time}"])
        assert [row.args for row in step.changes] == [(1000 + time,)]
    assert len(asked) == 20
    assert len(compared) < 200
    monkeypatch.undo()
    assert len(step.models[0]) == 420


FIELDS = ["1", "20", "2.5", " x ", "x", "New York", "f(1,a)", "-3", "007", "'q'", '"a|b"', "", "A"]
TIMES = ["0", "3", "12", "03", " 4", "x", "2.0", "-1", "1_0"]
lines = st.builds(
    lambda name, times, args: "|".join([name, *times, *args]),
    st.sampled_from(["s", "r2", "-s", "S", "'t'", " s", "é"]),
    st.lists(st.sampled_from(TIMES), min_size=1, max_size=2),
    st.lists(st.sampled_from(FIELDS), max_size=3),
)


@examples("light")
@given(st.lists(lines, min_size=1, max_size=4))
def test_rows_one_by_one_are_rows_together(given_lines: list[str]) -> None:
    schema, times = AnySignals.known([("s", 1)]), io.TimeScale()
    narrative = read_input("\n".join(given_lines) + "\n", schema, times)
    reader = LineReader(schema, times)
    listed = text_lines(given_lines)
    assert listed == given_lines
    found = reader.of_texts(listed)
    wanted = in_order(numbered(narrative.tables))
    assert [(repr(one), type(one)) for one in found] == [(repr(o), type(o)) for o in wanted]
    assert reader.dead_letters == sorted(narrative.dead_letters, key=lambda one: one.line)


def test_texts_of_atoms_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.runtime.lars.answers.MOST_TEXTS", 8)
    made: list[str] = []

    def text(name: str, args: Sequence[io.Term]) -> str:
        made.append(f"{name}{list(args)}")
        return made[-1]

    texts = AtomTexts(text)
    one, other = (tuple(Atom("p", (Int(n),)) for n in some) for some in (range(4), range(2, 5)))
    assert [texts.of(one), texts.of(one), texts.of(other)] == [
        *[[f"p[{n}]" for n in range(4)]] * 2,
        [f"p[{n}]" for n in range(2, 5)],
    ]
    assert len(made) == 7, "equal atoms that are not the same are made again"
    assert texts.of(one) == [f"p[{n}]" for n in range(4)]
    assert len(made) == 11, "those of before were let go, for there were too many"
