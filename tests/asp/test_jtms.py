"""Truth maintenance: the worked examples, and random rules that come and go."""

from __future__ import annotations

import random

import pytest
from clingo import Control

from horai.asp.jtms import IN, UNKNOWN, Jtms, Justification, Unsettled
from horai.plan.graphs import Digraph

SEEDS = range(20)


def rule(text: str) -> Justification:
    """`a :- b, not c` over single letters."""
    head, _, body = text.partition(":-")
    parts = [part.strip() for part in body.split(",") if part.strip()]
    positive = tuple(ord(part) for part in parts if not part.startswith("not "))
    negative = tuple(ord(part[4:]) for part in parts if part.startswith("not "))
    return Justification(ord(head.strip()), positive, negative)


def letters(atoms: set[int]) -> str:
    return "".join(sorted(map(chr, atoms)))


def after(*rules: str, seed: int = 0) -> Jtms:
    jtms = Jtms(seed)
    for text in rules:
        jtms.change([rule(text)], ())
    return jtms


NETWORK = ["a :- b", "b :- not c", "a :- d", "d :- c", "c :- d", "c :- not e", "e"]


class TestWorkedExamples:
    def test_g44_t07_what_follows_from_a_fact(self) -> None:
        assert letters(after("x", "y :- x").members) == "xy"

    @pytest.mark.parametrize("seed", SEEDS)
    def test_g41_t08_one_of_two_models(self, seed: int) -> None:
        found = after("a :- b", "b :- not c", "c :- not a", seed=seed).members
        assert letters(found) in ("ab", "c")

    @pytest.mark.parametrize("seed", SEEDS)
    def test_g42_t09_rules_one_by_one(self, seed: int) -> None:
        jtms = Jtms(seed)
        models = []
        for text in NETWORK:
            jtms.change([rule(text)], ())
            models.append(letters(jtms.members))
        assert models == ["", "ab", "ab", "ab", "ab", "acd", "abe"]

    def test_t09_supports_on_the_way(self) -> None:
        jtms = after(*NETWORK[:1])
        assert jtms.support[ord("a")] == {ord("b")}
        assert list(jtms.consequences[ord("b")]) == [ord("a")]
        jtms.change([rule(NETWORK[1])], ())
        assert jtms.support[ord("b")] == {ord("c")}
        assert jtms.by_rule[ord("b")] == rule(NETWORK[1])
        assert jtms.support[ord("a")] == {ord("b")}
        assert jtms.by_rule[ord("a")] == rule(NETWORK[0])

    def test_t10_removal_of_a_rule_that_carries_nothing(self) -> None:
        jtms = after(*NETWORK)
        before = jtms.updates
        jtms.change((), [rule("a :- d")])
        assert ord("a") not in jtms.consequences[ord("d")]
        assert letters(jtms.members) == "abe"
        assert jtms.updates == before

    def test_g42_removal_of_a_fact(self) -> None:
        jtms = after(*NETWORK)
        jtms.change((), [rule("a :- d")])
        jtms.change((), [rule("e")])
        assert letters(jtms.members) == "cd"

    def test_g43_t11_an_odd_loop_is_told(self) -> None:
        with pytest.raises(Unsettled):
            after("x :- not x")

    def test_g43_t12_an_odd_loop_of_two_is_told(self) -> None:
        with pytest.raises(Unsettled):
            after("a :- not b", "b :- a")

    def test_t11_an_odd_loop_that_something_else_settles(self) -> None:
        assert letters(after("x", "x :- not x").members) == "x"

    @pytest.mark.parametrize("seed", SEEDS)
    def test_t13_no_order_goes_round_in_circles(self, seed: int) -> None:
        order = list(NETWORK)
        random.Random(seed).shuffle(order)
        assert letters(after(*order, seed=seed).members) == "abe"

    def test_t22_a_model_that_is_still_right_may_stay(self) -> None:
        jtms = after("c", "a :- c", "a :- not b", "b :- not a")
        assert letters(jtms.members) == "ac"
        jtms.change((), [rule("c")])
        assert letters(jtms.members) == "a"

    def test_t33_a_new_reason_does_not_change_the_model(self) -> None:
        jtms = after("a :- not b, not c", "b :- not a, not c", "c :- not a, not b")
        assert letters(jtms.members) == "a"
        jtms.change([rule("a :- not c")], ())
        assert letters(jtms.members) == "a"

    def test_adding_twice_and_removing_what_is_not_there(self) -> None:
        jtms = after("a", "a")
        jtms.change((), [rule("b :- a")])
        jtms.change((), [rule("a")])
        assert (jtms.members, jtms.label) == (set(), {})

    def test_the_newest_reason_carries(self) -> None:
        """In a window, the reason that leaves last is the one to rest on."""
        jtms = after("x", "w :- x", "h :- w", "y", "w :- y")
        before = jtms.updates
        jtms.change((), [rule("w :- x")])
        assert letters(jtms.members) == "hwxy"
        assert jtms.updates == before

    def test_long_chains_need_no_recursion(self) -> None:
        jtms = Jtms()
        for number in range(5000):
            jtms.change([Justification(number + 1, (number,))], ())
        jtms.change([Justification(0)], ())
        assert len(jtms.members) == 5001
        jtms.change((), [Justification(0)])
        assert jtms.members == set()


def answer_sets(rules: list[Justification]) -> list[set[int]]:
    """All answer sets, by the solver."""
    control = Control(["0", "--warn=none"])
    lines = []
    for head, positive, negative in rules:
        body = [f"a({atom})" for atom in positive] + [f"not a({atom})" for atom in negative]
        lines.append(f"a({head}) :- {','.join(body)}." if body else f"a({head}).")
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    found: list[set[int]] = []
    with control.solve(yield_=True) as handle:
        for model in handle:
            found.append({symbol.arguments[0].number for symbol in model.symbols(atoms=True)})
    return found


def has_odd_loop(rules: list[Justification]) -> bool:
    graph = Digraph[tuple[int, bool]]()
    for head, positive, negative in rules:
        for sign in (False, True):
            graph.add_edges(((head, sign), (atom, sign)) for atom in positive)
            graph.add_edges(((head, sign), (atom, not sign)) for atom in negative)
    return any((atom, not sign) in c for c in graph.components() for atom, sign in c)


def random_rule(source: random.Random) -> Justification:
    atoms = source.sample(range(7), source.choice((0, 1, 1, 2, 2, 3)) + 1)
    cut = source.randint(1, len(atoms))
    return Justification(atoms[0], tuple(atoms[1:cut]), tuple(atoms[cut:]))


def come_and_go(seed: int, odd: bool) -> None:
    """40 rules come or go; the model is an answer set after each."""
    source = random.Random(seed)
    jtms = Jtms(seed)
    rules: dict[Justification, None] = {}
    for _ in range(40):
        if rules and source.random() < 0.35:
            given = source.choice(list(rules))
            del rules[given]
            came, went = [], [given]
        else:
            given = random_rule(source)
            if not odd and has_odd_loop([*rules, given]):
                continue
            rules[given] = None
            came, went = [given], []
        try:
            jtms.change(came, went)
        except Unsettled:
            assert odd
            return
        assert jtms.members in answer_sets(list(rules))
        assert UNKNOWN not in jtms.label.values()
        assert jtms.members == {atom for atom, label in jtms.label.items() if label is IN}


@pytest.mark.parametrize("seed", range(40))
def test_random_rules_without_odd_loops(seed: int) -> None:
    come_and_go(seed, odd=False)


@pytest.mark.parametrize("seed", range(10))
def test_random_rules_with_odd_loops(seed: int) -> None:
    come_and_go(seed, odd=True)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(10))
def test_many_random_rules(hundred: int) -> None:
    for seed in range(100):
        come_and_go(1000 + 100 * hundred + seed, odd=False)
