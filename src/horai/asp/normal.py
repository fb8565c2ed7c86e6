"""Programs to plain LARS, or the reason why they are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from horai.asp.plain import (
    Between,
    Chain,
    Choosing,
    Condition,
    Groups,
    Headed,
    Measure,
    Only,
    Ordinary,
    Pick,
    PlainProgram,
    PlainRule,
    Refused,
    Row,
    Times,
    Tuples,
    Window,
    WindowAtom,
)
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import background, expanded
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Choice,
    Comparison,
    FilterWindow,
    Formula,
    Head,
    IntervalWindow,
    Not,
    Or,
    PartitionWindow,
    Program,
    Reset,
    Rule,
    Some,
    TimeWindow,
    Truth,
    TupleWindow,
    Within,
)
from horai.lang.lars.syntax import Window as WrittenWindow
from horai.lang.lars.walk import own_terms, subformulas
from horai.lang.terms import Int, Span, Term, Var, subterms


def normal_form(program: Program, clock: Clock | None = None) -> PlainProgram:
    """The program as plain LARS; raises `Refused` when it is not."""
    rules: list[PlainRule] = []
    facts: list[Atom] = []
    known = background(program)
    for rule in program.rules:
        heads = list(expanded(rule.head)) if isinstance(rule.head, Atom) else []
        if heads and heads[0].predicate in known:
            facts.extend(heads)
        elif len(heads) > 1:
            rules.extend(PlainRule((Headed(fact),), (), rule) for fact in heads)
        else:
            rules.extend(_Normalizer(rule, clock or Clock()).rules())
    derived = frozenset(head.atom.predicate for rule in rules for head in rule.heads())
    return PlainProgram(tuple(rules), tuple(facts), frozenset(known), derived)


class _Normalizer:
    """Brings one rule into normal form."""

    def __init__(self, rule: Rule, clock: Clock) -> None:
        self.rule = rule
        self.clock = clock
        self.uses = _uses(rule)

    def rules(self) -> Iterator[PlainRule]:
        body = self.body(self.rule.body)
        if body is None:
            return
        head = self.rule.head
        if head is None:
            yield PlainRule((), body, self.rule)
        elif isinstance(head, Choice):
            yield PlainRule(self.choice(head), body, self.rule)
        else:
            # A conjunction is derived part by part, so it is as many rules.
            for part in head.parts if isinstance(head, And) else (head,):
                options = part.parts if isinstance(part, Or) else (part,)
                yield PlainRule(tuple(self.headed(option) for option in options), body, self.rule)

    def refused(self, reason: str, part: Head | WrittenWindow | None = None) -> Refused:
        span: Span | None = part.span if part is not None and part.span else self.rule.span
        return Refused(reason, self.rule, span)

    # --- heads ---

    def headed(self, head: Formula) -> Headed:
        if isinstance(head, Atom):
            return Headed(head)
        if isinstance(head, At) and isinstance(head.formula, Atom):
            return Headed(head.formula, head.time)
        raise self.refused("the head is no atom, @-atom or disjunction of them", head)

    def choice(self, head: Choice) -> Choosing:
        picks: list[Pick] = []
        for option in head.options:
            condition = self.body(option.condition)
            if condition is not None:
                picks.append(Pick(self.headed(option.head), condition))
        return Choosing(tuple(picks), head.least, head.most)

    # --- bodies ---

    def body(self, parts: Sequence[Formula]) -> tuple[Condition, ...] | None:
        """The conditions; None when they can never hold."""
        found: list[Condition] = []
        for part in parts:
            if isinstance(part, And):
                inner = self.body(part.parts)
                if inner is None:
                    return None
                found.extend(inner)
                continue
            negated = isinstance(part, Not)
            formula = part.formula if isinstance(part, Not) else part
            if isinstance(formula, Truth):
                if formula.value == negated:
                    return None
                continue
            found.append(Condition(self.element(formula, negated), negated))
        return tuple(found)

    def element(
        self, formula: Formula, negated: bool
    ) -> Ordinary | WindowAtom | Comparison | Measure:
        match formula:
            case Atom():
                return Ordinary(formula)
            case Comparison():
                return formula
            case Aggregate():
                return self.measure(formula)
            case Some() | At():
                return self.window_atom((), formula, negated)
            case Within():
                return self.within(formula, negated)
            case Not():
                raise self.refused("a double negation", formula)
            case Reset():
                raise self.refused("the reset operator", formula)
            case _:
                raise self.refused("a body with formulas that are no extended atoms", formula)

    def measure(self, formula: Aggregate) -> Measure:
        rows: list[Row] = []
        for element in formula.elements:
            condition = self.body(element.condition)
            if condition is not None:
                rows.append(Row(element.terms, condition))
        return Measure(formula.function, tuple(rows), formula.sign, formula.bound)

    def within(self, formula: Within, negated: bool) -> WindowAtom:
        windows: list[Window] = []
        inner: Formula = formula
        while isinstance(inner, Within):
            windows.append(self.window(inner.window))
            inner = inner.formula
        if isinstance(inner, Some | Always | At):
            return self.window_atom(tuple(windows), inner, negated)
        if isinstance(inner, Reset):
            raise self.refused("the reset operator", inner)
        raise self.refused("a window without `some`, `always` or a time right below it", formula)

    def window_atom(self, windows: Chain, formula: Some | Always | At, negated: bool) -> WindowAtom:
        atom = formula.formula
        if not isinstance(atom, Atom):
            if any(isinstance(part, Within) for part in subformulas(atom)):
                raise self.refused("a window inside of `some`, `always` or @", formula)
            raise self.refused("a modality over something else than an atom", formula)
        if isinstance(formula, Always):
            return WindowAtom(windows, "always", atom)
        # Under `not`, a time that nothing else sets would range over all points instead.
        if isinstance(formula, Some) or (not negated and self.is_any_time(formula.time)):
            return WindowAtom(windows, "some", atom)
        return WindowAtom(windows, "at", atom, formula.time)

    def is_any_time(self, time: Term) -> bool:
        """Whether a time is a variable that occurs nowhere else: then any time will do."""
        return isinstance(time, Var) and self.uses[time.name] == 1

    def window(self, window: WrittenWindow) -> Window:
        match window:
            case TimeWindow(past=past, future=future, hop=hop):
                points = self.clock.points
                every = 1 if hop is None else points(hop)
                assert every is not None
                return Times(points(past), points(future), every)
            case TupleWindow(past=before, future=after):
                return Tuples(before, after)
            case PartitionWindow(past=before, future=after, patterns=patterns):
                return Groups(before, after, patterns)
            case FilterWindow(patterns=patterns):
                return Only(patterns)
            case IntervalWindow(first=Int(value=first), last=Int(value=last)):
                return Between(first, last)
            case IntervalWindow():
                raise self.refused("an interval window with variable ends", window)


def _uses(rule: Rule) -> Counter[str]:
    """How often every variable is written in a rule."""
    parts: tuple[Head, ...] = rule.body if rule.head is None else (rule.head, *rule.body)
    return Counter(
        term.name
        for part in parts
        for inner in subformulas(part)
        for written in own_terms(inner)
        for term in subterms(written)
        if isinstance(term, Var)
    )
