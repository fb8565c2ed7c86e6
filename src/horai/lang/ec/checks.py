"""What can be judged only when all files are read: names that are probably typing mistakes."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.builtins import (
    BODY_LITERALS,
    BUILTINS,
    DECLARATIONS,
    EVERYDAY_HEADS,
    FLUENT_HEADS,
)
from horai.lang.ec.fvp import Key
from horai.lang.ec.names import nearest
from horai.lang.ec.syntax import (
    And,
    BackgroundRule,
    Call,
    Clause,
    EventDescription,
    Rule,
    walk,
)
from horai.lang.operators import is_pair
from horai.lang.report import Report
from horai.lang.terms import Atom, Compound, Span, functor, subterms

_HEADS = {**DECLARATIONS, **FLUENT_HEADS}
_KNOWN_HEADS = sorted(set(_HEADS) - EVERYDAY_HEADS - {"fi", "ft"})
_KNOWN_LITERALS = sorted(set(BODY_LITERALS) | {name for name, _ in BUILTINS})


def calls(rules: list[Rule]) -> Iterator[tuple[Call, Clause]]:
    """Every call of a predicate in a body."""
    for rule in rules:
        body = getattr(rule, "body", None)
        if isinstance(body, And):
            for literal in walk(body):
                if isinstance(literal, Call):
                    yield literal, rule.clause


def mentioned(clauses: list[Clause]) -> set[Key]:
    """Every name in a body, wherever it stands.

    This looks at clauses, not at rules: also a rule with a mistake in it may ask for a predicate.
    """
    bodies = (clause.body for clause in clauses if clause.body is not None)
    keys = (functor(part) for body in bodies for part in subterms(body))
    return {key for key in keys if key is not None}


def check_heads(description: EventDescription, asked: set[Key], report: Report) -> None:
    """Find heads that look like a mistyped special head: nobody asks for them."""
    for rule in description.rules:
        if isinstance(rule, BackgroundRule):
            head = rule.head
            assert isinstance(head, Atom | Compound)
            args = head.args if isinstance(head, Compound) else ()
            if (head.name, len(args)) not in asked:
                has_pair = any(is_pair(arg) for arg in args)
                _check_head(head.name, len(args), has_pair, rule.clause, report)
    for (name, arity), facts in description.facts.items():
        if (name, arity) not in asked and (meant := _meant_head(name, arity, 1)) is not None:
            source, start = facts.places[0]
            _say_head(name, meant, Clause(None, None, (start, start + len(name)), source), report)


def _check_head(name: str, arity: int, has_pair: bool, clause: Clause, report: Report) -> None:
    meant = nearest(name, _KNOWN_HEADS, 4) if has_pair else _meant_head(name, arity, 2)
    if meant is not None or has_pair:
        _say_head(name, meant, clause, report)


def _meant_head(name: str, arity: int, most: int) -> str | None:
    candidates = [known for known in _KNOWN_HEADS if arity in _HEADS[known]]
    return nearest(name, candidates, most)


def _say_head(name: str, meant: str | None, clause: Clause, report: Report) -> None:
    start = clause.span[0]
    span: Span = (start, start + len(name))
    if meant is not None:
        hint = f"did you mean `{meant}`?"
    else:
        hint = (
            "heads with a fluent: initiatedAt, terminatedAt, holdsFor, holdsAt, initially, fi, ft"
        )
    report.add("H101", f"unknown head `{name}`", clause.source, span, hint)


def check_calls(rules: list[Rule], defined: frozenset[Key], report: Report) -> None:
    """Find calls of undefined predicates that look like a mistyped built-in."""
    for call, clause in calls(rules):
        if call.key in defined or call.key in BUILTINS:
            continue
        meant = nearest(call.name, _KNOWN_LITERALS, 2)
        if meant is None or not _fits(meant, len(call.args)):
            continue
        span = call.term.span
        if span is not None:
            span = (span[0], span[0] + len(call.name))
        message = f"unknown condition `{call.name}`"
        report.add("H111", message, clause.source, span, f"did you mean `{meant}`?")


def _fits(name: str, arity: int) -> bool:
    return arity in BODY_LITERALS.get(name, ()) or (name, arity) in BUILTINS
