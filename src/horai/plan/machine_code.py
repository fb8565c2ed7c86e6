"""From operators to the instructions of a machine.

Every way to make a body true is tried: an operator that can succeed in several ways becomes a loop,
and whatever fails goes back to the innermost loop. So `fail` is where the next way is looked for,
and what follows an operator is handed to it as a function that adds the rest of the code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from horai.lang.printer import show
from horai.lang.terms import Int, Term, Var
from horai.plan import opcodes as do
from horai.plan import operators as op
from horai.plan.machine_values import Values
from horai.plan.machine_words import Candidates, Env, Index, NotCompiled, Step, Table
from horai.plan.scopes import names

Then = Callable[[Env, int], None]
# What costs no more as an instruction.
_PLAIN = (op.Filter, op.Unify, op.Extend, op.Truth)

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
                case op.Procedure() | op.Aggregate() | op.Lookup():
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
            case op.Facts(key=key, terms=terms):
                self._rows(Table(facts=key), terms, env, fail, then)
            case Candidates(plan=plan, columns=columns):
                terms = tuple(Var(name) for name in columns)
                self._rows(Table(rule=plan, columns=columns), terms, env, fail, then)
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
            case op.Truth(value=True):
                then(env, fail)
            case op.Truth():
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
            case op.Choice(condition=condition, then=yes, otherwise=no):
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

    def _rows(self, table: Table, terms: tuple[Term, ...], env: Env, fail: int, then: Then) -> None:
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
