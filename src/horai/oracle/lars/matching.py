"""The values of variables that may make a formula true, given everything that may hold.

The answer errs on the side of too many: windows that count signals select anything here, and
negations never object. What is found is checked by the definitions afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from horai.lang.core.arithmetic import NoValue
from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Float, Int, Term, Var, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.arithmetic import compare
from horai.lang.lars.predicates import is_computed
from horai.lang.lars.walk import atoms, formula_variables
from horai.oracle.lars.entailment import Structure, Unbound, aggregate_value, computed, value
from horai.oracle.lars.stream import Pair, Stream

Values = Mapping[str, Term]


def unified(patterns: tuple[Term, ...], terms: tuple[Term, ...], values: Values) -> Values | None:
    """The values for which patterns may say these terms; None when there are none."""
    pairs = zip(patterns, terms, strict=True)
    for pattern, term in sorted(pairs, key=lambda pair: is_computed(pair[0])):
        found = _unified(pattern, term, values)
        if found is None:
            return None
        values = found
    return values


def _unified(pattern: Term, term: Term, values: Values) -> Values | None:
    if isinstance(pattern, Var):
        known = values.get(pattern.name)
        if known is None:
            return {**values, pattern.name: term}
        return values if known == term else None
    if is_computed(pattern):
        if not variables(pattern).keys() <= values.keys():
            return values
        try:
            return values if value(pattern, values) == term else None
        except NoValue:
            return None
    if isinstance(pattern, Compound):
        if not isinstance(term, Compound) or pattern.name != term.name:
            return None
        same_length = len(pattern.args) == len(term.args)
        return unified(pattern.args, term.args, values) if same_length else None
    return values if pattern == term else None


Solve = Callable[[Iterable[lars.Formula], Values], Iterator[Values]]
"""Values for which conditions may hold somewhere."""
MOST_TOTALS = 20_000


class TooManyValues(Exception):
    """An aggregate over derived atoms that may have more values than can be tried."""


def written(formula: lars.Formula, values: Values, solve: Solve) -> lars.Formula:
    """The formula without variables; raises `NoValue` if an expression has no value."""

    def inside(part: Any) -> Any:
        if isinstance(part, Term):
            return value(part, values)
        return part if isinstance(part, lars.Window) else written(part, values, solve)

    match formula:
        case lars.Aggregate(function=function, sign=sign, bound=bound):
            rows = tuple(elements(formula, values, solve))
            return lars.Aggregate(function, rows, sign, value(bound, values))
        case lars.Within(window=lars.IntervalWindow(first=first, last=last) as window):
            window = replace(window, first=value(first, values), last=value(last, values))
            return lars.Within(window, inside(formula.formula))
        case _:
            return rebuilt(formula, inside)


def elements(aggregate: lars.Aggregate, values: Values, solve: Solve) -> Iterable[lars.Element]:
    """The elements of an aggregate for all values that may make their conditions true."""
    found: dict[lars.Element, None] = {}
    for element in aggregate.elements:
        for inner in solve(element.condition, values):
            try:
                terms = tuple(value(term, inner) for term in element.terms)
                condition = tuple(written(part, inner, solve) for part in element.condition)
            except NoValue:
                continue
            found[lars.Element(terms, condition)] = None
    return found


def totals(function: str, rows: set[tuple[Term, ...]]) -> set[Term]:
    """All values that an aggregate may have when any of the rows may be missing."""
    if function == "count":
        return {Int(number) for number in range(len(rows) + 1)}
    numbers = [row[0] for row in rows if row and isinstance(row[0], Int | Float)]
    if function != "sum":
        return set(numbers)
    sums: set[Term] = {Int(0)}
    for number in sorted(numbers, key=lambda one: one.value):  # as they are added
        # `computed` adds the smaller one first, which makes no difference to two of them.
        sums |= {computed("sum", [total, number]) for total in sums}
        if len(sums) > MOST_TOTALS:
            raise TooManyValues("a sum over derived atoms has too many possible values")
    return sums


Reach = tuple[float, float]
"""The first and the last time that is possible."""
BEYOND = 1000
"""How far a timeline without end is looked at where nothing is known any more."""


@dataclass
class Possible:
    """Atoms at times that may hold, and the background, by predicate.

    `top` is the last time at which anything may hold, or that is named.
    """

    data: Stream
    now: int
    facts: frozenset[lars.Atom] = frozenset()
    derived: Set[lars.Predicate] = frozenset()
    last: float = inf
    top: int = 0
    pairs: dict[lars.Predicate, dict[Pair, None]] = field(default_factory=dict)
    background: dict[lars.Predicate, list[lars.Atom]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.top = max(self.top, self.now)
        for atom in self.facts:
            self.background.setdefault(atom.predicate, []).append(atom)
        for pair in self.data.signals:
            self.add(pair)

    def add(self, pair: Pair) -> bool:
        """Take in an atom at a time; True if it is new."""
        known = self.pairs.setdefault(pair[1].predicate, {})
        if pair in known:
            return False
        known[pair] = None
        self.top = max(self.top, pair[0])
        return True

    def settled(self) -> Structure:
        """The data, for what depends on nothing derived."""
        last = self.top + BEYOND if self.last == inf else int(self.last)
        return Structure(replace(self.data, last=last), self.facts)

    def solve(self, conditions: Iterable[lars.Formula], values: Values) -> Iterator[Values]:
        """Values for which conditions may hold somewhere, whatever windows are around them."""
        return solutions(conditions, values, self, TimeScope(self.whole, self.whole, False))

    @property
    def whole(self) -> Reach:
        """The timeline."""
        return (self.data.first, self.last)

    def atoms(
        self, predicate: lars.Predicate, at: Reach, view: Reach
    ) -> Iterator[tuple[int | None, lars.Atom]]:
        """The atoms that may hold between two times, with their times; the background has none."""
        for atom in self.background.get(predicate, ()):
            yield None, atom
        first, last = max(at[0], view[0]), min(at[1], view[1])
        for time, atom in list(self.pairs.get(predicate, ())):
            if first <= time <= last:
                yield time, atom


@dataclass(frozen=True)
class TimeScope:
    """Where a formula is evaluated: at some of the times `at`, in what windows leave: `view`.

    Both are estimates from above. The time is surely on the timeline if it `is_inside`; a window
    that another one has moved away from it leaves the stream as it is. `is_top` is the scope of
    the conditions of a rule.
    """

    at: Reach
    view: Reach
    is_inside: bool = True
    is_top: bool = False

    def moved(self, at: Reach) -> TimeScope:
        """Where a modality leads."""
        return TimeScope(at, self.view)

    def through(self, window: lars.Window, values: Values) -> TimeScope | None:
        """Where a window leads; None if it is none, because its times are no numbers."""
        if isinstance(window, lars.TimeWindow):
            stays = self.is_inside and window.hop is None
            seen = _around(window, self.at, self.view) if self.is_inside else self.view
            return TimeScope(self.at, seen, stays)
        if isinstance(window, lars.NamedWindow):
            return TimeScope(self.at, self.view, False)
        if not isinstance(window, lars.IntervalWindow):
            return TimeScope(self.at, self.view, self.is_inside)
        try:
            first, last = value(window.first, values), value(window.last, values)
        except NoValue:
            return None
        if not (isinstance(first, Int) and isinstance(last, Int)):
            return None
        seen = (max(self.view[0], first.value), min(self.view[1], last.value))
        # Where nothing is selected, there still is a point at which nothing holds.
        return TimeScope(self.at, seen if seen[0] <= seen[1] else self.view, False)


def _around(window: lars.TimeWindow, at: Reach, view: Reach) -> Reach:
    back = inf if window.past.amount is None else window.past.amount
    ahead = inf if window.future.amount is None else window.future.amount
    if window.hop is not None and window.hop.amount is not None:
        back += window.hop.amount - 1
    return (max(view[0], at[0] - back), min(view[1], at[1] + ahead))


def matches(
    formula: lars.Formula, values: Values, possible: Possible, scope: TimeScope
) -> Iterator[Values]:
    """Values of variables for which a formula may hold in a scope."""
    match formula:
        case lars.Atom(args=args):
            for _, atom in possible.atoms(formula.predicate, scope.at, scope.view):
                found = unified(args, atom.args, values)
                if found is not None:
                    yield found
        case lars.At(time=time, formula=inner):
            yield from _at(time, inner, values, possible, scope)
        case lars.Some(formula=inner) | lars.Always(formula=inner):
            yield from matches(inner, values, possible, scope.moved(scope.view))
        case lars.Within(window=window, formula=inner):
            selected = scope.through(window, values)
            if selected is not None:
                yield from matches(inner, values, possible, selected)
        case lars.Reset(formula=inner):
            yield from matches(inner, values, possible, TimeScope(scope.at, possible.whole))
        case lars.And(parts=parts):
            yield from solutions(parts, values, possible, scope)
        case lars.Or(parts=parts):
            for part in parts:
                yield from matches(part, values, possible, scope)
        case lars.Comparison():
            yield from _compared(formula, values)
        case lars.Truth(value=holds):
            if holds:
                yield values
        case lars.Aggregate():
            yield from _totalled(formula, values, possible, scope)
        case lars.Not() | lars.Implies():
            yield values


def _at(
    time: Term, inner: lars.Formula, values: Values, possible: Possible, scope: TimeScope
) -> Iterator[Values]:
    view = scope.view
    if not isinstance(time, Var) and not variables(time).keys() <= values.keys():
        # The time is known once its variables are: the formula itself may give them values.
        yield from matches(inner, values, possible, scope.moved(view))
    elif not (isinstance(time, Var) and time.name not in values):
        try:
            point = value(time, values)
        except NoValue:
            return
        if isinstance(point, Int) and view[0] <= point.value <= view[1]:
            here = scope.moved((point.value, point.value))
            yield from matches(inner, values, possible, here)
    elif isinstance(inner, lars.Atom) and inner.predicate not in possible.background:
        for moment, atom in possible.atoms(inner.predicate, view, view):
            assert moment is not None
            # The atom may mention the time, too: @T a(T).
            found = unified(inner.args, atom.args, {**values, time.name: Int(moment)})
            if found is not None:
                yield found
    else:
        last = min(view[1], max(possible.top, view[0]))
        for number in range(int(view[0]), int(last) + 1):
            bound = {**values, time.name: Int(number)}
            yield from matches(inner, bound, possible, scope.moved((number, number)))


def _compared(formula: lars.Comparison, values: Values) -> Iterator[Values]:
    """A comparison that holds; `=` also gives a variable its value."""
    for var, other in ((formula.left, formula.right), (formula.right, formula.left)):
        unknown = isinstance(var, Var) and var.name not in values
        if formula.sign == "=" and unknown and variables(other).keys() <= values.keys():
            assert isinstance(var, Var)
            try:
                yield {**values, var.name: value(other, values)}
            except NoValue:
                return
            return
    try:
        if compare(formula.sign, value(formula.left, values), value(formula.right, values)):
            yield values
    except NoValue:
        return


def _totalled(
    formula: lars.Aggregate, values: Values, possible: Possible, scope: TimeScope
) -> Iterator[Values]:
    """An aggregate gives `N = count { ... }` its values; otherwise it is checked later."""
    bound = formula.bound
    if not (formula.sign == "=" and isinstance(bound, Var) and bound.name not in values):
        yield values
        return
    found = elements(formula, values, possible.solve)
    if scope.is_top and not any(a.predicate in possible.derived for a in atoms(formula)):
        settled = possible.settled()
        rows = {
            e.terms for e in found if all(settled.entails(c, possible.now) for c in e.condition)
        }
        try:
            yield {**values, bound.name: aggregate_value(formula.function, rows)}
        except NoValue:
            return
    else:
        for total in totals(formula.function, {element.terms for element in found}):
            yield {**values, bound.name: total}


def solutions(
    conditions: Iterable[lars.Formula], values: Values, possible: Possible, scope: TimeScope
) -> Iterator[Values]:
    """Values for which all conditions may hold; each is looked at as soon as it can be."""
    waiting = sorted(conditions, key=_rank)
    if not waiting:
        yield values
        return
    for place, chosen in enumerate(waiting):
        rest = waiting[:place] + waiting[place + 1 :]
        if isinstance(chosen, lars.Aggregate) and _awaits(chosen, rest, values):
            continue
        try:
            found = list(matches(chosen, values, possible, scope))
        except Unbound:  # another condition has to give a variable its value first
            continue
        for extended in found:
            yield from solutions(rest, extended, possible, scope)
        return
    raise Unbound("nothing gives a value to the variables of some conditions")


def _rank(condition: lars.Formula) -> int:
    """Comparisons are cheap and cut down what follows; aggregates come last."""
    if isinstance(condition, lars.Comparison):
        return 0
    return 2 if isinstance(condition, lars.Aggregate) else 1


def _awaits(aggregate: lars.Aggregate, others: list[lars.Formula], values: Values) -> bool:
    """Does an aggregate speak of a variable that is not its own: another condition has it, too?"""
    inside = {n for e in aggregate.elements for one in e.condition for n in formula_variables(one)}
    given: set[str] = set()
    for other in others:
        total = variables(other.bound) if isinstance(other, lars.Aggregate) else None
        given |= (formula_variables(other) if total is None else total).keys()
    return bool((inside - values.keys()) & given)
