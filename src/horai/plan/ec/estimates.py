"""How many rows operators give, estimated: the textbook model of independent, even columns.

A join keeps one pair in as many as there are different values of what it joins by; a comparison
keeps a third; a fluent holds half of the time. Facts are counted, items too where an input is
given; what one component gives is what the next reads. Estimates are there to compare operators and
rules with each other; a profile says what is true.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from horai.lang.core.terms import Term, Var, is_anonymous, is_ground
from horai.lang.ec import syntax as ec
from horai.lang.ec.syntax import Facts
from horai.lang.ec.unwrapping import Unwrapping
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.program import DelayPlan, GroundingPlan, Plan, PointPlan, StaticPlan, Stratum

Key = tuple[str, int]
Source = tuple[str, Key]  # "event" or "fluent", and what it is called
UNIT = 1000
ENTITIES = UNIT / 10
VALUES = 2.0  # of an input fluent: most are true or false


@dataclass(frozen=True, slots=True)
class Size:
    """Rows of a relation, and how many different values each of its columns has."""

    rows: float
    distinct: tuple[float, ...] = ()

    def with_column(self, values: float) -> Size:
        """One column more."""
        return Size(self.rows, (*self.distinct, max(1.0, min(self.rows, values))))

    def plus(self, other: Size) -> Size:
        """Both together; they are taken to speak of the same entities."""
        pairs = zip(self.distinct, other.distinct, strict=True)
        return Size(self.rows + other.rows, tuple(max(pair) for pair in pairs))


@dataclass(frozen=True, slots=True)
class FluentSize:
    """A fluent: its pairs (arguments and value), its intervals, what begins and ends them."""

    pairs: Size
    spans: float
    initiations: float = 0.0
    terminations: float = 0.0


@dataclass(slots=True)
class InputSize:
    """The items of one input type: how many, and per column how many different values.

    The columns are the arguments, then the value of a fluent; `times` are the different times.
    """

    rows: int
    distinct: tuple[int, ...]
    times: int


@dataclass(slots=True)
class Sizes:
    """The sizes of relations, as far as known; `inputs` is None where no input is given."""

    unwrapping: Unwrapping
    inputs: dict[Source, InputSize] | None = None
    events: dict[Key, Size] = field(default_factory=dict)
    fluents: dict[Key, FluentSize] = field(default_factory=dict)

    def event(self, key: Key) -> Size:
        """The occurrences of an event; the last column is the time."""
        if key not in self.events:
            found = self._input("event", key)
            self.events[key] = found[0].with_column(found[1])
        return self.events[key]

    def fluent(self, key: Key) -> FluentSize:
        """A fluent that rules define, or an input."""
        if key not in self.fluents:
            size, _ = self._input("fluent", key)
            self.fluents[key] = FluentSize(as_pairs(size), size.rows)
        return self.fluents[key]

    def _input(self, kind: str, key: Key) -> tuple[Size, float]:
        name, arity = self.as_read(key)
        columns = key[1] + (kind == "fluent")
        if self.inputs is None:
            value = (VALUES,) if kind == "fluent" else ()
            return Size(UNIT, (ENTITIES,) * key[1] + value), UNIT
        found = self.inputs.get((kind, (name, arity)))
        if found is None:
            return Size(0.0, (1.0,) * columns), 1.0
        distinct = tuple(float(values) for values in found.distinct)
        if len(distinct) != columns:  # arguments inside arguments are not counted
            distinct = (float(max(1, *found.distinct)),) * columns
        return Size(found.rows, distinct), found.times

    def as_read(self, key: Key) -> Key:
        """The name under which the items of an entity arrive."""
        fold = self.unwrapping.folds.get(key)
        return key if fold is None else (fold.name, len(fold.parts))


def as_pairs(size: Size) -> Size:
    """The different rows among many."""
    rows = min(size.rows, prod(max(1.0, values) for values in size.distinct))
    return Size(rows, size.distinct)


def facts_size(facts: Facts | None, arity: int) -> Size:
    """Facts, counted."""
    if facts is None or not facts.rows:
        return Size(0.0, (1.0,) * arity)
    columns: Sequence[tuple[object, ...]] = list(zip(*facts.rows, strict=True))
    return Size(len(facts.rows), tuple(float(len(set(column))) for column in columns))


Path = tuple[int, ...]
COMPARED = 1 / 3  # of the rows satisfy a comparison
EQUAL = 1 / 10  # or an equation
HOLDS = 1 / 2  # of the time a fluent has a value
LEFT = 1 / 10  # of the rows a negation leaves, at least
TESTED = 1 / 2  # of the rows satisfy a predicate that binds nothing


@dataclass(frozen=True, slots=True)
class EstimatedRows:
    """A table of bindings: rows, different values of each variable, times that are limited."""

    rows: float = 1.0
    distinct: dict[str, float] = field(default_factory=dict)
    limited: frozenset[str] = frozenset()

    def times(self, factor: float) -> EstimatedRows:
        """A part of the rows, or several for each."""
        return replace(self, rows=self.rows * factor)

    def binding(self, found: frozenset[str]) -> EstimatedRows:
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

    def __init__(self, program: Plan, sizes: Sizes) -> None:
        self.program = program
        self.sizes = sizes
        self.found: dict[Path, float] = {}
        self._relations: dict[Key, Size] = {}
        self._calls: list[tuple[Key, frozenset[int]]] = []

    # --- where rules begin -----------------------------------------------------------------------

    def point_start(self, plan: PointPlan) -> EstimatedRows:
        """The bindings that the grounding gives."""
        start = EstimatedRows().binding(plan.given)
        if not plan.domain:
            return start
        listed = [self.grounding(one) for one in self.program.groundings.get(plan.key, ())]
        rows = max((one.rows for one in listed), default=0.0)
        return EstimatedRows(rows).binding(plan.given)

    def static_start(self, plan: StaticPlan) -> EstimatedRows:
        """The groundings that have some interval: those of the largest list that names them all."""
        head = names(*plan.terms)
        lists = [step for step in plan.chain.steps if isinstance(step, op.Lookup)]
        joined = EstimatedRows()
        whole: list[EstimatedRows] = []
        for step in lists:
            pairs = self.sizes.fluent(step.key).pairs
            joined = join(joined, pairs, step.terms)
            if head <= names(*step.terms):
                whole.append(join(EstimatedRows(), pairs, step.terms))
        if whole:
            return max(whole, key=lambda one: one.rows)
        if lists and head <= joined.distinct.keys():
            return joined
        listed = [self.grounding(one) for one in self.program.groundings.get(plan.key, ())]
        return EstimatedRows(sum(one.rows for one in listed) or 1.0).binding(plan.domain)

    def grounding(self, plan: GroundingPlan) -> EstimatedRows:
        """The instances that a grounding lists."""
        return self.chain(plan.listing, EstimatedRows())

    # --- chains ----------------------------------------------------------------------------------

    def chain(self, chain: op.Chain, start: EstimatedRows, path: Path = ()) -> EstimatedRows:
        """The solutions of a chain."""
        rows = start
        for step in chain.steps:
            here = (*path, id(step))
            rows = _capped(self._step(step, rows, here))
            self.found[here] = rows.rows
        return rows

    def _step(self, step: op.Operator, rows: EstimatedRows, path: Path) -> EstimatedRows:
        match step:
            case op.Scan():
                return self._scan(step, rows)
            case op.FactJoin(key=key, terms=terms):
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
            case op.TruthOp(value=value):
                return rows if value else rows.times(0.0)
            case op.BuiltinOp() | op.Python():
                free = names(step.term) - rows.distinct.keys()
                return rows.binding(free) if free else rows.times(TESTED)
            case _:
                return self._inner(step, rows, path)

    def _inner(self, step: op.Operator, rows: EstimatedRows, path: Path) -> EstimatedRows:
        match step:
            case op.AntiJoin(body=body):
                return rows.times(max(LEFT, 1 - self._met(body, rows, path)))
            case op.Union(branches=branches):
                return _together([self.chain(branch, rows, path) for branch in branches])
            case op.IfThenElseOp(condition=condition, then=then, otherwise=otherwise):
                met = self.chain(condition, rows, path)
                no = rows.times(max(LEFT, 1 - min(1.0, met.rows / max(rows.rows, 1e-9))))
                return _together([self.chain(then, met, path), self.chain(otherwise, no, path)])
            case op.AggregateOp(kind=kind, body=body, result=result):
                part = self._met(body, rows, path)
                kept = rows.times(part) if kind in ("max", "min") else rows
                return kept.binding(names(result))
            case op.Procedure():
                return self._procedure(step, rows, path)
            case _:
                raise TypeError(f"no such operator: {step}")

    def _met(self, chain: op.Chain, rows: EstimatedRows, path: Path) -> float:
        """The part of the rows for which a chain has a solution."""
        found = self.chain(chain, rows, path).rows
        return min(1.0, found / rows.rows) if rows.rows else 0.0

    def _scan(self, step: op.Scan, rows: EstimatedRows) -> EstimatedRows:
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

    def _procedure(self, step: op.Procedure, rows: EstimatedRows, path: Path) -> EstimatedRows:
        call = (step.key, step.bound)
        if call in self._calls:
            return rows.binding(names(*step.args))  # as many as the clauses that end it give
        self._calls.append(call)
        ends: list[EstimatedRows] = []
        for branch in self.program.procedures.branches[call]:
            given = names(*(arg for i, arg in enumerate(branch.head) if i in step.bound))
            ends.append(self.chain(branch.body, EstimatedRows(rows.rows).binding(given), path))
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
                solutions = self.chain(branch.body, EstimatedRows())
                distinct = tuple(solutions.values(term) for term in branch.head)
                found = found.plus(as_pairs(Size(solutions.rows, distinct)))
            self._relations[key] = found
        return self._relations[key]

    def _stated(self, key: Key) -> Size:
        if key in self.program.dynamic and self.sizes.inputs is None:
            return Size(UNIT / 10, (UNIT / 10,) * key[1])
        return facts_size(self.program.description.facts.get(key), key[1])


def join(rows: EstimatedRows, size: Size, terms: tuple[Term, ...]) -> EstimatedRows:
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


def _of(rows: EstimatedRows, term: Term) -> list[float]:
    return [rows.distinct[name] for name in names(term)]


def _capped(rows: EstimatedRows) -> EstimatedRows:
    """No variable has more values than there are rows."""
    limit = max(1.0, rows.rows)
    return replace(rows, distinct={name: min(limit, n) for name, n in rows.distinct.items()})


def _selectivity(literal: ec.Compare, rows: EstimatedRows) -> float:
    if names(literal.term) & rows.limited:
        return 1.0  # the scan that gave the time has looked at this already
    if literal.op in ("==", "=:="):
        return EQUAL
    return 1 - EQUAL if literal.op in ("\\=", "\\==", "=\\=") else COMPARED


def _together(ends: list[EstimatedRows]) -> EstimatedRows:
    """The rows of several branches, with the variables that all of them bind."""
    if not ends:
        return EstimatedRows(0.0)
    shared = set.intersection(*(set(end.distinct) for end in ends))
    distinct = {name: max(end.distinct[name] for end in ends) for name in shared}
    limited = frozenset.intersection(*(end.limited for end in ends))
    return EstimatedRows(sum(end.rows for end in ends), distinct, limited)


ROUNDS = 4  # in which what a component reads of itself gets about: enough to tell much from little
Heads = list[tuple[tuple[Term, ...], EstimatedRows]]


class RuleEstimates:
    """`rows` has the points or intervals that each rule gives, `operators` those of operators."""

    def __init__(self, program: Plan, sizes: Sizes) -> None:
        self.program = program
        self.sizes = sizes
        self.estimator = Estimator(program, sizes)
        self.operators = self.estimator.found
        self.rows: dict[int, float] = {}
        for stratum in program.strata:
            self._stratum(stratum)

    def _stratum(self, stratum: Stratum) -> None:
        for static in stratum.static:
            self._static(static)
        before = _Before(dict(self.sizes.events), dict(self.sizes.fluents))
        ends = {id(plan): self._begin(plan) for plan in (*stratum.points, *stratum.initially)}
        self.rows.update((key, end.rows) for key, end in ends.items())
        self._publish(stratum, ends, before)
        own = [plan for plan in stratum.points if plan.split is not None]
        for _ in range(ROUNDS if own or stratum.delays else 0):
            again = ends | {id(plan): self._rest(plan, ends[id(plan)]) for plan in own}
            self.rows.update((key, end.rows) for key, end in again.items())
            self.rows.update((id(delay), self._delay(delay).rows) for delay in stratum.delays)
            self._publish(stratum, again, before)

    def _rest(self, plan: PointPlan, candidates: EstimatedRows) -> EstimatedRows:
        """The share of candidates that is left after the conditions on the component itself."""
        assert plan.split is not None
        start = candidates
        if not plan.split.timed and not plan.split.waits:
            start = start.times(UNIT)  # every time-point counts
        if plan.split.timed or not plan.split.waits:
            start = start.binding(names(plan.time))
        return self.estimator.chain(plan.split.remainder, start)

    def _begin(self, plan: PointPlan) -> EstimatedRows:
        """The solutions of a rule; where it reads its own component, the candidates."""
        chain = plan.chain if plan.split is None else plan.split.candidates
        return self.estimator.chain(chain, self.estimator.point_start(plan))

    def _static(self, plan: StaticPlan) -> None:
        start = self.estimator.static_start(plan)
        if isinstance(plan.rule, ec.HoldsAtRule):
            start = EstimatedRows().binding(names(plan.result))
        end = self.estimator.chain(plan.chain, start)
        read = [s.key for s in op.walk(plan.chain) if isinstance(s, op.Lookup | op.Stab | op.Walk)]
        pairs = as_pairs(_size(plan.terms, end))
        spans = pairs.rows * max([1.0, *(_per_pair(self.sizes.fluent(key)) for key in read)])
        self.rows[id(plan)] = spans
        self._add(plan.key, FluentSize(pairs, spans), self.sizes.fluents.get(plan.key))

    def _delay(self, plan: DelayPlan) -> EstimatedRows:
        origin = self.sizes.fluent(plan.origin_key)
        number = origin.initiations or origin.spans
        if is_ground(plan.origin[-1]):
            number /= max(1.0, origin.pairs.distinct[-1])
        start = EstimatedRows(number).binding(names(*plan.origin))
        if plan.time is not None:
            start = start.binding(frozenset({plan.time}))
        self.estimator.chain(plan.early, start)
        return self.estimator.chain(plan.full, start)

    # --- what readers see ------------------------------------------------------------------------

    def _publish(self, stratum: Stratum, ends: dict[int, EstimatedRows], before: _Before) -> None:
        for key in stratum.events:
            size = _all([(p.terms, ends[id(p)]) for p in stratum.points if p.key == key])
            size = size.with_column(size.rows)
            known = before.events.get(key)
            self.sizes.events[key] = size if known is None else known.plus(size)
        for key in stratum.fluents:
            plans = [p for p in (*stratum.points, *stratum.initially) if p.key == key]
            begun = [(p.terms, ends[id(p)]) for p in plans if p.kind != "terminated"]
            begun += [self._begun_late(one) for one in stratum.delays if one.target_key == key]
            ended = sum(ends[id(p)].rows for p in plans if p.kind == "terminated")
            size = _with_values(_all(begun), begun) if begun else Size(0.0, (1.0,) * (key[1] + 1))
            fluent = FluentSize(as_pairs(size), size.rows, size.rows, ended)
            self._add(key, fluent, before.fluents.get(key))

    def _begun_late(self, delay: DelayPlan) -> tuple[tuple[Term, ...], EstimatedRows]:
        """The initiations of a delayed effect, as those of a rule of the target."""
        rows = self.rows.get(id(delay), 0.0) if delay.initiates else 0.0
        return delay.target, EstimatedRows(rows).binding(names(*delay.target))

    def _add(self, key: Key, new: FluentSize, old: FluentSize | None) -> None:
        """Several rules, maybe of several components, give the values of one fluent."""
        if old is not None:
            new = FluentSize(
                old.pairs.plus(new.pairs),
                old.spans + new.spans,
                old.initiations + new.initiations,
                old.terminations + new.terminations,
            )
        self.sizes.fluents[key] = new


@dataclass(frozen=True, slots=True)
class _Before:
    """The rows that other components give of the same entities."""

    events: dict[Key, Size]
    fluents: dict[Key, FluentSize]


def _per_pair(fluent: FluentSize) -> float:
    return fluent.spans / fluent.pairs.rows if fluent.pairs.rows else 0.0


def _size(terms: Iterable[Term], end: EstimatedRows) -> Size:
    return Size(end.rows, tuple(end.values(term) for term in terms))


def _all(heads: Heads) -> Size:
    first, *rest = (_size(terms, end) for terms, end in heads)
    for size in rest:
        first = first.plus(size)
    return first


def _with_values(size: Size, heads: Heads) -> Size:
    """Constant values of different rules are different values."""
    constants = {terms[-1] for terms, _ in heads if is_ground(terms[-1])}
    values = [end.values(terms[-1]) for terms, end in heads if not is_ground(terms[-1])]
    number = len(constants) + max(values, default=0.0)
    return Size(size.rows, (*size.distinct[:-1], max(1.0, number)))
