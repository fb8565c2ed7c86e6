"""Atom patterns straight from their table: intervals, worked out until nothing is new."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from horai.lang.core.terms import Compound, Constant, Int, Term, Var
from horai.lang.lars.syntax import Atom, Comparison
from horai.lang.translate.etalis import (
    Absent,
    Binary,
    Lasting,
    Moment,
    Pattern,
    PatternRule,
    Where,
    events,
)

Ground = tuple[str, tuple[Term, ...]]
Interval = tuple[int, int]
Values = Mapping[str, Term]
Found = set[tuple[tuple[tuple[str, Term], ...], Interval]]
Intervals = dict[Ground, set[Interval]]


def least_model(rules: Iterable[PatternRule], signals: Iterable[tuple[int, Ground]]) -> Intervals:
    """All intervals of all events; rules with absences come after what they speak of."""
    model: Intervals = {}
    for time, event in signals:
        model.setdefault(event, set()).add((time, time))
    for layer in _layers(list(rules)):
        grown = True
        while grown:
            grown = False
            for rule in layer:
                for values, interval in _matches(rule.pattern, model):
                    args = tuple(_value(arg, dict(values)) for arg in rule.head.args)
                    known = model.setdefault((rule.head.name, args), set())
                    grown |= interval not in known
                    known.add(interval)
    return model


def _layers(rules: list[PatternRule]) -> list[list[PatternRule]]:
    """Rules by how many absences lie below them."""
    levels: dict[str, int] = {}
    for _ in range(len(rules) + 1):
        for rule in rules:
            for event, extra in _needs(rule.pattern):
                level = max(levels.get(rule.head.name, 0), levels.get(event.name, 0) + extra)
                levels[rule.head.name] = level
    highest = max(levels.values(), default=0)
    return [[r for r in rules if levels.get(r.head.name, 0) == n] for n in range(highest + 1)]


def _needs(pattern: Pattern) -> Iterator[tuple[Atom, int]]:
    match pattern:
        case Atom():
            yield pattern, 0
        case Absent():
            yield from ((event, 1) for event in events(pattern))
        case Binary(left=left, right=right):
            yield from _needs(left)
            yield from _needs(right)
        case Lasting(pattern=inner) | Where(pattern=inner):
            yield from _needs(inner)


def _matches(pattern: Pattern, model: Intervals) -> Found:
    match pattern:
        case Atom(name=name, args=args):
            return {
                (values, interval)
                for (known, given), intervals in model.items()
                if known == name and len(given) == len(args)
                for values in _unified(args, given)
                for interval in intervals
            }
        case Moment(time=time):
            return {((), (time, time))}
        case Lasting(pattern=inner, most=most):
            return {(v, (a, b)) for v, (a, b) in _matches(inner, model) if b - a <= most}
        case Where(pattern=inner, conditions=conditions):
            found = _matches(inner, model)
            return {(v, i) for v, i in found if all(_true(c, dict(v)) for c in conditions)}
        case Absent(pattern=inner, first=first, last=last):
            whole = _matches(Binary("SEQ", first, last), model)
            blocked = _matches(Binary("SEQ", Binary("SEQ", first, inner), last), model)
            return {
                (values, interval)
                for values, interval in whole
                if not any(i == interval and set(values) <= set(v) for v, i in blocked)
            }
        case Binary(relation="OR", left=left, right=right):
            return _matches(left, model) | _matches(right, model)
        case Binary(relation=relation, left=left, right=right):
            return {
                (values, interval)
                for one, first in _matches(left, model)
                for other, second in _matches(right, model)
                for values in _agreeing(one, other)
                for interval in _related(relation, first, second)
            }
    raise AssertionError(pattern)


def _related(relation: str, one: Interval, other: Interval) -> Iterator[Interval]:
    (t1, t2), (t3, t4) = one, other
    match relation:
        case "SEQ":
            holds, interval = t2 < t3, (t1, t4)
        case "AND":
            holds, interval = True, (min(t1, t3), max(t2, t4))
        case "PAR":
            holds, interval = max(t1, t3) < min(t2, t4), (min(t1, t3), max(t2, t4))
        case "EQUALS":
            holds, interval = one == other, one
        case "MEETS":
            holds, interval = t2 == t3, (t1, t4)
        case "DURING":
            holds, interval = t3 < t1 < t2 < t4, other
        case "STARTS":
            holds, interval = t1 == t3 and t2 < t4, other
        case "FINISHES":
            holds, interval = t2 == t4 and t3 < t1, other
        case _:
            raise AssertionError(relation)
    if holds:
        yield interval


def _unified(
    args: tuple[Term, ...], given: tuple[Term, ...]
) -> Iterator[tuple[tuple[str, Term], ...]]:
    values: dict[str, Term] = {}
    for arg, term in zip(args, given, strict=True):
        wanted = values.setdefault(arg.name, term) if isinstance(arg, Var) else arg
        if wanted != term:
            return
    yield tuple(sorted((n, v) for n, v in values.items() if not n.startswith("_#")))


def _agreeing(
    one: tuple[tuple[str, Term], ...], other: tuple[tuple[str, Term], ...]
) -> Iterator[tuple[tuple[str, Term], ...]]:
    both = {**dict(one), **dict(other)}
    if set(one) | set(other) == set(both.items()):
        yield tuple(sorted(both.items()))


def _value(term: Term, values: Values) -> Term:
    return values[term.name] if isinstance(term, Var) else term


def _true(condition: Comparison, values: Values) -> bool:
    left, right = (_computed(side, values) for side in (condition.left, condition.right))
    match condition.sign:
        case "=":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def _computed(term: Term, values: Values) -> int:
    if isinstance(term, Compound):
        left, right = (_computed(arg, values) for arg in term.args)
        return {"+": left + right, "-": left - right, "*": left * right}[term.name]
    known = _value(term, values)
    assert isinstance(known, Int)
    return known.value


def written(model: Intervals, names: Iterable[str]) -> set[str]:
    """`a_iv(x,2,5)` for every interval of some events."""
    found = set()
    for (name, args), intervals in model.items():
        if name in names:
            shown = [arg.name if isinstance(arg, Constant) else str(arg.value) for arg in args]  # type: ignore[union-attr]
            found |= {f"{name}_iv({','.join([*shown, str(a), str(b)])})" for a, b in intervals}
    return found
