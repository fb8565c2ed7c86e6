"""One answer, some, all, what they have in common, the nearest: on the engines that can."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from tests.asp.programs import END, Kind, programs, streams
from tests.weights import examples

import horai
from horai.engine.lars.run import Signal
from horai.errors import UsageError
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.fragments import AnswerMode
from horai.runtime.lars.engines import Model, answer_mode, lars_engine
from horai.runtime.values import show
from horai.settings import RunSettings

CHOICE = "go(tram) :- s, not go(bus). go(bus) :- s, not go(tram). out :- s."


@pytest.mark.parametrize("engine", ["asp", "reference", "auto"])
def test_how_many_answers(engine: str) -> None:
    program = horai.loads(CHOICE, language="lars")

    def asked(**wanted: object) -> list[list[str]]:
        result = program.run(["s|1|1"], start=1, end=1, engine=engine, **wanted)  # type: ignore[arg-type]
        return [[show_atom(atom) for atom in model] for model in result.at(1).models]

    both = [["go(bus)", "out"], ["go(tram)", "out"]]
    assert asked(models="all") == asked(models=2) == asked(models="9") == both
    assert asked() in ([both[0]], [both[1]])
    assert asked(reasoning="brave") == [["go(bus)", "go(tram)", "out"]]
    assert asked(reasoning="cautious") == [["out"]]


def show_atom(atom: Atom) -> str:
    return f"{atom.name}({','.join(map(show, atom.args))})" if atom.args else atom.name


def test_there_may_be_no_answer() -> None:
    for engine in ("asp", "reference", "plan"):
        for reasoning in ("brave", "cautious"):
            result = horai.loads("a :- s. :- a.", language="lars").run(
                ["s|1|1"], start=1, end=1, engine=engine, reasoning=reasoning
            )
            assert [row.as_dict() for row in result.rows()] == [{"kind": "none", "query": 1}]


@pytest.mark.parametrize("engine", ["asp", "reference"])
def test_the_least_change(engine: str) -> None:
    """What was chosen is kept as long as that is possible."""
    text = "1 { on(a); on(b); on(c) } 1 :- s(X). :- on(X), bad(X)."
    rows = [f"s|{time}|{time}|x" for time in range(1, 9)] + ["bad|3|3|a", "bad|3|3|b"]
    result = horai.loads(text, language="lars").run(
        rows, start=1, end=8, engine=engine, least_change=True, filter="on"
    )
    assert {answer.texts()[0] for answer in result.answers[2:]} == {"on(c)"}
    session = horai.loads(text, language="lars").session(
        engine=engine, least_change=True, filter="on", start=1
    )
    session.advance(4, rows)
    assert session.advance(5).texts() == ["on(c)"]
    again = horai.load_session(session.save())
    assert again.advance(8, rows[5:8]).texts() == ["on(c)"]


def test_tms_says_what_it_cannot() -> None:
    for wanted in ({"models": "all"}, {"reasoning": "brave"}, {"least_change": True}):
        with pytest.raises(UsageError, match="there may be several models"):
            horai.loads(CHOICE, language="lars").run(["s|1|1"], engine="tms", **wanted)


def mode(**settings: Any) -> AnswerMode:
    return answer_mode(RunSettings.of("lars", "run", settings))


def test_wrong_use() -> None:
    for wrong in (True, -1, 0, "none", 1.5):
        with pytest.raises(UsageError, match="models cannot be"):
            mode(models=wrong)
    with pytest.raises(UsageError, match="reasoning cannot be 'bold'"):
        mode(reasoning="bold")
    with pytest.raises(UsageError, match="brave reasoning gives one answer"):
        mode(models=2, reasoning="brave")


def check(program: Program, signals: list[tuple[int, Atom]]) -> None:
    """Brave is the union of all answers, cautious what they share; some are some of them."""
    ways = {
        "some": AnswerMode(2),
        "brave": AnswerMode(reasoning="brave"),
        "cautious": AnswerMode(reasoning="cautious"),
        "steady": AnswerMode(least_change=True),
    }
    try:
        asked = {
            way: lars_engine("asp")(program, start=0, wanted=wanted) for way, wanted in ways.items()
        }
    except UsageError:
        assume(False)
    reference = lars_engine("reference")(program, start=0, wanted=AnswerMode(0))
    last: Model | None = None
    for query in range(END + 2):
        new = [Signal(t, order, atom) for order, (t, atom) in enumerate(signals) if t == query]
        expected = set(reference.advance(query, new, []))
        found = {way: set(session.advance(query, new, [])) for way, session in asked.items()}
        assert found["some"] <= expected
        assert bool(found["some"]) == bool(expected)
        if not expected:
            assert found["brave"] == found["cautious"] == found["steady"] == set()
            last = None
            continue
        assert found["brave"] == {frozenset[Atom]().union(*expected)}
        assert found["cautious"] == {frozenset[Atom].intersection(*expected)}
        (steady,) = found["steady"]
        assert steady in expected
        if last is not None:
            assert len(steady ^ last) == min(len(model ^ last) for model in expected)
        last = steady


KIND = Kind()


@examples("normal")
@given(programs(KIND), streams(KIND))
def test_answers_and_what_they_have_in_common(
    program: Program, signals: list[tuple[int, Atom]]
) -> None:
    check(program, signals)
