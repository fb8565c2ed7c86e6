"""Queries after a run."""

import math
from typing import Any

import pytest

import horai
from horai.runtime.queries import render

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :- happensAt(lose(X), T).
initiatedAt(at(X)=P, T) :- happensAt(go(X, P), T).
"""
ROWS = ["win|3|3|ann", "go|4|4|ann|pub", "lose|6|6|ann", "win|8|8|bob", "go|9|9|ann|home"]


@pytest.fixture(scope="module")
def result() -> horai.Result:
    return horai.loads(RULES).run(ROWS)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        ("holdsFor(rich(ann)=true,I)", "I = [(4,7)]"),
        ("holdsFor(rich(ann)=true,I).", "I = [(4,7)]"),
        ("holdsFor(rich(zoe)=true, I)", "I = []"),
        ("holdsFor(rich(ann)=true,[(4,7)])", "true"),
        ("holdsFor(rich(ann)=true,[])", "false"),
        ("holdsFor(rich(X)=true,I)", "X = ann,\nI = [(4,7)] ;\nX = bob,\nI = [(9,inf)]"),
        ("holdsAt(F,5)", "F = (rich(ann)=true) ;\nF = (at(ann)=pub)"),
        ("holdsAt(at(_)=P,5)", "P = pub"),
        ("holdsAt(rich(ann)=true,5)", "true"),
        ("holdsAt(rich(ann)=true,7)", "false"),
        ("holdsAt(rich(X)=X,5)", "false"),
        ("happensAt(win(X),T)", "X = ann,\nT = 3 ;\nX = bob,\nT = 8"),
        ("happensAt(win(ann),3)", "true"),
        ("happensAt(E,9)", "E = go(ann,home)"),
    ],
)
def test_queries(result: horai.Result, query: str, answer: str) -> None:
    assert render(result.bindings(query)) == answer


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("holdsAt(F,T)", "holdsAt needs a time-point"),
        ("holdsAt(F,soon)", "`soon` is not a time-point"),
        ("holdsAt(rich(ann),5)", "write rich\\(ann\\)=true"),
        ("holdsFor(ritch(ann)=true,I)", "did you mean rich/1"),
        ("holdsFor(rich(ann,bob)=true,I)", "did you mean rich/1"),
        ("happensAt(dance(X),T)", "the events of the rules are"),
        ("what(F)", "is not a query"),
        ("holdsAt(F,", "ask holdsAt"),
        ("a :- b", "is not one query"),
        ("a. b.", "is not one query"),
        ("", "there is no query"),
    ],
)
def test_wrong_queries_are_explained(result: horai.Result, query: str, problem: str) -> None:
    with pytest.raises(horai.QueryError, match=problem):
        result.query(query)


def test_from_python(result: horai.Result) -> None:
    assert result.holds_at("rich(ann)=true", 5)
    assert not result.holds_at("rich(_)=true", 8)
    assert result.holds_for("rich(bob)=true") == [(9, float("inf"))]
    with pytest.raises(horai.QueryError, match="has variables"):
        result.holds_for("rich(X)=true")


def test_what_is_no_query_is_refused(result: horai.Result) -> None:
    nothing: Any = None
    for ask in (result.query, result.holds_for):
        with pytest.raises(horai.UsageError, match="a query must be a text"):
            ask(nothing)
    with pytest.raises(horai.UsageError, match="the time must be a whole number"):
        result.holds_at("rich(chris)=true", nothing)


def test_a_run_without_answers_can_be_asked() -> None:
    empty = horai.loads(RULES).run([])
    assert render(empty.bindings("holdsFor(F,I)")) == "false"
    assert not empty.holds_at("rich(ann)=true", 1)


def test_answers_are_plain_values() -> None:
    rules = horai.loads("initiatedAt(at(X)=P, T) :- happensAt(go(X, P, _), T).")
    result = rules.run(["go|5|5|a|pub|3", "go|9|9|a|shop(2)|4"])
    assert result.query("holdsFor(at(X)=P, I)") == [
        {"X": "a", "P": "shop(2)", "I": [(10, math.inf)]},
        {"X": "a", "P": "pub", "I": [(6, 10)]},
    ]
    assert result.query("happensAt(go(a, pub, N), T)") == [{"N": 3, "T": 5}]
    assert result.query("holdsAt(F, 7)") == [{"F": horai.io.TermText("at(a)=pub")}]
