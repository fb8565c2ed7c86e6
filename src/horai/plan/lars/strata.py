"""Plain rules as they are run one after the other: literals in order, predicates in strata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from horai.lang.core.terms import Compound, Term, Var, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.lang.lars.windows import ByNumber
from horai.plan.graphs import Digraph
from horai.plan.lars.fragments import EndlessValues, NotServed
from horai.plan.lars.normal import (
    Choosing,
    Counted,
    ExtendedAtom,
    Headed,
    Literal,
    PlainRule,
    Total,
    names_of,
    normal_form,
)

Key = lars.Predicate
Invents = OneOf["nothing", "numbers", "terms"]

# --- literals in an order in which each finds what it needs ---------------------------------------


@dataclass(frozen=True, slots=True)
class OrderedRule:
    """One rule; without a head it is a constraint. `time` is that of an @-head."""

    head: lars.Atom | None
    time: Term | None
    body: tuple[Literal, ...]
    rule: lars.Rule

    @property
    def head_terms(self) -> tuple[Term, ...]:
        """The terms of the head, and its time."""
        args = () if self.head is None else self.head.args
        return args if self.time is None else (*args, self.time)


def assigned(literal: Literal, bound: Iterable[str]) -> tuple[Var, Term] | None:
    """The variable that an equation gives a value, and the value."""
    known, one = set(bound), literal.element
    if not isinstance(one, lars.Comparison) or one.sign != "=" or literal.negated:
        return None
    for variable, value in ((one.left, one.right), (one.right, one.left)):
        if isinstance(variable, Var) and variable.name not in known and names_of((value,)) <= known:
            return variable, value
    return None


def given_by(literal: Literal, bound: Iterable[str]) -> str | None:
    """The variable to which an aggregate gives a value, if some have theirs."""
    total = literal.element
    if not isinstance(total, Total) or total.sign != "=" or literal.negated:
        return None
    found = total.bound.name if isinstance(total.bound, Var) else None
    return None if found in set(bound) else found


def ordered(rule: PlainRule) -> OrderedRule:
    """A rule as it is run; raises `NotServed`."""
    try:
        if isinstance(rule.head, Choosing):
            raise NotServed("it has a choice to make")
        if len(rule.head) > 1:
            raise NotServed("its head is more than an atom")
        fresh = _Fresh()
        body = [part for literal in rule.body for part in fresh.parts(literal)]
        (head,) = rule.head or (Headed(lars.Atom("#none")),)
        found = OrderedRule(head.atom if rule.head else None, head.time, (), rule.origin)
        return replace(found, body=tuple(_sorted(body, set(), found.head_terms, "its head")))
    except NotServed as refused:
        raise NotServed(refused.reason, rule.origin) from None


def _sorted(
    body: Iterable[Literal], known: set[str], terms: Iterable[Term], where: str
) -> Iterator[Literal]:
    """Literals so that comparisons and negation come when their variables have values.

    Aggregates come last: a variable of theirs that others give a value to is not their own.
    """
    bound = set(known)
    left = sorted(body, key=lambda one: isinstance(one.element, Total))
    while left:
        ready = (i for i, one in enumerate(left) if _ready(one, bound))
        place = next((i for i in ready if not _awaits(left[i], left, bound)), None)
        if place is None:
            raise NotServed("one of its variables gets no value")
        literal = left.pop(place)
        if isinstance(literal.element, Total):
            rows = (
                Counted(row.terms, tuple(_sorted(row.body, bound, row.terms, "its aggregate")))
                for row in literal.element.rows
            )
            literal = replace(literal, element=replace(literal.element, rows=tuple(rows)))
        bound |= _gives(literal, bound)
        yield literal
    if not names_of(terms) <= bound:
        raise NotServed(f"a variable of {where} gets no value")


def _awaits(literal: Literal, others: list[Literal], bound: set[str]) -> bool:
    """Does an aggregate speak of a variable that another literal is still to give a value?"""
    if not isinstance(literal.element, Total):
        return False
    inside = names_of(term for one in literal.inside for term in one.terms)
    given: set[str] = set()
    for other in others:
        if other is not literal:
            given |= _gives(other, bound)
            if isinstance(other.element, lars.Comparison) and other.element.sign == "=":
                given |= {side.name for side in other.terms if isinstance(side, Var)}
    return bool((inside - bound) & given)


def _ready(literal: Literal, bound: set[str]) -> bool:
    match literal.element:
        case ExtendedAtom(terms=terms):
            return not literal.negated or names_of(terms) <= bound
        case lars.Comparison():
            return names_of(literal.terms) <= bound or assigned(literal, bound) is not None
        case Total(bound=limit):
            return given_by(literal, bound) is not None or names_of((limit,)) <= bound


def _gives(literal: Literal, bound: set[str]) -> set[str]:
    match literal.element:
        case ExtendedAtom(terms=terms):
            return set() if literal.negated else names_of(terms)
        case lars.Comparison():
            found = assigned(literal, bound)
            return set() if found is None else {found[0].name}
        case Total():
            given = given_by(literal, bound)
            return set() if given is None else {given}


class _Fresh:
    """Gives expressions inside of atoms variables of their own, which nobody else has."""

    def __init__(self) -> None:
        self.made = 0

    def parts(self, literal: Literal) -> Iterator[Literal]:
        """A literal without expressions, and what its new variables are equal to."""
        match literal.element:
            case ExtendedAtom() as reading:
                _refuse_window(reading)
                values: list[Literal] = []
                args = tuple(self._named(arg, values) for arg in reading.atom.args)
                atom = lars.Atom(reading.atom.name, args, span=reading.atom.span)
                time = None if reading.time is None else self._named(reading.time, values)
                yield Literal(replace(reading, atom=atom, time=time), literal.negated)
                yield from values
            case Total(rows=rows) as total:
                found = (
                    Counted(row.terms, tuple(part for one in row.body for part in self.parts(one)))
                    for row in rows
                )
                yield Literal(replace(total, rows=tuple(found)), literal.negated)
            case _:
                yield literal

    def _named(self, term: Term, values: list[Literal]) -> Term:
        if not is_computed(term):
            return term
        if not (isinstance(term, Compound) and term.name in ARITHMETIC):
            raise NotServed("it computes inside of a term")
        self.made += 1
        variable = Var(f"Expression#{self.made}")
        values.append(Literal(lars.Comparison("=", variable, term)))
        return variable


def _refuse_window(reading: ExtendedAtom) -> None:
    if len(reading.windows) > 1:
        raise NotServed("it has a window inside of a window")
    for window in reading.windows:
        if isinstance(window, ByNumber) and window.future and reading.modality == "always":
            raise NotServed("it asks for all points up to a signal to come")


# --- predicates in strata -------------------------------------------------------------------------


@dataclass(slots=True)
class ProgramStratum:
    """Predicates that depend on each other, and their rules."""

    keys: set[Key]
    rules: list[OrderedRule] = field(default_factory=list)
    recursive: bool = False


def readings(rule: OrderedRule) -> list[tuple[ExtendedAtom, bool]]:
    """What a rule reads, and whether it has to hold; what an aggregate reads may also be absent."""
    return [
        (reading, isinstance(one.element, ExtendedAtom) and not one.negated)
        for one in rule.body
        for reading in one.readings
    ]


def strata_of(rules: list[OrderedRule]) -> list[ProgramStratum]:
    """Rules by what they derive, what is read first; raises `NotServed` if there is no such order.

    Windows of the last signals count nothing derived, so nothing in them depends on rules.
    """
    heads = {rule.head.predicate for rule in rules if rule.head is not None}
    graph: Digraph[Key] = Digraph()
    negative: list[tuple[Key, Key, OrderedRule]] = []
    graph.add_nodes(sorted(heads))
    for rule in rules:
        for reading, positive in readings(rule):
            read = reading.atom.predicate
            if rule.head is None or read not in heads or reading.counts:
                continue
            graph.add_edge(read, rule.head.predicate)
            if not positive:
                negative.append((read, rule.head.predicate, rule))
    found = [ProgramStratum(set(members)) for members in graph.components()]
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
        one.recursive = any(r.atom.predicate in one.keys and not r.counts for r in asked)
    return found


@dataclass(slots=True)
class ProgramPlan:
    """A program as it is run."""

    strata: list[ProgramStratum]
    constraints: list[OrderedRule]
    facts: dict[Key, list[lars.Atom]]  # background, which holds at all times


def plan_of(program: lars.Program) -> ProgramPlan:
    """How a program is run; raises `NotServed` if it cannot be."""
    plain = normal_form(program)
    background: dict[Key, list[lars.Atom]] = {}
    for fact in plain.facts:
        background.setdefault(fact.predicate, []).append(fact)
    rules = [ordered(rule) for rule in plain.rules]
    for rule in rules:
        for reading, _ in readings(rule):
            if reading.atom.predicate in background and reading.modality != "now":
                raise NotServed("it looks for background in a window")
    with_head = [rule for rule in rules if rule.head is not None]
    return ProgramPlan(strata_of(with_head), [one for one in rules if one.head is None], background)


# --- rules that may never end ---------------------------------------------------------------------


def invented(rules: Iterable[OrderedRule]) -> Invents:
    """What rules make that was not there before, so that they may never end."""
    made = [part for rule in rules for part in _made(rule)]
    if any(part.name not in ARITHMETIC for part in made):
        return "terms"
    return "numbers" if made else "nothing"


def _made(rule: OrderedRule) -> list[Compound]:
    """The expressions and terms with variables that a rule makes."""
    compared = (one.terms for one in rule.body if isinstance(one.element, lars.Comparison))
    terms = [*rule.head_terms, *(term for sides in compared for term in sides)]
    return [term for term in terms if isinstance(term, Compound) and not is_ground(term)]


MOST_ROUNDS = 4000  # of rules that compute: others end because there are only so many terms
MOST_NESTED = 100  # of rules that build terms around terms
MANY_ROUNDS, MANY_ROWS = 500, 100_000  # after so many rounds, so many rows are too many


def check_rounds(rounds: int, rows: int, invents: Invents) -> None:
    """Give up on rules that go on and on."""
    most = {"nothing": rounds, "numbers": MOST_ROUNDS, "terms": MOST_NESTED}[invents]
    if rounds > most or (invents != "nothing" and rounds > MANY_ROUNDS and rows > MANY_ROWS):
        raise EndlessValues(f"{rounds - 1} rounds")
