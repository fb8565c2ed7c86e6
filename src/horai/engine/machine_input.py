"""What a compiled machine is given: its program with the codes of terms, tables and candidates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from horai.engine.columns import codes_of, constant
from horai.engine.domains import Domains
from horai.engine.frames import Frame
from horai.engine.heads import Heads
from horai.engine.machine_arrays import Matrix, cumulated, ints, offsets, stacked
from horai.engine.machine_rows import Candidates, Given
from horai.engine.matching import build
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, is_ground
from horai.lang.ec.errors import blaming
from horai.plan import operators as op
from horai.plan.ec import opcodes as do
from horai.plan.ec.machine import Column as Brought
from horai.plan.ec.machine import LookupTable, Machine, MachineRule
from horai.plan.program import Plan
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Mask

Key = tuple[str, int]
_NOTHING: Ints = np.empty(0, np.int64)


class NotHere(Exception):
    """This run has something that the machine cannot deal with."""


@dataclass(slots=True)
class Inputs:
    """Makes what the kernel takes, for one run."""

    program: Plan
    machine: Machine
    heads: Heads

    # --- candidates ------------------------------------------------------------------------------

    def candidates(self) -> Candidates:
        """The candidates of all rules that know their time."""
        times, layers, rules, places, cells = [], [], [], [], []
        filled = 0
        for number, layer_of, (time, columns) in self._parts():
            rows, width = columns.shape
            times.append(time)
            layers.append(np.full(rows, layer_of))
            rules.append(np.full(rows, number))
            places.append(filled + width * np.arange(rows))
            cells.append(columns.ravel())
            filled += rows * width
        empty = np.empty(0, np.int64)
        parts = [np.concatenate([empty, *part]) for part in (times, layers, rules, places)]
        place = order(parts[0], parts[1])
        time, layer, rule_of, at = (part[place] for part in parts)
        return Candidates(time, layer, rule_of, at, np.concatenate([empty, *cells]))

    def _parts(self) -> Iterator[tuple[int, int, tuple[Ints, Matrix]]]:
        """Candidates with the number of their rule and its layer; what is known already first."""
        rules = self.machine.rules
        for number, (key, (layer, _)) in enumerate(self.machine.heard.items(), len(rules)):
            known = self.heads.world.scan("event", key)
            later = known.where(np.flatnonzero(known.columns[-1].data > self.heads.low))
            table, _ = self._coded(later, tuple(range(key[1])), 0)
            yield number, layer, (later.columns[-1].data, table)
        for number, rule in enumerate(rules):
            if rule.timed:
                yield number, rule.layer, self._of_rule(rule)

    def _of_rule(self, rule: MachineRule) -> tuple[Ints, Matrix]:
        plan = rule.plan
        if plan.split is None:
            frame = self.heads.candidates(plan)[0]
            name = "#time"
        else:
            frame, name = self._frame(rule), "#at"
            if frame.rows and plan.time is not None:
                column = build(plan.time, frame.columns, frame.rows, self.heads.symbols)
                frame = self.heads.evaluator.whole(name, frame.with_columns({name: column}))
        if not frame.rows:
            return np.empty(0, np.int64), np.empty((0, len(rule.columns)), np.int64)
        at = frame.columns[name].data
        frame = frame.where((at > self.heads.low) & (at <= self.heads.world.query))
        table = np.empty((frame.rows, len(rule.columns)), np.int64)
        with blaming(plan.clause):
            for place, brought in enumerate(rule.columns):
                table[:, place] = self._column(brought, frame)
        return frame.columns[name].data, table

    def _frame(self, rule: MachineRule) -> Frame:
        plan, evaluator = rule.plan, self.heads.evaluator
        assert plan.split is not None
        with blaming(plan.clause):
            evaluator.domains = Domains(plan.body, self.heads.world, self.heads.groundings)
            try:
                return evaluator.run(plan.split.candidates, self.heads.start(plan))
            finally:
                evaluator.domains = {}

    def _column(self, term: Brought, frame: Frame) -> Ints:
        """A term as it is in each row, or whether a condition is true in it."""
        symbols = self.heads.symbols
        if isinstance(term, Term):
            return codes_of(build(term, frame.columns, frame.rows, symbols), symbols)
        chain = op.Chain((term,), (frozenset(),), frozenset())
        met = np.zeros(frame.rows, np.int64)
        if frame.rows:
            found = self.heads.evaluator.run(chain, frame.numbered("@candidate"))
            met[found.columns["@candidate"].data] = 1
        return 2 * met + 1

    # --- the program -----------------------------------------------------------------------------

    def registers(self) -> Ints:
        """Registers, those of constants filled."""
        terms = list(self.machine.coder.constants)
        found = np.zeros(do.CONSTANTS + len(terms), np.int64)
        found[do.CONSTANTS :] = [codes_of(constant(t, 1, self._symbols), self._symbols)[0]
                                 for t in terms]  # fmt: skip
        return found

    @property
    def _symbols(self) -> Symbols:
        return self.heads.symbols

    def given(self) -> Given:
        """All that does not change during a run."""
        machine = self.machine
        nodes = len(machine.nodes)
        domain_from, domains, extra = self._domains()
        tables = [self._table(table) for table in machine.tables] + extra
        asked = [rule for rule in machine.rules if not rule.timed]
        asked.sort(key=lambda rule: rule.layer)
        order_ = sorted(machine.delays, key=lambda d: self._node(d.plan.origin_key))
        origins = [self._node(d.plan.origin_key) for d in order_]
        delay_from = offsets(origins, nodes)
        indexes = machine.indexes
        post = sorted(machine.postponed, key=lambda one: one.node)
        widest = max((arity for _, (_, arity) in machine.nodes), default=0) + 1
        patterns = np.full((len(post), widest), -1, np.int64)
        for place, one in enumerate(post):
            patterns[place, : len(one.registers)] = one.registers
        lists = np.zeros(nodes * do.LISTS, np.bool_)
        lists[list(machine.coder.lists)] = True
        return Given(
            np.array(machine.coder.code, np.int64),
            np.array([*machine.coder.pool, *range(do.GIVEN, do.OTHERS)], np.int64),
            np.array([arity for _, (_, arity) in machine.nodes], np.int64),
            lists,
            self._told(),
            ints([*(r.entry for r in machine.rules), *(at for _, at in machine.heard.values())]),
            ints([*(len(r.columns) for r in machine.rules), *(key[1] for key in machine.heard)]),
            offsets([rule.layer for rule in asked], machine.layers),
            ints(rule.entry for rule in asked),
            cumulated(len(rule.sources) for rule in asked),
            ints(source for rule in asked for source in sorted(rule.sources)),
            delay_from,
            ints(d.early for d in order_),
            ints(d.late for d in order_),
            ints(d.layer for d in order_),
            ints(len(d.saved) for d in order_),
            ints(place - int(delay_from[node]) for place, node in enumerate(origins)),
            offsets([one.node for one in post], nodes),
            patterns,
            domain_from,
            domains,
            *stacked(tables),
            ints(index.node for index in indexes),
            cumulated(len(index.positions) for index in indexes),
            ints(place for index in indexes for place in index.positions),
            *self._before(),
        )

    def _node(self, key: Key) -> int:
        return self.machine.nodes.index(("fluent", key))

    def _told(self) -> Mask:
        found = np.zeros((len(self.machine.nodes), do.LISTS), np.bool_)
        for number, (kind, key) in enumerate(self.machine.nodes):
            found[number, do.HAPPENED_LIST] = kind == "event"
            if kind == "fluent":
                found[number, do.INITIATED_LIST] = key in self.program.initiations_read
                found[number, do.ENDED_LIST] = key in self.program.terminations_read
        return found.ravel()

    # --- tables ----------------------------------------------------------------------------------

    def _before(self) -> tuple[Ints, Ints, Ints]:
        """The spans of all fluents that are looked up, and where those of each pair begin."""
        starts, sizes, ends = [_NOTHING], [np.zeros(1, np.int64)], [_NOTHING]
        for key in self._looked_up():
            fluent = self.heads.world.fluent(key)
            sizes.append(np.diff(fluent.offsets))
            starts.append(fluent.spans.start)
            ends.append(fluent.spans.end)
        return np.cumsum(np.concatenate(sizes)), np.concatenate(starts), np.concatenate(ends)

    def _looked_up(self) -> list[Key]:
        return list(dict.fromkeys(t.fluent for t in self.machine.tables if t.fluent is not None))

    def _pairs(self, table: LookupTable) -> tuple[Matrix, int]:
        """The pairs of a fluent with their numbers among those of all that are looked up."""
        assert table.fluent is not None
        first = 0
        for key in self._looked_up():
            pairs = self.heads.world.fluent(key).pairs
            if key == table.fluent:
                break
            first += pairs.rows
        rows, keys = self._coded(pairs, table.order, table.keys)
        return np.column_stack((rows, np.arange(first, first + pairs.rows))), keys

    def _table(self, table: LookupTable) -> tuple[Matrix, int]:
        if table.fluent is not None:
            return self._pairs(table)
        if table.points is not None:
            points = self.heads.world.scan(*table.points)
            return self._coded(points, table.order, table.keys)
        if table.facts is not None:
            return self._coded(self.heads.evaluator.facts(table.facts), table.order, table.keys)
        rule = next(one for one in self.machine.rules if one.plan is table.rule)
        frame = self._frame(rule)
        if not frame.rows:
            return np.empty((0, len(table.order)), np.int64), table.keys
        columns = tuple(frame.columns[name] for name in table.columns)
        return self._coded(Relation(columns, frame.rows), table.order, table.keys)

    def _coded(self, relation: Relation, places: tuple[int, ...], keys: int) -> tuple[Matrix, int]:
        found = np.empty((relation.rows, len(places)), np.int64)
        for column, place in enumerate(places):
            found[:, column] = codes_of(relation.columns[place], self._symbols)
        return found, keys

    def _domains(self) -> tuple[Ints, Matrix, list[tuple[Matrix, int]]]:
        """For every node the values that groundings speak of, and tables of arguments."""
        of: list[int] = []
        rows: list[tuple[int, int]] = []
        tables: list[tuple[Matrix, int]] = []
        first = len(self.machine.tables)
        for number, (_, key) in enumerate(self.machine.nodes):
            for plan in self.program.groundings.get(key, ()):
                listed = self.heads.groundings.listed(plan)
                if listed is None:
                    raise NotHere
                register, keys = -1, key[1]
                if plan.value is not None and is_ground(plan.value):
                    register = self.machine.coder.constants[plan.value]
                elif listed[1]:
                    keys += 1  # which values are allowed depends on the arguments
                of.append(number)
                rows.append((register, first + len(tables)))
                tables.append(self._coded(listed[0], tuple(range(keys)), keys))
        return (
            offsets(of, len(self.machine.nodes)),
            np.array(rows, np.int64).reshape(len(rows), 2),
            tables,
        )
