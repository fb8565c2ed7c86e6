"""Event descriptions from texts and files: the entry points of the Event Calculus reader.

Names that are probably typing mistakes are judged when all files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from horai.lang.core.diagnostics import Diagnostic, Report, nearest, sort_key
from horai.lang.core.printer import is_pair
from horai.lang.core.reader import FactsByPredicate, Load, Loader, clean, read_clauses, read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Span,
    Term,
    args_of,
    is_ground,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import (
    BODY_LITERALS,
    BUILTINS,
    DECLARATIONS,
    EVERYDAY_HEADS,
    FLUENT_HEADS,
    INTERVAL_OPERATIONS,
)
from horai.lang.ec.idioms import (
    FOREIGN,
    find_durations,
    modernise,
    recognise,
    say_passed_over,
    unused_helpers,
    with_callers,
)
from horai.lang.ec.rules import DurationForm, Key, Shape, build_rule

_HEADS = {**DECLARATIONS, **FLUENT_HEADS}
_KNOWN_HEADS = sorted(set(_HEADS) - EVERYDAY_HEADS - {"fi", "ft"})
_KNOWN_LITERALS = sorted(set(BODY_LITERALS) | {name for name, _ in BUILTINS})


def calls(rules: list[ec.Rule]) -> Iterator[tuple[ec.Call, ec.Clause]]:
    """Every call of a predicate in a body."""
    for rule in rules:
        body = ec.body_of(rule)
        for literal in ec.walk(body) if body is not None else ():
            if isinstance(literal, ec.Call):
                yield literal, rule.clause


def check_heads(description: ec.EventDescription, asked: set[Key], report: Report) -> None:
    """Find heads that look like a mistyped special head: nobody asks for them."""
    for rule in description.rules:
        if isinstance(rule, ec.BackgroundRule):
            head = rule.head
            assert isinstance(head, Constant | Compound)
            args = args_of(head)
            if (head.name, len(args)) not in asked:
                has_pair = any(is_pair(arg) for arg in args)
                _check_head(head.name, len(args), has_pair, rule.clause, report)
    for (name, arity), facts in description.facts.items():
        if (name, arity) not in asked and (meant := _meant_head(name, arity, 1)) is not None:
            source, start = facts.places[0]
            _say_head(
                name, meant, ec.Clause(None, None, (start, start + len(name)), source), report
            )


def _check_head(name: str, arity: int, has_pair: bool, clause: ec.Clause, report: Report) -> None:
    meant = nearest(name, _KNOWN_HEADS, 4) if has_pair else _meant_head(name, arity, 2)
    if meant is not None or has_pair:
        _say_head(name, meant, clause, report)


def _meant_head(name: str, arity: int, most: int) -> str | None:
    candidates = [known for known in _KNOWN_HEADS if arity in _HEADS[known]]
    return nearest(name, candidates, most)


def _say_head(name: str, meant: str | None, clause: ec.Clause, report: Report) -> None:
    start = clause.span[0]
    span: Span = (start, start + len(name))
    if meant is not None:
        hint = f"did you mean `{meant}`?"
    else:
        hint = (
            "heads with a fluent: initiatedAt, terminatedAt, holdsFor, holdsAt, initially, fi, ft"
        )
    report.add("H101", f"unknown head `{name}`", clause.source, span, hint)


def check_calls(rules: list[ec.Rule], defined: frozenset[Key], report: Report) -> None:
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


Result = tuple[ec.EventDescription, list[Diagnostic]]
Given = Path | str | SourceText
_BUILT_IN = frozenset(BUILTINS) | frozenset(INTERVAL_OPERATIONS.items())


def read_text(text: str, name: str = "<text>") -> Result:
    """The event description a text says, and all that is wrong with it.

    >>> description, findings = read_text("initiatedAt(on=true, T) :- happensAt(up, T).")
    >>> len(description.rules), findings
    (1, [])
    """
    return read_sources([SourceText(name, clean(text))])


def read_files(
    paths: Iterable[Given],
    background: Iterable[Given] = (),
    unsaved: Mapping[Path, str] | None = None,
) -> Result:
    """The event description of several files together; rules may stand in any of them.

    Files that these load with `:- ['other.prolog'].` are read too, and every file once. Texts in
    memory may stand among the files, and files may be `unsaved`: their texts count, not the disk.
    """
    builder = _Builder(())
    loader = Loader()
    waiting = list(reversed((*paths, *background)))
    while waiting:
        given = waiting.pop()
        if isinstance(given, SourceText):
            builder.read(given)
            continue
        path = Path(given)
        if not loader.is_new(path):
            continue
        source, wrong = read_file(path, unsaved)
        builder.report.extend(wrong)
        loads: list[Load] = []
        builder.read(source, loads)
        found = [loader.find(load) for load in loads]
        waiting.extend(path for path in reversed(found) if path is not None)
    builder.report.extend(loader.report.findings)
    return builder.result()


def read_sources(sources: Iterable[SourceText], findings: Iterable[Diagnostic] = ()) -> Result:
    """The event description of texts already in memory."""
    builder = _Builder(findings)
    for source in sources:
        builder.read(source)
    return builder.result()


class _Builder:
    def __init__(self, findings: Iterable[Diagnostic]) -> None:
        self.report = Report()
        self.report.extend(findings)
        self.description = ec.EventDescription()
        self.clauses: list[ec.Clause] = []
        self.replaced: set[Key] = set()

    def result(self) -> Result:
        """The description that all sources make together."""
        self.build()
        return self.description, sorted(self.report.findings, key=sort_key)

    def read(self, source: SourceText, loads: list[Load] | None = None) -> None:
        """Take in a text; the files it asks for are added to `loads`."""
        clauses, facts, wrong = read_clauses(source, loads=loads)
        self.description.sources.append(source)
        self.clauses.extend(clauses)
        self.report.extend(wrong)
        _merge(facts, self.description.facts)

    def build(self) -> None:
        """Rules from clauses; then the checks that need to see all of them."""
        self.clauses = modernise(self.clauses, self.report)
        durations = find_durations(self.clauses)
        defined = frozenset(self.description.facts) | _own_predicates(self.clauses)
        self._pass_over_foreign(defined, durations)
        private: set[tuple[str, str]] = set()
        for clause in self.clauses:
            if not self._is_replaced(clause, durations):
                self._add(clause, Shape(clause.source, self.report, defined, durations, private))
        self._keep_declared_facts({call.key for call, _ in calls(self.description.rules)})
        # Clauses are asked, not rules: also a rule with a mistake in it may need a predicate.
        asked = set().union(*(clause.mentioned for clause in self.clauses))
        check_heads(self.description, asked, self.report)
        check_calls(self.description.rules, defined, self.report)

    def _pass_over_foreign(
        self, defined: frozenset[Key], durations: dict[Key, DurationForm]
    ) -> None:
        """Leave out helpers that drive another engine, as long as no rule needs them."""
        helpers = unused_helpers(self.clauses)
        why = Report()
        foreign: set[Key] = set()
        for key, clauses in helpers.items():
            tried = Report()
            for clause in clauses:
                build_rule(clause, Shape(clause.source, tried, defined, durations))
            if any(finding.code in FOREIGN for finding in tried.findings):
                foreign.add(key)
                why.extend(tried.findings)
        if foreign:
            left_out = with_callers(foreign, helpers)
            say_passed_over(left_out, helpers, why.findings, self.report)
            self.clauses = [clause for clause in self.clauses if clause.key not in left_out]

    def _add(self, clause: ec.Clause, shape: Shape) -> None:
        rule = build_rule(clause, shape)
        if isinstance(rule, ec.BackgroundRule) and clause.body is None and is_ground(rule.head):
            self._add_fact(rule.head, clause)
        elif rule is not None:
            self.description.rules.append(rule)

    def _add_fact(self, head: Term, clause: ec.Clause) -> None:
        facts = self.description.facts.setdefault((clause.key or ("", 0)), ec.Facts())
        facts.rows.append(args_of(head))
        facts.places.append((clause.source, clause.span[0]))

    def _is_replaced(self, clause: ec.Clause, durations: dict[Key, DurationForm]) -> bool:
        """True for a definition whose place a built-in takes."""
        key, head = (clause.key or ("", 0)), clause.head
        if key in durations:
            body = clause.body
            known = isinstance(head, Compound) and body and recognise(head, body)
            if not known:
                self._warn_replaced(clause)
            return True
        if key in _BUILT_IN and key not in self.description.facts:
            self._warn_replaced(clause)
            return True
        return False

    def _warn_replaced(self, clause: ec.Clause) -> None:
        name, arity = clause.key or ("", 0)
        if (name, arity) in self.replaced:
            return
        self.replaced.add((name, arity))
        span = clause.head.span if clause.head is not None else clause.span
        message = f"`{name}/{arity}` is built in; this definition is not used"
        hint = "remove it, or give the predicate another name if it means something else"
        self.report.add("H122", message, clause.source, span, hint)

    def _keep_declared_facts(self, called: set[Key]) -> None:
        """`event(x)` is a declaration, and also a fact when some body asks for event/1."""
        for rule in list(self.description.rules):
            if not isinstance(rule, ec.Declaration) or (rule.name, len(rule.args)) not in called:
                continue
            head = rule.clause.head
            if head is None:
                continue
            if rule.clause.body is None and is_ground(head):
                self._add_fact(head, rule.clause)
            elif rule.clause.body is None:
                background = ec.BackgroundRule(
                    head, ec.Conjunction((), Constant("true")), rule.clause
                )
                self.description.rules.append(background)


def _merge(facts: FactsByPredicate, into: FactsByPredicate) -> None:
    for key, more in facts.items():
        kept = into.setdefault(key, more)
        if kept is not more:
            kept.rows.extend(more.rows)
            kept.places.extend(more.places)


def _own_predicates(clauses: list[ec.Clause]) -> set[Key]:
    """The user's own predicates: every head that has no fixed meaning of its own."""
    fixed = set(FLUENT_HEADS) - EVERYDAY_HEADS
    return {key for clause in clauses if (key := (clause.key or ("", 0)))[0] not in fixed}
