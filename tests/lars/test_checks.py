"""Checks of whole programs, and the fragments they are in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import horai.plan.lars
from horai.lang.core.diagnostics import all_codes
from horai.lang.lars.clock import Clock
from horai.lang.lars.reader import read_text
from horai.plan.lars.check import check
from horai.plan.lars.fragments import Fragment, classify

CODES = {code: info for code, info in all_codes().items() if code.startswith("H7")}


def told(text: str, clock: str = "1s") -> list[tuple[str, int, str]]:
    """Code, line and the text pointed at."""
    program, findings = read_text(text, "p.lars")
    assert findings == []
    return [
        (f.code, f.position[0], f.as_json()["text"]) for f in check(program, Clock.parse(clock))
    ]


@pytest.mark.parametrize("code", CODES)
def test_the_example_triggers_its_code_and_nothing_else(code: str) -> None:
    program, findings = read_text(CODES[code].example)
    assert findings == []
    found = check(program, Clock(2, "s"))
    assert [(f.code, f.severity) for f in found] == [(code, CODES[code].severity)]
    assert all(f.hint for f in found)
    assert re.fullmatch(r"H7\d\d", code) and CODES[code].explanation.endswith(".")


def test_every_code_is_registered_and_used() -> None:
    used: set[str] = set()
    for path in Path(horai.plan.lars.check.__file__).parent.rglob("*.py"):
        if path.name != "codes.py":
            used.update(re.findall(r'"(H\d{3})"', path.read_text(encoding="utf-8")))
    assert used == set(CODES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a :- g(X,Y), not b(X) [1 s], not c(Z).", [("H701", 1, "Z")]),
        ("a(X,Z) :- g(X,Y), b(X) [1 s].", [("H700", 1, "Z")]),
        ("a :- b(X), Y > X.", [("H701", 1, "Y")]),
        ("a(Y) :- b(X), Y = X + Z, c(Z).", []),
        ("a(Y) :- Y = X, X = 3.", []),
        ("@T a :- b.", [("H700", 1, "T")]),
        ("@T a :- @T true [3].", []),
        ("a :- not b(_).", []),
        ("a(X) :- c(X), not b(X,_) [3].", []),
        ("a :- not b(X,_).", [("H701", 1, "X")]),
        ("a :- not (b(_), X > 3).", [("H701", 1, "_"), ("H701", 1, "X")]),
        ("a :- (not b(_) ; c).", [("H701", 1, "_")]),
        ("a :- b(X+1).", [("H701", 1, "X")]),
        ("a :- (b(X) ; c(X)), X > 3.", []),
        ("a :- count { V : b(V, N) } = N.", [("H701", 1, "N")]),
        (
            "a :- N = count { V : b(V, M) }, M = count { V : b(V, N) }.",
            [("H701", 1, "N"), ("H701", 1, "M")],
        ),
        ("a :- N = count { V : b(V, M) }, M = count { V : b(V, 1) }, N > M.", []),
        ("a :- (b(X) ; c(Y)), X > 3.", [("H701", 1, "X"), ("H701", 1, "Y"), ("H701", 1, "X")]),
        ("a :- [from T to U] always b.", [("H701", 1, "T"), ("H701", 1, "U")]),
        ("a(N) :- N = count { X : b(X) }.", []),
        ("a :- N > count { X : b(X) }.", [("H701", 1, "N")]),
        ("a :- (count { X : b(X) } > 3 ; c).", []),
        ("{ a(X) : b(X) } :- c.", []),
        ("N { a(X) : b(X) } :- c.", [("H700", 1, "N")]),
        ("{ a(X) : not b(X) }.", [("H700", 1, "X"), ("H701", 1, "X")]),
    ],
)
def test_t40_safety(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert [f for f in told(text) if f[0] < "H703"] == expected


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ("1s", []),
        ("500ms", []),
        ("2s", ["[1 s]", "[3 s]"]),
        ("4s", ["[1 s]", "[3 s]"]),
        ("400ms", ["[1 s]", "[3 s]"]),
        ("3s", ["[1 s]"]),
    ],
)
def test_the_clock(clock: str, expected: list[str]) -> None:
    found = told("h :- b [1 s], c [3 s], d [5], e [2 #], f [inf].", clock)
    assert [text for code, _, text in found if code == "H703"] == expected


def test_the_clock_and_the_parts_of_a_window() -> None:
    assert [code for code, _, _ in told("h :- b [4 s hop 3 s].", "2s")] == ["H703"]
    assert [code for code, _, _ in told("h :- b [4 s, +3 s].", "2s")] == ["H703"]


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("a :- not a.", 1),
        ("a :- not b. b :- a.", 1),
        ("a :- not b. b :- not a.", 0),
        ("a :- not b. b :- not c. c :- not a.", 1),
        ("a :- b. b :- a.", 0),
        ("a :- not b [3]. b :- c, not d. d :- e.", 0),
        ("a :- (b -> c). b :- a.", 1),
    ],
)
def test_odd_loops(text: str, loops: int) -> None:
    assert [code for code, _, _ in told(text)] == ["H704"] * loops


def test_names() -> None:
    assert told("moving(X) :- speed(X). a(X) :- mowing(X).")[0][0] == "H708"
    assert told("sensor1 :- a. b :- sensor2.") == []
    assert told("stopped :- a. b :- stopping.") == []


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("a :- b [3], @T c, always d [2 #]. @T e :- @T a [3]. g(1).", Fragment.POSITIVE),
        ("a :- b, c(X), X > 3.", Fragment.POSITIVE),
        ("a :- b. b :- a.", Fragment.POSITIVE),
        ("a :- not b [3]. b :- c.", Fragment.STRATIFIED),
        ("a :- not b. b :- not a.", Fragment.PLAIN),
        ("a :- [3] (b, c).", Fragment.FULL),
        ("a :- [3] [2] some b.", Fragment.FULL),
        ("a :- [3] b.", Fragment.FULL),
        ("a :- reset b.", Fragment.FULL),
        ("a ; b.", Fragment.FULL),
        ("{ a }.", Fragment.FULL),
        (":- a.", Fragment.FULL),
        ("a :- count { 1 : b } > 0.", Fragment.FULL),
        ("a :- not not b.", Fragment.FULL),
        ("(a, b) :- c.", Fragment.FULL),
    ],
)
def test_fragments(text: str, fragment: Fragment) -> None:
    found = classify(read_text(text)[0])
    assert found.fragment is fragment
    assert bool(found.reasons) == (fragment is not Fragment.POSITIVE)


def test_strata_come_in_an_order_that_can_be_settled() -> None:
    text = "c :- not b. b :- a, d. d :- b. a :- x. e(N) :- N = count { 1 : c }."
    found = classify(read_text(text)[0])
    assert found.strata is not None
    assert [sorted(name for name, _ in part) for part in found.strata] == [
        *(["a"], ["b", "d"], ["c"], ["e"])
    ]
    for unsettled in ("a :- not a.", "{ a }.", "a ; b.", "a :- count { 1 : a } > 0."):
        assert classify(read_text(unsettled)[0]).strata is None


def test_features() -> None:
    text = """
    a :- [only b] [1 #] some b, c [+3], d [4 hop 2], e [1 # per f(X)], g [from 1 to 2], not h.
    """
    assert classify(read_text(text)[0]).features == {
        *("filter", "tuple", "nesting", "future", "time", "hop", "partition", "interval"),
        "negation",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a :- b [3 s hop 5 s].", [("H709", 1, "[3 s hop 5 s]")]),
        ("a :- b [3 s, +1 s hop 5 s].", [("H709", 1, "[3 s, +1 s hop 5 s]")]),
        ("a :- b [3 s, +2 s hop 5 s].", []),
        ("a :- b [5 s hop 5 s], b [5 s tumbling], b [inf hop 5 s], b [0 s].", []),
        ("a :- b [2 s hop 2500 ms].", [("H703", 1, "[2 s hop 2500 ms]")]),
        ("a :- b(X) [3 s], b(X, _).", [("H707", 1, "b(X, _)")]),
        ("a :- b(X) [3 s], c(X, _), not b(X).", []),
        ("a(X) :- b(X). a(X, Y) :- b(X), c(Y). d :- a(_), a(_, _).", []),
    ],
)
def test_hops_and_arguments(text: str, expected: list[tuple[str, int, str]]) -> None:
    assert told(text) == expected
