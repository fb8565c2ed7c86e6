"""Two streams at once: the worked examples G30 to G34, and the theorems on bi-models."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.lars.bilars import BiStream, bimodels, implication, is_bimodel, is_bimodel_by_reduct
from tests.lars.story import content, formula, stream
from tests.lars.test_answers import PLAIN
from tests.weights import examples

from horai.lang.lars.syntax import Atom, Formula, Implies, Not, Or, Some, Within
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.grounding import Instance
from horai.oracle.lars.stream import Pair, Stream, tuple_based

A, B = Atom("a"), Atom("b")


def everywhere(left: Stream, right: Stream, wanted: Formula, time: int) -> tuple[bool, bool, bool]:
    """In the left stream, in the right one, in both at once."""
    alone = (Structure(one).entails(wanted, time) for one in (left, right))
    return (*alone, BiStream(left, right).entails(wanted, time))  # type: ignore[return-value]


def test_g30_a_rule_that_holds_everywhere() -> None:
    left = stream(0, 3, {0: "a", 1: "a", 3: "b, x"})
    right = stream(0, 3, {0: "a", 1: "a", 3: "b, y"})
    assert everywhere(left, right, formula("((a [2], not y) -> x)"), 3) == (True, True, True)


def test_g30_both_alone_but_not_together() -> None:
    nested = Implies(A, Implies(Implies(A, A), A))
    left, right = stream(0, 0, {0: "a"}), stream(0, 0, {})
    assert everywhere(left, right, nested, 0) == (True, True, False)


def test_g30_together_but_not_in_the_left() -> None:
    left, right = stream(0, 0, {}), stream(0, 0, {0: "a"})
    assert everywhere(left, right, Implies(Not(A), B), 0) == (False, True, True)


def test_g31_some_over_a_window_of_another_kind() -> None:
    def eps(given: Stream, time: int) -> Stream:
        here = given.restricted(time, time)
        return given.empty(time) if Atom("eps") in here.at(time) else here

    wanted = Some(Within(eps, Some(A)))  # type: ignore[arg-type]
    left, right = stream(0, 1, {0: "a"}), stream(0, 1, {0: "a, eps", 1: "a"})
    assert everywhere(left, right, wanted, 1) == (True, True, False)


def test_g32_tuple_windows_of_a_part_are_no_part() -> None:
    left = stream(0, 4, {1: "a", 3: "b", 4: "a"})
    right = stream(0, 4, {1: "a", 3: "b", 4: "a, c"})
    small, large = (tuple_based(one, 4, 3) for one in (left, right))
    assert (small.first, content(small)) == (1, {1: {"a"}, 3: {"b"}, 4: {"a"}})
    assert (large.first, content(large)) == (3, {3: {"b"}, 4: {"a", "c"}})
    assert not small.pairs <= large.pairs


def test_g33_a_double_negation_is_no_reason() -> None:
    rule = Instance(A, (Not(Not(A)),))
    empty = stream(0, 0, {})
    assert list(Problem([rule], empty, 0).answer_streams()) == [frozenset()]

    def is_equilibrium(derived: set[Pair]) -> bool:
        full = empty.plus(derived)
        less: list[set[Pair]] = [set()] if derived else []
        return BiStream(full, full).here(implication(rule), 0) and not any(
            BiStream(empty.plus(one), full).here(implication(rule), 0) for one in less
        )

    assert is_equilibrium(set()) and is_equilibrium({(0, A)})


def test_g34_bimodels_of_a_disjunction_and_of_a_choice() -> None:
    either = [Instance(Or((A, B)))]
    choice = [Instance(A, (Not(B),)), Instance(B, (Not(A),))]
    empty, universe = stream(0, 0, {}), [(0, A), (0, B)]
    one, other = (bimodels(rules, empty, 0, universe) for rules in (either, choice))
    assert one <= other
    assert other - one == {(frozenset(), frozenset(universe))}


heads = st.sampled_from([A, B, formula("@0 a"), formula("@1 b"), None])
signed = st.tuples(st.booleans(), st.sampled_from(PLAIN)).map(
    lambda pair: formula(f"not {pair[1]}" if pair[0] else pair[1])
)
rules = st.lists(st.builds(Instance, heads, st.lists(signed, max_size=2).map(tuple)), max_size=3)
UNIVERSE: list[Pair] = [(time, atom) for time in (0, 1) for atom in (A, B)]
derived = st.sets(st.sampled_from(UNIVERSE))
data = stream(0, 1, {0: "s"})


@given(rules, derived, derived)
def test_theorem_19_two_ordinary_evaluations_are_enough(
    program: list[Instance], some: set[Pair], more: set[Pair]
) -> None:
    streams = BiStream(data.plus(some), data.plus(some | more))
    assert is_bimodel(program, streams, 1) == is_bimodel_by_reduct(program, streams, 1)


@given(rules)
@examples("light")
def test_theorem_20_answer_streams_are_total_bimodels_without_smaller_ones(
    program: list[Instance],
) -> None:
    found = bimodels(program, data, 1, UNIVERSE)
    total = {large for small, large in found if small == large}
    expected = {large for large in total if not any(r == large and s < r for s, r in found)}
    assert set(Problem(program, data, 1).answer_streams()) == expected


@given(rules, derived, derived)
def test_theorem_24_here_and_there_is_the_same_without_counting(
    program: list[Instance], some: set[Pair], more: set[Pair]
) -> None:
    kept = [rule for rule in program if "TupleWindow" not in repr(rule)]
    streams = BiStream(data.plus(some), data.plus(some | more))
    assert all(streams.here(implication(rule), 1) for rule in kept) == is_bimodel(kept, streams, 1)
