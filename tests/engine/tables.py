"""Random columns, and what the reference engine says of each of their rows."""

from __future__ import annotations

from hypothesis import strategies as st

from horai.engine.columns import Column, as_codes, column_of, terms_of
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.oracle.ec.terms import Env

NAMES = ("X", "Y", "Z")

small = st.integers(-4, 4)
huge = st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2**61, 2**62, -(2**63), 2**63 - 1])
beyond = st.sampled_from([2**64, -(2**64) - 1, 10**30, 10**400])
wholes: st.SearchStrategy[Term] = st.builds(Int, small)
reals: st.SearchStrategy[Term] = st.builds(
    Float,
    st.sampled_from([0.0, -0.0, 0.5, 1.0, -1.0, 2.0, 2.5, -2.5, 1e15, 9007199254740992.0, 1e300])
    | st.floats(-10, 10, allow_nan=False),
)
atoms: st.SearchStrategy[Term] = st.sampled_from(
    [Constant("a"), Constant("b"), Constant("inf"), Constant("pi"), Constant("[]"), Str("a")]
)
flat: st.SearchStrategy[Term] = wholes | reals | atoms
nested: st.SearchStrategy[Term] = st.recursive(
    flat,
    lambda inner: (
        st.builds(Compound, st.sampled_from(["f", "g", "+"]), st.tuples(inner))
        | st.builds(Compound, st.sampled_from(["f", "-"]), st.tuples(inner, inner))
        | st.builds(ListTerm, st.lists(inner, max_size=3).map(tuple))
    ),
    max_leaves=4,
)
lists: st.SearchStrategy[Term] = st.builds(ListTerm, st.lists(flat, max_size=4).map(tuple))

# What the terms of one column are taken from.
KINDS: list[st.SearchStrategy[Term]] = [
    wholes,
    reals,
    st.builds(Int, small | huge),
    st.builds(Int, small | beyond),
    wholes | reals,
    nested,
    wholes | lists,
    atoms,
]
NUMBERS = KINDS[:5]


class Table:
    """Columns and the environment of each row."""

    def __init__(self, rows: list[tuple[Term, ...]], coded: tuple[bool, ...]) -> None:
        self.symbols = Symbols()
        self.rows = len(rows)
        self.columns: dict[str, Column] = {}
        for i, name in enumerate(NAMES):
            column = column_of([row[i] for row in rows], self.symbols)
            self.columns[name] = as_codes(column, self.symbols) if coded[i] else column
        listed = [terms_of(column, self.symbols) for column in self.columns.values()]
        self.envs: list[Env] = [
            dict(zip(NAMES, row, strict=True)) for row in zip(*listed, strict=True)
        ]

    def __repr__(self) -> str:
        kinds = [column.kind for column in self.columns.values()]
        return f"Table({kinds}, {self.envs})"


@st.composite
def tables(draw: st.DrawFn, kinds: list[st.SearchStrategy[Term]] = KINDS) -> Table:
    chosen = [kinds[draw(st.integers(0, len(kinds) - 1))] for _ in NAMES]
    rows = draw(st.lists(st.tuples(*chosen), max_size=6))
    return Table(rows, draw(st.tuples(st.booleans(), st.booleans(), st.booleans())))


variables: st.SearchStrategy[Term] = st.sampled_from([Var(name) for name in NAMES])
