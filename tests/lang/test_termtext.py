"""Terms on their own: what one is, and that it reads what the stream readers write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.weights import examples

from horai.io.terms import to_source
from horai.lang.core.reader import NotATerm, read_term
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Term


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("chris", Constant("chris")),
        (" 'New York' ", Constant("New York")),
        ("-3", Int(-3)),
        ("1.0e+22", Float(1e22)),
        ("close(c, 1)", Compound("close", (Constant("c"), Int(1)))),
        ("[]", ListTerm(())),
        ("not", Constant("not")),
        (":-", Constant(":-")),
    ],
)
def test_a_term_is_read(text: str, term: Term) -> None:
    assert read_term(text) == term


@pytest.mark.parametrize("text", ["", "f(", "a :- b", "a. b", "f(a) % why", ",", "'a", r"'\q'"])
def test_what_is_not_exactly_one_term_is_refused(text: str) -> None:
    with pytest.raises(NotATerm, match="is not a term"):
        read_term(text)


@examples("normal")
@given(st.text(st.characters(codec="utf-8")))
def test_every_atom_that_is_written_as_source_is_read_back(name: str) -> None:
    assert read_term(to_source(name)) == Constant(name)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_that_is_written_as_source_is_read_back(number: int | float) -> None:
    expected = Int(number) if isinstance(number, int) else Float(number)
    assert read_term(to_source(number)) == expected
