"""What cases say about rules: which rules and conditions never decide anything in them.

A rule decides something if an answer of a case is another one without it, a condition if an answer
is another one where the condition is not asked. This is tried: the rules are read again without
each of them, and the cases run again. A condition that gives a variable its value cannot be left
out alone, and decides whenever its rule does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import starmap
from typing import Any, Literal

from horai.errors import CaseError, RunError, UsageError
from horai.io import InputError
from horai.lang.core.diagnostics import RulesError
from horai.lang.core.printer import show
from horai.lang.core.source import SourceText
from horai.lang.core.terms import ListTerm, Span, Var
from horai.lang.ec.syntax import (
    BackgroundRule,
    EventRule,
    FutureInitiation,
    FutureTermination,
    HoldsAtRule,
    HoldsFor,
    HoldsForRule,
    Initially,
    Initiation,
    IntervalOp,
    Rule,
    Termination,
    conjuncts,
)
from horai.lang.ec.syntax import Literal as Condition
from horai.lang.lars.reader import read_sources
from horai.lang.lars.syntax import Rule as ProgramRule
from horai.result import Result
from horai.rules import Rules, readable, rules_of
from horai.runtime.engines import AUTO
from horai.settings import RunSettings
from horai.testing import Case, compare, prepared, run_whole

DECIDING = (
    *(Initiation, Termination, Initially, EventRule, HoldsForRule, HoldsAtRule),
    *(FutureInitiation, FutureTermination, BackgroundRule),
)
Verdict = Literal["expected", "decides", "never"]
"""A case fails without it; only answers differ that no case expects; or nothing differs."""
Edit = tuple[Span, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A rule, or a condition of one, and what the cases say about it."""

    kind: Literal["rule", "condition"]
    source: SourceText
    span: Span
    verdict: Verdict

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return self.source.position(self.span[0])[0]

    @property
    def text(self) -> str:
        """Its text in one line; of a rule the head."""
        text = " ".join(self.source.snippet(self.span).split())
        return text.partition(" :-")[0] if self.kind == "rule" else text


@dataclass(frozen=True, slots=True)
class _Without:
    """How the text looks where a part of a rule says nothing."""

    kind: Literal["rule", "condition"]
    source: SourceText
    span: Span
    edits: tuple[Edit, ...]

    def texts(self, rules: Rules) -> Iterator[tuple[str, str]]:
        """The rules without the part."""
        own = rules.program.sources if rules.language == "lars" else rules.description.sources
        for one in own:
            text = one.text
            for (first, last), new in sorted(self.edits, reverse=True):
                text = text[:first] + new + text[last:] if one is self.source else text
            yield one.name, text


@dataclass(frozen=True, slots=True)
class _Run:
    """A case with the rules it has, and what it found."""

    case: Case
    settings: RunSettings
    found: list[Any]


def cover(
    cases: Iterable[Case],
    rules: Rules | None = None,
    engine: str = AUTO,
    progress: Callable[[int, int], None] | None = None,
) -> list[Part]:
    """All rules and conditions of cases that pass, each with what the cases say about it.

    `rules` are those of cases that have none of their own. Cases that expect errors are left aside.
    """
    groups: dict[tuple[Any, ...], tuple[Rules, list[_Run]]] = {}
    for case in cases:
        if case.errors is None:
            own, given = prepared(case, engine, rules)
            asked = RunSettings.of(own.language, "run", given)
            result = run_whole(case, own, asked)
            if compare(case, result):
                hint = "only cases that pass say what rules decide"
                raise CaseError(str(case.file), [(case.line, f"this case fails: {hint}")])
            key = tuple(text for some in own.sources.values() for _, text in some)
            runs = groups.setdefault(key, (own, []))[1]
            runs.append(_Run(case, asked, _answers(result)))
    listed = [(own, runs, one) for own, runs in groups.values() for one in _parts(own)]
    found = []
    for done, (own, runs, one) in enumerate(listed, 1):
        if (verdict := _verdict(own, runs, one)) is not None:
            found.append(Part(one.kind, one.source, one.span, verdict))
        if progress is not None:
            progress(done, len(listed))
    return found


def _verdict(rules: Rules, runs: Iterable[_Run], without: _Without) -> Verdict | None:
    """What the cases say; None of a condition that cannot be left out."""
    try:
        if rules.language == "lars":
            own = readable(*read_sources(starmap(SourceText, without.texts(rules))))
        else:
            own = rules_of(without.texts(rules), rules.predicates)
    except RulesError:
        return None
    verdict: Verdict = "never"
    for run in runs:
        try:
            result = run_whole(run.case, own, run.settings)
            if compare(run.case, result):
                return "expected"
            if _answers(result) != run.found:
                verdict = "decides"
        except RulesError:
            return None
        except (InputError, RunError, UsageError):
            return "expected"
    return verdict


def _answers(result: Result) -> list[Any]:
    return [result.rows("windows"), result.rows("final")]


# --- parts of rules, and how to leave them out ----------------------------------------------------


def _parts(rules: Rules) -> Iterator[_Without]:
    if rules.language == "lars":
        for rule in rules.program.rules:
            yield from _of_program(rule)
        return
    for one in rules.description.rules:
        if isinstance(one, DECIDING):
            yield from _of_description(one)


def _of_description(rule: Rule) -> Iterator[_Without]:
    clause = rule.clause
    part = partial(_Without, source=clause.source)
    assert clause.head is not None and clause.head.span is not None
    body = None if clause.body is None else clause.body.span
    if body is None:
        after = clause.head.span[1]
        yield part("rule", span=clause.span, edits=(((after, after), " :- fail"),))
        return
    first, last = body
    yield part("rule", span=clause.span, edits=(((first, first), "fail, ("), ((last, last), ")")))
    conditions = list(conjuncts(rule.body))  # type: ignore[union-attr]
    for condition in conditions:
        span = condition.term.span
        if span is not None and first <= span[0] and span[1] <= last:
            yield part(
                "condition", span=span, edits=((span, "true"), *_unlisted(condition, conditions))
            )


def _unlisted(condition: Condition, conditions: Iterable[Condition]) -> Iterator[Edit]:
    """The intervals of a condition are not in the lists of others either."""
    if not isinstance(condition, HoldsFor) or not isinstance(condition.intervals, Var):
        return
    for other in conditions:
        if isinstance(other, IntervalOp) and isinstance(other.lists, ListTerm):
            items, span = other.lists.items, other.lists.span
            kept = [item for item in items if item != condition.intervals]
            if span is not None and len(kept) < len(items) and other.lists.tail is None:
                yield span, f"[{', '.join(map(show, kept))}]"


def _of_program(rule: ProgramRule) -> Iterator[_Without]:
    if rule.source is None or rule.span is None or not rule.body:
        return
    spans = [one.span for one in rule.body if one.span is not None]
    part = partial(_Without, source=rule.source)
    first = spans[0][0]
    yield part("rule", span=rule.span, edits=(((first, first), "false, "),))
    for span in spans:
        yield part("condition", span=span, edits=((span, "true"),))
