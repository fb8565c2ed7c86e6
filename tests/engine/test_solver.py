"""The solver of background rules and questions, operator by operator, against the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine.tables import (
    NAMES,
    NUMBERS,
    Table,
    flat,
    lists,
    reals,
    small,
    tables,
    variables,
    wholes,
)
from tests.weights import examples

import horai
from horai.engine.core.solver import Solver
from horai.engine.core.solver import Table as Known
from horai.engine.core.words import Words
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import (
    BINARY,
    UNARY,
    NoValue,
    evaluate,
    largest,
    number_term,
    order_key,
    smallest,
    sorted_bag,
    sorted_set,
    total,
)
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Term,
    Var,
    parameter_count,
    to_python,
    to_term,
)
from horai.lang.core.terms import variables as names_of
from horai.lang.ec.builtins import BUILTINS
from horai.lang.ec.errors import Endless, PredicateFailed
from horai.lang.ec.syntax import Call, Compare, Is
from horai.oracle.ec import terms as oracle
from horai.oracle.ec.solver import built_in
from horai.oracle.ec.terms import Env, resolve, unify
from horai.plan import operators as op

X, Y, Z, V, W = (Var(name) for name in "XYZVW")
Answers = list[tuple[int, Env]]


class Nothing:
    """Relations without rows."""

    def table(self, key: op.Key) -> Known:
        return Known()

    stated = table


def solver(**python: Callable[..., object]) -> Solver:
    return Solver(Words(Symbols()), Nothing(), op.Procedures(), python)


def solved(step: op.Operator, envs: Sequence[Env], **python: Callable[..., object]) -> Answers:
    """The answers of an operator: the place of each environment, and what new variables are."""
    one = solver(**python)
    names = tuple(envs[0]) if envs else NAMES
    rows = [(*(one.words.word(env[name]) for name in names), at) for at, env in enumerate(envs)]
    run, layout = one.step(step, (*names, "@"), frozenset(names_of(step.term)))
    new = layout[len(names) + 1 :]
    return [
        (
            row[len(names)],
            {name: one.words.term(word) for name, word in zip(new, row[-len(new) :], strict=True)}
            if new
            else {},
        )
        for row in run(rows)
    ]


# --- arithmetic ----------------------------------------------------------------------------------

constants: st.SearchStrategy[Term] = st.sampled_from(
    [Int(0), Int(2), Int(-3), Int(2**62), Int(10**20), Float(0.5), Float(-0.0), Constant("inf")]
)
expressions = st.recursive(
    variables | constants,
    lambda inner: (
        st.builds(Compound, st.sampled_from(sorted(UNARY)), st.tuples(inner))
        | st.builds(Compound, st.sampled_from(sorted(BINARY)), st.tuples(inner, inner))
    ),
    max_leaves=4,
)


def value(expression: Term, env: Env) -> Term | None:
    try:
        return number_term(evaluate(expression, env))
    except NoValue:
        return None


def computed(expression: Term, envs: Sequence[Env]) -> dict[int, Term]:
    """The value of an expression for each environment for which it has one."""
    step = op.Extend(Is(V, expression, Compound("is", (V, expression))), Compound("is", (V,)))
    return {at: found["V"] for at, found in solved(step, envs)}


def check_value(expression: Term, table: Table) -> None:
    wanted = {at: value(expression, env) for at, env in enumerate(table.envs)}
    found = computed(expression, table.envs)
    assert found == {at: term for at, term in wanted.items() if term is not None}


@given(expressions, tables())
@examples("light")
def test_expressions_have_the_value_of_their_definition(expression: Term, table: Table) -> None:
    check_value(expression, table)


@pytest.mark.parametrize("name", sorted(BINARY))
@given(tables(NUMBERS))
@examples("normal")
def test_each_operation_of_two_numbers(name: str, table: Table) -> None:
    check_value(Compound(name, (Var("X"), Var("Y"))), table)


@pytest.mark.parametrize("name", sorted(UNARY))
@given(tables(NUMBERS))
@examples("normal")
def test_each_operation_of_one_number(name: str, table: Table) -> None:
    check_value(Compound(name, (Var("X"),)), table)


def test_division_that_goes_evenly_in_some_rows_only() -> None:
    halves = computed(Compound("/", (X, Int(2))), [{"X": Int(n)} for n in (4, 5, -6)])
    assert halves == {0: Int(2), 1: Float(2.5), 2: Int(-3)}
    assert computed(Compound("/", (Int(1), X)), [{"X": Int(0)}, {"X": Int(1)}]) == {1: Int(1)}


def test_an_expression_without_variables_has_its_value_in_every_row() -> None:
    found = computed(Compound("*", (Int(2), Constant("pi"))), [{}, {}])
    assert found == {0: Float(2 * math.pi), 1: Float(2 * math.pi)}


# --- aggregates ----------------------------------------------------------------------------------

KINDS = ["count", "sum", "max", "min", "bag", "set", "list"]


def whole(kind: str, values: list[Term]) -> Term | None:
    """As in the reference engine; None where the condition fails."""
    try:
        match kind:
            case "count":
                return Int(len(values))
            case "bag" | "list":
                return ListTerm(sorted_bag(values))
            case "set":
                return ListTerm(sorted_set(values))
            case "sum":
                return number_term(total(evaluate(value, {}) for value in values))
        pick = largest if kind == "max" else smallest
        return number_term(pick([evaluate(value, {}) for value in values])) if values else None
    except NoValue:
        return None


def aggregated(kind: Any, template: Term | None, values: Sequence[Term]) -> Term | None:
    """What an aggregate makes of values of X."""
    one, term = solver(), template or Constant("x")
    step = op.AggregateOp(kind, template, op.Chain(), frozenset("X"), V, Compound("a", (term,)))
    word = one.totals(step, ("X",))([(one.words.word(value),) for value in values])
    return None if word is None else one.words.term(word)


@pytest.mark.parametrize("kind", KINDS)
@given(tables())
@examples("normal")
def test_aggregates_of_any_terms(kind: str, table: Table) -> None:
    values = [env["X"] for env in table.envs]
    assert aggregated(kind, X, values) == whole(kind, values)


@pytest.mark.parametrize("kind", ["sum", "max", "min"])
@given(tables([*NUMBERS, flat]))
@examples("normal")
def test_aggregates_of_numbers(kind: str, table: Table) -> None:
    values = [env["X"] for env in table.envs]
    assert aggregated(kind, X, values) == whole(kind, values)


def test_sums_of_decimals_are_rounded_once() -> None:
    assert aggregated("sum", X, [Float(n) for n in (1e16, 1.0, -1e16)]) == Float(1.0)
    assert aggregated("sum", X, []) == Int(0)


def test_one_solution_without_a_value_leaves_no_sum() -> None:
    assert aggregated("sum", X, [Int(1), Constant("a")]) is None


def test_a_template_may_be_an_expression() -> None:
    double = Compound("*", (Int(2), X))
    numbers = [Int(1), Int(2), Int(3)]
    assert aggregated("sum", double, numbers) == Int(12)
    listed = tuple(Compound("*", (Int(2), number)) for number in numbers)
    assert aggregated("bag", double, numbers) == ListTerm(listed)


# --- patterns and comparisons --------------------------------------------------------------------

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


def expected_matches(left: Term, right: Term, table: Table) -> Answers:
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


@given(patterns, st.sampled_from(NAMES), tables())
@examples("light")
def test_patterns_are_matched(pattern: Term, name: str, table: Table) -> None:
    step = op.Unify(pattern, Var(name), Compound("=", (pattern, Var(name))))
    assert solved(step, table.envs) == expected_matches(pattern, Var(name), table)


@given(closed, patterns, tables())
@examples("light")
def test_what_is_built_can_be_taken_apart(term: Term, pattern: Term, table: Table) -> None:
    step = op.Unify(pattern, term, Compound("=", (pattern, term)))
    assert solved(step, table.envs) == expected_matches(pattern, term, table)


def holds(op: str, left: Term, right: Term, env: dict[str, Term]) -> bool:
    """By the definition, for one row."""
    a, b = oracle.resolve(left, env), oracle.resolve(right, env)
    match op:
        case "\\=":
            return oracle.unify(a, b, {}) is None
        case "\\==":
            return a != b
        case "==":
            return a == b
    ours: Any
    theirs: Any
    try:
        ours, theirs = map(order_key, (a, b)) if "@" in op else (evaluate(t, {}) for t in (a, b))
    except NoValue:
        return False
    match op.removeprefix("@"):
        case "<":
            return bool(ours < theirs)
        case ">":
            return bool(ours > theirs)
        case "=<":
            return bool(ours <= theirs)
        case ">=":
            return bool(ours >= theirs)
        case "=:=":
            return bool(ours == theirs)
        case _:
            return bool(ours != theirs)


OPS = ["<", ">", "=<", ">=", "=:=", "=\\=", "==", "\\==", "@<", "@>", "@=<", "@>=", "\\="]
sums = st.builds(
    lambda a, b: Compound("-", (a, b)), variables, variables | st.builds(Int, st.just(2))
)


def compared(sign: str, left: Term, right: Term, table: Table) -> list[bool]:
    step = op.Filter(Compare(sign, left, right, Compound(sign, (left, right))), Constant("c"))
    found = {at for at, _ in solved(step, table.envs)}
    return [at in found for at in range(table.rows)]


@pytest.mark.parametrize("sign", OPS)
@given(variables | sums | closed, variables | sums | closed, tables())
@examples("normal")
def test_comparisons_hold_where_they_do_in_the_reference(
    sign: str, left: Term, right: Term, table: Table
) -> None:
    wanted = [holds(sign, left, right, env) for env in table.envs]
    assert compared(sign, left, right, table) == wanted


@given(patterns, patterns, tables())
@examples("light")
def test_variables_without_a_value_may_be_anything(left: Term, right: Term, table: Table) -> None:
    wanted = [holds("\\=", left, right, env) for env in table.envs]
    assert compared("\\=", left, right, table) == wanted


# --- built-in predicates -------------------------------------------------------------------------

numbers: st.SearchStrategy[Term] = st.builds(
    ListTerm, st.lists(wholes | reals, max_size=3).map(tuple)
)
COLUMNS = [lists, numbers, wholes, flat, lists | flat]
LISTED = sorted(key for key, known in BUILTINS.items() if known.solutions)


def built(name: str, args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """The answers row by row, equal ones once."""
    free = [n for arg in args for n in names_of(arg) if n not in table.columns]
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
    assert solved(_call(name, args), table.envs) == built(name, args, table)


def _call(name: str, args: tuple[Term, ...]) -> op.BuiltinOp:
    goal = Compound(name, args)
    return op.BuiltinOp(Call(name, args, goal), goal)


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
            solved(_call("between", args), table.envs)
        assert caught.value.problem == error.problem
        return
    assert solved(_call("between", args), table.envs) == wanted


def expected_ranges(args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """Skips ranges that nobody can wait for."""
    for env in table.envs:
        try:
            low, high = evaluate(args[0], env), evaluate(args[1], env)
        except NoValue:
            continue
        assume(high == float("inf") or high - low < 100)
    return built("between", args, table)


# --- Python predicates ---------------------------------------------------------------------------


def alike(a: object, b: object) -> bool:
    return type(a) is type(b)


def pair(a: object, b: object) -> object:
    return [a, b] if isinstance(a, int | str) else None


def shown(a: object) -> str:
    return str(type(a).__name__)


def constant_answer() -> bool:
    return True


def predicted(function: Any, args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """As in the reference engine."""
    free = [name for name in names_of(Compound("_", args)) if name not in table.columns]
    wanted: list[tuple[int, Env]] = []
    for row, env in enumerate(table.envs):
        values = [to_python(resolve(arg, env)) for arg in args]
        tests = parameter_count(function) == len(values)
        result = function(*values) if tests else function(*values[:-1])
        found = env if tests and result else None
        if not tests and result is not None:
            found = unify(args[-1], to_term(result), env)
        if found is not None:
            wanted.append((row, {name: resolve(Var(name), found) for name in free}))
    return wanted


CALLS: list[tuple[Any, tuple[Term, ...]]] = [
    (alike, (X, Y)),
    (alike, (X, Compound("f", (Y,)))),
    (pair, (X, Y, V)),
    (pair, (X, Y, Z)),
    (pair, (X, Int(1), ListTerm((V, W)))),
    (pair, (X, Y, ListTerm((Y, W)))),
    (shown, (X, V)),
    (shown, (X, Constant("int"))),
    (constant_answer, (V,)),
]


def asked_of(function: Any, args: tuple[Term, ...], envs: Sequence[Env]) -> Answers:
    goal = Compound("p", args)
    return solved(op.Python(Call("p", args, goal), goal), envs, p=function)


@given(st.sampled_from(CALLS), tables())
@examples("light")
def test_answers_are_those_of_the_reference(
    asked: tuple[Any, tuple[Term, ...]], table: Table
) -> None:
    function, args = asked
    assert asked_of(function, args, table.envs) == predicted(function, args, table)


def test_a_function_is_asked_once_for_each_distinct_row() -> None:
    asked: list[object] = []

    def seen(x: object) -> bool:
        asked.append(x)
        return x == 2

    found = asked_of(seen, (X,), [{"X": Int(n)} for n in (1, 2, 1, 2)])
    assert [row for row, _ in found] == [1, 3]
    assert asked == [1, 2]


@pytest.mark.parametrize("at_once", [False, True])
def test_errors_name_the_predicate(at_once: bool) -> None:
    def broken(x: object) -> bool:
        raise KeyError("no")

    function = horai.vectorised(broken) if at_once else broken
    with pytest.raises(PredicateFailed) as caught:
        asked_of(function, (X,), [{"X": Int(1)}])
    assert str(caught.value) == "the Python predicate p failed: 'no'"


def test_what_is_no_term_is_an_error() -> None:
    def strange(x: object) -> object:
        return {1}

    with pytest.raises(PredicateFailed, match=r"returned \{1\}, which is no term"):
        asked_of(strange, (X, Y), [{"X": Int(1)}])


@horai.vectorised
def far(x: Any, y: Any) -> Any:
    return np.hypot(x, y) > 100


@horai.vectorised
def half(x: Any) -> Any:
    return np.where(x > 0, x / 2, np.nan)


@horai.vectorised
def named(x: Any) -> Any:
    return [None if name == "b" else f"{name}!" for name in x]


def test_a_vectorised_test_gets_arrays_and_returns_a_mask() -> None:
    envs: list[Env] = [{"X": Float(3.0), "Y": Int(4)}, {"X": Float(90.0), "Y": Int(80)}]
    assert asked_of(far, (X, Y), envs) == [(1, {})]


def test_a_vectorised_function_returns_values_and_none_where_there_is_nan() -> None:
    assert asked_of(half, (X, V), [{"X": Int(3)}, {"X": Int(-1)}]) == [(0, {"V": Float(1.5)})]


def test_a_vectorised_function_is_called_once() -> None:
    calls: list[list[int]] = []

    @horai.vectorised
    def noted(x: Any) -> Any:
        calls.append(x.tolist())
        return x > 1

    found = asked_of(noted, (X,), [{"X": Int(n)} for n in (1, 2, 1, 3)])
    assert [row for row, _ in found] == [1, 3]
    assert calls == [[1, 2, 3]]


def test_atoms_come_as_strings_and_none_is_no_answer() -> None:
    envs: list[Env] = [{"X": Constant("a")}, {"X": Constant("b")}]
    assert asked_of(named, (X, V), envs) == [(0, {"V": Constant("a!")})]


@pytest.mark.parametrize(
    ("answer", "term"),
    [(np.array([True]), Constant("true")), (np.array([7]), Int(7)), (np.array([0.5]), Float(0.5))],
)
def test_arrays_of_each_kind_become_terms(answer: Any, term: Term) -> None:
    function = horai.vectorised(lambda x: answer)
    assert asked_of(function, (X, V), [{"X": Int(1)}]) == [(0, {"V": term})]
    assert to_term(function(1)) == term  # one row at a time, as the reference engine asks


def test_too_few_answers_are_an_error() -> None:
    function = horai.vectorised(lambda x: x[:1])
    with pytest.raises(PredicateFailed, match="1 answers for 2 rows"):
        asked_of(function, (X,), [{"X": Int(1)}, {"X": Int(2)}])


def test_without_rows_nothing_is_asked() -> None:
    assert asked_of(horai.vectorised(lambda x: 1 / 0), (X, V), []) == []


def test_a_vectorised_function_can_be_called_with_plain_values() -> None:
    assert far(3, 4) is False
    assert far(90.0, 80) is True
    assert half(-1) is None
    assert named("a") == "a!"


def test_both_engines_can_run_vectorised_predicates() -> None:
    rules = horai.loads(
        "initiatedAt(away(V)=true, T) :- happensAt(position(V, X, Y), T), far(X, Y).",
        predicates=[far],
    )
    result = rules.run(["position|1|1|v1|3|4", "position|2|2|v2|90|80"])
    assert [row.args for row in result.rows()] == [("v2",)]
