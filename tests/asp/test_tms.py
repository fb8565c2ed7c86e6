"""LARS by truth maintenance: worked examples, what is refused, and random programs."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.asp.comparing import Signals, contents, plain, program, reference, signals
from tests.asp.programs import END, MIXED, NUMBERS, Kind, programs, sliding, streams
from tests.weights import examples

from horai.asp.tms import TmsSession
from horai.lang.lars.printer import show_program
from horai.lang.lars.syntax import Program
from horai.plan.lars.fragments import NotServed


def run(text: str, stream: str, until: int, start: int = 0) -> dict[int, set[str]]:
    """What holds at every time up to one."""
    session = TmsSession(program(text), start=start)
    given = signals(stream)
    found = {}
    for time in range(start, until + 1):
        (model,) = session.advance(time, [pair for pair in given if pair[0] == time]).models
        found[time] = {plain(a) for a in model.at(time)}
    return found


class TestWorkedExamples:
    def test_t01_a_window_slides(self) -> None:
        found = run("b(X) :- a(X) [2].", "7: a(x)", 11)
        assert [time for time in found if found[time]] == [7, 8, 9]
        assert found[8] == {"b(x)"}

    def test_g40_t04_t05_one_point_leaves_and_another_one_comes(self) -> None:
        """Windows over what rules derive and signals at once, from one time point to the next."""
        rules = "@T a(X) :- @T s(X) [9]. b(X) :- a(X) [2]. c(X) :- always a(X) [1]. d :- b(y) [1]."
        stream = "6: s(x); 7: s(x); 9: s(y)"
        found = run(rules, stream, 12)
        assert {a for a in found[8] if a[0] in "bcd"} == {"b(x)"}
        assert {a for a in found[9] if a[0] in "bcd"} == {"b(x)", "b(y)", "d"}
        assert {a for a in found[10] if a[0] in "bcd"} == {"b(y)", "d"}
        for time, held in found.items():
            assert {
                frozenset(a for at, a in content if at == time)
                for content in reference(program(rules), signals(stream), time)
            } == {frozenset(held)}

    def test_t06_a_new_signal_changes_no_label(self) -> None:
        session = TmsSession(program("b(X) :- a(X) [2]."))
        session.advance(7, signals("7: a(x)"))
        updates = session.jtms.updates
        for time in (8, 9, 10, 11):
            (model,) = session.advance(time, signals(f"{time}: a(x)")).models
            assert {plain(a) for a in model.at(time)} == {"b(x)"}
        # What the window holds stays the same, so nothing is labelled anew.
        assert session.jtms.updates == updates

    def test_t20_a_head_in_the_future(self) -> None:
        rules = "@T2 exp(I,Y) :- @T tram(I,X) [5], plan(X,Y,D), T2 = T + D. plan(x,y,5)."
        session = TmsSession(program(rules))
        (model,) = session.advance(36, signals("36: tram(i,x)")).models
        assert {plain(a) for a in model.at(41)} == {"exp(i,y)"}
        (model,) = session.advance(41).models
        assert {plain(a) for a in model.at(41)} == {"exp(i,y)"}
        (model,) = session.advance(42).models
        assert not model.derived

    def test_t21_filter_before_counting(self) -> None:
        rules = "@T last :- [only bus] [1 #] @T bus(I,X). @T any :- @T bus(I,X) [1 #]."
        session = TmsSession(program(rules))
        (model,) = session.advance(6, signals("3: bus(b1,s); 5: tram(t1,s)")).models
        assert {(time, plain(a)) for time, a in model.derived} == {(3, "last")}

    def test_t25_the_table_of_programs(self) -> None:
        rules = """
            h(X,Y) :- g(X,Y), p(X) [5 s], always q(Y) [7 #].
            @T k(X,Y) :- f(X), f(Y), @T p(X) [4 s], not always q(Y) [2 #].
            s(Z) :- g(X,Y), p(X) [2 #], q(Y) [2 #], Z = X + Y, up(U), Z <= U.
            g(1,2). f(1). f(2). up(9).
        """
        found = run(rules, "0: q(2) p(1); 1: q(2)", 1)
        assert found[0] == {"h(1,2)", "k(1,1)", "s(3)"}
        assert found[1] == {"h(1,2)", "s(3)"}

    def test_t26_values_that_count(self) -> None:
        rules = "@T high :- value(V), @T alpha(V) [30], V >= 18. value(0..25)."
        session = TmsSession(program(rules))
        every = " ".join(f"alpha({value})" for value in range(26))
        (model,) = session.advance(0, signals(f"0: {every}")).models
        assert {plain(a) for a in model.at(0)} == {"high"}

    def test_t40_what_other_engines_refuse(self) -> None:
        """No variable needs a guard, and there may be several for times."""
        found = run(
            "h :- b(X) [1 s]. k :- @T b(X) [1 s], @U b(Y) [1 s], T < U.", "0: b(1); 1: b(2)", 3
        )
        assert found == {0: {"h"}, 1: {"h", "k"}, 2: {"h"}, 3: set()}

    @pytest.mark.parametrize(
        ("rules", "stream", "expected"),
        [
            ("@T h :- @T a [3 #].", "0: a d; 1: b", set()),
            ("h1 :- always a [2 #]. h2 :- always a [3 #].", "0: a b; 1: a", {"h2"}),
            ("h1 :- always a [2 #]. h2 :- a [3].", "0: a b; 1: a", {"h2"}),
            ("h2 :- always a [2 #]. h3 :- always a [3 #].", "3: a b; 4: a", {"h3"}),
            ("h :- always a [1 #].", "0: a a", {"h"}),
            ("h :- always b [2 #].", "5: b c d", set()),
            ("h :- always b [2 #].", "5: b c", {"h"}),
        ],
    )
    def test_t18_t30_t31_t32_t41_errata(self, rules: str, stream: str, expected: set[str]) -> None:
        last = signals(stream)[-1][0]
        assert run(rules, stream, last)[last] == expected

    def test_t34_what_is_older_than_all_windows_leaves_nothing_behind(self) -> None:
        rules = "h(X) :- a(X) [3]. k(X) :- a(X) [2 #], not c [1]. l(X) :- h(X) [2]."
        late = "30: a(3); 31: c a(1)"
        whole = run(rules, f"1: a(1); 2: a(2) c; {late}", 33)[33]
        assert whole == run(rules, late, 33)[33] == {"h(1)", "h(3)", "k(1)", "l(1)", "l(3)"}

    def test_t35_caching_strategies(self) -> None:
        found = run(STRATEGY, "; ".join(f"{t}: alpha({v})" for t, v in enumerate(LEVELS)), 6)
        expected = ["lfu", "lfu", "lfu", "random", "random", "lru", "random"]
        chosen = [found[time] & {"lfu", "lru", "fifo", "random"} for time in found]
        assert chosen == [{name} for name in expected]

    def test_t36_content(self) -> None:
        found = run(CONTENT, "0: req(1,1) cache(1,2) cache(1,3)", 0)[0]
        assert {a for a in found if a.startswith("getFrom")} in (
            {"getFrom(1,1,2)"},
            {"getFrom(1,1,3)"},
        )
        better = "0: req(1,1) cache(1,2) cache(1,3) qual(2,3) qual(3,5)"
        found = run(CONTENT, better, 0)[0]
        assert {a for a in found if a.startswith(("getFrom", "minQ", "worse", "dism"))} == {
            "getFrom(1,1,3)",
            "minQ(2,3)",
            "minQ(3,5)",
            "worseThan(2,3)",
            "dism(1,1,2)",
            "dism(1,1,1)",
        }


LEVELS = (8, 9, 7, 6, 5, 4, 3)
STRATEGY = """
    nMax(V) :- value(V), value(V2), V2 > V.    max(V) :- value(V), not nMax(V).
    third(V) :- value(V), 'max'(M), V = M / 3.
    upper(V) :- value(V), third(X), value(Y), Y = 2 * X, Y < V.
    lower(V) :- value(V), third(X), V <= X.    middle(V) :- value(V), not upper(V), not lower(V).
    @T high :- @T alpha(V) [2], upper(V).      @T mid :- @T alpha(V) [2], middle(V).
    @T low :- @T alpha(V) [2], lower(V).
    lfu :- always high [2].   lru :- always mid [2].   fifo :- always low [2].
    specific :- lfu.   specific :- lru.   specific :- fifo.   random :- not specific.
    value(1..9).
""".replace("max(V) :-", "'max'(V) :-")
CONTENT = """
    need(I,N) :- item(I), node(N), req(I,N) [5].
    avail(I,N) :- item(I), node(N), cache(I,N) [5].
    src(I,N,M) :- need(I,N), not avail(I,N), avail(I,M), N != M.
    getFrom(I,N,M) :- src(I,N,M), not dism(I,N,M).
    dism(I,N,M) :- node(M), getFrom(I,N,M2), M != M2.
    dism(I,N,M) :- src(I,N,M), src(I,N,M2), worseThan(M,M2).
    worseThan(N,N2) :- minQ(N,Q), minQ(N2,Q2), N != N2, Q < Q2.
    minQ(N,Q) :- node(N), qLev(Q), qual(N,Q) [5], not nMinQ(N,Q).
    nMinQ(N,Q) :- node(N), qLev(Q), qLev(Q2), qual(N,Q) [5], qual(N,Q2) [5], Q2 < Q.
    node(1..3). item(1). qLev(1..5).
"""


class TestRuns:
    def test_an_answer_stays_while_it_has_reasons(self) -> None:
        session = TmsSession(program("p :- a [9], not q. q :- a [9], not p."))
        kept = session.advance(0, signals("0: a")).models[0].now
        for time in range(1, 8):
            assert session.advance(time, signals(f"{time}: a")).models[0].now == kept

    def test_late_and_retracted_signals(self) -> None:
        session = TmsSession(program("h :- a [2]. l :- b [1 #]. t :- always a [1]."))
        session.advance(3, signals("3: a b"))
        late = session.advance(4, [*signals("1: b"), *signals("4: a")])
        assert {plain(a) for a in late.models[0].now} == {"h", "t"}
        back = session.advance(5, (), signals("4: a"))
        assert {plain(a) for a in back.models[0].now} == {"h", "l"}

    def test_time_may_jump(self) -> None:
        session = TmsSession(
            program("h :- a [2]. n :- not a [2]. @T p :- @T a. q :- always p [3].")
        )
        session.advance(0, signals("0: a"))
        assert {plain(a) for a in session.advance(10**9).models[0].now} == {"n"}
        found = session.advance(10**9 + 2, signals(f"{10**9 + 1}: a"))
        assert {plain(a) for a in found.models[0].now} == {"h"}

    def test_a_long_run_keeps_little(self) -> None:
        session = TmsSession(program("h(X) :- a(X) [2]. @T k(X) :- @T a(X) [3 #], not b [1]."))
        for time in range(3000):
            session.advance(time, signals(f"{time}: a({time})"))
        assert len(session.jtms.label) < 3000
        assert len(session.inputs.times) < 2100

    def test_variables_inside_of_terms(self) -> None:
        found = run("h(g(X)) :- a(f(X)) [1], not b(X).", "0: a(f(1)); 1: a(f(2)) b(2)", 2)
        assert found == {0: {"h(g(1))"}, 1: {"h(g(1))"}, 2: {"h(g(2))"}}

    def test_an_odd_loop_is_told_and_forgotten(self) -> None:
        session = TmsSession(program("p :- a, not p."))
        session.advance(0)
        with pytest.raises(NotServed, match="p depends on itself"):
            session.advance(1, signals("1: a"))
        assert session.advance(2).models[0].now == frozenset()

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (":- a.", "a constraint"),
            ("{ p } :- a.", "a choice"),
            ("p ; q :- a.", "a disjunction"),
            ("h :- count { X : a(X) } > 1.", "an aggregate"),
            ("h :- g(1) [2]. g(1).", "background predicate g"),
            ("h :- [3] reset some a.", "reset"),
        ],
    )
    def test_what_is_refused(self, text: str, reason: str) -> None:
        with pytest.raises(NotServed, match=reason):
            TmsSession(program(text))


def check(given_program: Program, given: Signals) -> None:
    """The answer is one of the answer streams, at all times, and there is one if it says so."""
    try:
        session = TmsSession(given_program)
    except NotServed:
        assume(False)
    shown = [(time, plain(atom)) for time, atom in given]
    for time in range(END + 2):
        expected = reference(given_program, given, time)
        try:
            found = session.advance(time, [pair for pair in given if pair[0] == time])
        except NotServed:
            assert session.odd is not None, (time, show_program(given_program), shown)
            continue
        assert contents(found, given) <= expected, (time, show_program(given_program), shown)


ALL = Kind(is_normal=True, values=MIXED)
SLIDING = Kind(is_normal=True, windows=sliding, values=NUMBERS)


@examples("normal")
@given(programs(ALL), streams(ALL, with_derived=True))
def test_the_answer_is_right(program: Program, signals: Signals) -> None:
    check(program, signals)


@examples("normal")
@given(programs(SLIDING), streams(SLIDING))
def test_the_answer_is_right_with_sliding_windows(program: Program, signals: Signals) -> None:
    check(program, signals)


@pytest.mark.slow
@examples("normal")
@given(programs(SLIDING), streams(SLIDING, with_derived=True))
def test_the_answer_is_right_with_sliding_windows_for_long(
    program: Program, signals: Signals
) -> None:
    check(program, signals)


def test_what_holds_between_two_rows_of_a_time_point_does_not_matter() -> None:
    session = TmsSession(program("x :- a [0], not b [0], not x. y :- a [0], b [0]."))
    for time in range(4):
        found = session.advance(time, signals(f"{time}: a b"))
        assert {plain(a) for a in found.models[0].now} == {"y"}


@st.composite
def odd_loops(draw: st.DrawFn) -> str:
    """Rules that exclude something by `x :- body, not x`, beside others."""
    windows = st.sampled_from(["[0]", "[1]", "[2 #]"])
    literal = st.tuples(st.sampled_from(["", "not "]), st.sampled_from("abc"), windows)
    bodies = st.lists(literal.map(lambda one: f"{one[0]}{one[1]} {one[2]}"), min_size=1, max_size=3)
    rules = [f"x :- {', '.join(draw(bodies))}, not x."]
    for _ in range(draw(st.integers(0, 2))):
        other = draw(st.sampled_from(["p", "not p", "q", "not q"]))
        rules.append(f"{draw(st.sampled_from('pq'))} :- {', '.join(draw(bodies))}, {other}.")
    return " ".join(rules)


@examples("normal")
@given(odd_loops(), st.lists(st.lists(st.sampled_from("abc"), max_size=3), min_size=1, max_size=4))
def test_where_there_is_an_answer_it_is_found(text: str, rows: list[list[str]]) -> None:
    of = program(text)
    session = TmsSession(of)
    known: Signals = []
    for time, names in enumerate(rows):
        new = signals(f"{time}: {' '.join(names)}") if names else []
        known = [*known, *new]
        wanted = reference(of, known, time)
        if wanted:
            assert contents(session.advance(time, new), known) <= wanted
        else:
            with pytest.raises(NotServed):
                session.advance(time, new)
