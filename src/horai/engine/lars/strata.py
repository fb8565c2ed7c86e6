"""The rules of a program in the order in which they are run; recursion stays together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.engine.lars.literals import (
    Compare,
    Negative,
    NotPlain,
    PlainRule,
    Positive,
    Reading,
    Total,
)
from horai.engine.lars.signals import Key
from horai.lang.core.terms import Compound, is_ground
from horai.lang.lars.predicates import ARITHMETIC
from horai.plan.graphs import Digraph

Invents = OneOf["nothing", "numbers", "terms"]


@dataclass(slots=True)
class Stratum:
    """Predicates that depend on each other, and their rules."""

    keys: set[Key]
    rules: list[PlainRule] = field(default_factory=list)
    recursive: bool = False

    @property
    def invents(self) -> Invents:
        """What its rules make that was not there before, so that they may never end."""
        made = [part for rule in self.rules for part in _made(rule)]
        if any(part.name not in ARITHMETIC for part in made):
            return "terms"
        return "numbers" if made else "nothing"


def readings(rule: PlainRule) -> list[tuple[Reading, bool]]:
    """What a rule reads, and whether it has to hold; what an aggregate reads may also be absent."""
    found: list[tuple[Reading, bool]] = []
    for one in rule.body:
        if isinstance(one, Positive | Negative):
            found.append((one.reading, isinstance(one, Positive)))
        elif isinstance(one, Total):
            found.extend((reading, False) for reading in one.readings())
    return found


def strata_of(rules: list[PlainRule]) -> list[Stratum]:
    """Rules by what they derive, what is read first; raises `NotPlain` if there is no such order.

    Windows of the last signals count nothing derived, so nothing in them depends on rules.
    """
    heads = {rule.head.predicate for rule in rules if rule.head is not None}
    graph: Digraph[Key] = Digraph()
    negative: list[tuple[Key, Key, PlainRule]] = []
    graph.add_nodes(sorted(heads))
    for rule in rules:
        for reading, positive in readings(rule):
            read = reading.atom.predicate
            if rule.head is None or read not in heads or reading.of_signals:
                continue
            graph.add_edge(read, rule.head.predicate)
            if not positive:
                negative.append((read, rule.head.predicate, rule))
    found = [Stratum(set(members)) for members in graph.components()]
    place = {key: number for number, one in enumerate(found) for key in one.keys}
    for read, made, rule in negative:
        if place[read] == place[made]:
            reason = f"{made[0]}/{made[1]} depends on itself through a negation or a count"
            raise NotPlain(reason, rule.rule)
    for rule in rules:
        if rule.head is not None:
            found[place[rule.head.predicate]].rules.append(rule)
    for one in found:
        asked = [reading for rule in one.rules for reading, _ in readings(rule)]
        one.recursive = any(r.atom.predicate in one.keys and not r.of_signals for r in asked)
    return found


def _made(rule: PlainRule) -> list[Compound]:
    """The expressions and terms with variables that a rule makes."""
    terms = [] if rule.head is None else [*rule.head.args]
    terms += [] if rule.time is None else [rule.time]
    terms += [
        side
        for one in rule.body
        if isinstance(one, Compare)
        for side in (one.comparison.left, one.comparison.right)
    ]
    return [term for term in terms if isinstance(term, Compound) and not is_ground(term)]
