"""Wild rules that look at interval lists as wholes: as terms, beside events, inside aggregates."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import ClauseText
from tests.strategies.runs import Run
from tests.strategies.static import DURATIONS, MODES, RELATIONS
from tests.strategies.streams import windows
from tests.strategies.wild import TICKS, Wild, legal
from tests.strategies.wild_bodies import WildScene
from tests.strategies.wild_parts import Form
from tests.strategies.wild_static import reading
from tests.strategies.wild_streams import wild_streams

HELPERS = """
shifted([],[]).
shifted([(S,inf)|R],[(S,inf)|Q]) :- shifted(R,Q).
shifted([(S,X)|R],[(S,Y)|Q]) :- number(X), Y is X+2, shifted(R,Q).
widened(E,I,K) :- holdsFor(i1(E)=true,J), union_all([I,J],K).
told(x,[(3,8),(8,11),(14,inf)]). told(y,[(1,2)]). told(z,[]).
"""


class Whole(Wild):
    """A description with more helpers."""

    @property
    def text(self) -> str:
        return super().text + HELPERS


class Goals:
    """The conditions of a rule, as they grow; `lists` are its variables of interval lists."""

    def __init__(self, scene: WildScene, names: str) -> None:
        self.scene, self.names = scene, names
        self.goals: list[str] = []
        self.lists: list[str] = []
        self.number: str | None = None

    def list(self) -> str:
        """One of the lists, the latest more often than others."""
        return self.scene.pick([*self.lists, self.lists[-1]])

    def new(self) -> str:
        """The name of one more list."""
        return f"I{len(self.lists) + 1}"

    def read(self, others: bool = True) -> None:
        """The list of a fluent."""
        result = self.new()
        self.goals.append(f"holdsFor({reading(self.scene, self.names, others)},{result})")
        self.lists.append(result)

    def test(self) -> None:
        """Something about lists that is true or not."""
        one, other, pick = self.list(), self.list(), self.scene.pick
        who = pick([*self.names])
        pair = reading(self.scene, self.names)
        self.goals.append(
            pick(
                [
                    *(f"{one}={other}", f"{one} \\= {other}", f"{one} == {other}", f"{one}=[]"),
                    *(f"\\+ {one}=[]", f"{one} \\== []", f"{one}=[_|_]", f"\\+ {one}=[_]"),
                    f"{one}=[(S{self.scene.name('s')},_)|_]",
                    f"\\+ (holdsFor({pair},J), J={one})",
                    f"\\+ holdsFor({pair},[])",
                    f"(length({one},K1), K1 > 1)",
                    f"happensAt(e1({who}),{self.scene.name('t')})",
                    f"happensAt(start({pair}),{self.scene.name('t')})",
                    f"\\+ happensAt(e1({who}),{pick(['3', '9', '_'])})",
                    f"holdsAt({pair},{pick(['4', '9', '10'])})",
                    f"\\+ holdsAt({pair},9)",
                    "queryTime(Q), Q > 12",
                    "aggregate_all(count, (holdsFor(i1(_)=true,J), J \\= []), C), C > 1",
                    "aggregate_all(count, happensAt(w1(_,_),_), C), C < 3",
                    f"durLessEq({one},3,[])",
                ]
            )
        )

    def make(self) -> None:
        """One more list, of others."""
        result, one, other, pick = self.new(), self.list(), self.list(), self.scene.pick
        pair = reading(self.scene, self.names)
        at = self.scene.name("t")
        end = self.scene.name("n")
        operation = pick(["union_all", "intersect_all", "complement_all", "complement_all"])
        self.goals.append(
            pick(
                [
                    f"{operation}([{one},{other}],{result})",
                    f"{operation}([{one},[(4,9),(12,inf)]],{result})",
                    f"relative_complement_all([(2,15)],[{one}],{result})",
                    f"{pick(RELATIONS)}({one},{other},{pick(MODES)},{result})",
                    f"{pick(RELATIONS)}({one},[(3,9)],{pick(MODES)},{result})",
                    f"{pick(DURATIONS)}({one},{pick('1357')},{result})",
                    f"({one}=[] -> {result}={other} ; {result}={one})",
                    f"(holdsFor({pair},{result}) ; {result}={one}, happensAt(e0,_))",
                    f"member({result},[{one},{other}])",
                    f"shifted({one},{result})",
                    f"widened({pick([*self.names])},{one},{result})",
                    f"told({pick([*self.names])},{result})",
                    f"member(({at},_),{one}), {end} is {at}+3, {result}=[({at},{end})]",
                    f"happensAt(e1({self.names[0]}),{at}), {result}=[({at},inf)]",
                    f"happensAt(w1({self.names[0]},_),{at}), {end} is {at}+4, "
                    f"{result}=[({at},{end}),(30,31)]",
                    f"findall(J,holdsFor({pair},J),L), {operation}(L,{result})",
                    f"findall(J,(thing(G),holdsFor(i1(G)=true,J)),L), {operation}(L,{result})",
                    f"findall((S,S2),(happensAt(e1(_),S),S2 is S+2),L), union_all([L],{result})",
                    f"Ls=[{one},{other}], {operation}(Ls,{result})",
                ]
            )
        )
        self.lists.append(result)


def whole_rule(scene: WildScene, fluent: Form) -> ClauseText:
    """A rule for interval lists; its value may be how many intervals there are."""
    names = "EF" if len(fluent.slots) == 2 else "E"
    goals = Goals(scene, names)
    for _ in range(scene.pick([1, 2, 2])):
        goals.read()
    for kind in scene.pick(["t", "m", "tm", "mt", "mm", "tt", "mtm"]):
        if kind == "t":
            goals.test()
        else:
            goals.make()
    head = fluent.text.replace("$e", "E", 1).replace("$e", "F", 1)
    value = "true"
    if fluent.values != ("true",):
        goals.goals.append(f"length({goals.list()},N)")
        value = "N"
    goals.goals += [
        f"thing({name})" for name in names if f"{name}" not in "".join(goals.goals) + "" * 0
    ]
    if scene.chance(2):
        goals.goals += [f"thing({name})" for name in names]
    return ClauseText(f"holdsFor({head}={value},{goals.lists[-1]})", tuple(goals.goals))


def whole_formula(scene: WildScene, fluent: Form) -> ClauseText:
    """A formula with aggregates inside."""
    pair = reading(scene, "E")
    goal = scene.pick(
        [
            f"findall(G,holdsAt({reading(scene, 'EG')},T),L), length(L,N), N > 1",
            f"findall(G,holdsAt(i1(G)=true,T),L), \\+ L=[], holdsAt({pair},T)",
            f"findall(G,(thing(G), \\+ holdsAt(j1(E,G)=true,T)),L), L=[_|_], holdsAt({pair},T)",
        ]
    )
    head = fluent.text.replace("$e", "E")
    return ClauseText(f"holdsAt({head}=true,T)", (goal, "thing(E)"))


def whole_point(scene: WildScene, fluent: Form) -> list[ClauseText]:
    """Rules about points that look at lists."""
    head = fluent.text.replace("$e", "E")
    found = []
    for word in ("initiatedAt", "terminatedAt"):
        goals = Goals(scene, "E")
        goals.read(others=False)
        goals.read(others=False)
        goals.test()
        event = "w1(E,_)" if word == "terminatedAt" else "e1(E)"
        body = (f"happensAt({event},T)", *goals.goals)
        found.append(ClauseText(f"{word}({head}=true,T)", body))
    return found


@st.composite
def whole_descriptions(draw: Draw) -> Wild:
    """Rules that look at whole lists, and others that read what these say."""
    scene = WildScene(draw, False)
    clauses: list[ClauseText] = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        slots = scene.pick(["$e", "$e", "$e,$e"])
        match scene.pick(["list"] * 4 + ["value", "formula", "point"]):
            case "value":
                fluent = Form(f"v{number}({slots})", ("$n",))
                clauses.append(whole_rule(scene, fluent))
            case "formula":
                fluent = Form(f"m{number}($e)", ("true",))
                clauses.append(whole_formula(scene, fluent))
            case "point":
                fluent = Form(f"s{number}($e)", ("true",), simple=True)
                clauses += whole_point(scene, fluent)
            case _:
                fluent = Form(f"h{number}({slots})", ("true",))
                clauses += [whole_rule(scene, fluent) for _ in range(scene.pick([1, 1, 2]))]
                if scene.chance(4):
                    domain = "near(E,F)" if slots == "$e,$e" else "thing(E)"
                    who = "E,F" if slots == "$e,$e" else "E"
                    clauses.append(ClauseText(f"grounding(h{number}({who})=true)", (domain,)))
        scene.fluents += [fluent, fluent]
    return legal(Whole(clauses, draw(TICKS)), [])


@st.composite
def whole_runs(draw: Draw) -> Run:
    """A run of such rules."""
    described = draw(whole_descriptions())
    cut = draw(windows())
    return Run(described, cut, draw(wild_streams(cut.lateness, early=3, retractions=True)))
