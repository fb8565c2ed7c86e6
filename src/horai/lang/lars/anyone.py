"""`not b(_)`: there is no `b` at all.

A variable under `not` needs a value from elsewhere; `_` cannot have one. What is meant is a rule of
its own, and this is where it is made: `h :- not b(X, _) [3 s].` becomes

    h :- not horai_any_1(X).    horai_any_1(X) :- b(X, _) [3 s].
"""

from __future__ import annotations

from dataclasses import replace

from horai.lang.lars.syntax import Atom, Formula, Not, Program, Rule
from horai.lang.lars.walk import formula_variables
from horai.lang.terms import Var, is_anonymous

PREFIX = "horai_any_"


def asks_for_any(condition: Formula) -> bool:
    """True for a negation with `_` in it."""
    return isinstance(condition, Not) and any(
        is_anonymous(var) for var in formula_variables(condition).values()
    )


def with_rules_for_any(program: Program) -> Program:
    """The program without `_` under `not`, and with the rules that this takes."""
    if not any(asks_for_any(condition) for rule in program.rules for condition in rule.body):
        return program
    made: list[Rule] = []
    rules: list[Rule] = []
    for rule in program.rules:
        body = tuple(_named(condition, rule, made) for condition in rule.body)
        rules.append(replace(rule, body=body))
    return replace(program, rules=(*rules, *made))


def _named(condition: Formula, rule: Rule, made: list[Rule]) -> Formula:
    if not asks_for_any(condition):
        return condition
    assert isinstance(condition, Not)
    kept: list[Var] = [v for v in formula_variables(condition).values() if not is_anonymous(v)]
    head = Atom(f"{PREFIX}{len(made) + 1}", tuple(kept), condition.span)
    made.append(Rule(head, (condition.formula,), condition.span, rule.source))
    return Not(head, condition.span)


def is_made(name: str) -> bool:
    """True for a predicate that was made here, and that nobody asked for."""
    return name.startswith(PREFIX)
