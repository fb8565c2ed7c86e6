"""Answer streams of programs: the worked examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.lars.story import (
    answers_on,
    atoms,
    by_trying_all,
    derived_at,
    derived_on,
    formula,
    program,
    stream,
)
from tests.lars.test_windows import D1, D2

from horai.lang.core.source import rebuilt
from horai.lang.lars.syntax import Atom, TupleWindow
from horai.oracle.lars import grounding
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.grounding import EndlessDerivation, Instance, is_model
from horai.oracle.lars.stream import Stream, WindowFunction, tuple_based

D2_LATE = Stream(30, 50, D2.signals)
PLAN = """
plan(l1,b,m,8). plan(l2,g,m,7). plan(l3,h,m,3). line(a1,l1). line(a2,l2). line(a3,l3).
"""
EXPECTED = (
    PLAN
    + """
@T exp(Id,Y) :- @T1 tram(Id,X) [1 # per tram(I,_)], line(Id,L), not jam(X) [20],
                plan(L,X,Y,Z), T = T1 + Z.
gc(I1,I2,X) :- @T exp(I1,X), @T [+5] some exp(I2,X), I1 != I2, not old(I2).
"""
)
CHANGE = """
change(I1,I2,X) :- on(I1), gc(I1,I2,X), not skip(I1,I2,X).
skip(I1,I2,X) :- gc(I1,I2,X), change(I1,I3,X), I2 != I3.
"""
TRAMS = {36: "tram(a1,b), bus(b1,b)", 38: "tram(a2,g)", 40: "tram(a3,h), bus(b1,s)", 42: "on(a3)"}


def test_g19_abstraction_and_negation() -> None:
    text = """
    q(U,A,St) :- @U tram(A,St), @U not busSoon(St).
    @U busSoon(St) :- @U [+3] some bus(B,St).
    """
    soon = {"b": range(33, 37), "s": range(37, 41), "m": range(42, 46)}
    expected = {f"{time}:busSoon({station})" for station, times in soon.items() for time in times}
    assert derived_on(text, D2_LATE, 45) == [expected | {"45:q(40,a3,h)"}]


def test_g19_abstraction_the_other_way_round() -> None:
    text = """
    q(U,A,St) :- @U tram(A,St), @U not [+3] some aBus(St).
    @U aBus(St) :- @U bus(B,St).
    """
    buses = {"36:aBus(b)", "40:aBus(s)", "45:aBus(m)"}
    assert derived_on(text, D2_LATE, 45) == [buses | {"45:q(40,a3,h)"}]


def test_g21_expected_arrivals() -> None:
    data = Stream(30, 50, D1.signals)
    assert derived_on(EXPECTED + "old(a1).", data, 42) == [{"43:exp(a3,m)", "44:exp(a1,m)"}]


def test_g22_two_answer_streams() -> None:
    found = derived_on(EXPECTED + CHANGE, stream(30, 50, TRAMS), 42)
    common = {
        *("43:exp(a3,m)", "44:exp(a1,m)", "45:exp(a2,m)"),
        *("42:gc(a3,a1,m)", "42:gc(a1,a2,m)", "42:gc(a3,a2,m)"),
    }
    assert len(found) == 2
    assert common | {"42:change(a3,a1,m)", "42:skip(a3,a2,m)"} in found
    assert common | {"42:change(a3,a2,m)", "42:skip(a3,a1,m)"} in found


def test_g23_new_data_takes_back_what_was_derived() -> None:
    data = stream(30, 50, {**TRAMS, 42: "on(a3), jam(b)"})
    expected = {"43:exp(a3,m)", "45:exp(a2,m)", "42:gc(a3,a2,m)", "42:change(a3,a2,m)"}
    assert derived_on(EXPECTED + CHANGE, data, 42) == [expected]


def test_g27_recursion_stops_at_the_end_of_the_timeline() -> None:
    further = """
    plan(l3,m,k,4). plan(l3,k,z,9). old(a1).
    @TY exp(Id,Y) :- @TX exp(Id,X), line(Id,L), plan(L,X,Y,D), TY = TX + D.
    """
    expected = {"43:exp(a3,m)", "44:exp(a1,m)", "47:exp(a3,k)"}
    assert derived_on(EXPECTED + further, Stream(30, 50, D1.signals), 42) == [expected]


def test_g24_a_head_outside_of_the_timeline() -> None:
    data = stream(0, 1, {0: "e"})
    ground = Instance(formula("@5 a"), (formula("@0 e"),))
    assert list(Problem([ground], data, 1).answer_streams()) == []
    assert derived_on("@T a :- @T1 e, T = T1 + 5.", data, 1) == [set()]


def test_time_without_an_end() -> None:
    text = "@T a :- @T1 e, T = T1 + 5. soon :- a [+5]. far :- a [+3]."
    assert derived_at(text, {0: "e"}, 1) == [{"5:a", "1:soon"}]


def test_rules_that_never_end_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grounding, "MOST_ROUNDS", 30)
    with pytest.raises(EndlessDerivation):
        derived_at("@U a :- @T a, U = T + 1. a :- e.", {0: "e"}, 0)


def test_g25_a_caching_strategy() -> None:
    text = "@T high :- @T alpha(V) [30], V >= 18. lfu :- always high [30]."
    values = {t: "alpha(12)" if t < 10 else "alpha(19)" for t in range(41)}
    data = stream(0, 40, values)
    assert derived_on(text, data, 39) == [{f"{t}:high" for t in range(10, 40)}]
    assert derived_on(text, data, 40) == [{f"{t}:high" for t in range(10, 41)} | {"40:lfu"}]


def test_g26_t01_derived_atoms_leave_with_the_window() -> None:
    text = "b(X) :- a(X) [2]."
    found = [derived_at(text, {7: "a(x)"}, time) for time in (6, 7, 8, 9, 10)]
    assert found == [[set()], [{"7:b(x)"}], [{"8:b(x)"}], [{"9:b(x)"}], [set()]]


def test_g28_choice_by_negation() -> None:
    text = "tram(S) :- station(S), not bus(S). bus(S) :- station(S), not tram(S). station(s)."
    assert derived_at(text, {}, 0) == [{"0:bus(s)"}, {"0:tram(s)"}]


def test_g28_joins() -> None:
    text = """
    tram(t1,x1). tram(t2,x2). line(t2,l2). line(b1,l3). bus(b1,y).
    q(L) :- tram(I,X), line(I,L). q2(L) :- bus(I,Y), line(I,L), not q(L).
    """
    assert derived_at(text, {}, 0) == [{"0:q(l2)", "0:q2(l3)"}]


def counts_all(size: int) -> WindowFunction:
    """The tuple window of the papers, which counts what is derived like signals.

    Of the atoms of a time point, the first by name comes last.
    """

    def window(data: Stream, time: int) -> Stream:
        others = sorted(data.derived, key=lambda pair: repr(pair[1]), reverse=True)
        every = sorted((*data.signals, *others), key=lambda pair: pair[0])
        return tuple_based(replace(data, signals=tuple(every), derived=frozenset()), time, size)

    return window


def counting(text: str) -> list[Instance]:
    """Ground rules whose tuple windows count all atoms."""

    def change(part: Any) -> Any:
        if isinstance(part, TupleWindow):
            assert part.past is not None
            return counts_all(part.past)
        return rebuilt(part, change)

    bodies = ((r.head, [rebuilt(one, change) for one in r.body]) for r in program(text).rules)
    return [Instance(head, tuple(body)) for head, body in bodies]


COUNTED = """
c. d :- c [1 #]. (a, b) :- d. b :- a [1 #]. a :- b [1 #].
"""


def test_g20_tuple_windows_that_count_derived_atoms_may_leave_no_answer() -> None:
    problem = Problem(counting(COUNTED), Stream(0, 0), 0)
    candidates = [(0, Atom(name)) for name in "abcd"]
    assert list(by_trying_all(problem, candidates)) == []

    def models(names: str) -> bool:
        held = problem.data.plus([(0, Atom(name)) for name in names])
        return is_model(problem.instances, Structure(held), 0)

    subsets = ["".join(c for i, c in enumerate("abcd") if n >> i & 1) for n in range(16)]
    assert [names for names in subsets if models(names)] == ["abc", "abcd"]


def test_t19_tuple_windows_as_a_rule_count_signals_only() -> None:
    assert derived_at("b :- a [1 #].", {0: "a"}, 1) == [{"1:b"}]
    problem = Problem(counting("b :- a [1 #]."), Stream(0, 1, ((0, Atom("a")),)), 1)
    assert list(by_trying_all(problem, [(1, Atom("b"))])) == []


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("a :- not not a.", [set()]),
        ("a ; b.", [{"0:a"}, {"0:b"}]),
        ("a :- not b. b :- not a.", [{"0:a"}, {"0:b"}]),
        ("a :- not a.", []),
        ("a :- a.", [set()]),
        ("a :- b. b :- a. a :- not c.", [{"0:a", "0:b"}]),
        ("a :- b. b :- not c. c :- not a.", [{"0:a", "0:b"}, {"0:c"}]),
        ("a. :- a.", []),
        ("{ a }. :- not a.", [{"0:a"}]),
        ("{ a ; b }.", [{"0:a"}, {"0:a", "0:b"}, {"0:b"}, set()]),
        ("1 { a ; b ; c } 1.", [{"0:a"}, {"0:b"}, {"0:c"}]),
        ("n(1..3). { p(X) : n(X), X > 1 } = 1.", [{"0:p(2)"}, {"0:p(3)"}]),
        ("{ a } :- b.", [set()]),
        ("a ; b. a :- b. b :- a.", [{"0:a", "0:b"}]),
        ("a ; b :- not c.", [{"0:a"}, {"0:b"}]),
        ("a :- (b ; not b).", [{"0:a"}]),
        ("a :- (c -> b).", [{"0:a"}]),
        ("x. y :- x.", [{"0:y"}]),
    ],
)
def test_g28_g33_g41_answer_sets(text: str, answers: list[set[str]]) -> None:
    assert sorted(derived_at(text, {}, 0), key=sorted) == sorted(answers, key=sorted)


def test_g42_answers_as_rules_are_added() -> None:
    added = ["a :- b.", "b :- not c.", "a :- d.", "d :- c.", "c :- d.", "c :- not e.", "e."]
    models = ["", "ab", "ab", "ab", "ab", "acd", "ab"]
    for number, model in enumerate(models, 1):
        (found,) = derived_at(" ".join(added[:number]), {}, 0)
        assert found == {f"0:{name}" for name in model}
    without_third = [*added[:2], *added[3:]]
    assert derived_at(" ".join(without_third), {}, 0) == [{"0:a", "0:b"}]
    assert derived_at(" ".join(without_third[:-1]), {}, 0) == [{"0:c", "0:d"}]


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("a ; b. d :- a [0]. d :- b [0].", [{"0:a", "0:d"}, {"0:b", "0:d"}]),
        ("@0 a :- not always b [3]. b :- not a.", [{"0:a"}, {"0:b"}]),
        ("[+2] always a.", [{"0:a", "1:a", "2:a"}]),
        ("[+1] some a.", [{"0:a"}, {"1:a"}]),
        ("@2 a. b :- a [+2], not a.", [{"2:a", "0:b"}]),
    ],
)
def test_windows_over_derived_atoms(text: str, answers: list[set[str]]) -> None:
    assert sorted(derived_at(text, {}, 0), key=sorted) == sorted(answers, key=sorted)


def test_g45_push_and_pull() -> None:
    signals = {1: "a", 3: "a"}

    def times(text: str) -> list[int]:
        found = [(t, derived_at(text, signals, t)) for t in range(6)]
        return [t for t, (answer,) in found if f"{t}:q" in answer]

    assert times("q :- a [2], c. c :- a [0].") == [1, 3]
    assert times("q :- a [2], c. c :- @T true [0], T % 2 = 0.") == [2, 4]


def test_a_window_at_a_time_that_another_one_has_cut_off() -> None:
    signals = {5: "x(1)"}
    assert derived_at("h(Y) :- [3 hop 3] [1] some x(Y).", signals, 8) == [{"8:h(1)"}]
    assert derived_at("h(Y) :- [from 4 to 6] [1] some x(Y).", signals, 8) == [{"8:h(1)"}]
    assert derived_at("h(Y) :- [9] [1] some x(Y).", signals, 8) == [set()]


def test_an_interval_that_selects_nothing() -> None:
    signals = {0: "x(1)", 1: "x(a)"}
    assert derived_at("h :- [from 5 to 3] always not x(1).", signals, 1) == [{"1:h"}]
    assert derived_at("h :- x(1) [from 5 to 3].", signals, 1) == [set()]
    assert derived_at("h :- @T x(U), [from T to U] some x(U).", signals, 1) == [{"1:h"}]


def test_every_answer_is_the_whole_stream() -> None:
    (answer,) = answers_on(program("b :- a. c(1)."), stream(0, 2, {1: "a"}), 1)
    assert answer.at(1) == {*atoms("a, b, c(1)")}
    assert answer.at(2) == {*atoms("c(1)")}


def test_g29_equivalent_rules() -> None:
    data = stream(0, 5, {1: "b", 4: "c"})
    assert derived_on("a :- b [10 #], c [10 #].", data, 5) == [{"5:a"}]
    assert derived_on("a :- [10 #] (some b, some c).", data, 5) == [{"5:a"}]
    assert derived_on("a :- [10 #] some (b, c).", data, 5) == [set()]


def test_g38_maximal_intervals_and_events() -> None:
    text = """
    [from T1 to T4] always a :-
        whole(x,T1,T2), whole(y,T3,T4), T2 < T3.
    whole(x,T1,T2) :- @T1 x, @T2 x, T1 <= T2, [from T1 to T2] always x,
        B = T1 - 1, E = T2 + 1, not @B x, not @E x.
    whole(y,T1,T2) :- @T1 y, @T2 y, T1 <= T2, [from T1 to T2] always y,
        B = T1 - 1, E = T2 + 1, not @B y, not @E y.
    """
    (found,) = derived_on(text, stream(2, 5, {2: "x", 5: "y"}), 3)
    everywhere = {"2:a", "3:a", "4:a", "5:a"}
    assert {atom for atom in found if atom.endswith(":a")} == everywhere
    # With `@B not x`, a point outside of the timeline ends no interval: there must be one more.
    literal = text.replace("not @B", "@B not").replace("not @E", "@E not")
    for first, last, expected in ((2, 5, set()), (1, 6, everywhere)):
        (found,) = derived_on(literal, stream(first, last, {2: "x", 5: "y"}), 3)
        assert {atom for atom in found if atom.endswith(":a")} == expected


def test_g37_t39_intervals_as_arguments() -> None:
    text = "x(1,4). x(3,5). y(6,8). z(T1,T4) :- x(T1,T2), y(T3,T4), T2 < T3."
    assert derived_at(text, {}, 0) == [{"0:z(1,8)", "0:z(3,8)"}]


CQL = (
    PLAN.replace("plan", "pl")
    + """
q(Id,Y,TY) :-
    tram(Id,St,T) [1 # per tram(I,_,_)], line(Id,L), pl(L,St,Y,D), not jammed(St), TY = T + D.
jammed(St) :- jam(St) [20].
"""
)


@pytest.mark.parametrize(
    ("more", "time", "expected"),
    [
        ({}, 42, {"q(a1,m,44)", "q(a3,m,43)"}),
        ({42: "jam(b)"}, 42, {"q(a3,m,43)"}),
        ({22: "jam(b)"}, 42, {"q(a3,m,43)"}),
        ({21: "jam(b)"}, 42, {"q(a1,m,44)", "q(a3,m,43)"}),
        ({41: "jam(h)"}, 42, {"q(a1,m,44)"}),
        ({41: "jam(z)"}, 42, {"q(a1,m,44)", "q(a3,m,43)"}),
        ({44: "tram(a1,m,44)"}, 45, {"q(a3,m,43)"}),
    ],
)
def test_g36_a_query_with_partitions(more: dict[int, str], time: int, expected: set[str]) -> None:
    signals = dict(sorted({36: "tram(a1,b,36)", 40: "tram(a3,h,40)", **more}.items()))
    (found,) = derived_at(CQL, signals, time)
    assert {atom.split(":")[1] for atom in found if ":q" in atom} == expected
