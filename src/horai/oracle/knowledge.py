"""Conditions over background knowledge, Python predicates and aggregates."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.syntax import Aggregate, Call, FindAll
from horai.lang.terms import Atom, Compound, Int, ListTerm, Term, Var, variables
from horai.oracle.arithmetic import evaluate, number_term
from horai.oracle.background import Table
from horai.oracle.builtins import BUILTINS, sorted_bag, standard_order
from horai.oracle.context import Context, once
from horai.oracle.python_terms import parameter_count, to_python, to_term
from horai.oracle.scopes import names
from horai.oracle.unify import Env, resolve, unify, unify_all
from horai.oracle.world import Key

MAX_DEPTH = 200


class KnowledgeConditions(Context):
    """How calls and aggregates are satisfied."""

    def collect(self, goal: FindAll | Aggregate, template: Term, env: Env) -> list[Term]:
        """The template for every different way to satisfy the goal."""
        inner = sorted(names(goal.goal.term) | names(template))
        seen: dict[tuple[Term, ...], Term] = {}
        for found in self.solve((goal.goal,), env):
            solution = tuple(resolve(Var(name), found) for name in inner)
            seen[solution] = resolve(template, found)
        return list(seen.values())

    def _aggregate(self, goal: Aggregate, env: Env) -> Iterator[Env]:
        values = self.collect(goal, goal.template or Atom("count"), env)
        match goal.kind:
            case "count":
                result: Term = Int(len(values))
            case "bag":
                result = ListTerm(sorted_bag(values))
            case "set":
                result = ListTerm(standard_order(tuple(values)))
            case kind:
                numbers = [evaluate(value, {}) for value in values]
                if not numbers and kind != "sum":
                    return
                if kind == "sum":
                    result = number_term(sum(numbers))
                else:
                    result = number_term(max(numbers) if kind == "max" else min(numbers))
        yield from once(unify(goal.result, result, env))

    def _call(self, goal: Call, env: Env) -> Iterator[Env]:
        if goal.key in BUILTINS:
            yield from BUILTINS[goal.key](goal.args, env)
        elif goal.name in self.python:
            yield from self._python(goal, env)
        elif goal.key == ("queryTime", 1):
            yield from once(unify(goal.args[0], Int(self.world.query), env))
        elif goal.key in self.dynamic:
            yield from self.dynamic[goal.key].match(goal.args, env)
        elif goal.key in self.background.listable:
            yield from self.table(goal.key).match(goal.args, env)
        else:
            yield from self._unfold(goal, env)

    def table(self, key: Key) -> Table:
        """All rows of a predicate that can be listed, recursion included."""
        done = self._tables.get(key)
        if done is not None:
            return done
        facts = self.background.facts.get(key)
        rules = self.background.rules.get(key, [])
        if facts is not None and not rules:
            self._tables[key] = facts
            return facts
        table = self._tables[key] = Table(list(facts.rows) if facts else [])
        self._open_tables.add(key)
        self._fill(key, table)
        self._open_tables.discard(key)
        if self._open_tables:  # inside somebody's recursion: complete only when that is
            del self._tables[key]
        return table

    def _fill(self, key: Key, table: Table) -> None:
        grown = True
        while grown:
            grown = False
            for rule in self.background.rules[key]:
                args = rule.head.args if isinstance(rule.head, Compound) else ()
                for env in list(self.solve((rule.body,), {})):
                    grown |= table.add(tuple(resolve(arg, env) for arg in args))

    def _unfold(self, goal: Call, env: Env) -> Iterator[Env]:
        """A procedure: its clauses in the place of the call, with variables of their own."""
        if self._depth > MAX_DEPTH:
            raise RecursionError(f"{goal.name}/{len(goal.args)} calls itself without end")
        args = tuple(_apart(resolve(arg, env)) for arg in goal.args)
        self._depth += 1
        try:
            facts = self.background.facts.get(goal.key)
            if facts is not None:
                yield from facts.match(goal.args, env)
            for rule in self.background.rules.get(goal.key, ()):
                head = rule.head.args if isinstance(rule.head, Compound) else ()
                inside = unify_all(head, args, {})
                if inside is None:
                    continue
                for found in list(self.solve((rule.body,), inside)):
                    answer = tuple(resolve(arg, found) for arg in args)
                    yield from once(unify_all(goal.args, answer, env))
        finally:
            self._depth -= 1

    def _python(self, goal: Call, env: Env) -> Iterator[Env]:
        function = self.python[goal.name]
        values = [to_python(resolve(arg, env)) for arg in goal.args]
        if parameter_count(function) == len(goal.args):
            if function(*values):
                yield env
            return
        result = function(*values[:-1])
        if result is not None:
            yield from once(unify(goal.args[-1], to_term(result), env))


def _apart(term: Term) -> Term:
    """Free variables of a call get names that no clause uses."""
    free = variables(term)
    return resolve(term, {name: Var("^" + name) for name in free}) if free else term
