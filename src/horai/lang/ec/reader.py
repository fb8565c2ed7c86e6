"""Event descriptions from texts and files: the entry points of the Event Calculus reader.

Names that are probably typing mistakes are judged when all files are read. Idioms of older event
descriptions are rewritten before rules are built:

- `maxDuration(F=V, F=V2, R)` is an older name of `fi`, and `maxDurationUE` of `fi` with `p`.
- Definitions of statically determined fluents cut away the rest of the work when some list is
  empty, and give the empty list in a second clause. Several rules mean their union here, so the
  second clause adds nothing and the cut may go.
- `initiatedAt(F=V, T1, -1, T2) :- T1=<(-1), -1<T2.` initiates a value before time begins, which is
  `initially(F=V)`.
- `collectGrounds([E1, E2], domain(X))` says from which input a domain is filled; today this is a
  `dynamicDomain` and groundings of the input entities.
- Users' own definitions of duration filters are recognised by what they do.
- Helper predicates that drive another engine and that no rule uses are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from horai.lang.core.diagnostics import Diagnostic, Report, nearest, sort_key
from horai.lang.core.printer import is_pair
from horai.lang.core.reader import Load, Loader, clean, read_clauses, read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    ListTerm,
    Term,
    Var,
    args_of,
    functor,
    is_ground,
    subterms,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import (
    BODY_LITERALS,
    BUILTINS,
    DECLARATIONS,
    DURATIONS,
    EVERYDAY_HEADS,
    FLUENT_HEADS,
    INTERVAL_OPERATIONS,
    SPECIAL_HEADS,
)
from horai.lang.ec.rules import DurationForm, Key, Shape, build_rule, conjunction, is_private, spine
from horai.lang.ec.syntax import Clause

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
        if isinstance(rule, ec.BackgroundRule) and rule.key not in asked:
            (name, arity), clause = rule.key, rule.clause
            has_pair = any(is_pair(arg) for arg in args_of(rule.head))
            meant = nearest(name, _KNOWN_HEADS, 4) if has_pair else _meant_head(name, arity, 2)
            if meant is not None or has_pair:
                _say_head(name, meant, clause.source, clause.span[0], report)
    for (name, arity), facts in description.facts.items():
        if (name, arity) not in asked and (meant := _meant_head(name, arity, 1)) is not None:
            _say_head(name, meant, *facts.places[0], report)


def _meant_head(name: str, arity: int, most: int) -> str | None:
    candidates = [known for known in _KNOWN_HEADS if arity in _HEADS[known]]
    return nearest(name, candidates, most)


def _say_head(name: str, meant: str | None, source: SourceText, start: int, report: Report) -> None:
    hint = "heads with a fluent: initiatedAt, terminatedAt, holdsFor, holdsAt, initially, fi, ft"
    if meant is not None:
        hint = f"did you mean `{meant}`?"
    report.add("H101", f"unknown head `{name}`", source, (start, start + len(name)), hint)


def check_calls(rules: list[ec.Rule], defined: frozenset[Key], report: Report) -> None:
    """Find calls of undefined predicates that look like a mistyped built-in."""
    for call, clause in calls(rules):
        if call.key in defined or call.key in BUILTINS:
            continue
        meant = nearest(call.name, _KNOWN_LITERALS, 2)
        arity = len(call.args)
        if arity not in BODY_LITERALS.get(meant or "", ()) and (meant, arity) not in BUILTINS:
            continue
        span = call.term.span
        if span is not None:
            span = (span[0], span[0] + len(call.name))
        message = f"unknown condition `{call.name}`"
        report.add("H111", message, clause.source, span, f"did you mean `{meant}`?")


Result = tuple[ec.EventDescription, list[Diagnostic]]
Given = Path | str | SourceText
_BUILT_IN = frozenset(BUILTINS) | frozenset(INTERVAL_OPERATIONS.items())


def read_text(text: str, name: str = "<text>") -> Result:
    """The event description a text says, and all that is wrong with it.

    >>> description, findings = read_text("initiatedAt(on=true, T) :- happensAt(up, T).")
    >>> len(description.rules), findings
    (1, [])
    """
    return read_files([SourceText(name, clean(text))])


def read_files(
    paths: Iterable[Given],
    background: Iterable[Given] = (),
    unsaved: Mapping[Path, str] | None = None,
) -> Result:
    """The event description of several files together; rules may stand in any of them.

    Files that these load with `:- ['other.prolog'].` are read too, and every file once. Texts in
    memory may stand among the files, and files may be `unsaved`: their texts count, not the disk.
    """
    builder = _Builder()
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
    builder.build()
    return builder.description, sorted(builder.report.findings, key=sort_key)


class _Builder:
    def __init__(self) -> None:
        self.report = Report()
        self.description = ec.EventDescription()
        self.clauses: list[ec.Clause] = []
        self.replaced: set[Key] = set()

    def read(self, source: SourceText, loads: list[Load] | None = None) -> None:
        """Take in a text; the files it asks for are added to `loads`."""
        clauses, facts, wrong = read_clauses(source, loads=loads)
        self.description.sources.append(source)
        self.clauses.extend(clauses)
        self.report.extend(wrong)
        for key, more in facts.items():
            kept = self.description.facts.setdefault(key, more)
            if kept is not more:
                kept.rows.extend(more.rows)
                kept.places.extend(more.places)

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


def _own_predicates(clauses: list[ec.Clause]) -> set[Key]:
    """The user's own predicates: every head that has no fixed meaning of its own."""
    fixed = set(FLUENT_HEADS) - EVERYDAY_HEADS
    return {key for clause in clauses if (key := (clause.key or ("", 0)))[0] not in fixed}


# --- idioms of older descriptions -----------------------------------------------------------------

_OLD_DELAYS = (("maxDuration", 3), ("maxDurationUE", 3))
_CUT = Constant("!")
_Pair = tuple[Key | None, Term | None]


def modernise(clauses: Iterable[Clause], report: Report) -> list[Clause]:
    """The clauses in today's forms."""
    renamed = [new for clause in clauses for new in _renamed(clause)]
    kept = [clause for clause in renamed if not _says_nothing(clause)]
    heads = Counter(_head_pair(clause) for clause in kept if clause.body is not None)
    cuts: list[Clause] = []
    modern = [_without_cuts(clause, heads, cuts) for clause in kept]
    _report_cuts(cuts, report)
    return [*modern, *_collected(modern)]


def _renamed(clause: Clause) -> Iterator[Clause]:
    head = clause.head
    if isinstance(head, Compound) and _is_before_time(head, clause.body):
        first = Compound("initially", head.args[:1], head.span)
        yield Clause(first, None, clause.span, clause.source)
        return
    if not isinstance(head, Compound) or functor(head) not in _OLD_DELAYS:
        yield clause
        return
    new_head = Compound("fi", head.args, head.span)
    yield Clause(new_head, clause.body, clause.span, clause.source)
    if head.name == "maxDurationUE":
        postponed = Compound("p", head.args[:1], head.span)
        yield Clause(postponed, None, clause.span, clause.source)


def _is_before_time(head: Compound, body: Term | None) -> bool:
    """True for an initiation at -1 on no other condition than that a window reaches so far back."""
    if functor(head) != ("initiatedAt", 4) or head.args[2] != Int(-1):
        return False
    bounds = {arg for arg in (head.args[1], head.args[3]) if isinstance(arg, Var)}
    return all(
        isinstance(goal, Compound)
        and goal.name in ("<", ">", "=<", ">=")
        and all(isinstance(arg, Int) or arg in bounds for arg in goal.args)
        for goal in (spine(body, ",") if body is not None else ())
    )


def _says_nothing(clause: Clause) -> bool:
    """True for `holdsFor(F=V, []).`"""
    head = clause.head
    return (
        clause.body is None
        and isinstance(head, Compound)
        and functor(head) == ("holdsFor", 2)
        and head.args[1] == ListTerm(())
    )


def _head_pair(clause: Clause) -> _Pair:
    """Fluent name and value of a holdsFor head; None stands for any value."""
    head = clause.head
    if not isinstance(head, Compound) or functor(head) != ("holdsFor", 2):
        return (None, None)
    pair = head.args[0]
    if not isinstance(pair, Compound) or not is_pair(pair):
        return (None, None)
    fluent, value = pair.args
    return (functor(fluent), value if is_ground(value) else None)


def _without_cuts(clause: Clause, heads: Counter[_Pair], cuts: list[Clause]) -> Clause:
    if clause.body is None or _head_pair(clause)[0] is None:
        return clause
    goals = spine(clause.body, ",")
    if _CUT not in goals or not _is_only_rule(clause, heads):
        return clause
    cuts.append(clause)
    body = conjunction([goal for goal in goals if goal != _CUT])
    return Clause(clause.head, body, clause.span, clause.source)


def _report_cuts(clauses: list[Clause], report: Report) -> None:
    """Say once per file that cuts were passed over: where there is one, there are often more."""
    by_file: dict[str, list[Clause]] = {}
    for clause in clauses:
        by_file.setdefault(clause.source.name, []).append(clause)
    for found in by_file.values():
        first = found[0]
        assert first.body is not None
        cut = next(goal for goal in spine(first.body, ",") if goal == _CUT)
        hint = "remove it; several rules for one fluent mean their union"
        note = f"this file has {len(found)} rules with such cuts" if len(found) > 1 else None
        report.add("H123", "this cut is passed over", first.source, cut.span, hint, note)


def _is_only_rule(clause: Clause, heads: Counter[_Pair]) -> bool:
    """True when no other rule could have given intervals that the cut kept away."""
    key, value = _head_pair(clause)
    if heads[(key, value)] > 1:
        return False
    if value is None:
        return sum(count for (other, _), count in heads.items() if other == key) == 1
    return heads[(key, None)] == 0


def _collected(clauses: list[Clause]) -> Iterator[Clause]:
    """Dynamic domains, and groundings of input entities, that `collectGrounds` stands for."""
    declared = {
        functor(clause.head.args[0])
        for clause in clauses
        if clause.key == ("dynamicDomain", 1) and isinstance(clause.head, Compound)
    }
    grounded = {pair for clause in clauses for pair in _grounded(clause)}
    made: set[Term] = set()
    for clause in clauses:
        head = clause.head
        if clause.body is not None or not isinstance(head, Compound):
            continue
        if functor(head) != ("collectGrounds", 2) or not isinstance(head.args[0], ListTerm):
            continue
        entities, domain = head.args[0].items, head.args[1]
        if not isinstance(domain, Compound):
            continue
        if functor(domain) not in declared:
            declared.add(functor(domain))
            yield Clause(
                Compound("dynamicDomain", (domain,), head.span), None, clause.span, clause.source
            )
        for entity in entities:
            # A grounding that is written out already fills the domain, and may restrict more.
            if (_entity_key(entity), functor(domain)) not in grounded and entity not in made:
                made.add(entity)
                grounding = Compound("grounding", (entity,), head.span)
                yield Clause(grounding, domain, clause.span, clause.source)


def _grounded(clause: Clause) -> Iterator[tuple[Key | None, Key | None]]:
    """The entity of a grounding with each predicate of its body."""
    if clause.key == ("grounding", 1) and isinstance(clause.head, Compound) and clause.body:
        for goal in spine(clause.body, ","):
            yield _entity_key(clause.head.args[0]), functor(goal)


def _entity_key(entity: Term) -> Key | None:
    if isinstance(entity, Compound) and is_pair(entity):
        return functor(entity.args[0])
    return functor(entity)


_MIRRORED = {">": "<", "<": ">", ">=": "=<", "=<": ">="}


def find_durations(clauses: Iterable[Clause]) -> dict[Key, DurationForm]:
    """The predicates of three arguments that filter intervals by duration."""
    rules: dict[Key, list[DurationForm | None]] = {}
    for clause in clauses:
        head = clause.head
        if isinstance(head, Compound) and len(head.args) == 3:
            form = recognise(head, clause.body) if clause.body is not None else None
            rules.setdefault((head.name, 3), []).append(form)
    found: dict[Key, DurationForm] = {}
    for key, forms in rules.items():
        if len(forms) == 1 and forms[0] is not None:
            found[key] = forms[0]
        elif key[0] in DURATIONS:
            found[key] = ((0, 1, 2), DURATIONS[key[0]], True)
    return found


def recognise(head: Compound, body: Term) -> DurationForm | None:
    """The filter that a rule is: `findall((S,E), (member((S,E),If), ... Diff > V ...), I)`."""
    if not (isinstance(body, Compound) and body.name == "findall" and len(body.args) == 3):
        return None
    pair, goal, result = body.args
    member = _member(pair, goal)
    names = [arg.name if isinstance(arg, Var) else "" for arg in head.args]
    if member is None or not isinstance(result, Var) or not isinstance(member, Var):
        return None
    if result.name not in names or member.name not in names:
        return None
    intervals, out = names.index(member.name), names.index(result.name)
    bound = 3 - intervals - out
    ops = {op for part in subterms(goal) if (op := _comparison(part, names[bound])) is not None}
    if len({intervals, out}) != 2 or len(ops) != 1:
        return None
    op = ops.pop()
    return (intervals, bound, out), op, _open_counts(goal, op)


def _member(pair: Term, goal: Term) -> Term | None:
    """The list that `member((S,E), List)` goes through."""
    if not (isinstance(pair, Compound) and pair.name in (",", "-") and len(pair.args) == 2):
        return None
    for part in subterms(goal):
        if isinstance(part, Compound) and part.name == "member" and part.args[:1] == (pair,):
            return part.args[1]
    return None


def _comparison(part: Term, bound: str) -> str | None:
    """The comparison of a duration with the bound, the duration on the left."""
    if not (isinstance(part, Compound) and part.name in _MIRRORED and len(part.args) == 2):
        return None
    left, right = part.args
    if isinstance(right, Var) and right.name == bound:
        return part.name
    if isinstance(left, Var) and left.name == bound:
        return _MIRRORED[part.name]
    return None


def _open_counts(goal: Term, op: str) -> bool:
    """True when an open interval can pass: measured up to the query time, or never turned away."""
    if any(_lets_open_pass(part) for part in subterms(goal)):
        return True
    names = {part.name for part in subterms(goal) if isinstance(part, Constant | Compound)}
    # `inf` minus a number is greater than any bound.
    return "queryTime" in names or ("inf" not in names and op in (">", ">="))


def _lets_open_pass(part: Term) -> bool:
    """True for `E = inf`: an alternative for open intervals."""
    return isinstance(part, Compound) and part.name in ("=", "==") and Constant("inf") in part.args


# Storing, cutting, writing, private predicates: what steers a program or belongs to an engine.
FOREIGN = frozenset({"H113", "H114", "H115", "H116"})
_SPECIAL = sorted(SPECIAL_HEADS)
_NAMED = 3


def unused_helpers(clauses: Iterable[Clause]) -> dict[Key, list[Clause]]:
    """The clauses of predicates that no rule needs, neither directly nor through others.

    Without any rule this tells nothing: the file may be meant for other rules.
    """
    helpers: dict[Key, list[Clause]] = {}
    waiting: list[Clause] = []
    for clause in clauses:
        key = clause.key
        if key is not None and not _may_be_special(key[0]):
            helpers.setdefault(key, []).append(clause)
        else:
            waiting.append(clause)
    if not waiting:
        return {}
    while waiting:
        for key in waiting.pop().mentioned:
            waiting.extend(helpers.pop(key, ()))
    return helpers


def with_callers(foreign: set[Key], helpers: dict[Key, list[Clause]]) -> set[Key]:
    """The predicates together with the unused ones that call them."""
    found = set(foreign)
    while True:
        callers = {
            key
            for key, clauses in helpers.items()
            if key not in found and any(found & clause.mentioned for clause in clauses)
        }
        if not callers:
            return found
        found |= callers


def say_passed_over(
    keys: set[Key],
    helpers: dict[Key, list[Clause]],
    why: list[Diagnostic],
    report: Report,
) -> None:
    """One finding per file for all that was left out of it."""
    by_file: dict[str, list[Key]] = {}
    for key, clauses in helpers.items():
        if key in keys:
            by_file.setdefault(clauses[0].source.name, []).append(key)
    for name, left_out in by_file.items():
        first = helpers[left_out[0]][0]
        reasons = [r for r in why if r.source is not None and r.source.name == name]
        span = reasons[0].span if reasons else first.span
        are, them = ("is", "it") if len(left_out) == 1 else ("are", "them")
        report.add(
            "H124",
            f"{_listed(left_out)} {are} passed over: no rule uses {them}",
            first.source,
            span,
            "if rules need what another engine computes here, send it as items of the stream",
            reasons[0].message if reasons else None,
        )


def _listed(keys: list[Key]) -> str:
    shown = [f"`{name}/{arity}`" for name, arity in keys[:_NAMED]]
    more = len(keys) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(shown) > 1 else shown[0]


def _may_be_special(name: str) -> bool:
    """True for heads with a meaning of their own, also mistyped or compiled ones."""
    if name in EVERYDAY_HEADS:
        return False
    return name in _SPECIAL or is_private(name) or nearest(name, _SPECIAL, 2) is not None
