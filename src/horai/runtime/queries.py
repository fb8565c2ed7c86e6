"""Queries after a run: `holdsAt(F,16)`, `holdsFor(happy(chris)=true,I)`, `happensAt(E,T)`.

About atoms of LARS programs they are `h(X)`, `@3 h(X)` and `@T h(X)`.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import cast

from horai import settings
from horai.errors import QueryError
from horai.io.letters import BadRow
from horai.io.times import TimeScale, Unit, format_time
from horai.lang.core.diagnostics import did_you_mean, has_errors
from horai.lang.core.reader import read_only_clauses
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    ListTerm,
    Term,
    Var,
    children,
    functor,
    is_anonymous,
    is_ground,
    make,
)
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import At, Atom, Predicate
from horai.oracle.ec.terms import unify
from horai.plan.ec.entities import Entities
from horai.runtime.values import Value, plain, show

Interval = tuple[int, int | float]
Bindings = dict[str, Term]
PlainAnswer = Value | Interval | list[Interval]
"""What a variable of a question stands for, in Python."""
FORMS = "holdsAt(F,16), holdsFor(happy(chris)=true,I) or happensAt(E,T)"


@dataclass(frozen=True, slots=True)
class Queryable:
    """All that a run found, with the events and fluents of the rules."""

    entities: Entities
    spans: Mapping[tuple[Term, Term], Sequence[Interval]]
    events: Mapping[Term, Sequence[int]]

    def pairs(self) -> Iterator[tuple[Term, Sequence[Interval]]]:
        """Every `F=V` that ever holds, in the order of the rules, then by name and value."""
        order = {key: place for place, key in enumerate(self.entities.fluents)}
        pairs = ((_rank(f, order), show(f), show(v), f, v) for f, v in self.spans)
        for *_, fluent, value in sorted(pairs, key=lambda pair: pair[:3]):
            yield Compound("=", (fluent, value)), self.spans[fluent, value]

    def happenings(self) -> Iterator[tuple[Term, int]]:
        """Every event with its times, in the order of the rules, then of time."""
        order = {key: place for place, key in enumerate(self.entities.events)}
        all_of_them = [(event, time) for event, times in self.events.items() for time in times]
        yield from sorted(all_of_them, key=lambda x: (_rank(x[0], order), x[1], show(x[0])))


def _rank(entity: Term, order: dict[tuple[str, int], int]) -> int:
    key = functor(entity)
    return len(order) if key is None else order.get(key, len(order))


def ask(known: Queryable, text: str) -> list[Bindings]:
    """All answers to a query, each as what its variables stand for."""
    goal = read_goal(text)
    match goal:
        case Compound(name="holdsAt", args=(pair, when)):
            return _holds_at(known, _pair(pair, known), when)
        case Compound(name="holdsFor", args=(pair, intervals)):
            return _holds_for(known, _pair(pair, known), intervals)
        case Compound(name="happensAt", args=(event, when)):
            check_known(event, known.entities.events, "event")
            return _happens_at(known, event, when)
        case _:
            raise QueryError(f"`{text.strip()}` is not a query", f"ask {FORMS}")


def holds_at(known: Queryable, pair: str, time: int) -> bool:
    """Does some instance of `F=V` hold at a time-point?"""
    at = Int(settings.whole(time, "the time", "for all times ask holds_for(pair)"))
    return bool(_holds_at(known, _pair(read_goal(pair), known), at))


def intervals_of(known: Queryable, pair: str) -> list[Interval]:
    wanted = _pair(read_goal(pair), known)
    if not is_ground(wanted):
        raise QueryError(f"{pair} has variables", f'ask query("holdsFor({pair},I)") instead')
    assert isinstance(wanted, Compound)
    return list(known.spans.get((wanted.args[0], wanted.args[1]), ()))


def read_goal(text: str, forms: str = FORMS) -> Term:
    """The goal of a query; a full stop at its end may be left out."""
    line = settings.text(text, "a query", f"ask {forms}").strip()
    if line in ("", "."):
        raise QueryError("there is no query", f"ask {forms}")
    source = SourceText("query", line if line.endswith(".") else line + " .")
    clauses, findings = read_only_clauses(source)
    if findings:
        wrong = "; ".join(finding.message for finding in findings)
        raise QueryError(f"`{line}` cannot be read: {wrong}", f"ask {forms}")
    if len(clauses) != 1 or clauses[0].head is None or clauses[0].body is not None:
        raise QueryError(f"`{line}` is not one query", f"ask {forms}")
    return clauses[0].head


def _pair(term: Term, known: Queryable) -> Term:
    if isinstance(term, Var):
        return term
    if isinstance(term, Compound) and term.name == "=" and len(term.args) == 2:
        check_known(term.args[0], known.entities.fluents, "fluent")
        return term
    raise QueryError(f"`{show(term)}` is no fluent-value pair", f"write {show(term)}=true")


def check_known(term: Term, table: Collection[tuple[str, int]], what: str) -> None:
    """What nothing speaks of can have no answer: better say so than answer nothing."""
    key = functor(term)
    if isinstance(term, Var) or key in table:
        return
    names = {f"{name}/{arity}": name for name, arity in table}
    shown = f"{key[0]}/{key[1]}" if key else show(term)
    same = next((full for full, name in names.items() if key and name == key[0]), None)
    near = same or did_you_mean(shown, names)
    whose = "program" if what == "predicate" else "rules"
    listed = f"the {what}s of the {whose} are: {', '.join(names) or 'none'}"
    hint = f"did you mean {near}?" if near else listed
    raise QueryError(f"no {what} {shown} in the {whose}", hint)


def _holds_at(known: Queryable, pair: Term, when: Term) -> list[Bindings]:
    time = _time(when)
    if time is None:
        raise QueryError("holdsAt needs a time-point", "for all times ask holdsFor(F,I)")
    return [
        found
        for instance, intervals in known.pairs()
        if any(start <= time < end for start, end in intervals)
        if (found := match(pair, instance, {})) is not None
    ]


def _holds_for(known: Queryable, pair: Term, wanted: Term) -> list[Bindings]:
    if is_ground(pair):
        assert isinstance(pair, Compound)
        listed = list(known.spans.get((pair.args[0], pair.args[1]), ()))
        rows: Iterator[tuple[Term, Sequence[Interval]]] = iter([(pair, listed)])
    else:
        rows = known.pairs()
    return [
        found
        for instance, intervals in rows
        if (bound := match(pair, instance, {})) is not None
        if (found := match(wanted, interval_list(intervals), bound)) is not None
    ]


def _happens_at(known: Queryable, event: Term, when: Term) -> list[Bindings]:
    _time(when)
    return [
        found
        for instance, time in known.happenings()
        if (bound := match(event, instance, {})) is not None
        if (found := match(when, Int(time), bound)) is not None
    ]


def _time(term: Term) -> int | None:
    match term:
        case Int(value=value):
            return value
        case Var():
            return None
        case _:
            hint = "write a whole number, or with a unit a time such as 2024-05-01T10:00:00Z"
            raise QueryError(f"`{show(term)}` is not a time-point", hint)


def interval_list(intervals: Sequence[Interval]) -> ListTerm:
    """Intervals as the list `[(14,22)]` that rules and people see."""
    return ListTerm(
        tuple(
            Compound(",", (Int(start), Constant("inf") if end == math.inf else Int(int(end))))
            for start, end in intervals
        )
    )


def match(pattern: Term, instance: Term, bindings: Bindings) -> Bindings | None:
    """What the variables of a pattern stand for when it is this ground instance, or None."""
    found = unify(pattern, instance, bindings)
    return found and {name: term for name, term in found.items() if not is_anonymous(Var(name))}


ISO_TIME = r"'?([0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.,]+(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?)?)?)'?"
_TIME_OF_GOAL = re.compile(rf"(\s*(?:holdsAt|happensAt)\s*\(.*,\s*){ISO_TIME}(\s*\)\s*\.?\s*)")
_TIME_OF_ATOM = re.compile(rf"(\s*@\s*){ISO_TIME}(\s.*)")


def in_points(text: str, unit: Unit | None) -> str:
    """A question whose time is a time-point, where it was a time in ISO 8601.

    >>> in_points("holdsAt(F, 1970-01-01T00:01:00Z)", "s"), in_points("@1970-01-02 h(X)", "d")
    ('holdsAt(F, 60)', '@1 h(X)')
    """
    for pattern in (_TIME_OF_GOAL, _TIME_OF_ATOM):
        if found := pattern.fullmatch(str(text)):
            before, time, after = found.groups()
            try:
                return f"{before}{TimeScale(unit).point(time)}{after}"
            except BadRow as bad:
                hint = "write a time-point, or a time such as 2024-05-01T10:00:00Z"
                raise QueryError(bad.reason, hint) from None
    return text


def times_asked(text: str) -> set[str]:
    """The variables of a question that stand for times, or for lists of intervals.

    >>> sorted(times_asked("holdsFor(f(X)=V, [(S,E)])")), times_asked("@T h(X)")
    (['E', 'S'], {'T'})
    """
    if not asks_events(text):
        found = re.match(r"\s*@\s*([A-Z_]\w*)", text)
        return {found[1]} if found else set()
    goal = read_goal(text)
    return set(_names(goal.args[-1])) if isinstance(goal, Compound) else set()


def _names(term: Term) -> Iterator[str]:
    if isinstance(term, Var):
        yield term.name
    for child in children(term):
        yield from _names(child)


def _in_time(term: Term, unit: Unit) -> str:
    """A time or a list of intervals as people read it."""
    match term:
        case Int(value=point):
            return format_time(point, unit)
        case ListTerm(items=items):
            return f"[{','.join(_in_time(item, unit) for item in items)}]"
        case Compound(name=",", args=(start, end)):
            return f"({_in_time(start, unit)},{_in_time(end, unit)})"
        case _:
            return show(term)


def render(answers: list[Bindings], times: Set[str] = frozenset(), unit: Unit | None = None) -> str:
    """Answers as Prolog shows them; without variables just true or false.

    With a unit, what stands for `times` is written in ISO 8601.

    >>> render([{"F": Compound("=", (Constant("on"), Constant("true"))), "I": ListTerm(())}])
    'F = (on=true),\\nI = []'
    """
    if not answers:
        return "false"
    if not answers[0]:
        return "true"

    def shown(name: str, term: Term) -> str:
        return _bracketed(term) if unit is None or name not in times else _in_time(term, unit)

    return " ;\n".join(
        ",\n".join(f"{name} = {shown(name, term)}" for name, term in answer.items())
        for answer in answers
    )


def plain_answers(answers: list[Bindings], times: Set[str]) -> list[dict[str, PlainAnswer]]:
    """Answers as plain values; what stands for `times` is a number, or a list of intervals.

    >>> found = {"X": Constant("chris"), "I": interval_list([(14, 22), (30, math.inf)])}
    >>> plain_answers([found], {"I"})
    [{'X': 'chris', 'I': [(14, 22), (30, inf)]}]
    """
    return [
        {name: _plain_time(term) if name in times else plain(term) for name, term in one.items()}
        for one in answers
    ]


def _plain_time(term: Term) -> PlainAnswer:
    match term:
        case Constant(name="inf"):
            return math.inf
        case ListTerm(items=items):
            return [cast(Interval, _plain_time(item)) for item in items]
        case Compound(name=",", args=(start, end)):
            return cast(Interval, (_plain_time(start), _plain_time(end)))
        case _:
            return plain(term)


def _bracketed(term: Term) -> str:
    text = show(term)
    infix = isinstance(term, Compound) and term.name == "=" and len(term.args) == 2
    return f"({text})" if infix else text


# --- atoms of LARS programs ----------------------------------------------------------------------

QUERY_FORMS = "h(X) (at the last query time), @3 h(X) (at 3) or @T h(X) (at which query times)"


def asks_events(text: object) -> bool:
    """Is a question about events and fluents?"""
    return re.match(r"\s*(holdsAt|holdsFor|happensAt)\s*\(", str(text)) is not None


@dataclass(frozen=True, slots=True)
class AtomIntervals:
    """When atoms hold, the times at which that is known, and the predicates there are."""

    spans: Mapping[Atom, Sequence[Interval]]
    times: Sequence[int]
    known: Set[Predicate]

    def at(self, low: int, high: int) -> Iterator[tuple[int, Atom]]:
        """The atoms that hold at the times from `low` to `high`, in the order of time."""
        found: list[tuple[int, str, Atom]] = []
        for atom, spans in self.spans.items():
            for start, end in spans:
                first = bisect_left(self.times, max(low, start))
                after = bisect_left(self.times, min(high + 1, end))
                text = show(Compound(atom.name, atom.args)) if first < after else ""
                found += [(time, text, atom) for time in self.times[first:after]]
        yield from ((time, atom) for time, _, atom in sorted(found, key=lambda one: one[:2]))

    def holds(self, atom: Atom, time: int) -> bool:
        """Does some instance of an atom hold at a time?"""
        held = [one for one, spans in self.spans.items() if any(s <= time < e for s, e in spans)]
        return bool(_instances(atom, [(time, one) for one in held], {}))

    def intervals(self, atom: Atom) -> list[Interval]:
        """The maximal intervals of an atom."""
        check_known(make(atom.name, *atom.args), sorted(self.known), "predicate")
        if not all(map(is_ground, atom.args)):
            shown = show(Compound(atom.name, atom.args))
            raise QueryError(f"{shown} has variables", f'ask query("@T {shown}") instead')
        return list(self.spans.get(atom, ()))


def atom_of(text: str) -> Atom:
    """The atom that a text says."""
    atom, time = _question(text)
    if time is not None:
        raise QueryError(f"`{text}` says when", "ask for the atom alone")
    return atom


def ask_atoms(held: AtomIntervals, text: str) -> list[Bindings]:
    """All answers to a question about atoms, each as what its variables stand for.

    A question about a predicate that nobody knows is an error.
    """
    atom, time = _question(text)
    check_known(make(atom.name, *atom.args), sorted(held.known), "predicate")
    times = held.times
    if isinstance(time, Int):
        if time.value not in times:
            some = f"they are {times[0]} to {times[-1]}" if times else "there are none"
            raise QueryError(f"{time.value} is no query time of this run", some)
        return _instances(atom, held.at(time.value, time.value), {})
    if not times:
        return []
    if time is None:
        return _instances(atom, held.at(times[-1], times[-1]), {})
    found: list[Bindings] = []
    for when, one in held.at(times[0], times[-1]):
        bound = match(time, Int(when), {})
        found += [] if bound is None else _instances(atom, [(when, one)], bound)
    return found


def _instances(
    atom: Atom, held: Iterator[tuple[int, Atom]] | list[tuple[int, Atom]], bound: Bindings
) -> list[Bindings]:
    wanted = Compound(atom.name, atom.args)
    rows = (Compound(one.name, one.args) for _, one in held)
    return [found for one in rows if (found := match(wanted, one, bound)) is not None]


def _question(text: str) -> tuple[Atom, Term | None]:
    line = settings.text(text, "a query", f"ask {QUERY_FORMS}").strip().removesuffix(".")
    program, findings = read_text(f"horai :- {line}.", relations=False)
    if has_errors(findings):
        wrong = "; ".join(finding.message for finding in findings)
        raise QueryError(f"`{line}` cannot be read: {wrong}", f"ask {QUERY_FORMS}")
    match [rule.body for rule in program.rules]:
        case [(Atom() as atom,)]:
            return atom, None
        case [(At(time=Int() | Var() as time, formula=Atom() as atom),)]:
            return atom, time
        case _:
            raise QueryError(f"`{line}` is not a query", f"ask {QUERY_FORMS}")
