"""Equivalence of programs: the worked examples, and verdicts against the definitions."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lars.bilars import bimodels, subsets
from tests.lars.story import program
from tests.weights import examples

import horai
from horai.errors import UsageError
from horai.lang.core.terms import Int
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import At, Atom
from horai.oracle.lars.answers import Problem
from horai.oracle.lars.grounding import Instance, ProgramGrounding
from horai.oracle.lars.stream import Pair, Stream
from horai.tools.equivalence import (
    Counterexample,
    Notion,
    ProgramComparison,
    Verdict,
    equivalence,
)


def compared(one: str, other: str, notion: str, **settings: int) -> Verdict:
    return equivalence(
        horai.loads(one, language="lars"),
        horai.loads(other, language="lars"),
        notion=notion,
        **settings,  # type: ignore[arg-type]
    )


NOTIONS = ("ordinary", "data", "uniform", "strong")


def test_g29_a_window_over_both_and_over_each() -> None:
    one = "a :- b [10 #], c [10 #]."
    assert (
        compared(one, "a :- [10 #] (some b, some c).", "data", signals=2, points=1).is_equal is None
    )
    verdict = compared(one, "a :- [10 #] some (b, c).", "data", signals=2, points=1)
    assert verdict.is_equal is False
    assert verdict.counterexample is not None
    assert verdict.counterexample.narrative() == ["b|0|0", "c|1|1"]
    for text, holds in ((one, True), ("a :- [10 #] some (b, c).", False)):
        result = horai.loads(text, language="lars").run(["b|1|1", "c|4|4"], start=0, end=5)
        assert (result.at(5).texts() == ["a"]) is holds


def test_g34_uniformly_but_not_strongly_equivalent() -> None:
    verdicts = [compared("a ; b.", "a :- not b. b :- not a.", notion) for notion in NOTIONS]
    assert [verdict.is_equal for verdict in verdicts] == [True, True, True, False]
    found = verdicts[-1].counterexample
    assert found is not None
    assert found.rules() == ["@0 b :- @0 a.", "@0 a :- @0 b."]
    assert (found.answer_texts(0), found.answer_texts(1)) == (["@0 a, @0 b"], [])


def test_g34_ordinarily_but_not_uniformly_equivalent() -> None:
    verdicts = [compared("a :- b.", "", notion) for notion in NOTIONS]
    assert [verdict.is_equal for verdict in verdicts] == [True, False, False, False]


@pytest.mark.parametrize(
    ("one", "other", "notion", "expected"),
    [
        ("h(X) :- a(X) [3].", "h(Y) :- a(Y) [3].", "strong", True),
        ("h(X) :- a(X) [3].", "h(X) :- a(X) [2].", "data", False),
        ("h(X) :- a(X) [40].", "h(X) :- a(X) [39].", "data", False),
        ("h(X) :- a(X) [3], a(X).", "h(X) :- a(X).", "strong", True),
        ("@T h :- @T a [3], not @T b.", "@T h :- @T a [3], not @T b [3].", "strong", True),
        ("q :- p. p :- s [2].", "q :- s [2]. p :- s [2].", "data", True),
        ("q :- p. p :- s [2].", "q :- s [2]. p :- s [2].", "uniform", False),
        ("h :- a(X), X > 18.", "h :- a(X), X >= 18.", "data", False),
        ("h :- a(X), X > 18.", "h :- a(X), 18 < X.", "data", None),
        ("h :- a(X, Y), X != Y.", "h :- a(X, Y).", "data", False),
        ("h :- a [4 hop 2].", "h :- a [4].", "data", False),
        ("h :- always a [2].", "h :- a [2].", "data", False),
        (
            "h(N) :- N = count { X : a(X) [2] }.",
            "h(N) :- N = count { X : a(X) [1] }.",
            "data",
            False,
        ),
        ("{ h } :- a.", "h :- a, not g. g :- a, not h.", "data", False),
        ("h :- not a(_).", "h :- not a(_), not a(_) [0].", "data", None),
        ("f(x). h :- f(x).", "f(y). h :- f(y).", "strong", False),
        (":- a.", ":- a, not b.", "strong", False),
        (
            "h :- [2] always (a -> [1] some b).",
            "h :- [2] always ([1] some b ; not a).",
            "strong",
            True,
        ),
    ],
)
def test_verdicts(one: str, other: str, notion: str, expected: bool | None) -> None:
    verdict = compared(one, other, notion)
    assert verdict.is_equal is expected, verdict.reason
    if verdict.counterexample is not None:
        replay(one, other, verdict.counterexample)


def test_only_some_predicates_count() -> None:
    one, other = (
        horai.loads("h :- a [2], b. b :- c. ", language="lars"),
        horai.loads("h :- a [2], c.", language="lars"),
    )
    assert equivalence(one, other).is_equal is False
    assert equivalence(one, other, filter=["h"]).is_equal is None
    assert equivalence(one, other, filter=["h"], signals=9).is_equal is True


def test_an_ordinary_comparison_on_a_stream() -> None:
    one, other = (
        horai.loads("h :- a [3].", language="lars"),
        horai.loads("h :- a [2].", language="lars"),
    )
    rows = ["a|1|1"]
    assert equivalence(one, other, notion="ordinary", input=rows, end=3).is_equal is True
    verdict = equivalence(one, other, notion="ordinary", input=rows, end=9)
    assert verdict.is_equal is False
    assert verdict.counterexample is not None and verdict.counterexample.time == 4


def test_attempts_are_limited() -> None:
    verdict = compared("h :- a(X), X > 18.", "h :- a(X), 18 < X.", "data", tries=10)
    assert verdict.is_equal is None
    assert verdict.reason.startswith("10 attempts")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"notion": "weak"}, "no notion 'weak'"),
        ({"notion": 3}, "notion"),
        ({"signals": -1}, "signals must be at least 0"),
        ({"points": 1.5}, "points must be a whole number"),
        ({"clock": "no"}, "no clock time"),
        ({"notion": "strong", "filter": ["h"]}, "about all predicates"),
        ({"end": -1}, "before the start"),
        ({"notion": "ordinary", "input": ["-a|1|1"]}, "never there"),
    ],
)
def test_wrong_use(wrong: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        equivalence(
            horai.loads("h :- a.", language="lars"),
            horai.loads("h :- a.", language="lars"),
            **wrong,  # type: ignore[arg-type]
        )


# --- random pairs, against the definitions ---

ATOMS = [Atom(name) for name in "abs"]
CONDITIONS = ["a", "b", "s", "a [1]", "s [1]", "always s [1]", "always a [1]", "b [0]"]
HEADS = ["a", "b", "a ; b", "", "a", "b"]


def rules() -> st.SearchStrategy[str]:
    body = st.lists(
        st.tuples(st.sampled_from(["", "", "not "]), st.sampled_from(CONDITIONS)).map("".join),
        max_size=2,
    ).map(", ".join)
    return st.tuples(st.sampled_from(HEADS), body).map(_rule)


def _rule(parts: tuple[str, str]) -> str:
    head, body = parts
    if not body:
        return f"{head or 'a'} :- true."
    return f"{head} :- {body}."


texts = st.lists(rules(), min_size=1, max_size=2).map("\n".join)


def instances(text: str, time: int) -> list[Instance]:
    universe = " ; ".join(f"@{t} {atom.name}" for t in range(2) for atom in ATOMS)
    grounding = ProgramGrounding(program(f"{text} {{ {universe} }}."), Stream(0, 2), time)
    return [one for one in grounding.instances if "Choice" not in repr(one.head)]


def pairs_until(time: int, atoms: list[Atom]) -> list[Pair]:
    return [(t, atom) for t in range(time + 1) for atom in atoms]


def same_bimodels(one: str, other: str) -> bool:
    return all(
        bimodels(instances(one, time), Stream(0, 2), time, pairs_until(time, ATOMS))
        == bimodels(instances(other, time), Stream(0, 2), time, pairs_until(time, ATOMS))
        for time in range(2)
    )


def same_answers(one: str, other: str, atoms: list[Atom]) -> bool:
    """With all sets of facts over some atoms."""
    for time in range(2):
        both = [instances(text, time) for text in (one, other)]
        for facts in subsets(pairs_until(time, atoms)):
            given = [Instance(At(Int(t), atom)) for t, atom in facts]
            found = (
                set(Problem([*own, *given], Stream(0, 2), time).answer_streams()) for own in both
            )
            if next(found) != next(found):
                return False
    return True


def replay(one: str, other: str, found: Counterexample) -> None:
    """Runs of both programs give the answers that the counterexample tells, at its time."""
    more = "\n".join(found.rules())
    for text, answers in zip((one, other), found.answers, strict=True):
        result = horai.loads(f"{text}\n{more}", language="lars").run(
            found.narrative(), start=0, end=found.time, models="all", filter="none"
        )
        seen = {frozenset(model) for model in result.at(found.time).models}
        assert seen == {
            frozenset(atom for t, atom in answer if t in (None, found.time)) for answer in answers
        }


def check(one: str, other: str) -> None:
    known = derived(program(one)) | derived(program(other))
    from_streams = [atom for atom in ATOMS if atom.predicate not in known]
    expected = {
        Notion.strong: same_bimodels(one, other),
        Notion.uniform: same_answers(one, other, ATOMS),
        Notion.data: same_answers(one, other, from_streams),
    }
    for notion, is_same in expected.items():
        both = (program(one), program(other))
        verdict = ProgramComparison(both, signals=6).verdict(notion)
        assert verdict.is_equal is is_same, (notion, verdict.reason)
        if verdict.counterexample is not None:
            replay(one, other, verdict.counterexample)
    if expected[Notion.strong]:
        assert expected[Notion.uniform] and expected[Notion.data]


@given(texts, texts)
@examples("heavy")
def test_random_pairs(one: str, other: str) -> None:
    check(one, other)


@given(texts, st.sampled_from(["h", "a", "s"]), st.booleans())
@examples("heavy")
def test_random_programs_and_their_likes(text: str, name: str, at_end: bool) -> None:
    """A rule that says nothing new changes nothing."""
    useless = f"{name} :- {name}, s."
    check(text, f"{text}\n{useless}" if at_end else f"{useless}\n{text}")


# --- programs with variables: what is settled for a few constants holds for many ---

OPEN = ["a(X)", "a(X) [1]", "always a(X) [1]", "b(X, Y)", "b(Y, X) [2]", "g(X)", "X != Y, b(X, Y)"]
OPEN += ["not a(X) [2], a(X) [3]", "not b(X, X), a(X)", "a(X) [1], a(X) [3]"]
open_rules = st.lists(st.sampled_from(OPEN), min_size=1, max_size=2, unique=True)
open_texts = st.lists(open_rules.map(lambda body: f"h(X) :- {', '.join(body)}."), max_size=2)
long_streams = st.lists(
    st.tuples(st.integers(0, 7), st.sampled_from("ab"), *[st.sampled_from("uvwxyz")] * 2),
    max_size=14,
)


@given(open_texts, open_texts, long_streams)
@examples("heavy")
def test_a_settled_verdict_holds_on_long_streams(
    one: list[str], other: list[str], stream: list[tuple[int, str, str, str]]
) -> None:
    texts = ["\n".join(["g(X) :- a(X) [1].", *rules]) for rules in (one, other)]
    verdict = compared(texts[0], texts[1], "data")
    rows = [
        f"{name}|{time}|{time}|{x}" + (f"|{y}" if name == "b" else "")
        for time, name, x, y in sorted(stream)
    ]
    runs = [
        horai.loads(text, language="lars").run(rows, start=0, end=8, filter="h,g") for text in texts
    ]
    same = [[a.texts() for a in run.answers] for run in runs]
    if verdict.is_equal:
        assert same[0] == same[1]
    else:
        assert verdict.counterexample is not None, verdict.reason
        replay(texts[0], texts[1], verdict.counterexample)


def test_every_condition_and_head_can_be_read() -> None:
    for head, condition in product(HEADS, CONDITIONS):
        assert program(_rule((head, condition))).rules
