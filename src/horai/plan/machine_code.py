"""From operators to the instructions of a machine.

Every way to make a body true is tried: an operator that can succeed in several ways becomes a loop,
and whatever fails goes back to the innermost loop. So `fail` is where the next way is looked for,
and what follows an operator is handed to it as a function that adds the rest of the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from horai.lang.ec import syntax as ec
from horai.lang.printer import show
from horai.lang.terms import Compound, Float, Int, Term, Var, is_ground
from horai.plan import opcodes as do
from horai.plan import operators as op
from horai.plan.program import Key, PointPlan
from horai.plan.scopes import names

Env = dict[str, int]  # variables and their registers
Then = Callable[[Env, int], None]
Node = tuple[str, Key]
# What costs no more as an instruction.
_PLAIN = (op.Filter, op.Unify, op.Extend, op.Truth)
LARGEST = 3000  # instructions of one component: alternatives inside alternatives multiply

_LISTS = {
    "event": do.HAPPENED_LIST,
    "start": do.STARTED_LIST,
    "end": do.ENDED_LIST,
    "initiated": do.INITIATED_LIST,
}
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


class NotCompiled(Exception):
    """Why a component has no program."""


@dataclass(frozen=True, slots=True)
class Table:
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


class Coder:
    """Makes the code of a component, one rule after the other."""

    def __init__(self, nodes: dict[Node, int]) -> None:
        self.nodes = nodes
        self.code: list[list[int]] = [[do.STOP, 0, 0, 0, 0, 0]]
        self.stop = 0  # a label and, since it stands first, a place
        self.pool: list[int] = []
        self.constants: dict[Term, int] = {}
        self.tables: list[Table] = []
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

    def _label(self) -> int:
        self._labels.append(-1)
        return len(self._labels) - 1

    def _place(self, label: int) -> None:
        self._labels[label] = self.here()

    def _register(self) -> int:
        self._next += 1
        if self._next > do.CONSTANTS:
            raise NotCompiled("a rule has too many variables")
        return self._next - 1

    # --- terms -----------------------------------------------------------------------------------

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
        return self._column(term) if names(term) <= self.given else None

    def _column(self, brought: Column) -> int:
        """The register of what candidates bring along."""
        if brought not in self.columns:
            self.columns.append(brought)
        if len(self.columns) > do.OTHERS - do.GIVEN:
            raise NotCompiled("a rule has too many variables")
        return do.GIVEN + self.columns.index(brought)

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
                case op.Procedure() | op.Aggregate() | op.Lookup():
                    return True  # more than a test
                case _:
                    pass
        return False

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
            self.add(do.SAME, self._column(step), self.constant(Int(1)), fail=fail)
            then(env, fail)
            return
        match step:
            case op.Scan():
                self._scan(step, env, fail, then)
            case op.Stab():
                self._stab(step, env, fail, then)
            case op.Facts(key=key, terms=terms):
                self._rows(Table(facts=key), terms, env, fail, then)
            case Candidates(plan=plan, columns=columns):
                terms = tuple(Var(name) for name in columns)
                self._rows(Table(rule=plan, columns=columns), terms, env, fail, then)
            case op.Filter(literal=literal):
                self._filter(literal, env, fail)
                then(env, fail)
            case op.Unify(left=left, right=right):
                self._unify(left, right, env, fail)
                then(env, fail)
            case op.Extend(literal=literal):
                value = self._number(literal.expression, env)
                self.match(literal.target, value, env, fail)
                then(env, fail)
            case op.Truth(value=True):
                then(env, fail)
            case op.Truth():
                self.jump(fail)
            case _:
                self._control(step, env, fail, then)

    def _control(self, step: op.Operator, env: Env, fail: int, then: Then) -> None:
        match step:
            case op.AntiJoin(body=body):
                unmet = self._label()
                self.goals(body.steps, env, unmet, lambda e, f: self.jump(fail))
                self._place(unmet)
                then(env, fail)
            case op.Union(branches=branches):
                for branch in branches:
                    other = self._label()
                    self.goals(branch.steps, env, other, then)
                    self._place(other)
                self.jump(fail)
            case op.Choice(condition=condition, then=yes, otherwise=no):
                self._choice(condition, yes, no, env, fail, then)
            case _:
                raise NotCompiled(f"`{show(step.term)}` is more than a test of values")

    def _choice(
        self, condition: op.Chain, yes: op.Chain, no: op.Chain, env: Env, fail: int, then: Then
    ) -> None:
        met, tried = self._register(), self._label()
        false, true = self.constant(Int(0)), self.constant(Int(1))

        def success(inner: Env, retry: int) -> None:
            self.add(do.MOVE, met, true)
            self.goals(yes.steps, inner, retry, then)

        self.add(do.MOVE, met, false)
        self.goals(condition.steps, env, tried, success)
        self._place(tried)
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
            table = Table(points=(step.kind, step.key))
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
        item = self._register()
        self.add(do.ITEMS, item, number)
        again, other = self._loop(item, fail)
        for position, term in enumerate(step.terms):
            part = self._register()
            if position < arity:
                self.add(do.ITEM_ARG, part, item, position)
            else:
                self.add(do.ITEM_VALUE, part, item)
            self.match(term, part, env, other)
        then(env, other)
        self._place(other)
        self.add(do.NEXT_ITEM, item)
        self.jump(again)

    def _happened(self, step: op.Scan, node: int, env: Env, fail: int) -> None:
        arity = step.key[1]
        args = self.args(step.terms[:arity], env)
        if step.kind == "event":
            self.add(do.HAPPENED, node, args, fail=fail)
            return
        value = self._register()
        self.add(do.STARTED if step.kind == "start" else do.ENDED, node, args, value, fail=fail)
        self.match(step.terms[-1], value, env, fail)

    def _stab(self, step: op.Stab, env: Env, fail: int, then: Then) -> None:
        node = self.nodes.get(("fluent", step.key))
        if step.time != self.time:
            if self.time is not None or not isinstance(step.time, Var):
                raise NotCompiled(f"`{show(step.term)}` asks about another time")
            self.add(do.NOW, self.known(step.time, env))
        if node is None:
            self._rows(Table(fluent=step.key), step.terms, env, fail, then)
            return
        *terms, wanted = step.terms
        if any(self.find(term, env) is None for term in terms):
            self._instances(step, node, env, fail, then)
            return
        args, value = self.args(terms, env), self.find(wanted, env)
        if value is not None:
            self.add(do.HOLDS, node, args, value, fail=fail)
        else:
            held = self._register()
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
        one = self._register()
        self.add(do.INSTANCES, one, number, self.args([terms[i] for i in places], env))
        again, other = self._loop(one, fail)
        held = self._register()
        self.add(do.INSTANCE_VALUE, held, one, fail=other)
        self.match(wanted, held, env, other)
        for position, term in enumerate(terms):
            part = self._register()
            self.add(do.INSTANCE_ARG, part, one, position)
            self.match(term, part, env, other)
        then(env, other)
        self._place(other)
        self.add(do.NEXT_INSTANCE, one, number)
        self.jump(again)

    def _loop(self, place: int, fail: int) -> tuple[int, int]:
        again, other = self._label(), self._label()
        self._place(again)
        self.add(do.NO_MORE, place, fail=fail)
        return again, other

    # --- tables ----------------------------------------------------------------------------------

    def _rows(self, table: Table, terms: tuple[Term, ...], env: Env, fail: int, then: Then) -> None:
        """Go through the rows of a table that have what is known in their columns."""
        keys = [i for i, term in enumerate(terms) if self.find(term, env) is not None]
        order = (*keys, *(i for i in range(len(terms)) if i not in keys))
        table = replace(table, order=order, keys=len(keys))
        if table not in self.tables:
            self.tables.append(table)
        number = self.tables.index(table)
        row = self._register()
        self.add(do.ROWS, row, number, self.args([terms[i] for i in keys], env))
        again, other = self._loop(row, fail)
        for column, position in enumerate(order[len(keys) :], len(keys)):
            part = self._register()
            self.add(do.CELL, part, row, number, column)
            self.match(terms[position], part, env, other)
        if table.fluent is not None:
            pair = self._register()
            self.add(do.CELL, pair, row, number, len(terms))
            self.add(do.LASTS, pair, fail=other)
        then(env, other)
        self._place(other)
        self.add(do.NEXT_ROW, row, number)
        self.jump(again)

    # --- comparisons and numbers -----------------------------------------------------------------

    def _filter(self, literal: ec.Compare, env: Env, fail: int) -> None:
        if literal.op not in _COMPARISONS:
            raise NotCompiled(f"`{show(literal.term)}` compares terms in their standard order")
        operation, swapped = _COMPARISONS[literal.op]
        value = self.known if operation in (do.SAME, do.DIFFER) else self._number
        left, right = value(literal.left, env), value(literal.right, env)
        self.add(operation, *((right, left) if swapped else (left, right)), fail=fail)

    def _unify(self, left: Term, right: Term, env: Env, fail: int) -> None:
        for one, other in ((left, right), (right, left)):
            found = self.find(other, env)
            if found is not None:
                self.match(one, found, env, fail)
                return
        raise NotCompiled(f"`{show(left)} = {show(right)}` leaves a variable open")

    def _number(self, term: Term, env: Env) -> int:
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
        first, second = self._number(left, env), self._number(right, env)
        found = self._register()
        self.add(operation, found, first, second)
        return found
