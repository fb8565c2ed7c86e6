"""Background predicates: relations that can be listed, procedures that need arguments bound.

A *relation* has only facts and range-restricted rules. A *procedure*, such as
`inRange(V,Min,Max) :- V > Min, V < Max.`, works only when its caller binds some arguments: which
ones is found by trying the smallest sets of arguments first, under the modes of what it calls.
Recursion makes this a fixpoint: everything is taken for a relation until a rule shows otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from horai.lang.core.terms import Term, Var, args_of, functor, key_of, subterms, variables
from horai.lang.ec import syntax as ec
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import names
from horai.plan.ec.modes import Modes, ModeTable, PythonPredicate
from horai.plan.unfolding import Helpers

Key = tuple[str, int]
RELATION: Modes = (frozenset(),)
# Beyond this many arguments all of them count as needed once one is: subsets grow too many.
MANY = 8


@dataclass(slots=True)
class Predicate:
    """A background predicate: its rules, the number of its facts, and what it needs bound."""

    name: str
    arity: int
    rules: list[ec.BackgroundRule] = field(default_factory=list)
    facts: int = 0
    dynamic: bool = False
    temporal: bool = False
    modes: Modes = RELATION

    @property
    def key(self) -> Key:
        """Name and arity."""
        return (self.name, self.arity)

    @property
    def is_relation(self) -> bool:
        """True when it can be listed once and for all, without binding anything."""
        return frozenset() in self.modes and not self.temporal and not self.open_args

    @property
    def open_args(self) -> frozenset[int]:
        """Arguments that any value satisfies, as in `price(_, 10)`: no rule looks at them."""
        if self.facts or not self.rules:
            return frozenset()
        return frozenset.intersection(*(_unseen(rule) for rule in self.rules))

    @property
    def is_usable(self) -> bool:
        """False when no binding of its arguments lets its rules be evaluated."""
        return bool(self.modes)


def python_table(predicates: Iterable[str | PythonPredicate]) -> dict[str, PythonPredicate]:
    """Python predicates by name; a bare name is a test of its arguments."""
    made = (PythonPredicate(p) if isinstance(p, str) else p for p in predicates)
    return {predicate.name: predicate for predicate in made}


def find_predicates(
    description: ec.EventDescription, python: Iterable[str | PythonPredicate] = ()
) -> dict[Key, Predicate]:
    """Every background predicate of a description with its modes."""
    found: dict[Key, Predicate] = {}

    def predicate(key: Key) -> Predicate:
        return found.setdefault(key, Predicate(*key))

    for key, facts in description.facts.items():
        predicate(key).facts = len(facts.rows)
    for rule in description.rules:
        if isinstance(rule, ec.BackgroundRule):
            predicate(rule.key).rules.append(rule)
        elif isinstance(rule, ec.DynamicDomain):
            predicate(key_of(rule.domain)).dynamic = True
        elif isinstance(rule, ec.Declaration):
            for key in collected_domains(rule):
                predicate(key).dynamic = True
    for key in time_dependent(description):
        found[key].temporal = True
    _settle_modes(found, python_table(python))
    return found


def collected_domains(rule: ec.Declaration) -> list[Key]:
    """The domain of `collectGrounds(Inputs, domain(X))`, an older way to say dynamicDomain."""
    if rule.name in ("collectGrounds", "dgrounded") and len(rule.args) == 2:
        key = functor(rule.args[1])
        return [] if key is None or key[1] == 0 else [key]
    return []


def time_dependent(description: ec.EventDescription) -> frozenset[Key]:
    """Background predicates that read events, fluents or the query time, directly or not.

    So do those that work on interval lists: open intervals last until the query time.
    """

    def asks(part: ec.Literal) -> bool:
        if isinstance(part, ec.Call):
            return part.key == ("queryTime", 1)
        return isinstance(part, ec.Temporal | ec.IntervalOp | ec.DurationFilter | ec.Allen)

    return Helpers(description).that_ask(asks)


def mode_table(
    predicates: dict[Key, Predicate], python: Iterable[str | PythonPredicate] = ()
) -> ModeTable:
    """The modes of all callable predicates, for ordering bodies."""
    # A predicate that nothing makes usable is reported where it is defined; its callers are not
    # blamed as well.
    background = {key: p.modes or RELATION for key, p in predicates.items()}
    return ModeTable(background, python_table(python), _open(predicates))


def _open(predicates: dict[Key, Predicate]) -> dict[Key, frozenset[int]]:
    return {key: args for key, p in predicates.items() if (args := p.open_args)}


def _settle_modes(found: dict[Key, Predicate], python: dict[str, PythonPredicate]) -> None:
    left_open = _open(found)
    while True:
        table = ModeTable({key: p.modes or RELATION for key, p in found.items()}, python, left_open)
        changed = False
        for predicate in found.values():
            modes = _modes(predicate, table)
            if modes != predicate.modes:
                predicate.modes = modes
                changed = True
        if not changed:
            return


def _modes(predicate: Predicate, table: ModeTable) -> Modes:
    """The smallest sets of arguments that must be bound, given what is known of the others."""
    if not predicate.rules:
        return RELATION
    good: list[frozenset[int]] = []
    for mode in _candidates(predicate):
        if not any(smaller <= mode for smaller in good) and all(
            _works(rule, mode, table) for rule in predicate.rules
        ):
            good.append(mode)
    return tuple(good)


def _candidates(predicate: Predicate) -> Iterator[frozenset[int]]:
    positions = range(predicate.arity)
    if predicate.arity > MANY:
        yield frozenset()
        yield from (frozenset(positions) - {i} for i in positions)
        yield frozenset(positions)
        return
    for size in range(predicate.arity + 1):
        for chosen in combinations(positions, size):
            mode = frozenset(chosen)
            # Needs only grow from one round to the next, so smaller sets need no second try.
            if any(known <= mode for known in predicate.modes):
                yield mode


def _unseen(rule: ec.BackgroundRule) -> frozenset[int]:
    """The positions of head variables that occur nowhere else in the rule."""
    args: tuple[Term, ...] = args_of(rule.head)
    counts = Counter(part.name for part in subterms(rule.head) if isinstance(part, Var))
    used = names(rule.body.term)
    return frozenset(
        i
        for i, arg in enumerate(args)
        if isinstance(arg, Var) and counts[arg.name] == 1 and arg.name not in used
    )


def _works(rule: ec.BackgroundRule, mode: frozenset[int], table: ModeTable) -> bool:
    args: tuple[Term, ...] = args_of(rule.head)
    bound = {name for i in mode for name in variables(args[i])}
    ordering = order_body(rule.body, bound, table, variables(rule.head))
    left_open = table.open.get(rule.key, frozenset())
    head = names(*(arg for i, arg in enumerate(args) if i not in left_open))
    return ordering.ok and (ordering.fails or head <= ordering.bound)
