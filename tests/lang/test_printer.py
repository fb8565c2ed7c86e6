"""What is printed reads back as the same term, with no more brackets and quotes than needed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lang.texts import read_term, show_clause, show_description

from horai.lang.core.printer import INFIX, PREFIX, is_name, show
from horai.lang.core.reader import read_clauses
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import Clause

_WORDS = st.sampled_from(["a", "fooBar", "x1", "été", "mod", "not", "is", "dynamic", "true", "rem"])
_SIGNS = st.sampled_from(sorted([*INFIX, *PREFIX, "!", "{}", "[]", ":-", "|", ".", "%", "'", "\\"]))
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
_NAMES = _WORDS | _SIGNS | _TEXT
_INTS = st.integers(-(2**63), 2**63 - 1)
_FLOATS = st.floats(allow_nan=False, allow_infinity=False)
_VARS = st.sampled_from(["X", "Y1", "_Z", "_#"])
_LEAVES = st.one_of(
    _NAMES.map(Constant),
    _INTS.map(Int),
    _FLOATS.map(Float),
    _TEXT.map(Str),
    _VARS.map(Var),
)


def _lists(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    items = st.lists(inner, max_size=3).map(tuple)
    tails = st.none() | inner.filter(lambda term: not isinstance(term, ListTerm))
    return st.builds(lambda i, t: ListTerm(i, t if i else None), items, tails)


def _compounds(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    args = st.lists(inner, min_size=1, max_size=3).map(tuple)
    pairs = st.tuples(inner, inner)
    return st.one_of(
        st.builds(Compound, _NAMES, args),
        st.builds(Compound, st.sampled_from(sorted(INFIX)), pairs),
        st.builds(Compound, st.sampled_from(sorted(PREFIX)), st.tuples(inner)),
    )


_TERMS = st.recursive(_LEAVES, lambda inner: _lists(inner) | _compounds(inner), max_leaves=12)


def numbered(term: Term, counter: list[int]) -> Term:
    """The term with its anonymous variables numbered as the reader numbers them."""
    match term:
        case Var(name="_#"):
            counter[0] += 1
            return Var(f"_#{counter[0]}")
        case Compound(name=name, args=args):
            return Compound(name, tuple(numbered(arg, counter) for arg in args))
        case ListTerm(items=items, tail=tail):
            new = tuple(numbered(item, counter) for item in items)
            return ListTerm(new, None if tail is None else numbered(tail, counter))
        case _:
            return term


@given(_TERMS)
def test_terms_read_back(raw: Term) -> None:
    term = numbered(raw, [0])
    found, findings = read_term(show(term) + " .")
    assert not findings, (show(term), findings[0].render())
    assert found == term


@given(_TERMS.filter(is_name), st.none() | _TERMS)
def test_clauses_read_back(head: Term, body: Term | None) -> None:
    counter = [0]
    head = numbered(head, counter)
    body = None if body is None else numbered(body, counter)
    text = show_clause(Clause(head, body, (0, 0), SourceText("t", "")))
    found, _, findings = read_clauses(SourceText("t", text), _Everything())
    assert not findings, (text, findings[0].render())
    assert [(clause.head, clause.body) for clause in found] == [(head, body)]


class _Everything:
    def __contains__(self, name: object) -> bool:
        return True


@pytest.mark.parametrize(
    "text",
    [
        "rich(X)=true",
        "'New York'",
        "f(_, -1, 2.5, 'It\\'s', \"s\", [a, b | T])",
        "X-Y-Z",
        "X-(Y-Z)",
        "2*(3+X)",
        "-X",
        "-(-X)",
        "X- -1",
        "-(1)",
        "(-X)^2",
        "-1^2",
        "X= -1",
        "T > 5",
        "X is Y mod 2",
        "\\+ (a, b)",
        "not a",
        "a, b ; c -> d ; e",
        "f((a, b), (c ; d), \\+ e)",
        "p(-)",
        "(-)=a",
        "'hello World'(x)",
        "[]",
        "{a}",
        "é",
        "'É'",
        "'\\n'",
    ],
)
def test_minimal_text(text: str) -> None:
    term, findings = read_term(text)
    assert not findings
    assert term is not None
    assert show(term) == text


def test_clauses_are_laid_out() -> None:
    text = (
        "holdsFor(happy(X)=true, I) :-\n"
        "    holdsFor(rich(X)=true, I1),\n"
        "    (a ; b),\n"
        "    union_all([I1], I).\n"
    )
    description, findings = read_text(text)
    assert not findings
    assert show_description(description) == text


def test_descriptions_read_back() -> None:
    text = (
        "initially(on=false).\n"
        "initiatedAt(on=true, T) :- happensAt(up(X), T), limit(X, L), X > L ; happensAt(go, T).\n"
        "limit(a, 3).\nlimit('b c', 4.5).\nquiet.\n"
    )
    first, findings = read_text(text)
    assert not findings
    again, findings = read_text(show_description(first))
    assert not findings
    assert show_description(again) == show_description(first)
    assert {key: facts.rows for key, facts in again.facts.items()} == {
        key: facts.rows for key, facts in first.facts.items()
    }
