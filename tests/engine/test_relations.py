"""Relations one below the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from horai.engine.columns import column_of, terms_of
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, Term

Row = tuple[Term, ...]
VALUES: list[Term] = [
    *(Int(1), Int(2), Float(1.0), Float(-0.0), Float(0.0), Constant("a"), Int(2**63)),
    *(Compound("k", (Int(1),)), Compound("k", (Constant("a"),))),
]


@st.composite
def rows(draw: st.DrawFn, width: int) -> list[Row]:
    """Rows whose columns are of one kind or mixed."""
    kinds = [VALUES[:2], VALUES[2:5], VALUES[5:6], VALUES]
    columns = [draw(st.sampled_from(kinds)) for _ in range(width)]
    row = st.tuples(*(st.sampled_from(values) for values in columns))
    return draw(st.lists(row, max_size=6))


@given(rows(2), rows(2))
def test_relations_one_below_the_other(one: list[Row], other: list[Row]) -> None:
    symbols = Symbols()
    parts = [
        Relation(tuple(column_of([row[i] for row in part], symbols) for i in range(2)), len(part))
        for part in (one, other)
    ]
    whole = joined(parts, symbols)
    listed = [terms_of(c, symbols) for c in whole.columns]
    assert list(zip(*listed, strict=True)) == [*one, *other]
