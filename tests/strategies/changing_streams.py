"""Streams that change much: most items late, many taken back, some told twice; and whole runs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.changing_parts import OFTEN, changing_descriptions
from tests.strategies.parts import Described

from horai.lang.core.terms import Constant, Float, Int, Term, make
from horai.oracle.ec.intervals import INF, TickGrid
from horai.oracle.ec.session import OracleItem

LAST = 40
LATE = 8  # of ten items
TAKEN_BACK = 2  # of ten items

_WHO = st.sampled_from([Constant(name) for name in ("x", "y", "z")])
_LETTER = st.sampled_from([Constant("a"), Constant("b")])
_NUMBER: st.SearchStrategy[Term] = st.sampled_from([Int(1), Int(2), Int(3), Float(2.5), Float(2.0)])


@dataclass(frozen=True, slots=True)
class Cut:
    """When a run is asked, and how far each answer looks back."""

    queries: tuple[int, ...]
    window: int | None
    start: int = 0


class ChangingRun:
    """What sessions need to answer at every query time."""

    def __init__(self, described: Described, cut: Cut, items: list[OracleItem]) -> None:
        self.described = described
        self.cut = cut
        self.items = items

    def __repr__(self) -> str:
        listed = "\n".join(f"    {item}" for item in self.items)
        return f"{self.described!r}{self.cut}\n{listed}"


@st.composite
def _events(draw: Draw) -> Term:
    who = draw(_WHO)
    match draw(st.sampled_from(["e1", "e2", "e3", "e4", "w", "e0", "e1", "e2", "e4"])):
        case "e0":
            return Constant("e0")
        case "e3":
            return make("e3", who, draw(_LETTER))
        case "e4":
            return make("e4", who, draw(_NUMBER))
        case "w":
            return make("w", who, draw(_WHO))
        case name:
            return make(name, who)


@st.composite
def _items(draw: Draw, tick: int, lateness: int) -> OracleItem:
    start = draw(st.one_of(st.sampled_from((4, 5, 9, 16, 17, 23, 30)), st.integers(1, LAST)))
    late = draw(st.integers(1, 10)) <= LATE
    arrival = start + (draw(st.integers(0, lateness)) if late else draw(st.integers(-2, 1)))
    match draw(st.integers(0, 9)):
        case 7 | 8:
            length = draw(st.integers(1, 12))
            end = INF if draw(st.integers(0, 7)) == 7 else start + length
            other = make("j", draw(_WHO), draw(_WHO))
            entity = draw(st.sampled_from([make("i1", draw(_WHO)), other]))
            return OracleItem(entity, Constant("true"), start, end, arrival)
        case 9:
            end = TickGrid(tick).next(start)
            return OracleItem(make("i2", draw(_WHO)), draw(_LETTER), start, end, arrival)
        case _:
            return OracleItem(draw(_events()), None, start, start, arrival)


@st.composite
def _told(draw: Draw, lateness: int) -> OracleItem:
    """An item of something that rules may define too."""
    start = draw(st.integers(1, LAST))
    arrival, who = start + draw(st.integers(0, lateness)), draw(_WHO)
    match draw(st.sampled_from(["o", "oo", "f", "h"])):
        case "oo":
            return OracleItem(make("oo", who, draw(_LETTER)), None, start, start, arrival)
        case "o":
            return OracleItem(make("o1", who), None, start, start, arrival)
        case name:
            value = Constant(draw(st.sampled_from(["true", "a"])))
            return OracleItem(make(f"{name}1", who), value, start, start + 6, arrival)


@st.composite
def changing_streams(
    draw: Draw, tick: int, lateness: int, most: int = 40, told: bool = True
) -> list[OracleItem]:
    """Items in no particular order; some come twice, some are taken back."""
    size = draw(st.integers(0, most))
    found = draw(st.lists(_items(tick, lateness), min_size=size, max_size=size))
    if told and draw(st.integers(0, 11)) == 11:
        found += draw(st.lists(_told(lateness), max_size=2))
    extra: list[OracleItem] = []
    for item in found:
        chosen = draw(st.integers(0, 9))
        later = item.arrival + draw(st.integers(0, lateness)) if chosen < TAKEN_BACK + 1 else 0
        if chosen < TAKEN_BACK:
            extra.append(replace(item, arrival=later, retract=True))
        elif chosen == TAKEN_BACK:
            extra.append(replace(item, arrival=later))
    return [*found, *extra]


@st.composite
def cuts(draw: Draw) -> Cut:
    """Steps that differ in length, now and then, and a window shorter or longer than them."""
    step = draw(st.sampled_from([1, 2, 3, 4, 6, 11]))
    start = draw(st.sampled_from([0, 0, 0, 0, -5, 3]))
    queries = [query for query in range(step, LAST + 12, step) if query > start]
    if draw(st.integers(0, 3)) == 3:
        queries = sorted(set(draw(st.lists(st.sampled_from(queries), min_size=2))))
    window = draw(st.sampled_from([3, 7, 12, 20, 31, None]))
    return Cut(tuple(queries), window, start)


@st.composite
def changing_runs(
    draw: Draw, most: int = 5, told: bool = True, kinds: tuple[str, ...] = OFTEN
) -> ChangingRun:
    """A description, a stream, and when it is asked; `told`: also items of what rules define."""
    described = draw(changing_descriptions(most, kinds))
    cut = draw(cuts())
    lateness = draw(st.sampled_from([0, 5, 14]))
    items = draw(changing_streams(described.tick, lateness, told=told))
    return ChangingRun(described, cut, items)
