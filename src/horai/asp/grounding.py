"""Grounding on the fly: rules with variables in, ground rules out, as atoms become possible.

An atom is possible while a ground rule may derive it. New atoms bring new ground rules, found by
joins of patterns with atoms; those of atoms that are possible no more are cleared away from time to
time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from horai.asp.incremental import Check, Literal, Template
from horai.asp.jtms import Justification
from horai.lang.core.terms import Compound, Constant, Int, Term, Var, is_ground, variables
from horai.lang.lars.arithmetic import compare, compute_term
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.plan.lars.fragments import EndlessValues, NotServed

Value = int | str | tuple[str, Term]
Values = tuple[Value, ...]
Env = dict[str, Value]


def to_value(term: Term) -> Value:
    """The value of a ground term."""
    if isinstance(term, Int):
        return term.value
    if isinstance(term, Constant):
        return term.name
    return ("term", term)


def to_term(value: Value) -> Term:
    """The ground term of a value."""
    if isinstance(value, int):
        return Int(value)
    return Constant(value) if isinstance(value, str) else value[1]


def evaluate(term: Term, env: Env) -> Value | None:
    """The value of a term whose variables are known; None if it has none."""
    match term:
        case Var(name=name):
            return env[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            inner = [evaluate(arg, env) for arg in args]
            known = [to_term(value) for value in inner if value is not None]
            found = compute_term(sign, known) if len(known) == len(inner) else None
            return None if found is None else to_value(found)
        case _:
            return to_value(term)


def holds(test: Check, env: Env) -> bool:
    """Whether a comparison holds; one without a value holds neither way."""
    left, right = (evaluate(side, env) for side in (test.comparison.left, test.comparison.right))
    if left is None or right is None:
        return False
    sign = test.comparison.sign
    if sign in ("=", "!="):
        found = (left == right) == (sign == "=")
    else:
        found = compare(sign, to_term(left), to_term(right))
    return found != test.negated


@dataclass(frozen=True, slots=True)
class Match:
    """Find atoms for a literal; `known` are the places whose values are known before."""

    literal: Literal
    known: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """Give a variable the value of an expression."""

    name: str
    term: Term


Step = Match | Assign | Check


def computes(template: Template) -> bool:
    """Does a rule compute anything?"""
    sides = (side for t in template.tests for side in (t.comparison.left, t.comparison.right))
    return any(isinstance(term, Compound) for term in (*template.head.args, *sides))


def check_terms(template: Template) -> None:
    """Refuse what patterns cannot do: variables inside of terms that are no expressions."""
    for literal in (template.head, *template.positive, *template.negative):
        for arg in literal.args:
            if isinstance(arg, Compound) and not is_ground(arg) and arg.name not in ARITHMETIC:
                raise NotServed("a variable inside of a compound term")


def plan(template: Template, first: int | None) -> list[Step]:
    """The order in which to find values, after those of one of the positive literals if given."""
    steps: list[Step] = []
    bound: set[str] = set()
    literals = list(template.positive)
    tests = list(template.tests)
    if first is not None:
        bound |= _binds(literals.pop(first))
    while True:
        _take_tests(tests, bound, steps)
        if not literals:
            break
        ready = [literal for literal in literals if needs(literal) <= bound]
        if not ready:
            raise NotServed("an expression whose variables nothing else gives a value to")
        chosen = min(ready, key=lambda literal: len(literal.args) - len(_known(literal, bound)))
        literals.remove(chosen)
        steps.append(Match(chosen, _known(chosen, bound)))
        bound |= _binds(chosen)
    asked = [arg for literal in (template.head, *template.negative) for arg in literal.args]
    if tests or not {name for arg in asked for name in variables(arg)} <= bound:
        raise NotServed("a variable that nothing gives a value to")
    return steps


def _take_tests(tests: list[Check], bound: set[str], steps: list[Step]) -> None:
    """Move what can be computed now from the tests to the steps."""
    grown = True
    while grown:
        grown = False
        for test in list(tests):
            step = _ready(test, bound)
            if step is not None:
                tests.remove(test)
                steps.append(step)
                grown = True
                if isinstance(step, Assign):
                    bound.add(step.name)


def _ready(test: Check, bound: set[str]) -> Step | None:
    left, right = test.comparison.left, test.comparison.right
    unknown = (variables(left).keys() | variables(right).keys()) - bound
    if not unknown:
        return test
    if test.comparison.sign != "=" or test.negated:
        return None
    for var, other in ((left, right), (right, left)):
        if isinstance(var, Var) and var.name not in bound and variables(other).keys() <= bound:
            return Assign(var.name, other)
    return None


def _binds(literal: Literal) -> set[str]:
    return {arg.name for arg in literal.args if isinstance(arg, Var)}


def needs(literal: Literal) -> set[str]:
    """The variables that must be known before atoms for a literal can be found."""
    return {name for arg in literal.args if is_computed(arg) for name in variables(arg)}


def _known(literal: Literal, bound: set[str]) -> tuple[int, ...]:
    """The places of arguments whose value is known."""
    return tuple(
        place
        for place, arg in enumerate(literal.args)
        if not isinstance(arg, Var) or arg.name in bound
    )


def unify(args: Sequence[Term], values: Values, env: Env) -> Env | None:
    """The values of variables under which arguments have these values."""
    if len(args) != len(values):
        return None
    found = dict(env)
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Var):
            if found.setdefault(arg.name, value) != value:
                return None
        elif evaluate(arg, found) != value:
            return None
    return found


Rows = Callable[[Literal, tuple[int, ...], Env], list[Values]]


def solutions(steps: Sequence[Step], env: Env, rows: Rows) -> list[Env]:
    """All values of variables that the steps find."""
    found = [env]
    for step in steps:
        following: list[Env] = []
        for current in found:
            if isinstance(step, Check):
                if holds(step, current):
                    following.append(current)
            elif isinstance(step, Assign):
                value = evaluate(step.term, current)
                if value is not None:
                    following.append({**current, step.name: value})
            else:
                for values in rows(step.literal, step.known, current):
                    more = unify(step.literal.args, values, current)
                    if more is not None:
                        following.append(more)
        found = following
    return found


Key = tuple[str, Values]
MOST_IDLE = 500
"""How many atoms may be impossible, beside an eighth of all, before they are cleared away."""
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
        if len(self.idle) > MOST_IDLE + len(self.keys) // 8:
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
            raise EndlessValues(f"{rounds - 1} rounds")

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
