"""Statically determined fluents: interval operations for all groundings at once.

A row of a frame is one grounding of the rule; interval lists are spans keyed by row. Only rows that
can have an interval are made: an intersection needs all of its lists, a union one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import bits, codes, codes_of
from horai.engine.domains import Domains, Groundings
from horai.engine.formulas import Formula
from horai.engine.frames import Frame, deduplicated, stack, unit
from horai.engine.hashing import build as index_of
from horai.engine.hashing import dense, first
from horai.engine.intervals import as_spans
from horai.engine.matching import build
from horai.engine.memory import known_rows
from horai.engine.relations import Relation, join, joined
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World, fluent_of, merged, no_fluent
from horai.lang.core.terms import ListTerm, Term, Var
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import Unsupported, blaming
from horai.plan import operators as op
from horai.plan.ec.literals import names, visible
from horai.plan.ec.unify import may_match
from horai.plan.program import Plan, StaticPlan
from horai.temporal.algebra import union
from horai.temporal.spans import Spans

Remembered = tuple[Fluent, Relation]  # the lists by row, and all rows there were


class Operands:
    """Interval lists computed inside one rule: what is remembered of them, and what they are now.

    A duration or an Allen relation asks for whole intervals. Those of a fluent keep their true
    starts when windows pass; those of a list computed on the way would lose them with what made
    them. So the part of such a list that reaches over the cut is remembered by the bindings of its
    row.
    """

    def __init__(
        self,
        steps: tuple[op.Operator, ...],
        held: Mapping[int, Remembered],
        cut: int,
        symbols: Symbols,
    ) -> None:
        self.held = held
        self.cut = cut
        self.symbols = symbols
        self.now: dict[int, Remembered] = {}
        self._direct = {
            step.result.name
            for step in steps
            if isinstance(step, op.Lookup) and isinstance(step.result, Var)
        }
        spans = [step.literal for step in steps if isinstance(step, op.SpanOperation)]
        self._place = {id(literal): 2 * number for number, literal in enumerate(spans)}

    def whole(self, literal: object, side: int, term: Term, frame: Frame, spans: Spans) -> Spans:
        """The list as whole intervals, also where windows have passed."""
        place = self._place.get(id(literal))
        if place is None or (isinstance(term, Var) and term.name in self._direct):
            return spans
        names = sorted(name for name in frame.columns if name[0] not in "#@")
        rows = Relation(tuple(frame.columns[name] for name in names), frame.rows)
        known = self.held.get(place + side)
        if known is not None:
            spans = self._joined(rows, spans, known)
        self.now[place + side] = (Fluent(rows, spans), rows)
        return spans

    def _joined(self, rows: Relation, spans: Spans, known: Remembered) -> Spans:
        before, seen = known
        free = ~known_rows(rows, seen, self.symbols)  # what is new has no past to be cut off
        later = after_cut(spans, free, self.cut)
        keys = [codes_of(column, self.symbols) for column in rows.columns]
        if not before.pairs.rows:
            return later
        if keys:
            table = index_of([codes_of(c, self.symbols) for c in before.pairs.columns])
            place = first(keys, table)
        else:
            place = np.zeros(rows.rows, np.int64)
        return union(later, before.lists(place))


def after_cut(spans: Spans, free: np.ndarray[tuple[int], np.dtype[np.bool_]], cut: int) -> Spans:
    """The part of spans after a cut; rows that are free are left whole."""
    start = np.where(free[spans.key], spans.start, np.maximum(spans.start, cut + 1))
    there = start < spans.end
    return Spans(spans.key[there], start[there], spans.end[there])


Key = tuple[str, int]
Support = frozenset[op.Lookup]
ANYTHING: list[Support] = [frozenset()]
MANY = 16  # alternatives beyond which looking at everything is simpler


class Static:
    """Works out statically determined fluents in a world."""

    def __init__(self, world: World, evaluator: Evaluator, groundings: Groundings) -> None:
        self.world = world
        self.evaluator = evaluator
        self.groundings = groundings

    def evaluate(
        self, plan: StaticPlan, held: Mapping[int, Remembered] | None = None, cut: int = 0
    ) -> tuple[Fluent, Relation | None]:
        """The pairs and spans that one rule gives, those outside their domain included.

        Rules that speak of what is absent also tell which rows they looked at. `held` are lists
        inside the rule up to the cut; what they are now is in `operands`.
        """
        with blaming(plan.clause):
            formula = isinstance(plan.rule, ec.HoldsAtRule)
            domains = Domains(plan.rule.body, self.world, self.groundings, formula)
            self.evaluator.domains = domains
            self.evaluator.spreads = 0
            self.operands = Operands(plan.chain.steps, held or {}, cut, self.world.symbols)
            self.evaluator.uncut = self.operands.whole
            try:
                if formula:
                    maker = Formula(self.evaluator, plan)
                    found = [maker.evaluate(start) for start in self._starts(plan)]
                else:
                    found = [self._run(plan, start) for start in self._frames(plan)]
            finally:
                self.evaluator.domains = {}
                self.evaluator.uncut = None
            return self._fluent(plan, found), self._looked_at(plan, found)

    def looked_at(self, plan: StaticPlan) -> Relation | None:
        """The rows that a rule which speaks of what is absent looks at."""
        return self.evaluate(plan)[1]

    def _looked_at(self, plan: StaticPlan, frames: list[Frame]) -> Relation | None:
        if isinstance(plan.rule, ec.HoldsAtRule) or self._covered(plan):
            return None
        if not self.evaluator.spreads and not self.groundings.dynamic:
            return None  # only what is stated names the rows, and that never changes
        filled = [f for f in frames if f.rows and names(*plan.terms) <= set(f.columns)]
        tables = [
            Relation(
                tuple(build(t, frame.columns, frame.rows, self.world.symbols) for t in plan.terms),
                frame.rows,
            )
            for frame in filled
        ]
        nothing = tuple(codes(np.empty(0, np.int64)) for _ in plan.terms)
        return joined(tables, self.world.symbols) if tables else Relation(nothing, 0)

    def _covered(self, plan: StaticPlan) -> bool:
        """Do known spans name every head variable of what can have an interval?"""
        head = names(*plan.terms)
        supports = _supports(plan.result, plan.chain.steps)
        return all(support and head <= _names(support) for support in supports)

    # --- which rows ------------------------------------------------------------------------------

    def _starts(self, plan: StaticPlan) -> list[Frame]:
        """The head's variables bound by its grounding; left to the body where that does not say."""
        args, value = plan.terms[:-1], plan.terms[-1]
        head = names(*plan.terms)
        if not head:
            return [unit()]
        groundings = self.groundings
        if not groundings.speaks_of(plan.key, value):
            if head <= visible(plan.rule.body):
                return [unit()]
            listed = groundings.complete(unit(), plan.key, args, value)
            return [listed] if listed.rows else [unit()]
        listed = groundings.complete(unit(), plan.key, args, value)
        return [listed] if groundings.lists_all(plan.key) else [listed, unit()]

    def _frames(self, plan: StaticPlan) -> list[Frame]:
        """The rows that can have an interval."""
        if not self._covered(plan):
            return self._starts(plan)
        supports = _supports(plan.result, plan.chain.steps)
        frames = [self._supported(support) for support in supports]
        by_names: dict[frozenset[str], list[Frame]] = {}
        for frame in frames:
            by_names.setdefault(frozenset(frame.columns), []).append(frame)
        return [
            deduplicated(stack(alike, self.world.symbols)) for alike in by_names.values() if alike
        ]

    def _supported(self, support: Support) -> Frame:
        """The groundings for which all fluents of a support are known."""
        frame = unit()
        for lookup in sorted(support, key=lambda one: one.term.span or (0, 0)):
            pairs = self.world.fluent(lookup.key).pairs
            frame = join(frame, pairs, lookup.terms, self.world.symbols).to_frame(lambda _: True)
        return Frame(frame.rows, {n: c for n, c in frame.columns.items() if not n.startswith("#")})

    # --- one rule --------------------------------------------------------------------------------

    def _run(self, plan: StaticPlan, start: Frame) -> Frame:
        frame = self.evaluator.run(plan.chain, start)
        if not frame.rows:
            return frame
        spans, _ = as_spans(plan.result, frame, self.world.symbols)
        return Frame(frame.rows, frame.columns, {"@when": spans})

    def _fluent(self, plan: StaticPlan, frames: Iterable[Frame]) -> Fluent:
        symbols = self.world.symbols
        parts: list[tuple[Relation, Spans]] = []
        for frame in frames:
            spans = frame.lists.get("@when")
            if not frame.rows or spans is None or not len(spans):
                continue
            if not names(*plan.terms) <= set(frame.columns):
                missing = ", ".join(sorted(names(*plan.terms) - set(frame.columns)))
                raise Unsupported(f"nothing gives a value to {missing}: a grounding is missing")
            columns = tuple(build(t, frame.columns, frame.rows, symbols) for t in plan.terms)
            parts.append((Relation(columns, frame.rows), spans))
        if not parts:
            return no_fluent(len(plan.terms))
        found = [self._pairs(*part) for part in parts]
        return found[0] if len(found) == 1 else merged(found, self.world.symbols)

    def _pairs(self, rows: Relation, spans: Spans) -> Fluent:
        used = np.unique(spans.key)
        _, firsts = dense([bits(column) for column in rows.columns], rows.rows)
        if len(firsts) == rows.rows and len(used) == rows.rows:
            return Fluent(rows, spans)
        taken = tuple(column.take(spans.key) for column in rows.columns)
        return fluent_of(taken, spans.start, spans.end, len(spans), self.world.symbols)


def supports_of(plan: StaticPlan) -> list[Support]:
    """Sets of fluents of which one must be known as a whole for a rule to give an interval."""
    return _supports(plan.result, plan.chain.steps)


def present_only(plan: StaticPlan) -> bool:
    """Does a rule speak only of entities of which something holds, in all of its variables?"""
    body = [p.fvp.term for p in ec.walk(plan.rule.body) if isinstance(p, ec.HoldsFor | ec.HoldsAt)]
    asked = names(*plan.terms, *body)
    if isinstance(plan.rule, ec.HoldsAtRule):
        return False
    supports = _supports(plan.result, plan.chain.steps)
    return all(support and asked <= _names(support) for support in supports)


def lists_heads(plan: StaticPlan, program: Plan) -> bool:
    """Does its grounding name everyone a rule speaks of, by facts or members of domains?"""
    groundings = program.groundings.get(plan.key, ())
    values = [one.value for one in groundings]
    return any(v is None or may_match(v, plan.terms[-1]) for v in values) and all(
        names(*one.terms) <= names(*(call.term for call in one.calls)) for one in groundings
    )


def known_before(plan: StaticPlan, program: Plan) -> set[Key]:
    """Fluents of which something may be known before the grounding of a rule that reads it.

    So it is if a variable gets its values neither from lists that must hold, nor from what is
    stated, but from whatever else is known: fluents that do not name it may have a past.
    """
    if isinstance(plan.rule, ec.HoldsAtRule):
        return set()
    stated = [step for step in plan.chain.steps if isinstance(step, op.FactJoin)]
    lookups = [step for step in plan.chain.steps if isinstance(step, op.Lookup)]
    open_ = names(*plan.terms, *(term for step in lookups for term in step.terms))
    open_ -= names(*(term for step in stated for term in step.terms))
    asked = (call.key for one in program.groundings.get(plan.key, ()) for call in one.calls)
    if lists_heads(plan, program) and not program.dynamic.intersection(asked):
        open_ -= names(*plan.terms)
    if all(open_ <= _names(support) for support in supports_of(plan)):
        return set()
    return {step.key for step in lookups if not open_ <= names(*step.terms)}


def _names(support: Support) -> frozenset[str]:
    return names(*(term for lookup in support for term in lookup.terms))


def _supports(result: Term, steps: tuple[op.Operator, ...]) -> list[Support]:
    """Sets of interval lists of which one must be complete for the result not to be empty."""
    made: dict[str, op.Operator] = {}
    for step in steps:
        match step:
            case op.Lookup(result=Var(name=name)):
                made[name] = step
            case op.SpanOperation(literal=literal) if isinstance(literal.result, Var):
                made[literal.result.name] = step
            case op.Union() | op.IfThenElseOp() | op.Procedure() | op.Unify():
                return ANYTHING  # lists may come from inside
            case _:
                pass
    found = _of(result, made)
    for step in steps:
        # What a duration or an Allen relation will say depends on intervals that are not over yet,
        # so it is asked about them even while the rest of the rule has nothing to say.
        match step:
            case op.SpanOperation(literal=ec.DurationFilter(intervals=intervals)):
                found = found + _of(intervals, made)
            case op.SpanOperation(literal=ec.Allen(source=source, target=target)):
                found = found + _of(source, made) + _of(target, made)
            case _:
                pass
    return _few(found)


def _of(term: Term, made: dict[str, op.Operator]) -> list[Support]:
    step = made.get(term.name) if isinstance(term, Var) else None
    match step:
        case op.Lookup():
            return [frozenset({step})]
        case op.SpanOperation(literal=ec.IntervalOp(kind=kind, base=base, lists=lists)):
            items = lists.items if isinstance(lists, ListTerm) and not lists.tail else None
            match kind:
                case "relative_complement_all" if base is not None:
                    return _of(base, made)
                case "union_all" if items is not None:
                    return _few([support for item in items for support in _of(item, made)])
                case "intersect_all" if items is not None:
                    return _together([_of(item, made) for item in items])
                case _:
                    return ANYTHING  # which is right for any operation
        case op.SpanOperation(literal=ec.DurationFilter(intervals=intervals)):
            return _of(intervals, made)
        case op.SpanOperation(literal=ec.Allen(source=source, target=target)):
            return _together([_of(source, made), _of(target, made)])
        case _:
            return ANYTHING


def _together(parts: list[list[Support]]) -> list[Support]:
    if not parts:
        return ANYTHING
    if any(len(part) > MANY for part in parts):
        return ANYTHING
    return _few([frozenset().union(*choice) for choice in product(*parts)])


def _few(supports: list[Support]) -> list[Support]:
    different = list(dict.fromkeys(supports))
    smallest = [s for s in different if not any(other < s for other in different)]
    return smallest if len(smallest) <= MANY else ANYTHING
