"""How a LARS program is worked out: its fragment, who runs it and why, rules in their order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.lars.predicates import head_predicates, is_fact
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    At,
    Atom,
    Comparison,
    Formula,
    Not,
    Program,
    Rule,
    Within,
)
from horai.plan.lars.check import all_named, written_at
from horai.plan.lars.dependencies import graph
from horai.plan.lars.fragments import Classification, classify
from horai.runtime.lars.engines import EngineChoice, choose_engine


@dataclass(frozen=True, slots=True)
class LarsRuleOutline:
    """A rule: where it stands, what it says, and an operator for each of its conditions."""

    place: str | None
    text: str
    steps: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PredicateLayer:
    """Predicates that are settled together, in their order; constraints come last, without any."""

    predicates: tuple[str, ...]
    recursive: bool
    rules: tuple[LarsRuleOutline, ...]


@dataclass(frozen=True, slots=True)
class LarsOutline:
    """All that is said about a program."""

    kind: Classification
    engine: EngineChoice
    layers: tuple[PredicateLayer, ...]


def outline_of(program: Program, written: Program) -> LarsOutline:
    """The outline of a program whose windows are measured in time points.

    What is shown is what was `written`: without the rules that stand for `_` under `not`.
    """
    return LarsOutline(classify(program), choose_engine(program)[0], tuple(_layers(written)))


def _layers(program: Program) -> Iterator[PredicateLayer]:
    needs = graph(program)
    rules = [rule for rule in program.rules if not is_fact(rule)]
    for together in reversed(needs.components()):
        own = [rule for rule in rules if head_predicates(rule) & together]
        recursive = len(together) > 1 or any(needs.has_edge(one, one) for one in together)
        if own:
            yield PredicateLayer(tuple(all_named(together)), recursive, tuple(map(_rule, own)))
    constraints = [rule for rule in rules if not head_predicates(rule)]
    if constraints:
        yield PredicateLayer((), False, tuple(map(_rule, constraints)))


def _rule(rule: Rule) -> LarsRuleOutline:
    steps = tuple((_operator(part), show(part)) for part in rule.body)
    return LarsRuleOutline(written_at(rule), show_rule(rule), steps)


def _operator(formula: Formula) -> str:
    """What becomes of a condition; see the table in the documentation of engines."""
    match formula:
        case Not(formula=inner):
            return f"take out: {_operator(inner)}"
        case Comparison(sign="="):
            return "compute"
        case Comparison():
            return "compare"
        case Aggregate(function=function):
            return f"{function} of pieces"
        case Atom():
            return "join"
        case At(formula=Atom()):
            return "join with points"
        case Within(window=window, formula=inner):
            points = " with points" if isinstance(inner, At) else ""
            return f"{window.operator(isinstance(inner, Always))}{points}"
        case _:
            return "formula"
