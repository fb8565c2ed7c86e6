"""Random statically determined fluents: interval operations and Boolean formulas."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.conditions import Conditions, Scene, fluent_value
from tests.strategies.parts import ClauseText

MODES = (
    "source",
    "target",
    "union",
    "intersection",
    "relative_complement",
    "relative_complement_inverse",
)
RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
DURATIONS = ("intDurGreater", "intDurLess", "durGreaterEq", "durLessEq")


def interval_rule(draw: Draw, scene: Scene, head: str) -> ClauseText:
    """An operation over the intervals of two fluents, and perhaps a second one on its result."""
    left = f"holdsFor({fluent_value(draw, scene.fluents)},I1)"
    right = f"holdsFor({fluent_value(draw, scene.fluents)},I2)"
    kinds = ["union_all", "intersect_all", "relative_complement_all", "complement_all"]
    kinds += ["allen"] * 2 * scene.has("allen")
    filtered = scene.has("duration") and draw(st.booleans())
    result = "I3" if filtered else "I"
    match draw(st.sampled_from(kinds)):
        case "relative_complement_all":
            body: Conditions = (left, right, f"relative_complement_all(I1,[I2],{result})")
        case "complement_all":
            body = (left, f"complement_all([I1],{result})")
        case "allen":
            relation = draw(st.sampled_from(RELATIONS))
            body = (left, right, f"{relation}(I1,I2,{draw(st.sampled_from(MODES))},{result})")
        case operation:
            body = (left, right, f"{operation}([I1,I2],{result})")
    if filtered:
        name = draw(st.sampled_from(DURATIONS))
        body += (f"{name}(I3,{draw(st.integers(1, 8))},I)",)
    if "X" in left and scene.has("unlisted") and draw(st.booleans()):
        return ClauseText(head, body)  # X ranges over all that is known of the fluents
    return ClauseText(head, (*body, "thing(X)"))


def formula(draw: Draw, scene: Scene, head: str) -> ClauseText:
    """A Boolean formula over fluents at one time-point."""
    first = f"holdsAt({fluent_value(draw, scene.fluents)},T)"
    if scene.has("absence") and draw(st.booleans()):
        first = f"\\+ {first}"  # nothing but absence: true after the start of the run
    return ClauseText(head, ("thing(X)", first, _boolean(draw, scene, 2)))


def _boolean(draw: Draw, scene: Scene, depth: int) -> str:
    kind = draw(st.sampled_from(["holds", "not", "or", "and"] if depth else ["holds", "not"]))
    if kind in ("holds", "not"):
        holds = f"holdsAt({fluent_value(draw, scene.fluents)},T)"
        return holds if kind == "holds" else f"\\+ {holds}"
    left, right = (_boolean(draw, scene, depth - 1) for _ in range(2))
    return f"({left} ; {right})" if kind == "or" else f"({left}, {right})"
