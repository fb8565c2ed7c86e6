"""Which predicates of plain rules are settled together, and in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.terms import Compound, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import ARITHMETIC
from horai.plan.graphs import Digraph
from horai.plan.lars.fragments import EndlessValues, NotServed
from horai.plan.lars.plain import (
    Compared,
    ExtendedAtom,
    Negative,
    OrderedRule,
    Positive,
    Total,
    plain_rule,
)

Key = lars.Predicate
Invents = OneOf["nothing", "numbers", "terms"]


@dataclass(slots=True)
class ProgramStratum:
    """Predicates that depend on each other, and their rules."""

    keys: set[Key]
    rules: list[OrderedRule] = field(default_factory=list)
    recursive: bool = False


def invented(rules: Iterable[OrderedRule]) -> Invents:
    """What rules make that was not there before, so that they may never end."""
    made = [part for rule in rules for part in _made(rule)]
    if any(part.name not in ARITHMETIC for part in made):
        return "terms"
    return "numbers" if made else "nothing"


def readings(rule: OrderedRule) -> list[tuple[ExtendedAtom, bool]]:
    """What a rule reads, and whether it has to hold; what an aggregate reads may also be absent."""
    found: list[tuple[ExtendedAtom, bool]] = []
    for one in rule.body:
        if isinstance(one, Positive | Negative):
            found.append((one.reading, isinstance(one, Positive)))
        elif isinstance(one, Total):
            found.extend((reading, False) for reading in one.readings())
    return found


def strata_of(rules: list[OrderedRule]) -> list[ProgramStratum]:
    """Rules by what they derive, what is read first; raises `NotServed` if there is no such order.

    Windows of the last signals count nothing derived, so nothing in them depends on rules.
    """
    heads = {rule.head.predicate for rule in rules if rule.head is not None}
    graph: Digraph[Key] = Digraph()
    negative: list[tuple[Key, Key, OrderedRule]] = []
    graph.add_nodes(sorted(heads))
    for rule in rules:
        for reading, positive in readings(rule):
            read = reading.atom.predicate
            if rule.head is None or read not in heads or reading.of_signals:
                continue
            graph.add_edge(read, rule.head.predicate)
            if not positive:
                negative.append((read, rule.head.predicate, rule))
    found = [ProgramStratum(set(members)) for members in graph.components()]
    place = {key: number for number, one in enumerate(found) for key in one.keys}
    for read, made, rule in negative:
        if place[read] == place[made]:
            reason = f"{made[0]}/{made[1]} depends on itself through a negation or a count"
            raise NotServed(reason, rule.rule)
    for rule in rules:
        if rule.head is not None:
            found[place[rule.head.predicate]].rules.append(rule)
    for one in found:
        asked = [reading for rule in one.rules for reading, _ in readings(rule)]
        one.recursive = any(r.atom.predicate in one.keys and not r.of_signals for r in asked)
    return found


def _made(rule: OrderedRule) -> list[Compound]:
    """The expressions and terms with variables that a rule makes."""
    terms = [] if rule.head is None else [*rule.head.args]
    terms += [] if rule.time is None else [rule.time]
    terms += [
        side
        for one in rule.body
        if isinstance(one, Compared)
        for side in (one.comparison.left, one.comparison.right)
    ]
    return [term for term in terms if isinstance(term, Compound) and not is_ground(term)]


MOST_ROUNDS = 4000  # of rules that compute: others end because there are only so many terms
MOST_NESTED = 100  # of rules that build terms around terms
MANY_ROUNDS, MANY_ROWS = 500, 100_000  # after so many rounds, so many rows are too many


def check_rounds(rounds: int, rows: int, invents: Invents) -> None:
    """Give up on rules that go on and on."""
    most = {"nothing": rounds, "numbers": MOST_ROUNDS, "terms": MOST_NESTED}[invents]
    if rounds > most or (invents != "nothing" and rounds > MANY_ROUNDS and rows > MANY_ROWS):
        raise EndlessValues(f"{rounds - 1} rounds")


@dataclass(slots=True)
class ProgramPlan:
    """A program as it is run."""

    strata: list[ProgramStratum]
    constraints: list[OrderedRule]
    facts: dict[Key, list[lars.Atom]]  # background, which holds at all times


def plan_of(rules: Iterable[lars.Rule], facts: Iterable[lars.Atom]) -> ProgramPlan:
    """How rules are run, beside background facts; raises `NotServed` if they cannot be."""
    plain = [plain_rule(rule) for rule in rules]
    background: dict[Key, list[lars.Atom]] = {}
    for fact in facts:
        background.setdefault(fact.predicate, []).append(fact)
    for rule in plain:
        for reading, _ in readings(rule):
            if reading.atom.predicate in background and reading.modality != "now":
                raise NotServed("it looks for background in a window")
    with_head = [rule for rule in plain if rule.head is not None]
    return ProgramPlan(strata_of(with_head), [one for one in plain if one.head is None], background)
