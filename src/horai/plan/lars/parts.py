"""Parts of a program that need nothing of each other, and how each is split into buckets.

Rules belong to one part if one reads what the other derives. A part reads signals, and a signal may
be read by several parts. Where a program may have several answers or none, there are no parts: its
answers are those of all rules together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from horai.lang.lars.predicates import background, body_atoms, derived, head_predicates
from horai.lang.lars.syntax import (
    At,
    Atom,
    Choice,
    Or,
    PartitionWindow,
    Predicate,
    Program,
    Rule,
    TupleWindow,
    Within,
)
from horai.lang.lars.walk import subformulas
from horai.plan.lars.dependencies import strata
from horai.plan.lars.keys import Places, Unsplit, keys_of


@dataclass(frozen=True, slots=True)
class Part:
    """Rules, what they derive, and what they read of the stream.

    `places` tell where the key is in each predicate; a part of one bucket has none, and `unsplit`
    says why. Rules that count signals read all of them.
    """

    rules: tuple[Rule, ...]
    makes: frozenset[Predicate]
    reads: frozenset[Predicate]
    places: Places = field(default_factory=dict)
    unsplit: Unsplit | None = None
    counts: bool = False

    def program(self, whole: Program) -> Program:
        """The part with the background it may need."""
        known = background(whole)
        facts = [rule for rule in whole.rules if head_predicates(rule) & known]
        return Program((*self.rules, *facts), whole.sources)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a program; `whole` says why the program has to stay in one piece."""

    parts: tuple[Part, ...]
    whole: Unsplit | None = None

    @property
    def are_split(self) -> bool:
        """Is anything in more than one bucket?"""
        return any(part.unsplit is None for part in self.parts)


def parts_of(program: Program) -> Parts:
    """How a program is split; its windows are measured in time points."""
    known = background(program)
    rules = [rule for rule in program.rules if not head_predicates(rule) & known]
    reason = _why_whole(rules, program)
    if reason is not None:
        found = _part(rules, derived(program))
        one = Part(found.rules, found.makes, found.reads, {}, reason, counts=True)
        return Parts((one,), reason)
    return Parts(tuple(_split(_part(*group), known) for group in _groups(rules)))


def _why_whole(rules: Iterable[Rule], program: Program) -> Unsplit | None:
    for rule in rules:
        match rule.head:
            case None:
                return Unsplit("where a constraint is broken, nothing has an answer", rule)
            case Choice() | Or():
                return Unsplit("there may be several answers", rule)
            case Atom() | At(formula=Atom()):
                pass
            case _:
                return Unsplit("the head is no atom", rule)
    if strata(program) is None:
        reason = "predicates depend on each other through `not`, so there may be several answers"
        return Unsplit(reason)
    return None


def _groups(rules: list[Rule]) -> Iterator[tuple[list[Rule], set[Predicate]]]:
    """Rules that are connected by what they derive, in the order of the program."""
    leader: dict[Predicate, Predicate] = {}

    def find(one: Predicate) -> Predicate:
        while leader[one] != one:
            one = leader[one]
        return one

    for rule in rules:
        leader.update((head, head) for head in head_predicates(rule) if head not in leader)
    for rule in rules:
        (head,) = head_predicates(rule)
        for atom in body_atoms(rule):
            if atom.predicate in leader:
                leader[find(atom.predicate)] = find(head)
    groups: dict[Predicate, list[Rule]] = {}
    for rule in rules:
        (head,) = head_predicates(rule)
        groups.setdefault(find(head), []).append(rule)
    for first, some in groups.items():
        yield some, {one for one in leader if find(one) == first}


def _part(rules: Iterable[Rule], makes: set[Predicate]) -> Part:
    listed = tuple(rules)
    read = {atom.predicate for rule in listed for atom in body_atoms(rule)}
    # What rules derive, and even background, may come as signals, too.
    counts = any(_counts(rule) for rule in listed)
    return Part(listed, frozenset(makes), frozenset(read | makes), counts=counts)


def _counts(rule: Rule) -> bool:
    """Is there a window for which other signals matter than those of its atom?"""
    return any(
        isinstance(part, Within) and isinstance(part.window, TupleWindow | PartitionWindow)
        for condition in rule.body
        for part in subformulas(condition)
    )


def _split(part: Part, known: set[Predicate]) -> Part:
    found = keys_of(part.rules, known)
    if isinstance(found, Unsplit):
        return Part(part.rules, part.makes, part.reads, {}, found, part.counts)
    return Part(part.rules, part.makes, part.reads, found)
