"""What stands between the brackets of a window, and what window it says.

[3 s]  [inf]  [4 s hop 2 s]  [4 s tumbling]  [+5 s]  [3 s, +1 s hop 3 s]
[3 #]  [+1 #]  [2 #, +1 #]  [1 # per tram(Id, _), bus(Id, _)]
[only tram(a1, _), bus]  [from 3 to 9]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from horai.lang.diagnostics import did_you_mean
from horai.lang.lars.clock import MILLISECONDS, UNITS, Duration, unit_named
from horai.lang.lars.grammar import Part
from horai.lang.lars.syntax import (
    FilterWindow,
    IntervalWindow,
    PartitionWindow,
    Pattern,
    TimeWindow,
    TupleWindow,
    Window,
)
from horai.lang.terms import Span, Term

Say = Callable[[str, str, Span, str | None], None]
ToTerm = Callable[[Part], Term | None]
_Size = tuple[int | None, str | None] | None
_W = TypeVar("_W", bound=Window)

_WORDS = ("hop", "tumbling", "per", "only", "from", "to", "inf")
_FORMS = "write [3 s], [3 #], [3 s hop 1 s], [+3 s], [1 # per p(X)], [only p] or [from 3 to 9]"


class _Wrong(Exception):
    """The window cannot be read; code, message, place and remedy."""

    def __init__(self, code: str, message: str, span: Span, hint: str | None) -> None:
        super().__init__(message)
        self.finding = (code, message, span, hint)


def read_window(part: Part, term: ToTerm, say: Say) -> Window | None:
    """The window of a part; None after saying what is wrong with it."""
    try:
        return _Reader(part, term).window()
    except _Wrong as wrong:
        say(*wrong.finding)
        return None


class _Reader:
    def __init__(self, window: Part, term: ToTerm) -> None:
        self.whole = window
        self.parts = window.parts
        self.term = term
        self.at = 0

    def window(self) -> Window:
        if self.takes("only"):
            return FilterWindow(self.patterns(), self.whole.span)
        if self.takes("from"):
            first = self.time()
            if not self.takes("to"):
                raise self.wrong("`to` is missing in this window", "write [from 3 to 9]")
            return self.done(IntervalWindow(first, self.time(), self.whole.span))
        past, future = self.sizes()
        if all(size is None or size[1] == "#" for size in (past, future)):
            return self.tuples(past, future)
        return self.times(past, future)

    def sizes(self) -> tuple[_Size, _Size]:
        """What stands before the comma, and after the plus."""
        if not self.parts:
            raise self.wrong("this window has no size", _FORMS)
        past = None if self.sees("+") else self.size()
        future = None
        if past is None or self.takes(","):
            if not self.takes("+"):
                raise self.wrong("the second size of a window is about the future", "write `+`")
            future = self.size()
        return past, future

    def size(self) -> tuple[int | None, str | None]:
        """An amount and its unit: `#` for signals, None for time points."""
        amount = self.amount()
        if self.takes("#"):
            return amount, "#"
        word = self.peek()
        if word is None or word.kind != "name" or word.value in _WORDS:
            return amount, None
        unit = unit_named(word.value)
        if unit is None:
            near = did_you_mean(word.value, UNITS)
            hint = f"did you mean `{near}`?" if near else f"units are {', '.join(MILLISECONDS)}"
            if word.value in ("tuple", "tuples", "signals"):
                hint = "a number of signals is written `#`: [3 #]"
            raise _Wrong("H602", f"`{word.value}` is no unit of time", word.span, hint)
        self.at += 1
        return amount, unit

    def amount(self) -> int | None:
        part = self.peek()
        if part is None:
            raise self.wrong("a size is missing in this window", _FORMS)
        self.at += 1
        if part.kind == "integer" and part.value >= 0:
            value: int = part.value
            return value
        if part.kind == "name" and part.value == "inf":
            return None
        hint = _FORMS
        if part.kind == "decimal":
            hint = "use a smaller unit: [500 ms] instead of [0.5 s]"
        elif part.kind == "variable":
            hint = "sizes of windows are numbers; they cannot depend on the data"
        raise _Wrong("H603", "the size of a window is a whole number", part.span, hint)

    def times(self, past: _Size, future: _Size) -> TimeWindow:
        if "#" in {size[1] for size in (past, future) if size is not None}:
            raise self.wrong("time and number of signals cannot be mixed in a window", _FORMS)
        before = Duration(0) if past is None else Duration(*past)
        after = Duration(0) if future is None else Duration(*future)
        hop = None
        if self.takes("hop"):
            amount, unit = self.size()
            hop = Duration(amount, unit)
            if amount is None or amount == 0 or unit == "#":
                raise self.wrong("a window hops by a time above 0", "write [4 s hop 2 s]", "H604")
        elif self.takes("tumbling"):
            hop = before
            if before.amount in (None, 0) or future is not None:
                hint = "write [4 s tumbling]; windows with a future can hop"
                raise self.wrong("only a window over a past above 0 tumbles", hint, "H604")
        return self.done(TimeWindow(before, after, hop, self.whole.span))

    def tuples(self, past: _Size, future: _Size) -> TupleWindow | PartitionWindow:
        before = 0 if past is None else past[0]
        after = 0 if future is None else future[0]
        if before == 0 and after == 0:
            raise self.wrong("a tuple window has at least one signal", "write [1 #]", "H604")
        if self.takes("per"):
            return PartitionWindow(before, after, self.patterns(), self.whole.span)
        return self.done(TupleWindow(before, after, self.whole.span))

    def patterns(self) -> tuple[Pattern, ...]:
        found = [self.pattern()]
        while self.takes(","):
            found.append(self.pattern())
        self.end()
        return tuple(found)

    def pattern(self) -> Pattern:
        part = self.peek()
        if part is not None and part.kind in ("name", "call"):
            self.at += 1
            if part.kind == "name":
                return Pattern(part.value, None, part.span)
            args = [self.term(arg) for arg in part.parts]
            return Pattern(part.value, tuple(arg for arg in args if arg is not None), part.span)
        span = self.whole.span if part is None else part.span
        raise _Wrong("H603", "a pattern of atoms is expected", span, "write tram or tram(Id, _)")

    def time(self) -> Term:
        part = self.peek()
        if part is None or part.kind not in ("integer", "variable"):
            raise self.wrong("a time is missing in this window", "write [from 3 to 9]")
        self.at += 1
        found = self.term(part)
        assert found is not None
        return found

    def peek(self) -> Part | None:
        return self.parts[self.at] if self.at < len(self.parts) else None

    def sees(self, word: str) -> bool:
        part = self.peek()
        return part is not None and part.kind in ("name", "sign") and part.value == word

    def takes(self, word: str) -> bool:
        found = self.sees(word)
        self.at += found
        return found

    def done(self, window: _W) -> _W:
        self.end()
        return window

    def end(self) -> None:
        part = self.peek()
        if part is not None:
            raise _Wrong("H603", "this is not expected in a window", part.span, _FORMS)

    def wrong(self, message: str, hint: str, code: str = "H603") -> _Wrong:
        return _Wrong(code, message, self.whole.span, hint)
