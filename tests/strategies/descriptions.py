"""Random event descriptions, legal by construction.

Entities are made one after another; each may look at all that came before it, and the members of a
cycle also at each other's values at T. Domains are tiny, so that things interact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.background import background
from tests.strategies.conditions import Scene, conditions, event_at, fluent_value, trigger
from tests.strategies.parts import (
    EVENTS,
    INTERVALS,
    LETTERS,
    POINTS,
    ClauseText,
    Described,
    Entity,
)
from tests.strategies.static import formula, interval_rule

# What a description may use; an engine that lacks something asks for descriptions `without` it.
FEATURES = frozenset(
    {
        # simple fluents: initial values, `F=_` in terminations, values from events, computed
        # values, heads with a range, initiates/terminates, no arguments, compound arguments
        *("initially", "wildcard", "letters", "counter", "range", "effects", "alone", "wrapped"),
        # other entities; mixed = simple and statically determined values of one fluent,
        # absence = formulas of nothing but negations
        *("output", "static", "duration", "allen", "formula", "mixed", "cycle", "inputs"),
        "absence",
        # fi; between two fluents; with a body; p; ft
        *("delay", "delay-between", "delay-if", "postponed", "ending"),
        # conditions; past and ahead = a second time variable, clock = fixed times
        *("negation", "existential", "disjunction", "if", "past", "ahead", "clock", "aggregate"),
        # edges = start and its kin, points = initiatedAt in bodies, timeless = no event at all
        *("edges", "points", "timeless"),
        # unlisted = statically determined fluents whose entities only their bodies know
        *("background", "grounding", "dynamic", "unlisted", "ticks"),
    }
)

Clauses = list[ClauseText]


@st.composite
def descriptions(
    draw: Draw, features: Iterable[str] = FEATURES, most: int = 4, without: Iterable[str] = ()
) -> Described:
    """A description with up to `most` entities, or cycles of entities, that use the features."""
    allowed = frozenset(features) - frozenset(without)
    scene = Scene(allowed)
    clauses: Clauses = []
    if scene.has("inputs"):
        scene.fluents += [INTERVALS, POINTS]
        clauses.append(ClauseText(f"collectIntervals({INTERVALS.pair('_', 'true')})"))
        clauses += [ClauseText(f"buildFromPoints({POINTS.pair('_', v)})") for v in LETTERS]
    kinds: dict[str, Callable[[Draw, Scene, int], Clauses]] = {"simple": _simple}
    for name, make in (
        ("output", _output),
        ("static", _static),
        ("formula", _formula),
        ("cycle", _cycle),
        ("counter", _counter),
    ):
        if scene.has(name):
            kinds[name] = make
    for number in range(1, draw(st.integers(1, most)) + 1):
        known = [f for f in scene.fluents if f.name != POINTS.name] or scene.fluents
        possible = [k for k in kinds if k not in ("static", "formula") or known]
        clauses += kinds[draw(st.sampled_from(possible))](draw, scene, number)
    clauses += background(draw, scene)
    tick = draw(st.sampled_from([1, 1, 1, 2, 3, 5])) if scene.has("ticks") else 1
    return Described(clauses, tick, allowed)


# --- simple fluents and output events ------------------------------------------------------------


def _simple(draw: Draw, scene: Scene, number: int) -> Clauses:
    fluent = _new_fluent(draw, scene, f"s{number}")
    clauses = _rules_of(draw, scene, fluent)
    scene.fluents.append(fluent)
    clauses += _mixed(draw, scene, fluent)
    return clauses


def _new_fluent(draw: Draw, scene: Scene, name: str) -> Entity:
    values = draw(st.sampled_from([("true",), ("true", "false"), LETTERS, (*LETTERS, "c")]))
    alone = scene.has("alone") and draw(st.integers(0, 4)) == 4
    wrapped = scene.has("wrapped") and draw(st.integers(0, 4)) == 4
    return Entity(name, values, simple=True, alone=alone, wrapped=wrapped and not alone)


def _rules_of(draw: Draw, scene: Scene, fluent: Entity) -> Clauses:
    clauses: Clauses = []
    first, *others = fluent.values
    for value in (first, *others):
        for _ in range(draw(st.integers(1, 2))):
            clauses.append(_change(draw, scene, "initiatedAt", fluent, value))
    for _ in range(draw(st.integers(0, 2))):
        value = draw(st.sampled_from(fluent.values))
        if scene.has("wildcard") and draw(st.integers(0, 3)) == 3:
            value = "_"
        clauses.append(_change(draw, scene, "terminatedAt", fluent, value))
    if scene.has("letters") and set(fluent.values) >= set(LETTERS) and draw(st.booleans()):
        # The event says which value; `c` is one that no rule of the fluent itself names.
        happens = f"happensAt({EVENTS[2].of('X')},T)"
        clauses.append(ClauseText(f"initiatedAt({fluent.pair('X', 'L')},T)", (happens,)))
    if scene.has("initially") and draw(st.integers(0, 3)) == 3:
        value = draw(st.sampled_from(fluent.values))
        clauses.append(ClauseText(f"initially({fluent.pair('X', value)})", ("thing(X)",)))
    if scene.has("delay"):
        clauses += _delays(draw, scene, fluent)
    if scene.has("grounding"):
        clauses += _groundings(draw, fluent)
    return clauses


def _change(draw: Draw, scene: Scene, head: str, fluent: Entity, value: str) -> ClauseText:
    body = trigger(draw, scene)
    for _ in range(draw(st.integers(0, 2))):
        body += conditions(draw, scene)
    pair = fluent.pair("X", value)
    if scene.has("range") and scene.has("clock") and draw(st.integers(0, 5)) == 5:
        return ClauseText(f"{head}({pair},{draw(st.sampled_from(['4', '_']))},T,25)", body)
    if scene.has("effects") and draw(st.integers(0, 5)) == 5:
        event, *rest = event_at(draw, scene, "X", "T")
        name = {"initiatedAt": "initiates", "terminatedAt": "terminates"}[head]
        what = event.removeprefix("happensAt(").removesuffix(",T)")
        return ClauseText(f"{name}({what},{pair},T)", (*rest, *conditions(draw, scene)))
    return ClauseText(f"{head}({pair},T)", body)


def _delays(draw: Draw, scene: Scene, fluent: Entity) -> Clauses:
    clauses: Clauses = []
    origin = draw(st.sampled_from(fluent.values))
    pair = fluent.pair("X", origin)
    others = [value for value in fluent.values if value != origin]
    earlier = [f for f in scene.simple if not f.alone and not fluent.alone]
    kinds = ["none"] + ["fi"] * 2 * bool(others) + ["ft"] * scene.has("ending")
    kinds += ["between"] * bool(earlier and scene.has("delay-between"))
    delay = draw(st.integers(1, 9))
    match draw(st.sampled_from(kinds)):
        case "fi":
            target = fluent.pair("X", draw(st.sampled_from(others)))
            clauses.append(_delay(draw, scene, f"fi({pair},{target}", delay))
            if len(others) > 1 and draw(st.booleans()):  # a chain that may close
                more = draw(st.permutations(fluent.values))[:2]
                if more[0] != origin:
                    link = f"{fluent.pair('X', more[0])},{fluent.pair('X', more[1])}"
                    clauses.append(ClauseText(f"fi({link},{draw(st.integers(1, 9))})"))
        case "ft":
            clauses.append(_delay(draw, scene, f"ft({pair}", delay))
        case "between":
            source = draw(st.sampled_from(earlier))
            cause = source.pair("X", draw(st.sampled_from(source.values)))
            clauses.append(_delay(draw, scene, f"fi({cause},{pair}", delay))
            return clauses
        case _:
            return clauses
    if scene.has("postponed") and draw(st.booleans()):
        clauses.append(ClauseText(f"p({fluent.pair('_', origin)})"))
    return clauses


def _delay(draw: Draw, scene: Scene, start: str, delay: int) -> ClauseText:
    if not scene.has("delay-if") or not draw(st.booleans()):
        return ClauseText(f"{start},{delay})")
    if "(" not in start.removeprefix("fi(").removeprefix("ft("):
        return ClauseText(f"{start},{delay})")  # without arguments there is no X
    choices = ["limit"] + ["then", "later"] * bool(scene.fluents)
    match draw(st.sampled_from(choices)):
        case "limit":
            return ClauseText(f"{start},R)", ("limit(X,R)",))
        case "then":
            sign = draw(st.sampled_from(["", "\\+ "]))
            return ClauseText(
                f"{start},{delay})", (f"{sign}holdsAt({fluent_value(draw, scene.fluents)},T)",)
            )
        case _:
            holds = f"holdsAt({fluent_value(draw, scene.fluents)},T2)"
            return ClauseText(f"{start},{delay})", (f"T2 is T+{delay}", holds))


def _groundings(draw: Draw, entity: Entity) -> Clauses:
    """For some values, or none: what is not spoken of is free."""
    clauses: Clauses = []
    for value in entity.values or ("",):
        if draw(st.booleans()):
            domain = draw(st.sampled_from(["thing", "special"]))
            what = entity.pair("X", value) if value else entity.of("X")
            body = () if entity.alone else (f"{domain}(X)",)
            clauses.append(ClauseText(f"grounding({what})", body))
    return clauses


def _output(draw: Draw, scene: Scene, number: int) -> Clauses:
    event = Entity(f"o{number}", wrapped=scene.has("wrapped") and draw(st.integers(0, 4)) == 4)
    clauses: Clauses = []
    for _ in range(draw(st.integers(1, 2))):
        body = trigger(draw, scene)
        if draw(st.booleans()):
            body += conditions(draw, scene)
        clauses.append(ClauseText(f"happensAt({event.of('X')},T)", body))
    if scene.has("grounding"):
        clauses += _groundings(draw, event)
    scene.events.append(event)
    return clauses


def _mixed(draw: Draw, scene: Scene, fluent: Entity) -> Clauses:
    """A further value that is statically determined, beside the simple ones."""
    if not (scene.has("mixed") and scene.has("static")) or draw(st.integers(0, 4)) < 4:
        return []
    base = fluent.pair("X", draw(st.sampled_from(fluent.values)))
    body = (f"holdsFor({base},I1)", "complement_all([I1],I)")
    head = f"holdsFor({fluent.pair('X', 'otherwise')},I)"
    return [ClauseText(head, body if fluent.alone else ("thing(X)", *body))]


# --- cycles --------------------------------------------------------------------------------------


def _cycle(draw: Draw, scene: Scene, number: int) -> Clauses:
    """Fluents that look at each other's values; the second may also start when the first does."""
    names = [f"c{number}", f"d{number}"][: draw(st.integers(1, 2))]
    fluents = [_new_fluent(draw, scene, name) for name in names]
    clauses: Clauses = []
    inner = Scene(scene.features, list(scene.events), list(scene.fluents), fluents, scene.used)
    for fluent in fluents:
        clauses += _rules_of(draw, inner, fluent)
        read = draw(st.sampled_from(fluents))
        holds = f"holdsAt({fluent_value(draw, [read])},T)"
        sign = draw(st.sampled_from(["", "\\+ "]))
        head = f"initiatedAt({fluent.pair('X', draw(st.sampled_from(fluent.values)))},T)"
        clauses.append(ClauseText(head, (*event_at(draw, inner, "X", "T"), f"{sign}{holds}")))
    if len(fluents) == 2 and scene.has("edges") and not any(f.alone for f in fluents):
        first, second = fluents
        start = f"happensAt(start({fluent_value(draw, [first])}),T)"
        head = f"initiatedAt({second.pair('X', second.values[0])},T)"
        if scene.has("output") and draw(st.booleans()):
            signal = f"happensAt(r{number}(X),T)"
            clauses += [ClauseText(signal, (start,)), ClauseText(head, (signal,))]
        else:
            clauses.append(ClauseText(head, (start,)))
    scene.fluents += fluents
    scene.used = inner.used
    return clauses


def _counter(draw: Draw, scene: Scene, number: int) -> Clauses:
    """Values that are computed; the last one may start over."""
    fluent = Entity(f"n{number}", ("0", "1", "2"), simple=True)
    more = (f"holdsAt({fluent.pair('X', 'N')},T)", "N < 3", "N1 is N+1")
    scene.fluents.append(fluent)
    return [
        ClauseText(f"initially({fluent.pair('X', '0')})", ("thing(X)",)),
        ClauseText(
            f"initiatedAt({fluent.pair('X', 'N1')},T)", (*event_at(draw, scene, "X", "T"), *more)
        ),
        ClauseText(f"initiatedAt({fluent.pair('X', '0')},T)", event_at(draw, scene, "X", "T")),
    ]


# --- statically determined fluents ---------------------------------------------------------------


def _static(draw: Draw, scene: Scene, number: int) -> Clauses:
    fluent = Entity(f"h{number}", ("true",))
    clauses = [
        interval_rule(draw, scene, f"holdsFor({fluent.pair('X', 'true')},I)")
        for _ in range(draw(st.sampled_from([1, 1, 2])))
    ]
    if scene.has("grounding"):
        clauses += _groundings(draw, fluent)
    scene.fluents.append(fluent)
    return clauses


def _formula(draw: Draw, scene: Scene, number: int) -> Clauses:
    fluent = Entity(f"m{number}", ("true",))
    clauses = [formula(draw, scene, f"holdsAt({fluent.pair('X', 'true')},T)")]
    scene.fluents.append(fluent)
    return clauses
