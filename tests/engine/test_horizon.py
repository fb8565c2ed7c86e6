"""What is final, and how far back a window still has to remember."""

from __future__ import annotations

import pytest

from horai.engine.horizon import Horizon
from horai.engine.memory import FOREVER
from horai.engine.world import Undecided
from horai.lang.ec.reader import read_text
from horai.plan.ec.reach import reach_of
from horai.plan.pipeline import compile_program

START, BORDER = 0, 100


def horizon(text: str, tick: int = 1) -> Horizon:
    return Horizon(compile_program(read_text(text)[0]), START, tick)


def cut(text: str, tick: int = 1, undecided: Undecided | None = None) -> int:
    """Up to where the last component is final when the window begins after the border."""
    found = horizon(text, tick)
    cuts: list[int] = []
    for place in range(len(found.program.strata)):
        settled = found.settled(place, BORDER, cuts)
        cuts.append(found.cut(place, settled, undecided or Undecided(), START))
    return cuts[-1]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("happensAt(e(X),T)", BORDER),
        ("happensAt(e(X),T), happensAt(f(X),T0), T0 < T, T-T0 < 9", BORDER),
        ("happensAt(e(X),T), happensAt(f(X),T0), T0 > T, T0-T < 9", BORDER - 8),
        ("happensAt(e(X),T), happensAt(f(X),T0), T0 > T", START),
        ("happensAt(e(X),T), happensAt(f(X),_)", START),
        ("happensAt(e(X),T), \\+ (happensAt(f(X),T0), T0 =< T+3, T0 >= T)", BORDER - 3),
        ("happensAt(e(X),T), queryTime(Q), Q > 3", START),
        ("happensAt(e(X),T), aggregate_all(count,happensAt(f(X),_),N), N > 1", START),
        ("happensAt(e(X),T), T2 is T+4, holdsAt(i(X)=true,T2)", BORDER - 4),
        ("happensAt(start(i(X)=true),T)", BORDER - 1),
    ],
)
def test_points_are_final_when_all_they_look_at_is(body: str, expected: int) -> None:
    text = f"collectIntervals(i(_)=true).\nhappensAt(o(X),T) :- {body}.\n"
    assert cut(text) == expected


def test_what_is_built_on_what_is_not_final_is_not_final() -> None:
    text = """
    happensAt(late(X),T) :- happensAt(e(X),T), happensAt(f(X),T0), T0 > T, T0-T < 9.
    initiatedAt(s(X)=true,T) :- happensAt(late(X),T).
    """
    assert cut(text) == BORDER - 8


def test_a_cut_ends_a_cell_of_the_grid_and_never_goes_back() -> None:
    text = "happensAt(o(X),T) :- happensAt(e(X),T)."
    assert (cut(text, tick=7) + 1) % 7 == 0
    found = horizon(text)
    assert found.cut(0, 50, Undecided(), 80) == 80


def test_intervals_that_may_still_grow_hold_the_cut_back() -> None:
    text = """
    collectIntervals(i(_)=true).
    holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I1), intDurGreater(I1,5,I).
    """
    assert cut(text, undecided=Undecided(longest=5.0)) == BORDER - 5 - 1 - 1
    assert cut(text, undecided=Undecided(longest=float("inf"))) == START
    text = text.replace("intDurGreater(I1,5,I)", "during(I1,I1,source,I)")
    assert cut(text, undecided=Undecided(earliest=40)) == 40 - 2


@pytest.mark.parametrize(
    ("limit", "back"),
    [("T-T0 < 9", 8), ("T-T0 =< 9", 9), ("T0 >= T-20", 20), ("T0 < T-1", None)],
)
def test_readers_look_back_as_far_as_they_say(limit: str, back: int | None) -> None:
    text = f"happensAt(o(X),T) :- happensAt(e(X),T), happensAt(f(X),T0), T0 < T, {limit}."
    found = horizon(text)
    looks = {look.source: look for look in reach_of(found.program.strata[0], found.program).looks}
    assert looks["event", ("f", 1)].back == back
    needed = found.needed([BORDER], BORDER, [BORDER])
    expected = FOREVER if back is None else BORDER - back - 2
    assert needed["event", ("f", 1)] == expected


LATE = "dynamicDomain(d(_)).\ngrounding(e(X)) :- d(X).\nnear(a,b).\n"


@pytest.mark.parametrize(
    ("rules", "forgets"),
    [
        ("initiatedAt(s(X)=v,T) :- happensAt(e(X),T).\ngrounding(s(X)=v) :- d(X).", True),
        ("initiatedAt(s(X)=v,T) :- happensAt(f(X),T).\ngrounding(s(X)=v) :- d(X).", False),
        ("initiatedAt(s(X)=v,T) :- happensAt(f(X),T).", True),
        ("initially(s(X)=v) :- d(X).\nterminatedAt(s(X)=v,T) :- happensAt(e(X),T).", True),
        (
            "initially(s(X)=v) :- d(X).\nterminatedAt(s(X)=v,T) :- happensAt(e(Y),T), near(Y,X).",
            False,
        ),
        (
            "initially(s(X)=v) :- d(X).\ninitiatedAt(s(X)=w,T) :- happensAt(e(X),T).\n"
            "fi(s(X)=v,s(X)=w,5).",
            False,
        ),
    ],
)
def test_a_component_that_notices_latecomers_forgets_nothing(rules: str, forgets: bool) -> None:
    assert cut(LATE + rules) == (BORDER if forgets else START)
