"""What the solver serves: choices, constraints, aggregates, several answers, odd values."""

from __future__ import annotations

import pytest
from tests.asp.comparing import by_asp, now, plain, program, signals

from horai.asp.engine import AspSession
from horai.asp.tms import TmsSession
from horai.lang.core.terms import Int
from horai.lang.lars.syntax import Atom
from horai.plan.lars.fragments import AnswerMode, EndlessValues, NotServed

CHOICE = "p :- a, not q. q :- a, not p. r :- p. r :- q. s :- a [3]."


def ask(text: str, given: str, time: int, **asked: object) -> list[list[str]]:
    """What holds at a time in each answer."""
    session = AspSession(program(text), asked=AnswerMode(**asked))  # type: ignore[arg-type]
    answers = session.advance(time, signals(given))
    return [sorted(plain(a) for a in model.at(time)) for model in answers.models]


def every(text: str, given: str, time: int) -> list[list[str]]:
    return ask(text, given, time, models=0)


def test_g39_t02_t03_a_window_over_signals_is_a_predicate_of_its_own() -> None:
    session = AspSession(program("b(X) :- a(X) [2]."))
    assert session.encoding.rules == ["b(X) :- _w0(X).", "#show.", "#show b/1."]
    (model,) = session.advance(8, signals("7: a(x)")).models
    assert {plain(one) for one in model.now} == {"b(x)"}


def test_t14_t15_t16_t17_signals_of_one_point_have_an_order() -> None:
    rules = """
        time_a :- a [1].    time_b :- b [1].
        last_a :- a [1 #].  last_b :- b [1 #].
        @T pinned_a :- @T a [9].
    """
    assert every(rules, "3: a b", 4) == [["last_b", "time_a", "time_b"]]
    assert every(rules, "3: b a", 4) == [["last_a", "time_a", "time_b"]]
    assert every(rules, "3: a b", 3) == [["last_b", "pinned_a", "time_a", "time_b"]]


class TestSeveralAnswers:
    def test_all_of_them(self) -> None:
        assert every(CHOICE, "2: a", 2) == [["p", "r", "s"], ["q", "r", "s"]]

    def test_one_of_them(self) -> None:
        (found,) = ask(CHOICE, "2: a", 2)
        assert found in [["p", "r", "s"], ["q", "r", "s"]]

    def test_two_of_four(self) -> None:
        assert len(ask("{ p ; q } :- a.", "0: a", 0, models=2)) == 2

    def test_what_holds_in_some_answer(self) -> None:
        assert ask(CHOICE, "2: a", 2, reasoning="brave") == [["p", "q", "r", "s"]]

    def test_what_holds_in_all_answers(self) -> None:
        assert ask(CHOICE, "2: a", 2, reasoning="cautious") == [["r", "s"]]

    def test_no_answer_at_all(self) -> None:
        assert every("p :- a, not p.", "0: a", 0) == []
        assert ask("p :- a, not p.", "0: a", 0, reasoning="cautious") == []
        assert every("p :- a, not p.", "0: a", 1) == [[]]

    def test_the_same_each_time_with_grounding_kept(self) -> None:
        session = AspSession(program(CHOICE), asked=AnswerMode(models=0), grounding="kept")
        for time in range(4):
            answers = session.advance(time, signals(f"{time}: a"))
            assert len(answers.models) == 2

    @pytest.mark.parametrize("grounding", ["fresh", "kept"])
    def test_what_holds_in_some_and_in_all_from_time_to_time(self, grounding: str) -> None:
        rules = program("1 { p(X) : g(X), a(X) [1] } 1 :- go [9]. q :- p(X). g(1..2).")
        stream = {0: "0: a(1)", 1: "1: go", 2: "2: a(2)", 3: "3: a(1)", 6: "6: a(2)"}
        expected = {"brave": ["", "p1q", "p2q", "p1p2q", "p1q", "", "p2q"]}
        expected["cautious"] = ["", "p1q", "p2q", "q", "p1q", "", "p2q"]
        for which in ("brave", "cautious"):
            asked = AnswerMode(reasoning=which)
            session = AspSession(rules, asked=asked, grounding=grounding)
            found = []
            for time in range(7):
                models = session.advance(time, signals(stream.get(time, ""))).models
                texts = sorted(plain(a) for model in models for a in model.now)
                found.append("".join(texts).replace("(", "").replace(")", ""))
            assert found == expected[which]


class TestLittleChange:
    RULES = "1 { pick(X) : g(X), not gone(X) [1] } 1. g(1..6)."

    def test_an_answer_stays_while_it_can(self) -> None:
        session = AspSession(program(self.RULES), asked=AnswerMode(least_change=True))
        picked = [plain(*session.advance(0).models[0].at(0))]
        for time in range(1, 5):
            picked.append(plain(*session.advance(time).models[0].at(time)))
        assert len(set(picked)) == 1
        gone = picked[0].replace("pick", "gone")
        (other,) = session.advance(5, signals(f"5: {gone}")).models[0].at(5)
        assert plain(other) != picked[0]
        (after,) = session.advance(7).models[0].at(7)
        assert after == other

    def test_the_nearest_answer_is_found(self) -> None:
        rules = "{ p(X) } :- g(X). g(1..3). :- p(X), no(X). q :- p(1), p(2). :- want, not q."
        session = AspSession(program(rules), asked=AnswerMode(least_change=True))
        session.advance(0, signals("0: want"))
        kept = {plain(a) for a in session.advance(1).models[0].at(1)}
        assert {"p(1)", "p(2)", "q"} <= kept
        left = {plain(a) for a in session.advance(2, signals("2: no(1)")).models[0].at(2)}
        assert kept - left == {"p(1)", "q"}


class TestRulesBeyondNormalOnes:
    def test_bounded_choice_and_constraint(self) -> None:
        rules = "1 { on(X) : way(X) } 1 :- go. :- on(X), jam(X) [2]. way(a). way(b). way(c)."
        assert every(rules, "1: jam(b); 2: go", 2) == [["on(a)"], ["on(c)"]]

    def test_disjunction(self) -> None:
        assert every("p ; q :- a.", "0: a", 0) == [["p"], ["q"]]
        assert every("p ; q :- a. p :- q.", "0: a", 0) == [["p"]]

    def test_choice_at_another_time(self) -> None:
        found = by_asp(program("{ @(T+1) p } :- @T a [2]. q :- p [+2]."), signals("1: a"), [1])
        assert found[1] == {frozenset(), frozenset({(2, "p"), (1, "q")})}

    @pytest.mark.parametrize(
        ("condition", "holds"),
        [
            ("count { X : v(X) [3] } = 2", True),
            ("count { X : v(X) [1] } >= 2", False),
            ("sum { X : v(X) [3] } = 12", True),
            ("min { X : v(X) [3] } < 6", True),
            ("max { X : v(X) [3] } > 7", False),
            ("min { X : v(X) [0] } > 0", False),
            ("not min { X : v(X) [0] } > 0", True),
            ("max { X : v(X) [0] } != 0", False),
            ("sum { X : v(X) [0] } = 0", True),
        ],
    )
    def test_aggregates_over_windows(self, condition: str, holds: bool) -> None:
        assert every(f"h :- {condition}.", "1: v(5); 2: v(7)", 4) == ([["h"]] if holds else [[]])

    def test_what_is_no_number_has_no_sum(self) -> None:
        rules = "h :- sum { X : v(X) } >= 0. n(N) :- N = count { X : v(X) }."
        assert every(rules, "0: v(5) v(k)", 0) == [["n(2)"]]
        assert every(rules, "0: v(5) v(3)", 0) == [["h", "n(2)"]]


class TestValues:
    def test_names_that_clingo_cannot_read(self) -> None:
        rules = "'Über'(X, 'N.Y.') :- 'in'(X), 'N.Y.'(X) [2]."
        assert every(rules, "1: 'N.Y.'('a-b'); 2: 'in'('a-b')", 2) == [["'Über'('a-b','N.Y.')"]]

    def test_decimals_and_large_numbers(self) -> None:
        rules = "h(Y) :- v(X), Y = X + 1, X > 2. big(Y) :- w(X), Y = X * 2."
        assert every(rules, "0: v(2.5) v(1.5) w(3000000000)", 0) == [["big(6000000000)", "h(3.5)"]]

    @pytest.mark.parametrize("other", ["temp(2.5)", "temp(3000000000)", "temp(k)", "temp(f(2.5))"])
    @pytest.mark.parametrize("more", ["", " hot(X) :- temp(X) [1]."])
    def test_values_beside_an_aggregate_do_not_matter_to_it(self, other: str, more: str) -> None:
        for function, found in (("sum", 9), ("min", 4), ("max", 5)):
            rules = f"s(S) :- S = {function} {{ V,K : w(K,V) [5] }}. {{ pick(1) }}. :- pick(1)."
            shown = {f"s({found})", *([other.replace("temp", "hot")] if more else [])}
            stream = f"1: w(1,4) w(2,5) {other}"
            assert every(rules + more, stream, 1) == [sorted(shown)]

    @pytest.mark.parametrize("other", ["temp(2.5)", "temp(k)"])
    def test_negated_aggregates_beside_signals_that_no_rule_reads(self, other: str) -> None:
        assert every("h :- not sum { V : w(V) [5] } > 9.", f"1: w(4) {other}", 1) == [["h"]]

    def test_aggregates_of_decimals_are_refused_when_there_are_some(self) -> None:
        for aggregate in ("S = sum", "S = min", "S = max", "v(S), S < count", "v(S), S < sum"):
            session = AspSession(program(f"s(S) :- {aggregate} {{ V : w(V) [5] }}."))
            session.advance(0, signals("0: w(4) v(1)"))
            with pytest.raises(NotServed, match=r"with the number 2\.5"):
                session.advance(1, signals("1: w(2.5) v(2.5)"))

    def test_far_times_of_signals_that_no_rule_reads(self) -> None:
        session = AspSession(program("h(T) :- @T a [2]."))
        found = session.advance(1, signals("1: a; 5000000000: b"))
        assert {plain(a) for a in found.models[0].at(1)} == {"h(1)"}

    def test_products_may_outgrow_the_numbers_of_the_solver(self) -> None:
        rules = "h(Y) :- v(X), Y = X * X. less :- h(Y), h(Z), Y < Z. root :- h(Y), Y < 99."
        assert every(rules, "0: v(9) v(100000)", 0) == [["h(10000000000)", "h(81)", "less", "root"]]

    def test_strings_are_no_names(self) -> None:
        assert every("h :- v(X), v(Y), X != Y.", '0: v("a") v(a)', 0) == [["h"]]

    def test_what_cannot_be_ordered_is_not_smaller(self) -> None:
        assert every("h(X,Y) :- v(X), v(Y), X < Y.", "0: v(1) v(a) v(b)", 0) == [["h(a,b)"]]

    def test_rounding_towards_zero(self) -> None:
        rules = "h(Y) :- v(X), Y = X / 2. r(Y) :- v(X), Y = X mod 2. n :- v(X), Y = X / 0."
        session = AspSession(program(rules))
        found = session.advance(0, [(0, Atom("v", (Int(-7),)))]).models[0].at(0)
        assert found == {Atom("h", (Int(-3),)), Atom("r", (Int(-1),))}

    def test_kinds_of_values_may_come_later(self) -> None:
        session = AspSession(program("h(X,Y) :- v(X) [9], v(Y) [9], X < Y."))
        session.advance(0, signals("0: v(1) v(2)"))
        session.advance(1, signals("1: v(a)"))
        found = session.advance(2, signals("2: v(1.5)")).models[0].at(2)
        assert {plain(a) for a in found} == {"h(1,2)", "h(1,1.5)", "h(1.5,2)"}

    def test_rules_that_never_end(self) -> None:
        with pytest.raises(EndlessValues, match="computations"):
            every("@(T+1) h :- @T h. h :- a.", "0: a", 0)


class TestSignalsOutOfOrder:
    RULES = "h :- a [2]. l :- b [1 #]. t :- always a [1]."

    def test_late_and_retracted_signals(self) -> None:
        session = AspSession(program(self.RULES))
        session.advance(3, signals("3: a b"))
        late = session.advance(4, [*signals("1: b"), *signals("4: a")])
        assert {plain(a) for a in late.models[0].at(4)} == {"h", "t"}
        back = session.advance(5, (), signals("4: a"))
        assert {plain(a) for a in back.models[0].at(5)} == {"h", "l"}

    def test_signals_before_the_start_do_not_count(self) -> None:
        found = by_asp(
            program("h :- a [9]. t :- always a [9]."), signals("2: a; 6: a"), [6], start=5
        )
        assert now(found[6], 6) == [["h"]]

    def test_a_long_stream_is_forgotten(self) -> None:
        session = AspSession(program(self.RULES))
        for time in range(3000):
            session.advance(time, signals(f"{time}: a b"))
        assert len(session.inputs.times) < 2100


def test_signals_of_a_background_predicate() -> None:
    rules = "h(X) :- g(X), a(X) [2]. n(X) :- a(X) [2], not g(X). g(1)."
    for session in (AspSession(program(rules)), TmsSession(program(rules))):
        session.advance(0, signals("0: a(1) a(2)"))
        assert {plain(a) for a in session.advance(1).models[0].now} == {"h(1)", "n(2)"}
        found = session.advance(2, signals("2: g(2)")).models[0].now
        assert {plain(a) for a in found} == {"h(1)", "h(2)"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("h :- @T ([2] some a), b(T).", "a window inside of"),
        ("h :- [3] reset some a.", "reset"),
        ("h :- [3] (some a, some b).", "without `some`"),
        ("h :- (a ; b).", "no extended atoms"),
        ("h :- not not a.", "double negation"),
        ("h :- a [3 s] , g(1) [2 s]. g(1).", "background predicate g"),
        ("h(X) :- n(X), [from X to 9] some a. n(1).", "variable ends"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotServed, match=reason):
        AspSession(program(text))


def test_a_refusal_names_the_place() -> None:
    with pytest.raises(NotServed) as refused:
        AspSession(program("p :- b.\nh :- not not a."))
    assert str(refused.value).startswith("<text>:2:10: ")
