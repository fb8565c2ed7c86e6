"""Wild descriptions: what a set-at-a-time engine may get wrong and an interpreter gets for free.

Rules join several entities, numbers, lists and times. Most descriptions are legal; the few that the
checker refuses are thrown away.
"""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import ClauseText, Described
from tests.strategies.wild_bodies import Body, WildScene
from tests.strategies.wild_parts import FACTS, HELPERS, INPUTS, PROCEDURES, RELATIONS, SLOT, Form
from tests.strategies.wild_static import formula, interval_rule

from horai.lang.core.diagnostics import Severity
from horai.lang.ec.reader import read_text
from horai.plan.check import check
from horai.plan.ec.modes import PythonPredicate

PYTHON = [
    *(PythonPredicate("py_odd", 1), PythonPredicate("py_alike", 2), PythonPredicate("py_close", 2)),
    *(PythonPredicate("py_third", 1), PythonPredicate("py_pair", 1)),
    PythonPredicate("py_scaled", 1),
]
SHAPES = (
    *(
        ("$e", ("true",)),
        ("$e", ("a", "b", "c")),
        ("$e", ("$n", "0")),
        ("$e,$e", ("true", "false")),
    ),
    *(("$e,$n", ("true", "off")), ("$e", ("$v",)), ("$e", ("level($n)", "level(0)", "none"))),
    *(("k($e),$e", ("true", "b")), ("", ("true", "$e"))),
)
TICKS = st.sampled_from([1, 1, 1, 1, 2, 5])


class Wild(Described):
    """A wild description; its text is more than its clauses."""

    @property
    def text(self) -> str:
        return INPUTS + super().text + FACTS + RELATIONS + PROCEDURES + HELPERS

    def __repr__(self) -> str:
        return f"tick {self.tick}\n{super().text}(and facts, relations, procedures, helpers)\n"


@st.composite
def wild_descriptions(draw: Draw, most: int = 4, python: bool | None = None) -> Wild:
    """A description with up to `most` entities, or cycles of entities."""
    calls = draw(st.booleans()) if python is None else python
    scene = WildScene(draw, calls)
    clauses: list[ClauseText] = []
    kinds = ["simple"] * 4 + ["output"] * 2 + ["static"] * 3 + ["formula", "cycle"]
    for number in range(1, draw(st.integers(1, most)) + 1):
        match draw(st.sampled_from(kinds)):
            case "output":
                clauses += _output(scene, number)
            case "static":
                clauses += _static(scene, number)
            case "formula":
                clauses += _formula(scene, number)
            case "cycle":
                fluents = [_new(scene, f"{letter}{number}") for letter in "cd"]
                for fluent in fluents:
                    clauses += _rules(scene, fluent, tuple(fluents))
                scene.fluents += fluents
            case _:
                fluent = _new(scene, f"s{number}")
                clauses += _rules(scene, fluent, ())
                scene.fluents.append(fluent)
                clauses += _between(scene, fluent)
    return legal(Wild(clauses, draw(TICKS)), PYTHON if calls else [])


@st.composite
def list_descriptions(draw: Draw) -> Wild:
    """Little but interval lists and formulas, which may speak of others than their heads."""
    scene = WildScene(draw, False)
    clauses: list[ClauseText] = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        match draw(st.sampled_from(["static"] * 4 + ["formula"] * 2 + ["simple"])):
            case "static":
                clauses += _static(scene, number, others=True)
            case "formula":
                clauses += _formula(scene, number)
            case _:
                fluent = _new(scene, f"s{number}")
                clauses += _rules(scene, fluent, ())
                scene.fluents.append(fluent)
    return legal(Wild(clauses, draw(TICKS)), [])


def legal(wild: Wild, predicates: list[PythonPredicate]) -> Wild:
    """The description, if the checks let it pass."""
    description, found = read_text(wild.text)
    found += check(description, predicates, found=found)
    # A rule without the grounding it needs (H314) is left out before a run.
    assume(not any(f.severity is Severity.ERROR or f.code == "H314" for f in found))
    return wild


# --- simple fluents and output events ------------------------------------------------------------


def _new(scene: WildScene, name: str) -> Form:
    arguments, values = scene.pick(SHAPES)
    return Form(f"{name}({arguments})" if arguments else name, values, simple=True)


def _rules(scene: WildScene, fluent: Form, cycle: tuple[Form, ...]) -> list[ClauseText]:
    clauses: list[ClauseText] = []
    for value in fluent.values:
        for _ in range(scene.pick([1, 1, 2])):
            clauses.append(_change(scene, "initiatedAt", fluent, value, cycle))
    for _ in range(scene.pick([0, 1, 2])):
        value = scene.pick([*fluent.values, "_", "level(_)", "k(_)", "$v"])
        clauses.append(_change(scene, "terminatedAt", fluent, value, cycle))
    if scene.chance(3):
        clauses.append(_initially(scene, fluent))
    if scene.chance(2):
        clauses += _delays(scene, fluent)
    if scene.chance(3):
        clauses += _groundings(scene, fluent)
    return clauses


def _change(
    scene: WildScene, head: str, fluent: Form, value: str, cycle: tuple[Form, ...]
) -> ClauseText:
    body = Body(scene, cycle).start().more(2)
    pair = _said(body, f"{fluent.text}={value}")
    if scene.chance(6):
        low, high = scene.pick(["_", "4", "T0"]), scene.pick(["_", "25"])
        goals = [*body.goals, "happensAt(e0,T0)"] if low == "T0" else body.goals
        return ClauseText(f"{head}({pair},{low},T,{high})", tuple(goals))
    return ClauseText(f"{head}({pair},T)", tuple(body.goals))


def _said(body: Body, text: str) -> str:
    """The head: only what the body gives a value, which more conditions may have to do."""
    for sort in dict.fromkeys(SLOT.findall(text)):
        if not body.bound.get(sort):
            goal = {"e": "thing(E)", "n": "limit(_,N)", "v": "rank(_,V)"}[sort]
            body.goals.append(goal)
            body.bound.setdefault(sort, []).append(sort.upper())
    return body.fill(text, "never")


def _initially(scene: WildScene, fluent: Form) -> ClauseText:
    body = Body(scene)
    for sort in dict.fromkeys(fluent.slots):
        body.goals.append({"e": "near(E,F)", "n": "dist(E,F,N)", "v": "rank(E,V)"}[sort])
        body.bound["e"] = ["E", "F"]
        body.bound[sort] = ["E", "F"] if sort == "e" else [sort.upper()]
    pair = _said(body, f"{fluent.text}={scene.pick(fluent.values)}")
    if scene.chance(2):
        body.test()
    return ClauseText(f"initially({pair})", tuple(body.goals))


def _groundings(scene: WildScene, fluent: Form) -> list[ClauseText]:
    """For some values, or none; of pairs and values as facts have them."""
    domains = {
        "": (),
        "e": ("thing(E)",),
        "ee": ("near(E,F)",),
        "en": ("limit(E,N)",),
        "ev": ("rank(E,V)",),
        "een": ("dist(E,F,N)",),
    }
    clauses = []
    for value in fluent.values:
        pair = f"{fluent.text}={value}"
        sorts = "".join(SLOT.findall(pair))
        if sorts in domains and scene.chance(2):
            for name in sorts.replace("ee", "ef").upper():
                pair = SLOT.sub(name, pair, count=1)
            clauses.append(ClauseText(f"grounding({pair})", domains[sorts]))
    return clauses


def _delays(scene: WildScene, fluent: Form) -> list[ClauseText]:
    """Delays from facts, longer than windows, with conditions, prolonged or not."""
    arguments = iter("EFG")
    who = SLOT.sub(lambda slot: next(arguments) if slot[1] == "e" else "N", fluent.text)
    fixed = [value for value in fluent.values if "$" not in value]
    if not fixed:
        return []
    origin = scene.pick(fixed)
    others = [value for value in fixed if value != origin]
    body: list[str] = []
    delay = scene.pick(["1", "3", "8", "20", "R"])
    if delay == "R":
        body.append("limit(E,R)" if "E" in who else "limit(x,R)")
    if scene.chance(3) and "E" in who:
        time = scene.pick(["T1", "T2"])
        if time == "T2" and delay != "R":
            body.append(f"T2 is T1+{delay}")
        sign = scene.pick(["", "\\+ "])
        read = scene.pick(["i1(E)=true", "j1(E,_)=true", "j2(E)=1", "twin(E)=level(_)"])
        body.append(f"{sign}holdsAt({read},{time if len(body) else 'T1'})")
    if others and scene.chance(2):
        head = f"fi({who}={origin},{who}={scene.pick(others)},{delay})"
    else:
        head = f"ft({who}={origin},{delay})"
    clauses = [ClauseText(head, tuple(body))]
    if scene.chance(3):
        blank = SLOT.sub("_", fluent.text)
        clauses.append(ClauseText(f"p({blank}={origin})"))
    return clauses


def _between(scene: WildScene, fluent: Form) -> list[ClauseText]:
    """A fluent that sets another one off."""
    fixed = [value for value in fluent.values if "$" not in value]
    if not fixed or not scene.chance(4) or fluent.slots.count("e") != 1 or "k(" in fluent.text:
        return []
    target = Form(f"z{len(scene.fluents)}($e)", ("on", "off"), simple=True)
    who = fluent.text.replace("$e", "E").replace("$n", "N")
    head = f"fi({who}={scene.pick(fixed)},{target.text.replace('$e', 'E')}=on,{{}})"
    delay = scene.pick(["2", "9", "R"])
    clauses = _rules(scene, target, ())
    clauses.append(ClauseText(head.format(delay), ("limit(E,R)",) if delay == "R" else ()))
    scene.fluents.append(target)
    return clauses


def _output(scene: WildScene, number: int) -> list[ClauseText]:
    shape = scene.pick(["($e)", "($e,$e)", "($e,$v)", "(done($e))", "($e,$n)", ""])
    event = Form(f"o{number}{shape}")
    clauses = []
    for _ in range(scene.pick([1, 1, 2])):
        body = Body(scene).start().more(2)
        head = _said(body, event.text)
        clauses.append(ClauseText(f"happensAt({head},T)", tuple(body.goals)))
    scene.events += [event, event]
    return clauses


# --- statically determined fluents ---------------------------------------------------------------


def _static(scene: WildScene, number: int, others: bool = False) -> list[ClauseText]:
    slots = scene.pick(["$e", "$e,$e"])
    fluent = Form(f"h{number}({slots})", ("true",))
    clauses = [interval_rule(scene, fluent, others) for _ in range(scene.pick([1, 1, 2]))]
    if scene.chance(3):
        goal = "near(E,F)" if slots == "$e,$e" else "thing(E)"
        head = f"h{number}({'E,F' if slots == '$e,$e' else 'E'})=true"
        clauses.append(ClauseText(f"grounding({head})", (goal,)))
    scene.fluents.append(fluent)
    return clauses


def _formula(scene: WildScene, number: int) -> list[ClauseText]:
    slots = scene.pick(["$e", "$e,$e"])
    fluent = Form(f"m{number}({slots})", ("true",))
    clauses = [formula(scene, fluent) for _ in range(scene.pick([1, 1, 2]))]
    scene.fluents.append(fluent)
    return clauses
