"""Random small pairs of a description and a program, and streams for them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from horai.oracle.ec.session import OracleItem
from horai.runtime.values import parse_term

DESCRIPTION = [
    "initiatedAt(f(X)=true, T) :- happensAt(p(X), T).",
    "initiatedAt(f(X)=true, T) :- happensAt(a(X), T), not holdsAt(q(X)=true, T).",
    "terminatedAt(f(X)=true, T) :- happensAt(b(X), T).",
    "initiatedAt(g(X)=high, T) :- happensAt(b(X), T), holdsAt(p(X)=true, T).",
    "initiatedAt(g(X)=low, T) :- happensAt(a(X), T).",
    "holdsFor(h(X)=true, I) :- holdsFor(q(X)=true, I1), holdsFor(f(X)=true, I2), "
    "union_all([I1, I2], I).",
    "happensAt(e(X), T) :- happensAt(start(f(X)=true), T).",
    "initiatedAt(k(X)=true, T) :- happensAt(r(X), T).",
    "terminatedAt(k(X)=true, T) :- happensAt(end(v(X)=2), T).",
    "initiatedAt(k(X)=true, T) :- happensAt(s(X), T), holdsAt(v(X)=1, T).",
]
PROGRAM = [
    "p(X) :- a(X) [2].",
    "p(X) :- always a(X) [1].",
    "p(X) :- a(X), not b(X) [3].",
    "p(X) :- b(X) [2 hop 2].",
    "q(X) :- f(X) [2].",
    "q(X) :- always f(X) [1].",
    "q(X) :- g(X, high), not a(X) [1].",
    "q(X) :- a(X) [2 #].",
    "q(X) :- a(X) [+2].",
    "r(X) :- f(X) [2 #], b(X) [2].",
    "r(X) :- e(X) [3], not q(X).",
    "r(X) :- h(X), not k(X) [1].",
    "@U s(X) :- @T a(X) [3], U = T + 1.",
    "v(X, 1) :- a(X) [1].",
    "v(X, 2) :- b(X), not a(X).",
    ":- a(x), b(x), b(y).",
    "s(X) :- k(X) [1 # per k(X)].",
]
NAMES = st.sampled_from(["a", "b", "s"])
END = 9


@dataclass(frozen=True)
class Pair:
    """Two texts and the rows of a stream: operation, name, arrival, time, argument."""

    description: str
    program: str
    rows: tuple[tuple[str, str, int, int, str], ...]

    def lines(self) -> list[str]:
        return ["|".join([op + name, str(at), str(t), x]) for op, name, at, t, x in self.rows]


@st.composite
def pairs(draw: st.DrawFn, late: bool = True) -> Pair:
    """A pair whose rows may come late and may be taken back."""
    description = draw(st.lists(st.sampled_from(DESCRIPTION), min_size=1, max_size=5, unique=True))
    program = draw(st.lists(st.sampled_from(PROGRAM), min_size=1, max_size=5, unique=True))
    rows: list[tuple[str, str, int, int, str]] = []
    for _ in range(draw(st.integers(1, 9))):
        time = draw(st.integers(1, END))
        arrival = min(END, time + (draw(st.integers(0, 4)) if late else 0))
        row = (draw(NAMES), arrival, time, draw(st.sampled_from(["x", "y"])))
        rows.append(("", *row))
        if late and draw(st.integers(0, 5)) == 0:
            back = draw(st.integers(arrival, END))
            rows.append(("-", row[0], back, *row[2:]))
    return Pair("\n".join(description), "\n".join(program), tuple(rows))


def known_items(pair: Pair, query: int) -> list[OracleItem]:
    """The rows that count at a query time, in their order."""
    known: dict[int, OracleItem] = {}
    for place, (op, name, arrival, time, x) in sorted(enumerate(pair.rows), key=_arrival):
        item = OracleItem(parse_term(f"{name}({x})"), None, time, time, arrival)
        if arrival > query:
            continue
        if not op:
            known[place] = item
            continue
        same = [k for k, one in known.items() if (one.entity, one.start) == (item.entity, time)]
        if same:
            del known[same[-1]]
    return [known[place] for place in sorted(known)]


def _arrival(numbered: tuple[int, tuple[str, str, int, int, str]]) -> int:
    return numbered[1][2]
