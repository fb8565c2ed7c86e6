"""Joins over time: points, pairs that hold at a time, interval lists."""

from __future__ import annotations

import numpy as np

from horai.engine.arithmetic import evaluate
from horai.engine.bindings import Bindings, Names, everything, keeps
from horai.engine.columns import codes, codes_of, ints, narrow
from horai.engine.comparison import compare
from horai.engine.frames import Frame, stack
from horai.engine.matching import build, match
from horai.engine.overlaps import is_crowded, overlap_join
from horai.engine.ranges import range_join
from horai.engine.relations import different, join, joined
from horai.lang.core.terms import Term, Var
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.temporal.grid import grid_points
from horai.temporal.spans import INF, Mask, Spans

FEW = 64  # rows that are sooner looked up one by one than joined


class TimeJoins(Bindings):
    """The operators that read events and fluents."""

    def time_of(self, time: Term, frame: Frame) -> tuple[Frame, Term]:
        """A time as a variable; one that is computed gets a column of its own."""
        if isinstance(time, Var):
            if time.name in frame.columns and frame.columns[time.name].kind != "int":
                return self.whole(time.name, frame), time
            return frame, time
        numbers = evaluate(time, frame.columns, frame.rows, self.symbols)
        column = numbers.column(self.symbols)
        frame = frame.with_columns({"#time": column}).where(numbers.valid)
        return self.whole("#time", frame), Var("#time")

    def whole(self, name: str, frame: Frame) -> Frame:
        """Rows whose time is an integer: nothing happens at any other."""
        column = frame.columns[name]
        if column.kind == "int":
            return frame
        if column.kind == "float":
            return frame.empty().with_columns({name: ints(np.empty(0))})
        frame = frame.where((column.data & 1).astype(np.bool_))
        return frame.with_columns({name: ints(frame.columns[name].data >> 1)})

    def _scan(self, step: op.Scan, frame: Frame, needed: Names) -> Frame:
        frame, time = self.time_of(step.time, frame)
        frame, terms = self.plain(frame, step.terms)
        assert isinstance(time, Var)
        at = frame.columns[time.name].data if time.name in frame.columns else None
        self.world.refuse_future(step.key, step.kind, at)
        keep = needed | names(*step.within) | {time.name} if step.within else needed
        if step.kind == "terminated":
            frame = self._ends(step, frame, terms, time, keep)
        else:
            table = self.world.scan(step.kind, step.key, at)
            if step.bounds and at is None:
                found = range_join(frame, table, (*terms, time), step.bounds, self.symbols)
            else:
                found = join(frame, table, (*terms, time), self.symbols)
            frame = found.to_frame(keeps(keep))
        if step.within is not None:
            frame = self._within(step.within, time.name, frame)
        return frame

    def _ends(
        self, step: op.Scan, frame: Frame, terms: tuple[Term, ...], time: Var, keep: Names
    ) -> Frame:
        """Terminations; one of many values counts for each of them."""
        found: list[Frame] = []
        for ended in self.world.terminated(step.key):
            if not ended.every:
                whole = join(frame, ended.table, (*terms, time), self.symbols)
                found.append(whole.to_frame(keeps(keep)))
                continue
            part = join(frame, ended.table, (*terms[:-1], time), self.symbols).to_frame(everything)
            if not names(terms[-1]) <= set(part.columns):
                # Values that have left the window are ended with the others.
                known = self.known_pairs.get(step.key)
                pairs = [self.world.fluent(step.key).pairs, *([known] if known else [])]
                every = different(joined(pairs, self.symbols), self.symbols)
                part = join(part, every, terms, self.symbols).to_frame(everything)
            if part.rows:
                part = part.where(self._covered(step.key, ended.form, terms, part))
            found.append(part.only(keep))
        return stack(found, self.symbols) if found else frame.empty()

    def _covered(
        self, key: op.Key, form: Term | None, terms: tuple[Term, ...], frame: Frame
    ) -> Mask:
        """Values of the form that is ended, in the domain of the fluent."""
        columns = [build(term, frame.columns, frame.rows, self.symbols) for term in terms]
        mask = self.in_domain(key, tuple(columns[:-1]), columns[-1], frame.rows)
        if form is not None:
            fits = np.zeros(frame.rows, np.bool_)
            fits[match(form, columns[-1], {}, self.symbols).rows] = True
            mask = mask & fits
        return mask

    def _within(self, bounds: tuple[Term, Term], time: str, frame: Frame) -> Frame:
        """The range of `initiatedAt(F=V, T1, T, T2)`: a bound without a value is none."""
        for sign, bound in zip((">=", "<"), bounds, strict=True):
            if names(bound) <= set(frame.columns):
                mask = compare(sign, Var(time), bound, frame.columns, frame.rows, self.symbols)
                frame = frame.where(mask)
        return frame

    def _stab(self, step: op.Stab, frame: Frame, needed: Names) -> Frame:
        frame, time = self.time_of(step.time, frame)
        frame, terms = self.plain(frame, step.terms)
        assert isinstance(time, Var)
        self.world.refuse_future(step.key, "fluent", frame.columns[time.name].data)
        if frame.rows <= FEW and self.world.is_now(step.key, frame.columns[time.name].data):
            known = [self._codes(term, frame) for term in terms[:-1]]
            if all(column is not None for column in known):
                return self._now(step.key, known, terms[-1], frame).only(needed)
        fluent = self.world.fluent(step.key)
        at = frame.columns[time.name].data
        # What grows while it is read has no spans to sort.
        grows = self.world.grows(step.key)
        if not grows and is_crowded(frame, fluent, terms, self.symbols):
            moments = Spans(np.arange(frame.rows), at, at + 1)
            return overlap_join(frame, moments, fluent, terms, self.symbols)[0].to_frame(
                keeps(needed)
            )
        found = join(frame, fluent.pairs, terms, self.symbols)
        found = found.where(fluent.holds(found.source_rows(), at[found.left]))
        return found.to_frame(keeps(needed))

    def _codes(self, term: Term, frame: Frame) -> list[int] | None:
        """What a term stands for in every row, None if it has a free variable."""
        if not names(term) <= set(frame.columns):
            return None
        column = build(term, frame.columns, frame.rows, self.symbols)
        found: list[int] = codes_of(column, self.symbols).tolist()
        return found

    def _now(self, key: op.Key, args: list[list[int] | None], value: Term, frame: Frame) -> Frame:
        """The values that fluents have in the cell in work: one look each."""
        listed = [column for column in args if column is not None]
        owners = list(zip(*listed, strict=True)) if listed else [()] * frame.rows
        found = [self.world.value_now(key, owner) for owner in owners]
        rows = [row for row, code in enumerate(found) if code is not None]
        values = np.array([code for code in found if code is not None], np.int64)
        held = narrow(codes(values), self.symbols)
        return self.bind(value, frame.take(np.array(rows, np.int64)), held)

    def _walk(self, step: op.Walk, frame: Frame, needed: Names) -> Frame:
        assert isinstance(step.time, Var)
        frame, terms = self.plain(frame, step.terms)
        fluent = self.world.fluent(step.key)
        found = join(frame, fluent.pairs, terms, self.symbols)
        lists = fluent.lists(found.source_rows())
        last = self.world.last_point(step.key)
        points, rows = grid_points(lists, self.world.start, last, self.world.tick)
        place = lists.key[rows]
        frame = found.to_frame(keeps(needed)).take(place)
        return frame.with_columns({step.time.name: ints(points.time)})

    def _lookup(self, step: op.Lookup, frame: Frame) -> Frame:
        frame, terms = self.plain(frame, step.terms)
        for name in sorted(names(*terms) - set(frame.columns)):
            frame = self.spread(name, frame)
        self.world.refuse_future(step.key, "fluent", np.array([INF]))  # a list has no end yet
        fluent = self.world.fluent(step.key)
        found = join(frame, fluent.pairs, terms, self.symbols)
        pair = np.full(frame.rows, -1, np.int64)
        pair[found.left] = found.source_rows()
        return self.bind_list(step.result, fluent.lists(pair), frame)
