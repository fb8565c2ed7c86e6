"""The static and the incremental encoding: worked examples, and random programs by the solver."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from tests.asp.comparing import Content, Signals, contents, now, plain, program, reference, signals
from tests.asp.programs import END, Kind, programs, sliding, streams
from tests.weights import examples

from horai.asp.incremental import (
    FOR_EVER,
    Annotated,
    Check,
    Expiry,
    IncrementalRules,
    Literal,
    Template,
    Tick,
)
from horai.asp.plain import NotServed, normal_form
from horai.asp.static import StaticSession, lars_to_asp, solve_templates, stream_encoding
from horai.lang.lars.printer import show, show_program, show_term
from horai.lang.lars.syntax import Atom, Program

T01 = "b(X) :- a(X) [2]."


def written(template: Template) -> str:
    """A rule in short: names without arity, @ and # for pinned atoms."""

    def literal(given: Literal) -> str:
        name = given.name.split("/")[0].replace("p:", "")
        args = ",".join(show_term(arg).replace("'", "").replace(" ", "") for arg in given.args)
        return f"{name}({args})" if args else name

    def test(given: Check) -> str:
        text = show(given.comparison).replace("'", "").replace(" ", "")
        return f"not {text}" if given.negated else text

    body = [literal(one) for one in template.positive]
    body += [f"not {literal(one)}" for one in template.negative]
    body += [test(one) for one in template.tests]
    return f"{literal(template.head)} :- {', '.join(body)}" if body else literal(template.head)


class Incremental:
    """The incremental program of some rules over a stream, tick by tick."""

    def __init__(self, given: Program, *, feeds_boxes: bool = False) -> None:
        self.plain = normal_form(given)
        self.rules = IncrementalRules(self.plain, feeds_boxes=feeds_boxes)
        self.expiry = Expiry()
        self.present: dict[Template, None] = {}
        self.tick: Tick = (-1, 0)

    def take(self, tick: Tick, atom: Atom | None = None) -> None:
        """One tick."""
        self.tick = tick
        for gone in self.expiry.expired(tick):
            del self.present[gone]
        brought: list[Annotated] = list(self.rules.tick(tick, atom is not None))
        if atom is not None:
            brought.extend(self.rules.signal(atom, tick))
        for annotated in brought:
            if self.expiry.add(tick, annotated):
                self.present[annotated[1]] = None

    def go(self, given: Signals, until: int) -> None:
        """All ticks up to a time."""
        while self.tick[0] < until:
            self.take((self.tick[0] + 1, self.tick[1]))
            for time, atom in given:
                if time == self.tick[0]:
                    self.take((time, self.tick[1] + 1), atom)

    def answers(self, given: Signals) -> set[Content]:
        """All answer streams of the rules that are there."""
        time = self.tick[0]
        return contents(solve_templates(self.plain, [*self.rules.base, *self.present], time), given)

    def texts(self) -> set[str]:
        return {written(template) for template in self.present}


class TestStatic:
    def test_g39_t02_t03_the_rules(self) -> None:
        rules = [written(template) for template in lars_to_asp(normal_form(program(T01)))]
        assert rules == [
            "a(X0) :- now(N), @a(X0,N)",
            "@a(X0,N) :- now(N), a(X0)",
            "b(X0) :- now(N), @b(X0,N)",
            "@b(X0,N) :- now(N), b(X0)",
            "b(X) :- w0(X)",
            "w0(X0) :- now(N), @a(X0,T), T=N-0",
            "w0(X0) :- now(N), @a(X0,T), T=N-1",
            "w0(X0) :- now(N), @a(X0,T), T=N-2",
        ]

    def test_t03_the_stream(self) -> None:
        facts = {written(fact) for fact in stream_encoding(signals("7: a(x)"), 0, 8)}
        ticks = {f"tick({time},0)" for time in range(8)} | {"tick(7,1)", "tick(8,1)"}
        assert facts == ticks | {"@a(x,7)", "#a(x,7,1)", "cnt(1)", "now(8)"}

    def test_t14_t17_ticks_and_pinned_atoms_of_a_stream(self) -> None:
        facts = {written(fact) for fact in stream_encoding(signals("3: a b"), 0, 4)}
        assert {"@a(3)", "@b(3)", "#a(3,1)", "#b(3,2)"} <= facts
        ticks = {fact for fact in facts if fact.startswith("tick")}
        expected = [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (4, 2)]
        assert ticks == {f"tick({time},{count})" for time, count in expected}

    def test_g39_t01_the_answers(self) -> None:
        session = StaticSession(program(T01))
        found = {}
        for time in range(5, 11):
            found[time] = contents(session.advance(time, signals("7: a(x)") * (time == 7)), [])
        assert [time for time in found if now(found[time], time) == [["b(x)"]]] == [7, 8, 9]

    def test_other_windows_are_refused(self) -> None:
        with pytest.raises(NotServed, match="neither a sliding time window"):
            StaticSession(program("h :- a [4 hop 2]."))


class TestIncremental:
    def test_t04_t05_one_step(self) -> None:
        steps = Incremental(program(T01))
        given = signals("7: a(x)")
        steps.go(given, 8)
        before = steps.texts()
        steps.go(given, 9)
        gone, came = before - steps.texts(), steps.texts() - before
        assert gone == {"w0(X0) :- @a(X0,6)"}
        assert came == {"w0(X0) :- @a(X0,9)", "tick(9,1)"}
        windows = {text for text in steps.texts() if text.startswith("w0")}
        assert windows == {f"w0(X0) :- @a(X0,{time})" for time in (7, 8, 9)}

    def test_g40_t05_a_step_that_changes_no_model(self) -> None:
        steps = Incremental(program(T01))
        given = signals("7: a(x)")
        held = {}
        for time in (7, 8, 9):
            before = steps.texts()
            steps.go(given, time)
            held[time] = now(steps.answers(given), time)
            if time == 8:
                assert before - steps.texts() == {"w0(X0) :- @a(X0,5)"}
                assert steps.texts() - before == {"w0(X0) :- @a(X0,8)", "tick(8,1)"}
        assert held == {time: [["b(x)"]] for time in (7, 8, 9)}

    def test_t04_identity_rules_of_derived_atoms(self) -> None:
        steps = Incremental(program("@T b(X) :- @T a(X) [2]. b(2) :- a(1). c :- b(1) [1]."))
        steps.go([], 8)
        assert {"b(X0) :- @b(X0,8)", "@b(X0,8) :- now:b(X0)"} <= steps.texts()
        steps.go([], 9)
        assert {"b(X0) :- @b(X0,9)", "@b(X0,9) :- now:b(X0)"} <= steps.texts()
        assert not {"b(X0) :- @b(X0,8)", "@b(X0,8) :- now:b(X0)"} & steps.texts()

    def test_e6_durations(self) -> None:
        rules = IncrementalRules(normal_form(program(T01)))
        durations = {
            written(template): duration for duration, template in rules.tick((8, 1), False)
        }
        assert durations == {"w0(X0) :- @a(X0,8)": (3, None)}

    def test_t27_a_signal_stays_while_a_window_may_ask_for_it(self) -> None:
        given = signals("20: b; 21: c")
        steps = Incremental(program("a :- @T b [3], @T c."), feeds_boxes=True)
        steps.go(given, 23)
        assert {"@b(20)", "w0(20) :- @b(20)"} <= steps.texts()
        steps.go(given, 24)
        assert not {"@b(20)", "w0(20) :- @b(20)"} & steps.texts()
        steps.go(given, 90)
        assert "@c(21)" in steps.texts()

    def test_t28_windows_of_both_kinds(self) -> None:
        rules = IncrementalRules(normal_form(program("x(T) :- @T y [3], @T z [2 #].")))
        by_time = {written(t): d for d, t in rules.tick((5, 1), False)}
        by_count = {written(t): d for d, t in rules.tick((5, 1), True)}
        assert by_time == {"w0(5) :- @y(5)": (4, None)}
        assert by_count == {"w1(5) :- #z(5,1)": (None, 2)}

    def test_t30_signals_of_one_point_are_cut(self) -> None:
        given = signals("5: b c d")
        steps = Incremental(program("h :- always b [2 #]."))
        held = []
        while steps.tick[0] < 5:
            steps.take((steps.tick[0] + 1, 0))
        for place, (_, atom) in enumerate(given):
            steps.take((5, place + 1), atom)
            held.append(now(steps.answers(given), 5) == [["h"]])
        assert held == [False, True, False]
        assert "count:w0(1) :- tick(5,1)" not in steps.texts()
        assert {"time:w0(5) :- tick(5,2)", "time:w0(5) :- tick(5,3)", "#b(5,1)"} <= steps.texts()

    @pytest.mark.parametrize(
        ("rules", "stream", "expected"),
        [
            # T31: the same rule comes twice, and stays until the later end.
            ("@T h :- @T a [3 #].", "0: a d; 1: b", {(0, "h")}),
            # T32: a signal is still asked for by another, longer window.
            ("h1 :- always a [2 #]. h2 :- always a [3 #].", "0: a b; 1: a", {(1, "h2")}),
            ("h1 :- always a [2 #]. h2 :- a [3].", "0: a b; 1: a", {(1, "h2")}),
            # T18
            ("h2 :- always a [2 #]. h3 :- always a [3 #].", "3: a b; 4: a", {(4, "h3")}),
            # T41: of two equal signals one is inside of the cut.
            ("h :- always a [1 #].", "0: a a", {(0, "h")}),
        ],
    )
    def test_t18_t31_t32_t41_errata(
        self, rules: str, stream: str, expected: set[tuple[int, str]]
    ) -> None:
        given = signals(stream)
        last = given[-1][0]
        for feeds in (True, False):
            steps = Incremental(program(rules), feeds_boxes=feeds)
            if not steps.rules.fed:
                steps.go(given, last)
                assert steps.answers(given) == {frozenset(expected)}
        assert reference(program(rules), given, last) == {frozenset(expected)}

    def test_t19_tuple_windows_hold_signals_only(self) -> None:
        given = signals("0: a")
        steps = Incremental(program("b :- a [1 #]."))
        steps.go(given, 1)
        assert steps.answers(given) == {frozenset({(1, "b")})}

    def test_rules_for_ever(self) -> None:
        expiry = Expiry()
        fact = Template(Literal("x"))
        assert expiry.add((0, 0), (FOR_EVER, fact))
        assert not expiry.add((1, 0), (FOR_EVER, fact))
        assert list(expiry.expired((1000, 1000))) == []

    def test_t34_old_ticks_leave_nothing_behind(self) -> None:
        """What is derived depends on the ticks inside of the largest windows only."""
        given = signals("1: a(1); 2: a(2) c; 30: a(3); 31: c a(1)")
        rules = program("h(X) :- a(X) [3]. k(X) :- a(X) [2 #], not c [1].")
        whole = Incremental(rules, feeds_boxes=True)
        whole.go(given, 33)
        cut = Incremental(rules, feeds_boxes=True)
        cut.tick = (27, 3)
        cut.go(given, 33)
        assert whole.answers(given) == cut.answers(given)
        assert len(whole.present) == len(cut.present)


KIND = Kind(is_normal=True, windows=sliding)


def check(given_program: Program, given: Signals) -> None:
    """Both encodings have the answer streams of the definitions, at every time."""
    try:
        static = StaticSession(given_program)
    except NotServed:
        assume(False)
    steps = Incremental(given_program)
    shown = [(time, plain(atom)) for time, atom in given]
    for time in range(END + 2):
        expected = reference(given_program, given, time)
        new = [pair for pair in given if pair[0] == time]
        found = contents(static.advance(time, new), given)
        assert found == expected, ("static", time, show_program(given_program), shown)
        steps.go(given, time)
        found = steps.answers(given)
        assert found == expected, ("incremental", time, show_program(given_program), shown)


@examples("normal")
@given(programs(KIND), streams(KIND))
def test_encodings_and_definitions_agree(program: Program, signals: Signals) -> None:
    check(program, signals)
