"""Parts of a program that need nothing of each other, and how each is split into buckets.

Rules belong to one part if one reads what the other derives. A part reads signals, and a signal may
be read by several parts. Where a program may have several answers or none, there are no parts: its
answers are those of all rules together. The key of a part is an argument by which all that its
rules need is in one bucket.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from horai.lang.core.terms import Term, Var, is_anonymous, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import (
    background,
    body_atoms,
    derived,
    head_predicates,
    is_computed,
    is_made,
)
from horai.lang.lars.walk import children, windows
from horai.plan.graphs import Digraph
from horai.plan.lars.check import all_named
from horai.plan.lars.dependencies import strata
from horai.plan.split.keys import Mention, choices

Places = dict[lars.Predicate, int]
AtomMention = Mention[lars.Predicate, int]


@dataclass(frozen=True, slots=True)
class UnsplitProgram:
    """Why rules run in a single bucket, and the rule at fault."""

    reason: str
    rule: lars.Rule | None = None


class _CannotSplit(Exception):
    """Says why."""


def keys_of(rules: Sequence[lars.Rule], background: set[lars.Predicate]) -> Places | UnsplitProgram:
    """A place for the key in each predicate that rules derive or read of a stream."""
    mentioned: list[list[AtomMention]] = []
    for rule in rules:
        try:
            mentioned.append([m for m in _mentions(rule) if m[0] not in background])
        except _CannotSplit as reason:
            return UnsplitProgram(str(reason), rule)
    for rule, some in zip(rules, mentioned, strict=True):
        bare = next((name for (name, arity), _ in some if not arity), None)
        if bare is not None:
            why = f"{bare} has no arguments to split by"
            return UnsplitProgram("it asks whether there is any" if is_made(bare) else why, rule)
    for rule, some in zip(rules, mentioned, strict=True):
        if not any(choices([some])):
            return UnsplitProgram("its atoms have no argument in common", rule)
    found = next(choices(mentioned), None)
    if found is None:
        names = ", ".join(all_named({predicate for some in mentioned for predicate, _ in some}))
        return UnsplitProgram(f"no argument of {names} is common to all of the rules")
    return found


# --- what rules mention -----------------------------------------------------------------------


def _mentions(rule: lars.Rule) -> Iterator[AtomMention]:
    head = rule.head.formula if isinstance(rule.head, lars.At) else rule.head
    assert isinstance(head, lars.Atom)
    yield _mention(head)
    for condition in rule.body:
        yield from _inside(condition)


def _inside(formula: lars.Formula) -> Iterator[AtomMention]:
    match formula:
        case lars.Atom():
            yield _mention(formula)
        case lars.Within(window=window, formula=inner):
            if not window.counts:
                yield from _inside(inner)
            elif window.groups is None:
                raise _CannotSplit("a window of the last signals counts those of all names")
            else:
                yield _in_groups(inner, window.groups)
        case _:
            for part in children(formula):
                yield from _inside(part)


def _in_groups(formula: lars.Formula, patterns: Sequence[lars.Pattern]) -> AtomMention:
    match formula:
        case lars.Always():
            reason = "`always` in a window of groups looks back as far as the longest group"
            raise _CannotSplit(reason)
        case lars.Some(formula=lars.Atom() as atom) | lars.At(formula=lars.Atom() as atom):
            return _grouped(atom, patterns)
        case _:
            raise _CannotSplit("a window of groups has more than an atom in it")


def _mention(atom: lars.Atom) -> AtomMention:
    return atom.predicate, {p: term for p, term in enumerate(atom.args) if _may_be_key(term)}


def _grouped(atom: lars.Atom, patterns: Sequence[lars.Pattern]) -> AtomMention:
    """Groups of a window have to belong to one entity each, so they must name it."""
    predicate, terms = _mention(atom)
    fitting = [
        p.args
        for p in patterns
        if p.name == atom.name and (p.args is None or len(p.args) == len(atom.args))
    ]
    if None in fitting:
        raise _CannotSplit(f"the window has one group for all {atom.name}")
    groups = [args for args in fitting if args is not None]
    named = {p: t for p, t in terms.items() if all(_names(args[p]) for args in groups)}
    return predicate, named


def _names(term: Term) -> bool:
    """Do all members of a group agree on what stands there?"""
    return not (isinstance(term, Var) and is_anonymous(term)) and (
        isinstance(term, Var) or is_ground(term)
    )


def _may_be_key(term: Term) -> bool:
    if isinstance(term, Var):
        return not is_anonymous(term)
    return is_ground(term) and not is_computed(term) and not lars.is_range(term)


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """Rules, what they derive, and what they read of the stream.

    `places` tell where the key is in each predicate; a part of one bucket has none, and `unsplit`
    says why. Rules that count signals read all of them.
    """

    rules: tuple[lars.Rule, ...]
    makes: frozenset[lars.Predicate]
    reads: frozenset[lars.Predicate]
    places: Places = field(default_factory=dict)
    unsplit: UnsplitProgram | None = None
    counts: bool = False

    def program(self, whole: lars.Program) -> lars.Program:
        """The part with the background it may need."""
        known = background(whole)
        facts = [rule for rule in whole.rules if head_predicates(rule) & known]
        return lars.Program((*self.rules, *facts), whole.sources)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a program; `whole` says why the program has to stay in one piece."""

    parts: tuple[ProgramPart, ...]
    whole: UnsplitProgram | None = None

    @property
    def are_split(self) -> bool:
        """Is anything in more than one bucket?"""
        return any(part.unsplit is None for part in self.parts)


def parts_of(program: lars.Program) -> Parts:
    """How a program is split; its windows are measured in time points."""
    known = background(program)
    rules = [rule for rule in program.rules if not head_predicates(rule) & known]
    reason = _why_whole(rules, program)
    if reason is not None:
        found = _part(rules, derived(program))
        one = ProgramPart(found.rules, found.makes, found.reads, {}, reason, counts=True)
        return Parts((one,), reason)
    return Parts(tuple(_split(_part(*group), known) for group in _groups(rules)))


def _why_whole(rules: Iterable[lars.Rule], program: lars.Program) -> UnsplitProgram | None:
    for rule in rules:
        match rule.head:
            case None:
                return UnsplitProgram("where a constraint is broken, nothing has an answer", rule)
            case lars.Choice() | lars.Or():
                return UnsplitProgram("there may be several answers", rule)
            case lars.Atom() | lars.At(formula=lars.Atom()):
                pass
            case _:
                return UnsplitProgram("the head is no atom", rule)
    if strata(program) is None:
        reason = "predicates depend on each other through `not`, so there may be several answers"
        return UnsplitProgram(reason)
    return None


def _groups(rules: list[lars.Rule]) -> Iterator[tuple[list[lars.Rule], set[lars.Predicate]]]:
    """Rules that are connected by what they derive, in the order of the program."""
    heads = {id(rule): predicate for rule in rules for predicate in head_predicates(rule)}
    read = Digraph(nodes=heads.values())
    for rule in rules:
        mine = heads[id(rule)]
        others = [atom.predicate for atom in body_atoms(rule) if atom.predicate in read]
        read.add_edges(pair for other in others for pair in ((mine, other), (other, mine)))
    place = read.component_of()
    groups: dict[int, list[lars.Rule]] = {}
    for rule in rules:
        groups.setdefault(place[heads[id(rule)]], []).append(rule)
    for number, some in groups.items():
        yield some, {one for one, own in place.items() if own == number}


def _part(rules: Iterable[lars.Rule], makes: set[lars.Predicate]) -> ProgramPart:
    listed = tuple(rules)
    read = {atom.predicate for rule in listed for atom in body_atoms(rule)}
    # What rules derive, and even background, may come as signals, too.
    counts = any(one.window.counts for rule in listed for one in windows(rule))
    return ProgramPart(listed, frozenset(makes), frozenset(read | makes), counts=counts)


def _split(part: ProgramPart, known: set[lars.Predicate]) -> ProgramPart:
    found = keys_of(part.rules, known)
    if isinstance(found, UnsplitProgram):
        return ProgramPart(part.rules, part.makes, part.reads, {}, found, part.counts)
    return ProgramPart(part.rules, part.makes, part.reads, found)
