"""Random event descriptions whose components can be brought up to date by change.

Rules about points begin with an event, a start or an end at the time of the head; what they ask
beside it is anything that such a rule may ask, at its own time or at another. Interval rules are
set operations and duration filters. Components come one after another, and each may read all that
came before it; a few have other shapes, so that both kinds of work meet.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import ClauseText

Body = tuple[str, ...]
Clauses = list[ClauseText]
DURATIONS = ("intDurGreater", "intDurLess", "intDurGreaterEq", "intDurLessEq", "durGreaterEq")
FACTS = (
    *("thing(x)", "thing(y)", "linked(x,y)", "linked(y,x)", "linked(z,z)", "linked(x,z)"),
    *("limit(x,3)", "limit(y,5)", "limit(z,4)"),
)
HELPERS = (
    ClauseText("recent(A,T)", ("happensAt(e1(A),T0)", "T0 =< T", "T-T0 < 4")),
    ClauseText("marked(A,T)", ("holdsAt(i1(A)=true,T)",)),
    ClauseText("marked(A,T)", ("happensAt(e2(A),T)",)),
)


@dataclass(slots=True)
class Stage:
    """What the next component may read."""

    draw: Draw
    events: list[str] = field(default_factory=lambda: ["e1(X)", "e2(X)", "e3(X,L)", "e4(X,N)"])
    fluents: list[tuple[str, tuple[str, ...]]] = field(
        default_factory=lambda: [("i1(X)", ("true",)), ("i2(X)", ("a", "b"))]
    )
    used: int = 0

    def pick(self, *choices: str) -> str:
        """One of several."""
        return self.draw(st.sampled_from(choices))

    def chance(self, one_in: int) -> bool:
        """True now and then."""
        return self.draw(st.integers(1, one_in)) == one_in

    def name(self, letter: str) -> str:
        """A variable that nobody has used."""
        self.used += 1
        return f"{letter}{self.used}"

    def pair(self, who: str = "X", *more: str) -> str:
        """A fluent of someone, with a value or `more` in place of one."""
        known = [one for one in self.fluents if who == "X" or "X" in one[0]]
        text, values = self.draw(st.sampled_from(known))
        return f"{text.replace('X', who)}={self.pick(*values, *more)}"

    def event(self, who: str = "X", free: bool = False) -> str:
        """An event of someone; its other arguments are free, or may be given."""
        text = self.pick(*self.events).replace("X", who)
        if free:
            return text
        return text.replace("L", self.pick("_", "a", "b")).replace("N", self.pick("_", "1", "2"))


def driver(stage: Stage) -> Body:
    """What binds T and X, and perhaps Y, L or N."""
    match stage.pick("event", "event", "event", "event", "edge", "two", "alone"):
        case "edge":
            edge = f"happensAt({stage.pick('start', 'end')}({stage.pair('X', '_')}),T)"
            return (edge,) if "X" in edge else (edge, "thing(X)")
        case "two":
            return (f"happensAt(w({stage.pick('X,Y', 'Y,X', 'X,X', 'X,y')}),T)",)
        case "alone":
            return ("happensAt(e0,T)", stage.pick("thing(X)", "linked(X,Y)"))
        case _:
            return (f"happensAt({stage.event(free=True)},T)",)


def condition(stage: Stage, bound: str, depth: int = 1) -> Body:
    """Something else that must be true; `bound` are the conditions so far."""
    kinds = ["holds", "not holds", "happens", "not happens", "edge", "value", "other time"]
    kinds += ["aggregate", "neighbour", "helper", "number", "somebody"]
    match stage.pick(*kinds, *(["or", "if"] if depth else [])):
        case "holds":
            return (f"holdsAt({stage.pair()},T)",)
        case "not holds":
            return (f"\\+ holdsAt({stage.pair('X', '_')},T)",)
        case "happens":
            return (f"happensAt({stage.event()},T)",)
        case "not happens":
            return (f"\\+ happensAt({stage.event()},T)",)
        case "edge":
            sign = stage.pick("", "\\+ ")
            return (f"{sign}happensAt({stage.pick('start', 'end')}({stage.pair('X', '_')}),T)",)
        case "value":
            value = stage.name("V")
            text, _ = stage.draw(st.sampled_from(stage.fluents))
            return (f"holdsAt({text}={value},T)", f"{value} \\= {stage.pick('a', 'true')}")
        case "other time":
            return _other_time(stage)
        case "aggregate":
            return _aggregate(stage)
        case "neighbour":
            return _neighbour(stage, "Y" in bound)
        case "helper":
            return (stage.pick("", "\\+ ") + stage.pick("recent(X,T)", "marked(X,T)"),)
        case "number":
            return _number(stage, bound)
        case "or":
            left, right = (", ".join(condition(stage, bound, 0)) for _ in range(2))
            return (f"({left} ; {right})",)
        case "if":
            parts = [", ".join(condition(stage, bound, 0)) for _ in range(3)]
            return (f"( {parts[0]} -> {parts[1]} ; {parts[2]} )",)
        case _:
            who = stage.name("W")
            asked = stage.pick(f"holdsAt({stage.pair(who)},T)", f"happensAt({stage.event(who)},T)")
            return (f"\\+ {asked}",) if stage.chance(2) else (asked, f"{who} \\= X")


def _other_time(stage: Stage) -> Body:
    time, far = stage.name("T"), stage.pick("1", "3", "6")
    if stage.chance(2):
        sign = stage.pick("", "\\+ ")
        return (f"{time} is T-{far}", f"{sign}holdsAt({stage.pair()},{time})")
    asked = f"happensAt({stage.event()},{time})"
    if stage.chance(4):
        asked = f"happensAt({stage.pick('start', 'end')}({stage.pair()}),{time})"
    limits = stage.draw(
        st.sampled_from(
            [
                (f"{time} < T", f"T-{time} < {far}"),
                (f"{time} =:= T-{far}",),
                (f"{time} =< T",),
                (f"{time} > T", f"{time}-T < {far}"),
            ]
        )
    )
    if stage.chance(2):
        return (f"\\+ ({', '.join((asked, *limits))})",)
    return (asked, *limits)


def _aggregate(stage: Stage) -> Body:
    time, number, other = stage.name("T"), stage.name("N"), stage.name("M")
    within = f"{time} =< T, T-{time} < {stage.pick('2', '5', '9')}"
    numbers = f"(happensAt(e4(X,{other}),{time}), {within})"
    match stage.pick("count", "sum", "max", "list", "holding"):
        case "sum":
            return (f"aggregate_all(sum({other}),{numbers},{number})", f"{number} > 2")
        case "max":
            return (f"aggregate_all(max({other}),{numbers},{number})", f"{number} < 3")
        case "list":
            found = stage.name("Found")
            goal = f"findall({time},(happensAt({stage.event()},{time}), {within}),{found})"
            return (goal, f"length({found},{number})", f"{number} > 1")
        case "holding":
            who = stage.name("W")
            goal = f"aggregate_all(count,holdsAt({stage.pair(who)},T),{number})"
            return (goal, f"{number} {stage.pick('>', '=:=', '<')} 1")
        case _:
            goal = f"aggregate_all(count,(happensAt({stage.event()},{time}), {within}),{number})"
            return (goal, f"{number} {stage.pick('>', '=:=')} {stage.pick('1', '2')}")


def _neighbour(stage: Stage, known: bool) -> Body:
    who = "Y" if known and stage.chance(2) else stage.name("Y")
    match stage.pick("linked", "joined", "apart", "holds"):
        case "joined":
            return (f"holdsAt(j({stage.pick(f'X,{who}', f'{who},X')})=true,T)",)
        case "apart":
            return (f"\\+ holdsAt(j({stage.pick('X,_', '_,X')})=true,T)",)
        case "holds":
            return (f"linked(X,{who})", f"\\+ holdsAt({stage.pair(who)},T)")
        case _:
            return (f"linked(X,{who})", f"holdsAt({stage.pair(who)},T)")


def _number(stage: Stage, bound: str) -> Body:
    if ",N)" in bound:
        return (stage.pick("N > 1", "N =< 2", "N mod 2 =:= 0", "limit(X,N)"),)
    limit = stage.name("N")
    tests = [(f"limit(X,{limit})", f"T mod {limit} > 0"), ("X \\= y",), ("thing(X)",)]
    return stage.draw(st.sampled_from(tests))


def body(stage: Stage, most: int = 2) -> Body:
    """A driver and some conditions."""
    found = driver(stage)
    for _ in range(stage.draw(st.integers(0, most))):
        found += condition(stage, ", ".join(found))
    return found
