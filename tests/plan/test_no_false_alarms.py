"""Right descriptions must pass: no error, and hardly a warning."""

import json
import os
from pathlib import Path

import pytest
from tests.plan.support import HERE, codes, findings

from horai.lang.core.diagnostics import Severity
from horai.lang.ec.reader import read_text
from horai.plan.check import check
from horai.plan.check.names import looks_mistyped
from horai.plan.ec.modes import PythonPredicate

EXAMPLES = {"netbill": [], "maritime": ["H214"], "voting": [], "surveillance": []}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name: str) -> None:
    text = (HERE / f"{name}.ec").read_text(encoding="utf-8")
    assert codes(text) == EXAMPLES[name]


RIGHT = [
    # one name, and different fluents by the shape of their arguments
    """initiatedAt(per(vote(X))=true, T) :- happensAt(open(X), T).
    initiatedAt(shut(X)=true, T) :- happensAt(end_of(X), T).
    holdsFor(per(close(X))=true, I) :- holdsFor(shut(X)=true, I).""",
    # delays that are chosen among what the background says
    """initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
    ft(on(X)=true, R) :- days(X, R), R > 0.
    days(a, 3). days(b, 0).""",
    """initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
    ft(on(X)=true, R) :- days(X, normal, R).
    days(a, normal, 3). days(b, unusual, 0).""",
    # for n(X)=1 the shorter delay gives the value that there is: it ends nothing
    """initiatedAt(n(X)=V, T) :- happensAt(set(X, V), T).
    fi(n(X)=_, n(X)=1, 2).
    fi(n(X)=V, m(X)=V, 5).""",
    # order carries no meaning
    "initiatedAt(f(X)=t, T) :- \\+ happensAt(b(X), T), X \\= k, happensAt(a(X), T).",
    # a variable of a negation alone is existential
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), \\+ happensAt(b(_Y), T).",
    # names that differ in a way people mean
    "initiatedAt(f(X)=t, T) :- happensAt(change_in_speed_start(X), T).\n"
    "terminatedAt(f(X)=t, T) :- happensAt(change_in_speed_end(X), T).\n"
    "terminatedAt(f(X)=t, T) :- happensAt(start_2(X), T).\n"
    "terminatedAt(f(X)=t, T) :- happensAt(start_2(X), T), X > 3.\n"
    "terminatedAt(f(X)=t, T) :- happensAt(start_3(X), T).",
    # arguments that any value satisfies need none, and give none
    "initiatedAt(sent(X)=t, T) :- happensAt(e(X, G), T), opened(G, In), fits(In, X), costs(X, 9).\n"
    "opened(_, _).\nfits(_, _).\ncosts(_, 9).",
    # an event that is sent only to fill a domain
    "initiatedAt(f(X)=t, T) :- happensAt(stops(X), T).\n"
    "dynamicDomain(ship(_)).\ngrounding(f(X)=t) :- ship(X).\n"
    "grounding(position(X, _, _)) :- ship(X).",
    # a domain of the older layout
    "initiatedAt(f(X)=t, T) :- happensAt(stops(X), T).\ngrounding(f(X)=t) :- ship(X).\n"
    "event(position(_, _)).\ncollectGrounds([stops(X), position(X, _)], ship(X)).",
    # two arities, both grounded
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T).\n"
    "initiatedAt(f(X)=u, T) :- happensAt(a(X, 1), T).\n"
    "grounding(a(X)) :- p(X).\ngrounding(a(X, _)) :- p(X).\np(k).",
    # cycles in time order: a toggle, a state machine, mutual negation
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), \\+ holdsAt(f(X)=t, T).\n"
    "terminatedAt(f(X)=t, T) :- happensAt(a(X), T), holdsAt(f(X)=t, T).",
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), \\+ holdsAt(g(X)=t, T).\n"
    "initiatedAt(g(X)=t, T) :- happensAt(b(X), T), \\+ holdsAt(f(X)=t, T).",
    # through start and end, with a reading of the past in the circle
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), \\+ holdsAt(g(X)=t, T).\n"
    "terminatedAt(f(X)=t, T) :- happensAt(b(X), T).\n"
    "initiatedAt(g(X)=t, T) :- happensAt(end(f(X)=t), T).\n"
    "terminatedAt(g(X)=t, T) :- happensAt(c(X), T).",
    # the end of one value brings the next
    "initiatedAt(f(X)=a, T) :- happensAt(a(X), T).\n"
    "terminatedAt(f(X)=a, T) :- happensAt(b(X), T).\n"
    "initiatedAt(f(X)=b, T) :- happensAt(end(f(X)=a), T).",
    # positive recursion at one point
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T).\n"
    "initiatedAt(f(X)=t, T) :- initiatedAt(g(X)=t, T).\n"
    "initiatedAt(g(X)=t, T) :- initiatedAt(f(X)=t, T).",
    # looking back in a cycle
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), T0 is T - 5, \\+ holdsAt(f(X)=t, T0).",
    # between the two ends of a delayed effect, beside a cycle
    "initiatedAt(f(X)=a, T) :- happensAt(a(X), T).\n"
    "initiatedAt(f(X)=b, T) :- happensAt(b(X), T).\n"
    "holdsFor(h(X)=t, I) :- holdsFor(f(X)=a, J), intDurGreater(J, 8, I).\n"
    "initiatedAt(g(X)=t, T) :- happensAt(c(X), T), \\+ holdsAt(g(X)=t, T).\n"
    "fi(f(X)=a, g(X)=t, 6) :- T2 is T + 6, holdsAt(h(X)=t, T2).",
    # delayed effects between fluents, with conditions at both ends
    "initiatedAt(f(X)=a, T) :- happensAt(a(X), T).\n"
    "initiatedAt(g(X)=t, T) :- happensAt(b(X), T).\n"
    "fi(f(X)=a, h(X)=on, 9).\n"
    "fi(f(X)=a, f(X)=b, 12) :- holdsAt(g(X)=t, T), T2 is T + 12, \\+ holdsAt(h(X)=on, T2).\n"
    "p(f(_)=a).",
    # delays from the background
    "initiatedAt(f(X)=a, T) :- happensAt(a(X), T).\n"
    "fi(f(X)=a, f(X)=b, R) :- patience(X, R).\npatience(k, 9).",
    # counting
    "initiatedAt(in(X)=t, T) :- happensAt(a(X), T).\n"
    "initiatedAt(full=t, T) :- happensAt(tick, T),\n"
    "    aggregate_all(count, holdsAt(in(X)=t, T), N), N > 9.",
    # recursion and stratified negation in the background
    "link(a, b). link(b, c). shut(c).\n"
    "path(X, Y) :- link(X, Y).\npath(X, Y) :- link(X, Z), path(Z, Y).\n"
    "open(X, Y) :- path(X, Y), \\+ shut(Y).\n"
    "initiatedAt(f(X)=t, T) :- happensAt(a(X, Y), T), open(X, Y).",
    # an empty predicate, and one that no rule calls
    "none(_) :- fail.\nodd(X) :- Y > X, other(Y, Y).\n"
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T), \\+ none(X).",
    # Boolean formulas
    "points(g(_)=t). points(h(_)=t). kind(a, b).\n"
    "holdsAt(f(X)=t, T) :- holdsAt(g(X)=t, T), (\\+ holdsAt(h(X)=t, T) ; kind(X, b)).",
    # the range of a four-argument head, and `inf`
    "initiatedAt(f(X)=t, T1, T, T2) :- happensAt(a(X), T), T1 =< T, T < T2.",
    "limit(a, inf).\ninitiatedAt(f(X)=t, T) :- happensAt(a(X, S), T), limit(X, L), S < L.",
    # different instances of one fluent, both asked for
    "initiatedAt(f(X)=t, T) :- happensAt(a(X, Y), T), holdsAt(f(Y)=u, T), holdsAt(f(X)=t, T).\n"
    "initiatedAt(f(X)=u, T) :- happensAt(b(X), T).",
    # a grounding that only restricts
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T).\n"
    "grounding(f(X)=t) :- small(X).\nsmall(X) :- X < 9.",
    # joins over time
    "initiatedAt(f(X)=t, T) :- happensAt(a(X), T0), happensAt(b(X), T), T0 < T, T - T0 < 60.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_right_rules_pass(text: str) -> None:
    assert [f.render() for f in findings(text)] == []


def test_python_predicates_are_known() -> None:
    text = "initiatedAt(f(X)=D, T) :- happensAt(a(X, Y), T), near(X, Y), distance(X, Y, D), D > 2."
    description, _ = read_text(text)
    predicates = [PythonPredicate("near", 2), PythonPredicate("distance", 2)]
    assert check(description, predicates) == []
    assert [f.code for f in check(description, ["near"])] == ["H203"]
    wrong = [PythonPredicate("near", 3), PythonPredicate("distance", 2)]
    assert [f.code for f in check(description, wrong)] == ["H205"]


def conformance() -> list[dict[str, str]]:
    """The shared executable cases, where they are at hand."""
    default = Path(__file__).parents[3] / "shared" / "conformance" / "event-calculus.json"
    path = Path(os.environ.get("HORAI_CONFORMANCE", default))
    if not path.exists():
        return []
    found: list[dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return found


def test_no_executable_case_gives_an_error() -> None:
    for case in conformance():
        found = codes(case["rules"] + "\n" + (case.get("background") or ""))
        assert set(found) <= {"H503"}, case["id"]


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("win_lotery", "win_lottery", True),
        ("entresArea", "entersArea", True),
        ("entersarea", "entersArea", True),
        ("gapstart", "gap_start", True),
        ("leavesAreas", "leavesArea", False),
        ("closed", "close", False),
        ("walking", "talking", False),
        ("switched_on", "switched_off", False),
        ("increase", "decrease", False),
        ("zone1", "zone2", False),
        ("a", "b", False),
        ("stop_start", "stop_end", False),
        ("ping", "pong", False),
    ],
)
def test_when_a_name_looks_mistyped(word: str, known: str, expected: bool) -> None:
    assert looks_mistyped(word, known) is expected


@pytest.mark.parametrize(
    "text",
    [
        # Each reads the other within one time-point, and none breaks what it depends on.
        "initiatedAt(f(X)=t, T) :- happensAt(start(g(X)=t), T).\n"
        "initiatedAt(g(X)=t, T) :- happensAt(start(f(X)=t), T).\n"
        "initiatedAt(g(X)=t, T) :- happensAt(a(X), T).",
        "initiatedAt(session(X)=t, T) :- happensAt(start(login(X)=t), T).\n"
        "terminatedAt(session(X)=t, T) :- happensAt(bye(X), T).\n"
        "initiatedAt(login(X)=t, T) :- happensAt(enter(X), T).\n"
        "terminatedAt(login(X)=t, T) :- happensAt(end(session(X)=t), T).",
        "initiatedAt(turn(Y)=t, T) :- happensAt(end(turn(X)=t), T), next(X, Y).\n"
        "initiatedAt(turn(X)=t, T) :- happensAt(go(X), T).\n"
        "terminatedAt(turn(X)=t, T) :- happensAt(done(X), T).\nnext(a, b).",
        "initiatedAt(on=t, T) :- happensAt(up, T).\nterminatedAt(on=t, T) :- happensAt(down, T).\n"
        "holdsAt(off=t, T) :- \\+ holdsAt(on=t, T).",
        "initiatedAt(f(X, N)=t, T) :- happensAt(a(X, N), T).\nft(f(_X, N)=t, N).",
        "initiatedAt(f(X)=t, T) :- happensAt(a(X), T).\ngrounding(f(X)=no) :- p(X).\np(a).\n"
        "happensAt(o(X), T) :- happensAt(c(X), T), \\+ holdsAt(f(X)=no, T).",
    ],
)
def test_what_is_legal_gives_no_error(text: str) -> None:
    description, read = read_text(text)
    found = [*read, *check(description)]
    assert [f.render() for f in found if f.severity is Severity.ERROR] == []
