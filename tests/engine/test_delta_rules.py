"""Rules about points by change: what the delta rules of paper 000 say, and how much is looked at.

Rule (1) of the paper is

    initiatedAt(F=V, T) <- happensAt(A, T), holdsAt(B=VB, T),
                           not happensAt(C, T), not holdsAt(D=VD, T).

Delta rule (5) tells which of its points are to be deleted, the four delta rules (6) which are to be
added. I+ and I- are what came and went since the last query, IQ what there is now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, read, tables_of
from tests.weights import examples

from horai.engine.columns import terms_of
from horai.engine.deltas.parts import Points
from horai.engine.profile import Profile
from horai.engine.session import Session
from horai.lang.core.terms import Constant, make
from horai.oracle.ec.session import OracleItem

RULE_1 = """
    collectIntervals(b(_)=true). collectIntervals(d(_)=true).
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T), holdsAt(b(X)=true,T),
        \\+ happensAt(c(X),T), \\+ holdsAt(d(X)=true,T).
"""
Q1, Q2 = 20, 21
Times = frozenset[int]
times: st.SearchStrategy[Times] = st.frozensets(st.integers(1, 9))


def item(name: str, who: str, time: int, arrival: int = Q1, retract: bool = False) -> OracleItem:
    """One time-point of an event, or of a fluent."""
    fluent = name in ("b", "d")
    value, end = (Constant("true"), time + 1) if fluent else (None, time)
    return OracleItem(make(name, Constant(who)), value, time, end, arrival, retract=retract)


class Watched:
    """A session whose rows are counted, and its rule."""

    def __init__(self, text: str = RULE_1, window: int | None = None) -> None:
        setting = Setting((), window)
        self.session = Session(read(text), incremental="always", **setting.options())
        self.session.profile = Profile()
        self.rows = self.asked_again = 0

    def advance(self, query: int, items: Iterable[OracleItem]) -> None:
        """One more query, its rows counted by themselves."""
        before = self._counts()
        self.session.advance(query, tables_of(items))
        self.rows, self.asked_again = (n - m for n, m in zip(self._counts(), before, strict=True))

    def _counts(self) -> tuple[int, int]:
        assert self.session.profile is not None
        windows = self.session.profile.windows.values()
        return sum(one.rows for one in windows), sum(one.asked_again for one in windows)

    def points(self, who: str = "x") -> Times:
        """When the rule gives a point of an entity."""
        (part,) = (one for one in self.session.live.parts if isinstance(one, Points))
        (rule,) = part.plain.rules
        table = rule.points.whole().table
        entities = terms_of(table.columns[0], self.session.symbols)
        at: list[int] = table.columns[-1].data.tolist()
        return frozenset(t for one, t in zip(entities, at, strict=True) if one == Constant(who))


@dataclass(frozen=True, slots=True)
class Condition:
    """The time-points of an event or a fluent, at the query before and now."""

    name: str
    before: Times
    now: Times

    @property
    def came(self) -> Times:
        """I+."""
        return self.now - self.before

    @property
    def went(self) -> Times:
        """I-."""
        return self.before - self.now

    def told(self) -> tuple[list[OracleItem], list[OracleItem]]:
        """The items of the query before, and those of now."""
        new = [item(self.name, "x", time, Q2) for time in sorted(self.came)]
        gone = [item(self.name, "x", time, Q2, retract=True) for time in sorted(self.went)]
        return [item(self.name, "x", time) for time in sorted(self.before)], [*new, *gone]


def deleted(points: Times, a: Condition, b: Condition, c: Condition, d: Condition) -> Times:
    """Delta rule (5)."""
    return points & (a.went | b.went | c.came | d.came)


def added(a: Condition, b: Condition, c: Condition, d: Condition) -> list[Times]:
    """Delta rules (6)(a) to (6)(d)."""
    return [
        a.came & b.now - c.now - d.now,
        (a.now - a.came) & b.came - c.now - d.now,
        c.went & (a.now - a.came) & (b.now - b.came) - d.now,
        (a.now - a.came) & d.went & (b.now - b.came) - (c.now | c.went),
    ]


CONDITIONS = st.tuples(*(st.builds(Condition, st.just(name), times, times) for name in "abcd"))


@examples("normal")
@given(conditions=CONDITIONS)
def test_rule_1_of_paper_000_by_its_delta_rules(conditions: tuple[Condition, ...]) -> None:
    a, b, c, d = conditions
    told = [one.told() for one in conditions]
    others = [item(name, "y", time) for name in "ab" for time in range(1, 10)]
    run = Watched()
    run.advance(Q1, [*others, *(one for old, _ in told for one in old)])
    before = run.points()
    assert before == a.before & b.before - c.before - d.before
    run.advance(Q2, [one for _, new in told for one in new])
    fresh = added(*conditions)
    assert sum(map(len, fresh)) == len(frozenset().union(*fresh))  # no derivation repeats
    assert run.points() == (before - deleted(before, *conditions)).union(*fresh)
    assert run.points("y") == frozenset(range(1, 10))
    # Points of A that were there and stay are asked again exactly where B, C or D has changed.
    changed = b.came | b.went | c.came | c.went | d.came | d.went
    assert run.asked_again == len(a.before & a.now & changed)
    assert run.rows == run.asked_again + len(a.came)


def test_each_delta_rule_of_paper_000_by_itself() -> None:
    whole = frozenset({3, 4, 5})
    nothing: Times = frozenset()
    steady = {"a": whole, "b": whole, "c": nothing, "d": nothing}
    changes: dict[str, tuple[str, Times, Times, int]] = {
        "(5) loses A": ("a", whole, whole - {4}, 0),
        "(5) loses B": ("b", whole, whole - {4}, 1),
        "(5) gains C": ("c", nothing, frozenset({4}), 1),
        "(5) gains D": ("d", nothing, frozenset({4}), 1),
        "(6a) gains A": ("a", whole - {4}, whole, 0),
        "(6b) gains B": ("b", whole - {4}, whole, 1),
        "(6c) loses C": ("c", frozenset({4}), nothing, 1),
        "(6d) loses D": ("d", frozenset({4}), nothing, 1),
    }
    for label, (name, before, now, again) in changes.items():
        run = Watched()
        change = Condition(name, before, now)
        old = [item(n, "x", t) for n, at in steady.items() if n != name for t in sorted(at)]
        told, new = change.told()
        run.advance(Q1, [*old, *told])
        was = run.points()
        run.advance(Q2, new)
        assert was ^ run.points() == {4}, label
        assert (4 in run.points()) == label.startswith("(6"), label
        assert run.asked_again == again, label


# --- how much is looked at -----------------------------------------------------------------------

MANY = 400
LAYERS = """
    collectIntervals(b(_)=true).
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T), holdsAt(b(X)=true,T).
    terminatedAt(f(X)=true,T) :- happensAt(c(X),T).
    happensAt(o(X),T) :- happensAt(start(f(X)=true),T).
    initiatedAt(g(X)=N,T) :- happensAt(o(X),T),
        aggregate_all(count,(happensAt(a(X),T0), T0 =< T, T-T0 < 5),N).
    holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,I1), holdsFor(b(X)=true,I2),
        relative_complement_all(I2,[I1],I).
"""


def everyone(many: int) -> list[OracleItem]:
    """Something happens to many entities at many times."""
    found = []
    for number in range(many):
        who = f"w{number}"
        found += [item("a", who, time) for time in range(1, 19, 3)]
        found += [item("c", who, time) for time in range(3, 19, 5)]
        found.append(OracleItem(make("b", Constant(who)), Constant("true"), 2, 15, Q1))
    return found


def _looked_at(many: int, late: OracleItem, window: int | None = None) -> tuple[int, int]:
    """Rows and points asked again because of one late item among many others."""
    run = Watched(LAYERS, window)
    run.advance(Q1, everyone(many))
    run.advance(Q2, [late])
    return run.rows, run.asked_again


def test_what_one_late_item_costs_does_not_grow_with_the_window() -> None:
    for late in (
        item("a", "w1", 12, Q2),
        item("c", "w1", 14, Q2),
        item("b", "w1", 17, Q2),
        item("a", "w1", 4, Q2, retract=True),
        item("a", "stranger", 4, Q2),
    ):
        few, many = _looked_at(4, late), _looked_at(MANY, late)
        assert few == many
        assert many[0] < 20


def test_a_query_without_items_looks_at_nothing() -> None:
    run = Watched(LAYERS)
    run.advance(Q1, everyone(5))
    run.advance(Q2, [])
    assert (run.rows, run.asked_again) == (0, 0)


def test_items_in_time_are_looked_at_once() -> None:
    run = Watched(LAYERS)
    run.advance(Q1, everyone(MANY))
    run.advance(30, [item("a", f"w{number}", 25, 25) for number in range(7)])
    assert run.asked_again == 0
    assert run.rows <= 7 * 4


def test_asked_about_without_an_entity_points_are_asked_where_the_time_meets() -> None:
    text = """
        initiatedAt(f(X)=true,T) :- happensAt(a(X),T), \\+ happensAt(c(_),T).
    """
    run = Watched(text)
    run.advance(Q1, [item("a", f"w{n}", t) for n in range(6) for t in range(1, 10)])
    run.advance(Q2, [item("c", "x", 4, Q2), item("c", "y", 4, Q2), item("c", "x", 7, Q2)])
    assert run.asked_again == 2 * 6
    assert np.all([4 not in run.points(f"w{n}") for n in range(6)])
