"""Running a chain of operators over a table of bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count

import numpy as np

from horai.engine import intervals
from horai.engine.aggregates import aggregate_term
from horai.engine.arithmetic import evaluate
from horai.engine.builtins import call
from horai.engine.columns import Column, bits, codes, codes_of, ints, narrow
from horai.engine.comparison import compare
from horai.engine.distinct import Found
from horai.engine.errors import Endless
from horai.engine.frames import Frame, deduplicated, gather, is_number, stack
from horai.engine.hashing import distinct
from horai.engine.matching import build, match
from horai.engine.profile import Profile
from horai.engine.python_predicates import call_python
from horai.engine.ranges import range_join
from horai.engine.relations import Relation, join
from horai.engine.world import World
from horai.lang.terms import Atom, Term, Var, is_ground
from horai.plan import operators as op
from horai.plan.scopes import names
from horai.temporal.grid import grid_points
from horai.temporal.spans import INF, Ints, Mask, Spans

FEW = 64  # rows that are sooner looked up one by one than joined
MAX_DEPTH = 200  # calls of procedures inside each other
Names = frozenset[str]
Function = Callable[..., object]
Domains = Mapping[str, Column]
InDomain = Callable[[op.Key, tuple[Column, ...], Column | None, int], Mask]
Run = Callable[[op.Chain, Frame], Frame]
TEMPORAL = (op.Scan, op.Stab, op.Walk, op.Lookup)


class Evaluator:
    """Evaluates chains in a world. `domains` are values for the free variables of `holdsFor`."""

    profile: Profile | None = None  # only one that is watched has it

    def __init__(
        self,
        world: World,
        facts: Callable[[op.Key], Relation],
        stated: Callable[[op.Key], Relation | None],
        procedures: op.Procedures,
        python: Mapping[str, Function],
    ) -> None:
        self.world = world
        self.symbols = world.symbols
        self.facts = facts
        self.stated = stated
        self.procedures = procedures
        self.python = python
        self.domains: Domains = {}
        self.known_pairs: Mapping[op.Key, Relation] = {}  # pairs that only absence still asks for
        self.overrides: dict[int, Relation] = {}  # relations that stand in for one operator's own
        self.in_domain: InDomain = lambda key, args, value, rows: np.ones(rows, np.bool_)
        self.nothing_absent = False  # at the very start, formulas say nothing of what is absent
        self.spreads = 0  # how often a variable took all values that are known
        self._depth = 0
        self._temporal: dict[int, bool] = {}
        self._numbers = count()

    def run(self, chain: op.Chain, frame: Frame) -> Frame:
        """The solutions of a chain that extend a frame."""
        for step, needed in zip(chain.steps, chain.needed, strict=True):
            if not frame.rows:
                return Frame(0, {name: c for name, c in frame.columns.items() if is_number(name)})
            frame = self.step(step, frame, needed)
        return frame

    def step(self, step: op.Operator, frame: Frame, needed: Names) -> Frame:
        """One operator; afterwards only what is needed is kept."""
        match step:
            case op.Scan():
                return self._scan(step, frame, needed)
            case op.Stab():
                return self._stab(step, frame, needed)
            case op.Walk():
                return self._walk(step, frame, needed)
            case op.Facts(key=key, terms=terms):
                table = self.overrides.get(id(step)) or self.facts(key)
                frame, terms = self.plain(frame, terms)
                return join(frame, table, terms, self.symbols).to_frame(_keeps(needed))
            case op.Lookup():
                return self._lookup(step, frame).only(needed)
            case op.SpanOperation(literal=literal):
                spans, valid = intervals.operate(literal, frame, self.world)
                if not valid.all():
                    rows = np.flatnonzero(valid)
                    spans, frame = gather(spans, frame.rows, rows), frame.take(rows)
                return self._bind_list(literal.result, spans, frame).only(needed)
            case op.Filter(literal=literal):
                frame = self._as_columns(frame, names(step.term))
                mask = compare(
                    literal.op, literal.left, literal.right, frame.columns, frame.rows, self.symbols
                )
                return frame.where(mask).only(needed)
            case op.Unify(left=left, right=right):
                return self.unify(left, right, frame).only(needed)
            case op.Extend(literal=literal):
                numbers = evaluate(literal.expression, frame.columns, frame.rows, self.symbols)
                column = numbers.column(self.symbols)
                frame = frame.with_columns({"#is": column}).where(numbers.valid)
                return self._bind(literal.target, frame, "#is").only(needed)
            case op.Truth(value=value):
                return frame if value else frame.empty()
            case op.QueryTime(target=target):
                now = ints(np.full(frame.rows, self.world.query))
                return self._bind(target, frame.with_columns({"#now": now}), "#now").only(needed)
            case _:
                return self._inner(step, frame, needed).only(needed)

    def _inner(self, step: op.Operator, frame: Frame, needed: Names) -> Frame:
        match step:
            case op.AntiJoin() if self.nothing_absent and self.is_temporal(step):
                return frame.empty()
            case op.AntiJoin(body=body):
                name = self.number()
                matched = self.run(body, frame.numbered(name))
                mask = np.ones(frame.rows, np.bool_)
                mask[matched.columns[name].data] = False
                return frame.where(mask)
            case op.Union(branches=(branch,)):
                return self.run(branch, frame)
            case op.Union(branches=branches):
                return stack([self.run(branch, frame) for branch in branches], self.symbols)
            case op.Choice():
                return self._choice(step, frame)
            case op.Aggregate():
                return self._aggregate(step, frame)
            case op.Builtin(call=goal):
                frame = self._as_columns(frame, names(step.term))
                found = call(goal.name, goal.args, frame.columns, frame.rows, self.symbols)
                return _extended(frame, found)
            case op.Python(call=goal):
                frame = self._as_columns(frame, names(step.term))
                function = self.python[goal.name]
                found = call_python(
                    goal.name, function, goal.args, frame.columns, frame.rows, self.symbols
                )
                return _extended(frame, found)
            case op.Procedure():
                return self.procedure(step, frame, self.run)
            case _:
                raise TypeError(f"no such operator: {step}")

    # --- what operators look at ------------------------------------------------------------------

    def is_temporal(self, step: op.Operator) -> bool:
        """Does it look at events or fluents?"""
        if id(step) not in self._temporal:
            self._temporal[id(step)] = any(True for _ in self._readings(step, set()))
        return self._temporal[id(step)]

    def fluents_read(self, chain: op.Chain) -> set[op.Key]:
        """The fluents that a chain asks about."""
        seen: set[int] = set()
        return {reading.key for step in chain.steps for reading in self._readings(step, seen)}

    def _readings(
        self, step: op.Operator, seen: set[int]
    ) -> Iterator[op.Scan | op.Stab | op.Walk | op.Lookup]:
        if isinstance(step, TEMPORAL):
            yield step
        chains = list(op.inside(step))
        if isinstance(step, op.Procedure):
            branches = self.procedures.branches[step.key, step.bound]
            chains += [branch.body for branch in branches if id(branch) not in seen]
            seen.update(id(branch) for branch in branches)
        for chain in chains:
            for inner in chain.steps:
                yield from self._readings(inner, seen)

    # --- joins over time -------------------------------------------------------------------------

    def _time(self, time: Term, frame: Frame) -> tuple[Frame, Term]:
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
        frame, time = self._time(step.time, frame)
        frame, terms = self.plain(frame, step.terms)
        assert isinstance(time, Var)
        at = frame.columns[time.name].data if time.name in frame.columns else None
        self.world.refuse_future(step.key, step.kind, at)
        keep = needed | names(*step.within) | {time.name} if step.within else needed
        if step.kind == "terminated":
            frame = self._ends(step, frame, terms, time, keep)
        else:
            table = self.overrides.get(id(step)) or self.world.scan(step.kind, step.key, at)
            if step.bounds and at is None:
                found = range_join(frame, table, (*terms, time), step.bounds, self.symbols)
            else:
                found = join(frame, table, (*terms, time), self.symbols)
            frame = found.to_frame(_keeps(keep))
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
                joined = join(frame, ended.table, (*terms, time), self.symbols)
                found.append(joined.to_frame(_keeps(keep)))
                continue
            part = join(frame, ended.table, (*terms[:-1], time), self.symbols).to_frame(_all)
            if not names(terms[-1]) <= set(part.columns):
                pairs = self.world.fluent(step.key).pairs
                part = join(part, pairs, terms, self.symbols).to_frame(_all)
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
        frame, time = self._time(step.time, frame)
        frame, terms = self.plain(frame, step.terms)
        assert isinstance(time, Var)
        self.world.refuse_future(step.key, "fluent", frame.columns[time.name].data)
        if frame.rows <= FEW and self.world.is_now(step.key, frame.columns[time.name].data):
            known = [self._codes(term, frame) for term in terms[:-1]]
            if all(column is not None for column in known):
                return self._now(step.key, known, terms[-1], frame).only(needed)
        fluent = self.world.fluent(step.key)
        found = join(frame, fluent.pairs, terms, self.symbols)
        at = frame.columns[time.name].data[found.left]
        return found.where(fluent.holds(found.source_rows(), at)).to_frame(_keeps(needed))

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
        frame = found.to_frame(_keeps(needed)).take(place)
        return frame.with_columns({step.time.name: ints(points.time)})

    # --- interval lists --------------------------------------------------------------------------

    def _lookup(self, step: op.Lookup, frame: Frame) -> Frame:
        frame, terms = self.plain(frame, step.terms)
        for name in sorted(names(*terms) - set(frame.columns)):
            frame = self.spread(name, frame)
        self.world.refuse_future(step.key, "fluent", np.array([INF]))  # a list has no end yet
        fluent = self.world.fluent(step.key)
        found = join(frame, fluent.pairs, terms, self.symbols)
        pair = np.full(frame.rows, -1, np.int64)
        pair[found.left] = found.source_rows()
        return self._bind_list(step.result, fluent.lists(pair), frame)

    def spread(self, name: str, frame: Frame) -> Frame:
        """Every value of the domain of a variable, for every row."""
        self.spreads += 1
        values = self.domains.get(name)
        if values is None:
            return frame.empty().with_columns({name: ints(np.empty(0))})
        rows = np.repeat(np.arange(frame.rows), len(values))
        column = values.take(np.tile(np.arange(len(values)), frame.rows))
        return frame.take(rows).with_columns({name: column})

    def _bind_list(self, result: Term, spans: Spans, frame: Frame) -> Frame:
        """Give an interval list to a variable, or compare it with what is there."""
        free = isinstance(result, Var) and result.name not in frame.columns
        if isinstance(result, Var) and free and result.name not in frame.lists:
            return Frame(frame.rows, frame.columns, {**frame.lists, result.name: spans})
        column = intervals.as_terms(spans, frame.rows, self.symbols)
        frame = self._as_columns(frame, names(result)).with_columns({"#list": column})
        return self._bind(result, frame, "#list")

    def _as_columns(self, frame: Frame, wanted: Names) -> Frame:
        """Interval lists among the wanted variables as columns of list terms."""
        here = [name for name in frame.lists if name in wanted]
        if not here:
            return frame
        made = {
            name: intervals.as_terms(frame.lists[name], frame.rows, self.symbols) for name in here
        }
        rest = {name: spans for name, spans in frame.lists.items() if name not in here}
        return Frame(frame.rows, {**frame.columns, **made}, rest)

    def plain(self, frame: Frame, terms: tuple[Term, ...]) -> tuple[Frame, tuple[Term, ...]]:
        """Compound patterns whose variables all have values become columns of their own."""
        frame = self._as_columns(frame, names(*terms))
        plain: list[Term] = []
        for position, term in enumerate(terms):
            if isinstance(term, Var) or is_ground(term) or not names(term) <= set(frame.columns):
                plain.append(term)
                continue
            column = build(term, frame.columns, frame.rows, self.symbols)
            frame = frame.with_columns({f"#arg{position}": column})
            plain.append(Var(f"#arg{position}"))
        return frame, tuple(plain)

    # --- terms -----------------------------------------------------------------------------------

    def unify(self, left: Term, right: Term, frame: Frame) -> Frame:
        """`L = R`, where at least one side has a value."""
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, Var) or not isinstance(other, Var):
                continue
            free = other.name not in frame.columns and other.name not in frame.lists
            if one.name in frame.lists and free:
                lists = {**frame.lists, other.name: frame.lists[one.name]}
                return Frame(frame.rows, frame.columns, lists)
        frame = self._as_columns(frame, names(left, right))
        if not names(right) <= set(frame.columns):
            left, right = right, left
        column = build(right, frame.columns, frame.rows, self.symbols)
        return self._bind(left, frame.with_columns({"#right": column}), "#right")

    def bind(self, pattern: Term, frame: Frame, column: Column) -> Frame:
        """Make a pattern equal to a column that is no variable yet."""
        return self._bind(pattern, frame.with_columns({"#given": column}), "#given")

    def _bind(self, pattern: Term, frame: Frame, source: str) -> Frame:
        """Make a pattern equal to a column: free variables are bound, the rest is compared."""
        column = frame.columns[source]
        if isinstance(pattern, Var) and pattern.name not in frame.columns:
            if pattern.name in frame.lists:
                frame = self._as_columns(frame, frozenset({pattern.name}))
            else:
                return frame.with_columns({pattern.name: column})
        return _extended(frame, match(pattern, column, frame.columns, self.symbols))

    # --- chains inside others --------------------------------------------------------------------

    def number(self) -> str:
        """A new name for a column of row numbers."""
        return f"@{next(self._numbers)}"

    def _choice(self, step: op.Choice, frame: Frame) -> Frame:
        name = self.number()
        met = self.run(step.condition, frame.numbered(name))
        unmet = np.ones(frame.rows, np.bool_)
        unmet[met.columns[name].data] = False
        yes = self.run(step.then, met)
        if self.nothing_absent and any(map(self.is_temporal, step.condition.steps)):
            return yes
        no = self.run(step.otherwise, frame.where(unmet))
        return stack([yes, no], self.symbols)

    def _aggregate(self, step: op.Aggregate, frame: Frame) -> Frame:
        name = self.number()
        found = self.run(step.body, frame.numbered(name))
        template = step.template or Atom("count")
        found = self._as_columns(found, step.inner | names(template))
        if found.rows:
            found = deduplicated(found, [name, *sorted(step.inner & set(found.columns))])
        else:
            nothing = {inner: codes(np.empty(0, np.int64)) for inner in names(template)}
            found = found.with_columns(nothing)
        kind = "bag" if step.kind == "list" else step.kind
        group = found.columns[name].data
        mask, result = aggregate_term(
            kind, group, template, found.columns, frame.rows, self.symbols
        )
        return self.bind(step.result, frame.where(mask), result)

    def procedure(self, step: op.Procedure, frame: Frame, run: Run) -> Frame:
        """The answers of a procedure; `run` evaluates its clauses."""
        if self._depth >= MAX_DEPTH:
            name, arity = step.key
            raise Endless(f"{name}/{arity} calls itself too often, or without end")
        self._depth += 1
        try:
            branches = self.procedures.branches[step.key, step.bound]
            found = [self._branch(step, branch, frame, run) for branch in branches]
        finally:
            self._depth -= 1
        facts = self.stated(step.key)
        if facts is not None:
            plain, terms = self.plain(frame, step.args)
            keep = set(frame.columns) | names(*step.args) | set(frame.lists)
            found.append(join(plain, facts, terms, self.symbols).to_frame(keep.__contains__))
        return stack(found, self.symbols) if found else frame.empty()

    def _branch(self, step: op.Procedure, branch: op.Branch, frame: Frame, run: Run) -> Frame:
        name = self.number()
        own = {n: spans for n, spans in frame.lists.items() if is_number(n)}
        inner = Frame(frame.rows, {}, own).numbered(name)
        for position, pattern in enumerate(branch.head):
            if position in step.bound:
                inner = self._pass(step.args[position], pattern, frame, inner, name)
        found = run(branch.body, inner)
        outer = frame.take(found.columns[name].data)
        outer.lists.update({n: s for n, s in found.lists.items() if is_number(n)})
        fresh: list[str] = []
        for position, pattern in enumerate(branch.head):
            if position in step.bound or not found.rows:
                continue
            if isinstance(pattern, Var) and pattern.name in found.lists:
                outer = self._bind_list(step.args[position], found.lists[pattern.name], outer)
            elif names(pattern) <= set(found.columns):
                column = build(pattern, found.columns, found.rows, self.symbols)
                outer = outer.with_columns({f"#out{position}": column, name: found.columns[name]})
                fresh.append(f"#out{position}")
        return self._answers(step, outer, found, fresh, name)

    def _answers(
        self, step: op.Procedure, outer: Frame, found: Frame, fresh: list[str], name: str
    ) -> Frame:
        """Each different answer of a call once, bound to the arguments that were free."""
        keys = [bits(found.columns[name]), *(bits(outer.columns[column]) for column in fresh)]
        if not any(is_number(n) for n in outer.lists):  # times may differ between equal answers
            outer = outer.take(distinct(keys, outer.rows))
        for column in fresh:
            outer = self._bind(step.args[int(column[4:])], outer, column)
        return outer

    def _pass(self, arg: Term, pattern: Term, frame: Frame, inner: Frame, name: str) -> Frame:
        """Hand an argument of a call to the head of a clause."""
        rows: Ints = inner.columns[name].data
        if isinstance(arg, Var) and arg.name in frame.lists:
            spans = gather(frame.lists[arg.name], frame.rows, rows)
            return self._bind_list(pattern, spans, inner)
        column = build(arg, frame.columns, frame.rows, self.symbols).take(rows)
        return self._bind(pattern, inner.with_columns({"#in": column}), "#in")


def _keeps(needed: Names) -> Callable[[str], bool]:
    return lambda name: name in needed or is_number(name)


def _all(name: str) -> bool:
    return True


def _extended(frame: Frame, found: Found) -> Frame:
    """The rows that a condition accepts, with what it binds."""
    if len(found.rows) == frame.rows and bool((found.rows == np.arange(frame.rows)).all()):
        return frame.with_columns(found.new)
    return frame.take(found.rows).with_columns(found.new)
