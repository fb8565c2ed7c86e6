"""Random background knowledge: domains, facts, recursion, negation, helpers."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.conditions import Scene
from tests.strategies.parts import (
    EVENTS,
    INTERVALS,
    NUMBER_EVENT,
    POINTS,
    THINGS,
    ClauseText,
    text_of,
)

Clauses = list[ClauseText]


def background(draw: Draw, scene: Scene) -> Clauses:
    """Facts and rules without time, and the domain of all entities."""
    clauses = [ClauseText(f"limit({thing},{draw(st.integers(1, 9))})") for thing in THINGS]
    clauses += [
        ClauseText("linked(x,y)"),
        ClauseText("reach(A,B)", ("linked(A,B)",)),
        ClauseText("reach(A,C)", ("reach(A,B)", "linked(B,C)")),
        ClauseText("special(A)", ("thing(A)", "\\+ linked(_,A)")),
        ClauseText("recent(A,T)", ("happensAt(e1(A),T0)", "T0 =< T", "T-T0 < 4")),
        ClauseText("alike(A,A)"),
    ]
    if draw(st.booleans()):
        clauses.append(ClauseText("linked(y,z)"))
    dynamic = scene.has("dynamic") and draw(st.integers(0, 2)) == 2
    if dynamic:
        clauses.append(ClauseText("dynamicDomain(thing(_))"))
        entities = [event.of("X").replace("L", "_") for event in EVENTS if not event.alone]
        entities.append(f"{NUMBER_EVENT}(X,_)")
        if scene.has("inputs"):
            entities += [
                fluent.pair("X", v) for fluent in (INTERVALS, POINTS) for v in fluent.values
            ]
        clauses += [ClauseText(f"grounding({entity})", ("thing(X)",)) for entity in entities]
    else:
        clauses += [ClauseText(f"thing({thing})") for thing in THINGS]
    return _wanted(clauses, scene)


def _wanted(clauses: Clauses, scene: Scene) -> Clauses:
    """Without the feature only what groundings and triggers need."""
    if scene.has("background"):
        return clauses
    needed = ("thing(", "special(", "linked(", "dynamicDomain(", "grounding(", "limit(")
    return [clause for clause in clauses if text_of([clause]).startswith(needed)]
