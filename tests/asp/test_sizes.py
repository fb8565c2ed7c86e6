"""How large a ground program may get is known beforehand, and decides what is tried when."""

from __future__ import annotations

import pytest
from tests.asp.comparing import program, signals

from horai.asp import engine
from horai.asp.encode import Kinds, Writer, fact_lines, in_a_row
from horai.asp.engine import AspSession, most_instances
from horai.asp.symbols import PredicateNames
from horai.plan.lars.normal import normal_form


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("h(X) :- g(X), a(X) [3]. g(1..9).", 9),
        ("h(X,Y) :- g(X), f(Y), a(X) [3]. g(1..9). f(1..4).", 36),
        ("h(X,Y) :- g(X), g(Y). k(X) :- h(X,Y), f(X). g(1..9). f(1..4).", 81 + 36),
        ("r(X,Y) :- e(X,Y). r(X,Z) :- r(X,Y), r(Y,Z). e(1,2). e(2,3). e(3,4).", 9 + 27),
        ("h(X) :- a(X) [3].", 1),  # only the stream tells
        ("h :- not k. k :- not h.", 2),
    ],
)
def test_the_bound(text: str, most: int) -> None:
    assert most_instances(normal_form(program(text))) == most


def test_a_large_program_is_kept_ground_only_after_many_questions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine, "MOST_RULES", 20)
    monkeypatch.setattr(engine, "LATER", 5)
    session = AspSession(program("h(X,Y) :- g(X), g(Y), a(X) [1], not a(Y) [1]. g(1..9)."))
    for time in range(12):
        answers = session.advance(time, signals(f"{time}: a({1 + time % 3})"))
        assert session.multishot is not None
        # It has 81 rules, which is found out when it has been asked once.
        assert (session.multishot.clingo is None) == (time != 5), time
        assert session.multishot.is_too_large == (time > 5)
        (model,) = answers.models
        assert len(model.now) == (8 if time == 0 else 14)


def test_numbers_in_a_row_are_one_fact() -> None:
    given = normal_form(program("g(1..3). g(7). k(a). k(2,3). g(x)."))
    writer = Writer(PredicateNames([]), Kinds(given))
    assert sorted(fact_lines(given.facts, writer)) == [
        *("g(1..3).", "g(7).", "g(x).", "k(2,3).", "k(a).")
    ]
    assert in_a_row([]) == []
