"""A program over a range of query times: stratum by stratum, recursion until nothing is new."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal as OneOf

import numpy as np

from horai.engine.columns import column_of
from horai.engine.lars.plain import (
    Compare,
    Negative,
    PlainRule,
    Positive,
    Reading,
    Source,
    Total,
    plain_rule,
)
from horai.engine.lars.relations import Derived, Known
from horai.engine.lars.rules import Running
from horai.engine.lars.signals import Key, Signals
from horai.engine.relations import Relation
from horai.engine.revision import revision
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, merged, no_fluent
from horai.lang.core.terms import Compound, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import ARITHMETIC
from horai.plan.graphs import Digraph
from horai.plan.lars.fragments import EndlessValues, NotServed
from horai.temporal.spans import Spans, no_spans

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
    """Rules by what they derive, what is read first; raises `NotServed` if there is no such order.

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
            raise NotServed(reason, rule.rule)
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


MOST_ROUNDS = 4000  # of rules that compute: others end because there are only so many terms
MOST_NESTED = 100  # of rules that build terms around terms
MANY_ROUNDS, MANY_ROWS = 500, 100_000  # after so many rounds, so many rows are too many


def check_rounds(rounds: int, rows: int, invents: Invents) -> None:
    """Give up on rules that go on and on."""
    most = {"nothing": rounds, "numbers": MOST_ROUNDS, "terms": MOST_NESTED}[invents]
    if rounds > most or (invents != "nothing" and rounds > MANY_ROUNDS and rows > MANY_ROWS):
        raise EndlessValues(f"{rounds - 1} rounds")


@dataclass(slots=True)
class Plan:
    """A program as it is run."""

    strata: list[Stratum]
    constraints: list[PlainRule]
    facts: dict[Key, list[lars.Atom]]  # background, which holds at all times


def plan_of(rules: Iterable[lars.Rule], facts: Iterable[lars.Atom]) -> Plan:
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
    return Plan(strata_of(with_head), [one for one in plain if one.head is None], background)


@dataclass(slots=True)
class Answers:
    """What holds at each query time: by predicate, atoms with query times; and where nothing can.

    At the query times of `none` a constraint is broken, so there is no answer at all.
    """

    atoms: dict[Key, Fluent] = field(default_factory=dict)
    none: Spans = field(default_factory=no_spans)


class Evaluation:
    """One run over the query times from `first` to `last`."""

    def __init__(
        self, plan: Plan, signals: Signals, symbols: Symbols, start: int, first: int, last: int
    ) -> None:
        self.plan = plan
        self.symbols = symbols
        self.derived: dict[Key, Derived] = {}
        self.known = Known(signals, self.derived, symbols, start, last)
        self.running = Running(symbols, start, first, last)
        self._read: dict[Source, Fluent] = {}

    def answers(self) -> Answers:
        """Everything that holds."""
        for key, facts in self.plan.facts.items():
            self.derived[key] = Derived(self._always(facts), no_fluent(key[1] + 1))
        for stratum in self.plan.strata:
            if stratum.recursive:
                self._until_nothing_is_new(stratum)
            else:
                self._once(stratum)
        found = Answers()
        for stratum in self.plan.strata:
            for key in stratum.keys:
                found.atoms[key] = self.known.holding(key)
        broken = [self.running.said(rule, self._reading) for rule in self.plan.constraints]
        if broken:
            found.none = merged(broken, self.symbols).spans
        return found

    def _reading(self, place: int, reading: Reading) -> Fluent:
        if reading.source not in self._read:
            self._read[reading.source] = self.known.read(reading)
        return self._read[reading.source]

    def _once(self, stratum: Stratum) -> None:
        (key,) = stratum.keys
        self.derived[key] = self._together(
            key, [(rule, self.running.said(rule, self._reading)) for rule in stratum.rules]
        )

    def _together(self, key: Key, said: list[tuple[PlainRule, Fluent]]) -> Derived:
        now = [fluent for rule, fluent in said if rule.time is None]
        at = [fluent for rule, fluent in said if rule.time is not None]
        return Derived(
            merged(now, self.symbols) if now else no_fluent(key[1]),
            merged(at, self.symbols) if at else no_fluent(key[1] + 1),
        )

    # --- recursion -------------------------------------------------------------------------------

    def _until_nothing_is_new(self, stratum: Stratum) -> None:
        """Semi-naive: each round joins what is new in one literal with all there is in others."""
        own = _own(stratum)
        seen = {source: _nothing(reading) for source, reading in own.items()}
        totals: dict[tuple[Key, bool], Fluent] = {}
        for key in stratum.keys:
            self.derived[key] = Derived(no_fluent(key[1]), no_fluent(key[1] + 1))
            for pinned in (False, True):
                totals[key, pinned] = no_fluent(key[1] + pinned)
        news: dict[Source, Fluent] | None = None
        rounds = 0
        while True:
            rounds += 1
            check_rounds(rounds, sum(one.pairs.rows for one in totals.values()), stratum.invents)
            said = [
                (rule, fluent) for rule in stratum.rules for fluent in self._round(rule, seen, news)
            ]
            grown = False
            for (key, pinned), total in totals.items():
                parts = [
                    fluent
                    for rule, fluent in said
                    if rule.head is not None
                    and rule.head.predicate == key
                    and (rule.time is not None) == pinned
                ]
                totals[key, pinned] = merged([total, *parts], self.symbols).holding()
                grown |= bool(revision(total, totals[key, pinned], self.symbols))
            if not grown and news is not None:
                return  # after the first round, signals of what it derives are new
            for key in stratum.keys:
                self.derived[key] = Derived(*(totals[key, pinned] for pinned in (False, True)))
            news = {}
            for source, before in seen.items():
                seen[source] = self.known.read(own[source])
                change = revision(before, seen[source], self.symbols)
                news[source] = Fluent(change.pairs, change.pieces)

    def _round(
        self,
        rule: PlainRule,
        seen: dict[Source, Fluent],
        news: dict[Source, Fluent] | None,
    ) -> list[Fluent]:
        """What a rule says because of what is new; at first, all it says without recursion."""
        own = [
            (place, one.reading.source)
            for place, one in enumerate(rule.body)
            if isinstance(one, Positive) and one.reading.source in seen
        ]
        if news is None:
            return [] if own else [self.running.said(rule, self._reading)]
        found = []
        for new, source in own:
            if not len(news[source].spans):
                continue

            def read(place: int, asked: Reading, new: int = new) -> Fluent:
                if place == new:
                    return news[asked.source]
                return seen.get(asked.source) or self._reading(place, asked)

            found.append(self.running.said(rule, read))
        return found

    # --- what is told ----------------------------------------------------------------------------

    def _always(self, facts: list[lars.Atom]) -> Fluent:
        width = len(facts[0].args)
        columns = tuple(
            column_of([fact.args[place] for fact in facts], self.symbols) for place in range(width)
        )
        rows = len(facts) if width else 1
        low = np.full(rows, self.known.first)
        high = np.full(rows, self.known.last + 1)
        return Fluent(Relation(columns, rows), Spans(np.arange(rows), low, high))


def _nothing(reading: Reading) -> Fluent:
    return no_fluent(reading.atom.predicate[1] + (reading.modality == "at"))


def _own(stratum: Stratum) -> dict[Source, Reading]:
    """What the rules of a stratum read of what it derives itself."""
    return {
        reading.source: reading
        for rule in stratum.rules
        for reading, _ in readings(rule)
        if reading.atom.predicate in stratum.keys and not reading.of_signals
    }
