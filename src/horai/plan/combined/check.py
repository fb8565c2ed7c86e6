"""Checks of combined rules, that the description and the program fit; codes H900 to H999."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from horai.lang.core.diagnostics import Diagnostic, diagnostic
from horai.lang.core.printer import show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Constant, Span
from horai.lang.ec.syntax import EventDescription
from horai.lang.lars.predicates import body_atoms, derived, head_predicates, inputs
from horai.lang.lars.syntax import Predicate, Program, Rule
from horai.lang.lars.walk import windows
from horai.plan.check.context import arguments, listed
from horai.plan.combined.stages import CombinedNode, Cycle, Exchange, stages
from horai.plan.ec.entities import Entities, Entity, Kind

_TRUE = Constant("true")


def check(
    description: EventDescription,
    entities: Entities,
    program: Program,
    passing: Exchange,
    has_clock: bool,
) -> list[Diagnostic]:
    """All that is wrong between the two; each by itself has been checked before."""
    found = [
        *_defined_twice(entities, program),
        *_other_numbers(entities, program, passing),
        *_without_value(passing, program),
        *([] if has_clock else _unclocked(program)),
    ]
    try:
        stages(description, program, passing)
    except Cycle as cycle:
        found.append(_cycle(cycle, program))
    strangers = not passing and not found
    return [*found, *(_strangers(program) if strangers else ())]


def _finding(
    code: str, message: str, place: tuple[SourceText | None, Span | None], hint: str, note: str = ""
) -> Diagnostic:
    return diagnostic(code, message, *place, hint, note or None)


def _defined_twice(entities: Entities, program: Program) -> Iterator[Diagnostic]:
    """H900: both have rules for it."""
    for rule in program.rules:
        for name, arity in sorted(head_predicates(rule)):
            for entity in (entities.events.get((name, arity)), entities.fluents.get((name, arity))):
                if entity is None or entity.is_input:
                    continue
                what = "an event" if entity.kind is Kind.EVENT else "a fluent"
                message = f"{name}/{arity} is {what} of the description, too"
                note = f"it is defined in {entity.defined[0].clause.place}"
                hint = "give one of them another name"
                yield _finding("H900", message, (rule.source, rule.span), hint, note)


def _cycle(cycle: Cycle, program: Program) -> Diagnostic:
    """H901: no order of languages."""
    # Who reads a name and who derives it is one step for people.
    own = [
        node
        for node, after in pairwise(cycle.nodes)
        if node.name != after.name or node.language == after.language
    ]
    way = " -> ".join(map(str, [*own, cycle.nodes[-1]]))
    message = f"description and program read each other in a circle: {way}"
    hint = "break the circle: say one of the rules in the other language"
    return _finding("H901", message, _rule_of(cycle.nodes[0], program), hint)


def _rule_of(node: CombinedNode, program: Program) -> tuple[SourceText | None, Span | None]:
    for rule in program.rules:
        if (node.name, node.arity) in head_predicates(rule):
            return rule.source, rule.span
    return _mention(program, (node.name, node.arity))


def _strangers(program: Program) -> Iterator[Diagnostic]:
    """H902: nothing passes."""
    source = program.sources[0] if program.sources else None
    message = "nothing passes between the description and the program"
    hint = "names and numbers of arguments must agree in both"
    yield _finding("H902", message, (source, None), hint)


def _other_numbers(entities: Entities, program: Program, passing: Exchange) -> Iterator[Diagnostic]:
    """H903: a name that the other language derives, with other arguments."""
    met = {one.predicate for one in passing.to_program}
    for predicate in sorted(inputs(program) - met):
        alike = [entity for entity in entities.outputs if entity.name == predicate[0]]
        if alike:
            message = f"{predicate[0]} has {arguments(predicate[1])} here, and " + _has(alike)
            hint = "give it the arguments it has in the description"
            yield _finding("H903", message, _mention(program, predicate), hint)
    given = {id(one.entity) for one in passing.to_description}
    for entity in entities.inputs:
        sizes = sorted(arity for name, arity in derived(program) if name == entity.name)
        if sizes and id(entity) not in given and entity.used:
            mention = entity.used[0]
            there = listed((arguments(size) for size in sizes), "or")
            here = arguments(entity.arity)
            message = f"{entity.name} has {here} here, and {there} in the program"
            place = (mention.clause.source, mention.term.span or mention.clause.span)
            yield _finding("H903", message, place, "give it the arguments it has in the program")


def _has(alike: list[Entity]) -> str:
    forms = [
        arguments(entity.arity) + (" and a value" if entity.kind is Kind.FLUENT else "")
        for entity in alike
    ]
    return f"{listed(forms, 'or')} in the description"


def _without_value(passing: Exchange, program: Program) -> Iterator[Diagnostic]:
    """H904: it asks for `true`, which the fluent never is."""
    for one in passing.to_program:
        entity = one.entity
        if not one.is_fluent or one.with_value or entity.is_input or entity.computed:
            continue
        if entity.values and _TRUE not in entity.values:
            values = listed(map(show, entity.values), "or")
            message = f"the fluent {entity.name} is {values}, and never true"
            name, arity = one.predicate
            args = ", ".join([*(f"X{i + 1}" for i in range(arity)), "Value"])
            hint = f"ask for its value, too: {name}({args})"
            yield _finding("H904", message, _mention(program, one.predicate), hint)


def _unclocked(program: Program) -> Iterator[Diagnostic]:
    """H905: seconds that are no time points."""
    for rule in program.rules:
        for window in (one.window for one in windows(rule)):
            units = [one.unit for one in window.durations if one.unit is not None]
            if units:
                message = f"a window in {units[0]}, and nothing says how long a time point is"
                hint = "say it: --clock 1s, or --unit for times that are dates"
                yield _finding("H905", message, (rule.source, window.span or rule.span), hint)


def _mention(program: Program, predicate: Predicate) -> tuple[SourceText | None, Span | None]:
    """The first condition that asks for a predicate."""
    for rule in program.rules:
        for atom in body_atoms(rule):
            if atom.predicate == predicate:
                return rule.source, atom.span or rule.span
    return _first(program.rules)


def _first(rules: tuple[Rule, ...]) -> tuple[SourceText | None, Span | None]:
    return (rules[0].source, rules[0].span) if rules else (None, None)
