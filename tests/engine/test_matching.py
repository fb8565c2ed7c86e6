"""Terms of columns put together and taken apart, against the reference engine row by row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import Table, flat, nested, tables, variables
from tests.weights import examples

from horai.engine.columns import as_codes, column_of, terms_of
from horai.engine.distinct import Found
from horai.engine.forms import take_apart
from horai.engine.matching import build, match
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, Var
from horai.lang.core.terms import variables as names_of
from horai.oracle.ec import terms as oracle

free: st.SearchStrategy[Term] = st.sampled_from([Var("V"), Var("W")])


def shapes(leaves: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Compound, st.sampled_from(["f", "g"]), st.tuples(inner))
            | st.builds(Compound, st.just("f"), st.tuples(inner, inner))
            | st.builds(ListTerm, st.lists(inner, max_size=2).map(tuple))
            # No text says a list of nothing but its tail.
            | st.builds(
                ListTerm,
                st.lists(inner, min_size=1, max_size=2).map(tuple),
                inner.filter(lambda tail: isinstance(tail, Var | ListTerm)),
            )
        ),
        max_leaves=4,
    )


patterns = shapes(variables | free | flat)
closed = shapes(variables | flat)


def answers(found: Found, table: Table) -> list[tuple[int, dict[str, Term]]]:
    """Each answer as its row and what the new variables stand for."""
    columns = [terms_of(column, table.symbols) for column in found.new.values()]
    rows = found.rows.tolist()
    return [
        (row, {name: column[i] for name, column in zip(found.new, columns, strict=True)})
        for i, row in enumerate(rows)
    ]


def expected_matches(left: Term, right: Term, table: Table) -> list[tuple[int, dict[str, Term]]]:
    unified = [
        (row, oracle.unify(oracle.resolve(left, env), oracle.resolve(right, env), env))
        for row, env in enumerate(table.envs)
    ]
    names = [n for n in {**names_of(left), **names_of(right)} if n not in table.columns]
    return [
        (row, {name: oracle.resolve(Var(name), env) for name in names})
        for row, env in unified
        if env is not None
    ]


@given(closed, tables())
def test_terms_are_built_from_columns(term: Term, table: Table) -> None:
    built = build(term, table.columns, table.rows, table.symbols)
    assert terms_of(built, table.symbols) == [oracle.resolve(term, env) for env in table.envs]


@given(patterns, st.sampled_from(["X", "Y", "Z"]), tables())
@examples("light")
def test_patterns_are_matched(pattern: Term, name: str, table: Table) -> None:
    found = match(pattern, table.columns[name], table.columns, table.symbols)
    assert answers(found, table) == expected_matches(pattern, Var(name), table)


@given(closed, patterns, tables())
@examples("light")
def test_what_is_built_can_be_taken_apart(term: Term, pattern: Term, table: Table) -> None:
    column = build(term, table.columns, table.rows, table.symbols)
    found = match(pattern, column, table.columns, table.symbols)
    assert answers(found, table) == expected_matches(pattern, term, table)


def test_a_pattern_finds_the_parts_of_terms() -> None:
    symbols = Symbols()
    pairs = column_of(
        [
            Compound("p", (Int(1), Constant("a"))),
            Constant("x"),
            Compound("p", (Int(2), Constant("b"))),
        ],
        symbols,
    )
    found = match(Compound("p", (Var("N"), Var("A"))), pairs, {}, symbols)
    assert found.rows.tolist() == [0, 2]
    assert found.new["N"].kind == "int"
    assert found.new["N"].data.tolist() == [1, 2]
    assert terms_of(found.new["A"], symbols) == [Constant("a"), Constant("b")]


@given(patterns, st.lists(st.lists(nested, max_size=4), max_size=4))
def test_forms_learn_from_terms_that_come_later(pattern: Term, blocks: list[list[Term]]) -> None:
    symbols = Symbols()
    for block in blocks:
        column = as_codes(column_of(block, symbols), symbols)
        found = match(pattern, column, {}, symbols)
        again = match(pattern, column, {}, Symbols(symbols))
        fitting = [row for row, term in enumerate(block) if take_apart(pattern, term, {})]
        assert found.rows.tolist() == again.rows.tolist() == fitting
        if found.new:
            built = build(pattern, found.new, len(fitting), symbols)
            assert terms_of(built, symbols) == [block[row] for row in fitting]
