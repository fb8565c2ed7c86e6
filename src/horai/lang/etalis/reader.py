"""Reading event rules: text in; rules and all that is wrong out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from horai.lang.depth import DEEPEST
from horai.lang.diagnostics import Diagnostic, sort_key
from horai.lang.etalis.grammar import Patterns
from horai.lang.etalis.syntax import (
    Absent,
    Binary,
    Event,
    EventRule,
    Pattern,
    Where,
    events,
    parts,
)
from horai.lang.relative_codes import RELATIVE_CODES
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.statements import SIGNS, Language, statements
from horai.lang.terms import Term, Var, is_anonymous, variables

Predicate = tuple[str, int]

LANGUAGE = Language(
    "horai.lang.etalis",
    "etalis.lark",
    Patterns,
    {
        "NAME": "a name",
        "INT": "a number",
        "DECIMAL": "a number",
        "VAR": "a variable",
        "STRING": "a text",
        "RELATION": "`SEQ`",
        "COMPARE": "a comparison",
        "ADD": "`+`",
        "MUL": "`*`",
        **SIGNS,
    },
    ".",
)


def read_source(source: Source) -> tuple[list[EventRule], list[Diagnostic]]:
    """The rules of a text, and all that is wrong with it.

    >>> rules, findings = read_source(Source("f", "a(X) <- x(X) SEQ (y OR z)."))
    >>> rules[0].head.name, findings
    ('a', [])
    """
    report = Report(RELATIVE_CODES)
    rules: list[EventRule] = []
    for found in statements(LANGUAGE, source, report):
        if isinstance(found, Event):
            hint = "write `event <- pattern.`; events themselves come from the stream"
            report.add("H801", "an event without a pattern", source, found.span, hint)
        elif _depth(found.pattern) > DEEPEST:
            hint = "name the parts in rules of their own"
            report.add("H801", "this pattern is nested too deeply", source, found.span, hint)
        else:
            rules.append(EventRule(found.head, found.pattern, found.span, source))
    for rule in rules:
        _check_variables(rule, report)
        _check_shared(rule, report)
    _check_negation(rules, report)
    return rules, sorted(report.findings, key=sort_key)


def bound(pattern: Pattern) -> set[str]:
    """The variables that a pattern gives values to, whatever makes it hold."""
    match pattern:
        case Event(args=args):
            return {name for arg in args for name in variables(arg)}
        case Binary(relation="OR", left=left, right=right):
            return bound(left) & bound(right)
        case Absent(first=first, last=last):
            return bound(first) | bound(last)
        case _:
            return set().union(*map(bound, parts(pattern)))


def _check_variables(rule: EventRule, report: Report) -> None:
    """Variables of heads and conditions need values."""
    everywhere = {var.name for var in _occurrences(rule.pattern)}
    for var in [var for arg in rule.head.args for var in variables(arg).values()]:
        if var.name not in everywhere:  # otherwise the checks below tell why it is not enough
            _say_unbound(var, rule, report)
    for where in _subpatterns(rule.pattern):
        if not isinstance(where, Where):
            continue
        inside = bound(where.pattern)
        for condition in where.conditions:
            for side in (condition.left, condition.right):
                for var in variables(side).values():
                    if var.name not in inside:
                        _say_unbound(var, rule, report)


def _check_shared(rule: EventRule, report: Report) -> None:
    """What one alternative or an absence alone speaks of cannot stand elsewhere in the rule."""
    everywhere = Counter(var.name for var in _occurrences(rule.pattern))
    everywhere.update(name for arg in rule.head.args for name in variables(arg))
    for part in _subpatterns(rule.pattern):
        match part:
            case Binary(relation="OR", left=left, right=right):
                known = bound(left) & bound(right)
            case Absent(first=first, last=last):
                known = bound(first) | bound(last)
            case _:
                continue
        inside = Counter(var.name for var in _occurrences(part))
        told: set[str] = set()
        for var in _occurrences(part):
            shared = everywhere[var.name] > inside[var.name]
            if shared and var.name not in known | told:
                told.add(var.name)
                _say_unbound(var, rule, report)


def _subpatterns(pattern: Pattern) -> Iterator[Pattern]:
    yield pattern
    for part in parts(pattern):
        yield from _subpatterns(part)


def _occurrences(pattern: Pattern) -> Iterator[Var]:
    for part in _subpatterns(pattern):
        terms: list[Term] = []
        if isinstance(part, Event):
            terms.extend(part.args)
        elif isinstance(part, Where):
            terms.extend(side for c in part.conditions for side in (c.left, c.right))
        for term in terms:
            yield from variables(term).values()


def _say_unbound(var: Var, rule: EventRule, report: Report) -> None:
    name = "_" if is_anonymous(var) else var.name
    hint = f"let an event of the pattern carry `{name}`; of alternatives, each of them"
    report.add("H806", f"nothing gives `{name}` a value", rule.source, var.span, hint)


def _check_negation(rules: list[EventRule], report: Report) -> None:
    """An event may need itself, but not through a pattern with NOT."""
    needs: dict[Predicate, set[Predicate]] = {}
    for rule in rules:
        found = {_predicate(event) for event in events(rule.pattern)}
        needs.setdefault(_predicate(rule.head), set()).update(found)
    for rule in rules:
        head = _predicate(rule.head)
        for absent in _subpatterns(rule.pattern):
            for event in events(absent) if isinstance(absent, Absent) else ():
                if head in _reached(_predicate(event), needs):
                    message = f"`{rule.head.name}` needs itself, through NOT"
                    hint = "let the events of a NOT depend on other events only"
                    report.add("H805", message, rule.source, event.span, hint)


def _reached(start: Predicate, needs: dict[Predicate, set[Predicate]]) -> set[Predicate]:
    found, waiting = {start}, [start]
    while waiting:
        for other in needs.get(waiting.pop(), set()) - found:
            found.add(other)
            waiting.append(other)
    return found


def _predicate(event: Event) -> Predicate:
    return (event.name, len(event.args))


def _depth(pattern: Pattern) -> int:
    level, depth = [pattern], 0
    while level:
        level = [part for outer in level for part in parts(outer)]
        depth += 1
    return depth
