"""Whatever the text, the reader answers with findings, never with an exception."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lang.texts import show_description
from tests.weights import examples

from horai.lang.core.diagnostics import has_errors
from horai.lang.ec.reader import read_files, read_text

RULES = """\
initially(status(_M)=null).
initiatedAt(status(M)=proposed, T) :-
    happensAt(propose(_P, M), T), holdsAt(status(M)=null, T), \\+ holdsAt(off(M)=true, T).
terminatedAt(status(M)=_O, T) :- happensAt(start(status(M)=proposed), T), (T > 5 -> true ; fail).
fi(status(M)=voting, status(M)=voted, R) :- delay(M, R).
p(status(_)=voting).
holdsFor(happy(X)=true, I) :- /* both */ holdsFor(rich(X)=true, I1),
    holdsFor(location(X)='The Pub', I2), union_all([I1,I2], J), intDurGreater(J, 60, I).
happensAt(alarm(X), T) :- findall(V, holdsAt(voted(V,X)=aye, T), L), length(L, N), N >= 3.
grounding(status(M)=V) :- motion(M), member(V, [null, proposed]). % all of them
:- dynamic motion/1.
motion("x y").  delay(m1, 10).  speed(v1, -3.5).  near(A, B) :- d(A, B, D), D =< 2 * 3 - 1.
"""
_PIECES = st.sampled_from(
    [
        *("initiatedAt(", "holdsFor(", "happensAt(", "p(", "q", "X", "_", "f=true", "T", "'a b'"),
        *("(", ")", "[", "]", "{", "}", ",", ".", ". ", ".\n", ":-", "|", ";", "->", "\\+", "not "),
        *("=", "<", "=<", "<=", "!=", "&&", ":", "<-", "-", "+", "*", "/", "**", "^", "is", "mod"),
        *("'", '"', "`", "/*", "*/", "%", "\n", "\t", " ", "0'", "1", "1.5", "1e", "0x", "9" * 25),
        *("\0", "\ufeff", "é", "‘", "\\", "!", "dynamic ", "é(", "\u2028", "\r", "union_all("),
    ]
)
_TEXTS = st.text(max_size=60) | st.lists(_PIECES, max_size=40).map("".join)


@st.composite
def broken_rules(draw: st.DrawFn) -> str:
    """Good rules with a few places cut out, doubled or overwritten."""
    text = RULES
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        kind = draw(st.sampled_from(["cut", "double", "insert"]))
        if kind == "cut":
            text = text[:start] + text[end:]
        elif kind == "double":
            text = text[:end] + text[start:]
        else:
            text = text[:start] + draw(_PIECES) + text[end:]
    return text


def read_and_check(text: str) -> None:
    description, findings = read_text(text)
    for finding in findings:
        assert finding.render()
        assert finding.as_json()
        assert finding.span is not None
        assert 0 <= finding.span[0] <= finding.span[1] <= len(text)
    if not has_errors(findings):
        again, more = read_text(show_description(description))
        assert not has_errors(more), (text, show_description(description))
        assert len(again.rules) == len(description.rules)


def test_the_rules_are_good() -> None:
    assert read_text(RULES)[1] == []


@given(_TEXTS)
def test_any_text(text: str) -> None:
    read_and_check(text)


@given(broken_rules())
def test_broken_rules(text: str) -> None:
    read_and_check(text)


@given(st.binary(max_size=200))
def test_any_bytes(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.ec"
        path.write_bytes(content)
        for finding in read_files([path])[1]:
            assert finding.render()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "[" * 20_000 + "]" * 20_000 + ".",
        "p(" + "- " * 20_000 + "a).",
        "p :- " + "\\+ " * 10_000 + "a.",
        "p :- " + "a ; " * 10_000 + "a.",
        "p :- " + "(a -> b ; " * 5_000 + "c" + ")" * 5_000 + ".",
        "p :- X = " + "a + " * 10_000 + "b.",
        "'" * 100_001,
        "/*" * 50_000,
        "." * 50_000,
        "a" * 1_000_000,
        "a\n" * 8_000,
        "p('" + "\\" * 99_999 + "').",
        "'john's\n" * 5_000,
        "p(a) q(b) " * 2_000,
        ", " * 20_000 + ".",
        "%" * 100_000,
        " " * 1_000_000,
        "1" * 100_000 + ".",
    ],
    ids=lambda text: str(text)[:12],
)
def test_extremes_are_answered(text: str) -> None:
    read_and_check(text)


@pytest.mark.slow
@examples("normal")
@given(broken_rules() | _TEXTS)
def test_for_a_minute(text: str) -> None:
    read_and_check(text)
