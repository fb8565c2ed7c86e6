"""Random descriptions whose heads leave variables to groundings, over streams that change.

Every kind of head has some arguments that its body gives, and some that it does not. The groundings
list some values of a fluent and not others, and pairs that are not all pairs, so that it shows
whether the arguments of a head are taken from one instance together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from tests.strategies.changing_streams import ChangingRun, Cut
from tests.strategies.parts import ClauseText, Described

from horai.lang.core.terms import Constant, Int, make
from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import OracleItem

LAST = 24
VALUES = ("true", "false", "k")
FACTS = (
    *("d(1)", "d(2)", "d(3)", "r(1,2)", "r(2,3)", "r(2,2)", "w(true)", "w(false)", "q(1)", "q(3)"),
    *("delay(1,2)", "delay(2,3)", "delay(3,1)"),
)
INPUT = (ClauseText("collectIntervals(i(_)=true)"), ClauseText("collectIntervals(j(_,_)=true)"))
MEMBERS = (
    ClauseText("dynamicDomain(m(_))"),
    ClauseText("grounding(a(X))", ("m(X)",)),
    ClauseText("grounding(b(X,Y))", ("m(X)", "m(Y)")),
)


@dataclass(slots=True)
class Making:
    """What has been said so far."""

    random: Random
    dynamic: bool
    fluents: list[tuple[str, int]] = field(default_factory=list)  # made by rules, with arity
    events: list[tuple[str, int]] = field(default_factory=list)
    clauses: list[ClauseText] = field(default_factory=list)

    def pick(self, *choices: str) -> str:
        """One of several."""
        return self.random.choice(choices)

    def chance(self, one_in: int) -> bool:
        """True now and then."""
        return self.random.randrange(one_in) == 0

    def say(self, head: str, *body: str) -> None:
        """One more clause."""
        self.clauses.append(ClauseText(head, body))


def _driver(making: Making) -> str:
    """What gives T, and often X or X and Y."""
    known = [f"happensAt({_entity(name, arity)},T)" for name, arity in making.events]
    known += [
        f"happensAt({making.pick('start', 'end')}({_entity(name, arity)}={making.pick(*VALUES)}),T)"
        for name, arity in making.fluents
    ]
    return making.pick(
        *("happensAt(z,T)", "happensAt(a(X),T)", "happensAt(a(X),T)", "happensAt(b(X,Y),T)"),
        *("happensAt(start(i(X)=true),T)", *known),
    )


def _entity(name: str, arity: int) -> str:
    return f"{name}({','.join('XY'[:arity])})" if arity else name


def _conditions(making: Making, bound: str, own: tuple[str, int]) -> list[str]:
    """More that must be true; `bound` is what has been said, U and W are given by nobody."""
    found: list[str] = []
    given = [name for name in "XY" if name in bound]
    for _ in range(making.random.choice((0, 0, 1, 1, 2))):
        one = making.pick(*given, "U", "U", "W", "1")
        two = making.pick(*given, "U", "X", "2")
        fluents = [*making.fluents, own]
        name, arity = making.random.choice(fluents)
        args = f"({','.join((one, two)[:arity])})" if arity else ""
        pair = f"{name}{args}={making.pick(*VALUES)}"
        found.append(
            making.pick(
                *(f"holdsAt(i({one})=true,T)", f"\\+ holdsAt(i({one})=true,T)"),
                *(f"{one} \\= {two}", f"{one} @< {two}", f"q({one})", f"\\+ r({one},{two})"),
                *(f"holdsAt({pair},T)", f"\\+ holdsAt({pair},T)", f"\\+ happensAt(a({one}),T)"),
                *(f"(happensAt(a({one}),T) ; happensAt(z,T))", f"({one} = {two} ; q({one}))"),
                *(f"holdsAt(j({one},{two})=true,T)", f"(q({two}), {one} = {two} ; \\+ q({two}))"),
                f"({two} @> 2 -> {one} = {two} ; true)",
            )
        )
    return found


def _args(making: Making, arity: int) -> str:
    """Arguments of a head."""
    kinds = ("X", "X", "Y", "U", "U", "W", "_", "_", "_V", "2")
    found = [making.pick(*kinds) for _ in range(arity)]
    return f"({','.join(found)})" if arity else ""


def _value(making: Making) -> str:
    return making.pick("true", "true", "false", "false", "k", "X", "V")


def _domain(making: Making, arity: int) -> list[str]:
    member = "m" if making.dynamic and making.chance(2) else "d"
    if arity == 1:
        return [making.pick(f"{member}(X)", "q(X)", "r(X,_)")]
    if arity == 2 and making.chance(3):
        return ["r(X,Y)"]
    found = [f"{member}(X)", f"{making.pick(member, 'q')}(Y)"][:arity]
    extra = making.pick("", "X \\= Y", "X @< Y", "\\+ r(X,Y)")
    return [*found, extra] if extra and arity == 2 else found


def _grounding(making: Making, name: str, arity: int, event: bool) -> None:
    entity = _entity(name, arity)
    if event:
        for _ in range(making.random.randint(1, 2)):
            making.say(f"grounding({entity})", *_domain(making, arity))
        return
    ways = making.pick("some", "some", "each", "all", "open")
    if ways in ("all", "open"):
        more = ["w(V)"] if ways == "all" else []
        making.say(f"grounding({entity}={'V' if more else '_'})", *_domain(making, arity), *more)
        return
    chosen = VALUES if ways == "each" else {making.pick(*VALUES) for _ in range(2)}
    for value in sorted(chosen):
        for _ in range(making.random.choice((1, 1, 2))):
            making.say(f"grounding({entity}={value})", *_domain(making, arity))


def _simple(making: Making, name: str, arity: int) -> None:
    own = (name, arity)
    for _ in range(making.random.randint(1, 4)):
        fluent = f"{name}{_args(making, arity)}"
        driver = _driver(making)
        body = [driver, *_conditions(making, driver, own)]
        match making.pick("initiated", "initiated", "initiated", "terminated", "initially"):
            case "initiated":
                making.say(f"initiatedAt({fluent}={_value(making)},T)", *body)
            case "terminated":
                value = making.pick("true", "false", "_", "_", "X", "V")
                making.say(f"terminatedAt({fluent}={value},T)", *body)
            case _:
                timeless = making.pick("", "q(X)", "r(X,Y)", "\\+ q(U)", "(q(U) ; d(4) ; r(1,2))")
                making.say(f"initially({fluent}={_value(making)})", *filter(None, (timeless,)))
    making.fluents.append(own)
    _delay(making, name, arity)


def _delay(making: Making, name: str, arity: int) -> None:
    """An effect on the fluent, of itself or of another."""
    kind = making.pick("", "", "fi", "fi", "ft", "maxDuration", "maxDurationUE")
    if not kind:
        return
    origin, size = making.random.choice(making.fluents)
    source = f"{_entity(origin, size)}={making.pick(*VALUES)}"
    body = [making.pick("delay(X,D)", "delay(U,D)")] if making.chance(3) else []
    delay = "D" if body else making.pick("1", "3", "6")
    if kind == "ft":
        fluent = f"{name}{_args(making, arity)}={making.pick(*VALUES)}"
        making.say(f"ft({fluent},{delay})", *body)
        return
    same = origin == name and making.chance(2)
    target = _entity(name, arity) if same else f"{name}{_args(making, arity)}"
    making.say(f"{kind}({source},{target}={_value(making)},{delay})", *body)
    if making.chance(3):
        postponed = f"{origin}{_args(making, size)}={making.pick('_', *VALUES)}"
        making.say(f"p({postponed})")


def _event(making: Making, name: str, arity: int) -> None:
    for _ in range(making.random.randint(1, 2)):
        driver = _driver(making)
        own = making.fluents[0] if making.fluents else ("i", 1)
        body = [driver, *_conditions(making, driver, own)]
        making.say(f"happensAt({name}{_args(making, arity)},T)", *body)
    making.events.append((name, arity))


def _static(making: Making, name: str, arity: int) -> None:
    known = [*making.fluents, ("i", 1), ("j", 2)]
    for _ in range(making.random.randint(1, 2)):
        pairs = []
        for _ in range(2):
            other, size = making.random.choice(known)
            args = ",".join(making.pick("X", "X", "Y", "U", "1") for _ in range(size))
            values = ("true",) if other in "ij" else VALUES
            pairs.append(f"{other}({args})={making.pick(*values)}")
        head = f"{name}{_args(making, arity)}={making.pick('true', 'true', 'false', 'V')}"
        if making.chance(3):
            sign = making.pick("", "\\+ ")
            second = f"{sign}holdsAt({pairs[1]},T)"
            making.say(f"holdsAt({head},T)", f"holdsAt({pairs[0]},T)", second)
            continue
        lists = [f"holdsFor({pair},I{n})" for n, pair in enumerate(pairs)]
        operation = making.pick(
            *("union_all([I0,I1],I)", "intersect_all([I0,I1],I)"),
            *("relative_complement_all(I0,[I1],I)", "complement_all([I0,I1],I)"),
        )
        making.say(f"holdsFor({head},I)", *lists, operation)
    making.fluents.append((name, arity))


def open_description(random: Random) -> Described:
    """Up to three entities, each of which may read those before it."""
    making = Making(random, random.randrange(4) == 0)
    for number in range(random.randint(1, 3)):
        kind = making.pick("simple", "simple", "simple", "event", "static")
        name, arity = f"{kind[1]}{number}", random.choice((1, 2, 2, 2))
        {"simple": _simple, "event": _event, "static": _static}[kind](making, name, arity)
        if kind == "static" or not making.chance(8):
            _grounding(making, name, arity, kind == "event")
    facts = [ClauseText(fact) for fact in FACTS]
    members = MEMBERS if making.dynamic else ()
    # Of effects that are due in one cell after different delays, which act first is another matter.
    several = any("delay(" in condition for clause in making.clauses for condition in clause.body)
    tick = 1 if several else random.choice((1, 1, 1, 2))
    return Described([*INPUT, *making.clauses, *members, *facts], tick)


def _item(random: Random, lateness: int) -> OracleItem:
    start = random.randint(1, LAST)
    arrival = start + random.randint(0, lateness)
    one, two = Int(random.randint(1, 4)), Int(random.randint(1, 4))
    match random.choice("zzaaabbij"):
        case "z":
            return OracleItem(Constant("z"), None, start, start, arrival)
        case "a":
            return OracleItem(make("a", one), None, start, start, arrival)
        case "b":
            return OracleItem(make("b", one, two), None, start, start, arrival)
        case name:
            entity = make("i", one) if name == "i" else make("j", one, two)
            end = random.choice((start + 2, start + 7, INF))
            return OracleItem(entity, Constant("true"), start, end, arrival)


def open_run(random: Random) -> ChangingRun:
    """A description, a stream of which some comes late and some is taken back, and query times."""
    described = open_description(random)
    lateness = random.choice((0, 4, 10))
    items = [_item(random, lateness) for _ in range(random.randint(2, 12))]
    for item in random.sample(items, random.randrange(3)):
        items.append(replace(item, arrival=item.arrival + random.randint(0, 6), retract=True))
    step = random.choice((5, 9, 36))
    start = random.choice((0, 0, -2, 3))
    queries = tuple(range(start + step, 37 + step, step))
    window = random.choice((None, None, step, step + lateness, 20))
    return ChangingRun(described, Cut(queries, window, start), items)
