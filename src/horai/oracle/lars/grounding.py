"""From rules with variables to their ground instances, as far as they can matter.

An instance matters only if its positive conditions may hold. What may hold is collected first, from
the data upwards and without asking negations; then every rule is written out over that. Ground
rules say when a stream is a model of them, and what their reduct is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import inf

from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Compound, Int, Term
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background_facts, derived, expanded
from horai.lang.lars.walk import children, own_terms, subformulas
from horai.oracle.lars.entailment import Structure, value
from horai.oracle.lars.matching import Possible, TimeScope, Values, solutions, written
from horai.oracle.lars.stream import Pair, Stream, select


@dataclass(frozen=True)
class Instance:
    """A ground rule; a constraint has no head."""

    head: lars.Head | None
    body: tuple[lars.Formula, ...] = ()

    def applies(self, structure: Structure, time: int) -> bool:
        """Does the body hold?"""
        return all(structure.entails(condition, time) for condition in self.body)

    def is_satisfied(self, structure: Structure, time: int) -> bool:
        """Does the head hold if the body does?"""
        if not self.applies(structure, time):
            return True
        if self.head is None:
            return False
        if isinstance(self.head, lars.Choice):
            return _within_bounds(self.head, structure, time)
        return structure.entails(self.head, time)


def _within_bounds(choice: lars.Choice, structure: Structure, time: int) -> bool:
    chosen = {
        option.head
        for option in choice.options
        if all(structure.entails(part, time) for part in (option.head, *option.condition))
    }
    least = choice.least.value if isinstance(choice.least, Int) else 0
    most = choice.most.value if isinstance(choice.most, Int) else len(chosen)
    return least <= len(chosen) <= most


def is_model(instances: Iterable[Instance], structure: Structure, time: int) -> bool:
    """Are all rules satisfied?"""
    return all(instance.is_satisfied(structure, time) for instance in instances)


def reduct(instances: Iterable[Instance], structure: Structure, time: int) -> list[Instance]:
    """The rules whose body holds, whole.

    What a choice has chosen needs no other reason, and what it has not chosen is not asked for: of
    a choice, there remains one rule for every option that is taken.
    """
    kept: list[Instance] = []
    for instance in instances:
        if not instance.applies(structure, time):
            continue
        if isinstance(instance.head, lars.Choice):
            for option in instance.head.options:
                if all(structure.entails(part, time) for part in (option.head, *option.condition)):
                    kept.append(Instance(option.head, (*instance.body, *option.condition)))
        else:
            kept.append(instance)
    return kept


def head_pairs(head: lars.Head | None, stream: Stream, time: int) -> Iterator[Pair]:
    """The atoms at times that a head may make true; those it denies are not among them."""
    if head is None:
        return
    if isinstance(head, lars.Choice):
        for option in head.options:
            yield from head_pairs(option.head, stream, time)
    else:
        yield from _pairs(head, stream, time, stream)


def _pairs(head: lars.Formula, stream: Stream, time: int, whole: Stream) -> Iterator[Pair]:
    match head:
        case lars.Atom():
            if time in stream:
                yield (time, head)
        case lars.And(parts=parts) | lars.Or(parts=parts):
            for part in parts:
                yield from _pairs(part, stream, time, whole)
        case lars.Implies(right=right):
            yield from _pairs(right, stream, time, whole)
        case lars.Some(formula=inner) | lars.Always(formula=inner):
            for point in stream.timeline:
                yield from _pairs(inner, stream, point, whole)
        case lars.At(time=Int(value=point), formula=inner):
            if point in stream:
                yield from _pairs(inner, stream, point, whole)
        case lars.Within(window=window, formula=inner):
            yield from _pairs(inner, select(window, stream, time), time, whole)
        case lars.Reset(formula=inner):
            yield from _pairs(inner, whole, time, whole)
        case lars.Not() | lars.Truth():
            return
        case _:
            raise AssertionError(f"{head} cannot be made true")


def sure_pairs(head: lars.Head | None, time: int) -> Iterator[Pair]:
    """The atoms at times without which a head cannot hold, as far as that is plain to see."""
    match head:
        case lars.Atom():
            yield (time, head)
        case lars.At(time=Int(value=point), formula=lars.Atom() as atom):
            yield (point, atom)
        case lars.And(parts=parts):
            for part in parts:
                yield from sure_pairs(part, time)
        case _:
            return


MOST_ROUNDS = 500
"""More rounds than any sensible program needs until nothing new may hold."""
FAR = 2**61
"""The first number that is no time point."""


MANY_ROUNDS, MANY_ATOMS = 100, 10_000
"""After so many rounds, so many atoms are too many."""
MOST_NESTED = 100
"""Terms with more terms around each other are taken for ones without end."""


class EndlessDerivation(Exception):
    """Rules derive ever new atoms, it seems: after so many rounds there still are some."""


class ProgramGrounding:
    """The instances of a program over a data stream at a time.

    The timeline is that of the data, or goes on for ever with `endless`. Windows are measured in
    time points.
    """

    def __init__(
        self, program: lars.Program, data: Stream, time: int, *, endless: bool = False
    ) -> None:
        self.time = time
        self.background = background_facts(program)
        facts = {atom.predicate for atom in self.background}
        self.rules = [r for r in program.rules if not _defines(r, facts)]
        last = inf if endless else data.last
        self.possible = Possible(data, time, self.background, derived(program), last)
        self._collect()
        found = (instance for rule in self.rules for instance in self.instances_of(rule))
        self.instances = list(dict.fromkeys(found))

    def _collect(self) -> None:
        """Find all that may hold."""
        last = FAR - 1 if self.possible.last == inf else int(self.possible.last)
        timeline = Stream(self.possible.data.first, last)
        for round in range(MOST_ROUNDS):
            found = [
                pair
                for rule in self.rules
                for instance in self.instances_of(rule)
                for pair in head_pairs(instance.head, timeline, self.time)
            ]
            if not sum(self.possible.add(pair) for pair in found):
                return
            if any(_depth(arg) > MOST_NESTED for _, atom in found for arg in atom.args):
                raise EndlessDerivation(f"{MOST_NESTED} rounds")
            if round > MANY_ROUNDS and len(found) > MANY_ATOMS:
                raise EndlessDerivation(f"{round} rounds")
        raise EndlessDerivation(f"{MOST_ROUNDS} rounds")

    def instances_of(self, rule: lars.Rule) -> Iterator[Instance]:
        """The ground rules of a rule whose positive conditions may hold."""
        now = TimeScope((self.time, self.time), self.possible.whole, is_top=True)
        for values in solutions(rule.body, {}, self.possible, now):
            try:
                body = tuple(self._written(part, values) for part in rule.body)
                heads = list(self._heads(rule.head, values))
            except NoValue:
                continue
            yield from (Instance(head, body) for head in heads)

    def _written(self, formula: lars.Formula, values: Values) -> lars.Formula:
        return written(formula, values, self.possible.solve)

    def _heads(self, head: lars.Head | None, values: Values) -> Iterator[lars.Head | None]:
        if head is None:
            yield None
        elif isinstance(head, lars.Choice):
            yield self._choice(head, values)
        elif isinstance(head, lars.Atom):
            yield from (self._written(atom, values) for atom in expanded(head))
        else:
            written_head = self._written(head, values)
            if self._is_on_timeline(written_head):
                yield written_head

    def _is_on_timeline(self, head: lars.Formula) -> bool:
        """Times of heads are points of the timeline: with another one there is no instance."""
        first, last = self.possible.data.first, min(self.possible.last, FAR - 1)
        times = (part.time for part in subformulas(head) if isinstance(part, lars.At))
        return all(isinstance(time, Int) and first <= time.value <= last for time in times)

    def _choice(self, choice: lars.Choice, values: Values) -> lars.Choice:
        options: dict[lars.ChoiceOption, None] = {}
        for option in choice.options:
            for found in self.possible.solve(option.condition, values):
                try:
                    head = self._written(option.head, found)
                    condition = tuple(self._written(part, found) for part in option.condition)
                except NoValue:
                    continue  # it is no option for these values
                assert isinstance(head, lars.Atom | lars.At)
                if self._is_on_timeline(head):
                    options[lars.ChoiceOption(head, condition)] = None
        least, most = (None if b is None else value(b, values) for b in (choice.least, choice.most))
        return lars.Choice(tuple(options), least, most)

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


def _defines(rule: lars.Rule, facts: set[tuple[str, int]]) -> bool:
    return isinstance(rule.head, lars.Atom) and rule.head.predicate in facts


def _times(formula: lars.Head) -> Iterator[int]:
    """The times that a ground formula names."""
    for part in subformulas(formula):
        if isinstance(part, lars.At) or (
            isinstance(part, lars.Within) and isinstance(part.window, lars.IntervalWindow)
        ):
            yield from (t.value for t in own_terms(part) if isinstance(t, Int) and t.value < FAR)


def _ahead(formula: lars.Head) -> int:
    """How far a formula looks into the future, at most."""
    inner = max((_ahead(part) for part in children(formula)), default=0)
    if isinstance(formula, lars.Within) and isinstance(formula.window, lars.TimeWindow):
        return inner + (formula.window.future.amount or 0)
    return inner
