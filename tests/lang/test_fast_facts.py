"""The fast path for plain facts gives exactly what the grammar gives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from horai.lang.core.reader import FactReader, FactsByPredicate, read_clauses
from horai.lang.core.source import SourceText
from horai.lang.ec.syntax import Facts

_ARGUMENTS = [
    *("a", "bC_1", "été", "x9", "mod", "is", "not", "e", "inf", "true", "[]", "-", "X", "_"),
    *("0", "7", "-7", "007", "1.5", "-0.25", "1.50", "1e3", "1.5e3", "0'a", "0x1F", "1_000"),
    *("123456789012345678", "1234567890123456789", "12345678901234567890", "1.", ".5"),
    *("'a b'", "''", "'It''s'", r"'a\nb'", "'a,b'", "'a)b'", "'a. b'", "'%'", "'/*'", '"s"'),
    *("f(a)", "[a, b]", "a=b", "(a)", "a+1", "- 1", "'a'b", "a b", "4ca1fa"),
]
_NAMES = ["p", "speed", "p1", "fooBar", "not", "is", "initially", "event", "P", "'q r'", "é"]


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts: list[str] = []
    for _ in range(draw(st.integers(1, 6))):
        name = draw(st.sampled_from(_NAMES))
        args = draw(st.lists(st.sampled_from(_ARGUMENTS), min_size=1, max_size=4))
        comma = draw(st.sampled_from([",", ", ", " ,\t", ",\n", ",,", ", % c\n"]))
        opening = draw(st.sampled_from(["(", "( ", " ("]))
        closing = draw(st.sampled_from([").", ") .", " ).", ")", ")..", ").%x\n", ".", ") :- q."]))
        gap = draw(st.sampled_from(["\n", " ", "\r\n", "", "\n% c\n", "/* x */", "\n\n"]))
        parts.append(name + opening + comma.join(args) + closing + gap)
    return "".join(parts)


@given(texts())
def test_fast_path_and_grammar_agree(text: str) -> None:
    source = SourceText("t", text)
    assert read_clauses(source) == read_clauses(source, fast=False)


def test_the_fast_path_takes_plain_facts() -> None:
    text = "speed(v1, 10, 2.5).\n speed( 'v 2' ,-3, x ) .\nspeed(v3, 1, 2.0).% c\nrule(X) :- p."
    facts: FactsByPredicate = {}
    end = FactReader(SourceText("t", text), frozenset(), facts).read_run(0)
    assert {key: len(found.rows) for key, found in facts.items()} == {("speed", 3): 3}
    assert text[end:] == "% c\nrule(X) :- p."


def test_equal_arguments_share_one_term() -> None:
    facts = read_clauses(SourceText("t", "p(a, a).\np(a, 1)."))[1][("p", 2)]
    assert isinstance(facts, Facts)
    assert facts.rows[0][0] is facts.rows[0][1] is facts.rows[1][0]
