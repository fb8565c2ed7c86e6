"""Patterns of ETALIS as LARS: syntax trees, the reader, and the translation.

An event `a` has the intervals `a_iv(From, To)`: one point for every signal `a`, and those that
rules make of others. So intervals of one event may overlap. Patterns inside of others become
conditions of the same rule, except `AND`, `PAR`, `OR` and `NOT`, which need rules of their own.

Or intervals are points: an event holds at all points of its intervals, and its intervals are the
longest ones through which it holds. That is the same as long as intervals of one event have points
between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.source import Placed, SourceText
from horai.lang.core.terms import (
    Int,
    Span,
    Term,
    Var,
    deeper,
    is_anonymous,
    variables,
)
from horai.lang.lars import syntax as lars
from horai.lang.translate.statements import (
    ENDLESS,
    SIGNS,
    Foreign,
    FreshNames,
    LanguageSpec,
    StatementBuilder,
    compare,
    minus,
    plus,
    rule,
    statements,
)

Relation = OneOf["SEQ", "AND", "OR", "PAR", "EQUALS", "MEETS", "DURING", "STARTS", "FINISHES"]


@dataclass(frozen=True, slots=True)
class Moment(Placed):
    """A time point: the interval from it to itself."""

    time: int


@dataclass(frozen=True, slots=True)
class Lasting(Placed):
    """`(p).5`: the intervals of p that are at most so long."""

    pattern: Pattern
    most: int


@dataclass(frozen=True, slots=True)
class Binary(Placed):
    """`p SEQ q` and its kin."""

    relation: Relation
    left: Pattern
    right: Pattern


@dataclass(frozen=True, slots=True)
class Absent(Placed):
    """`NOT(p).[q, r]`: q SEQ r without any q SEQ p SEQ r."""

    pattern: Pattern
    first: Pattern
    last: Pattern


@dataclass(frozen=True, slots=True)
class Where(Placed):
    """`p WHERE X > 3, Y != Z`."""

    pattern: Pattern
    conditions: tuple[lars.Comparison, ...]


Pattern = lars.Atom | Moment | Lasting | Binary | Absent | Where
"""Events, from the stream or made by a rule, are atoms."""


@dataclass(frozen=True, slots=True)
class PatternRule(Placed):
    """`event <- pattern.`: the intervals of the pattern are intervals of the event."""

    head: lars.Atom
    pattern: Pattern
    source: SourceText | None = field(default=None, compare=False, repr=False)


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns that a pattern is made of; what must be absent comes last."""
    match pattern:
        case Binary(left=left, right=right):
            return (left, right)
        case Absent(pattern=inner, first=first, last=last):
            return (first, last, inner)
        case Lasting(pattern=inner) | Where(pattern=inner):
            return (inner,)
        case _:
            return ()


def subpatterns(pattern: Pattern) -> Iterator[Pattern]:
    """A pattern and all that it is made of."""
    yield pattern
    for part in parts(pattern):
        yield from subpatterns(part)


def events(pattern: Pattern) -> Iterator[lars.Atom]:
    """All events of a pattern."""
    return (part for part in subpatterns(pattern) if isinstance(part, lars.Atom))


class Patterns(StatementBuilder):
    """Rules of patterns from parse trees."""

    def rule(self, place: Span, head: lars.Atom, pattern: Pattern) -> PatternRule:
        return PatternRule(head, pattern, self.source, span=place)

    def bare(self, place: Span, event: lars.Atom) -> None:
        hint = "write `event <- pattern.`; events themselves come from the stream"
        self.say("H801", "an event without a pattern", place, hint)

    def where(
        self, place: Span, pattern: Pattern, conditions: tuple[lars.Comparison, ...]
    ) -> Where:
        return Where(pattern, conditions, span=place)

    def binary(self, place: Span, left: Pattern, relation: Token, right: Pattern) -> Binary:
        return Binary(str(relation), left, right, span=place)  # type: ignore[arg-type]

    def moment(self, place: Span, token: Token) -> Moment:
        return Moment(int(token), span=place)

    def lasting(self, place: Span, pattern: Pattern, most: Token) -> Lasting:
        return Lasting(pattern, int(most), span=place)

    def absent(self, place: Span, inner: Pattern, first: Pattern, last: Pattern) -> Absent:
        return Absent(inner, first, last, span=place)

    def comparison(self, place: Span, left: Term, sign: Token, right: Term) -> lars.Comparison:
        return lars.Comparison(str(sign), left, right, span=place)  # type: ignore[arg-type]

    def variable(self, place: Span, token: Token) -> Term:
        # Every `_` is a variable of its own; its place tells it from the others.
        return Var(f"_#{place[0]}" if token == "_" else str(token), place)


Predicate = tuple[str, int]


def _foreign(tokens: list[Token], wrong: int) -> Foreign | None:
    """A NOT that does not say between which events."""
    for place in range(min(wrong, len(tokens) - 1), -1, -1):
        if tokens[place].type == "_NOT":
            depth, last = 0, place
            for last in range(place + 1, wrong):
                depth += {"_LPAR": 1, "_RPAR": -1}.get(tokens[last].type, 0)
                if depth == 0:
                    break
            if depth or not last >= wrong - 1:
                return None  # what is wrong is inside of it, or behind it
            hint = "say between which events: `NOT(b).[a, c]` is `a SEQ c` without `b` in between"
            return Foreign(place, last, "NOT stands between two events", hint)
    return None


LANGUAGE = LanguageSpec(
    "etalis.lark",
    Patterns,
    {
        **SIGNS,
        "NAME": "a name",
        "VAR": "a variable",
        "STRING": "a text",
        "RELATION": "`SEQ`",
        "COMPARE": "a comparison",
        "ADD": "`+`",
        "MUL": "`*`",
    },
    ".",
    _foreign,
)


def read_source(source: SourceText) -> tuple[list[PatternRule], list[Diagnostic]]:
    """The rules of a text, and all that is wrong with it.

    >>> rules, findings = read_source(SourceText("f", "a(X) <- x(X) SEQ (y OR z)."))
    >>> rules[0].head.name, findings
    ('a', [])
    """
    report = Report()
    rules: list[PatternRule] = []
    for found in statements(LANGUAGE, source, report):
        if deeper([found.pattern], parts):
            hint = "name the parts in rules of their own"
            report.add("H801", "this pattern is nested too deeply", source, found.span, hint)
        else:
            rules.append(found)
    for one in rules:
        _check_variables(one, report)
        _check_shared(one, report)
    _check_negation(rules, report)
    return rules, sorted(report.findings, key=sort_key)


def bound(pattern: Pattern) -> set[str]:
    """The variables that a pattern gives values to, whatever makes it hold."""
    match pattern:
        case lars.Atom(args=args):
            return {name for arg in args for name in variables(arg)}
        case Binary(relation="OR", left=left, right=right):
            return bound(left) & bound(right)
        case Absent(first=first, last=last):
            return bound(first) | bound(last)
        case _:
            return set().union(*map(bound, parts(pattern)))


def _check_variables(rule: PatternRule, report: Report) -> None:
    """Variables of heads and conditions need values."""
    everywhere = {var.name for var in _occurrences(rule.pattern)}
    for var in [var for arg in rule.head.args for var in variables(arg).values()]:
        if var.name not in everywhere:  # otherwise the checks below tell why it is not enough
            _say_unbound(var, rule, report)
    for where in subpatterns(rule.pattern):
        if isinstance(where, Where):
            inside = bound(where.pattern)
            for term in _own_terms(where):
                for var in variables(term).values():
                    if var.name not in inside:
                        _say_unbound(var, rule, report)


def _check_shared(rule: PatternRule, report: Report) -> None:
    """Variables of one alternative or of an absence alone cannot stand elsewhere in the rule."""
    everywhere = Counter(var.name for var in _occurrences(rule.pattern))
    everywhere.update(name for arg in rule.head.args for name in variables(arg))
    for part in subpatterns(rule.pattern):
        is_choice = isinstance(part, Binary) and part.relation == "OR"
        if not is_choice and not isinstance(part, Absent):
            continue
        known = bound(part)
        inside = Counter(var.name for var in _occurrences(part))
        for var in _occurrences(part):
            if everywhere[var.name] > inside[var.name] and var.name not in known:
                known.add(var.name)  # it is said once
                _say_unbound(var, rule, report)


def _occurrences(pattern: Pattern) -> Iterator[Var]:
    for part in subpatterns(pattern):
        for term in _own_terms(part):
            yield from variables(term).values()


def _own_terms(pattern: Pattern) -> tuple[Term, ...]:
    match pattern:
        case lars.Atom(args=args):
            return args
        case Where(conditions=conditions):
            return tuple(side for c in conditions for side in (c.left, c.right))
        case _:
            return ()


def _say_unbound(var: Var, rule: PatternRule, report: Report) -> None:
    name = "_" if is_anonymous(var) else var.name
    hint = f"let an event of the pattern carry `{name}`; of alternatives, each of them"
    report.add("H806", f"nothing gives `{name}` a value", rule.source, var.span, hint)


def _check_negation(rules: list[PatternRule], report: Report) -> None:
    """An event may need itself, but not through a pattern with NOT."""
    needs: dict[Predicate, set[Predicate]] = {}
    for one in rules:
        found = {event.predicate for event in events(one.pattern)}
        needs.setdefault(one.head.predicate, set()).update(found)
    for one in rules:
        head = one.head.predicate
        for absent in subpatterns(one.pattern):
            for event in events(absent) if isinstance(absent, Absent) else ():
                if head in _reached(event.predicate, needs):
                    message = f"`{one.head.name}` needs itself, through NOT"
                    hint = "let the events of a NOT depend on other events only"
                    report.add("H805", message, one.source, event.span, hint)


def _reached(start: Predicate, needs: dict[Predicate, set[Predicate]]) -> set[Predicate]:
    found, waiting = {start}, [start]
    while waiting:
        for other in needs.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


@dataclass(frozen=True)
class _Found:
    """Conditions under which a pattern has an interval, and the interval."""

    body: tuple[lars.Formula, ...]
    start: Term
    end: Term


def translated(rules: Iterable[PatternRule], points: bool = False) -> lars.Program:
    """The program that derives all intervals of all events, as arguments or as points."""
    return _Translation(list(rules), points).program()


class _Translation:
    def __init__(self, rules: list[PatternRule], points: bool) -> None:
        self._rules = rules
        self._points = points
        everything = [e for r in rules for e in (r.head, *events(r.pattern))]
        self._known = dict.fromkeys((event.name, len(event.args)) for event in everything)
        self._names = FreshNames(name for name, _ in self._known)
        self._intervals = {
            name: self._names.free(f"{name}_iv")
            for name in dict.fromkeys(n for n, _ in self._known)
        }
        self._made: list[lars.Rule] = []
        self._spread: dict[tuple[str, int], str] = {}
        self._numbers, self._letter = 0, "T"

    def program(self) -> lars.Program:
        """Rules for the signals first, then for the patterns."""
        for given in self._rules:
            self._numbers = 0
            self._letter = _letter(given)
            name = self._head(given.head)
            for found in self._cases(given.pattern):
                head = lars.Atom(name, (*given.head.args, found.start, found.end))
                self._made.append(rule(head, *found.body))
        read = self._from_points if self._points else self._from_signals
        return lars.Program((*map(read, self._known), *self._made))

    def _head(self, event: lars.Atom) -> str:
        """The head of a rule: intervals, or points from one to another."""
        name, arity = event.name, len(event.args)
        if not self._points:
            return self._intervals[name]
        if (name, arity) not in self._spread:
            spread = self._spread[name, arity] = self._names.free(f"{name}_from")
            args, first, last = _arguments(arity), Var("T"), Var("To")
            here = lars.Atom(spread, (*args, first, last))
            next_one = lars.Atom(spread, (*args, plus(first, 1), last))
            self._made.append(rule(lars.At(first, lars.Atom(name, args)), here))
            self._made.append(rule(next_one, here, compare(first, "<", last)))
        return self._spread[name, arity]

    def _from_points(self, event: tuple[str, int]) -> lars.Rule:
        """The longest intervals through which an event holds."""
        name, arity = event
        args, first, last = _arguments(arity), Var("T"), Var("To")
        atom = lars.Atom(name, args)
        body = (lars.At(first, atom), lars.At(last, atom), compare(first, "<=", last))
        throughout = lars.Within(lars.IntervalWindow(first, last), lars.Always(atom))
        ends = (lars.Not(lars.At(minus(first, 1), atom)), lars.Not(lars.At(plus(last, 1), atom)))
        return rule(
            lars.Atom(self._intervals[name], (*args, first, last)), *body, throughout, *ends
        )

    def _from_signals(self, event: tuple[str, int]) -> lars.Rule:
        name, arity = event
        args, time = _arguments(arity), Var("T")
        head = lars.Atom(self._intervals[name], (*args, time, time))
        return rule(head, lars.Within(ENDLESS, lars.At(time, lars.Atom(name, args))))

    def _times(self) -> tuple[Var, Var]:
        return self._time(), self._time()

    def _time(self) -> Var:
        self._numbers += 1
        return Var(f"{self._letter}{self._numbers}")

    def _cases(self, pattern: Pattern) -> list[_Found]:
        """All the ways in which a pattern may come about."""
        match pattern:
            case Binary(relation="OR", left=left, right=right):
                return [*self._cases(left), *self._cases(right)]
            case Binary(relation="AND" | "PAR", left=left, right=right):
                return list(self._hulls(pattern.relation, self._one(left), self._one(right)))
            case Where(pattern=inner, conditions=conditions):
                return [
                    _Found((*found.body, *conditions), found.start, found.end)
                    for found in self._cases(inner)
                ]
            case _:
                return [self._one(pattern)]

    def _one(self, pattern: Pattern) -> _Found:
        """The pattern as conditions of one rule, with a name of its own where it needs one."""
        match pattern:
            case lars.Atom(name=name, args=args):
                start, end = self._times()
                atom = lars.Atom(self._intervals[name], (*args, start, end))
                return _Found((atom,), start, end)
            case Moment(time=time):
                return _Found((), Int(time), Int(time))
            case Lasting(pattern=inner, most=most):
                found = self._one(inner)
                short = compare(minus(found.end, found.start), "<=", Int(most))
                return _Found((*found.body, short), found.start, found.end)
            case Binary(relation="OR" | "AND" | "PAR") | Where(pattern=Binary(relation="OR")):
                return self._named(pattern)
            case Where():
                (found,) = self._cases(pattern) if _is_one(pattern) else [self._named(pattern)]
                return found
            case Absent():
                return self._absent(pattern)
            case Binary(left=left, right=right):
                return _related(pattern.relation, self._one(left), self._one(right))
        raise AssertionError(f"{pattern} is no pattern")

    def _named(self, pattern: Pattern) -> _Found:
        """A predicate for the intervals of a pattern and the values of its variables."""
        start, end = self._times()
        head = lars.Atom(self._names.fresh("part"), (*_carried(pattern), start, end))
        numbers, self._numbers = self._numbers, 0
        for found in self._cases(pattern):
            args = (*_carried(pattern), found.start, found.end)
            self._made.append(rule(lars.Atom(head.name, args), *found.body))
        self._numbers = numbers
        return _Found((head,), start, end)

    def _absent(self, pattern: Absent) -> _Found:
        """`q SEQ r` except where there is a `q SEQ p SEQ r` from and to the same points."""
        whole = Binary("SEQ", pattern.first, pattern.last)
        blocked = Binary("SEQ", Binary("SEQ", pattern.first, pattern.pattern), pattern.last)
        name = self._names.fresh("blocked")
        carried = _carried(whole)
        numbers, self._numbers = self._numbers, 0
        between = self._one(blocked)
        self._made.append(
            rule(lars.Atom(name, (*carried, between.start, between.end)), *between.body)
        )
        self._numbers = numbers
        found = self._one(whole)
        no = lars.Not(lars.Atom(name, (*carried, found.start, found.end)))
        return _Found((*found.body, no), found.start, found.end)

    def _hulls(self, relation: str, one: _Found, other: _Found) -> Iterable[_Found]:
        """From the earlier start to the later end; `PAR` wants that both overlap."""
        body = (*one.body, *other.body)
        if relation == "PAR":
            pairs = ((one.start, other.end), (other.start, one.end))
            longer = ((one.start, one.end), (other.start, other.end))
            body = (*body, *(compare(start, "<", end) for start, end in (*pairs, *longer)))
        for starts, start in (("<=", one.start), (">", other.start)):
            for ends, end in ((">=", one.end), ("<", other.end)):
                first = compare(one.start, starts, other.start)  # type: ignore[arg-type]
                last = compare(one.end, ends, other.end)  # type: ignore[arg-type]
                yield _Found((*body, first, last), start, end)


# What must hold of two intervals, (A, B) and (C, D), and the interval that comes of both.
_RELATED: dict[str, tuple[list[tuple[str, lars.Sign, str]], tuple[str, str]]] = {
    "SEQ": ([("B", "<", "C")], ("A", "D")),
    "MEETS": ([("B", "=", "C")], ("A", "D")),
    "EQUALS": ([("A", "=", "C"), ("B", "=", "D")], ("A", "B")),
    "DURING": ([("C", "<", "A"), ("A", "<", "B"), ("B", "<", "D")], ("C", "D")),
    "STARTS": ([("A", "=", "C"), ("B", "<", "D")], ("C", "D")),
    "FINISHES": ([("B", "=", "D"), ("C", "<", "A")], ("C", "D")),
}


def _related(relation: str, one: _Found, other: _Found) -> _Found:
    """Both intervals as a relation wants them, and the interval that comes of it."""
    wanted, (start, end) = _RELATED[relation]
    ends = {"A": one.start, "B": one.end, "C": other.start, "D": other.end}
    compared = (compare(ends[a], sign, ends[b]) for a, sign, b in wanted)
    return _Found((*one.body, *other.body, *compared), ends[start], ends[end])


def _is_one(pattern: Pattern) -> bool:
    """Does a pattern under filters come about in one way?"""
    while isinstance(pattern, Where):
        pattern = pattern.pattern
    return not (isinstance(pattern, Binary) and pattern.relation in ("OR", "AND", "PAR"))


def _arguments(arity: int) -> tuple[Var, ...]:
    return tuple(Var(f"X{number}") for number in range(1, arity + 1))


def _letter(given: PatternRule) -> str:
    """The prefix of names of times, by which they differ from all names of the rule."""
    taken = {
        name for e in (given.head, *events(given.pattern)) for a in e.args for name in variables(a)
    }
    letter = "T"
    while any(name.startswith(letter) and name[len(letter) :].isdigit() for name in taken):
        letter += "T"
    return letter


def _carried(pattern: Pattern) -> tuple[Term, ...]:
    return tuple(Var(name) for name in sorted(bound(pattern)) if not is_anonymous(Var(name)))
