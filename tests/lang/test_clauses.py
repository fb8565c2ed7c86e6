"""Cutting texts into clauses: comments, quotes, full stops, directives, plain facts."""

from __future__ import annotations

import pytest
from tests.lang.texts import show_clause

from horai.lang.core.reader import read_clauses
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Constant, Float, Int
from horai.lang.ec.syntax import Clause


def clauses(text: str) -> list[Clause]:
    found, _, findings = read_clauses(SourceText("t", text))
    assert not findings, findings[0].render()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "p(X) :- q(X).",
        "p(X):-q(X).",
        "  p(X) :-\n\tq(X)\n\t.\n",
        "p(X) :- q(X).%end",
        "/* first */ p(X) /* . */ :- % a full stop. here\n q(X). /* p :- q. */",
        "p(X) :-\r\n  q(X).\r\n",
        "%% p :- q\np(X) :- q(X) .",
        "p(X) :- q(X).\n% no line end after this comment.",
        'p(X) :- q(X).\n/* it\'s "quoted" . */',
    ],
)
def test_one_clause_whatever_stands_around_it(text: str) -> None:
    assert [show_clause(clause) for clause in clauses(text)] == ["p(X) :-\n    q(X)."]


def test_full_stops_inside_quotes_and_numbers_end_nothing() -> None:
    first = "p(X) :- q('a. b', \"c. d\", 0'., 1.5, X)."
    found = clauses(first + "\nr(X) :- s(X).")
    assert len(found) == 2
    assert found[0].span == (0, len(first))


def test_a_clause_knows_its_place() -> None:
    text = "% first\np(X) :- q(X).\n\n  r(X) :- s(X)."
    spans = [clause.span for clause in clauses(text)]
    assert [text[start:end] for start, end in spans] == ["p(X) :- q(X).", "r(X) :- s(X)."]


def test_ground_facts_are_kept_apart_by_predicate() -> None:
    text = "p(a). p(b).\nq(1, 'x y').\nq(\n 2.5, c ).\nr.\np(X) :- s(X).\nlist([1,2])."
    found, facts, findings = read_clauses(SourceText("t", text))
    assert not findings
    assert len(found) == 1
    assert facts[("p", 1)].rows == [(Constant("a"),), (Constant("b"),)]
    assert facts[("q", 2)].rows == [(Int(1), Constant("x y")), (Float(2.5), Constant("c"))]
    assert facts[("r", 0)].rows == [()]
    assert len(facts[("list", 1)].rows) == 1
    places = [source.position(start) for source, start in facts[("p", 1)].places]
    assert places == [(1, 1), (1, 7)]
    assert [source.position(start) for source, start in facts[("r", 0)].places] == [(5, 1)]


@pytest.mark.parametrize(
    "text",
    [
        "initially(on=true).",
        "grounding(up).",
        "collectIntervals(near=true).",
        "fi(on=true, on=false, 4).",
        "p(on=true).",
        "mine(on=true).",
        "happensAt(up, 5).",
        "event(up).",
        "p(X).",
        "p(a, _).",
    ],
)
def test_special_and_open_facts_stay_clauses(text: str) -> None:
    found, facts, findings = read_clauses(SourceText("t", text))
    assert (len(found), len(facts), findings) == (1, 0, [])


@pytest.mark.parametrize(
    "text",
    [
        ":- dynamic p/1.",
        ":- dynamic p/1, q/2.",
        ":- dynamic(p/1).",
        ":- discontiguous p/1, q/2.",
        ":- multifile p/1.",
        ":- use_module(library(lists)).",
        ":- ensure_loaded(library(lists)).",
        ":- set_prolog_flag(double_quotes, atom).",
        ":- style_check(-singleton).",
    ],
)
def test_harmless_directives_are_passed_over(text: str) -> None:
    assert clauses(text) == []


def test_an_empty_text_has_no_clauses() -> None:
    for text in ("", "\n\n", "% only a comment", "/* only */"):
        assert clauses(text) == []
