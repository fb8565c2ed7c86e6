"""Programs of the engine's specification: tick streams, strategies, content."""

from __future__ import annotations

import pytest
from tests.lars.story import derived_at, program

from horai.lang.lars.clock import Clock, Duration, Incompatible
from horai.lang.lars.printer import show
from horai.lang.lars.syntax import Comparison


def holding(text: str, signals: dict[int, str], time: int) -> set[str]:
    """What holds at the time itself, in the only answer."""
    (found,) = derived_at(text, signals, time)
    return {atom.split(":")[1] for atom in found if atom.startswith(f"{time}:")}


@pytest.mark.parametrize(
    ("content", "size", "expected"),
    [
        ({3: "a, b", 4: "a"}, 2, False),
        ({3: "a, b", 4: "a"}, 3, True),
        ({5: "b"}, 2, False),
        ({5: "b, a"}, 2, True),
        ({5: "a, b, c"}, 2, False),
        ({5: "c, a, b"}, 2, True),
    ],
)
def test_t18_t30_always_in_tuple_windows(
    content: dict[int, str], size: int, expected: bool
) -> None:
    time = max(content)
    assert ("h" in holding(f"h :- always a [{size} #].", content, time)) == expected


def test_t31_a_tuple_window_with_times() -> None:
    (found,) = derived_at("@T h :- @T a [3 #].", {0: "a, d", 1: "b"}, 1)
    assert found == {"0:h"}


def test_t32_tuple_windows_of_several_sizes() -> None:
    for second in ("always a [3 #]", "a [3]"):
        text = f"h1 :- always a [2 #]. h2 :- {second}."
        assert holding(text, {0: "a, b", 1: "a"}, 1) == {"h2"}


def test_t41_a_repeated_signal_is_one_that_holds() -> None:
    assert holding("h :- always a [1 #].", {0: "a, a"}, 0) == {"h"}


def test_t21_a_filter_before_a_tuple_window() -> None:
    signals = {3: "bus(b1,s)", 5: "tram(t1,s)"}
    assert derived_at("@T lastBus :- [only bus] [1 #] @T bus(Id,X).", signals, 6) == [{"3:lastBus"}]
    assert derived_at("@T lastBus :- [1 #] @T bus(Id,X).", signals, 6) == [set()]


def test_t23_signals_and_clock() -> None:
    three = Duration(3, "s")
    assert [Clock.parse(c).points(three) for c in ("1s", "500ms", "3 s")] == [3, 6, 1]
    for clock in ("400ms", "2s", "4s"):
        with pytest.raises(Incompatible):
            Clock.parse(clock).points(three)
    for wrong in ("s", "0s", "1 parsec", "-1s", "1.5s", ""):
        with pytest.raises(ValueError, match="no clock time"):
            Clock.parse(wrong)


def test_t24_windows_in_time_points() -> None:
    found = program("h :- a(X) [1 s], always p [42 #], @T rel(x,y) [5 s].", "100ms").rules[0].body
    assert [show(part) for part in found] == ["a(X) [10]", "always p [42 #]", "@T rel(x, y) [50]"]


@pytest.mark.parametrize(
    ("clock", "text", "windows"),
    [
        ("1s", "h(X,Y) :- g(X,Y), p(X) [5 s], always q(Y) [7 #].", "p(X) [5]; always q(Y) [7 #]"),
        (
            "15s",
            "@T h(X,Y) :- f(X), g(Y), @T p(X,Y) [4 min], not always q(Y) [2 #].",
            "g(Y); @T p(X, Y) [16]; not always q(Y) [2 #]",
        ),
        (
            "1s",
            "h(Z) :- g(X,Y), p(X) [2 #], q(Y) [2 #], Z=X+Y, up(U), Z <= U.",
            "p(X) [2 #]; q(Y) [2 #]; Z = X + Y; up(U); Z <= U",
        ),
        (
            "10ms",
            "@T h(X,Y) :- g(X), g(Y), @T q(X) [200 ms], not @T q(Y) [200 ms].",
            "g(Y); @T q(X) [20]; not @T q(Y) [20]",
        ),
    ],
)
def test_t25_programs_of_the_engine(clock: str, text: str, windows: str) -> None:
    (rule,) = program(text, clock).rules
    assert "; ".join(show(part) for part in rule.body[1:]) == windows


def test_t27_a_window_and_a_time_without_one() -> None:
    text = "a(T) :- @T b [3], @T c."
    signals = {20: "b, c"}
    found = [holding(text, signals, time) for time in (19, 20, 23, 24)]
    assert found == [set(), {"a(20)"}, {"a(20)"}, set()]


STRATEGY = """
nMax(V) :- value(V), value(V2), V2 > V.          max(V) :- value(V), not nMax(V).
third(V) :- value(V), max(M), V = M/3.
upper(V) :- value(V), third(X), value(Y), Y = 2*X, Y < V.
lower(V) :- value(V), third(X), V <= X.
middle(V) :- value(V), not upper(V), not lower(V).
@T high :- @T alpha(V) [2], upper(V).
@T mid :- @T alpha(V) [2], middle(V).
@T low :- @T alpha(V) [2], lower(V).
lfu :- always high [2]. lru :- always mid [2]. fifo :- always low [2].
specific :- lfu. specific :- lru. specific :- fifo. random :- not specific.
value(1..9).
"""


def test_t35_strategies() -> None:
    signals = {time: f"alpha({v})" for time, v in enumerate((8, 9, 7, 6, 5, 4, 3))}
    named = ["lfu", "lru", "fifo", "random"]
    found = [sorted(holding(STRATEGY, signals, t) & set(named)) for t in range(7)]
    assert [name for (name,) in found] == ["lfu", "lfu", "lfu", "random", "random", "lru", "random"]
    values = holding(STRATEGY, {}, 0)
    for group, numbers in (("lower", "123"), ("middle", "456"), ("upper", "789")):
        assert {v for v in values if v.startswith(group)} == {f"{group}({n})" for n in numbers}


CONTENT = """
need(I,N)  :- item(I), node(N), req(I,N) [2].
avail(I,N) :- item(I), node(N), cache(I,N) [2].
src(I,N,M) :- need(I,N), not avail(I,N), avail(I,M), N != M.
getFrom(I,N,M) :- src(I,N,M), not dism(I,N,M).
dism(I,N,M) :- node(M), getFrom(I,N,M2), M != M2.
dism(I,N,M) :- src(I,N,M), src(I,N,M2), worseThan(M,M2).
worseThan(N,N2) :- minQ(N,Q), minQ(N2,Q2), N != N2, Q < Q2.
minQ(N,Q)  :- node(N), qLev(Q), qual(N,Q) [2], not nMinQ(N,Q).
nMinQ(N,Q) :- node(N), qLev(Q), qLev(Q2), qual(N,Q) [2], qual(N,Q2) [2], Q2 < Q.
node(1..3). item(1). qLev(1..5).
"""


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", [{"getFrom(1,1,2)"}, {"getFrom(1,1,3)"}]),
        (", qual(2,3), qual(3,5)", [{"getFrom(1,1,3)"}]),
        (", qual(2,3), qual(2,5), qual(3,4), qual(3,2)", [{"getFrom(1,1,2)"}]),
    ],
)
def test_t36_content(more: str, expected: list[set[str]]) -> None:
    found = derived_at(CONTENT, {0: "req(1,1), cache(1,2), cache(1,3)" + more}, 0)
    chosen = [{a.split(":")[1] for a in answer if "getFrom" in a} for answer in found]
    assert sorted(chosen, key=sorted) == expected


def test_t36_content_in_full() -> None:
    signals = {0: "req(1,1), cache(1,2), cache(1,3), qual(2,3), qual(3,5)"}
    (found,) = derived_at(CONTENT, signals, 0)
    names = ("minQ", "worse", "dism")
    assert {atom[2:] for atom in found if atom[2:].startswith(names)} == {
        *("minQ(2,3)", "minQ(3,5)", "worseThan(2,3)", "dism(1,1,2)", "dism(1,1,1)")
    }


def test_arithmetic_stays_in_the_rule() -> None:
    (rule,) = program("h(Z) :- g(X,Y), Z = X + Y.").rules
    assert isinstance(rule.body[1], Comparison)
    assert holding("h(Z) :- g(X,Y), Z = X + Y.", {0: "g(1,2), g(2,a)"}, 0) == {"h(3)"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("7 % 3", "1"),
        ("-7 % 3", "-1"),
        ("2 ^ 3", "8"),
        ("2 ^ 3 ^ 0", "2"),
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7.0 / 2", "3.5"),
        ("-(3)", "-3"),
        ("1 / 0", None),
        ("a + 1", None),
        ("2 ^ -1", None),
    ],
)
def test_expressions(expression: str, expected: str | None) -> None:
    found = holding(f"h(Z) :- e, Z = {expression}.", {0: "e"}, 0)
    assert found == (set() if expected is None else {f"h({expected})"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h(N) :- N = count { X : b(X) [5] }.", {"h(2)"}),
        ("h(N) :- N = count { X, T : @T b(X) [5] }.", {"h(3)"}),
        ("h(N) :- N = sum { X : b(X) [5] }.", {"h(3)"}),
        ("h(N) :- N = sum { X, T : @T b(X) [5] }.", {"h(4)"}),
        ("h(N) :- N = sum { Z : b(X) [5], Z = X + 1 }.", {"h(5)"}),
        ("h(N) :- count { X : b(X) [5], X = N } = 1, g(N). g(N) :- e, N = 1.", set()),
        ("h(N) :- count { X : b(X) [5], X = N } = 1, g(N). g(N) :- N = 2.", {"g(2)", "h(2)"}),
        ("h(N) :- count { X : b(X) [5], X = N } = 1, N = count { X : b(X) [5] }.", {"h(2)"}),
        ("h(N) :- N = max { X : b(X) [5] }.", {"h(2)"}),
        ("h(N) :- N = min { X : b(X) [5] ; 0 : e }.", {"h(1)"}),
        ("h(N) :- N = min { X : b(X), X > 9 }.", set()),
        ("h :- count { X : b(X) [5] } > 1.", {"h"}),
        ("h :- count { X : b(X) [5] } > 2.", set()),
        ("h(X) :- b(X) [5], count { T : @T b(X) [5] } >= 2.", {"h(1)"}),
        ("g(X) :- b(X) [5]. h(N) :- N = count { X : g(X) }.", {"g(1)", "g(2)", "h(2)"}),
        ("g(X) :- b(X) [5]. h(N) :- N = sum { X : g(X) }, N > 2.", {"g(1)", "g(2)", "h(3)"}),
    ],
)
def test_aggregates(text: str, expected: set[str]) -> None:
    assert holding(text, {1: "b(1)", 2: "b(1)", 3: "b(2)"}, 3) == expected
