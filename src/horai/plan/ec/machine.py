"""Components as programs for a compiled machine: instructions, labels, registers and tables.

A rule that reads its own component becomes instructions that test values, events and edges, bind
variables and derive points. Where a rule asks for more than the machine can do there is a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Float, Int, Term, Var, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec import opcodes as do
from horai.plan.ec.literals import names
from horai.plan.ec.opcodes import (
    ATTEMPT,
    EFFECT,
    GIVEN,
    HAPPEN,
    HEARD,
    INITIATE,
    OTHERS,
    SAY,
    SINCE,
    TERMINATE,
    TERMINATE_ALL,
)
from horai.plan.ec.unify import may_match
from horai.plan.graphs import Digraph
from horai.plan.program import DelayPlan, GroundingPlan, Key, Plan, PointPlan, Stratum

Env = dict[str, int]  # variables and their registers
Node = tuple[str, Key]
LARGEST = 3000  # instructions of one component: alternatives inside alternatives multiply


class NotCompiled(Exception):
    """Why a component has no program."""


@dataclass(frozen=True, slots=True)
class LookupTable:
    """Rows that rules look up: background facts, points or pairs that were settled before (pairs
    with their numbers as a last column), or the candidates of a rule (`columns` of them).

    `order` are the columns as they are kept; the first `keys` of them are those asked for.
    """

    facts: Key | None = None
    points: tuple[op.PointKind, Key] | None = None
    fluent: Key | None = None
    rule: PointPlan | None = None
    columns: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    keys: int = 0


@dataclass(frozen=True, slots=True)
class Index:
    """Instances of a node by some of their arguments."""

    node: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a rule as if they were facts."""

    plan: PointPlan
    columns: tuple[str, ...]


Step = op.Operator | Candidates
Column = Term | op.Operator  # what a candidate brings along: a term, or whether a condition is met


class Words:
    """The code of a component as it is written, one rule after the other."""

    def __init__(self, nodes: dict[Node, int]) -> None:
        self.nodes = nodes
        self.code: list[list[int]] = [[do.STOP, 0, 0, 0, 0, 0]]
        self.stop = 0  # a label and, since it stands first, a place
        self.pool: list[int] = []
        self.constants: dict[Term, int] = {}
        self.tables: list[LookupTable] = []
        self.indexes: list[Index] = []
        self.lists: set[int] = set()  # those that some rule reads
        self._labels = [0]
        self._next = do.OTHERS
        self.begin(None, frozenset())

    def begin(self, time: Term | None, given: frozenset[str]) -> None:
        """A new rule: its time, and the variables that candidates bring along."""
        self.time = time
        self.given = given
        self.columns: list[Column] = []
        self._next = do.OTHERS

    def here(self) -> int:
        """The place of the next instruction."""
        return len(self.code)

    def add(
        self, operation: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, *, fail: int = 0
    ) -> None:
        """One more instruction."""
        if len(self.code) > LARGEST:
            raise NotCompiled("its rules have too many alternatives")
        self.code.append([operation, a, b, c, d, fail])

    def jump(self, label: int) -> None:
        """Go on elsewhere."""
        self.add(do.JUMP, fail=label)

    def finish(self) -> None:
        """Labels become places."""
        for row in self.code:
            row[5] = self._labels[row[5]]

    def label(self) -> int:
        """A place that is not known yet."""
        self._labels.append(-1)
        return len(self._labels) - 1

    def place(self, label: int) -> None:
        """A label stands for the next instruction."""
        self._labels[label] = self.here()

    def register(self) -> int:
        """A register that nothing else uses."""
        self._next += 1
        if self._next > do.CONSTANTS:
            raise NotCompiled("a rule has too many variables")
        return self._next - 1

    def constant(self, term: Term) -> int:
        """The register of a ground term."""
        return self.constants.setdefault(term, do.CONSTANTS + len(self.constants))

    def find(self, term: Term, env: Env) -> int | None:
        """The register of a term, None if it has a variable without a value."""
        if is_ground(term):
            return self.constant(term)
        if isinstance(term, Var) and term.name in env:
            return env[term.name]
        if term == self.time:
            return do.TIME
        return self.column(term) if names(term) <= self.given else None

    def column(self, brought: Column) -> int:
        """The register of what candidates bring along."""
        if brought not in self.columns:
            self.columns.append(brought)
        if len(self.columns) > do.OTHERS - do.GIVEN:
            raise NotCompiled("a rule has too many variables")
        return do.GIVEN + self.columns.index(brought)

    def known(self, term: Term, env: Env) -> int:
        """The register of a term that must have one."""
        found = self.find(term, env)
        if found is None:
            raise NotCompiled(f"`{show(term)}` is put together only at run time")
        return found

    def args(self, terms: Sequence[Term], env: Env) -> int:
        """The place in the pool of the registers of some terms."""
        registers = [self.known(term, env) for term in terms]
        self.pool += registers
        return len(self.pool) - len(registers)

    def match(self, pattern: Term, register: int, env: Env, fail: int) -> None:
        """Code that compares with a pattern, or gives its variable a value."""
        found = self.find(pattern, env)
        if found is not None:
            self.add(do.SAME, found, register, fail=fail)
        elif isinstance(pattern, Var):
            env[pattern.name] = register
        else:
            raise NotCompiled(f"`{show(pattern)}` is taken apart only at run time")


_ARITHMETIC = {
    "+": do.ADD,
    "-": do.SUBTRACT,
    "*": do.MULTIPLY,
    "//": do.DIVIDE,
    "mod": do.MODULO,
    "min": do.SMALLER,
    "max": do.LARGER,
}
_COMPARISONS = {
    "<": (do.LESS, False),
    ">": (do.LESS, True),
    "=<": (do.AT_MOST, False),
    ">=": (do.AT_MOST, True),
    "=:=": (do.EVEN, False),
    "=\\=": (do.UNEVEN, False),
    "==": (do.SAME, False),
    "\\==": (do.DIFFER, False),
    "\\=": (do.DIFFER, False),
}


class Values(Words):
    """Makes the code that works with values."""

    def filter(self, literal: ec.Compare, env: Env, fail: int) -> None:
        """Code that compares two values."""
        if literal.op not in _COMPARISONS:
            raise NotCompiled(f"`{show(literal.term)}` compares terms in their standard order")
        operation, swapped = _COMPARISONS[literal.op]
        value = self.known if operation in (do.SAME, do.DIFFER) else self.number
        left, right = value(literal.left, env), value(literal.right, env)
        self.add(operation, *((right, left) if swapped else (left, right)), fail=fail)

    def unify(self, left: Term, right: Term, env: Env, fail: int) -> None:
        """Code for an equation, one side of which is known."""
        for one, other in ((left, right), (right, left)):
            found = self.find(other, env)
            if found is not None:
                self.match(one, found, env, fail)
                return
        raise NotCompiled(f"`{show(left)} = {show(right)}` leaves a variable open")

    def number(self, term: Term, env: Env) -> int:
        """The register of what an expression comes to."""
        match term:
            case Float():
                raise NotCompiled("it computes with decimals")
            case Int() | Var():
                return self.known(term, env)
            case Compound(name="-", args=(arg,)):
                return self._computed(do.SUBTRACT, Int(0), arg, env)
            case Compound(name=name, args=(left, right)) if name in _ARITHMETIC:
                return self._computed(_ARITHMETIC[name], left, right, env)
        raise NotCompiled(f"`{show(term)}` is computed only at run time")

    def _computed(self, operation: int, left: Term, right: Term, env: Env) -> int:
        first, second = self.number(left, env), self.number(right, env)
        found = self.register()
        self.add(operation, found, first, second)
        return found


Then = Callable[[Env, int], None]
# What costs no more as an instruction.
_PLAIN = (op.Filter, op.Unify, op.Extend, op.TruthOp)

_LISTS = {
    "event": do.HAPPENED_LIST,
    "start": do.STARTED_LIST,
    "end": do.ENDED_LIST,
    "initiated": do.INITIATED_LIST,
}


class Coder(Values):
    """Makes the code of a component, one rule after the other."""

    def _known_before(self, step: op.Operator) -> bool:
        """Is it about candidates alone, and tells no more than yes or no?

        Anonymous variables occur nowhere else, so it does not matter what they stand for.
        """
        if isinstance(step, _PLAIN) or self._reads_members(step):
            return False
        asked = {name for name in names(step.term) if not name.startswith("_#")}
        return bool(self.given) and asked <= self.given

    def _reads_members(self, step: op.Operator) -> bool:
        for part in op.walk(op.Chain((step,))):
            match part:
                case op.Scan(kind=kind, key=key):
                    if ("event" if kind == "event" else "fluent", key) in self.nodes:
                        return True
                case op.Stab(key=key) | op.Walk(key=key):
                    if ("fluent", key) in self.nodes:
                        return True
                case op.Procedure() | op.AggregateOp() | op.Lookup():
                    return True  # more than a test
                case _:
                    pass
        return False

    # --- operators -------------------------------------------------------------------------------

    def goals(self, steps: Sequence[Step], env: Env, fail: int, then: Then) -> None:
        """Code for operators one after the other."""
        if not steps:
            then(env, fail)
            return
        first = self._first(steps, env)
        rest = [step for step in steps if step is not first]
        self._goal(first, dict(env), fail, lambda e, f: self.goals(rest, e, f, then))

    def _first(self, steps: Sequence[Step], env: Env) -> Step:
        """Equations before a search among instances: `holdsAt(f(A,B)=V,T), (P = A ; P = B)`."""
        first = steps[0]
        if isinstance(first, op.Stab) and any(self.find(t, env) is None for t in first.terms[:-1]):
            return next((step for step in steps if self._equates(step, env)), first)
        return first

    def _equates(self, step: Step, env: Env) -> bool:
        match step:
            case op.Unify(left=left, right=right):
                return self.find(left, env) is not None or self.find(right, env) is not None
            case op.Union(branches=branches):
                return all(self._equates(one, env) for branch in branches for one in branch.steps)
            case _:
                return False

    def _goal(self, step: Step, env: Env, fail: int, then: Then) -> None:
        if not isinstance(step, Candidates) and self._known_before(step):
            self.add(do.SAME, self.column(step), self.constant(Int(1)), fail=fail)
            then(env, fail)
            return
        match step:
            case op.Scan():
                self._scan(step, env, fail, then)
            case op.Stab():
                self._stab(step, env, fail, then)
            case op.FactJoin(key=key, terms=terms):
                self._rows(LookupTable(facts=key), terms, env, fail, then)
            case Candidates(plan=plan, columns=columns):
                terms = tuple(Var(name) for name in columns)
                self._rows(LookupTable(rule=plan, columns=columns), terms, env, fail, then)
            case op.Filter(literal=literal):
                self.filter(literal, env, fail)
                then(env, fail)
            case op.Unify(left=left, right=right):
                self.unify(left, right, env, fail)
                then(env, fail)
            case op.Extend(literal=literal):
                value = self.number(literal.expression, env)
                self.match(literal.target, value, env, fail)
                then(env, fail)
            case op.TruthOp(value=True):
                then(env, fail)
            case op.TruthOp():
                self.jump(fail)
            case _:
                self._control(step, env, fail, then)

    def _control(self, step: op.Operator, env: Env, fail: int, then: Then) -> None:
        match step:
            case op.AntiJoin(body=body):
                unmet = self.label()
                self.goals(body.steps, env, unmet, lambda e, f: self.jump(fail))
                self.place(unmet)
                then(env, fail)
            case op.Union(branches=branches):
                for branch in branches:
                    other = self.label()
                    self.goals(branch.steps, env, other, then)
                    self.place(other)
                self.jump(fail)
            case op.IfThenElseOp(condition=condition, then=yes, otherwise=no):
                self._choice(condition, yes, no, env, fail, then)
            case _:
                raise NotCompiled(f"`{show(step.term)}` is more than a test of values")

    def _choice(
        self, condition: op.Chain, yes: op.Chain, no: op.Chain, env: Env, fail: int, then: Then
    ) -> None:
        met, tried = self.register(), self.label()
        false, true = self.constant(Int(0)), self.constant(Int(1))

        def success(inner: Env, retry: int) -> None:
            self.add(do.MOVE, met, true)
            self.goals(yes.steps, inner, retry, then)

        self.add(do.MOVE, met, false)
        self.goals(condition.steps, env, tried, success)
        self.place(tried)
        self.add(do.SAME, met, false, fail=fail)
        self.goals(no.steps, env, fail, then)

    # --- what the component says of itself -------------------------------------------------------

    def list_of(self, step: op.Scan) -> int | None:
        """The list that a condition about this moment goes through."""
        node = self.nodes.get(("event" if step.kind == "event" else "fluent", step.key))
        if node is None or step.kind not in _LISTS or step.time != self.time:
            return None
        return node * do.LISTS + _LISTS[step.kind]

    def _scan(self, step: op.Scan, env: Env, fail: int, then: Then) -> None:
        node = ("event" if step.kind == "event" else "fluent", step.key)
        known = node not in self.nodes and step.kind != "terminated" and step.within is None
        if known and self.find(step.time, env) is not None:
            table = LookupTable(points=(step.kind, step.key))
            self._rows(table, (*step.terms, step.time), env, fail, then)
            return
        number = self.list_of(step)
        if number is None or step.within is not None:
            raise NotCompiled(f"`{show(step.term)}` is not known from the values of the moment")
        arity = step.key[1]
        ground = all(self.find(term, env) is not None for term in step.terms[:arity])
        if ground and step.kind in ("event", "start", "end"):
            self._happened(step, number // do.LISTS, env, fail)
            then(env, fail)
            return
        self.lists.add(number)
        item = self.register()
        self.add(do.ITEMS, item, number)
        again, other = self._loop(item, fail)
        for position, term in enumerate(step.terms):
            part = self.register()
            if position < arity:
                self.add(do.ITEM_ARG, part, item, position)
            else:
                self.add(do.ITEM_VALUE, part, item)
            self.match(term, part, env, other)
        then(env, other)
        self.place(other)
        self.add(do.NEXT_ITEM, item)
        self.jump(again)

    def _happened(self, step: op.Scan, node: int, env: Env, fail: int) -> None:
        arity = step.key[1]
        args = self.args(step.terms[:arity], env)
        if step.kind == "event":
            self.add(do.HAPPENED, node, args, fail=fail)
            return
        value = self.register()
        self.add(do.STARTED if step.kind == "start" else do.ENDED, node, args, value, fail=fail)
        self.match(step.terms[-1], value, env, fail)

    def _stab(self, step: op.Stab, env: Env, fail: int, then: Then) -> None:
        node = self.nodes.get(("fluent", step.key))
        if step.time != self.time:
            if self.time is not None or not isinstance(step.time, Var):
                raise NotCompiled(f"`{show(step.term)}` asks about another time")
            self.add(do.NOW, self.known(step.time, env))
        if node is None:
            self._rows(LookupTable(fluent=step.key), step.terms, env, fail, then)
            return
        *terms, wanted = step.terms
        if any(self.find(term, env) is None for term in terms):
            self._instances(step, node, env, fail, then)
            return
        args, value = self.args(terms, env), self.find(wanted, env)
        if value is not None:
            self.add(do.HOLDS, node, args, value, fail=fail)
        else:
            held = self.register()
            self.add(do.VALUE, node, args, held, fail=fail)
            self.match(wanted, held, env, fail)
        then(env, fail)

    def _instances(self, step: op.Stab, node: int, env: Env, fail: int, then: Then) -> None:
        """Go through the instances that have the arguments that are known."""
        *terms, wanted = step.terms
        places = tuple(i for i, term in enumerate(terms) if self.find(term, env) is not None)
        index = Index(node, places)
        if index not in self.indexes:
            self.indexes.append(index)
        number = self.indexes.index(index)
        one = self.register()
        self.add(do.INSTANCES, one, number, self.args([terms[i] for i in places], env))
        again, other = self._loop(one, fail)
        held = self.register()
        self.add(do.INSTANCE_VALUE, held, one, fail=other)
        self.match(wanted, held, env, other)
        for position, term in enumerate(terms):
            part = self.register()
            self.add(do.INSTANCE_ARG, part, one, position)
            self.match(term, part, env, other)
        then(env, other)
        self.place(other)
        self.add(do.NEXT_INSTANCE, one, number)
        self.jump(again)

    def _loop(self, place: int, fail: int) -> tuple[int, int]:
        again, other = self.label(), self.label()
        self.place(again)
        self.add(do.NO_MORE, place, fail=fail)
        return again, other

    # --- tables ----------------------------------------------------------------------------------

    def _rows(
        self, table: LookupTable, terms: tuple[Term, ...], env: Env, fail: int, then: Then
    ) -> None:
        """Go through the rows of a table that have what is known in their columns."""
        keys = [i for i, term in enumerate(terms) if self.find(term, env) is not None]
        order = (*keys, *(i for i in range(len(terms)) if i not in keys))
        table = replace(table, order=order, keys=len(keys))
        if table not in self.tables:
            self.tables.append(table)
        number = self.tables.index(table)
        row = self.register()
        self.add(do.ROWS, row, number, self.args([terms[i] for i in keys], env))
        again, other = self._loop(row, fail)
        for column, position in enumerate(order[len(keys) :], len(keys)):
            part = self.register()
            self.add(do.CELL, part, row, number, column)
            self.match(terms[position], part, env, other)
        if table.fluent is not None:
            pair = self.register()
            self.add(do.CELL, pair, row, number, len(terms))
            self.add(do.LASTS, pair, fail=other)
        then(env, other)
        self.place(other)
        self.add(do.NEXT_ROW, row, number)
        self.jump(again)


@dataclass(frozen=True, slots=True)
class MachineRule:
    """A rule of the component.

    `columns` are what each candidate brings along. Without `timed` the rule is asked at moments at
    which one of the lists `sources` has something in it.
    """

    plan: PointPlan
    entry: int
    layer: int
    columns: tuple[Column, ...]
    timed: bool
    sources: frozenset[int]


@dataclass(frozen=True, slots=True)
class MachineDelay:
    """A delayed effect: code for the attempt and for the deadline, what is kept in between."""

    plan: DelayPlan
    early: int
    late: int
    layer: int
    saved: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Postponed:
    """`p(F=V)`: a register for every argument and the value, or -1 for any."""

    node: int
    registers: tuple[int, ...]


@dataclass(slots=True)
class Machine:
    """The program of a component."""

    nodes: tuple[Node, ...]
    layers: int
    coder: Coder
    rules: list[MachineRule] = field(default_factory=list)
    delays: list[MachineDelay] = field(default_factory=list)
    postponed: list[Postponed] = field(default_factory=list)
    # By event: its layer, and code for those that are known already.
    heard: dict[Key, tuple[int, int]] = field(default_factory=dict)

    @property
    def tables(self) -> list[LookupTable]:
        """The tables that its rules look up."""
        return self.coder.tables

    @property
    def indexes(self) -> list[Index]:
        """How its rules look for instances."""
        return self.coder.indexes


def machine_of(stratum: Stratum, program: Plan) -> Machine | str:
    """The program of a component, or why there is none."""
    try:
        return _Builder(stratum, program).machine()
    except NotCompiled as reason:
        return str(reason)


class _Builder:
    def __init__(self, stratum: Stratum, program: Plan) -> None:
        self.stratum = stratum
        self.program = program
        nodes = [("fluent", key) for key in stratum.fluents]
        nodes += [("event", key) for key in stratum.events]
        self.nodes: dict[Node, int] = {node: number for number, node in enumerate(nodes)}
        self.coder = Coder(self.nodes)

    def machine(self) -> Machine:
        """All of it."""
        self._refuse_mixed()
        for _, key in self.nodes:
            for grounding in self.program.groundings.get(key, ()):
                self._domain(grounding)
        layer = self._layers()
        found = Machine(tuple(self.nodes), max(layer, default=-1) + 1, self.coder)
        for plan in self.stratum.points:
            with _blaming(plan.clause):
                found.rules.append(self._rule(plan, layer[self.nodes[_node(plan)]]))
        for key in self.stratum.events:
            number = self.nodes["event", key]
            found.heard[key] = (layer[number], self._hear(number, key[1]))
        for delay in self.stratum.delays:
            with _blaming(delay.clause):
                found.delays.append(self._delay(delay, layer))
        found.postponed = [
            Postponed(self.nodes[node], self._pattern(fvp))
            for fvp in self.program.postponable
            if (node := ("fluent", key_of(fvp.fluent))) in self.nodes
        ]
        self.coder.finish()
        return found

    def _refuse_mixed(self) -> None:
        determined = {plan.key for one in self.program.strata for plan in one.static}
        for name, arity in self.stratum.fluents:
            if (name, arity) in determined:
                raise NotCompiled(f"some values of {name}/{arity} are given by interval lists")
        for delay in self.stratum.delays:
            if delay.domain:
                raise NotCompiled("a delayed effect leaves variables of its target to a grounding")
            if ("fluent", delay.origin_key) not in self.nodes:
                name, arity = delay.origin_key
                raise NotCompiled(f"a delay starts from {name}/{arity}, which is settled before")

    def _domain(self, grounding: GroundingPlan) -> None:
        value = grounding.value
        if value is not None and is_ground(value):
            self.coder.constant(value)
        elif value is not None and not isinstance(value, Var):
            raise NotCompiled("a grounding asks for the form of a value")

    # --- layers of one moment --------------------------------------------------------------------

    def _layers(self) -> list[int]:
        """How many steps of one moment each node has to wait for."""
        asks: set[tuple[int, int]] = set()
        for plan in self.stratum.points:
            for source in instant_sources(plan):
                if source in self.nodes:
                    asks.add((self.nodes[source], self.nodes[_node(plan)]))
        graph = Digraph(sorted(asks), self.nodes.values())
        for delay in self.stratum.delays:
            # Whether a postponed attempt acts depends on initiations at the very moment.
            if any(may_match(one.term, delay.rule.origin.term) for one in self.program.postponable):
                origin, target = ("fluent", delay.origin_key), ("fluent", delay.target_key)
                graph.add_edge(self.nodes[origin], self.nodes[target])
        found = [0] * len(self.nodes)
        for members in graph.components():
            if any(a in members and b in members for a, b in asks):
                raise NotCompiled("what its rules say at one moment depends on itself")
            before = [found[s] + 1 for m in members for s in graph.predecessors(m)
                      if s not in members]  # fmt: skip
            for member in members:
                found[member] = max(before, default=0)
        return found

    # --- rules -----------------------------------------------------------------------------------

    def _rule(self, plan: PointPlan, layer: int) -> MachineRule:
        coder, split = self.coder, plan.split
        if plan.open_value and not isinstance(plan.terms[-1], Var):
            raise NotCompiled("a rule ends all values of a form")
        if split is None:
            coder.begin(plan.time, frozenset(names(*plan.terms, plan.time)))
            entry = coder.here()
            self._say(plan, {}, coder.stop)
            return MachineRule(plan, entry, layer, tuple(coder.columns), True, frozenset())
        if plan.bounds is not None:
            raise NotCompiled("a rule with a range of times reads its own component")
        if not isinstance(plan.time, Var):
            raise NotCompiled("the time of a rule is not a variable")
        if not split.timed and not split.waits:
            raise NotCompiled("a rule can fire at any time")
        coder.begin(plan.time, split.candidates.bound if split.timed else frozenset())
        entry = coder.here()
        steps: list[Step] = list(split.remainder.steps)
        sources: frozenset[int] = frozenset()
        if not split.timed:
            steps, sources = self._triggered(plan, steps)
            coder.lists |= sources
        coder.goals(steps, {}, coder.stop, lambda env, fail: self._say(plan, env, fail))
        return MachineRule(plan, entry, layer, tuple(coder.columns), split.timed, sources)

    def _triggered(self, plan: PointPlan, steps: list[Step]) -> tuple[list[Step], frozenset[int]]:
        """Conditions in order: events first, then candidates, which have no time of their own."""
        assert plan.split is not None
        given = plan.split.candidates
        extra: list[Step] = []
        if given.steps or plan.domain:
            wanted = sorted(given.bound & (names(*plan.terms) | _asked(plan.split.remainder)))
            extra = [Candidates(plan, tuple(wanted))]
        first = next((s for s in steps if self._list(s) is not None), None)
        if first is None:
            lists = [n for s in op.walk(plan.split.remainder) if (n := self._list(s)) is not None]
            return [*extra, *steps], frozenset(lists)
        source = self._list(first)
        assert source is not None
        return [first, *extra, *(s for s in steps if s is not first)], frozenset({source})

    def _list(self, step: Step) -> int | None:
        return self.coder.list_of(step) if isinstance(step, op.Scan) else None

    def _say(self, plan: PointPlan, env: dict[str, int], fail: int) -> None:
        coder = self.coder
        node = self.nodes[_node(plan)]
        if plan.kind == "event" or plan.open_value:
            kind = HAPPEN if plan.kind == "event" else TERMINATE_ALL
            coder.add(SAY, kind, node, coder.args(plan.terms[: plan.key[1]], env), -1)
        else:
            kind = INITIATE if plan.kind == "initiated" else TERMINATE
            value = coder.known(plan.terms[-1], env)
            coder.add(SAY, kind, node, coder.args(plan.terms, env), value)
        coder.jump(fail)

    def _hear(self, node: int, arity: int) -> int:
        entry = self.coder.here()
        if arity > OTHERS - GIVEN:
            raise NotCompiled("an event has too many arguments")
        self.coder.pool += range(GIVEN, GIVEN + arity)
        self.coder.add(SAY, HEARD, node, len(self.coder.pool) - arity, -1)
        self.coder.jump(self.coder.stop)
        return entry

    # --- delayed effects -------------------------------------------------------------------------

    def _delay(self, plan: DelayPlan, layer: list[int]) -> MachineDelay:
        wanted = names(*plan.target, *(step.term for step in op.walk(plan.late)))
        own = names(*plan.origin) | ({plan.time} if plan.time else set())
        saved = tuple(sorted((wanted & plan.early.bound) - own))
        early = self._early(plan, saved)
        late = self._late(plan, saved)
        target = self.nodes["fluent", plan.target_key]
        return MachineDelay(plan, early, late, layer[target], saved)

    def _early(self, plan: DelayPlan, saved: tuple[str, ...]) -> int:
        coder = self.coder
        coder.begin(Var(plan.time) if plan.time else None, frozenset())
        entry = coder.here()

        def attempt(env: dict[str, int], fail: int) -> None:
            kept = coder.args(tuple(Var(name) for name in saved), env)
            coder.add(ATTEMPT, coder.known(plan.delay, env), kept, len(saved))
            coder.jump(fail)

        env = self._origin(plan)
        coder.goals(list(plan.early.steps), env, coder.stop, attempt)
        return entry

    def _late(self, plan: DelayPlan, saved: tuple[str, ...]) -> int:
        coder = self.coder
        coder.begin(None, frozenset())
        entry = coder.here()
        env = self._origin(plan)
        env |= {name: GIVEN + len(plan.origin) + place for place, name in enumerate(saved)}
        if plan.time is not None:
            env[plan.time] = SINCE
        if max(env.values(), default=0) >= OTHERS:
            raise NotCompiled("a delayed effect has too many variables")
        kind = INITIATE if plan.initiates else TERMINATE
        node = self.nodes["fluent", plan.target_key]

        def effect(env: dict[str, int], fail: int) -> None:
            args = coder.args(plan.target, env)
            coder.add(EFFECT, kind, node, args, coder.known(plan.target[-1], env))
            coder.jump(fail)

        coder.goals(list(plan.late.steps), env, coder.stop, effect)
        return entry

    def _origin(self, plan: DelayPlan) -> dict[str, int]:
        """Code that tests whether a pair is one that the effect starts from; its variables."""
        env: dict[str, int] = {}
        for place, pattern in enumerate(plan.origin):
            self.coder.match(pattern, GIVEN + place, env, self.coder.stop)
        return env

    def _pattern(self, fvp: ec.FVP) -> tuple[int, ...]:
        args = fvp.fluent.args if isinstance(fvp.fluent, Compound) else ()
        terms = (*args, fvp.value)
        variables = [term.name for term in terms if isinstance(term, Var)]
        if len(set(variables)) < len(variables):
            raise NotCompiled("a variable occurs twice in a p/1")
        if any(not isinstance(term, Var) and not is_ground(term) for term in terms):
            raise NotCompiled("a p/1 asks for the form of a term")
        return tuple(-1 if isinstance(t, Var) else self.coder.constant(t) for t in terms)


@contextmanager
def _blaming(clause: ec.Clause) -> Iterator[None]:
    """Say which rule it is that has no instructions."""
    try:
        yield
    except NotCompiled as reason:
        raise NotCompiled(f"{clause.place}: {reason}") from None


def _node(plan: PointPlan) -> Node:
    return ("event" if plan.kind == "event" else "fluent", plan.key)


def _asked(chain: op.Chain) -> frozenset[str]:
    return names(*(step.term for step in chain.steps))


def instant_sources(plan: PointPlan) -> Iterator[Node]:
    """The conditions of a rule about the very moment it speaks of."""
    if plan.split is None:
        return
    for step in op.walk(plan.split.remainder):
        match step:
            case op.Scan(kind="event", key=key):
                yield ("event", key)
            case op.Scan(key=key):
                yield ("fluent", key)
            case _:
                pass
