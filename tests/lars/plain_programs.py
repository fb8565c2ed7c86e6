"""Random stratified plain programs, and random signals that come late or are taken back."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from horai.lang.lars.syntax import NAMED

ENTITIES = ("x", "y", "3")
SIGNALS = ("s", "r")
LAST = 12


@dataclass(frozen=True, slots=True)
class Sent:
    """A signal, when it comes to be known, and when it is taken back, if ever."""

    name: str
    args: tuple[str, ...]
    time: int
    arrival: int
    gone: int | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """A program, what happens, and where the timeline begins."""

    text: str
    signals: tuple[Sent, ...]
    start: int

    def __repr__(self) -> str:
        return f"start {self.start}\n{self.text}\n" + "\n".join(map(repr, self.signals))


@st.composite
def windows(draw: st.DrawFn, derived: bool, always: bool = False) -> str:
    """All forms of windows; those of the last signals have nothing derived in them."""
    size = draw(st.integers(0, 4))
    kinds = ["time", "time", "time", "future", "hop", "inf", *([] if always else ["only"])]
    kinds += [] if derived else ["tuple", "tuple", "partition", *([] if always else ["ahead"])]
    kinds += ["between", "named"]
    match draw(st.sampled_from(kinds)):
        case "time":
            return f"[{size}]"
        case "future":
            return f"[{size}, +{draw(st.integers(1, 2))}]"
        case "hop":
            return f"[{size + 1} hop {draw(st.integers(1, size + 1))}]"
        case "named":
            return f"[{draw(st.sampled_from(sorted(NAMED)))} {size + 1}]"
        case "tuple":
            return f"[{draw(st.integers(1, 4))} #]"
        case "partition":
            pattern = draw(st.sampled_from(["s(A)", "s(_), r(A)", "s(x), s(A)", "r"]))
            return f"[{draw(st.integers(1, 2))} # per {pattern}]"
        case "ahead":
            past = draw(st.sampled_from(["", "1 #, ", "2 #, "]))
            per = draw(st.sampled_from(["", " per s(A)", " per s(_), r(A)"]))
            return f"[{past}+{draw(st.integers(1, 2))} #{per}]"
        case "between":
            first = draw(st.integers(1, 9))
            return f"[from {first} to {first + draw(st.integers(-1, 3))}]"
        case "only":
            return draw(st.sampled_from(["[only s(x)]", "[only s, r(3)]", "[only p1]"]))
        case _:
            return "[inf]"


@st.composite
def literals(draw: st.DrawFn, known: tuple[str, ...], time: str | None, shift: bool = False) -> str:
    """A window atom, an atom or an @-atom over X, or over T as well; perhaps a point later."""
    name = draw(st.sampled_from(known))
    atom = f"{name}(X)"
    derived = name not in SIGNALS
    if time is not None:
        shifted = draw(st.sampled_from([time, time, time, f"({time} + 1)"])) if shift else time
        bare = f"@{shifted} {atom}"
        return bare if draw(st.integers(0, 3)) == 0 else f"{bare} {draw(windows(derived))}"
    match draw(st.sampled_from(["atom", "some", "some", "always", "always"])):
        case "atom":
            return atom
        case "some":
            return f"{atom} {draw(windows(derived))}"
        case _:
            return f"always {atom} {draw(windows(derived, always=True))}"


@st.composite
def totals(draw: st.DrawFn, lower: tuple[str, ...]) -> str:
    """An aggregate over what is lower, about X or about all; as a condition, or giving N."""
    name, other = draw(st.sampled_from(lower)), draw(st.sampled_from(lower))
    window = draw(windows(True))
    element = draw(
        st.sampled_from(
            [
                f"Y : {name}(Y) {window}",
                f"Y, U : @U {name}(Y) {window}",
                f"U : @U {name}(X) {window}",
                f"U, Y : @U {name}(Y) {window}, Y != X",
                f"Y : {name}(Y) {window}, not {other}(Y) ; U, Y : @U {other}(Y) [2]",
                f"Z, Y : {name}(Y) {window}, Z = Y + 1",
            ]
        )
    )
    function = draw(st.sampled_from(["count", "sum", "min", "max"]))
    sign, bound = draw(st.sampled_from(["<", ">=", "=", "!="])), draw(st.integers(0, 4))
    total = f"{function} {{ {element} }}"
    negated = draw(st.sampled_from(["", "", "not "]))
    if not negated and draw(st.booleans()):
        return f"N = {total}, N {sign} {bound}"
    return f"{negated}{total} {sign} {bound}"


@st.composite
def rules(draw: st.DrawFn, head: str, lower: tuple[str, ...]) -> str:
    """A rule for a predicate over what is lower, and perhaps over itself."""
    positive = (*lower, head) if draw(st.integers(0, 2)) == 0 else lower
    timed = draw(st.booleans())
    body = [draw(literals(positive, "T" if timed else None))]
    for _ in range(draw(st.integers(0, 2))):
        body.append(draw(literals(positive, None)))
    if draw(st.booleans()):
        negated = draw(literals(lower, "T" if timed and draw(st.booleans()) else None, shift=True))
        body.append(f"not {negated}")
    extra = ["X != y", "X = 3", "X < x", "g(X)", "not g(X)", "not @X r(3) [4]", "g(X + 0)"]
    extra += ["T < 7", "@U r(X) [3], U <= T", "V = T / 2, V > 1"] if timed else []
    if draw(st.integers(0, 2)) == 0:
        body.append(draw(st.sampled_from(extra)))
    if draw(st.integers(0, 3)) == 0:
        body.append(draw(totals(lower)))
    times = ["@T ", "@T ", "@(T + 1) ", "@(T - 2) "] if timed else ["@4 "]
    place = draw(st.sampled_from(["", "", *times]))
    return f"{place}{head}(X) :- {', '.join(body)}."


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A few rules, stratum by stratum; at times a constraint."""
    lines = ["g(x).", "g(3)."]
    lower: tuple[str, ...] = SIGNALS
    for number in range(draw(st.integers(1, 3))):
        head = f"p{number + 1}"
        lines += [draw(rules(head, lower)) for _ in range(draw(st.integers(1, 2)))]
        lower = (*lower, head)
    if draw(st.integers(0, 4)) == 0:
        lines.append(f":- {draw(literals(lower, None))}, X = y.")
    return "\n".join(lines)


@st.composite
def signals(draw: st.DrawFn, late: bool) -> tuple[Sent, ...]:
    """What happens, in the order in which it comes in; rules and facts may say the same."""
    found = []
    names = draw(st.sampled_from([SIGNALS, SIGNALS, SIGNALS, (*SIGNALS, "p1", "g")]))
    for _ in range(draw(st.integers(0, 10))):
        time = draw(st.integers(0, LAST))
        arrival = max(0, time + draw(st.sampled_from([0, 0, 0, 1, 3, -2]))) if late else time
        gone = draw(st.none() | st.integers(arrival, arrival + 5)) if late else None
        args = (draw(st.sampled_from(ENTITIES)),)
        name = draw(st.sampled_from(names))
        found.append(Sent(name, args, time, arrival, gone))
    return tuple(sorted(found, key=lambda one: one.arrival))


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """A program and a stream."""
    start = draw(st.sampled_from([0, 0, 2]))
    return Story(draw(programs()), draw(signals(draw(st.booleans()))), start)
