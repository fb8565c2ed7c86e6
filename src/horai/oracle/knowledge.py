"""Conditions over background knowledge, Python predicates and aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from horai.lang.ec.syntax import (
    Aggregate,
    BackgroundRule,
    Call,
    FindAll,
    Literal,
    Not,
    conjuncts,
    walk,
)
from horai.lang.terms import Atom, Compound, Int, ListTerm, Term, Var, variables
from horai.oracle.arithmetic import evaluate, largest, number_term, smallest, total
from horai.oracle.background import Row, Table
from horai.oracle.builtins import BUILTINS, sorted_bag, standard_order
from horai.oracle.context import Context, once
from horai.oracle.errors import Endless, IllegalCycle, PredicateFailed, blaming
from horai.oracle.python_terms import parameter_count, to_python, to_term
from horai.oracle.scopes import names
from horai.oracle.unify import Env, resolve, unify, unify_all
from horai.oracle.world import Key

MAX_DEPTH = 500  # calls of procedures inside each other
MAX_ROWS = 100_000  # of one listed predicate

_fresh = count()


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
            case "sum":
                result = number_term(total(evaluate(value, {}) for value in values))
            case kind:
                if not values:  # nothing is largest or smallest among nothing
                    return
                pick = largest if kind == "max" else smallest
                result = number_term(pick([evaluate(value, {}) for value in values]))
        yield from once(unify(goal.result, result, env))

    def _call(self, goal: Call, env: Env) -> Iterator[Env]:
        if goal.key in BUILTINS:
            yield from BUILTINS[goal.key](goal.args, env)
        elif goal.name in self.python:
            yield from self._python(goal, env)
        elif goal.key == ("queryTime", 1):
            yield from once(unify(goal.args[0], Int(self.world.query), env))
        elif goal.key in self.background.listable:
            yield from self.table(goal.key).match(goal.args, env)
        else:
            yield from self._unfold(goal, env)

    # --- predicates that can be listed -----------------------------------------------------------

    def table(self, key: Key) -> Table:
        """All rows of a predicate that can be listed, recursion included."""
        if key not in self._tables:
            for member in self.background.group[key] or [key]:
                self._tables[member] = self._stated(member)
            if self.background.group[key]:
                self._fill(self.background.group[key])
        return self._tables[key]

    def _stated(self, key: Key) -> Table:
        """What needs no rule: facts, and members that the input puts into a dynamic domain."""
        facts = self.background.facts.get(key)
        members = self.dynamic.get(key)
        if facts is not None and not members and key not in self.background.rules:
            return facts
        return Table([*(facts.rows if facts else ()), *(members or ())])

    def _fill(self, group: list[Key]) -> None:
        """Apply the rules of predicates that call each other until they say nothing new.

        After the first round only what the round before found can lead to something new.
        """
        rules = [(key, rule) for key in group for rule in self.background.rules[key]]
        for _, rule in rules:
            _refuse_unstratified(rule, group)
        news: dict[Key, list[Row]] | None = None
        while news is None or any(news.values()):
            found: dict[Key, list[Row]] = {key: [] for key in group}
            for key, rule in rules:
                args = rule.head.args if isinstance(rule.head, Compound) else ()
                table = self._tables[key]
                with blaming(rule.clause):
                    for env in self._derive(rule, group, news):
                        row = tuple(resolve(arg, env) for arg in args)
                        if table.add(row):
                            found[key].append(row)
                    if len(table.rows) > MAX_ROWS:
                        raise Endless(f"{key[0]}/{key[1]} has too many rows, or no last one")
            news = found

    def _derive(
        self, rule: BackgroundRule, group: list[Key], news: dict[Key, list[Row]] | None
    ) -> list[Env]:
        """Solutions of a rule that use a new row; all of them in the first round."""
        goals = tuple(conjuncts(rule.body))
        inside = [i for i, goal in enumerate(goals) if _calls(goal, group)]
        if news is None or any(not isinstance(goals[i], Call) for i in inside):
            return list(self.solve(goals, {}))
        found: list[Env] = []
        for index in inside:
            goal = goals[index]
            rest = goals[:index] + goals[index + 1 :]
            for row in news[goal.key] if isinstance(goal, Call) else ():
                env = unify_all(goal.args, row, {}) if isinstance(goal, Call) else None
                if env is not None:
                    found.extend(self.solve(rest, env))
        return found

    # --- procedures ------------------------------------------------------------------------------

    def _unfold(self, goal: Call, env: Env) -> Iterator[Env]:
        """A procedure: its clauses in the place of the call, with variables of their own."""
        if self._depth >= MAX_DEPTH:
            raise Endless(f"{goal.name}/{len(goal.args)} calls itself too often, or without end")
        args = tuple(_apart(resolve(arg, env)) for arg in goal.args)
        answers: dict[tuple[Term, ...], None] = {}
        self._depth += 1
        try:
            for found in self._stated(goal.key).match(args, {}):
                answers[tuple(resolve(arg, found) for arg in args)] = None
            for rule in self.background.rules.get(goal.key, ()):
                for found in self._clause(rule, args):
                    answers[tuple(resolve(arg, found) for arg in args)] = None
        finally:
            self._depth -= 1
        for answer in answers:
            yield from once(unify_all(goal.args, tuple(map(_unlike_any, answer)), env))

    def _clause(self, rule: BackgroundRule, args: tuple[Term, ...]) -> list[Env]:
        head = rule.head.args if isinstance(rule.head, Compound) else ()
        inside = unify_all(head, args, {})
        if inside is None:
            return []
        with blaming(rule.clause):
            return list(self.solve((rule.body,), inside))

    def _python(self, goal: Call, env: Env) -> Iterator[Env]:
        function = self.python[goal.name]
        values = [to_python(resolve(arg, env)) for arg in goal.args]
        tests = parameter_count(function) == len(values)
        try:
            result = function(*values) if tests else function(*values[:-1])
            answer = None if tests or result is None else to_term(result)
        except Exception as error:  # whatever the user's code raises
            raise PredicateFailed(f"the Python predicate {goal.name} failed: {error}") from error
        if answer is not None:
            yield from once(unify(goal.args[-1], answer, env))
        elif tests and result:
            yield env


def _refuse_unstratified(rule: BackgroundRule, group: list[Key]) -> None:
    """Negation and aggregation need what is below them complete, which a cycle never is."""
    for part in walk(rule.body):
        if isinstance(part, Not | FindAll | Aggregate):
            for inner in walk(part):
                if isinstance(inner, Call) and inner.key in group:
                    name, arity = inner.key
                    error = IllegalCycle(f"{name}/{arity} depends on its own absence or total")
                    error.clause = rule.clause
                    raise error


def _calls(goal: Literal, group: list[Key]) -> bool:
    """Does the condition ask for a predicate of the group?"""
    return any(isinstance(part, Call) and part.key in group for part in walk(goal))


def _apart(term: Term) -> Term:
    """Free variables of a call get names that no clause uses."""
    free = variables(term)
    return resolve(term, {name: Var("^" + name) for name in free}) if free else term


def _unlike_any(term: Term) -> Term:
    """Variables that an answer leaves open must not be taken for variables of the caller."""
    free = [name for name in variables(term) if not name.startswith("^")]
    return resolve(term, {name: Var(f"^^{next(_fresh)}") for name in free}) if free else term
