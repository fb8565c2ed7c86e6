"""Grounding on the fly: rules with variables in, ground rules out, as atoms become possible.

An atom is possible while a ground rule may derive it. New atoms bring new ground rules; those of
atoms that are possible no more are cleared away from time to time.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from horai.asp.matching import (
    Env,
    Step,
    Values,
    computes,
    evaluate,
    needs,
    plan,
    solutions,
    to_value,
    unify,
)
from horai.asp.network import Justification
from horai.asp.plain import Endless
from horai.asp.templates import Literal, Template
from horai.lang.terms import Int, Term

Key = tuple[str, Values]
MOST_IDLE = 500
"""How many atoms may be impossible before they are cleared away."""
MOST_ROUNDS = 4000
"""How often rules compute from what they have computed, at most, before they are given up."""
MANY_ROUNDS, MANY_ATOMS = 500, 100_000
"""So many atoms are too many that rest on so many others which were computed."""


class Grounder:
    """The ground rules of templates, with the changes since they were last asked for.

    `shown` are the numbers of all atoms of some predicates.
    """

    def __init__(self, shows: Collection[str] = ()) -> None:
        self.shows = shows
        self.shown: set[int] = set()
        self.numbers: dict[Key, int] = {}
        self.keys: dict[int, Key] = {}
        self._next = 0
        self.rows: dict[str, dict[Values, int]] = {}
        self.indexes: dict[tuple[str, int], dict[object, dict[Values, None]]] = {}
        self.facts: dict[str, dict[Values, None]] = {}
        """The background, which is left out of ground rules."""
        self.waiting: dict[tuple[str, object], dict[tuple[Template, int], None]] = {}
        """Where literals stand in templates, by name and by their last argument if it is known."""
        self.plans: dict[tuple[Template, int | None], list[Step]] = {}
        self.instances: dict[Template, dict[Justification, None]] = {}
        self.copies: dict[Justification, int] = {}
        self.reasons: dict[int, int] = {}
        """How many ground rules have an atom as head."""
        self.used_by: dict[int, dict[Justification, None]] = {}
        self.makers: dict[Justification, dict[Template, None]] = {}
        self.idle: set[int] = set()
        self.added: dict[Justification, None] = {}
        self.removed: dict[Justification, None] = {}
        self._new: list[int] = []
        self._rounds: dict[int, int] = {}
        """Of atoms that are new since changes were last asked for: how often was computed."""
        self._many = 0

    # --- templates come and go ---

    def add_fact(self, literal: Literal) -> None:
        """A fact of the background: it never goes."""
        values = tuple(to_value(arg) for arg in literal.args)
        self.facts.setdefault(literal.name, {})[values] = None
        self._index(literal.name, values)

    def add(self, template: Template) -> None:
        """Take in a rule with variables."""
        self.instances[template] = {}
        for place, literal in enumerate(template.positive):
            if literal.name not in self.facts:
                self.waiting.setdefault(_slot(literal), {})[template, place] = None
        self._instantiate(template, None, {})
        self._close()

    def remove(self, template: Template) -> None:
        """Take back a rule and its instances."""
        for place, literal in enumerate(template.positive):
            slot = self.waiting.get(_slot(literal), {})
            slot.pop((template, place), None)
            if not slot:
                self.waiting.pop(_slot(literal), None)
            self.plans.pop((template, place), None)
        self.plans.pop((template, None), None)
        for rule in self.instances.pop(template):
            del self.makers[rule][template]
            self._drop(rule)

    def changes(self) -> tuple[list[Justification], list[Justification]]:
        """Ground rules that came and went since this was last asked."""
        if len(self.idle) > MOST_IDLE + len(self.keys) // 2:
            self._sweep()
        came, went = list(self.added), list(self.removed)
        self.added, self.removed = {}, {}
        self._rounds, self._many = {}, 0
        return came, went

    # --- instances ---

    def _instantiate(self, template: Template, first: int | None, env: Env) -> None:
        steps: list[Step] | None = []
        if len(template.positive) > (0 if first is None else 1) or template.tests:
            steps = self.plans.get((template, first))
            if steps is None:
                steps = self.plans[template, first] = plan(template, first)
        for found in solutions(steps, env, self._rows) if steps else [env]:
            rule = self._ground(template, found)
            if rule is not None and rule not in self.instances[template]:
                self.instances[template][rule] = None
                self.makers.setdefault(rule, {})[template] = None
                self._count(rule, computes(template))
                self._keep(rule)

    def _count(self, rule: Justification, computes: bool) -> None:
        """Take note of how often was computed to get here; give up where that goes on and on."""
        if rule.head in self._rounds or not (computes or self._rounds):
            return
        rounds = max((self._rounds.get(atom, 0) for atom in rule.positive), default=0) + computes
        self._rounds[rule.head] = rounds
        self._many += rounds > MANY_ROUNDS
        if rounds > MOST_ROUNDS or self._many > MANY_ATOMS:
            raise Endless(f"{rounds - 1} rounds")

    def _ground(self, template: Template, env: Env) -> Justification | None:
        """The instance for some values; None when an expression has none."""
        if any(self._is_fact(literal, env) for literal in template.negative):
            return None
        asked = [literal for literal in template.positive if literal.name not in self.facts]
        positive = [self._atom(literal, env) for literal in asked]
        negative = [self._atom(literal, env) for literal in template.negative]
        head = self._atom(template.head, env)
        if head is None or None in positive or None in negative:
            return None
        return Justification(
            head,
            tuple(a for a in positive if a is not None),
            tuple(a for a in negative if a is not None),
        )

    def _is_fact(self, literal: Literal, env: Env) -> bool:
        known = self.facts.get(literal.name)
        return known is not None and _values(literal.args, env) in known

    def _atom(self, literal: Literal, env: Env) -> int | None:
        values = _values(literal.args, env)
        if values is None:
            return None
        key = (literal.name, values)
        number = self.numbers.get(key)
        if number is None:
            number = self._next = self._next + 1
            self.numbers[key] = number
            self.keys[number] = key
            self.idle.add(number)
            if literal.name in self.shows:
                self.shown.add(number)
        return number

    def _keep(self, rule: Justification) -> None:
        copies = self.copies.get(rule, 0)
        self.copies[rule] = copies + 1
        if copies:
            return
        if self.removed.pop(rule, rule) is rule:
            self.added[rule] = None
        for atom in (*rule.positive, *rule.negative):
            self.used_by.setdefault(atom, {})[rule] = None
        reasons = self.reasons.get(rule.head, 0)
        self.reasons[rule.head] = reasons + 1
        if not reasons:
            self.idle.discard(rule.head)
            name, values = self.keys[rule.head]
            if values not in self.rows.get(name, ()):
                self.rows.setdefault(name, {})[values] = rule.head
                self._index(name, values)
                self._new.append(rule.head)

    def _drop(self, rule: Justification) -> None:
        self.copies[rule] -= 1
        if self.copies[rule]:
            return
        del self.copies[rule], self.makers[rule]
        if self.added.pop(rule, rule) is rule:
            self.removed[rule] = None
        for atom in {*rule.positive, *rule.negative}:
            self.used_by[atom].pop(rule, None)
            if not self.used_by[atom] and not self.reasons.get(atom):
                self.idle.add(atom)
        self.reasons[rule.head] -= 1
        if not self.reasons[rule.head]:
            self.idle.add(rule.head)

    def _close(self) -> None:
        """Find the instances that new atoms bring, until there are none."""
        while self._new:
            name, values = self.keys[self._new.pop()]
            last = values[-1] if values else None
            for slot in ((name, None), (name, last)) if last is not None else ((name, None),):
                for template, place in list(self.waiting.get(slot, ())):
                    literal = template.positive[place]
                    if needs(literal):  # computed arguments: other literals have to come first
                        self._instantiate(template, None, {})
                        continue
                    env = unify(literal.args, values, {})
                    if env is not None:
                        self._instantiate(template, place, env)

    # --- atoms by their values ---

    def _rows(self, literal: Literal, known: tuple[int, ...], env: Env) -> list[Values]:
        """The possible atoms that a literal may mean."""
        name = literal.name
        there: Collection[Values] = self.facts.get(name) or self.rows.get(name, {})
        if not known and literal.args:
            return list(there)
        if len(known) == len(literal.args):
            values = _values(literal.args, env)
            return [values] if values is not None and values in there else []
        place = known[-1]
        value = evaluate(literal.args[place], env)
        index = self.indexes.get((name, place))
        if index is None:
            index = self.indexes[name, place] = {}
            for row in there:
                index.setdefault(row[place], {})[row] = None
        return list(index.get(value, ()))

    def _index(self, name: str, values: Values) -> None:
        for place, value in enumerate(values):
            index = self.indexes.get((name, place))
            if index is not None:
                index.setdefault(value, {})[values] = None

    # --- clearing away ---

    def _sweep(self) -> None:
        """Forget atoms that are possible no more, and the rules that ask for them."""
        while self.idle:
            atom = self.idle.pop()
            name, values = self.keys[atom]
            if self.rows.get(name, {}).pop(values, None) is not None:
                for place, value in enumerate(values):
                    held = self.indexes.get((name, place), {}).get(value)
                    if held is not None:
                        held.pop(values, None)
                        if not held:
                            del self.indexes[name, place][value]
            for rule in list(self.used_by.get(atom, ())):
                if atom in rule.positive:
                    self._forget(rule)
            if not self.used_by.get(atom):
                self.used_by.pop(atom, None)
                self.reasons.pop(atom, None)
                del self.numbers[name, values], self.keys[atom]
                self.idle.discard(atom)
                self.shown.discard(atom)

    def _forget(self, rule: Justification) -> None:
        """Drop a rule, whatever templates made it."""
        for template in list(self.makers[rule]):
            del self.instances[template][rule]
            self._drop(rule)


def _slot(literal: Literal) -> tuple[str, object]:
    last = literal.args[-1] if literal.args else None
    return (literal.name, last.value if isinstance(last, Int) else None)


def _values(args: Iterable[Term], env: Env) -> Values | None:
    found = [evaluate(arg, env) for arg in args]
    if None in found:
        return None
    return tuple(value for value in found if value is not None)
