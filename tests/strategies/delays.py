"""Random delayed effects: all that an `fi`, an `ft` and a `p` can say, over numbers that change.

Every description is legal by construction, so that a check which refuses one is wrong. Of its own
component an effect asks only about times up to its deadline. Conditions stand in the body itself or
in helpers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw

SIGNS = ("<", ">", "=<", ">=", "=:=", "=\\=")
ORDERS = ("=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>=")
# All that can be computed from numbers, beside what is common.
RARE = (
    *("({a}+{b}) mod 4", "({a}-{b}) rem 3", "abs({a}-{b})", "max({a},{b})", "min({a},3)"),
    *("{a}//2", "7//{a}", "{a}/2", "{a}/{b}", "-{a}", "+{a}", "sign({a}-{b})", "{a}^2", "2**{a}"),
    *("{a}** -1", "sqrt({a})", "sqrt({a}-2)", "floor({a}/2)", "ceiling({a}/2)", "round({a}*1.5)"),
    *("truncate({a}/2)", "integer({a}/2)", "float({a})", "{a}+0.5", "{a}*1.0", "log({a})"),
    *("truncate(exp({a}))", "round(10*sin({a}))", "round(10*cos({a}))", "round(tan({a}))"),
    *("round(asin({a}/4)*9)", "round(acos({a}/4)*9)", "round(atan({a})*9)", "{a}+truncate(pi)"),
    *("round(e)-{a}", "min({a},inf)", "inf-{a}", "{a}", "({a}*{b}+1) mod 7", "{a}-(1-{b})"),
)
VARIABLE = r"\b[A-Z]\w*"
# Fluents: n, m and c have delayed effects, k, g and i are what these ask about.
BASE = """
collectIntervals(i(_)=true).
initiatedAt(n(X)=V, T) :- happensAt(set(X, V), T).
terminatedAt(n(X)=_, T) :- happensAt(clear(X), T).
initiatedAt(k(X)=V, T) :- happensAt(tune(X, V), T).
initiatedAt(g(X)=V, T) :- happensAt(say(X, V), T).
thing(x). thing(y). linked(x, y). linked(y, x). linked(y, y).
limit(x, 3). limit(x, 5). limit(y, 2). next(1, 2). next(2, 3). next(3, 1). small(1). small(2).
"""
HELPERS = """
tuned(X, T, V) :- holdsAt(k(X)=V, T).
busy(X, T) :- tuned(X, T, _).
was(X, T, V) :- U is T - 2, tuned(X, U, V).
known(X, T, V) :- T = U, holdsAt(n(X)=V, U).
known(X, T, V) :- holdsAt(m(X)=V, T), V > 1.
later(T, D, U) :- U is T + D.
heard(X, T) :- happensAt(say(X, _), T).
heard(X, T) :- happensAt(tune(X, 2), T).
quiet(X, T) :- \\+ holdsAt(k(X)=_, T).
often(X, N) :- findall(V, happensAt(tune(X, V), _), L), length(L, N).
twice(A, B) :- B is A * 2.
high(A) :- A > 1.
reached(X, V) :- next(V, W), linked(X, _), W > 1.
soon(X, T, _) :- holdsAt(k(X)=2, T).
soon(X, T, N) :- N > 0, N < 5, M is N - 1, U is T + 1, soon(X, U, M).
"""
MORE = (
    "initiatedAt(c(X)=lv(V), T) :- happensAt(put(X, V), T).",
    "initiatedAt(c(X)=no, T) :- happensAt(clear(X), T).",
    "initially(c(X)=lv(2)) :- thing(X).",
    "p(c(_)=lv(_)).",
    "p(c(_)=lv(1)).",
    "terminatedAt(c(X)=lv(V), T) :- happensAt(set(X, V), T).",
    "initiatedAt(m(X)=V, T) :- happensAt(put(X, V), T).",
    "terminatedAt(m(X)=_, T) :- happensAt(clear(X), T).",
    "terminatedAt(m(X)=V, T) :- happensAt(set(X, V), T).",
    "terminatedAt(k(X)=_, T) :- happensAt(clear(X), T).",
    "initiatedAt(n(X)=W, T) :- happensAt(put(X, _), T), holdsAt(n(X)=V, T), W is V + 1.",
    "initiatedAt(n(X)=0, T) :- happensAt(say(X, b), T), holdsAt(m(X)=_, T).",
    "initially(n(X)=2) :- thing(X).",
    "initially(m(X)=1) :- thing(X).",
    "initially(k(X)=3) :- thing(X).",
    "p(n(_)=_).",
    "p(n(_)=2).",
    "p(n(x)=V).",
    "p(m(_)=_).",
    "grounding(m(X)=V) :- thing(X), small(V).",
    "grounding(n(X)=_) :- thing(X).",
    "happensAt(began(X, V), T) :- happensAt(start(m(X)=V), T).",
    "happensAt(told(X, V), T) :- initiatedAt(m(X)=V, T).",
    "holdsFor(both(X)=true, I) :- holdsFor(n(X)=2, J), holdsFor(k(X)=2, K), union_all([J, K], I).",
)


class DelayRun(NamedTuple):
    """Rules, a narrative, how it is cut, after how many queries a session is restored, and in how
    many buckets it runs."""

    rules: str
    narrative: list[str]
    settings: dict[str, Any]
    restored: int
    buckets: int

    def __repr__(self) -> str:
        lines = "\n".join(self.narrative)
        how = f"{self.settings}, restored after {self.restored}, {self.buckets} buckets"
        return f"{self.rules}\n{lines}\n{how}"


@dataclass
class _Body:
    """The conditions of an effect so far, the variables with numbers, and what may be asked."""

    draw: Draw
    delay: int | None  # None: not known before the run
    numbers: list[str]
    goals: list[str] = field(default_factory=list)
    names: int = 0
    timed: bool = False  # does a condition say which variable is the time of initiation?

    def pick(self, *some: str) -> str:
        """One of several."""
        return self.draw(st.sampled_from(some))

    def fresh(self, letter: str = "W") -> str:
        """A variable that no condition has."""
        self.names += 1
        return f"{letter}{self.names}"

    def number(self) -> str:
        """A variable with a value, or a number."""
        return self.pick(*self.numbers, *self.numbers, str(self.draw(st.integers(0, 4))))

    def sum(self) -> str:
        """Something to compute."""
        a, b = self.number(), self.number()
        forms = ("{a}+1", "1+{a}", "{a}-1", "{a}*2", "2*{a}", "{a}+{b}", "{a}-{b}", "{b}-{a}")
        some = RARE if self.pick("rare", "common", "common") == "rare" else forms
        return self.pick(*some).format(a=a, b=b)

    def time(self, own: bool) -> str:
        """A variable for a time: of initiation, the deadline, or one computed from them."""
        self.timed = True
        whole = "R" if self.delay is None else str(self.delay)
        kinds = ["T", "T", "T", "at", "before"] + ([] if own else ["between"])
        kind = self.pick(*kinds)
        if kind == "T":
            return "T"
        name = self.fresh("T")
        if kind == "at" and self.draw(st.booleans()):
            self.goals.append(f"later(T,{whole},{name})")
        elif kind == "at":
            self.goals.append(f"{name} is {self.pick(f'T+{whole}', f'{whole}+T')}")
        elif kind == "before":
            self.goals.append(f"{name} is T-{self.draw(st.integers(1, 3))}")
        else:
            self.goals.append(f"{name} is T+{self.draw(st.integers(0, 8))}")
        return name

    def looks(self, value: str) -> str:
        """A look at a fluent with a number."""
        fluent = self.pick("k", "k", "k", "n", "m", "c", "tuned", "was", "known")
        time = self.time(fluent not in ("k", "tuned", "was"))
        if fluent in ("tuned", "was", "known"):
            return f"{fluent}(X,{time},{value})"
        if fluent == "c":
            value = f"lv({value})"
        return f"holdsAt({fluent}(X)={value},{time})"

    def test(self) -> str:
        """A condition that gives nothing a value."""
        kinds = ["sign", "sign", "holds", "letter", "interval", "event", "fact", "edge", "equal"]
        kinds += ["helper", "helper"]
        match self.pick(*kinds):
            case "sign":
                return f"{self.sum()} {self.pick(*SIGNS)} {self.number()}"
            case "holds":
                return self.looks(self.pick("_", "1", "2", *self.numbers))
            case "letter":
                return f"holdsAt(g(X)={self.pick('a', 'b', '_')},{self.time(False)})"
            case "interval":
                return f"holdsAt(i(X)=true,{self.time(False)})"
            case "event":
                event = self.pick("set(X,_)", "tune(X,_)", "tune(_,2)", "say(X,a)", "put(_,_)")
                return f"happensAt({event},{self.time(False)})"
            case "edge":
                edge = self.pick("start(k(X)=_)", "end(k(X)=_)", "start(g(X)=a)", "end(i(X)=true)")
                return f"happensAt({edge},{self.time(False)})"
            case "helper":
                helper = self.pick("busy", "heard", "quiet", "soon", "high", "reached")
                match helper:
                    case "high":
                        return f"high({self.number()})"
                    case "reached":
                        return f"reached(X,{self.number()})"
                    case "soon":
                        return f"soon(X,{self.time(False)},{self.number()})"
                    case _:
                        return f"{helper}(X,{self.time(False)})"
            case "equal":
                return f"{self.number()} {self.pick(*ORDERS)} {self.number()}"
            case _:
                return self.pick("thing(X)", "linked(X,_)", f"small({self.number()})")

    def condition(self) -> None:
        """One more condition, with what it needs before it."""
        new = self.fresh()
        kinds = ["test", "test", "not", "not", "or", "if", "is", "look", "look", "fact", "among"]
        kinds += ["either", "chosen", "same", "count", "none", "half", "twice", "often"]
        match self.pick(*kinds):
            case "test":
                self.goals.append(self.test())
                return
            case "not":
                self.goals.append(f"\\+ {self.test()}")
                return
            case "none":
                other = self.fresh()
                sign = f"{other} {self.pick(*SIGNS)} {self.number()}"
                self.goals.append(f"\\+ ({self.looks(other)}, {sign})")
                return
            case "or":
                self.goals.append(f"({self.test()} ; {self.test()})")
                return
            case "if":
                self.goals.append(f"({self.test()} -> {self.test()} ; {self.test()})")
                return
            case "half":
                test = f"{new} {self.pick(*SIGNS)} {self.number()}"
                self.goals.append(f"({self.looks(new)}, {test} ; {self.test()})")
                return
            case "is":
                self.goals.append(f"{new} is {self.sum()}")
            case "look":
                self.goals.append(self.looks(new))
            case "fact":
                fact = f"next({self.number()},{new})"
                self.goals.append(self.pick(fact, f"limit(X,{new})", f"small({new})"))
            case "among":
                event = self.pick("tune", "put")
                self.goals.append(f"happensAt({event}(X,{new}),{self.time(False)})")
            case "either":
                self.goals.append(f"({new} is {self.sum()} ; {new} is {self.sum()})")
            case "chosen":
                if self.draw(st.booleans()):
                    first = self.looks(new)
                else:
                    first = f"{self.test()}, {new} is {self.sum()}"
                sign = self.pick(" ;", " ;", " -> true ;")
                self.goals.append(f"({first}{sign} {new} is {self.sum()})")
            case "twice":
                self.goals.append(f"twice({self.number()},{new})")
            case "often":
                self.goals.append(f"often(X,{new})")
            case "same":
                if self.draw(st.booleans()):
                    self.goals.append(f"{new} = {self.number()}")
                else:
                    among = f"[{self.number()},{self.number()},5]"
                    self.goals.append(self.pick(f"member({new},{among})", f"between(1,3,{new})"))
            case _:
                goal = self.looks("_").replace("(X)", self.pick("(X)", "(_)"))
                self.goals.append(f"aggregate_all(count, {goal}, {new})")
        self.numbers.append(new)


def _wait(body: _Body, about: str) -> str:
    """The delay of an effect, with the conditions that give it."""
    if body.delay is not None:
        return str(body.delay)
    kinds = ["limit", "sum", "sum", "sum", "look", "look", "either", "helper", "twice"] + (
        ["V"] if "V" in about else []
    )
    match body.pick(*kinds):
        case "limit":
            body.goals.append("limit(X,R)")
        case "sum":
            body.goals.append(f"R is {body.sum()}")
        case "look":
            body.timed = True
            body.goals.append("holdsAt(k(X)=R0,T)")
            body.goals.append(
                body.pick("R is R0+1", "R is 1+R0", f"R is R0+{body.number()}", "R = R0")
            )
        case "helper":
            body.timed = True
            body.goals.append("tuned(X,T,R)")
        case "twice":
            body.goals.append(f"twice({body.number()},R)")
        case "V":
            body.goals.append("R = V")
        case _:
            body.goals.append(f"(R is {body.sum()} ; R is {body.sum()})")
    return "R"


def _folded(
    draw: Draw, head: str, goals: list[str], first: int, name: str
) -> tuple[list[str], list[str]]:
    """Conditions, some that follow each other as those of a helper, and the rule of that helper."""
    begin = draw(st.integers(first, len(goals)))
    end = draw(st.integers(begin, len(goals)))
    inside, outside = goals[begin:end], [head, *goals[:begin], *goals[end:]]
    seen = {"X", "T", *re.findall(VARIABLE, " ".join(outside))}
    shared = [one for one in re.findall(VARIABLE, " ".join(inside)) if one in seen]
    if not shared:
        return goals, []
    call = f"{name}({','.join(dict.fromkeys(shared))})"
    return [*goals[:begin], call, *goals[end:]], [f"{call} :- {', '.join(inside)}."]


@st.composite
def effects(draw: Draw, number: int) -> str:
    """An `fi` or an `ft` with its conditions, some of them perhaps in a helper of their own."""
    origins = ["n(X)=V", "n(X)=V", "n(X)=V", "n(X)=2", "m(X)=V", "n(X)=_", "c(X)=lv(V)"]
    origin = draw(st.sampled_from(origins))
    delay = draw(st.sampled_from([None, None, 1, 2, 3, 5, 8]))
    body = _Body(draw, delay, ["V"] if "V" in origin else [])
    wait = _wait(body, origin)
    first = len(body.goals)  # what gives the delay has to be known before the others
    for _ in range(draw(st.integers(0, 3))):
        body.condition()
    if draw(st.booleans()):
        head = f"ft({origin},{wait})"
    else:
        target = draw(st.sampled_from(["m(X)", "m(X)", "n(X)", "n(X)", "m(Y)", "c(X)"]))
        if "Y" in target:
            body.goals.append("linked(X,Y)")
        aims = [*body.numbers, *body.numbers, "1", "2", *(["T"] if body.timed else [])]
        aim = draw(st.sampled_from(aims))
        if target == "c(X)":
            aim = draw(st.sampled_from([f"lv({aim})", f"lv({aim})", "no"]))
        head = f"fi({origin},{target}={aim},{wait})"
    goals, rules = body.goals, list[str]()
    if draw(st.booleans()):
        goals, rules = _folded(draw, head, goals, first, f"h{number}")
    goals = draw(st.permutations(goals))
    effect = f"{head} :- {', '.join(goals)}." if goals else f"{head}."
    return "\n".join([effect, *rules])


@st.composite
def _line(draw: Draw, lateness: int) -> str:
    kinds = ("set", "set", "set", "tune", "tune", "put", "say", "clear", "i")
    kind = draw(st.sampled_from(kinds))
    time = draw(st.integers(1, 24))
    arrival = time + draw(st.integers(0, lateness))
    who, value = draw(st.sampled_from("xy")), draw(st.integers(0, 4))
    match kind:
        case "clear":
            return f"clear|{arrival}|{time}|{who}"
        case "say":
            return f"say|{arrival}|{time}|{who}|{'ab'[value % 2]}"
        case "i":
            return f"i|{arrival}|{time}|{time + 1 + 3 * value}|true|{who}"
        case _:
            number = draw(st.sampled_from([str(value)] * 12 + ["2.5", "3.0", "-1", "a"]))
            return f"{kind}|{arrival}|{time}|{who}|{number}"


@st.composite
def delay_runs(draw: Draw) -> DelayRun:
    """One to three effects, other rules about their fluents, and a stream."""
    many = draw(st.sampled_from([1, 1, 2, 3]))
    listed = [draw(effects(number)) for number in range(many)]
    listed += draw(st.lists(st.sampled_from(MORE), max_size=4, unique=True))
    whole = "\n".join(listed)
    if any(f"{name}(" in whole for name in re.findall(r"^(\w+)\(", HELPERS, re.M)):
        listed.append(HELPERS)
    for fluent in "mc":  # what is asked of them should be possible
        first = next(one for one in MORE if one.startswith(f"initiatedAt({fluent}("))
        asked = any(f"{fluent}(" in re.sub(rf",{fluent}\(.\)=", "", one) for one in listed)
        if asked and first not in listed:
            listed.append(first)
    lines = draw(st.lists(_line(draw(st.sampled_from((0, 3, 9, 15)))), min_size=3, max_size=16))
    for line in draw(st.lists(st.sampled_from(lines), max_size=2)):
        name, arrival, rest = line.split("|", 2)
        lines.append(f"-{name}|{int(arrival) + draw(st.integers(0, 6))}|{rest}")
    step = draw(st.sampled_from((6, 6, 9, 15, 30)))
    window = draw(st.sampled_from((None, step, step + 5, 2 * step)))
    tick = draw(st.sampled_from((1, 1, 1, 2, 3, 5)))
    settings = {"start": 0, "end": 30, "step": step, "window": window, "tick": tick}
    restored = draw(st.integers(0, max(0, 30 // step - 1)))
    text = BASE + "\n".join(listed) + "\n"
    return DelayRun(text, lines, settings, restored, draw(st.integers(1, 3)))
