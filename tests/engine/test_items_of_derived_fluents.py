"""Items of a fluent that rules define too: what they say is remembered when windows pass."""

from __future__ import annotations

import pytest
from tests.engine.comparing import Setting, differences

from horai.lang.core.terms import Compound, Constant
from horai.oracle.ec.session import OracleItem

RULES = """
    collectIntervals(open(_)=true).
    initiatedAt(open(X)=true, T) :- happensAt(unlock(X), T).
    terminatedAt(open(X)=true, T) :- happensAt(lock(X), T).
    holdsFor(long(X)=true, I) :- holdsFor(open(X)=true, J), intDurGreater(J, 3, I).
"""


def item(name: str, start: int, end: int | None = None) -> OracleItem:
    value = None if end is None else Constant("true")
    entity = Compound(name, (Constant("gate"),))
    return OracleItem(entity, value, start, end or start, arrival=start)


@pytest.mark.parametrize("window", [2, 4, 8, None])
def test_they_keep_their_starts(window: int | None) -> None:
    items = [item("open", 6, 9), item("unlock", 8), item("lock", 25), item("open", 30, 33)]
    setting = Setting(tuple(range(2, 41, 2)), window)
    assert differences(RULES, items, setting) is None
