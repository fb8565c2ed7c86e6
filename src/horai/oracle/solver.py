"""The solver: all ways to satisfy the conditions of a clause.

The order of conditions carries no meaning: at every step the solver takes the condition that can
be evaluated now and leaves fewest choices. `Stuck` means that nothing gives some variable a value.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.syntax import (
    Aggregate,
    Allen,
    And,
    Call,
    Compare,
    Duration,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    IntervalOp,
    Is,
    Literal,
    Not,
    Or,
    TerminatedAt,
    Truth,
    walk,
)
from horai.lang.terms import ListTerm, Term, Var
from horai.oracle.arithmetic import (
    EvaluationError,
    compare_numbers,
    evaluate,
    number_term,
    order_key,
)
from horai.oracle.background import TEMPORAL
from horai.oracle.builtins import BUILTINS, INPUTS, sorted_bag
from horai.oracle.calculus import CalculusConditions
from horai.oracle.context import once
from horai.oracle.errors import Stuck
from horai.oracle.knowledge import KnowledgeConditions
from horai.oracle.python_terms import parameter_count
from horai.oracle.scopes import Names
from horai.oracle.unify import Env, ground, resolve, unify
from horai.oracle.world import interval_term

ARITHMETIC = {"<", ">", "=<", ">=", "=:=", "=\\="}
LAST_RESORT = 7.0  # the rank of procedures that may not be able to run yet


class Solver(CalculusConditions, KnowledgeConditions):
    """Evaluates conditions against a world and the background knowledge."""

    def solve(self, goals: tuple[Literal, ...], env: Env) -> Iterator[Env]:
        """All environments that extend `env` and satisfy every goal."""
        if not goals:
            yield env
            return
        ranked = sorted(
            (rank, index)
            for index, goal in enumerate(goals)
            if (rank := self._rank(goal, env)) is not None
        )
        stuck: Stuck | None = None
        for rank, index in ranked:
            goal, rest = goals[index], goals[:index] + goals[index + 1 :]
            if rank < LAST_RESORT:
                yield from self._step(goal, rest, env)
                return
            try:  # a procedure that cannot run yet gives way to another one
                found = list(self._step(goal, (), env))
            except Stuck as problem:
                stuck = problem
                continue
            for extended in found:
                yield from self.solve(rest, extended)
            return
        raise stuck or Stuck(goals[0])

    def _step(self, goal: Literal, rest: tuple[Literal, ...], env: Env) -> Iterator[Env]:
        match goal:
            case And(items=items):
                yield from self.solve(items + rest, env)
            case Or(items=items):
                for item in items:
                    yield from self.solve((item, *rest), env)
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                # There is no first solution where order has no meaning: all of them count.
                met = list(self.solve((condition,), env))
                for found in met:
                    yield from self.solve((then, *rest), found)
                if not met and not self._unspoken(condition):
                    yield from self.solve((otherwise, *rest), env)
            case _:
                for found in self.evaluate(goal, env):
                    yield from self.solve(rest, found)

    def holds(self, goal: Literal, env: Env) -> bool:
        """Can the goal be satisfied?"""
        return next(self.solve((goal,), env), None) is not None

    def _unspoken(self, goal: Literal) -> bool:
        """At the very start of the run, formulas say nothing of what is absent."""
        return self.nothing_absent and self.is_temporal(goal)

    def is_temporal(self, goal: Literal) -> bool:
        """Does the condition look at events or fluents?"""
        return any(
            isinstance(part, TEMPORAL)
            or (isinstance(part, Call) and part.key in self.background.temporal)
            for part in walk(goal)
        )

    # --- when a condition can be evaluated -------------------------------------------------------

    def _rank(self, goal: Literal, env: Env) -> float | None:
        """How soon to evaluate a condition (small = now), None if it has to wait."""

        def ready(rank: float, *terms: Term) -> float | None:
            return rank if all(ground(term, env) for term in terms) else None

        match goal:
            case And() | Truth():
                return 0
            case Compare(op="="):
                return 0
            case Compare(op="\\="):
                return 0 if self._bound(self.scopes.shared(goal), env) else None
            case Compare(left=left, right=right):
                return ready(0, left, right)
            case Is(expression=expression):
                return ready(0, expression)
            case Not():
                return 1 if self._bound(self.scopes.shared(goal), env) else None
            case IfThenElse():
                return self._rank_choice(goal, env)
            case FindAll() | Aggregate():
                return 2 if self._bound(self.scopes.shared(goal), env) else None
            case IntervalOp(base=base, lists=lists):
                return ready(0, lists) if base is None else ready(0, base, lists)
            case Duration(intervals=given, bound=bound):
                return ready(0, given, bound)
            case Allen(source=source, target=target):
                return ready(0, source, target)
            case Happens(event=event, time=time):
                return ready(1, event, time) or ready(2, time) or 4
            case Edge(fvp=fvp, time=time):
                return ready(1, fvp.fluent, time) or ready(2, time) or 4
            case InitiatedAt(fvp=fvp, time=time):
                return ready(1, fvp.fluent, time) or ready(2, time) or 4
            case TerminatedAt(fvp=fvp, time=time):
                # A termination of every value names none, so others may name it first.
                named = ready(1, fvp.fluent, fvp.value, time) or ready(2, fvp.value, time)
                return named or ready(4, fvp.value) or 5.8
            case HoldsAt(fvp=fvp, time=time):
                return ready(1, fvp.fluent, time) or ready(3, time) or 6
            case HoldsFor(fvp=fvp):
                # It cannot fail, so it chooses no values where another condition can.
                return ready(2, fvp.fluent, fvp.value) or LAST_RESORT + 1
            case Or():
                return 5.5
            case Call():
                return self._rank_call(goal, env)

    def _rank_choice(self, goal: IfThenElse, env: Env) -> float | None:
        """It tests values, and finds them itself only when no other condition can."""
        if self._bound(self.scopes.shared(goal), env):
            return 1
        return LAST_RESORT + 2 if self._bound(self.scopes.asked(goal), env) else None

    def _rank_call(self, call: Call, env: Env) -> float | None:
        bound = [ground(arg, env) for arg in call.args]
        if all(bound):
            return 1
        if call.key in BUILTINS:
            return 1 if all(bound[i] for i in INPUTS[call.key]) else None
        if call.name in self.python:
            result = parameter_count(self.python[call.name]) < len(call.args)
            return 1 if result and all(bound[:-1]) else None
        if call.key in self.background.listable:
            return 3 if any(bound) else 3.5
        return 1 if call.key == ("queryTime", 1) else LAST_RESORT

    def _bound(self, shared: Names, env: Env) -> bool:
        return all(ground(Var(name), env) for name in shared)

    # --- single conditions -----------------------------------------------------------------------

    def evaluate(self, goal: Literal, env: Env) -> Iterator[Env]:
        """All environments that satisfy one condition."""
        try:
            yield from self._evaluate(goal, env)
        except EvaluationError:
            return

    def _evaluate(self, goal: Literal, env: Env) -> Iterator[Env]:
        match goal:
            case Truth(value=value):
                if value:
                    yield env
            case Not(item=item):
                if not self._unspoken(item) and not self.holds(item, env):
                    yield env
            case Compare():
                yield from self._compare(goal, env)
            case Is(target=target, expression=expression):
                yield from once(unify(target, number_term(evaluate(expression, env)), env))
            case Happens():
                yield from self._happens(goal, env)
            case Edge():
                yield from self._edge(goal, env)
            case InitiatedAt() | TerminatedAt():
                yield from self._points(goal, env)
            case HoldsAt():
                yield from self._holds_at(goal, env)
            case HoldsFor():
                yield from self._holds_for(goal, env)
            case FindAll(template=template, result=result):
                values = sorted_bag(self.collect(goal, template, env))
                yield from once(unify(result, ListTerm(values), env))
            case Aggregate():
                yield from self._aggregate(goal, env)
            case IntervalOp() | Duration() | Allen():
                computed = self._interval_operation(goal, env)
                yield from once(unify(goal.result, interval_term(computed), env))
            case Call():
                yield from self._call(goal, env)
            case _:
                yield from self._step(goal, (), env)

    def _compare(self, goal: Compare, env: Env) -> Iterator[Env]:
        if goal.op in ARITHMETIC:
            if compare_numbers(goal.op, evaluate(goal.left, env), evaluate(goal.right, env)):
                yield env
            return
        left, right = resolve(goal.left, env), resolve(goal.right, env)
        match goal.op:
            case "=":
                yield from once(unify(left, right, env))
                return
            case "\\=":
                true = unify(left, right, {}) is None
            case "\\==":
                true = left != right
            case "==":
                true = left == right
            case "@<":
                true = order_key(left) < order_key(right)
            case "@>":
                true = order_key(left) > order_key(right)
            case "@=<":
                true = order_key(left) <= order_key(right)
            case _:
                true = order_key(left) >= order_key(right)
        if true:
            yield env
