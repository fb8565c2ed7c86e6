"""Random bodies that join several entities, numbers, lists and times.

Every condition is made for what is bound when it is drawn, so that some order always works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.wild_parts import (
    CONSTANTS,
    EVENTS,
    FLUENTS,
    GIVERS,
    LISTS,
    PYTHON_GIVERS,
    PYTHON_TESTS,
    SLOT,
    TESTS,
    Form,
)

_T = TypeVar("_T")


@dataclass(slots=True)
class WildScene:
    """What rules may speak of, and what they have used."""

    draw: Draw
    python: bool = False
    ahead: bool = True
    events: list[Form] = field(default_factory=lambda: list(EVENTS))
    fluents: list[Form] = field(default_factory=lambda: list(FLUENTS))
    used: int = 0

    def pick(self, choices: Sequence[_T]) -> _T:
        """One of several."""
        return self.draw(st.sampled_from(choices))

    def chance(self, one_in: int) -> bool:
        """True now and then."""
        return self.draw(st.integers(1, one_in)) == one_in

    def name(self, letter: str) -> str:
        """A variable that nobody has used."""
        self.used += 1
        return f"{letter.upper()}{self.used}"


@dataclass(slots=True)
class Body:
    """Conditions, and the variables that have a value after them."""

    scene: WildScene
    cyclic: tuple[Form, ...] = ()  # of the rule's own cycle: only values at T
    bound: dict[str, list[str]] = field(default_factory=dict)
    times: list[str] = field(default_factory=list)
    goals: list[str] = field(default_factory=list)

    def inner(self) -> Body:
        """Conditions inside a condition: what they bind stays inside."""
        bound = {sort: list(names) for sort, names in self.bound.items()}
        return Body(self.scene, self.cyclic, bound, list(self.times))

    def __str__(self) -> str:
        return self.goals[0] if len(self.goals) == 1 else f"({', '.join(self.goals)})"

    # --- filling slots ---------------------------------------------------------------------------

    def fill(self, text: str, new: str = "sometimes") -> str:
        """The text with variables and constants for slots; `new`: may variables be new?"""
        fresh: list[tuple[str, str]] = []

        def one(sort: str) -> str:
            known = self.bound.get(sort, [])
            if new != "never" and (not known or self.scene.chance(2)):
                if self.scene.chance(4):
                    return self.scene.pick([*CONSTANTS[sort], "_"])
                name = self.scene.name(sort)
                fresh.append((sort, name))
                return name
            if not known:
                return self.scene.pick(CONSTANTS[sort])
            return self.scene.pick(known) if self.scene.chance(3) else known[-1]

        found = SLOT.sub(lambda slot: one(slot[1]), text)
        for sort, name in fresh:
            self.bound.setdefault(sort, []).append(name)
        return found

    def pair(self, form: Form, new: str = "sometimes") -> str:
        """A fluent with one of its values."""
        value = self.scene.pick([*form.values, "$v"]) if new != "never" else form.values[0]
        return self.fill(f"{form.text}={value}", new)

    # --- conditions ------------------------------------------------------------------------------

    def start(self) -> Body:
        """A condition that gives T a value."""
        scene = self.scene
        kind = scene.pick(["event"] * 5 + ["edge", "holds", "point", "either"])
        simple = [form for form in scene.fluents if form.simple]
        if kind == "point" and not simple:
            kind = "event"
        match kind:
            case "edge":
                edge = scene.pick(["start", "end", "startI", "endI"])
                self.goals.append(f"happensAt({edge}({self.pair(scene.pick(scene.fluents))}),T)")
            case "holds":
                self.goals.append(f"holdsAt({self.pair(scene.pick(scene.fluents))},T)")
            case "point":
                word = scene.pick(["initiatedAt", "terminatedAt"])
                self.goals.append(f"{word}({self.pair(scene.pick(simple))},T)")
            case "either":
                left, right = self.inner(), self.inner()
                left.goals.append("happensAt(w1(E0,F0),T)")
                right.goals.append("holdsAt(j1(E0,F0)=true,T)")
                for side in (left, right):
                    side.bound.setdefault("e", []).extend(["E0", "F0"])
                    side.test()
                self.goals.append(f"({left} ; {right})")
                self.bound.setdefault("e", []).extend(["E0", "F0"])
            case _:
                self.goals.append(f"happensAt({self.fill(scene.pick(scene.events).text)},T)")
        self.times.append("T")
        return self

    def more(self, most: int, depth: int = 1) -> Body:
        """Further conditions."""
        for _ in range(self.scene.draw(st.integers(0, most))):
            self.condition(depth)
        return self

    def condition(self, depth: int) -> None:
        """One condition of any kind."""
        kinds = ["test"] * 3 + ["give"] * 3 + ["holds"] * 3 + ["event", "list", "time"]
        if depth:
            kinds += ["not", "not", "if", "or", "aggregate", "aggregate", "forall"]
        match self.scene.pick(kinds):
            case "give":
                self.give()
            case "holds":
                self.holds()
            case "event":
                event = self.scene.pick(self.scene.events)
                self.goals.append(f"happensAt({self.fill(event.text)},{self.when()})")
            case "list":
                self.list_goal()
            case "time":
                self.other_time()
            case "not":
                self.goals.append(f"\\+ {self.some(depth - 1)}")
            case "if":
                parts = [self.some(depth - 1) for _ in range(3)]
                choice = f"( {parts[0]} -> {parts[1]} ; {parts[2]} )"
                self.goals.append(f"\\+ {choice}" if self.scene.chance(3) else choice)
            case "or":
                self.goals.append(f"({self.some(depth - 1)} ; {self.some(depth - 1)})")
            case "aggregate":
                self.aggregate()
            case "forall":
                first = self.inner()
                first.holds() if self.scene.chance(2) else first.other_time()
                second = first.inner()
                second.test()
                self.goals.append(f"forall({first}, {second})")
            case _:
                self.test()

    def some(self, depth: int) -> Body:
        """One or two conditions with variables of their own."""
        inner = self.inner()
        inner.condition(depth)
        if self.scene.chance(3):
            inner.condition(depth)
        return inner

    def when(self) -> str:
        """A time that has a value."""
        return self.times[0] if not self.scene.chance(3) else self.scene.pick(self.times)

    def test(self) -> None:
        """Something that is true or false."""
        tests = (*TESTS, *PYTHON_TESTS * 2) if self.scene.python else TESTS
        self.goals.append(self.fill(self.scene.pick(tests), "never"))

    def give(self) -> None:
        """A new value."""
        givers = (*GIVERS, *PYTHON_GIVERS * 2) if self.scene.python else GIVERS
        self._give(*self.scene.pick(givers))

    def list_goal(self) -> None:
        """Something about a list; without one, a list."""
        known = self.bound.get("l", [])
        if not known:
            return self._give("route($e,NEW)", "l")
        text, sort = self.scene.pick(LISTS)
        return self._give(text.replace("$l", self.scene.pick(known)), sort)

    def _give(self, text: str, sort: str) -> None:
        name = self.scene.name(sort)
        self.goals.append(self.fill(text, "never").replace("NEW", name))
        self.bound.setdefault(sort, []).append(name)

    def holds(self) -> None:
        """A value at a time."""
        fluent = self.scene.pick([*self.scene.fluents, *self.cyclic * 2])
        time = "T" if fluent in self.cyclic else self.when()
        self.goals.append(f"holdsAt({self.pair(fluent)},{time})")

    def other_time(self) -> None:
        """A second time: near or far, before or after."""
        scene, time, now = self.scene, self.scene.name("t"), self.when()
        near = scene.draw(st.integers(1, 7))
        if scene.chance(3):
            self.goals.append(f"{time} is {now}-{near}")
            self.times.append(time)
            return self.holds()
        kinds = ["event"] * 3 + ["edge"] + ["point"] * any(f.simple for f in scene.fluents)
        match scene.pick(kinds):
            case "edge":
                edge = scene.pick(["start", "end", "startI", "endI"])
                fluent = scene.pick(scene.fluents)
                self.goals.append(f"happensAt({edge}({self.pair(fluent)}),{time})")
            case "point":
                word = scene.pick(["initiatedAt", "terminatedAt"])
                fluent = scene.pick([f for f in scene.fluents if f.simple])
                low = scene.pick(["_", "3"])
                self.goals.append(f"{word}({self.pair(fluent)},{low},{time},{now})")
            case _:
                self.goals.append(f"happensAt({self.fill(scene.pick(scene.events).text)},{time})")
        limits = [(f"{time} < {now}", f"{now}-{time} < {near}"), (f"{time} =< {now}",)]
        limits += [(f"{time} =:= {now}-{near}",), (f"{now} > {time}+{near}",)]
        if scene.ahead:
            limits += [(f"{time} > {now}", f"{time}-{now} < {near}"), (f"{time} >= {now}",), ()]
            limits += [(f"{time} < {now}+{near}",)]
        self.goals.extend(scene.pick(limits))
        self.times.append(time)
        return None

    def aggregate(self) -> None:
        """A count, sum, extreme or list over events or fluents, now or at other times."""
        inner = self.inner()
        if self.scene.chance(2):
            inner.holds()
        else:
            inner.other_time()
        if self.scene.chance(3):
            inner.test()
        fresh = {
            sort: [name for name in names if name not in self.bound.get(sort, ())]
            for sort, names in inner.bound.items()
        }
        fresh["n"] = [*fresh.get("n", ()), *(t for t in inner.times if t not in self.times)]
        some = [(sort, name) for sort, names in fresh.items() for name in names]
        words = ["count", "count"]
        words += ["sum", "max", "min"] * bool(fresh["n"]) + ["findall", "set", "bag"] * bool(some)
        match self.scene.pick(words):
            case "count":
                self._give(f"aggregate_all(count,{inner},NEW)", "n")
            case "sum" | "max" | "min" as word:
                name = self.scene.pick(fresh["n"])
                self._give(f"aggregate_all({word}({name}),{inner},NEW)", "n")
            case "findall":
                self._give(f"findall({self.scene.pick(some)[1]},{inner},NEW)", "l")
                self.list_goal()
            case word:
                name = self.scene.pick(some)[1]
                self._give(f"aggregate_all({word}({name}),{inner},NEW)", "l")
                self.list_goal()
