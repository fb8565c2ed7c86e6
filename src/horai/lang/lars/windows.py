"""The windows of LARS programs: a class for each kind says all that there is to say about it.

What a window selects is said in one of two forms, `ByTime` and `ByNumber`, by which all engines
and analyses go. How it is read stands in `horai.lang.lars.reader`, and what it means to the
reference in `horai.oracle.lars.stream`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

from horai.lang.core.source import Placed
from horai.lang.core.terms import Compound, Constant, Int, Term
from horai.lang.lars.clock import Clock, Duration

NONE = Duration(0)
FAR = 1 << 61
"""As far as a window without a limit reaches."""


@dataclass(frozen=True, slots=True)
class Pattern(Placed):
    """`tram(Id, _)`: which atoms are meant. Without arguments, all atoms of the name."""

    name: str
    args: tuple[Term, ...] | None = None

    @property
    def term(self) -> Term:
        """What is written."""
        return Compound(self.name, self.args) if self.args else Constant(self.name)


@dataclass(frozen=True, slots=True)
class ByTime:
    """All points from `past` before the last multiple of `low_hop` to `future` after another one.

    If it is fixed, from the point `past` to the point `future`. Of several patterns one has to fit.
    """

    past: int = FAR
    low_hop: int = 1
    future: int = FAR
    high_hop: int = 1
    fixed: bool = False
    patterns: tuple[Pattern, ...] | None = None

    @property
    def is_sliding(self) -> bool:
        """Does it go with the current point, and keep all atoms?"""
        return not self.fixed and self.patterns is None and self.low_hop == self.high_hop == 1


@dataclass(frozen=True, slots=True)
class ByNumber:
    """The last and the next signals: of all, or for each value of the variables of patterns."""

    past: int
    future: int
    patterns: tuple[Pattern, ...] | None = None


Selection = ByTime | ByNumber
Show = Callable[[Term], str]


@dataclass(frozen=True, slots=True)
class Window(Placed):
    """What all windows have."""

    @abstractmethod
    def selection(self) -> Selection:
        """What it selects, once it is measured in time points."""

    @abstractmethod
    def written(self, show: Show) -> str:
        """How it is written, without brackets."""

    @property
    @abstractmethod
    def features(self) -> set[str]:
        """What a program uses that has it."""

    def operator(self, always: bool) -> str:
        """What becomes of an atom in it, in a word; see the documentation of engines."""
        return "window"

    @property
    def counts(self) -> bool:
        """Does it count signals? Then it has nothing but signals in it."""
        return False

    @property
    def groups(self) -> tuple[Pattern, ...] | None:
        """The patterns of the groups that it counts one by one."""
        return None

    @property
    def has_end(self) -> bool:
        """Has it a last point?"""
        return True

    @property
    def looks_ahead(self) -> bool:
        """Are later points, or signals to come, in it?"""
        return False

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms in it that belong to the rule."""
        return ()

    @property
    def durations(self) -> tuple[Duration, ...]:
        """The lengths of time in it."""
        return ()

    def in_points(self, clock: Clock) -> Window:
        """The same measured in time points; may raise `Incompatible`."""
        return self


def _points(duration: Duration) -> int:
    assert duration.unit is None, "windows are measured in time points here"
    return FAR if duration.amount is None else duration.amount


@dataclass(frozen=True, slots=True)
class TimeWindow(Window):
    """`[past, +future hop d]`: the points around the current one, or its pivot if it hops."""

    past: Duration
    future: Duration = NONE
    hop: Duration | None = None

    def selection(self) -> ByTime:
        hop = 1 if self.hop is None else _points(self.hop)
        return ByTime(_points(self.past), hop, _points(self.future), hop)

    def written(self, show: Show) -> str:
        text = f"{self.past}, +{self.future}"
        if self.future == NONE:
            text = str(self.past)
        elif self.past == NONE:
            text = f"+{self.future}"
        return text if self.hop is None else f"{text} hop {self.hop}"

    @property
    def features(self) -> set[str]:
        also = {"hop": self.hop is not None, "future": self.looks_ahead}
        return {"time", *(name for name, has in also.items() if has)}

    def operator(self, always: bool) -> str:
        return f"{'shrink' if always else 'stretch'}{'' if self.hop is None else ' by hops'}"

    @property
    def has_end(self) -> bool:
        return self.future.amount is not None

    @property
    def looks_ahead(self) -> bool:
        return self.future.amount != 0

    @property
    def durations(self) -> tuple[Duration, ...]:
        return (self.past, self.future) if self.hop is None else (self.past, self.future, self.hop)

    def in_points(self, clock: Clock) -> TimeWindow:
        past, future, *hop = (Duration(clock.points(one)) for one in self.durations)
        return replace(self, past=past, future=future, hop=hop[0] if hop else None)


@dataclass(frozen=True, slots=True)
class CountingWindow(Window):
    """What windows of signals have in common."""

    past: int | None
    future: int | None = 0

    def selection(self) -> ByNumber:
        past, future = (FAR if size is None else size for size in (self.past, self.future))
        return ByNumber(past, future, self.groups)

    def written(self, show: Show) -> str:
        before = "inf #" if self.past is None else f"{self.past} #"
        after = "+inf #" if self.future is None else f"+{self.future} #"
        if self.future == 0:
            return before
        return after if self.past == 0 else f"{before}, {after}"

    @property
    def counts(self) -> bool:
        return True

    @property
    def has_end(self) -> bool:
        return self.future == 0

    @property
    def looks_ahead(self) -> bool:
        return self.future != 0


@dataclass(frozen=True, slots=True)
class TupleWindow(CountingWindow):
    """`[past #, +future #]`: the last and the next signals; None is all of them."""

    @property
    def features(self) -> set[str]:
        return {"tuple", "future"} if self.looks_ahead else {"tuple"}

    def operator(self, always: bool) -> str:
        return "rank"


@dataclass(frozen=True, slots=True)
class PartitionWindow(CountingWindow):
    """`[past # per tram(Id, _)]`: a tuple window for every value of the variables of a pattern.

    The variables belong to the patterns alone. Atoms that fit no pattern are left out.
    """

    patterns: tuple[Pattern, ...] = ()

    def written(self, show: Show) -> str:
        return f"{CountingWindow.written(self, show)} per {_listed(self.patterns, show)}"

    @property
    def features(self) -> set[str]:
        return {"partition", "future"} if self.looks_ahead else {"partition"}

    def operator(self, always: bool) -> str:
        return "rank by group"

    @property
    def groups(self) -> tuple[Pattern, ...]:
        return self.patterns


def _listed(patterns: tuple[Pattern, ...], show: Show) -> str:
    return ", ".join(show(pattern.term) for pattern in patterns)


@dataclass(frozen=True, slots=True)
class FilterWindow(Window):
    """`[only tram(a1, _)]`: the atoms that fit a pattern, at all times."""

    patterns: tuple[Pattern, ...]

    def selection(self) -> ByTime:
        return ByTime(patterns=self.patterns)

    def written(self, show: Show) -> str:
        return f"only {_listed(self.patterns, show)}"

    @property
    def features(self) -> set[str]:
        return {"filter"}

    def operator(self, always: bool) -> str:
        return "filter"

    @property
    def has_end(self) -> bool:
        return False

    @property
    def looks_ahead(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class IntervalWindow(Window):
    """`[from 3 to 9]`: the points between two times, whatever the current time is."""

    first: Term
    last: Term

    @property
    def is_open(self) -> bool:
        """Does a rule work out its ends?"""
        return not (isinstance(self.first, Int) and isinstance(self.last, Int))

    def selection(self) -> ByTime:
        if isinstance(self.first, Int) and isinstance(self.last, Int):
            return ByTime(self.first.value, 1, self.last.value, 1, fixed=True)
        return ByTime(-FAR, 1, FAR, 1, fixed=True)  # it may be anywhere

    def written(self, show: Show) -> str:
        return f"from {show(self.first)} to {show(self.last)}"

    @property
    def features(self) -> set[str]:
        return {"interval"}

    def operator(self, always: bool) -> str:
        return "count of points" if always else "points between"

    @property
    def looks_ahead(self) -> bool:
        return True

    @property
    def terms(self) -> tuple[Term, ...]:
        return (self.first, self.last)


NAMED: dict[str, Callable[[int], ByTime]] = {
    "since": lambda length: ByTime(0, length, 0),
    "ago": lambda length: ByTime(length, 1, -length),
}
"""Windows by time that have a name: all that reads, prints, checks and runs programs goes by this.

`since` goes from the last multiple of a time until now; `ago` is one point. None of their points
is still to come.
"""


@dataclass(frozen=True, slots=True)
class NamedWindow(Window):
    """`[since 1 d]`: points that the name and a length tell; see `NAMED`."""

    name: str
    length: Duration

    def selection(self) -> ByTime:
        return NAMED[self.name](_points(self.length))

    def written(self, show: Show) -> str:
        return f"{self.name} {self.length}"

    @property
    def features(self) -> set[str]:
        return {self.name}

    @property
    def durations(self) -> tuple[Duration, ...]:
        return (self.length,)

    def in_points(self, clock: Clock) -> NamedWindow:
        """The same measured in time points.

        >>> NamedWindow("since", Duration(3, "s")).in_points(Clock(500, "ms")).length
        Duration(amount=6, unit=None)
        """
        return replace(self, length=Duration(clock.points(self.length)))
