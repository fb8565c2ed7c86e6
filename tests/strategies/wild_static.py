"""Wild statically determined fluents: nested operations over pairs, and nested formulas."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.strategies.parts import ClauseText
from tests.strategies.static import DURATIONS, MODES, RELATIONS
from tests.strategies.wild_bodies import WildScene
from tests.strategies.wild_parts import SLOT, Form


def reading(scene: WildScene, names: str, others: bool = False) -> str:
    """A fluent of the entities in hand; or of others, and with any value."""
    fluent = scene.pick(scene.fluents)
    value = scene.pick(fluent.values)
    if others and scene.chance(4):
        names += "G"
    if others and scene.chance(8):
        value = "V"
    fill = {"n": ["1", "2", "_"], "v": ["1", "a", "k(a)"]}

    def one(sort: str) -> str:
        return scene.pick([*names]) if sort == "e" else scene.pick(fill[sort][:2])

    return SLOT.sub(lambda slot: one(slot[1]), f"{fluent.text}={value}")


def interval_rule(scene: WildScene, fluent: Form, others: bool = False) -> ClauseText:
    """Several operations, one on the result of the other; perhaps about others than the head."""
    names = "EF" if len(fluent.slots) == 2 else "E"
    who = iter(names)
    head = SLOT.sub(lambda _: next(who), fluent.text)
    count = scene.pick([2, 3, 4])
    read = [f"holdsFor({reading(scene, names, others)},I{i})" for i in range(1, count)]
    lists = [f"I{i}" for i in range(1, len(read) + 1)]
    goals = list(read)
    for _ in range(scene.pick([1, 2, 3])):
        result = f"I{len(lists) + 1}"
        one, other = scene.pick(lists), scene.pick(lists)
        kinds = ["union_all", "intersect_all", "complement_all", "without", "allen", "duration"]
        match scene.pick(kinds):
            case "without":
                goals.append(f"relative_complement_all({one},[{other}],{result})")
            case "allen":
                relation, mode = scene.pick(RELATIONS), scene.pick(MODES)
                goals.append(f"{relation}({one},{other},{mode},{result})")
            case "duration":
                bound = scene.pick([str(scene.draw(st.integers(1, 9))), "D"])
                goals.append(f"{scene.pick(DURATIONS)}({one},{bound},{result})")
            case operation:
                some = [one] if scene.chance(3) else [one, other]
                goals.append(f"{operation}([{','.join(some)}],{result})")
        lists.append(result)
    if any(",D," in goal for goal in goals):
        goals.append("limit(E,D)")
    match scene.pick(["free", "thing", "near", "test"]):
        case "thing":
            goals += [f"thing({name})" for name in names]
        case "near":
            goals.append("near(E,F)" if len(names) == 2 else "near(E,_)")
        case "test" if len(names) == 2:
            goals.append(scene.pick(["E \\= F", "\\+ apart(E,F)", "E @< F"]))
        case _:
            pass
    goals += [f"thing({name})" for name in names if name not in "".join(goals)]
    return ClauseText(f"holdsFor({head}=true,{lists[-1]})", tuple(goals))


def formula(scene: WildScene, fluent: Form) -> ClauseText:
    """A formula over fluents at one time-point, with helper predicates."""
    names = "EF" if len(fluent.slots) == 2 else "E"
    who = iter(names)
    head = SLOT.sub(lambda _: next(who), fluent.text)
    goals = [_boolean(scene, names, 2), _boolean(scene, names, 1)]
    match scene.pick(["free", "thing", "thing", "near"]):
        case "free":
            goals.append(f"holdsAt({'j1(E,F)' if len(names) == 2 else 'i1(E)'}=true,T)")
        case "near":
            goals.append("near(E,F)" if len(names) == 2 else "near(E,_)")
        case _:
            goals += [f"thing({name})" for name in names]
    return ClauseText(f"holdsAt({head}=true,T)", tuple(goals))


def _boolean(scene: WildScene, names: str, depth: int) -> str:
    kinds = ["holds", "holds", "not", "helper", "fact"] + ["or", "and", "nor"] * bool(depth)
    match scene.pick(kinds):
        case "not":
            return f"\\+ holdsAt({reading(scene, names)},T)"
        case "helper":
            one, other = scene.pick([*names]), scene.pick([*names, "_"])
            return scene.pick(["", "\\+ "]) + f"linked_at({one},{other},T)"
        case "fact":
            one, other = scene.pick([*names]), scene.pick([*names])
            return scene.pick(["\\+ ", ""]) + f"reach({one},{other})"
        case "or":
            return f"({_boolean(scene, names, depth - 1)} ; {_boolean(scene, names, depth - 1)})"
        case "and":
            return f"({_boolean(scene, names, depth - 1)}, {_boolean(scene, names, depth - 1)})"
        case "nor":
            left, right = _boolean(scene, names, depth - 1), _boolean(scene, names, depth - 1)
            return f"\\+ ({left} ; \\+ {right})"
        case _:
            return f"holdsAt({reading(scene, names)},T)"
