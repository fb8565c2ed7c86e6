"""A whole random run: a description, a stream, and how it is cut into windows."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.strategies.descriptions import FEATURES, descriptions
from tests.strategies.parts import Described
from tests.strategies.streams import Windows, streams, windows

from horai.oracle.ec.session import OracleItem


class Run:
    """What an engine needs to answer at every query time."""

    def __init__(self, described: Described, cut: Windows, items: list[OracleItem]) -> None:
        self.described = described
        self.cut = cut
        self.items = items

    def __repr__(self) -> str:
        listed = "\n".join(f"    {item}" for item in self.items)
        return f"{self.described!r}{self.cut}\n{listed}"


@st.composite
def runs(
    draw: Draw,
    features: Iterable[str] = FEATURES,
    *,
    without: Iterable[str] = (),
    lateness: int | None = None,
    retractions: bool = True,
) -> Run:
    """A run; unless a larger `lateness` is given, no item is too late for its window."""
    described = draw(descriptions(features, without=without))
    cut = draw(windows())
    latest = cut.lateness if lateness is None else lateness
    items = draw(streams(described.tick, latest, early=3, retractions=retractions))
    return Run(described, cut, items)
