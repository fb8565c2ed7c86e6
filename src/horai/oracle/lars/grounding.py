"""From rules with variables to their ground instances, as far as they can matter.

An instance matters only if its positive conditions may hold. What may hold is collected first, from
the data upwards and without asking negations; then every rule is written out over that.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from horai.lang.lars.predicates import background_facts, derived, expanded
from horai.lang.lars.syntax import (
    At,
    Atom,
    Choice,
    Formula,
    Head,
    IntervalWindow,
    Option,
    Program,
    Rule,
    TimeWindow,
    Within,
)
from horai.lang.lars.walk import children, own_terms, subformulas
from horai.lang.terms import Compound, Int, Term
from horai.oracle.lars.instances import Instance, head_pairs
from horai.oracle.lars.matching import Place, Possible, Values, solutions
from horai.oracle.lars.numbers import NoValue, value
from horai.oracle.lars.stream import Stream
from horai.oracle.lars.writing import written

MOST_ROUNDS = 500
"""More rounds than any sensible program needs until nothing new may hold."""
FAR = 2**61
"""The first number that is no time point."""


MANY_ROUNDS, MANY_ATOMS = 100, 10_000
"""After so many rounds, so many atoms are too many."""
MOST_NESTED = 100
"""Terms with more terms around each other are taken for ones without end."""


class Endless(Exception):
    """Rules derive ever new atoms, it seems: after so many rounds there still are some."""


class Grounding:
    """The instances of a program over a data stream at a time.

    The timeline is that of the data, or goes on for ever with `endless`. Windows are measured in
    time points.
    """

    def __init__(self, program: Program, data: Stream, time: int, *, endless: bool = False) -> None:
        self.time = time
        self.background = background_facts(program)
        facts = {atom.predicate for atom in self.background}
        self.rules = [r for r in program.rules if not _defines(r, facts)]
        last = inf if endless else data.last
        self.possible = Possible(data, time, self.background, derived(program), last)
        self._collect()
        found = (instance for rule in self.rules for instance in self._instances(rule))
        self.instances = list(dict.fromkeys(found))

    def _collect(self) -> None:
        """Find all that may hold."""
        last = FAR - 1 if self.possible.last == inf else int(self.possible.last)
        timeline = Stream(self.possible.data.first, last)
        for round in range(MOST_ROUNDS):
            found = [
                pair
                for rule in self.rules
                for instance in self._instances(rule)
                for pair in head_pairs(instance.head, timeline, self.time)
            ]
            if not sum(self.possible.add(pair) for pair in found):
                return
            if any(_depth(arg) > MOST_NESTED for _, atom in found for arg in atom.args):
                raise Endless(f"{MOST_NESTED} rounds")
            if round > MANY_ROUNDS and len(found) > MANY_ATOMS:
                raise Endless(f"{round} rounds")
        raise Endless(f"{MOST_ROUNDS} rounds")

    def _instances(self, rule: Rule) -> Iterator[Instance]:
        now = Place((self.time, self.time), self.possible.whole, is_top=True)
        for values in solutions(rule.body, {}, self.possible, now):
            try:
                body = tuple(self._written(part, values) for part in rule.body)
                heads = list(self._heads(rule.head, values))
            except NoValue:
                continue
            yield from (Instance(head, body) for head in heads)

    def _written(self, formula: Formula, values: Values) -> Formula:
        return written(formula, values, self.possible.solve)

    def _heads(self, head: Head | None, values: Values) -> Iterator[Head | None]:
        if head is None:
            yield None
        elif isinstance(head, Choice):
            yield self._choice(head, values)
        elif isinstance(head, Atom):
            yield from (self._written(atom, values) for atom in expanded(head))
        else:
            written_head = self._written(head, values)
            if self._is_on_timeline(written_head):
                yield written_head

    def _is_on_timeline(self, head: Formula) -> bool:
        """Times of heads are points of the timeline: with another one there is no instance."""
        first, last = self.possible.data.first, min(self.possible.last, FAR - 1)
        times = (part.time for part in subformulas(head) if isinstance(part, At))
        return all(isinstance(time, Int) and first <= time.value <= last for time in times)

    def _choice(self, choice: Choice, values: Values) -> Choice:
        options: dict[Option, None] = {}
        for option in choice.options:
            for found in self.possible.solve(option.condition, values):
                try:
                    head = self._written(option.head, found)
                    condition = tuple(self._written(part, found) for part in option.condition)
                except NoValue:
                    continue  # it is no option for these values
                assert isinstance(head, Atom | At)
                if self._is_on_timeline(head):
                    options[Option(head, condition)] = None
        least, most = (None if b is None else value(b, values) for b in (choice.least, choice.most))
        return Choice(tuple(options), least, most)

    def end(self) -> int:
        """A time after which nothing can tell one stream from another."""
        named = [self.possible.top]
        ahead = 0
        for instance in self.instances:
            heads = () if instance.head is None else (instance.head,)
            for part in (*heads, *instance.body):
                named.extend(_times(part))
                ahead = max(ahead, _ahead(part))
        return max(named) + ahead + 1


def _depth(term: Term) -> int:
    return 1 + max(map(_depth, term.args)) if isinstance(term, Compound) else 0


def _defines(rule: Rule, facts: set[tuple[str, int]]) -> bool:
    return isinstance(rule.head, Atom) and rule.head.predicate in facts


def _times(formula: Head) -> Iterator[int]:
    """The times that a ground formula names."""
    for part in subformulas(formula):
        if isinstance(part, At) or (
            isinstance(part, Within) and isinstance(part.window, IntervalWindow)
        ):
            yield from (t.value for t in own_terms(part) if isinstance(t, Int) and t.value < FAR)


def _ahead(formula: Head) -> int:
    """How far a formula looks into the future, at most."""
    inner = max((_ahead(part) for part in children(formula)), default=0)
    if isinstance(formula, Within) and isinstance(formula.window, TimeWindow):
        return inner + (formula.window.future.amount or 0)
    return inner
