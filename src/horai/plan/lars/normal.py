"""Plain LARS: the normal form that engines work on, and the way from programs to it.

A rule has atoms or @-atoms as heads; its body has extended atoms, comparisons and aggregates, each
perhaps negated. A program that has no such form is refused with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.terms import Span, Term, Var, is_anonymous, subterms, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background, expanded
from horai.lang.lars.walk import formulas, own_terms, subformulas
from horai.lang.lars.windows import ByNumber, Selection
from horai.plan.lars.dependencies import graph
from horai.plan.lars.fragments import NotServed

Modality = OneOf["now", "some", "always", "at"]
Chain = tuple[Selection, ...]
"""Windows applied one after the other, the outermost first; without any, the whole stream."""


@dataclass(frozen=True, slots=True)
class ExtendedAtom:
    """An atom, and where in time it is looked for."""

    atom: lars.Atom
    windows: Chain = ()
    modality: Modality = "now"
    time: Term | None = None  # of the modality `at`

    @property
    def terms(self) -> tuple[Term, ...]:
        """What the columns of its relation stand for."""
        return self.atom.args if self.time is None else (*self.atom.args, self.time)

    @property
    def counts(self) -> bool:
        """Do windows count? They hold signals only, also of predicates that have rules."""
        return any(isinstance(window, ByNumber) for window in self.windows)


@dataclass(frozen=True, slots=True)
class Counted:
    """An element of an aggregate: terms, for all values that make its literals true."""

    terms: tuple[Term, ...]
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate, compared with a bound; with `=` it may give a variable its value."""

    function: lars.Function
    rows: tuple[Counted, ...]
    sign: lars.Sign
    bound: Term


@dataclass(frozen=True, slots=True)
class Literal:
    """A part of a body, perhaps negated."""

    element: ExtendedAtom | lars.Comparison | Total
    negated: bool = False

    @property
    def own_terms(self) -> tuple[Term, ...]:
        """The terms that stand in it, those of conditions inside of an aggregate left out."""
        match self.element:
            case ExtendedAtom() as reading:
                return reading.terms
            case lars.Comparison(left=left, right=right):
                return left, right
            case Total(rows=rows, bound=bound):
                return (bound, *(term for row in rows for term in row.terms))

    @property
    def inside(self) -> tuple[Literal, ...]:
        """The conditions inside of an aggregate."""
        rows = self.element.rows if isinstance(self.element, Total) else ()
        return tuple(literal for row in rows for literal in row.body)

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms that are written in it."""
        return (*self.own_terms, *(term for one in self.inside for term in one.terms))

    @property
    def readings(self) -> Iterator[ExtendedAtom]:
        """What it reads."""
        if isinstance(self.element, ExtendedAtom):
            yield self.element
        for one in self.inside:
            yield from one.readings


def names_of(terms: Iterable[Term]) -> set[str]:
    """Variables that need a value: all but anonymous ones."""
    return {
        name for term in terms for name, var in variables(term).items() if not is_anonymous(var)
    }


# --- rules ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Headed:
    """An atom to derive, at the current time or at another one."""

    atom: lars.Atom
    time: Term | None = None


@dataclass(frozen=True, slots=True)
class Pick:
    """An option of a choice."""

    head: Headed
    condition: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Choosing:
    """A choice between options."""

    picks: tuple[Pick, ...]
    least: Term | None
    most: Term | None


@dataclass(frozen=True, slots=True)
class PlainRule:
    """Heads (several are a disjunction, none is a constraint) or a choice, and the body."""

    head: tuple[Headed, ...] | Choosing
    body: tuple[Literal, ...]
    origin: lars.Rule = field(compare=False, repr=False)

    def heads(self) -> tuple[Headed, ...]:
        """All atoms that the rule can derive."""
        if isinstance(self.head, Choosing):
            return tuple(pick.head for pick in self.head.picks)
        return self.head

    def literals(self) -> Iterator[Literal]:
        """The literals of the body and of options."""
        yield from self.body
        for pick in self.head.picks if isinstance(self.head, Choosing) else ():
            yield from pick.condition

    def terms(self) -> Iterator[Term]:
        """All terms of head and body."""
        for head in self.heads():
            yield from head.atom.args
            yield from () if head.time is None else (head.time,)
        if isinstance(self.head, Choosing):
            yield from (bound for bound in (self.head.least, self.head.most) if bound is not None)
        for literal in self.literals():
            yield from literal.terms

    def readings(self) -> Iterator[ExtendedAtom]:
        """All that the rule reads."""
        return (reading for literal in self.literals() for reading in literal.readings)


@dataclass(frozen=True, slots=True)
class PlainProgram:
    """Rules in normal form, with what their predicates are.

    `background` predicates have facts only, `derived` ones have rules; all others are signals.
    """

    rules: tuple[PlainRule, ...]
    facts: tuple[lars.Atom, ...]
    background: frozenset[lars.Predicate]
    derived: frozenset[lars.Predicate]
    component: dict[lars.Predicate, int] = field(compare=False, repr=False)
    """Derived predicates that depend on each other have the same number."""

    @property
    def defined(self) -> frozenset[lars.Predicate]:
        """The predicates that have facts or rules; a stream may bring signals of them, too."""
        return self.background | self.derived

    def is_recursive(self, rule: PlainRule) -> bool:
        """Whether what a rule derives may lead to more of it."""
        own = {self.component[head.atom.predicate] for head in rule.heads()}
        return any(self.component.get(one.atom.predicate) in own for one in rule.readings())


def normal_form(program: lars.Program) -> PlainProgram:
    """A program with windows in time points as plain LARS; raises `NotServed` when it is none."""
    rules: list[PlainRule] = []
    facts: list[lars.Atom] = []
    known = background(program)
    for rule in program.rules:
        heads = list(expanded(rule.head)) if isinstance(rule.head, lars.Atom) else []
        if heads and heads[0].predicate in known:
            facts.extend(heads)
        elif len(heads) > 1:
            rules.extend(PlainRule((Headed(fact),), (), rule) for fact in heads)
        else:
            rules.extend(_Normalizer(rule).rules())
    derived = frozenset(head.atom.predicate for rule in rules for head in rule.heads())
    component = graph(program).component_of()
    return PlainProgram(tuple(rules), tuple(facts), frozenset(known), derived, component)


class _Normalizer:
    """Brings one rule into normal form."""

    def __init__(self, rule: lars.Rule) -> None:
        self.rule = rule
        written = (term for part in formulas(rule) for term in own_terms(part))
        self.uses = Counter(
            part.name for term in written for part in subterms(term) if isinstance(part, Var)
        )
        """How often every variable is written."""

    def rules(self) -> Iterator[PlainRule]:
        body = self.body(self.rule.body)
        if body is None:
            return
        match self.rule.head:
            case None | lars.Truth(value=False):
                yield PlainRule((), body, self.rule)
            case lars.Choice() as choice:
                yield PlainRule(self.choice(choice), body, self.rule)
            case head:
                # A conjunction is derived part by part, so it is as many rules.
                for part in head.parts if isinstance(head, lars.And) else (head,):
                    options = part.parts if isinstance(part, lars.Or) else (part,)
                    yield PlainRule(tuple(map(self.headed, options)), body, self.rule)

    def refused(self, reason: str, part: lars.Head) -> NotServed:
        span: Span | None = part.span or self.rule.span
        return NotServed(reason, self.rule, span)

    # --- heads ---

    def headed(self, head: lars.Formula) -> Headed:
        match head:
            case lars.Atom():
                return Headed(head)
            case lars.At(time=time, formula=lars.Atom() as atom):
                return Headed(atom, time)
        raise self.refused("the head is no atom, @-atom or disjunction of them", head)

    def choice(self, head: lars.Choice) -> Choosing:
        picks: list[Pick] = []
        for option in head.options:
            condition = self.body(option.condition)
            if condition is not None:
                picks.append(Pick(self.headed(option.head), condition))
        return Choosing(tuple(picks), head.least, head.most)

    # --- bodies ---

    def body(self, parts: Sequence[lars.Formula]) -> tuple[Literal, ...] | None:
        """The literals; None when they can never hold."""
        found: list[Literal] = []
        for part in parts:
            if isinstance(part, lars.And):
                inner = self.body(part.parts)
                if inner is None:
                    return None
                found.extend(inner)
                continue
            negated = isinstance(part, lars.Not)
            formula = part.formula if isinstance(part, lars.Not) else part
            if isinstance(formula, lars.Truth):
                if formula.value == negated:
                    return None
                continue
            found.append(Literal(self.element(formula, negated), negated))
        return tuple(found)

    def element(
        self, formula: lars.Formula, negated: bool
    ) -> ExtendedAtom | lars.Comparison | Total:
        match formula:
            case lars.Comparison():
                return formula
            case lars.Aggregate():
                return self.total(formula)
            case lars.Not():
                raise self.refused("a double negation", formula)
        windows: list[Selection] = []
        inner: lars.Formula = formula
        while isinstance(inner, lars.Within):
            window = inner.window
            if isinstance(window, lars.IntervalWindow) and window.is_open:
                raise self.refused("an interval window with variable ends", inner)
            windows.append(window.selection())
            inner = inner.formula
        return self.extended(tuple(windows), inner, formula, negated)

    def total(self, formula: lars.Aggregate) -> Total:
        rows: list[Counted] = []
        for element in formula.elements:
            body = self.body(element.condition)
            if body is not None:
                if any(isinstance(literal.element, Total) for literal in body):
                    raise self.refused("an aggregate inside of an aggregate", formula)
                rows.append(Counted(element.terms, body))
        return Total(formula.function, tuple(rows), formula.sign, formula.bound)

    def extended(
        self, windows: Chain, formula: lars.Formula, whole: lars.Formula, negated: bool
    ) -> ExtendedAtom:
        match formula:
            case lars.Atom():
                return ExtendedAtom(formula, windows)
            case lars.Some(formula=lars.Atom() as atom):
                return ExtendedAtom(atom, windows, "some")
            case lars.Always(formula=lars.Atom() as atom):
                return ExtendedAtom(atom, windows, "always")
            case lars.At(time=time, formula=lars.Atom() as atom):
                # Under `not`, a time that nothing else sets would range over all points instead.
                if not negated and isinstance(time, Var) and self.uses[time.name] == 1:
                    return ExtendedAtom(atom, windows, "some")
                return ExtendedAtom(atom, windows, "at", time)
            case lars.Reset():
                raise self.refused("the reset operator", formula)
            case lars.Some() | lars.Always() | lars.At():
                if any(isinstance(part, lars.Within) for part in subformulas(formula.formula)):
                    raise self.refused("a window inside of `some`, `always` or @", formula)
                raise self.refused("a modality over something else than an atom", formula)
            case _ if windows:
                raise self.refused(WITHOUT_MODALITY, whole)
        raise self.refused("a body with formulas that are no extended atoms", whole)


WITHOUT_MODALITY = "a window without `some`, `always` or a time right below it"
