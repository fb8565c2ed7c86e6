"""Streams for wild descriptions, and whole wild runs."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.runs import Run
from tests.strategies.streams import LAST, retraction_of, windows
from tests.strategies.wild import Wild, list_descriptions, wild_descriptions

from horai.lang.core.terms import Compound, Constant, Float, Int, Str, Term, make
from horai.oracle.ec.intervals import INF
from horai.oracle.ec.session import OracleItem

MEETINGS = (3, 4, 9, 10, 15, 21)  # where joins at one time-point find partners

_WHO: st.SearchStrategy[Term] = st.sampled_from([Constant(name) for name in "xyz"])
_NUMBER: st.SearchStrategy[Term] = st.sampled_from(
    [Int(1), Int(2), Int(3), Float(0.5), Float(2.0), Float(2.5)]
)
_ANY: st.SearchStrategy[Term] = st.one_of(
    _NUMBER,
    st.sampled_from(
        [
            *(Constant("a"), Constant("b"), Str("a"), Float(1.0), Compound("k", (Constant("a"),))),
            *(Compound("k", (Int(1),)), Compound("k", (Float(1.0),)), Constant("x")),
        ]
    ),
)


@st.composite
def wild_items(draw: Draw, lateness: int = 0, early: int = 0) -> OracleItem:
    """An item for an input of wild descriptions."""
    start = draw(st.one_of(st.sampled_from(MEETINGS), st.integers(1, LAST)))
    arrival = start + draw(st.integers(-early, lateness))
    if draw(st.integers(0, 9)) < 5:
        return OracleItem(draw(_happening()), None, start, start, arrival)
    entity, value = draw(_state())
    end = INF if draw(st.integers(0, 7)) == 7 else start + draw(st.integers(1, 9))
    return OracleItem(entity, value, start, end, arrival)


@st.composite
def _happening(draw: Draw) -> Term:
    who, number = draw(_WHO), draw(_NUMBER)
    kind = draw(
        st.sampled_from(["e0", "e1", "w1", "w2", "w3", "close", "open", "twin", "e1", "w1"])
    )
    match kind:
        case "e0":
            return Constant("e0")
        case "w1":
            return make("w1", who, draw(_WHO))
        case "w2":
            return make("w2", who, number)
        case "w3":
            return make("w3", who, draw(_ANY))
        case "close":
            return make("act", make("close", who, number))
        case "open":
            return make("act", make("open", who))
        case name:
            return make(name, who)


@st.composite
def _state(draw: Draw) -> tuple[Term, Term]:
    who, true = draw(_WHO), Constant("true")
    match draw(st.sampled_from(["i1", "j1", "j2", "hold", "free", "twin"])):
        case "j1":
            return make("j1", who, draw(_WHO)), true
        case "j2":
            return make("j2", who), draw(_ANY)
        case "hold":
            value = Constant(draw(st.sampled_from(["true", "false"])))
            return make("per", make("hold", who, draw(_NUMBER))), value
        case "free":
            return make("per", make("free", who)), true
        case "twin":
            level = make("level", draw(_NUMBER))
            return make("twin", who), draw(st.sampled_from([true, level]))
        case name:
            return make(name, who), true


@st.composite
def wild_streams(
    draw: Draw, lateness: int = 0, early: int = 0, retractions: bool = True, most: int = 40
) -> list[OracleItem]:
    """Items in no particular order, some twice, some taken back."""
    size = draw(st.integers(0, most))
    found = draw(st.lists(wild_items(lateness, early), min_size=size, max_size=size))
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


@st.composite
def wild_runs(
    draw: Draw,
    *,
    lateness: int | None = None,
    retractions: bool = True,
    python: bool | None = None,
) -> Run:
    """A run; unless a larger `lateness` is given, no item is too late for its window."""
    return draw(_runs(wild_descriptions(python=python), lateness, retractions))


def list_runs() -> st.SearchStrategy[Run]:
    """A run of little but interval lists."""
    return _runs(list_descriptions(), None, True)


@st.composite
def _runs(
    draw: Draw, descriptions: st.SearchStrategy[Wild], lateness: int | None, retractions: bool
) -> Run:
    described = draw(descriptions)
    cut = draw(windows())
    latest = cut.lateness if lateness is None else lateness
    return Run(described, cut, draw(wild_streams(latest, early=3, retractions=retractions)))
