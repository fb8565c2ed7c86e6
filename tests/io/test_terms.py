"""Fields, terms and their source text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.io.terms import Term, TermText, from_source, quote_atom, read_field, to_source

# Anything but half a surrogate pair, which is no character and cannot be written.
texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("12", 12),
        ("-12", -12),
        ("007", 7),
        ("-0", 0),
        ("3.50", 3.5),
        ("-3.5", -3.5),
        ("9223372036854775808", 2**63),
        ("1e3", "1e3"),
        ("+5", "+5"),
        ("1_000", "1_000"),
        (".5", ".5"),
        ("5.", "5."),
        ("0x1F", "0x1F"),
        ("1-2", "1-2"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("-", "-"),
        ("", ""),
        ("٣", "٣"),
        ("a,b", "a,b"),
        ("New York", "New York"),
        ("Xavier", "Xavier"),
        ("9" * 400 + ".0", "9" * 400 + ".0"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_field_is_a_plain_number_or_an_atom(text: str, term: Term) -> None:
    found = read_field(text)
    assert (type(found), found) == (type(term), term)


@pytest.mark.parametrize(
    ("atom", "source"),
    [
        ("chris", "chris"),
        ("goTo_2", "goTo_2"),
        ("-", "-"),
        ("=..", "=.."),
        (".", "'.'"),
        ("/*", "'/*'"),
        ("[]", "'[]'"),
        ("", "''"),
        ("12", "'12'"),
        ("Bob", "'Bob'"),
        ("_", "'_'"),
        ("é", "'é'"),
        ("a b", "'a b'"),
        ("it's", r"'it\'s'"),
        ("a\\b", r"'a\\b'"),
        ("a\nb\x01", r"'a\nb\x1\'"),
    ],
)
def test_atoms_are_quoted_where_prolog_needs_it(atom: str, source: str) -> None:
    assert quote_atom(atom) == source
    assert from_source(source) == atom


def test_doubled_quotes_inside_a_quoted_atom_are_read() -> None:
    assert from_source("'it''s'") == "it's"


@pytest.mark.parametrize("source", [r"'\xffffff\'", r"'\xd800\'"])
def test_an_impossible_character_code_stays_as_it_is(source: str) -> None:
    assert from_source(source) == source[1:-1]


@given(texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_source_text_is_read_back(term: Term) -> None:
    found = from_source(to_source(term))
    assert (type(found), found) == (type(term), term)


def test_term_text_differs_from_the_atom_with_the_same_letters() -> None:
    text = TermText("f(x)")
    assert text == TermText("f(x)")
    assert text != "f(x)"
    assert len({text, "f(x)", TermText("f(x)")}) == 2
    assert to_source(text) == "f(x)"
    assert from_source("f(x)") == text
