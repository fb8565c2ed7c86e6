"""The search for answer streams against the definition, on random programs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.lars.story import by_trying_all, formula, stream

from horai.lang.lars.syntax import Atom, Choice, ChoiceOption, Head, Or
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.entailment import Structure
from horai.oracle.lars.grounding import Instance
from horai.oracle.lars.stream import Pair

CONDITIONS = [
    *("a", "b", "c", "s", "@0 a", "@1 b", "a [1]", "s [1 #]", "always a [1]", "b [+1]"),
    *("[1] some (a, not b)", "count { 1 : a ; 2 : b } >= 1", "(a ; c)", "(a -> b)", "@0 c [1]"),
]
PLAIN = ["a", "b", "@0 a", "@1 b", "a [1]", "s [1 #]", "s", "c"]
A, B, C = (Atom(name) for name in "abc")
CANDIDATES: list[Pair] = [(0, A), (1, A), (0, B), (1, B), (1, C)]

literals = st.sampled_from(CONDITIONS).map(formula)
maybe_not = st.tuples(st.booleans(), st.sampled_from(CONDITIONS)).map(
    lambda pair: formula(f"not {pair[1]}" if pair[0] else pair[1])
)
heads: st.SearchStrategy[Head | None] = st.sampled_from(
    [
        A,
        B,
        C,
        formula("@0 a"),
        formula("@0 b"),
        Or((A, B)),
        None,
        Choice((ChoiceOption(A), ChoiceOption(C))),
    ]
)
instances = st.builds(Instance, heads, st.lists(maybe_not, max_size=2).map(tuple))
rules = st.lists(instances, max_size=4)
data = st.sampled_from([stream(0, 1, content) for content in ({}, {0: "s"}, {1: "s, s"})])


def problems() -> st.SearchStrategy[Problem]:
    return st.builds(Problem, rules, data, st.just(1))


@given(problems())
def test_the_search_finds_what_the_definition_says(problem: Problem) -> None:
    found = list(problem.answer_streams())
    assert len(found) == len(set(found))
    assert set(found) == set(by_trying_all(problem, CANDIDATES))


@given(problems())
def test_answer_streams_are_minimal_and_supported(problem: Problem) -> None:
    found = list(problem.answer_streams())
    if any(isinstance(rule.head, Choice) for rule in problem.instances):
        return  # what is chosen is not minimal
    assert not any(one < other for one in found for other in found)
    for answer in found:
        structure = problem.structure(answer)
        for pair in answer:
            without = Structure(problem.data.plus(answer - {pair}))
            reasons = [r for r in problem.instances if r.applies(structure, problem.time)]
            assert any(
                r.head is not None
                and not isinstance(r.head, Choice)
                and not without.entails(r.head, problem.time)
                for r in reasons
            )


positive = st.builds(
    Instance,
    st.sampled_from([A, B, C, formula("@0 a")]),
    st.lists(st.sampled_from(PLAIN).map(formula), max_size=2).map(tuple),
)


@given(st.builds(Problem, st.lists(positive, max_size=5), data, st.just(1)))
def test_positive_programs_have_one_answer(problem: Problem) -> None:
    assert len(list(problem.answer_streams())) == 1


@given(st.lists(positive, max_size=4), st.lists(positive, max_size=2))
def test_positive_programs_grow(less: list[Instance], more: list[Instance]) -> None:
    base = stream(0, 1, {0: "s"})
    (one,) = Problem(less, base, 1).answer_streams()
    (other,) = Problem([*less, *more], base, 1).answer_streams()
    assert one <= other
