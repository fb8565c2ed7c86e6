"""Event patterns as LARS: intervals are arguments.

An event `a` has the intervals `a_iv(From, To)`: one point for every signal `a`, and those that
rules make of others. So intervals of one event may overlap. Patterns inside of others become
conditions of the same rule, except `AND`, `PAR`, `OR` and `NOT`, which need rules of their own.

Or intervals are points: an event holds at all points of its intervals, and its intervals are the
longest ones through which it holds. That is the same as long as intervals of one event have points
between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from horai.lang.core.terms import Int, Term, Var, is_anonymous, variables
from horai.lang.lars.syntax import (
    Always,
    At,
    Atom,
    Formula,
    IntervalWindow,
    Not,
    Program,
    Rule,
    Within,
)
from horai.lang.translate.building import ENDLESS, FreshNames, compare, minus, plus, rule
from horai.lang.translate.etalis.reader import bound
from horai.lang.translate.etalis.syntax import (
    Absent,
    Binary,
    Event,
    Lasting,
    Moment,
    Pattern,
    PatternRule,
    Where,
    events,
)


@dataclass(frozen=True)
class _Found:
    """Conditions under which a pattern has an interval, and the interval."""

    body: tuple[Formula, ...]
    start: Term
    end: Term


def translated(rules: Iterable[PatternRule], points: bool = False) -> Program:
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
        self._made: list[Rule] = []
        self._spread: dict[tuple[str, int], str] = {}
        self._numbers, self._letter = 0, "T"

    def program(self) -> Program:
        """Rules for the signals first, then for the patterns."""
        for given in self._rules:
            self._numbers = 0
            self._letter = _letter(given)
            name = self._head(given.head)
            for found in self._cases(given.pattern):
                head = Atom(name, (*given.head.args, found.start, found.end))
                self._made.append(rule(head, *found.body))
        read = self._from_points if self._points else self._from_signals
        return Program((*map(read, self._known), *self._made))

    def _head(self, event: Event) -> str:
        """What a rule derives: intervals, or points from one to another."""
        name, arity = event.name, len(event.args)
        if not self._points:
            return self._intervals[name]
        if (name, arity) not in self._spread:
            spread = self._spread[name, arity] = self._names.free(f"{name}_from")
            args, first, last = _arguments(arity), Var("T"), Var("To")
            here = Atom(spread, (*args, first, last))
            next_one = Atom(spread, (*args, plus(first, 1), last))
            self._made.append(rule(At(first, Atom(name, args)), here))
            self._made.append(rule(next_one, here, compare(first, "<", last)))
        return self._spread[name, arity]

    def _from_points(self, event: tuple[str, int]) -> Rule:
        """The longest intervals through which an event holds."""
        name, arity = event
        args, first, last = _arguments(arity), Var("T"), Var("To")
        atom = Atom(name, args)
        body = (At(first, atom), At(last, atom), compare(first, "<=", last))
        throughout = Within(IntervalWindow(first, last), Always(atom))
        ends = (Not(At(minus(first, 1), atom)), Not(At(plus(last, 1), atom)))
        return rule(Atom(self._intervals[name], (*args, first, last)), *body, throughout, *ends)

    def _from_signals(self, event: tuple[str, int]) -> Rule:
        name, arity = event
        args, time = _arguments(arity), Var("T")
        head = Atom(self._intervals[name], (*args, time, time))
        return rule(head, Within(ENDLESS, At(time, Atom(name, args))))

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
                more = [compare(c.left, c.sign, c.right) for c in conditions]
                return [
                    _Found((*found.body, *more), found.start, found.end)
                    for found in self._cases(inner)
                ]
            case _:
                return [self._one(pattern)]

    def _one(self, pattern: Pattern) -> _Found:
        """The pattern as conditions of one rule, with a name of its own where it needs one."""
        match pattern:
            case Event(name=name, args=args):
                start, end = self._times()
                atom = Atom(self._intervals[name], (*args, start, end))
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
        head = Atom(self._names.fresh("part"), (*_carried(pattern), start, end))
        numbers, self._numbers = self._numbers, 0
        for found in self._cases(pattern):
            args = (*_carried(pattern), found.start, found.end)
            self._made.append(rule(Atom(head.name, args), *found.body))
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
        self._made.append(rule(Atom(name, (*carried, between.start, between.end)), *between.body))
        self._numbers = numbers
        found = self._one(whole)
        no = Not(Atom(name, (*carried, found.start, found.end)))
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


def _related(relation: str, one: _Found, other: _Found) -> _Found:
    """Both intervals as a relation wants them, and the interval that comes of it."""
    body = (*one.body, *other.body)
    match relation:
        case "SEQ":
            wanted, start, end = [compare(one.end, "<", other.start)], one.start, other.end
        case "MEETS":
            wanted, start, end = [compare(one.end, "=", other.start)], one.start, other.end
        case "EQUALS":
            wanted = [compare(one.start, "=", other.start), compare(one.end, "=", other.end)]
            start, end = one.start, one.end
        case "DURING":
            wanted = [
                compare(other.start, "<", one.start),
                compare(one.start, "<", one.end),
                compare(one.end, "<", other.end),
            ]
            start, end = other.start, other.end
        case "STARTS":
            wanted = [compare(one.start, "=", other.start), compare(one.end, "<", other.end)]
            start, end = other.start, other.end
        case "FINISHES":
            wanted = [compare(one.end, "=", other.end), compare(other.start, "<", one.start)]
            start, end = other.start, other.end
        case _:
            raise AssertionError(f"{relation} is no relation of two intervals")
    return _Found((*body, *wanted), start, end)


def _is_one(pattern: Pattern) -> bool:
    """Does a pattern under filters come about in one way?"""
    while isinstance(pattern, Where):
        pattern = pattern.pattern
    return not (isinstance(pattern, Binary) and pattern.relation in ("OR", "AND", "PAR"))


def _arguments(arity: int) -> tuple[Var, ...]:
    return tuple(Var(f"X{number}") for number in range(1, arity + 1))


def _letter(given: PatternRule) -> str:
    """What names of times begin with, so that they differ from all names of the rule."""
    taken = {
        name for e in (given.head, *events(given.pattern)) for a in e.args for name in variables(a)
    }
    letter = "T"
    while any(name.startswith(letter) and name[len(letter) :].isdigit() for name in taken):
        letter += "T"
    return letter


def _carried(pattern: Pattern) -> tuple[Term, ...]:
    return tuple(Var(name) for name in sorted(bound(pattern)) if not is_anonymous(Var(name)))
