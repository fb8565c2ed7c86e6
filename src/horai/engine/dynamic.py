"""Dynamic domains: members come from the arguments of input items, through their groundings."""

from __future__ import annotations

import numpy as np

from horai.engine.arrow_items import ItemKind
from horai.engine.columns import Column, bits, codes
from horai.engine.frames import Frame
from horai.engine.hashing import dense
from horai.engine.inputs import flattened
from horai.engine.matching import build, match
from horai.engine.relations import Relation, different, joined
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.plan.ec.literals import names
from horai.plan.program import GroundingPlan, Plan
from horai.temporal.spans import INF

Key = tuple[str, int]


class Members:
    """Members of the dynamic domains; those of items that are final stay for good."""

    def __init__(self, program: Plan, symbols: Symbols) -> None:
        self.program = program
        self.symbols = symbols
        self.permanent: dict[Key, Relation] = {}
        # Items of other types name nobody.
        self._naming = {
            key
            for key, plans in program.groundings.items()
            if any(call.key in program.dynamic for plan in plans for call in plan.calls)
        }

    def now(self, stream: Stream) -> dict[Key, Relation]:
        """All members, those of the items that count now included."""
        found = {key: [self.permanent.get(key, _nobody(key))] for key in self.program.dynamic}
        self._collect(found, stream, INF)
        return self._different(found)

    def lost(self, stream: Stream) -> bool:
        """Did the last query take back items that may name someone?"""
        return any(stream.took_back(kind, key) for kind, key in self._changed(stream))

    def came(self, stream: Stream) -> dict[Key, Relation]:
        """Those whom the items name that the last query admitted."""
        found = {key: [_nobody(key)] for key in self.program.dynamic}
        for kind, key in self._changed(stream):
            columns, size = stream.admitted(kind, key)
            args, value = (columns, None) if kind == "event" else (columns[:-1], columns[-1])
            self._add(found, key, args, value, size)
        return self._different(found)

    def make_permanent(self, stream: Stream, border: int) -> None:
        """What lies before the border can never be taken back."""
        found = {key: [self.permanent.get(key, _nobody(key))] for key in self.program.dynamic}
        self._collect(found, stream, border)
        self.permanent.update(self._different(found))

    def _different(self, found: dict[Key, list[Relation]]) -> dict[Key, Relation]:
        return {
            key: different(joined(parts, self.symbols), self.symbols)
            for key, parts in found.items()
        }

    def _changed(self, stream: Stream) -> list[tuple[ItemKind, Key]]:
        """The types that can name someone and of which the last query changed something."""
        kinds: tuple[ItemKind, ...] = ("event", "fluent")
        return [(kind, key) for kind in kinds for key in filter(self._names, stream.changed(kind))]

    def _collect(self, found: dict[Key, list[Relation]], stream: Stream, until: int) -> None:
        for key in filter(self._names, stream.keys("event")):
            events = stream.events(key)
            rows = np.flatnonzero(events.time <= until)
            self._add(found, key, tuple(c.take(rows) for c in events.args), None, len(rows))
        for key in filter(self._names, stream.keys("fluent")):
            fluents = stream.fluents(key)
            rows = np.flatnonzero(fluents.start <= until)
            args = tuple(column.take(rows) for column in fluents.args)
            self._add(found, key, args, fluents.value.take(rows), len(rows))

    def _names(self, key: Key) -> bool:
        """Can items of a type name a member?"""
        return any(flat in self._naming for flat in self.program.unwrapping.forms(key))

    def _add(
        self,
        found: dict[Key, list[Relation]],
        key: Key,
        args: tuple[Column, ...],
        value: Column | None,
        size: int,
    ) -> None:
        unwrapping = self.program.unwrapping
        for flat, columns, chosen in flattened(key, args, size, unwrapping, self.symbols):
            taken = None if value is None else value.take(chosen)
            for plan in self.program.groundings.get(flat, ()):
                _fill(found, plan, columns, taken, len(chosen), self.symbols)


def _nobody(key: Key) -> Relation:
    return Relation(tuple(codes(np.empty(0, np.int64)) for _ in range(key[1])), 0)


def _fill(
    found: dict[Key, list[Relation]],
    plan: GroundingPlan,
    args: tuple[Column, ...],
    value: Column | None,
    rows: int,
    symbols: Symbols,
) -> None:
    calls = [call for call in plan.calls if call.key in found]
    if not calls or (value is None and plan.value is not None):
        return
    columns = args if value is None or plan.value is None else (*args, value)
    terms = plan.terms if value is None or plan.value is None else (*plan.terms, plan.value)
    _, firsts = dense([bits(column) for column in columns], rows)
    frame = Frame(len(firsts)).numbered("@row")
    for pattern, column in zip(terms, columns, strict=True):
        here = column.take(firsts[frame.columns["@row"].data])
        fits = match(pattern, here, frame.columns, symbols)
        frame = frame.take(fits.rows).with_columns(fits.new)
    for call in calls:
        if frame.rows and names(*call.args) <= set(frame.columns):
            made = tuple(build(arg, frame.columns, frame.rows, symbols) for arg in call.args)
            found[call.key].append(Relation(made, frame.rows))
