"""Which way is expected to be cheaper."""

from __future__ import annotations

from horai.engine.deltas.costs import COST_OF_COMPONENT, CostModel, Sizes
from horai.engine.session import Session
from horai.lang.ec.reader import read_text

POINTS = """
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
    terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
"""
LISTS = "holdsFor(g(X)=true,I) :- holdsFor(f(X)=true,J), intDurGreater(J, 9, I)."
# Whom it is about depends on who is known: it is worked out as a whole.
WHOLE = "holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,J), complement_all([J], I)."
MANY = 10_000_000


def model(text: str) -> CostModel:
    """The costs of some rules."""
    return Session(read_text(text)[0]).live.costs


def test_little_change_in_a_large_window_is_cheaper_by_change() -> None:
    costs, sizes = model(POINTS), Sizes(1_000, 0, MANY)
    assert costs.by_change(sizes) < costs.from_scratch(sizes)
    assert costs.by_change(sizes) >= COST_OF_COMPONENT


def test_a_small_window_is_cheaper_from_scratch() -> None:
    costs, sizes = model(POINTS), Sizes(1, 0, 100)
    assert costs.by_change(sizes) > costs.from_scratch(sizes)


def test_what_is_late_costs_more() -> None:
    costs = model(POINTS + LISTS)
    assert costs.by_change(Sizes(1_000, 500, MANY)) > costs.by_change(Sizes(1_000, 0, MANY))


def test_lists_cost_more_than_points() -> None:
    sizes = Sizes(100_000, 10_000, MANY)
    one, other = model(POINTS), model(POINTS + LISTS)
    more = other.by_change(sizes) - one.by_change(sizes) - COST_OF_COMPONENT
    assert more > (one.by_change(sizes) - COST_OF_COMPONENT) / 2  # a rule of two


def test_what_is_worked_out_as_a_whole_costs_the_whole_window() -> None:
    sizes = Sizes(0, 0, MANY)
    assert model(POINTS + WHOLE).by_change(sizes) > MANY
