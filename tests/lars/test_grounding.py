"""Instances that are left out do not matter: against writing out rules over all values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from tests.lars.story import answers_on, program, stream
from tests.weights import examples

import horai
from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Int, Term
from horai.lang.lars.predicates import background_facts, is_fact
from horai.lang.lars.syntax import At, Formula, Program
from horai.lang.lars.walk import rule_variables
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.grounding import Instance
from horai.oracle.lars.matching import Values, written
from horai.oracle.lars.stream import Stream
from horai.plan.lars.fragments import Fragment, classify

# Heads that count on would derive without end.
HEADS = ["p(X)", "q(X)", "@T p(X)", "@T q(X)", "r", "p(X) ; r", "p(3 - X)", "@(1 - T) q(X)"]
POSITIVE = ["s(X), @T true [1]", "g(X), @T s(X)", "@T p(X) [1]", "@T q(X), g(X)", "g(X), T = X - 1"]
OTHERS = [
    *("not p(X)", "not q(X) [1]", "always p(X) [1]", "p(X) [+1]", "X > 1", "@T s(X) [1 #]"),
    *("[2 hop 2] [0] some s(X)", "[from 0 to 0] [0] some p(X)", "@0 ([1] some s(X))"),
    *("not @T q(X)", "[1] some (s(X), not p(X))", "r", "not r", "count { Y : p(Y) } <= 1", "s(W)"),
]
bodies = st.tuples(st.sampled_from(POSITIVE), st.lists(st.sampled_from(OTHERS), max_size=2))
rules = st.tuples(st.sampled_from(HEADS), bodies).map(
    lambda parts: f"{parts[0]} :- {', '.join([parts[1][0], *parts[1][1]])}."
)
texts = st.lists(rules, min_size=1, max_size=3).map("\n".join)
contents = st.sampled_from([{}, {0: "s(1)"}, {0: "s(1), s(2)", 1: "s(2)"}, {1: "s(2), p(1)"}])
FACTS = "\ng(1). g(2)."
VALUES = range(4)


def all_instances(given: Program, data: Stream) -> Iterator[Instance]:
    """Every rule with every value for every variable."""

    def solve(conditions: object, values: Values) -> Iterator[Values]:
        return iter([{**values, "Y": Int(value)} for value in VALUES])

    for rule in given.rules:
        if is_fact(rule) or rule.head is None:
            continue
        names = [name for name in rule_variables(rule) if name != "Y"]  # that of the aggregate
        for chosen in product(VALUES, repeat=len(names)):
            values: dict[str, Term] = dict(zip(names, map(Int, chosen), strict=True))
            head: Formula = rule.head  # type: ignore[assignment]
            try:
                found = written(head, values, solve)
                body = tuple(written(part, values, solve) for part in rule.body)
            except NoValue:
                continue
            if isinstance(found, At) and found.time not in [Int(t) for t in data.timeline]:
                continue
            yield Instance(found, body)


@given(texts, contents)
def test_grounding_keeps_all_answers(text: str, content: dict[int, str]) -> None:
    data = stream(0, 1, content)
    given_program = program(text + FACTS)
    found = {answer.stream.derived for answer in answers_on(given_program, data, 1)}
    everything = list(dict.fromkeys(all_instances(given_program, data)))
    problem = Problem(everything, data, 1, background_facts(given_program))
    assert found == set(problem.answer_streams())


@examples("normal")
@given(texts, st.sampled_from([2, 3]))
def test_the_end_of_a_run_and_its_steps_change_nothing(text: str, step: int) -> None:
    rows = ["s|0|0|1", "s|2|1|2", "s|3|3|1", "-s|4|3|1"]
    loaded = horai.loads(text + FACTS, language="lars")
    long = loaded.run(rows, start=0, end=6, models="all")
    short = loaded.run(rows, start=0, end=4, step=step, models="all")
    for answer in short.answers:
        assert answer == long.at(answer.query)


@given(texts, contents)
def test_settled_programs_have_one_answer(text: str, content: dict[int, str]) -> None:
    given_program = program(text + FACTS)
    number = len(list(answers_on(given_program, stream(0, 1, content), 1)))
    if classify(given_program).strata is not None:
        assert number == 1
    if classify(given_program).fragment in (Fragment.POSITIVE, Fragment.STRATIFIED):
        assert number == 1
