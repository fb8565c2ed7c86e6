"""By which argument what rules are about can be split, so that each bucket has all it needs.

A key is a place in every predicate such that all atoms of a rule have the same term there. Then
what rules say about an entity depends on signals about this entity alone. Background facts need no
place: they are known everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from horai.lang.lars.anyone import is_made
from horai.lang.lars.predicates import is_computed
from horai.lang.lars.syntax import (
    Always,
    At,
    Atom,
    Formula,
    PartitionWindow,
    Pattern,
    Predicate,
    Rule,
    Some,
    TupleWindow,
    Within,
    is_range,
)
from horai.lang.lars.walk import children
from horai.lang.terms import Term, Var, is_anonymous, is_ground
from horai.plan.lars.findings import listed

Places = dict[Predicate, int]
Open = dict[Predicate, frozenset[int]]
"""The places that may still be those of the key."""


@dataclass(frozen=True, slots=True)
class Unsplit:
    """Why rules run in a single bucket, and the rule at fault."""

    reason: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """An atom of a rule: what stands at each place, None where there cannot be a key."""

    predicate: Predicate
    terms: tuple[Term | None, ...]


class _CannotSplit(Exception):
    """Says why."""


def keys_of(rules: Sequence[Rule], background: set[Predicate]) -> Places | Unsplit:
    """A place for the key in each predicate that rules derive or read of a stream."""
    mentioned: list[list[Mention]] = []
    for rule in rules:
        try:
            mentioned.append([m for m in _mentions(rule) if m.predicate not in background])
        except _CannotSplit as reason:
            return Unsplit(str(reason), rule)
    for rule, some in zip(rules, mentioned, strict=True):
        for one in some:
            if not one.terms:
                name = one.predicate[0]
                why = f"{name} has no arguments to split by"
                return Unsplit("it asks whether there is any" if is_made(name) else why, rule)
    open_places = {
        one.predicate: frozenset(range(len(one.terms))) for some in mentioned for one in some
    }
    for rule, some in zip(rules, mentioned, strict=True):
        if not _terms(some, open_places):
            return Unsplit("its atoms have no argument in common", rule)
    found = _settled(mentioned, open_places)
    if found is None:
        names = ", ".join(listed(open_places))
        return Unsplit(f"no argument of {names} is common to all of the rules")
    return {predicate: min(places) for predicate, places in found.items()}


def _terms(mentions: Sequence[Mention], open_places: Open) -> frozenset[Term]:
    """The terms that may be the key of a rule: each of its atoms has them at a possible place."""
    found: frozenset[Term] | None = None
    for one in mentions:
        places = open_places[one.predicate]
        here = frozenset(t for p in places if (t := one.terms[p]) is not None)
        found = here if found is None else found & here
    return found or frozenset()


def _settled(rules: Sequence[Sequence[Mention]], open_places: Open) -> Open | None:
    """One place for each predicate, the first ones that fit; None if none do."""
    left = _narrowed(rules, open_places)
    if left is None:
        return None
    undecided = next((p for p in sorted(left) if len(left[p]) > 1), None)
    if undecided is None:
        return left
    for place in sorted(left[undecided]):
        found = _settled(rules, {**left, undecided: frozenset([place])})
        if found is not None:
            return found
    return None


def _narrowed(rules: Sequence[Sequence[Mention]], open_places: Open) -> Open | None:
    """Without the places that some rule excludes; None if nothing is left of a predicate."""
    left, changed = dict(open_places), True
    while changed:
        changed = False
        for mentions in rules:
            terms = _terms(mentions, left)
            for one in mentions:
                before = left[one.predicate]
                after = frozenset(p for p in before if one.terms[p] in terms)
                if not after:
                    return None
                if after != before:
                    left[one.predicate], changed = after, True
    return left


# --- what rules mention -----------------------------------------------------------------------


def _mentions(rule: Rule) -> Iterator[Mention]:
    head = rule.head.formula if isinstance(rule.head, At) else rule.head
    assert isinstance(head, Atom)
    yield _mention(head)
    for condition in rule.body:
        yield from _inside(condition)


def _inside(formula: Formula) -> Iterator[Mention]:
    match formula:
        case Atom():
            yield _mention(formula)
        case Within(window=TupleWindow()):
            raise _CannotSplit("a window of the last signals counts those of all names")
        case Within(window=PartitionWindow(), formula=Always()):
            reason = "`always` in a window of groups looks back as far as the longest group"
            raise _CannotSplit(reason)
        case Within(
            window=PartitionWindow(patterns=patterns),
            formula=Some(formula=Atom() as atom) | At(formula=Atom() as atom),
        ):
            yield _grouped(atom, patterns)
        case Within(window=PartitionWindow()):
            raise _CannotSplit("a window of groups has more than an atom in it")
        case _:
            for part in children(formula):
                yield from _inside(part)


def _mention(atom: Atom) -> Mention:
    return Mention(atom.predicate, tuple(t if _may_be_key(t) else None for t in atom.args))


def _grouped(atom: Atom, patterns: Sequence[Pattern]) -> Mention:
    """Groups of a window have to belong to one entity each, so they must name it."""
    found = _mention(atom)
    fitting = [
        p.args
        for p in patterns
        if p.name == atom.name and (p.args is None or len(p.args) == len(atom.args))
    ]
    if None in fitting:
        raise _CannotSplit(f"the window has one group for all {atom.name}")
    terms = tuple(
        term if all(args is not None and _names(args[place]) for args in fitting) else None
        for place, term in enumerate(found.terms)
    )
    return Mention(found.predicate, terms)


def _names(term: Term) -> bool:
    """Do all members of a group agree on what stands there?"""
    return not (isinstance(term, Var) and is_anonymous(term)) and (
        isinstance(term, Var) or is_ground(term)
    )


def _may_be_key(term: Term) -> bool:
    if isinstance(term, Var):
        return not is_anonymous(term)
    return is_ground(term) and not is_computed(term) and not is_range(term)
