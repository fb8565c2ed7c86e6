"""How far back a program looks: which signals can still matter at a time or later.

A signal may be forgotten when no window, now or at any later time, can see it. What is not sure is
kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from horai.lang.core.terms import Term, Var, is_anonymous
from horai.lang.lars import syntax as lars
from horai.lang.lars.walk import children
from horai.lang.lars.windows import FAR, ByNumber, ByTime, Selection

Points = float
"""A number of time points; infinite where there is no limit."""
FOREVER = float("inf")


@dataclass(slots=True)
class SignalReach:
    """The signals that have to be kept at a time.

    `points` says for how long signals of a predicate count, and `every` the same for signals of
    any kind. `last` is how many of the last signals count, and `groups` how many of each group.
    """

    points: dict[lars.Predicate, Points] = field(default_factory=dict)
    every: Points = 0
    last: Points = 0
    groups: set[tuple[Points, tuple[lars.Pattern, ...]]] = field(default_factory=set)

    @property
    def counts(self) -> bool:
        """Are there windows that count signals?"""
        return bool(self.last or self.groups)

    def points_back(self, ignored: Collection[lars.Predicate]) -> int | None:
        """For how many points signals of others than some count; None if that may be for ever."""
        ages = [age for predicate, age in self.points.items() if predicate not in ignored]
        longest = max([self.every, *ages])
        return None if self.counts or longest == FOREVER else int(longest)

    def of(self, predicates: Collection[lars.Predicate]) -> SignalReach:
        """The same where only signals of some predicates come."""
        return replace(self, points={key: self.points.get(key, 0) for key in predicates})

    def needed(self, signals: Sequence[tuple[int, lars.Atom]], now: int) -> list[bool]:
        """Which signals, given by time and order, may count at a time or later."""
        until = sum(time <= now for time, _ in signals)  # those to come are all needed
        last, every, points = until - self.last, now - self.every, self.points
        oldest = now - max(self.every, *points.values(), 0)
        found = [
            place >= last
            or time >= every
            or (time >= oldest and time >= now - points.get(atom.predicate, 0))
            for place, (time, atom) in enumerate(signals)
        ]
        for size, patterns in self.groups:
            for place in _last_of_groups(signals[:until], size, patterns):
                found[place] = True
        return found


def _last_of_groups(
    signals: Iterable[tuple[int, lars.Atom]], size: Points, patterns: tuple[lars.Pattern, ...]
) -> Iterator[int]:
    groups: dict[object, deque[int]] = {}
    for place, (_, atom) in enumerate(signals):
        group = group_of(patterns, atom)
        if group is not None:
            members = groups.setdefault(group, deque())
            members.append(place)
            if len(members) > size:
                members.popleft()
    for members in groups.values():
        yield from members


def group_of(patterns: tuple[lars.Pattern, ...], atom: lars.Atom) -> tuple[object, ...] | None:
    """The first pattern that an atom fits, with the values of its variables; None if none."""
    for place, pattern in enumerate(patterns):
        if pattern.name != atom.name:
            continue
        if pattern.args is None:
            return (place,)
        values: dict[str, Term] = {}
        if len(pattern.args) == len(atom.args) and all(
            _fits(wanted, given, values)
            for wanted, given in zip(pattern.args, atom.args, strict=True)
        ):
            return (place, *values.values())
    return None


def _fits(wanted: Term, given: Term, values: dict[str, Term]) -> bool:
    if not isinstance(wanted, Var):
        return wanted == given
    return is_anonymous(wanted) or values.setdefault(wanted.name, given) == given


# --- what a program needs ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _View:
    """Where a formula is looked at: how long ago at most, and what is left of the stream.

    `back` is how far the rest of the stream reaches. `whole` is false once windows have left
    signals out, so that a count of signals is not that of the stream. `counted` says that a window
    of the last signals was passed: they may be from any time.
    """

    ago: Points = 0
    back: Points = FOREVER
    whole: bool = True
    counted: bool = False


def reach_of(program: lars.Program) -> SignalReach:
    """How far back a program looks; its windows are measured in time points."""
    found = SignalReach()
    for rule in program.rules:
        known = dict(_known_times(rule.body))
        for part in rule.parts:
            _look(part, _View(), known, found)
    return found


def _known_times(body: Iterable[lars.Formula]) -> Iterator[tuple[str, Points]]:
    """Variables for points that a window gives their values, and how long ago these are."""
    for part in body:
        match part:
            case lars.And(parts=parts):
                yield from _known_times(parts)
            case lars.Within(window=window, formula=lars.At(time=Var(name=name))):
                if (past := _past(window.selection())) < FOREVER:
                    yield name, past


def _look(part: lars.Head, view: _View, known: dict[str, Points], found: SignalReach) -> None:
    match part:
        case lars.Atom():
            before = found.points.get(part.predicate, 0)
            found.points[part.predicate] = max(before, view.ago)
        case lars.Within(window=window, formula=inner):
            _look(inner, _through(window, view, found), known, found)
        case lars.Reset(formula=inner):
            found.every = FOREVER if view.counted else found.every
            _look(inner, _View(view.ago), known, found)
        case lars.At(time=Var(name=name), formula=inner) if name in known:
            ago = min(view.back, known[name])
            _look(inner, replace(view, ago=ago), known, found)
        case lars.Some(formula=inner) | lars.Always(formula=inner) | lars.At(formula=inner):
            _look(inner, replace(view, ago=view.back), known, found)
        case _:
            for inner in children(part):
                _look(inner, view, known, found)


def _through(window: lars.Window, view: _View, found: SignalReach) -> _View:
    """The part of a view that is left behind a window."""
    selection = window.selection()
    if isinstance(selection, ByTime):
        back = min(view.back, view.ago + _past(selection))
        takes_out = selection.fixed or selection.patterns is not None
        return replace(view, back=back, whole=view.whole and not takes_out)
    if view.whole and view.ago == 0 and view.back == FOREVER:
        size = FOREVER if selection.past >= FAR else selection.past
        if selection.patterns is None:
            found.last = max(found.last, size)
        else:
            found.groups.add((size, selection.patterns))
        return _View(0, 0, whole=False, counted=True)  # it is kept by its number
    found.every = max(found.every, view.back)  # what is counted may be anything
    return replace(view, whole=False)


def _past(selection: Selection) -> Points:
    """How long ago points of a window are at most."""
    if isinstance(selection, ByNumber) or selection.fixed or selection.past >= FAR:
        return FOREVER
    return selection.past + selection.low_hop - 1
