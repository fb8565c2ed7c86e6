"""Which values of variables may make a formula true, given everything that may hold.

The answer errs on the side of too many: windows that count signals select anything here, and
negations never object. What is found is checked by the definitions afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from math import inf

from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Comparison,
    Formula,
    Implies,
    IntervalWindow,
    Not,
    Or,
    Predicate,
    Reset,
    Some,
    TimeWindow,
    Truth,
    Window,
    Within,
)
from horai.lang.lars.walk import atoms
from horai.lang.terms import Int, Term, Var, variables
from horai.oracle.lars.binding import awaits, is_ready, unknown
from horai.oracle.lars.entailment import Structure, aggregate_value
from horai.oracle.lars.numbers import NoValue, compare, value
from horai.oracle.lars.stream import Pair, Stream
from horai.oracle.lars.unify import unified
from horai.oracle.lars.writing import elements, totals

Values = Mapping[str, Term]
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
    facts: frozenset[Atom] = frozenset()
    derived: Set[Predicate] = frozenset()
    last: float = inf
    top: int = 0
    pairs: dict[Predicate, dict[Pair, None]] = field(default_factory=dict)
    background: dict[Predicate, list[Atom]] = field(default_factory=dict)

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

    def solve(self, conditions: Iterable[Formula], values: Values) -> Iterator[Values]:
        """Values for which conditions may hold somewhere, whatever windows are around them."""
        return solutions(conditions, values, self, Place(self.whole, self.whole, False))

    @property
    def whole(self) -> Reach:
        """The timeline."""
        return (self.data.first, self.last)

    def atoms(
        self, predicate: Predicate, at: Reach, view: Reach
    ) -> Iterator[tuple[int | None, Atom]]:
        """What may hold between two times, with its time; the background has none."""
        for atom in self.background.get(predicate, ()):
            yield None, atom
        first, last = max(at[0], view[0]), min(at[1], view[1])
        for time, atom in list(self.pairs.get(predicate, ())):
            if first <= time <= last:
                yield time, atom


@dataclass(frozen=True)
class Place:
    """Where a formula is evaluated: at some of the times `at`, in what windows leave: `view`.

    Both are estimates from above. The time is surely on the timeline if it `is_inside`; a window
    that another one has moved away from it leaves the stream as it is. `is_top` is the place of
    the conditions of a rule.
    """

    at: Reach
    view: Reach
    is_inside: bool = True
    is_top: bool = False

    def moved(self, at: Reach) -> Place:
        """Where a modality leads."""
        return Place(at, self.view)

    def through(self, window: Window, values: Values) -> Place | None:
        """Where a window leads; None if it is none, because its times are no numbers."""
        if isinstance(window, TimeWindow):
            stays = self.is_inside and window.hop is None
            seen = _around(window, self.at, self.view) if self.is_inside else self.view
            return Place(self.at, seen, stays)
        if not isinstance(window, IntervalWindow):
            return Place(self.at, self.view, self.is_inside)
        try:
            first, last = value(window.first, values), value(window.last, values)
        except NoValue:
            return None
        if not (isinstance(first, Int) and isinstance(last, Int)):
            return None
        seen = (max(self.view[0], first.value), min(self.view[1], last.value))
        # Where nothing is selected, there still is a point at which nothing holds.
        return Place(self.at, seen if seen[0] <= seen[1] else self.view, False)


def _around(window: TimeWindow, at: Reach, view: Reach) -> Reach:
    back = inf if window.past.amount is None else window.past.amount
    ahead = inf if window.future.amount is None else window.future.amount
    if window.hop is not None and window.hop.amount is not None:
        back += window.hop.amount - 1
    return (max(view[0], at[0] - back), min(view[1], at[1] + ahead))


def matches(formula: Formula, values: Values, possible: Possible, place: Place) -> Iterator[Values]:
    """Values of variables for which a formula may hold at a place."""
    match formula:
        case Atom(args=args):
            for _, atom in possible.atoms(formula.predicate, place.at, place.view):
                found = unified(args, atom.args, values)
                if found is not None:
                    yield found
        case At(time=time, formula=inner):
            yield from _at(time, inner, values, possible, place)
        case Some(formula=inner) | Always(formula=inner):
            yield from matches(inner, values, possible, place.moved(place.view))
        case Within(window=window, formula=inner):
            selected = place.through(window, values)
            if selected is not None:
                yield from matches(inner, values, possible, selected)
        case Reset(formula=inner):
            yield from matches(inner, values, possible, Place(place.at, possible.whole))
        case And(parts=parts):
            yield from solutions(parts, values, possible, place)
        case Or(parts=parts):
            for part in parts:
                yield from matches(part, values, possible, place)
        case Comparison():
            yield from _compared(formula, values)
        case Truth(value=holds):
            if holds:
                yield values
        case Aggregate():
            yield from _totalled(formula, values, possible, place)
        case Not() | Implies():
            yield values


def _at(
    time: Term, inner: Formula, values: Values, possible: Possible, place: Place
) -> Iterator[Values]:
    view = place.view
    if not isinstance(time, Var) and not variables(time).keys() <= values.keys():
        # The time is known once its variables are: the formula itself may give them values.
        yield from matches(inner, values, possible, place.moved(view))
    elif not (isinstance(time, Var) and time.name not in values):
        try:
            point = value(time, values)
        except NoValue:
            return
        if isinstance(point, Int) and view[0] <= point.value <= view[1]:
            here = place.moved((point.value, point.value))
            yield from matches(inner, values, possible, here)
    elif isinstance(inner, Atom) and inner.predicate not in possible.background:
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
            yield from matches(inner, bound, possible, place.moved((number, number)))


def _compared(formula: Comparison, values: Values) -> Iterator[Values]:
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
    formula: Aggregate, values: Values, possible: Possible, place: Place
) -> Iterator[Values]:
    """An aggregate gives `N = count { ... }` its values; otherwise it is checked later."""
    bound = formula.bound
    if not (formula.sign == "=" and isinstance(bound, Var) and bound.name not in values):
        yield values
        return
    found = elements(formula, values, possible.solve)
    if place.is_top and not any(a.predicate in possible.derived for a in atoms(formula)):
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
    conditions: Iterable[Formula], values: Values, possible: Possible, place: Place
) -> Iterator[Values]:
    """Values for which all conditions may hold; each is looked at as soon as it can be."""
    waiting = list(conditions)
    if not waiting:
        yield values
        return
    # A variable of an aggregate that others give a value to is not its own.
    ready = [c for c in waiting if is_ready(c, values) and not awaits(c, waiting, values)]
    # Comparisons are cheap and cut down what follows; aggregates come last.
    chosen = min(ready, key=_rank, default=None)
    if chosen is None:
        raise NoValue(f"nothing gives a value to {', '.join(sorted(unknown(waiting, values)))}")
    rest = [c for c in waiting if c is not chosen]
    for found in matches(chosen, values, possible, place):
        yield from solutions(rest, found, possible, place)


def _rank(condition: Formula) -> int:
    return 0 if isinstance(condition, Comparison) else 2 if isinstance(condition, Aggregate) else 1
