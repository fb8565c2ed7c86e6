"""Formulas as circuits: whether a ground formula holds, as a function of the atoms that do.

Which points and atoms a window selects depends on the signals and the time, never on what is
derived. So, for given signals, a formula is a Boolean function of derived atoms at times. It is
written as rules of an answer set program without loops, one for each gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set

from horai.lang.lars.syntax import (
    Always,
    And,
    At,
    Atom,
    Comparison,
    Formula,
    Implies,
    Not,
    Or,
    Reset,
    Some,
    Truth,
    Within,
)
from horai.lang.terms import Int
from horai.oracle.lars.numbers import compare
from horai.oracle.lars.stream import Pair, Stream
from horai.oracle.lars.windows import select

Gate = bool | str
"""A constant, or the name of a gate that holds when its formula does."""
Wire = Callable[[Pair], str]
"""The name of the gate for a derived atom at a time."""


class NotACircuit(Exception):
    """A formula that depends on derived atoms in another way than gates can say."""


class Circuits:
    """Gates for formulas over one stream, with the rules that define them."""

    def __init__(self) -> None:
        self.rules: list[str] = []
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}

    def both(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when all gates do."""
        kept: dict[str, None] = {}
        for gate in gates:
            if gate is False:
                return False
            if gate is not True:
                kept[str(gate)] = None
        if len(kept) < 2:
            return next(iter(kept), True)
        return self._gate("and", tuple(kept))

    def either(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when one of the gates does."""
        kept: dict[str, None] = {}
        for gate in gates:
            if gate is True:
                return True
            if gate is not False:
                kept[str(gate)] = None
        if len(kept) < 2:
            return next(iter(kept), False)
        return self._gate("or", tuple(kept))

    def no(self, gate: Gate) -> Gate:
        """A gate that holds when another one does not."""
        return not gate if isinstance(gate, bool) else self._gate("not", (gate,))

    def _gate(self, kind: str, inputs: tuple[str, ...]) -> str:
        key = (kind, inputs)
        if key not in self._known:
            name = self._known[key] = f"g({len(self._known)})"
            match kind:
                case "and":
                    self.rules.append(f"{name} :- {', '.join(inputs)}.")
                case "or":
                    self.rules.extend(f"{name} :- {one}." for one in inputs)
                case _:
                    self.rules.append(f"{name} :- not {inputs[0]}.")
        return self._known[key]


class World:
    """A stream whose derived atoms are open: `wire` names the gate of each."""

    def __init__(
        self, circuits: Circuits, whole: Stream, background: Set[Atom], wire: Wire
    ) -> None:
        self._circuits = circuits
        self._whole = whole
        self._background = background
        self._wire = wire
        self._signals = frozenset(whole.signals)
        self._known: dict[tuple[Formula, Stream, int], Gate] = {}

    def all(self, formulas: Iterable[Formula], time: int) -> Gate:
        """A gate for all formulas together, at a time."""
        return self._circuits.both(self.gate(formula, self._whole, time) for formula in formulas)

    def gate(self, formula: Formula, stream: Stream, time: int) -> Gate:
        """A gate for a formula at a time, in a part of the stream."""
        key = (formula, stream, time)
        if key not in self._known:
            self._known[key] = self._made(formula, stream, time)
        return self._known[key]

    def _made(self, formula: Formula, stream: Stream, time: int) -> Gate:
        match formula:
            case Atom():
                pair = (time, formula)
                if formula in self._background or pair in stream.signals:
                    return True
                return self._wire(pair) if pair in stream.derived else False
            case Truth(value=value):
                return value
            case Comparison(sign=sign, left=one, right=other):
                return compare(sign, one, other)
            case Not(formula=inner):
                return self._circuits.no(self.gate(inner, stream, time))
            case And(parts=parts):
                return self._circuits.both(self.gate(part, stream, time) for part in parts)
            case Or(parts=parts):
                return self._circuits.either(self.gate(part, stream, time) for part in parts)
            case Implies(left=left, right=right):
                return self.gate(Or((Not(left), right)), stream, time)
            case Some(formula=inner):
                points = (self.gate(inner, stream, point) for point in stream.timeline)
                return self._circuits.either(points)
            case Always(formula=inner):
                return self._circuits.both(self.gate(inner, stream, p) for p in stream.timeline)
            case At(time=Int(value=point), formula=inner):
                return self.gate(inner, stream, point) if point in stream else False
            case Within(window=window, formula=inner):
                return self.gate(inner, select(window, stream, time), time)
            case Reset(formula=inner):
                return self.gate(inner, self._whole, time)
        raise NotACircuit("an aggregate")
