"""How many rows operators give, estimated: the textbook model of independent, even columns.

A join keeps one pair in as many as there are different values of what it joins by; a comparison
keeps a third; a fluent holds half of the time. Estimates are there to compare operators and rules
with each other; a profile says what is true.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from horai.lang.ec import syntax as ec
from horai.lang.terms import Term, Var, is_anonymous, is_ground
from horai.plan import operators as op
from horai.plan.program import GroundingPlan, PointPlan, Program, StaticPlan
from horai.plan.scopes import names
from horai.plan.sizes import UNIT, Key, Size, Sizes, as_pairs, facts_size

Path = tuple[int, ...]
COMPARED = 1 / 3  # of the rows satisfy a comparison
EQUAL = 1 / 10  # or an equation
HOLDS = 1 / 2  # of the time a fluent has a value
LEFT = 1 / 10  # of the rows a negation leaves, at least
TESTED = 1 / 2  # of the rows satisfy a predicate that binds nothing


@dataclass(frozen=True, slots=True)
class Rows:
    """A table of bindings: rows, different values of each variable, times that are limited."""

    rows: float = 1.0
    distinct: dict[str, float] = field(default_factory=dict)
    limited: frozenset[str] = frozenset()

    def times(self, factor: float) -> Rows:
        """A part of the rows, or several for each."""
        return replace(self, rows=self.rows * factor)

    def binding(self, found: frozenset[str]) -> Rows:
        """Variables get a value in each row."""
        return replace(self, distinct=dict.fromkeys(found, self.rows) | self.distinct)

    def values(self, term: Term) -> float:
        """The different values of a term."""
        if is_ground(term):
            return 1.0
        each = [self.distinct.get(name, self.rows) for name in names(term)]
        return max(1.0, min(self.rows, max(each)))


class Estimator:
    """Estimates chains; `found` has the rows that each operator gives, by its path."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self.program = program
        self.sizes = sizes
        self.found: dict[Path, float] = {}
        self._relations: dict[Key, Size] = {}
        self._calls: list[tuple[Key, frozenset[int]]] = []

    # --- where rules begin -----------------------------------------------------------------------

    def point_start(self, plan: PointPlan) -> Rows:
        """The bindings that the grounding gives."""
        start = Rows().binding(plan.given)
        if not plan.domain:
            return start
        listed = [self.grounding(one) for one in self.program.groundings.get(plan.key, ())]
        rows = max((one.rows for one in listed), default=0.0)
        return Rows(rows).binding(plan.given)

    def static_start(self, plan: StaticPlan) -> Rows:
        """The groundings that have some interval: those of the largest list that names them all."""
        head = names(*plan.terms)
        lists = [step for step in plan.chain.steps if isinstance(step, op.Lookup)]
        joined = Rows()
        whole: list[Rows] = []
        for step in lists:
            pairs = self.sizes.fluent(step.key).pairs
            joined = join(joined, pairs, step.terms)
            if head <= names(*step.terms):
                whole.append(join(Rows(), pairs, step.terms))
        if whole:
            return max(whole, key=lambda one: one.rows)
        if lists and head <= joined.distinct.keys():
            return joined
        listed = [self.grounding(one) for one in self.program.groundings.get(plan.key, ())]
        return Rows(sum(one.rows for one in listed) or 1.0).binding(plan.domain)

    def grounding(self, plan: GroundingPlan) -> Rows:
        """The instances that a grounding lists."""
        return self.chain(plan.listing, Rows())

    # --- chains ----------------------------------------------------------------------------------

    def chain(self, chain: op.Chain, start: Rows, path: Path = ()) -> Rows:
        """The solutions of a chain."""
        rows = start
        for step in chain.steps:
            here = (*path, id(step))
            rows = _capped(self._step(step, rows, here))
            self.found[here] = rows.rows
        return rows

    def _step(self, step: op.Operator, rows: Rows, path: Path) -> Rows:
        match step:
            case op.Scan():
                return self._scan(step, rows)
            case op.Facts(key=key, terms=terms):
                return join(rows, self.relation(key), terms)
            case op.Stab(key=key, terms=terms):
                pairs = self.sizes.fluent(key).pairs
                if names(terms[-1]) <= rows.distinct.keys():
                    return join(rows, pairs, terms).times(HOLDS)
                # Of the values of one fluent at most one holds.
                owners = as_pairs(Size(pairs.rows, pairs.distinct[:-1]))
                found = join(rows, owners, terms[:-1]).times(HOLDS)
                return found.binding(names(terms[-1]))
            case op.Walk(key=key, terms=terms, time=time):
                points = self.sizes.fluent(key).pairs.with_column(UNIT)
                return join(rows, points, (*terms, time)).times(UNIT * HOLDS)
            case op.Lookup(key=key, terms=terms, result=result):
                if not names(*terms) <= rows.distinct.keys():
                    rows = join(rows, self.sizes.fluent(key).pairs, terms)
                return rows.binding(names(result))
            case op.Filter(literal=literal):
                return rows.times(_selectivity(literal, rows))
            case op.Unify(left=left, right=right):
                free = names(left, right) - rows.distinct.keys()
                if not free:
                    return rows.times(EQUAL)
                constant = is_ground(left) or is_ground(right)
                single = dict.fromkeys(free, 1.0) if constant else {}
                return replace(rows, distinct=rows.distinct | single).binding(free)
            case op.Extend() | op.SpanOperation() | op.QueryTime():
                return rows.binding(names(step.term))
            case op.Truth(value=value):
                return rows if value else rows.times(0.0)
            case op.Builtin() | op.Python():
                free = names(step.term) - rows.distinct.keys()
                return rows.binding(free) if free else rows.times(TESTED)
            case _:
                return self._inner(step, rows, path)

    def _inner(self, step: op.Operator, rows: Rows, path: Path) -> Rows:
        match step:
            case op.AntiJoin(body=body):
                return rows.times(max(LEFT, 1 - self._met(body, rows, path)))
            case op.Union(branches=branches):
                return _together([self.chain(branch, rows, path) for branch in branches])
            case op.Choice(condition=condition, then=then, otherwise=otherwise):
                met = self.chain(condition, rows, path)
                no = rows.times(max(LEFT, 1 - min(1.0, met.rows / max(rows.rows, 1e-9))))
                return _together([self.chain(then, met, path), self.chain(otherwise, no, path)])
            case op.Aggregate(kind=kind, body=body, result=result):
                part = self._met(body, rows, path)
                kept = rows.times(part) if kind in ("max", "min") else rows
                return kept.binding(names(result))
            case op.Procedure():
                return self._procedure(step, rows, path)
            case _:
                raise TypeError(f"no such operator: {step}")

    def _met(self, chain: op.Chain, rows: Rows, path: Path) -> float:
        """The part of the rows for which a chain has a solution."""
        found = self.chain(chain, rows, path).rows
        return min(1.0, found / rows.rows) if rows.rows else 0.0

    def _scan(self, step: op.Scan, rows: Rows) -> Rows:
        if step.kind == "event":
            size = self.sizes.event(step.key)
        else:
            fluent = self.sizes.fluent(step.key)
            points = {"initiated": fluent.initiations, "terminated": fluent.terminations}
            number = points.get(step.kind, fluent.spans)
            size = Size(number, fluent.pairs.distinct).with_column(number)
        # Things happen at their own times: who and when are taken to be independent.
        found = join(rows, Size(size.rows, size.distinct[:-1]), step.terms)
        when = join(replace(rows, rows=1.0), Size(1.0, size.distinct[-1:]), (step.time,))
        if names(step.time) <= rows.distinct.keys():
            found = found.times(1 / max(1.0, size.distinct[-1], *_of(rows, step.time)))
        found = replace(found, distinct=when.distinct | found.distinct)
        if not step.bounds:
            return found
        found = found.times(COMPARED ** len(step.bounds))
        return replace(found, limited=found.limited | names(step.time))

    def _procedure(self, step: op.Procedure, rows: Rows, path: Path) -> Rows:
        call = (step.key, step.bound)
        if call in self._calls:
            return rows.binding(names(*step.args))  # as many as the clauses that end it give
        self._calls.append(call)
        ends: list[Rows] = []
        for branch in self.program.procedures.branches[call]:
            given = names(*(arg for i, arg in enumerate(branch.head) if i in step.bound))
            ends.append(self.chain(branch.body, Rows(rows.rows).binding(given), path))
        self._calls.pop()
        stated = join(rows, self._stated(step.key), step.args)
        number = sum(end.rows for end in ends) + stated.rows
        return replace(rows, rows=number).binding(names(*step.args))

    # --- relations -------------------------------------------------------------------------------

    def relation(self, key: Key) -> Size:
        """A background relation: its facts and what its rules add."""
        if key not in self._relations:
            self._relations[key] = found = self._stated(key)  # it may be recursive
            for branch in self.program.background.get(key, ()):
                solutions = self.chain(branch.body, Rows())
                distinct = tuple(solutions.values(term) for term in branch.head)
                found = found.plus(as_pairs(Size(solutions.rows, distinct)))
            self._relations[key] = found
        return self._relations[key]

    def _stated(self, key: Key) -> Size:
        if key in self.program.dynamic and self.sizes.inputs is None:
            return Size(UNIT / 10, (UNIT / 10,) * key[1])
        return facts_size(self.program.description.facts.get(key), key[1])


def join(rows: Rows, size: Size, terms: tuple[Term, ...]) -> Rows:
    """A table joined with a relation by the terms that have a value.

    Constants select first. Of what is joined by there are then no more combinations than rows on
    either side.
    """
    chosen = size.rows
    ours = theirs = 1.0
    distinct = dict(rows.distinct)
    for term, values in zip(terms, size.distinct, strict=True):
        many = max(1.0, values)
        known = [rows.distinct[name] for name in names(term) if name in rows.distinct]
        if is_ground(term) or (known and max(known) <= 1):
            chosen /= many
        elif known:
            ours *= max(known)
            theirs *= many
        for name in names(term):
            if not (isinstance(term, Var) and is_anonymous(term)):
                distinct[name] = min(many, rows.distinct.get(name, many))
    combinations = max(min(rows.rows, ours), min(chosen, theirs), 1.0)
    return replace(rows, rows=rows.rows * chosen / combinations, distinct=distinct)


def _of(rows: Rows, term: Term) -> list[float]:
    return [rows.distinct[name] for name in names(term)]


def _capped(rows: Rows) -> Rows:
    """No variable has more values than there are rows."""
    limit = max(1.0, rows.rows)
    return replace(rows, distinct={name: min(limit, n) for name, n in rows.distinct.items()})


def _selectivity(literal: ec.Compare, rows: Rows) -> float:
    if names(literal.term) & rows.limited:
        return 1.0  # the scan that gave the time has looked at this already
    if literal.op in ("==", "=:="):
        return EQUAL
    return 1 - EQUAL if literal.op in ("\\=", "\\==", "=\\=") else COMPARED


def _together(ends: list[Rows]) -> Rows:
    """The rows of several branches, with the variables that all of them bind."""
    if not ends:
        return Rows(0.0)
    shared = set.intersection(*(set(end.distinct) for end in ends))
    distinct = {name: max(end.distinct[name] for end in ends) for name in shared}
    limited = frozenset.intersection(*(end.limited for end in ends))
    return Rows(sum(end.rows for end in ends), distinct, limited)
