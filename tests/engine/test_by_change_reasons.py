"""What can be brought up to date by change, and the reasons of what cannot."""

import pytest

from horai.engine.deltas.parts import part_of, update_of
from horai.engine.deltas.reasons import Update
from horai.engine.symbols import Symbols
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan
from horai.rules import loads

OTHERS = """
initiatedAt(on(X)=true, T) :- happensAt(up(X), T).
initiatedAt(on(X)=false, T) :- happensAt(down(X), T).
"""


def compiled(rules: str) -> Plan:
    return compile_program(loads(rules).description)


def update(rules: str, name: str = "it", tick: int = 1) -> Update:
    """How the component of a name is brought up to date."""
    program = compiled(OTHERS + rules)
    for stratum in program.strata:
        if any(vertex.name == name for vertex in stratum.component.vertices):
            found = update_of(stratum, program, tick)
            part = part_of(stratum, program, Symbols(), tick)
            assert (part is None) == (found.kind is None) == (found.reason is not None)
            return found
    raise AssertionError(f"nothing is called {name}")


POINTS = [
    "initiatedAt(it(X)=true, T) :- happensAt(go(X), T), holdsAt(on(X)=true, T).",
    "initially(it(a)=true).\nterminatedAt(it(X)=true, T) :- happensAt(go(X), T).",
    "happensAt(it(X), T) :- happensAt(start(on(X)=true), T), \\+ happensAt(go(X), T).",
    "happensAt(it(X), T) :- happensAt(go(X), T), happensAt(up(X), T0), T0 < T, T - T0 < 5.",
]
LISTS = [
    "holdsFor(it(X)=true, I) :- holdsFor(on(X)=true, I1), intDurGreater(I1, 5, I).",
    "holdsFor(it(X)=true, I) :- holdsFor(on(X)=true, A), holdsFor(on(X)=false, B), "
    "relative_complement_all(A, [B], I).",
    "holdsFor(it(X)=true, I) :- holdsFor(on(X)=true, A), holdsFor(on(X)=false, B), "
    "union_all([A, B], C), allen(meets, A, C, target, I).",
]


@pytest.mark.parametrize("rules", POINTS)
def test_points(rules: str) -> None:
    assert update(rules) == Update("points")


@pytest.mark.parametrize("rules", LISTS)
def test_lists(rules: str) -> None:
    assert update(rules) == Update("lists")


def test_a_list_of_too_many_others_is_worked_out_as_a_whole() -> None:
    names = [f"I{n}" for n in range(17)]
    asked = ", ".join(f"holdsFor(level(X)={n}, {name})" for n, name in enumerate(names))
    level = "initiatedAt(level(X)=N, T) :- happensAt(at(X, N), T)."
    head = f"{level}\nholdsFor(it(X)=true, I) :- {asked}, "
    found = update(f"{head}intersect_all([{', '.join(names)}], I).")
    assert found.kind is None
    assert found.reason is not None and "made of more than 16 others" in found.reason
    assert update(f"{head}intersect_all([{', '.join(names[:16])}], I).") == Update("lists")


CYCLES = [
    "initiatedAt(it(X)=true, T) :- happensAt(go(X), T), \\+ holdsAt(it(X)=true, T).",
    "initiatedAt(it(X)=a, T) :- happensAt(go(X), T).\nfi(it(X)=a, it(X)=b, 5).\n"
    "terminatedAt(it(X)=_, T) :- happensAt(go(X), T), holdsAt(it(X)=b, T).",
    "initiatedAt(it(X)=a, T) :- happensAt(go(X), T).\n"
    "fi(it(X)=a, it(X)=b, 5) :- \\+ holdsAt(on(X)=true, T).",
    "initiatedAt(it(X)=a, T) :- happensAt(go(X), T).\nfi(it(X)=a, it(Y)=b, 5) :- next(X, Y).\n"
    "next(a, b).",
    "happensAt(it(X), T) :- happensAt(go(X), T), \\+ holdsAt(seen(X)=true, T).\n"
    "initiatedAt(done(X)=true, T) :- happensAt(it(X), T).\n"
    "initiatedAt(seen(X)=true, T) :- happensAt(go(X), T), initiatedAt(done(X)=true, T).",
]


@pytest.mark.parametrize("rules", CYCLES)
def test_cycles(rules: str) -> None:
    assert update(rules) == Update("cycles")
    apart = "it is settled in the order of time, and time-points lie apart"
    assert update(rules, tick=5) == Update(None, apart)


DELAY = "initiatedAt(it(X)=a, T) :- happensAt(go(X), T).\nfi(it(X)=a, it(X)=b, 5)."


def test_delays() -> None:
    assert update(DELAY) == Update("delays")
    apart = "it is settled in the order of time, and time-points lie apart"
    assert update(DELAY, tick=5) == Update(None, apart)


REASONS = [
    (
        f"{DELAY}\nhappensAt(seen(X), T) :- happensAt(go(X), T), initiatedAt(it(X)=a, T).",
        "rules ask when it/1 is initiated or terminated",
    ),
    (
        "initiatedAt(it(X)=true, T) :- holdsAt(on(X)=true, T), \\+ holdsAt(it(X)=true, T).",
        "<rules>:4: no event, start or end at the time of its head comes first",
    ),
    (
        "initiatedAt(it(X)=N, T) :- happensAt(go(X), T), holdsAt(it(X)=M, T), atom_length(M, N).",
        "it is settled by the interpreter",
    ),
    ("initially(it(a)=true).", "it has initial values only"),
    (
        "happensAt(it(X), T) :- happensAt(go(X), T), queryTime(Q), Q - T < 5.",
        "<rules>:4: it reads the query time",
    ),
    (
        "happensAt(it(X), T) :- holdsAt(on(X)=true, T).",
        "<rules>:4: no event, start or end at the time of its head comes first",
    ),
    (
        "initiatedAt(it(X)=true, T) :- happensAt(go(_), T).\n"
        "grounding(it(X)=true) :- lamp(X).\nlamp(a).",
        "<rules>:4: its conditions leave variables to the grounding",
    ),
    (
        "happensAt(it(X), T) :- happensAt(go(X), T), initiatedAt(on(X)=true, T).",
        "<rules>:4: it asks for initiations",
    ),
    (
        "happensAt(it(X), T) :- happensAt(go(X), T), happensAt(startI(on(X)=true), T).",
        "<rules>:4: it asks for startI",
    ),
    (
        "holdsFor(it(X)=true, I) :- holdsFor(on(X)=true, I1), complement_all([I1], I).\n"
        "grounding(it(X)=true) :- lamp(X).\nlamp(a).",
        "<rules>:4: it also speaks of those of whom nothing is known",
    ),
    (
        "holdsAt(it(X)=true, T) :- holdsAt(on(X)=true, T), \\+ holdsAt(on(X)=false, T).",
        "<rules>:4: it is a formula over values at a time",
    ),
]


@pytest.mark.parametrize(("rules", "reason"), REASONS, ids=[reason for _, reason in REASONS])
def test_reasons(rules: str, reason: str) -> None:
    assert update(rules) == Update(None, reason)


def test_what_others_ask_for() -> None:
    rules = "happensAt(it(X), T) :- happensAt(go(X), T), initiatedAt(on(X)=true, T)."
    asked = "rules ask when on/1 is initiated or terminated"
    assert update(rules, "on") == Update(None, asked)


def test_who_is_known_may_change_with_the_stream() -> None:
    rules = """
    dynamicDomain(person(_)).
    grounding(it(X)=true) :- person(X).
    initiatedAt(it(X)=true, T) :- happensAt(go(X), T).
    happensAt(person(X), T) :- happensAt(go(X), T), person(X).
    """
    assert "the stream makes them known" in (update(rules).reason or "")
    assert "person/1 changes with the stream" in (update(rules, "person").reason or "")
