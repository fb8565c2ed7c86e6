"""Interval rules: whom they speak of, and whom rules without a grounding speak of."""

from __future__ import annotations

import pytest
from tests.engine.comparing import Setting, differences, read, seen, tables_of

from horai.lang.core.terms import Constant, make
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

INPUTS = "".join(f"collectIntervals({name}(_)=true).\n" for name in "abc")
READ = "holdsFor(a(X)=true,A), holdsFor(b(X)=true,B), holdsFor(c(X)=true,C)"


def item(name: str, who: str, start: int, end: float) -> OracleItem:
    return OracleItem(make(name, Constant(who)), Constant("true"), start, end, start)


ITEMS = [item("a", "x", 2, 9), item("b", "x", 5, 12), item("b", "y", 3, 8), item("c", "z", 1, 4)]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("union_all([A,B],I)", ["h(x)=true (2,12)", "h(y)=true (3,8)"]),
        ("intersect_all([A,B],I)", ["h(x)=true (5,9)"]),
        ("relative_complement_all(B,[A],I)", ["h(x)=true (9,12)", "h(y)=true (3,8)"]),
        ("complement_all([A,B],D), intersect_all([D,C],I)", ["h(z)=true (1,4)"]),
        (
            "complement_all([A,B],I)",
            [
                *("h(x)=true (1,2)", "h(x)=true (12,inf)", "h(y)=true (1,3)"),
                *("h(y)=true (8,inf)", "h(z)=true (1,inf)"),
            ],
        ),
        ("before(B,A,source,I)", []),
        ("overlaps(A,B,union,I)", ["h(x)=true (2,12)"]),
        ("intDurLess(B,7,D), union_all([D,C],I)", ["h(y)=true (3,8)", "h(z)=true (1,4)"]),
    ],
)
def test_rules_speak_of_whom_they_know(operation: str, expected: list[str]) -> None:
    text = f"{INPUTS}holdsFor(h(X)=true,I) :- {READ}, {operation}."
    assert differences(text, ITEMS, Setting([20])) is None
    session = CompiledEngine(read(text))
    found = seen(session.advance(20, tables_of(ITEMS)))["all"]
    assert [line for line in found if line.startswith("h(")] == sorted(expected)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("holdsAt(a(X)=true,T), \\+ holdsAt(b(X)=true,T)", ["h(x)=true (2,5)"]),
        ("(holdsAt(a(X)=true,T) ; holdsAt(c(X)=true,T))", ["h(x)=true (2,9)", "h(z)=true (1,4)"]),
        (
            "holdsAt(b(X)=true,T), \\+ (holdsAt(a(X)=true,T) ; \\+ holdsAt(c(z)=true,T))",
            ["h(y)=true (3,4)"],
        ),
        ("who(X), \\+ holdsAt(b(X)=true,T)", ["h(x)=true (1,5)", "h(x)=true (12,inf)"]),
        ("who(X), ( holdsAt(a(X)=true,T) -> holdsAt(b(X)=true,T) ; fail )", ["h(x)=true (5,9)"]),
        ("who(X), aggregate_all(count,holdsAt(b(_)=true,T),N), N > 1", ["h(x)=true (5,8)"]),
    ],
)
def test_formulas(rule: str, expected: list[str]) -> None:
    text = f"{INPUTS}who(x).\nholdsAt(h(X)=true,T) :- {rule}."
    assert differences(text, ITEMS, Setting([20])) is None
    found = seen(CompiledEngine(read(text)).advance(20, tables_of(ITEMS)))["all"]
    assert [line for line in found if line.startswith("h(")] == sorted(expected)


def test_groundings_restrict_values_apart() -> None:
    text = """
    initiatedAt(s(X)=V,T) :- happensAt(set(X,V),T).
    grounding(s(X)=on) :- who(X).
    grounding(s(X)=level(N)) :- depth(X,N).
    who(x). depth(x,1).
    """
    values = [Constant("on"), make("level", Constant("n")), Constant("free")]
    items = [
        OracleItem(make("set", Constant(who), value), None, 10 * i + 1, 10 * i + 1, 10 * i + 1)
        for i, value in enumerate(values)
        for who in "xy"
    ]
    assert differences(text, items, Setting([40])) is None
    found = seen(CompiledEngine(read(text)).advance(40, tables_of(items)))["all"]
    # Kept out, a value still ends the one before; a value nobody speaks of is free.
    assert [line for line in found if line.startswith("s(")] == [
        "s(x)=free (22,inf)",
        "s(x)=on (2,12)",
        "s(y)=free (22,inf)",
    ]
