"""LARS by answer set solving: a session answers at growing query times.

Windows over signals are kept in Python and given to clingo, which settles the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from clingo import Function, Number, Supremum, Symbol

from horai.asp.answers import Answers
from horai.asp.encode import Encoder
from horai.asp.encoding import Encoding
from horai.asp.inputs import Inputs, Signal
from horai.asp.multishot import PATIENCE, MultiShot, Rows
from horai.asp.normal import normal_form
from horai.asp.numbers import Outgrown
from horai.asp.oneshot import solve_once
from horai.asp.plain import Refused
from horai.asp.solving import Asked
from horai.asp.symbols import LARGEST, Names, to_symbol
from horai.asp.values import Kinds
from horai.asp.views import Row, View, ViewKey, make_view
from horai.asp.windows import chain_span
from horai.asp.writer import Writer
from horai.lang.lars.clock import Clock
from horai.lang.lars.points import in_points
from horai.lang.lars.syntax import Predicate, Program
from horai.plan.lars.reach import reach_of

FAR = "rules that speak of times beyond a thousand million: choose a longer clock time"


class AspSession:
    """A run of a program. Raises `Refused` when the program is not plain LARS.

    `grounding` says whether clingo grounds the program anew for every question ("fresh"), keeps the
    grounding ("kept") or keeps it as long as that pays ("auto").
    """

    def __init__(
        self,
        program: Program,
        *,
        clock: Clock | None = None,
        start: int = 0,
        asked: Asked | None = None,
        grounding: str = "auto",
    ) -> None:
        self.plain = normal_form(program, clock)
        self.asked = asked or Asked()
        self.start = start
        self.inputs = Inputs(start)
        self.reach = reach_of(in_points(program, clock or Clock()))
        self.kinds = Kinds(self.plain)
        self.signalled: frozenset[Predicate] = frozenset()
        self.views: dict[ViewKey, View] = {}
        self.arguments: list[list[Symbol]] = []
        self.grounding = grounding
        self.last: Answers | None = None
        self.encode()

    def encode(self) -> None:
        """Write the rules, for the kinds of signals there are so far."""
        used = {*self.plain.derived, *self.plain.background}
        writer = Writer(
            Names(used),
            is_numeric=self.kinds.is_numeric,
            is_native=self.kinds.is_native,
            has_decimals=self.kinds.has_decimals,
        )
        self.encoded = self.kinds.found
        self.encoding: Encoding = Encoder(self.plain, self.signalled, writer).encode()
        self.views = {
            key: self.views.get(key) or make_view(key, self.inputs) for key in self.encoding.views
        }
        self.known: dict[ViewKey, dict[Row, Symbol]] = {}
        self.multishot: MultiShot | None = None
        if self.encoding.is_timeless and self.grounding != "fresh" and not self.asked.steady:
            patience = 0 if self.grounding == "kept" else PATIENCE
            self.multishot = MultiShot(self.plain, self.encoding, self.asked, patience)

    def advance(
        self, time: int, signals: Iterable[Signal] = (), retracted: Iterable[Signal] = ()
    ) -> Answers:
        """The answers at a time, with more signals known than before."""
        came = list(signals)
        new = self.inputs.add(came)
        self.inputs.retract(retracted)
        self.learn(new, max([abs(time), *(abs(signal[0]) for signal in came)]))
        rows = {key: view.move(time) for key, view in self.views.items()}
        try:
            self.last = self.solve(time, rows)
        except Outgrown:
            self.kinds.outgrow()
            self.encode()
            self.last = self.solve(time, rows)
        kept = [view.keep_from(time) for view in self.views.values()]
        self.inputs.forget(min(kept, default=len(self.inputs.times)))
        self.inputs.thin_out(self.reach, time)
        return self.last

    def learn(self, new: Iterable[int], time: int) -> None:
        """Take note of atoms never seen before, and of how large a time is."""
        atoms = [self.inputs.atoms[number] for number in sorted(new)]
        self.arguments.extend([to_symbol(arg) for arg in atom.args] for atom in atoms)
        signalled = self.signalled | ({a.predicate for a in atoms} & self.plain.defined)
        self.kinds.learn(atoms)
        if not self.encoding.is_timeless:
            if time > LARGEST:
                raise Refused(FAR)
            self.kinds.reach(time)
        if self.kinds.found != self.encoded or signalled != self.signalled:
            self.signalled = signalled
            self.encode()

    def solve(self, time: int, rows: Rows) -> Answers:
        """Ask clingo, by the way that is cheapest for what is new."""
        if self.multishot is not None:
            try:
                found = self.multishot.answers(time, rows, self.symbol)
            except Refused:  # of all that has ever been, which may be too much
                found, self.multishot = None, None
            if found is not None:
                return found
        held = [self.tuples(key, rows[key]) for key in self.encoding.views]
        previous = self.last if self.asked.steady else None
        return solve_once(self.encoding, held, self.moments(time), self.asked, time, previous)

    def tuples(self, key: ViewKey, rows: Iterable[Row]) -> list[Symbol]:
        """What a window holds, without its name; most of it was there the last time, too."""
        before = self.known.get(key, {})
        now = {row: before.get(row) or Function("", self.row(row)) for row in rows}
        self.known[key] = now
        return list(now.values())

    def row(self, row: Row) -> list[Symbol]:
        """The arguments of a row."""
        number, time = row
        args = self.arguments[number]
        return args if time is None else [*args, Number(time)]

    def symbol(self, key: ViewKey, row: Row) -> Symbol:
        """The atom of a window that a row says."""
        return Function(self.encoding.views[key], self.row(row))

    def moments(self, time: int) -> Iterable[Symbol]:
        """The current time, the start, and the points that windows over derived atoms cover."""
        if self.encoding.is_timeless:
            return
        yield Function("_now", [Number(time)])
        yield Function("_start", [Number(self.start)])
        for windows, name in self.encoding.spans.items():
            span = chain_span(windows, self.start, time)
            if span is not None:
                if span[1] is not None and span[1] > LARGEST:
                    raise Refused(FAR)
                last = Supremum if span[1] is None else Number(span[1])
                yield Function(name, [Number(span[0]), last])
