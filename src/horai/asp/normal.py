"""Plain LARS: the normal form that the encodings work on, and the way from programs to it.

A rule has atoms or @-atoms as heads; its body has extended atoms (ordinary, @-atoms and window
atoms), comparisons and aggregates, each perhaps negated. A program that has no such form is refused
with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.terms import Int, Span, Term, Var, is_anonymous, subterms, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background, expanded
from horai.lang.lars.syntax import Window as WrittenWindow
from horai.lang.lars.walk import own_terms, subformulas
from horai.plan.lars.dependencies import graph
from horai.plan.lars.fragments import NotServed

Modality = OneOf["some", "always", "at"]


# --- windows, measured in time points ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimeRange:
    """Time points around the current one, or around the last multiple of `hop`; None is endless."""

    past: int | None
    future: int | None = 0
    hop: int = 1


@dataclass(frozen=True, slots=True)
class Between:
    """The points between two fixed times."""

    first: int
    last: int


Window = TimeRange | Between | lars.TupleWindow | lars.PartitionWindow | lars.FilterWindow
Chain = tuple[Window, ...]
"""Windows applied one after the other, the outermost first; without any, the whole stream."""
NOW: Chain = (TimeRange(0),)

# --- bodies -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ordinary:
    """An atom at the current time."""

    atom: lars.Atom


@dataclass(frozen=True, slots=True)
class WindowAtom:
    """An atom under a modality in windows; `time` is that of `at`."""

    windows: Chain
    modality: Modality
    atom: lars.Atom
    time: Term | None = None

    @property
    def counts(self) -> bool:
        """Do windows count? They hold signals only, also of predicates that have rules."""
        return any(isinstance(w, lars.TupleWindow | lars.PartitionWindow) for w in self.windows)


@dataclass(frozen=True, slots=True)
class AggregateRow:
    """An element of an aggregate."""

    terms: tuple[Term, ...]
    condition: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Measure:
    """An aggregate compared with a bound."""

    function: lars.Function
    rows: tuple[AggregateRow, ...]
    sign: lars.Sign
    bound: Term


Extended = Ordinary | WindowAtom


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a body, perhaps negated."""

    element: Extended | lars.Comparison | Measure
    negated: bool = False

    def terms(self) -> Iterator[Term]:
        """The terms that stand in it, those of conditions inside of an aggregate left out."""
        match self.element:
            case Ordinary(atom=atom):
                yield from atom.args
            case WindowAtom(atom=atom, time=time):
                yield from atom.args
                yield from () if time is None else (time,)
            case lars.Comparison(left=left, right=right):
                yield from (left, right)
            case Measure(rows=rows, bound=bound):
                yield bound
                for row in rows:
                    yield from row.terms

    def names(self) -> set[str]:
        """The names of its variables that have one."""
        found = {name: var for term in self.terms() for name, var in variables(term).items()}
        return {name for name, variable in found.items() if not is_anonymous(variable)}


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
    condition: tuple[Condition, ...] = ()


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
    body: tuple[Condition, ...]
    origin: lars.Rule = field(compare=False, repr=False)

    def heads(self) -> tuple[Headed, ...]:
        """All atoms that the rule can derive."""
        if isinstance(self.head, Choosing):
            return tuple(pick.head for pick in self.head.picks)
        return self.head

    def conditions(self) -> tuple[Condition, ...]:
        """All conditions, those inside aggregates and choices included."""
        found = list(self.body)
        if isinstance(self.head, Choosing):
            found.extend(part for pick in self.head.picks for part in pick.condition)
        for condition in tuple(found):
            if isinstance(condition.element, Measure):
                found.extend(part for row in condition.element.rows for part in row.condition)
        return tuple(found)

    def terms(self) -> Iterator[Term]:
        """All terms of head and body."""
        for head in self.heads():
            yield from head.atom.args
            yield from () if head.time is None else (head.time,)
        if isinstance(self.head, Choosing):
            yield from (bound for bound in (self.head.least, self.head.most) if bound is not None)
        for condition in self.conditions():
            yield from condition.terms()

    def extended(self) -> Iterator[Extended]:
        """All ordinary atoms, @-atoms and window atoms of the body."""
        elements = (condition.element for condition in self.conditions())
        return (one for one in elements if isinstance(one, Ordinary | WindowAtom))

    def reads(self) -> Iterator[lars.Predicate]:
        """The predicates of the body."""
        return (element.atom.predicate for element in self.extended())


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
        return any(self.component.get(read) in own for read in rule.reads())

    def extended(self) -> tuple[Extended, ...]:
        """All ordinary atoms, @-atoms and window atoms of bodies."""
        return tuple(element for rule in self.rules for element in rule.extended())


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
        self.uses = _uses(rule)

    def rules(self) -> Iterator[PlainRule]:
        body = self.body(self.rule.body)
        if body is None:
            return
        head = self.rule.head
        if head is None:
            yield PlainRule((), body, self.rule)
        elif isinstance(head, lars.Choice):
            yield PlainRule(self.choice(head), body, self.rule)
        else:
            # A conjunction is derived part by part, so it is as many rules.
            for part in head.parts if isinstance(head, lars.And) else (head,):
                options = part.parts if isinstance(part, lars.Or) else (part,)
                yield PlainRule(tuple(self.headed(option) for option in options), body, self.rule)

    def refused(self, reason: str, part: lars.Head | WrittenWindow | None = None) -> NotServed:
        span: Span | None = part.span if part is not None and part.span else self.rule.span
        return NotServed(reason, self.rule, span)

    # --- heads ---

    def headed(self, head: lars.Formula) -> Headed:
        if isinstance(head, lars.Atom):
            return Headed(head)
        if isinstance(head, lars.At) and isinstance(head.formula, lars.Atom):
            return Headed(head.formula, head.time)
        raise self.refused("the head is no atom, @-atom or disjunction of them", head)

    def choice(self, head: lars.Choice) -> Choosing:
        picks: list[Pick] = []
        for option in head.options:
            condition = self.body(option.condition)
            if condition is not None:
                picks.append(Pick(self.headed(option.head), condition))
        return Choosing(tuple(picks), head.least, head.most)

    # --- bodies ---

    def body(self, parts: Sequence[lars.Formula]) -> tuple[Condition, ...] | None:
        """The conditions; None when they can never hold."""
        found: list[Condition] = []
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
            found.append(Condition(self.element(formula, negated), negated))
        return tuple(found)

    def element(
        self, formula: lars.Formula, negated: bool
    ) -> Ordinary | WindowAtom | lars.Comparison | Measure:
        match formula:
            case lars.Atom():
                return Ordinary(formula)
            case lars.Comparison():
                return formula
            case lars.Aggregate():
                return self.measure(formula)
            case lars.Some() | lars.At():
                return self.window_atom((), formula, negated)
            case lars.Within():
                return self.within(formula, negated)
            case lars.Not():
                raise self.refused("a double negation", formula)
            case lars.Reset():
                raise self.refused("the reset operator", formula)
            case _:
                raise self.refused("a body with formulas that are no extended atoms", formula)

    def measure(self, formula: lars.Aggregate) -> Measure:
        rows: list[AggregateRow] = []
        for element in formula.elements:
            condition = self.body(element.condition)
            if condition is not None:
                rows.append(AggregateRow(element.terms, condition))
        return Measure(formula.function, tuple(rows), formula.sign, formula.bound)

    def within(self, formula: lars.Within, negated: bool) -> WindowAtom:
        windows: list[Window] = []
        inner: lars.Formula = formula
        while isinstance(inner, lars.Within):
            windows.append(self.window(inner.window))
            inner = inner.formula
        if isinstance(inner, lars.Some | lars.Always | lars.At):
            return self.window_atom(tuple(windows), inner, negated)
        if isinstance(inner, lars.Reset):
            raise self.refused("the reset operator", inner)
        raise self.refused("a window without `some`, `always` or a time right below it", formula)

    def window_atom(
        self, windows: Chain, formula: lars.Some | lars.Always | lars.At, negated: bool
    ) -> WindowAtom:
        atom = formula.formula
        if not isinstance(atom, lars.Atom):
            if any(isinstance(part, lars.Within) for part in subformulas(atom)):
                raise self.refused("a window inside of `some`, `always` or @", formula)
            raise self.refused("a modality over something else than an atom", formula)
        if isinstance(formula, lars.Always):
            return WindowAtom(windows, "always", atom)
        # Under `not`, a time that nothing else sets would range over all points instead.
        if isinstance(formula, lars.Some) or (not negated and self.is_any_time(formula.time)):
            return WindowAtom(windows, "some", atom)
        return WindowAtom(windows, "at", atom, formula.time)

    def is_any_time(self, time: Term) -> bool:
        """Whether a time is a variable that occurs nowhere else: then any time will do."""
        return isinstance(time, Var) and self.uses[time.name] == 1

    def window(self, window: WrittenWindow) -> Window:
        match window:
            case lars.TimeWindow(past=past, future=future, hop=hop):
                every = 1 if hop is None else hop.amount
                assert every is not None
                return TimeRange(past.amount, future.amount, every)
            case lars.TupleWindow() | lars.PartitionWindow() | lars.FilterWindow():
                return window
            case lars.IntervalWindow(first=Int(value=first), last=Int(value=last)):
                return Between(first, last)
            case lars.IntervalWindow():
                raise self.refused("an interval window with variable ends", window)
            case lars.NamedWindow(name=name):
                raise self.refused(f"a window `{name}`", window)


def _uses(rule: lars.Rule) -> Counter[str]:
    """How often every variable is written in a rule."""
    parts: tuple[lars.Head, ...] = rule.body if rule.head is None else (rule.head, *rule.body)
    return Counter(
        term.name
        for part in parts
        for inner in subformulas(part)
        for written in own_terms(inner)
        for term in subterms(written)
        if isinstance(term, Var)
    )
