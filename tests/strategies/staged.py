"""Random runs in stages: rules about one, about two together, about one again, and about all."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw

WHO = ("ann", "bob", "cat", "3", "dan")
ONE = {
    "a": """
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).""",
    "valued": """
initiatedAt(a(X)=N, T) :- happensAt(n(X, N), T).
initiatedAt(a(X)=true, T) :- happensAt(e(X), T), \\+ happensAt(g(X), T).
terminatedAt(a(X)=_, T) :- happensAt(g(X), T).""",
    "delayed": """
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
fi(a(X)=true, a(X)=false, 4).""",
    "initial": """
initially(a(X)=true) :- who(X).
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
who(ann). who(bob). who(3).""",
    "counted": """
initiatedAt(a(X)=true, T) :- happensAt(e(X), T),
    aggregate_all(count, (happensAt(e(X), T0), T0 =< T, T - T0 < 6), N), N > 1.
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).""",
}
MORE = {
    "long": """
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, J), intDurGreater(J, 5, I).""",
    "short": """
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, J), intDurLess(J, 6, I).""",
    "off": """
holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, J), complement_all([J], I).""",
    "later": """
initiatedAt(b(X)=true, T) :- happensAt(start(a(X)=true), T).
terminatedAt(b(X)=true, T) :- happensAt(n(X, _), T).""",
    "before": """
holdsFor(b(X)=true, I) :-
    holdsFor(a(X)=true, J), holdsFor(at(X)=true, K), before(J, K, source, I).""",
}
TWO = {
    "meeting": """
initiatedAt(p(X, Y)=true, T) :-
    happensAt(meet(X, Y), T), holdsAt(a(X)=true, T), \\+ holdsAt(b(Y)=true, T).
terminatedAt(p(X, Y)=true, T) :- happensAt(part(X, Y), T).""",
    "near": """
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(a(X)=true, J), holdsFor(b(Y)=true, K),
    intersect_all([C, J, K], I).""",
    "far": """
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(a(X)=true, J), holdsFor(a(Y)=true, K),
    relative_complement_all(C, [J, K], L), intDurGreater(L, 3, I).""",
    "beside": """
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(at(X)=true, J), holdsFor(at(Y)=true, K),
    intersect_all([C, J, K], I).
initiatedAt(u(X, Y)=true, T) :-
    happensAt(meet(X, Y), T), happensAt(e(X), T), \\+ happensAt(e(Y), T).
terminatedAt(u(X, Y)=true, T) :- happensAt(part(X, Y), T).""",
    "known": """
dynamicDomain(pair(_, _)).
grounding(close(X, Y)=true) :- pair(X, Y).
grounding(p(X, Y)=true) :- pair(X, Y).
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(b(Y)=true, K),
    union_all([C, K], L), complement_all([L], I).""",
    "other key": """
initiatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(a(Y)=true, T).
terminatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(b(Y)=true, T).""",
}
THEN = {
    "either": """
happensAt(q(X, Y), T) :-
    happensAt(start(p(X, Y)=true), T), (Z = X ; Z = Y), happensAt(end(a(Z)=true), T0),
    T0 =< T, T - T0 =< 9.""",
    "ends": """
happensAt(q(X, Y), T) :- happensAt(end(p(X, Y)=true), T), holdsAt(b(Y)=true, T).""",
    "turned": """
happensAt(q(Y, X), T) :- happensAt(start(p(X, Y)=true), T), holdsAt(a(X)=true, T).""",
}
LAST = {
    "again": """
initiatedAt(r(X)=Y, T) :- happensAt(q(X, Y), T).
terminatedAt(r(X)=_, T) :- happensAt(g(X), T).""",
    "all": """
initiatedAt(r=true, T) :- happensAt(q(_, _), T).
terminatedAt(r=true, T) :- happensAt(end(p(_, _)=true), T).""",
    "many": """
happensAt(r(N), T) :-
    happensAt(e(_), T), aggregate_all(count, holdsAt(p(_, _)=true, T), N), N > 0.""",
}
INPUT = """
collectIntervals(close(_, _)=true).
collectIntervals(at(_)=true).
"""


class StagedRun(NamedTuple):
    """Rules, a narrative and how it is run."""

    rules: str
    narrative: list[str]
    settings: dict[str, Any]
    buckets: int

    def __repr__(self) -> str:
        lines = "\n".join(self.narrative)
        return f"{self.rules}\n{lines}\n{self.settings}, {self.buckets} buckets"


@st.composite
def _line(draw: Draw, lateness: int) -> str:
    kind = draw(st.sampled_from(("e", "g", "e", "g", "n", "meet", "part", "meet", "close", "at")))
    time = draw(st.integers(-1, 40))
    arrival = time + draw(st.integers(-2, lateness))
    who, other = draw(st.sampled_from(WHO)), draw(st.sampled_from(WHO))
    match kind:
        case "e" | "g":
            return f"{kind}|{arrival}|{time}|{who}"
        case "n":
            return f"n|{arrival}|{time}|{who}|{draw(st.sampled_from(('1', '2', '2.0', 'x')))}"
        case "meet" | "part":
            return f"{kind}|{arrival}|{time}|{who}|{other}"
        case "at":
            return f"at|{arrival}|{time}|{time + draw(st.integers(1, 9))}|true|{who}"
        case _:
            end = draw(st.one_of(st.just("inf"), st.integers(1, 20).map(lambda n: str(time + n))))
            return f"close|{arrival}|{time}|{end}|true|{who}|{other}"


@st.composite
def _narrative(draw: Draw) -> list[str]:
    lateness = draw(st.sampled_from((0, 4, 15)))
    lines = draw(st.lists(_line(lateness), max_size=30))
    back = draw(st.lists(st.sampled_from(lines), max_size=4)) if lines else []
    for line in back:
        name, arrival, rest = line.split("|", 2)
        lines.append(f"-{name}|{int(arrival) + draw(st.integers(0, 8))}|{rest}")
    return lines


@st.composite
def staged_runs(draw: Draw) -> StagedRun:
    """A run of up to four layers of rules, in a few buckets."""
    layers = [draw(st.sampled_from(sorted(some))) for some in (ONE, MORE, TWO, THEN, LAST)]
    parts = (ONE, MORE, TWO, THEN, LAST)
    number = draw(st.integers(3, 5))
    text = "".join(some[name] for some, name in list(zip(parts, layers, strict=True))[:number])
    step = draw(st.sampled_from((3, 5, 10, 50)))
    window = draw(st.sampled_from((None, step, step + 4, 2 * step, 3)))
    return StagedRun(
        INPUT + text + "\n",
        draw(_narrative()),
        {
            "start": draw(st.sampled_from((-3, 0, 2))),
            "end": 42,
            "step": step,
            "window": window,
            "tick": draw(st.sampled_from((1, 1, 1, 2))),
        },
        draw(st.integers(1, 5)),
    )
