"""Random streams for random descriptions: few entities, few time-points, all that can happen.

`lateness` bounds how long after its time an item arrives, so that a window longer than lateness and
step together loses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.parts import LETTERS, NUMBERS, STRANGER, THINGS

from horai.lang.core.terms import Constant, Int, Term, make
from horai.oracle.ec.intervals import INF, TickGrid
from horai.oracle.ec.session import OracleItem

LAST = 24  # the last time-point at which something happens; runs end a little later
END = 36  # not before the latest arrival of a stream with the largest lateness

WHO = st.sampled_from([Constant(name) for name in (*THINGS, STRANGER)])


def _occurrence(draw: Draw) -> Term:
    who = draw(WHO)
    match draw(st.sampled_from(["e1", "e2", "e3", "e0", "e4"])):
        case "e0":
            return Constant("e0")
        case "e3":
            return make("e3", who, Constant(draw(st.sampled_from(LETTERS))))
        case "e4":
            return make("e4", who, Int(draw(st.sampled_from(NUMBERS))))
        case name:
            return make(name, who)


@st.composite
def items(draw: Draw, tick: int = 1, lateness: int = 0, early: int = 0) -> OracleItem:
    """An item: an event, or an input fluent over an interval or at a point."""
    start = draw(st.integers(1, LAST))
    arrival = start + draw(st.integers(-early, lateness))
    match draw(st.sampled_from(["event", "event", "event", "interval", "point"])):
        case "interval":
            length = draw(st.integers(1, 8))
            end = INF if draw(st.integers(0, 7)) == 7 else start + length
            return OracleItem(make("i1", draw(WHO)), Constant("true"), start, end, arrival)
        case "point":
            value = Constant(draw(st.sampled_from(LETTERS)))
            return OracleItem(
                make("i2", draw(WHO)), value, start, TickGrid(tick).next(start), arrival
            )
        case _:
            return OracleItem(_occurrence(draw), None, start, start, arrival)


@st.composite
def streams(
    draw: Draw,
    tick: int = 1,
    lateness: int = 0,
    early: int = 0,
    retractions: bool = True,
    most: int = 20,
) -> list[OracleItem]:
    """Items in no particular order, some twice, some taken back later."""
    size = draw(st.integers(0, most))  # lists of a drawn size are long as often as short
    found = draw(st.lists(items(tick, lateness, early), min_size=size, max_size=size))
    extra: list[OracleItem] = []
    for item in found:
        match draw(st.integers(0, 9)):
            case 8:
                extra.append(item)
            case 9 if retractions:
                extra.append(draw(retraction_of(item, lateness)))
            case _:
                pass
    return draw(st.permutations([*found, *extra])) if extra else found


def retraction_of(item: OracleItem, lateness: int) -> st.SearchStrategy[OracleItem]:
    """Takes an item back, after it arrived and before it is too late."""
    latest = max(item.arrival, item.start + lateness)
    return st.builds(
        lambda arrival: replace(item, arrival=arrival, retract=True),
        st.integers(item.arrival, latest),
    )


@dataclass(frozen=True, slots=True)
class Windows:
    """How a run is cut into query times."""

    window: int
    step: int
    lateness: int  # what arrives no later than this is never lost

    @property
    def queries(self) -> list[int]:
        """The query times; the last one is the end of the run."""
        return list(range(self.step, END + 1, self.step))


@st.composite
def windows(draw: Draw) -> Windows:
    """A window, a step, and the lateness they allow.

    An item that arrives by the query time q is at most `step` - 1 older than q plus its lateness.
    """
    step = draw(st.sampled_from([36, 12, 6, 4, 2, 1]))
    lateness = draw(st.integers(0, 10))
    return Windows(step + lateness + draw(st.integers(0, 5)), step, lateness)
