"""Joins of frames with relations, in general and over time, against nested loops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from horai.engine.columns import Column, as_codes, column_of, terms_of
from horai.engine.frames import Frame
from horai.engine.relations import Relation, different, join, joined
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, Var, substitute
from horai.plan.ec.unify import unify

Row = tuple[Term, ...]
Env = dict[str, Term]
VALUES: list[Term] = [
    *(Int(1), Int(2), Float(1.0), Float(-0.0), Float(0.0), Constant("a"), Int(2**63)),
    *(Compound("k", (Int(1),)), Compound("k", (Constant("a"),))),
]
PATTERNS: list[Term] = [
    *(Var("X"), Var("Y"), Var("Z"), Var("New"), Constant("a"), Int(1), Float(0.0)),
    *(Compound("k", (Var("New"),)), Compound("k", (Var("Other"),))),
]


def column(terms: list[Term], coded: bool, symbols: Symbols) -> Column:
    found = column_of(terms, symbols)
    return as_codes(found, symbols) if coded else found


@st.composite
def rows(draw: st.DrawFn, width: int) -> list[Row]:
    """Rows whose columns are of one kind or mixed."""
    kinds = [VALUES[:2], VALUES[2:5], VALUES[5:6], VALUES]
    columns = [draw(st.sampled_from(kinds)) for _ in range(width)]
    row = st.tuples(*(st.sampled_from(values) for values in columns))
    return draw(st.lists(row, max_size=6))


def expected(
    left: list[Env], right: list[Row], patterns: tuple[Term, ...]
) -> list[tuple[int, int]]:
    """Pairs of rows that fit, one by one. A row's own values go before those of the pattern."""
    found = []
    for i, env in enumerate(left):
        asked = [substitute(pattern, env) for pattern in patterns]
        for j, row in enumerate(right):
            bindings: Env | None = {}
            for pattern, value in zip(asked, row, strict=True):
                bindings = None if bindings is None else unify(pattern, value, bindings)
            if bindings is not None:
                found.append((i, j))
    return found


@given(rows(2), rows(3), st.data())
def test_join_is_a_nested_loop(left: list[Row], right: list[Row], data: st.DataObject) -> None:
    symbols = Symbols()
    coded = data.draw(st.booleans())
    patterns = data.draw(st.tuples(*(st.sampled_from(PATTERNS) for _ in range(3))))
    columns = {
        name: column([row[i] for row in left], coded, symbols) for i, name in enumerate("XY")
    }
    frame = Frame(len(left), columns)
    table = Relation(
        tuple(column([row[i] for row in right], False, symbols) for i in range(3)), len(right)
    )
    envs: list[Env] = [dict(zip("XY", row, strict=True)) for row in left]
    found = join(frame, table, patterns, symbols)
    pairs = list(zip(found.left.tolist(), found.source_rows().tolist(), strict=True))
    assert sorted(pairs) == expected(envs, right, patterns)
    extended = found.to_frame(lambda _: True)
    for name in ("New", "Z"):
        if name in extended.columns and extended.rows:
            wanted = [_value(name, patterns, right[j]) for _, j in pairs]
            assert terms_of(extended.columns[name], symbols) == wanted


def _value(name: str, patterns: tuple[Term, ...], row: Row) -> Term | None:
    for pattern, value in zip(patterns, row, strict=True):
        if pattern == Var(name):
            return value
        if isinstance(pattern, Compound) and pattern.args == (Var(name),):
            assert isinstance(value, Compound)
            return value.args[0]
    return None


@given(rows(2), rows(2))
def test_relations_one_below_the_other(one: list[Row], other: list[Row]) -> None:
    symbols = Symbols()
    parts = [
        Relation(
            tuple(column([row[i] for row in part], False, symbols) for i in range(2)), len(part)
        )
        for part in (one, other)
    ]
    whole = joined(parts, symbols)
    listed = [terms_of(c, symbols) for c in whole.columns]
    assert list(zip(*listed, strict=True)) == [*one, *other]
    once = different(whole, symbols)
    listed = [terms_of(c, symbols) for c in once.columns]
    assert list(zip(*listed, strict=True)) == list(dict.fromkeys([*one, *other]))
