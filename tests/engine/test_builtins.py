"""Built-in predicates on columns against the reference engine row by row."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine.tables import NAMES, Table, flat, lists, reals, small, tables, wholes
from tests.engine.test_matching import answers
from tests.weights import examples

from horai.engine.builtins import call
from horai.engine.columns import constant, ints
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import NoValue, evaluate
from horai.lang.core.terms import Compound, Constant, Int, ListTerm, Term, Var, variables
from horai.lang.ec.builtins import BUILTINS
from horai.lang.ec.errors import Endless
from horai.lang.ec.syntax import Call
from horai.oracle.ec.solver import built_in
from horai.oracle.ec.terms import Env, resolve

numbers: st.SearchStrategy[Term] = st.builds(
    ListTerm, st.lists(wholes | reals, max_size=3).map(tuple)
)
COLUMNS = [lists, numbers, wholes, flat, lists | flat]
LISTED = sorted(key for key, known in BUILTINS.items() if known.solutions)


def expected(name: str, args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """The answers row by row, equal ones once."""
    free = [n for arg in args for n in variables(arg) if n not in table.columns]
    wanted: list[tuple[int, Env]] = []
    for row, env in enumerate(table.envs):
        found: list[Env] = []
        try:
            found.extend(built_in(Call(name, args, Compound(name, args)), env))
        except NoValue:
            found = []
        for one in found:
            answer = (row, {n: resolve(Var(n), one) for n in free})
            if answer not in wanted:
                wanted.append(answer)
    return wanted


def check(name: str, args: tuple[Term, ...], table: Table) -> None:
    found = call(name, args, table.columns, table.rows, table.symbols)
    wanted = expected(name, args, table)
    assert answers(found, table) == wanted


def arguments(name: str, arity: int) -> st.SearchStrategy[tuple[Term, ...]]:
    """Inputs are bound; others may be new variables or forms with new variables in them."""
    bound = st.sampled_from([Var(n) for n in NAMES]) | lists
    open_ = st.sampled_from([Var("V"), Var("W"), Compound("f", (Var("V"),))])
    inputs = BUILTINS[name, arity].inputs
    return st.tuples(*(bound if i in inputs else bound | open_ | flat for i in range(arity)))


@pytest.mark.parametrize(("name", "arity"), LISTED)
@given(st.data(), tables(COLUMNS))
@examples("normal")
def test_builtins_answer_as_in_the_reference(
    name: str, arity: int, data: st.DataObject, table: Table
) -> None:
    check(name, data.draw(arguments(name, arity)), table)


@given(tables(COLUMNS), st.sampled_from([Var("X"), ListTerm((Constant("a"), Int(1)))]))
def test_append_takes_lists_apart(table: Table, whole: Term) -> None:
    check("append", (Var("V"), Var("W"), whole), table)


limits = st.sampled_from(
    [Var("X"), Var("Y"), Int(2), Constant("inf"), Compound("+", (Var("X"), Int(2)))]
)
LIMITS = [wholes, wholes | reals, flat, st.builds(Int, small.map(lambda n: 2**63 + n))]


@given(limits, limits, st.sampled_from([Var("Z"), Var("V"), Int(1), Constant("a")]), tables(LIMITS))
@examples("light")
def test_between_answers_as_in_the_reference(
    low: Term, high: Term, target: Term, table: Table
) -> None:
    args = (low, high, target)
    try:
        wanted = expected_ranges(args, table)
    except Endless as error:
        with pytest.raises(Endless) as caught:
            call("between", args, table.columns, table.rows, table.symbols)
        assert caught.value.problem == error.problem
        return
    found = call("between", args, table.columns, table.rows, table.symbols)
    assert answers(found, table) == wanted


def expected_ranges(args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """Skips ranges that nobody can wait for."""
    for env in table.envs:
        try:
            low, high = evaluate(args[0], env), evaluate(args[1], env)
        except NoValue:
            continue
        assume(high == float("inf") or high - low < 100)
    return expected("between", args, table)


def test_long_ranges_are_listed_at_once() -> None:
    symbols = Symbols()
    columns = {"X": ints([0, 5, 10])}  # type: ignore[arg-type]
    found = call("between", (Var("X"), Int(999_999), Var("Y")), columns, 3, symbols)
    assert len(found.rows) == 1_000_000 + 999_995 + 999_990
    assert found.new["Y"].data[[0, 1_000_000, -1]].tolist() == [0, 5, 999_999]


def test_a_list_in_every_row_is_looked_at_once() -> None:
    symbols = Symbols()
    columns = {"L": constant(ListTerm((Constant("a"), Int(2), Constant("a"))), 2, symbols)}
    found = call("member", (Var("M"), Var("L")), columns, 2, symbols)
    assert found.rows.tolist() == [0, 0, 1, 1]
    assert symbols.terms(found.new["M"].data) == [Constant("a"), Int(2)] * 2
