"""The incremental encoding: worked examples."""

from __future__ import annotations

from tests.asp.comparing import Signals, program, signals

from horai.asp.incremental import (
    Check,
    Expiry,
    IncrementalRules,
    Lasting,
    Literal,
    Template,
)
from horai.asp.normal import normal_form
from horai.lang.lars.printer import show, show_term
from horai.lang.lars.syntax import Program

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
    """The incremental program of some rules over a stream, point by point."""

    def __init__(self, given: Program) -> None:
        self.rules = IncrementalRules(normal_form(given))
        self.expiry = Expiry()
        self.present: dict[Template, None] = {}
        self.now = -1

    def go(self, given: Signals, until: int) -> None:
        """All points up to a time."""
        while self.now < until:
            self.now += 1
            for gone in self.expiry.expired(self.now):
                del self.present[gone]
            brought: list[Lasting] = list(self.rules.point(self.now))
            for time, atom in given:
                if time == self.now:
                    brought.extend(self.rules.signal(atom, time))
            for lasting in brought:
                if self.expiry.add(self.now, lasting):
                    self.present[lasting[1]] = None

    def texts(self) -> set[str]:
        return {written(template) for template in self.present}


DERIVED = "@T a(X) :- @T s(X) [9]. "


class TestIncremental:
    def test_g40_t04_t05_one_step(self) -> None:
        steps = Incremental(program(DERIVED + T01))
        steps.go([], 8)
        before = steps.texts()
        steps.go([], 9)
        windows = [
            {one for one in texts if one.startswith("w")} for texts in (before, steps.texts())
        ]
        assert windows[0] - windows[1] == {"w0(X0) :- @a(X0,6)"}
        assert windows[1] - windows[0] == {"w0(X0) :- @a(X0,9)"}
        assert windows[1] == {f"w0(X0) :- @a(X0,{time})" for time in (7, 8, 9)}

    def test_t28_windows_over_signals_are_fed(self) -> None:
        rules = IncrementalRules(
            normal_form(program("x(T) :- @T y [3], @T z [2 #], always a [2]."))
        )
        assert list(rules.fed.values()) == ["f0", "f1", "f2"]
        assert not rules.windows
        assert list(rules.point(5)) == []

    def test_t04_identity_rules_of_derived_atoms(self) -> None:
        steps = Incremental(program("@T b(X) :- @T a(X) [2]. b(2) :- a(1). c :- b(1) [1]."))
        steps.go([], 8)
        assert {"b(X0) :- @b(X0,8)", "@b(X0,8) :- now:b(X0)"} <= steps.texts()
        steps.go([], 9)
        assert {"b(X0) :- @b(X0,9)", "@b(X0,9) :- now:b(X0)"} <= steps.texts()
        assert not {"b(X0) :- @b(X0,8)", "@b(X0,8) :- now:b(X0)"} & steps.texts()

    def test_always_has_rules_for_the_points_that_may_lack_the_atom(self) -> None:
        steps = Incremental(program(DERIVED + "b(X) :- always a(X) [2]."))
        steps.go([], 8)
        assert {one for one in steps.texts() if "w0" in one} == {
            "w0(X0) :- a(X0), not spoil:w0(X0)",
            "spoil:w0(X0) :- a(X0), not @a(X0,6)",
            "spoil:w0(X0) :- a(X0), not @a(X0,7)",
        }

    def test_e6_durations(self) -> None:
        rules = IncrementalRules(normal_form(program(DERIVED + T01)))
        durations = {written(template): points for points, template in rules.point(8)}
        assert durations["w0(X0) :- @a(X0,8)"] == 3

    def test_t27_a_signal_stays_while_it_may_be_asked_for(self) -> None:
        given = signals("20: b; 21: c")
        steps = Incremental(program("a :- b, @T c, T > 3."))
        steps.go(given, 20)
        assert "b" in steps.texts()
        steps.go(given, 90)
        assert steps.texts() == {"@c(21)"}

    def test_rules_stay_until_their_last_copy_goes(self) -> None:
        expiry = Expiry()
        fact = Template(Literal("x"))
        assert expiry.add(0, (2, fact))
        assert not expiry.add(1, (5, fact))
        assert list(expiry.expired(2)) == []
        assert list(expiry.expired(6)) == [fact]

    def test_rules_for_ever(self) -> None:
        expiry = Expiry()
        fact = Template(Literal("x"))
        assert expiry.add(0, (None, fact))
        assert not expiry.add(1, (None, fact))
        assert list(expiry.expired(1000)) == []
