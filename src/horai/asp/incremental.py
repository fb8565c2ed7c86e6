"""The incremental encoding of plain LARS: rules that are always there, and those of single points.

Sliding time windows over derived atoms bring rules with every time point, which stay as long as the
window is; other windows over derived atoms get rules for the points they cover, time by time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from horai.asp import normal
from horai.asp.encode import selected
from horai.asp.symbols import FAR
from horai.asp.windows import ViewKey, chain_span
from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.lars.syntax import Atom, Comparison, Predicate
from horai.plan.lars.fragments import NotServed


@dataclass(frozen=True, slots=True)
class Literal:
    """A predicate of an encoding with arguments; expressions among them are computed."""

    name: str
    args: tuple[Term, ...] = ()
    code: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "code", hash((self.name, self.args)))

    def __hash__(self) -> int:
        return self.code  # rules are looked up all the time: it is computed once


@dataclass(frozen=True, slots=True)
class Check:
    """A comparison, perhaps negated."""

    comparison: Comparison
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """`head :- positive, not negative, tests`."""

    head: Literal
    positive: tuple[Literal, ...] = ()
    negative: tuple[Literal, ...] = ()
    tests: tuple[Check, ...] = ()
    code: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = (self.head, self.positive, self.negative, self.tests)
        object.__setattr__(self, "code", hash(parts))

    def __hash__(self) -> int:
        return self.code


def plain_name(predicate: Predicate) -> str:
    """The predicate of atoms at the current time; no helper is called like that."""
    return f"p:{predicate[0]}/{predicate[1]}"


def plain(atom: Atom) -> Literal:
    """An atom at the current time."""
    return Literal(plain_name(atom.predicate), atom.args)


def pinned_name(name: str) -> str:
    """The predicate of atoms at a time."""
    return f"@{name}"


def at(literal: Literal, time: Term) -> Literal:
    """A literal pinned to a time."""
    return Literal(pinned_name(literal.name), (*literal.args, time))


def derived_now(literal: Literal) -> Literal:
    """An atom that a rule derives for the current time, before it gets there."""
    return Literal(f"now:{literal.name}", literal.args)


def open_literal(predicate: Predicate) -> Literal:
    """An atom of a predicate with a variable at every place."""
    args = tuple(Var(f"X{place}'") for place in range(predicate[1]))
    return Literal(plain_name(predicate), args)


Lasting = tuple[int | None, Template]
"""A rule, and for how many points it is there; None is for ever."""


class Expiry:
    """Which rules are there: each as long as one of the points that brought it says.

    The same rule may come again before it goes; it stays until its last copy has gone.
    """

    def __init__(self) -> None:
        self.copies: dict[Template, int] = {}
        self._ends: dict[int, list[Template]] = {}

    def add(self, time: int, lasting: Lasting) -> bool:
        """Take in a rule; True if it is new."""
        points, template = lasting
        is_new = template not in self.copies
        if points is None:
            self.copies[template] = self.copies.get(template, 1)
        else:
            self.copies[template] = self.copies.get(template, 0) + 1
            self._ends.setdefault(time + points, []).append(template)
        return is_new

    def expired(self, time: int) -> Iterator[Template]:
        """The rules that go at a time, which never falls."""
        for end in [end for end in self._ends if end <= time]:
            for template in self._ends.pop(end):
                self.copies[template] -= 1
                if not self.copies[template]:
                    del self.copies[template]
                    yield template


_T = Var("T'")


@dataclass(frozen=True, slots=True)
class SpannedRules:
    """A window atom over derived atoms, and the rules for its predicate at a time."""

    name: str
    key: ViewKey
    start: int

    def at(self, time: int) -> Iterator[Template]:
        """The rules for the points that the window covers at a time."""
        span = chain_span(self.key.windows, self.start, time)
        if span is None:
            return
        for args in selected(self.key.windows, self.key.predicate):
            atom = Literal(plain_name(self.key.predicate), args)
            if self.key.modality == "always":
                if span[1] is not None:
                    points = range(span[0], span[1] + 1)
                    body = tuple(at(atom, Int(point)) for point in points)
                    yield Template(Literal(self.name, args), body)
            else:
                yield self._somewhere(atom, *span)

    def _somewhere(self, atom: Literal, first: int, last: int | None) -> Template:
        held: tuple[Term, ...] = atom.args
        if self.key.modality == "at":
            held = (*held, _T)
        checks = [Check(Comparison(">=", _T, Int(first)))]
        if last is not None:
            checks.append(Check(Comparison("<=", _T, Int(last))))
        return Template(Literal(self.name, held), (at(atom, _T),), (), tuple(checks))


@dataclass(frozen=True, slots=True)
class WindowRules:
    """A sliding time window over derived atoms, and the rules for its predicate."""

    name: str
    key: ViewKey
    past: int

    def at(self, time: int, start: int) -> Iterator[Lasting]:
        """The rules that come with a time point."""
        atom = open_literal(self.key.predicate)
        held = Literal(self.name, atom.args)
        if self.key.modality == "always":
            spoiled = Literal(f"spoil:{self.name}", atom.args)
            yield None, Template(held, (atom,), (spoiled,))
            # Before the start there are no points that could lack the atom.
            if self.past >= 1 and time - 1 >= start:
                yield self.past, Template(spoiled, (atom,), (at(atom, Int(time - 1)),))
            return
        if self.key.modality == "at":
            held = Literal(held.name, (*held.args, Int(time)))
        yield self.past + 1, Template(held, (at(atom, Int(time)),))


class IncrementalRules:
    """The encoding of a program: base rules, rules of windows, and windows that are fed as facts.

    Sliding time windows over derived atoms have rules that come with every time point, and other
    windows over derived atoms rules for the points they cover. All that is over signals is fed.
    """

    def __init__(
        self,
        program: normal.PlainProgram,
        signalled: frozenset[Predicate] = frozenset(),
        *,
        start: int = 0,
    ) -> None:
        self.program = program
        self.signalled = signalled & program.defined
        self.start = start
        self.windows: dict[ViewKey, WindowRules] = {}
        self.fed: dict[ViewKey, str] = {}
        self.spanned: dict[ViewKey, SpannedRules] = {}
        self.reach: dict[Predicate, int | None] = {}
        """For how many points after its own a pinned signal is asked for; None is for ever."""
        self.ordinary: set[Predicate] = set()
        """Signals that are asked for at the current time."""
        self.timed = {h.atom.predicate for r in program.rules for h in r.heads() if h.time}
        self.pinned: set[Predicate] = set(self.timed)
        found = [self._base_rule(rule) for rule in program.rules]
        # Heads are named last, for only now it is known which atoms are asked for at times.
        self._named = {plain_name(p) for p in self.pinned & program.derived}
        self.base = [replace(template, head=self._derived(template.head)) for template in found]

    # --- base rules ---

    def _base_rule(self, rule: normal.PlainRule) -> Template:
        self._rule = rule
        if isinstance(rule.head, normal.Choosing):
            raise self._refused("a choice")
        if len(rule.head) != 1:
            raise self._refused("a constraint" if not rule.head else "a disjunction")
        positive: list[Literal] = []
        negative: list[Literal] = []
        tests: list[Check] = []
        for condition in rule.body:
            if isinstance(condition.element, normal.Measure):
                raise self._refused("an aggregate")
            if isinstance(condition.element, Comparison):
                tests.append(Check(condition.element, condition.negated))
            else:
                found = self._element(condition)
                (negative if condition.negated else positive).append(found)
        head, guards = self._head(rule.head[0])
        return Template(head, tuple(positive), tuple(negative), (*tests, *guards))

    def _refused(self, reason: str) -> NotServed:
        return NotServed(reason, self._rule.origin, self._rule.origin.span)

    def _head(self, head: normal.Headed) -> tuple[Literal, list[Check]]:
        if head.time is None:
            return plain(head.atom), []
        on_timeline = Comparison(">=", head.time, Int(self.start))
        is_point = Comparison("=", Compound("%", (head.time, Int(1))), Int(0))  # a whole number
        is_near = Comparison("<", head.time, Int(FAR))
        guards = [on_timeline, is_near, is_point]
        return at(plain(head.atom), head.time), [Check(guard) for guard in guards]

    def _derived(self, head: Literal) -> Literal:
        """Atoms that hold now and are asked for at times get a name of their own.

        From there it goes to the current time point, and from that to the atom itself. If it went
        back and forth between these two, either would make the other possible for ever.
        """
        return derived_now(head) if head.name in self._named else head

    def _element(self, condition: normal.Condition) -> Literal:
        element = condition.element
        assert isinstance(element, normal.Ordinary | normal.WindowAtom)
        atom = element.atom
        predicate = atom.predicate
        is_derived = predicate in self.program.derived
        if isinstance(element, normal.Ordinary):
            if not is_derived and predicate not in self.program.background:
                self.ordinary.add(predicate)
            return plain(atom)
        if predicate in self.program.background:
            raise self._refused(f"the background predicate {atom.name} under a window or at a time")
        if not element.windows and element.modality == "at":
            assert element.time is not None
            self._ask(predicate, None)
            return at(plain(atom), element.time)
        return self._window_atom(element, is_derived)

    def _window_atom(self, element: normal.WindowAtom, is_derived: bool) -> Literal:
        key = ViewKey(element.windows, element.modality, element.atom.predicate)
        args = element.atom.args if element.time is None else (*element.atom.args, element.time)
        if element.counts or not is_derived:
            return Literal(self.fed.setdefault(key, f"f{len(self.fed)}"), args)
        match element.windows:
            case (normal.TimeRange(past=int() as past, future=0, hop=1),):
                self._ask(key.predicate, past)
                rules = WindowRules(f"w{len(self.windows)}", key, past)
                return Literal(self.windows.setdefault(key, rules).name, args)
        self._ask(key.predicate, None)
        spanned = SpannedRules(f"s{len(self.spanned)}", key, self.start)
        return Literal(self.spanned.setdefault(key, spanned).name, args)

    def _ask(self, predicate: Predicate, past: int | None) -> None:
        self.pinned.add(predicate)
        known = self.reach.get(predicate, 0)
        self.reach[predicate] = None if past is None or known is None else max(known, past)

    # --- from time point to time point ---

    def signal(self, atom: Atom, time: int) -> Iterator[Lasting]:
        """The facts that come with a signal."""
        literal = plain(atom)
        if atom.predicate in self.ordinary or atom.predicate in self.signalled:
            yield 1, Template(self._derived(literal))
        if atom.predicate in self.reach:
            past = self.reach[atom.predicate]
            yield None if past is None else past + 1, Template(at(literal, Int(time)))

    def announced(self, atom: Atom, time: int) -> Iterator[Template]:
        """The fact of a signal to come, where all times are asked for."""
        if self.reach.get(atom.predicate, 0) is None:
            yield Template(at(plain(atom), Int(time)))

    def point(self, time: int) -> Iterator[Lasting]:
        """The rules that come with a time point."""
        for predicate in sorted(self.pinned & self.program.derived):
            atom = open_literal(predicate)
            yield 1, Template(atom, (at(atom, Int(time)),))
            yield 1, Template(at(atom, Int(time)), (derived_now(atom),))
        for rules in self.windows.values():
            yield from rules.at(time, self.start)

    def longest(self) -> int:
        """The size of the largest window with rules: earlier points leave no rule behind."""
        return max((rules.past for rules in self.windows.values()), default=0)
