"""The rules of sliding time windows and tuple windows that come with every tick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.asp.expiry import FOR_EVER, Annotated
from horai.asp.plain import Chain, Times, Tuples
from horai.asp.templates import Literal, Template, at, counted, open_literal
from horai.asp.views import ViewKey
from horai.lang.terms import Int


def has_rules(windows: Chain) -> bool:
    """Whether there are rules for a window: a sliding one over a number of points or signals."""
    match windows:
        case (Times(past=int(), future=0, hop=1),) | (Tuples(past=int(), future=0),):
            return True
    return False


@dataclass(frozen=True, slots=True)
class WindowRules:
    """A window atom, and the rules for its predicate."""

    name: str
    key: ViewKey

    def at(self, time: int, count: int, start: int, is_signal: bool) -> Iterator[Annotated]:
        """The rules that come with a tick; `is_signal` when it brings one, not a time point."""
        window = self.key.windows[0]
        atom = open_literal(self.key.predicate)
        held = Literal(self.name, atom.args)
        if isinstance(window, Times):
            assert window.past is not None
            if not is_signal:
                yield from self._timed(atom, held, time, window.past, start)
        else:
            assert isinstance(window, Tuples) and window.past is not None
            yield from self._counted(atom, held, time, count, window.past, is_signal)

    def _timed(
        self, atom: Literal, held: Literal, time: int, past: int, start: int
    ) -> Iterator[Annotated]:
        match self.key.modality:
            case "some":
                yield (past + 1, None), Template(held, (at(atom, Int(time)),))
            case "at":
                held = Literal(held.name, (*held.args, Int(time)))
                yield (past + 1, None), Template(held, (at(atom, Int(time)),))
            case "always":
                spoiled = Literal(f"spoil:{self.name}", atom.args)
                yield FOR_EVER, Template(held, (atom,), (spoiled,))
                # Before the start there are no points that could lack the atom.
                if past >= 1 and time - 1 >= start:
                    yield (past, None), Template(spoiled, (atom,), (at(atom, Int(time - 1)),))

    def _counted(
        self, atom: Literal, held: Literal, time: int, count: int, past: int, is_signal: bool
    ) -> Iterator[Annotated]:
        signal = counted(atom, time, count)
        match self.key.modality:
            case "some" if is_signal:
                yield (None, past), Template(held, (signal,))
            case "at" if is_signal:
                held = Literal(held.name, (*held.args, Int(time)))
                yield (None, past), Template(held, (signal,))
            case "always":
                yield from self._counted_always(atom, held, time, count, past)

    def _counted_always(
        self, atom: Literal, held: Literal, time: int, count: int, past: int
    ) -> Iterator[Annotated]:
        tick = Literal("tick", (Int(time), Int(count)))
        spoiled = Literal(f"spoil:{self.name}", atom.args)
        time_covered = Literal(f"time:{self.name}", (Int(time),))
        count_covered = Literal(f"count:{self.name}", (Int(count),))
        inside = Literal(f"in:{self.name}", (*atom.args, Int(time)))
        signal = counted(atom, time, count)
        yield FOR_EVER, Template(held, (atom,), (spoiled,))
        yield FOR_EVER, Template(spoiled, (atom, tick, time_covered), (at(atom, Int(time)),))
        # The atom is at a covered point, but all its signals there are before the cut.
        yield FOR_EVER, Template(spoiled, (atom, signal, time_covered), (inside,))
        yield FOR_EVER, Template(inside, (signal, count_covered))
        yield (None, past), Template(time_covered, (tick,))
        yield (None, past), Template(count_covered, (tick,))
