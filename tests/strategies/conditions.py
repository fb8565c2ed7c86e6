"""Random conditions of rules about points: what triggers a rule, and what else must be true.

Every trigger gives a value to the time T, and to X unless it has no arguments. Every condition can
be evaluated once both are bound. `settled` are the entities whose whole history may be looked at,
`cyclic` those of the rule's own cycle: of these only values at T, settled before T.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import EVENTS, NUMBER_EVENT, Entity

Conditions = tuple[str, ...]
_LOCAL = re.compile(r"\b(?:Y|T0|N|M|Found)\b")


@dataclass(slots=True)
class Scene:
    """What a rule may speak of."""

    features: frozenset[str]
    events: list[Entity] = field(default_factory=lambda: list(EVENTS))
    fluents: list[Entity] = field(default_factory=list)
    cyclic: list[Entity] = field(default_factory=list)
    used: int = 0  # numbers given to variables

    def has(self, feature: str) -> bool:
        """May the description use a construct?"""
        return feature in self.features

    @property
    def simple(self) -> list[Entity]:
        """Fluents with initiations and terminations."""
        return [fluent for fluent in self.fluents if fluent.simple]


def _maybe(draw: Draw) -> bool:
    return draw(st.booleans())


def fluent_value(draw: Draw, fluents: list[Entity], who: str = "X") -> str:
    """A fluent-value pair."""
    fluent = draw(st.sampled_from(fluents))
    return fluent.pair(who, draw(st.sampled_from(fluent.values)))


def event_at(draw: Draw, scene: Scene, who: str, time: str) -> Conditions:
    """An event; one without arguments needs a domain to say of whom it is."""
    event = draw(st.sampled_from(scene.events))
    text = event.of(who)
    if event.has_letter:
        text = text.replace("L", draw(st.sampled_from(["_", "a", "b"])))
    happens = (f"happensAt({text},{time})",)
    return happens if not event.alone else (*happens, f"thing({who})")


def trigger(draw: Draw, scene: Scene) -> Conditions:
    """Conditions that bind T and X."""
    kinds = ["event"]
    if scene.fluents:
        kinds += ["edge"] * scene.has("edges") + ["holds"] * scene.has("timeless")
    kinds += ["point"] * bool(scene.simple and scene.has("points"))
    kinds += ["either"] * scene.has("disjunction")
    match draw(st.sampled_from(kinds)):
        case "edge":
            edge = draw(st.sampled_from(["start", "end", "startI", "endI"]))
            fluent = draw(st.sampled_from(scene.fluents))
            value = draw(st.sampled_from(fluent.values))
            happens = f"happensAt({edge}({fluent.pair('X', value)}),T)"
            return (happens, "thing(X)") if fluent.alone else (happens,)
        case "holds":
            fluent = draw(st.sampled_from(scene.fluents))
            holds = f"holdsAt({fluent.pair('X', draw(st.sampled_from(fluent.values)))},T)"
            return (holds, "thing(X)") if fluent.alone else (holds,)
        case "point":
            which = draw(st.sampled_from(["initiatedAt", "terminatedAt"]))
            fluent = draw(st.sampled_from(scene.simple))
            point = f"{which}({fluent.pair('X', draw(st.sampled_from(fluent.values)))},T)"
            return (point, "thing(X)") if fluent.alone else (point,)
        case "either":
            left, right = (event_at(draw, scene, "X", "T") for _ in range(2))
            return (f"({', '.join(left)} ; {', '.join(right)})",)
        case _:
            return event_at(draw, scene, "X", "T")


def conditions(draw: Draw, scene: Scene, depth: int = 1) -> Conditions:
    """Conditions over X and T."""
    return fresh(_conditions(draw, scene, depth), scene)


def _conditions(draw: Draw, scene: Scene, depth: int) -> Conditions:
    kinds = ["happens"]
    readable = [*scene.fluents, *scene.cyclic]
    kinds += ["holds", "holds"] * bool(readable)
    kinds += ["compare"] + ["clock"] * scene.has("clock")
    kinds += ["negation"] * scene.has("negation")
    kinds += ["existential"] * scene.has("existential")
    kinds += ["background"] * scene.has("background")
    kinds += ["past"] * scene.has("past")
    kinds += ["aggregate"] * scene.has("aggregate")
    if depth:
        kinds += ["either"] * scene.has("disjunction") + ["if"] * scene.has("if")
    match draw(st.sampled_from(kinds)):
        case "holds":
            return (f"holdsAt({fluent_value(draw, readable)},T)",)
        case "compare":
            return (draw(st.sampled_from(["X \\= y", "X == x"])),)
        case "clock":
            return (draw(st.sampled_from(["T > 5", "T < 20", "T mod 2 =:= 0"])),)
        case "negation":
            return (f"\\+ {_negated(draw, scene)}",)
        case "existential":
            return _existential(draw, scene)
        case "background":
            return _background(draw, scene)
        case "past":
            return _past(draw, scene)
        case "aggregate":
            return _aggregate(draw, scene)
        case "either":
            left, right = (conditions(draw, scene, depth - 1) for _ in range(2))
            return (f"({', '.join(left)} ; {', '.join(right)})",)
        case "if":
            parts = [", ".join(conditions(draw, scene, 0)) for _ in range(3)]
            return (f"( {parts[0]} -> {parts[1]} ; {parts[2]} )",)
        case _:
            return event_at(draw, scene, "X", "T")


def fresh(parts: Conditions, scene: Scene) -> Conditions:
    """The conditions with variables of their own, so that they meet those of no other."""
    scene.used += 1
    return tuple(_LOCAL.sub(rf"\g<0>{scene.used}", part) for part in parts)


def _negated(draw: Draw, scene: Scene) -> str:
    readable = [*scene.fluents, *scene.cyclic]
    if readable and _maybe(draw):
        return f"holdsAt({fluent_value(draw, readable)},T)"
    parts = event_at(draw, scene, "X", "T")
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _existential(draw: Draw, scene: Scene) -> Conditions:
    """Another entity: inside a negation it is anybody, outside it is somebody else."""
    readable = [f for f in [*scene.fluents, *scene.cyclic] if not f.alone]
    if readable and _maybe(draw):
        holds = f"holdsAt({fluent_value(draw, readable, 'Y')},T)"
        return (f"\\+ {holds}",) if _maybe(draw) else (holds, "Y \\= X")
    with_argument = [event for event in scene.events if not event.alone]
    event = draw(st.sampled_from(with_argument)).of("Y").replace("L", "_")
    if _maybe(draw):
        return (f"\\+ happensAt({event},T)",)
    return (f"\\+ (happensAt({event},T), Y \\= X)",)


def _background(draw: Draw, scene: Scene) -> Conditions:
    choices = ["reach(X,Y)", "\\+ special(X)", "recent(X,T)", "alike(X,X)"]
    choices += ["limit(X,N)"] * scene.has("clock")
    match draw(st.sampled_from(choices)):
        case "reach(X,Y)":
            readable = [f for f in [*scene.fluents, *scene.cyclic] if not f.alone]
            if readable:
                return ("reach(X,Y)", f"holdsAt({fluent_value(draw, readable, 'Y')},T)")
            return ("reach(X,Y)", "happensAt(e2(Y),T)")
        case "limit(X,N)":
            return ("limit(X,N)", "T > N")
        case other:
            return (other,)


def _past(draw: Draw, scene: Scene) -> Conditions:
    """Another time: an earlier one, or one of the near future."""
    back = draw(st.integers(1, 6))
    if scene.fluents and _maybe(draw):
        return (f"T0 is T-{back}", f"holdsAt({fluent_value(draw, scene.fluents)},T0)")
    event = draw(st.sampled_from([e for e in scene.events if not e.alone])).of("X")
    happens = f"happensAt({event.replace('L', '_')},T0)"
    choices = [("T0 < T", f"T-T0 < {back}"), (f"T0 =:= T-{back}",)]
    choices += [("T0 > T", f"T0-T < {back}")] * scene.has("ahead")
    limits = draw(st.sampled_from(choices))
    if _maybe(draw):
        return (f"\\+ ({', '.join((happens, *limits))})",)
    return (happens, *limits)


def _aggregate(draw: Draw, scene: Scene) -> Conditions:
    event = draw(st.sampled_from([e for e in scene.events if not e.alone])).of("X")
    before = f"(happensAt({event.replace('L', '_')},T0), T0 =< T)"
    numbers = f"(happensAt({NUMBER_EVENT}(X,M),T0), T0 =< T, T-T0 < 8)"
    match draw(st.sampled_from(["list", "count", "sum", "max", "min", "set"])):
        case "list":
            return (f"findall(T0,{before},Found)", "length(Found,N)", "N > 1")
        case "count":
            return (f"aggregate_all(count,{before},N)", "N =:= 2")
        case "sum":
            return (f"aggregate_all(sum(M),{numbers},N)", "N > 3")
        case "max":
            return (f"aggregate_all(max(T0),{before},N)", "T-N < 5")
        case "min":
            return (f"aggregate_all(min(M),{numbers},N)", "N < 3")
        case _:
            return ("aggregate_all(set(Y),happensAt(e1(Y),T),Found)", "length(Found,N)", "N < 2")
