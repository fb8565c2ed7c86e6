"""The plan engine says what the reference says, at every query time."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.lars.plain_programs import Sent, Story, signals, stories
from tests.lars.planned import by_plan, by_reference, few_rounds
from tests.weights import examples

from horai.errors import RunError
from horai.oracle.lars.grounding import EndlessDerivation

__all__ = ["few_rounds"]

# A signal may be taken back when it is forgotten already.
FORGOTTEN = Story("g(x).\ng(3).\np1(X) :- s(X), X != y.", (Sent("s", ("x",), 0, 0, gone=2),), 0)

# What facts or recursive rules say may come as a signal, too.
FACT = Story("g(x).\np1(X) :- g(X), s(y).", (Sent("s", ("y",), 1, 1), Sent("g", ("3",), 1, 1)), 0)
SEED = Story("g(x).\np1(X) :- g(X), p1(Y).", (Sent("p1", ("3",), 4, 4),), 0)

# Each atom leads to one a point later.
ENDLESS = Story("p1(X) :- s(X).\n@(T + 1) p1(X) :- @T p1(X).", (Sent("s", ("x",), 1, 1),), 0)

STOPPED = Story(
    "p1(X) :- s(X).\n@(T + 1) p1(X) :- @T p1(X), not s(y).",
    (Sent("s", ("x",), 1, 1), Sent("s", ("y",), 1, 1)),
    0,
)


def test_a_negation_may_bring_an_end() -> None:
    """The reference takes down all that may hold before it looks at negations."""
    with pytest.raises(EndlessDerivation):
        by_reference(STOPPED)
    assert by_plan(STOPPED)[1] == {"p1(x)", "p1(y)"}
    with pytest.raises(RunError, match="without end"):
        by_plan(ENDLESS)


def check(story: Story) -> None:
    """Both say the same, or that there is no end."""
    try:
        wanted = by_reference(story)
    except EndlessDerivation:
        # What may hold has no end there; with a negation, or a box, what does hold can have one.
        try:
            by_plan(story)
            assert "not " in story.text or "always" in story.text
        except RunError as error:
            assert "without end" in str(error)
        return
    assert by_plan(story) == wanted


@examples("heavy")
@given(stories())
@example(FORGOTTEN)
@example(FACT)
@example(SEED)
@example(ENDLESS)
def test_plain_programs(story: Story) -> None:
    check(story)


COUNTING = (
    "n(N) :- N = count { X : s(X) [3] }. busy(N) :- n(N), N > 1, r(X) [2]. :- n(3), r(y).",
    "p(X) :- s(X) [2], count { Y : r(Y) [3], Y != X } >= 1. q(N) :- N = count { Y : p(Y) }.",
    "last(X,M) :- r(X) [3 #], M = max { U : @U s(X) [4] }. calm :- not sum { Y : s(Y) [2] } > 2.",
    "m(N) :- N = count { Y, U : @U s(Y) [4] ; Y : r(Y) [1] }, not r(x). o(N) :- m(N), not m(2).",
)


@examples("normal")
@given(st.sampled_from(COUNTING), signals(late=True))
def test_counting_from_tick_to_tick(text: str, sent: tuple[Sent, ...]) -> None:
    story = Story(text, sent, 0)
    assert by_plan(story) == by_reference(story)


REACHING = (
    "path(X,Y) :- e(X,Y) [{}]. path(X,Z) :- path(X,Y), path(Y,Z).",
    "path(X,Y) :- e(X,Y) [{}]. path(X,Z) :- e(X,Y) [{}], path(Y,Z), not s(Y).",
    "odd(X,Y) :- e(X,Y) [{}]. odd(X,Z) :- even(X,Y), e(Y,Z) [2].\n"
    "even(X,Z) :- odd(X,Y), e(Y,Z) [2].",
    "path(X,Y) :- e(X,Y) [{}], X != Y. path(X,Z) :- path(X,Y), path(Y,Z).\n"
    "apart(X,Y) :- n(X), n(Y), not path(X,Y). ends(N) :- N = count {{ X, Y : path(X,Y) }}.",
    "far(X,1) :- e(x,X) [{}]. far(Y,N + 1) :- far(X,N), e(X,Y) [{}], N < 3.",
    # Through points that heads name, windows over what the rules themselves derive, aggregates.
    "path(X,Y) :- e(X,Y) [{}]. @(T + 1) path(X,Y) :- @T path(X,Y), T < 9.\n"
    "path(X,Z) :- path(X,Y) [2], path(Y,Z).",
    "far(X,0) :- e(x,X) [{}].\nfar(Y,N + 1) :- far(X,N), e(X,Y) [{}], N < 4, not s(Y), "
    "count {{ Z : e(Y,Z) [{}] }} < 2.",
    "p(X) :- e(X,_) [{}]. @T p(Y) :- @T p(X), e(X,Y) [{}].\n"
    "q(X) :- always p(X) [1]. p(X) :- q(Y), e(Y,X) [2].",
    "p(X) :- s(X) [{}]. p(Y) :- p(X), e(X,Y) [{}], N = count {{ Z : e(X,Z) [2] }}, N > 0.\n"
    "@T p(Y) :- @T e(X,Y) [{}], p(X). q :- p(X), p(Y), X != Y, not p(3).",
)
NODES = ("x", "y", "3")
edges = st.lists(st.tuples(st.integers(0, 8), st.sampled_from(NODES), st.sampled_from(NODES)))


@examples("normal")
@given(st.sampled_from(REACHING), st.sampled_from(["1", "3", "2 #", "4 #"]), edges, signals(True))
def test_recursion_from_tick_to_tick(
    text: str, window: str, given: list[tuple[int, str, str]], sent: tuple[Sent, ...]
) -> None:
    rules = text.format(*[window] * 3) + "\nn(x). n(y). n(3)."
    seen = [Sent("e", (one, other), time, time) for time, one, other in given]
    story = Story(rules, tuple(sorted([*seen, *sent], key=lambda one: one.arrival)), 0)
    assert by_plan(story, 9) == by_reference(story, 9)


PINNED = (
    "@T high :- @T s(X) [{}], X = x. lfu :- always high [2]. mid(T) :- @T high [1].",
    "@(T + 1) p(X) :- @T s(X) [{}]. q(X) :- p(X). soon(X) :- p(X) [+1]. p(X) :- r(X), not s(X).",
    "@(T - 2) p(X) :- @T s(X) [{}]. q(X,T) :- @T p(X) [3 hop 2].\n"
    "w(X) :- always p(X) [from 2 to 3].",
    "@3 p(X) :- s(X) [{}]. q(X) :- @3 p(X). n(N) :- N = count {{ T, X : @T p(X) }}. :- p(y), r(x).",
    "p(X) :- s(X) [{}]. q(X) :- always p(X) [2], not p(y). o(T) :- @T p(_) [only p(x)].\n"
    "z :- not q(x).",
    "q(X) :- s(X) [{} hop 2]. r2(X) :- s(X) [{}, +2], not always r(X) [{} hop 3].\n"
    "u :- s(_) [only s(x)].",
    "l(X,T) :- @T s(X) [1 # per s(A)].\n"
    "m(X) :- s(X) [{} # per s(x), s(_)], not r(X) [2 # per r(A)].\n"
    "n(N) :- N = count {{ X : s(X) [2 # per s(A), r(A)] }}.",
)


@examples("normal")
@given(st.sampled_from(PINNED), st.sampled_from(["1", "3", "4"]), signals(late=True))
def test_points_from_tick_to_tick(text: str, window: str, sent: tuple[Sent, ...]) -> None:
    """Heads that name points, and windows of all kinds over points."""
    story = Story(text.format(window, window, window), sent, 0)
    assert by_plan(story) == by_reference(story)


BETWEEN = (
    "p(X) :- s(X) [from F to L].",
    "p(T) :- @T s(X) [from F to L], not r(X) [from L to 6].",
    "p(X) :- always s(X) [from F to L].",
    "q(X) :- s(X). p(X) :- s(X), not q(X) [from F to L], not @L r(x) [from 1 to L].",
    "@T q(X) :- @T s(X) [4]. p(X) :- always q(X) [from 1 to L], q(F) [from F to L].",
    "p(N) :- N = count { X, T : @T s(X) [from F to L] }.",
)
GIVEN = ("@F r(_), @L r(x)", "e(F, L)", "s(F) [3], @L r(_)", "@T s(x), F = T - 1, L = T + 1")


@examples("normal")
@given(
    st.sampled_from(BETWEEN), st.sampled_from(GIVEN), signals(late=True), st.sampled_from([0, 2])
)
def test_windows_between_times_that_rules_work_out(
    text: str, ends: str, sent: tuple[Sent, ...], start: int
) -> None:
    *others, last = text.split(". ")
    rules = [*others, f"{last[:-1]}, {ends}", "e(0, 3). e(2, 5). e(3, y). e(4, 3). e(1, 2.5)", ""]
    story = Story(". ".join(rules), sent, start)
    assert by_plan(story) == by_reference(story)
