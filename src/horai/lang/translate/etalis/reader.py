"""The reader of event rules of ETALIS: text in; rules and all that is wrong out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lark import Token, Transformer, v_args

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import atom_text, token_span
from horai.lang.core.printer import unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    DEEPEST,
    Compound,
    Constant,
    Float,
    Int,
    Span,
    Str,
    Term,
    Var,
    is_anonymous,
    variables,
)
from horai.lang.translate.codes import RELATIVE_CODES
from horai.lang.translate.etalis.syntax import (
    Absent,
    Binary,
    EtalisComparison,
    Event,
    Lasting,
    Moment,
    Pattern,
    PatternRule,
    Where,
    events,
    parts,
)
from horai.lang.translate.statements import SIGNS, Foreign, LanguageSpec, statements


@v_args(inline=True)
class Patterns(Transformer[Token, Any]):
    """Grammar rules to patterns. It keeps nothing between calls."""

    def rule(self, head: Event, _neck: Token, pattern: Pattern) -> PatternRule:
        return PatternRule(head, pattern, _outer(head, pattern))

    def bare(self, event: Event) -> Event:
        return event

    def single(self, event: Event) -> Event:
        return event

    def filtered(
        self, pattern: Pattern, _where: Token, conditions: tuple[EtalisComparison, ...]
    ) -> Where:
        return Where(pattern, conditions, _outer(pattern, conditions[-1]))

    def binary(self, left: Pattern, relation: Token, right: Pattern) -> Binary:
        return Binary(str(relation), left, right, _outer(left, right))  # type: ignore[arg-type]

    def moment(self, token: Token) -> Moment:
        return Moment(int(token), token_span(token))

    def bracketed(self, _open: Token, pattern: Pattern, _close: Token) -> Pattern:
        return pattern

    def lasting(
        self, opening: Token, pattern: Pattern, _close: Token, _dot: Token, most: Token
    ) -> Lasting:
        return Lasting(pattern, int(most), _outer(opening, most))

    def absent(self, *items: Any) -> Absent:
        inner, first, last = (item for item in items if not isinstance(item, Token))
        return Absent(inner, first, last, _outer(items[0], items[-1]))

    def event(self, name: Token, *rest: Any) -> Event:
        args = rest[1] if rest else ()
        return Event(atom_text(name), args, _outer(name, rest[-1] if rest else name))

    def terms(self, *items: Any) -> tuple[Term, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def conditions(self, *items: Any) -> tuple[EtalisComparison, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def comparison(self, left: Term, sign: Token, right: Term) -> EtalisComparison:
        return EtalisComparison(str(sign), left, right, _outer(left, right))  # type: ignore[arg-type]

    def operation(self, left: Term, sign: Token, right: Term) -> Term:
        return Compound(str(sign), (left, right), _outer(left, right))

    def inner(self, _open: Token, inside: Any, _close: Token) -> Any:
        return inside

    def constant(self, token: Token) -> Term:
        return Constant(atom_text(token), token_span(token))

    def integer(self, token: Token) -> Term:
        return Int(int(token), token_span(token))

    def decimal(self, token: Token) -> Term:
        return Float(float(token), token_span(token))

    def string(self, token: Token) -> Term:
        return Str(unquote(str(token)), token_span(token))

    def variable(self, token: Token) -> Term:
        # Every `_` is a variable of its own; its place tells it from the others.
        name = f"_#{token.start_pos}" if token == "_" else str(token)
        return Var(name, token_span(token))


def _outer(first: Any, last: Any) -> Span:
    start = token_span(first) if isinstance(first, Token) else first.span
    end = token_span(last) if isinstance(last, Token) else last.span
    return (start[0], end[1])


Predicate = tuple[str, int]


def _foreign(tokens: list[Token], wrong: int) -> Foreign | None:
    """A NOT that does not say between which events."""
    for place in range(min(wrong, len(tokens) - 1), -1, -1):
        if tokens[place].type == "NOT":
            depth, last = 0, place
            for last in range(place + 1, wrong):
                depth += {"LPAR": 1, "RPAR": -1}.get(tokens[last].type, 0)
                if depth == 0:
                    break
            if depth or not last >= wrong - 1:
                return None  # what is wrong is inside of it, or behind it
            hint = "say between which events: `NOT(b).[a, c]` is `a SEQ c` without `b` in between"
            return Foreign(place, last, "NOT stands between two events", hint)
    return None


LANGUAGE = LanguageSpec(
    "horai.lang.translate.etalis",
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
    _foreign,
)


def read_source(source: SourceText) -> tuple[list[PatternRule], list[Diagnostic]]:
    """The rules of a text, and all that is wrong with it.

    >>> rules, findings = read_source(SourceText("f", "a(X) <- x(X) SEQ (y OR z)."))
    >>> rules[0].head.name, findings
    ('a', [])
    """
    report = Report(RELATIVE_CODES)
    rules: list[PatternRule] = []
    for found in statements(LANGUAGE, source, report):
        if isinstance(found, Event):
            hint = "write `event <- pattern.`; events themselves come from the stream"
            report.add("H801", "an event without a pattern", source, found.span, hint)
        elif _depth(found.pattern) > DEEPEST:
            hint = "name the parts in rules of their own"
            report.add("H801", "this pattern is nested too deeply", source, found.span, hint)
        else:
            rules.append(PatternRule(found.head, found.pattern, found.span, source))
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


def _check_variables(rule: PatternRule, report: Report) -> None:
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


def _check_shared(rule: PatternRule, report: Report) -> None:
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


def _say_unbound(var: Var, rule: PatternRule, report: Report) -> None:
    name = "_" if is_anonymous(var) else var.name
    hint = f"let an event of the pattern carry `{name}`; of alternatives, each of them"
    report.add("H806", f"nothing gives `{name}` a value", rule.source, var.span, hint)


def _check_negation(rules: list[PatternRule], report: Report) -> None:
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
