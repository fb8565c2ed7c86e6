"""Checks of variables: those that nothing gives a value, and those that occur only once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.printer import show
from horai.lang.core.terms import Term, Var, functor, subterms, variables
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, find_variable, finding, listed, quoted
from horai.plan.check.names import looks_mistyped
from horai.plan.ec.delays import initiation_times
from horai.plan.ec.literal_order import Stuck, order_body
from horai.plan.ec.literals import Names, body_literals, given_by, literal_word, names, visible
from horai.plan.ec.predicates import Predicate
from horai.plan.ec.rule_order import RuleOrder, head_entity, times_found_by_holding


def unbound_variables(context: CheckContext) -> Iterator[Diagnostic]:
    """H300 to H305, H308, H311, H312: what keeps a rule from being evaluated."""
    for order in context.orders:
        roots = list(root_causes(order.stuck))
        for literal, missing in roots:
            yield _stuck(order, literal, missing)
        waited_for = {name for stuck in order.stuck for name in stuck.missing}
        blocked = {name for stuck in order.stuck for name in names(stuck.literal.term)}
        if id(order.rule) in context.not_computed:
            continue  # said by a check of its own
        for var in order.unbound:
            if not roots or var.name not in waited_for | blocked:
                yield _unbound(order, var)


def root_causes(stuck: tuple[Stuck, ...]) -> Iterator[tuple[ec.Literal, list[str]]]:
    """The literals that wait for variables which no other waiting literal would bind.

    Each variable is blamed once, on the first literal that needs it.
    """
    blamed: set[str] = set()
    for item in stuck:
        others = [other.literal for other in stuck if other is not item]
        coming = frozenset(name for literal in others for name in would_bind(literal))
        missing = item.missing - coming - blamed
        if missing:
            blamed |= missing
            yield item.literal, sorted(missing)
    if stuck and not blamed:
        yield stuck[0].literal, sorted(stuck[0].missing)


def would_bind(literal: ec.Literal) -> Names:
    """The variables a literal gives a value to once it can be evaluated."""
    if isinstance(literal, ec.Call) and literal.args:
        return names(literal.args[-1])
    return given_by(literal)


def _stuck(order: RuleOrder, literal: ec.Literal, missing: list[str]) -> Diagnostic:
    clause = order.rule.clause
    named = listed(f"`{_plain(name)}`" for name in missing)
    where: Term = find_variable(literal.term, missing[0]) or literal.term
    match literal:
        case ec.Negation():
            code, what = "H302", f"the negation needs a value for {named}, which nothing gives"
        case ec.Compare() | ec.Is():
            code, what = "H303", f"{named} has no value in {quoted(literal.term)}"
        case ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
            code, what = "H304", f"nothing produces the intervals {named}"
        case ec.FindAll() | ec.AggregateAll() | ec.IfThenElse():
            code, what = "H311", f"{named} has no value in {quoted(literal.term)}"
        case ec.Call(name=name):
            code, what = "H312", f"`{name}` needs a value for {named}, which nothing gives"
        case _:
            code, what = "H303", f"{named} has no value in {quoted(literal.term)}"
    hint = _binding_hint(order, missing)
    if isinstance(literal, ec.IfThenElse):
        hint += "; values found inside count after it when both branches give them, times never do"
    if code == "H304":
        hint = f"get {listed(missing)} with holdsFor or an interval operation"
    return finding(code, what, clause, where, hint=hint)


def _plain(name: str) -> str:
    return "_" if name.startswith("_#") else name


def _binding_hint(order: RuleOrder, missing: list[str]) -> str:
    text = f"add a condition that gives {listed(_plain(name) for name in missing)} a value"
    entity = head_entity(order.rule)
    if entity is not None and set(missing) & set(variables(entity[0])):
        text += f", or write {_grounding(entity)}"
    return text


def _grounding(entity: tuple[Term, Term | None]) -> str:
    term, value = entity
    shown = show(term) if value is None else f"{show(term)}={show(value)}"
    return f"`grounding({shown}) :- ...`"


def _unbound(order: RuleOrder, var: Var) -> Diagnostic:
    rule = order.rule
    head = rule.clause.head
    where = var if var.span is not None else head
    name = _plain(var.name)
    match rule:
        case ec.Initiation() | ec.Termination() | ec.EventRule() | ec.HoldsAtRule() if (
            rule.time == var
        ):
            return _no_time(order, var)
        case ec.HoldsForRule(intervals=intervals) if var.name in names(intervals):
            what = f"no condition produces the intervals `{name}` of the head"
            hint = "let the last interval operation produce it"
            return finding("H305", what, rule.clause, where, hint=hint)
        case ec.FutureInitiation() | ec.FutureTermination() if rule.delay == var:
            what = f"the delay `{name}` has no value"
            hint = "write a number, or a condition that finds it"
            return finding("H308", what, rule.clause, where, hint=hint)
        case _:
            entity = head_entity(rule)
            hint = f"add a condition that gives {name} a value"
            if entity is not None:
                hint += f", or write {_grounding(entity)}"
            what = f"nothing gives the head variable `{name}` a value"
            return finding("H300", what, rule.clause, where, hint=hint)


def fluents_left_out(context: CheckContext) -> Iterator[Diagnostic]:
    """H314: fluents without a grounding that are not computed, said once for each name."""
    found: dict[tuple[str, int] | None, list[RuleOrder]] = {}
    for order in context.orders:
        if id(order.rule) in context.not_computed:
            entity = head_entity(order.rule)
            found.setdefault(functor(entity[0]) if entity else None, []).append(order)
    for orders in found.values():
        var, entity = orders[0].unbound[0], head_entity(orders[0].rule)
        assert entity is not None
        more = len(orders) - 1
        message = (
            f"{quoted(entity[0])} is not computed: nothing gives `{_plain(var.name)}` a value, and "
            "it has no grounding"
        )
        hint = f"if it is wanted, write {_grounding(entity)}"
        note = f"the same goes for {more} more of its rules" if more else None
        where = var if var.span is not None else entity[0]
        yield finding("H314", message, orders[0].rule.clause, where, hint, note)


def _no_time(order: RuleOrder, var: Var) -> Diagnostic:
    clause = order.rule.clause
    if clause.body is None:
        message = f"this rule has no conditions, so its time `{_plain(var.name)}` is unknown"
        return finding("H301", message, clause, var, hint="add an event: happensAt(E, T)")
    others = [
        name
        for literal in order.body.items
        for name in variables(getattr(literal, "time", literal.term))
        if hasattr(literal, "time") and not name.startswith("_#")
    ]
    hint = f"the conditions use `{others[0]}`: write the same variable in both" if others else None
    message = f"the time `{_plain(var.name)}` of the head occurs in no condition"
    if var.name in variables(clause.body):
        message = f"no condition gives the time `{_plain(var.name)}` of the head a value"
        hint = "add an event at this time: happensAt(E, T)"
    return finding("H301", message, clause, var, hint=hint)


def slow_times(context: CheckContext) -> Iterator[Diagnostic]:
    """H310: rules that fire at every point at which something holds."""
    for order in context.orders:
        if not order.ok or not isinstance(
            order.rule, ec.Initiation | ec.Termination | ec.EventRule
        ):
            continue
        for literal in times_found_by_holding(order):
            message = (
                f"no event gives the time of {quoted(literal.term)}: this is tried at every point"
            )
            hint = f"is `happensAt(start({show(literal.fvp.term)}), {show(literal.time)})` meant?"
            yield finding("H310", message, order.rule.clause, literal.term, hint)


def unusable_predicates(context: CheckContext) -> Iterator[Diagnostic]:
    """H313: background rules that no binding of their arguments can save."""
    for key, predicate in context.predicates.items():
        if predicate.is_usable or key not in context.called:
            continue
        yield from _unusable(context, predicate)


def _unusable(context: CheckContext, predicate: Predicate) -> Iterator[Diagnostic]:
    for rule in predicate.rules:
        head = variables(rule.head)
        ordering = order_body(rule.body, head, context.table, head)
        for literal, missing in root_causes(ordering.stuck):
            named = listed(f"`{_plain(name)}`" for name in missing)
            message = f"nothing can give {named} a value in this rule of `{predicate.name}`"
            hint = "make it an argument of the head, or add a condition that binds it"
            where = find_variable(literal.term, missing[0]) or literal.term
            yield finding("H313", message, rule.clause, where, hint)


# A file with more of them is written by someone who does not mark such variables.
_MANY_SINGLETONS = 3
_LINES = 6


def singletons(context: CheckContext) -> Iterator[Diagnostic]:
    """H309: a named variable that occurs once.

    Where a file has many, they are said together, except those that look like another variable of
    their clause.
    """
    by_file: dict[str, list[tuple[ec.Clause, Var]]] = {}
    for clause, var in _singletons(context):
        by_file.setdefault(clause.source.name, []).append((clause, var))
    for found in by_file.values():
        alone = [pair for pair in found if _is_slip(*pair)]
        others = [pair for pair in found if pair not in alone]
        if len(others) <= _MANY_SINGLETONS:
            alone, others = found, []
        for clause, var in alone:
            yield _singleton(clause, var, None)
        if others:
            yield _singleton(*others[0], _more(others))


def _more(found: list[tuple[ec.Clause, Var]]) -> str:
    places = (clause.source.position(var.span[0])[0] for clause, var in found if var.span)
    lines = list(dict.fromkeys(str(line) for line in places))
    shown = ", ".join(lines[:_LINES]) + (", ..." if len(lines) > _LINES else "")
    return f"{len(found)} variables of this file do: lines {shown}"


def _singleton(clause: ec.Clause, var: Var, note: str | None) -> Diagnostic:
    message = f"`{var.name}` occurs only once"
    hint = f"a mistyped name? If it is meant, write `_{var.name}` or `_`"
    return finding("H309", message, clause, var, hint, note)


def _is_slip(clause: ec.Clause, var: Var) -> bool:
    """True when another variable of the clause has nearly the same name."""
    others = {other.name for other in _occurrences(clause.head, clause.body)} - {var.name}
    return any(
        name.lower() == var.name.lower() or looks_mistyped(var.name, name) for name in others
    )


def _singletons(context: CheckContext) -> Iterator[tuple[ec.Clause, Var]]:
    for rule in context.description.rules:
        body = rule.clause.body
        if isinstance(rule, ec.Declaration | ec.DynamicDomain | ec.InputFluent | ec.Postponable):
            continue
        counts = Counter(var.name for var in _occurrences(rule.clause.head, body))
        # An unbound head variable is an error of its own, or ranges over a grounding.
        places = [rule.clause.head, body] if isinstance(rule, ec.BackgroundRule) else [body]
        collected = {id(var) for var in _occurrences(*_aggregates(rule))}
        starts = _initiation_times(rule, context)
        for var in _occurrences(*places):
            if id(var) in collected or var.name in starts:
                continue  # what is counted, or the time of initiation, needs no other mention
            if counts[var.name] == 1 and not var.name.startswith("_"):
                yield rule.clause, var


def _occurrences(*terms: Term | None) -> list[Var]:
    found = [part for term in terms if term is not None for part in subterms(term)]
    return [part for part in found if isinstance(part, Var)]


def _initiation_times(rule: ec.Rule, context: CheckContext) -> list[str]:
    if isinstance(rule, ec.FutureInitiation | ec.FutureTermination):
        return initiation_times(rule, context.graph.helpers)
    return []


def _aggregates(rule: ec.Rule) -> Iterator[Term]:
    for literal in body_literals(rule):
        if isinstance(literal, ec.FindAll | ec.AggregateAll):
            yield literal.goal.term


def separate_negations(context: CheckContext) -> Iterator[Diagnostic]:
    """H306: a variable that only negations mention, and more than one."""
    for rule in context.description.rules:
        body = ec.body_of(rule)
        if body is None or isinstance(rule, ec.Grounding | ec.FutureTermination):
            continue
        seen = visible(body) | (
            names(rule.clause.head) if rule.clause.head is not None else names()
        )
        hidden = list(_outermost_negations(body))
        counts = Counter(name for literal in hidden for name in variables(literal.term))
        for name, count in counts.items():
            if count > 1 and name not in seen and not name.startswith("_"):
                last = next(n for n in reversed(hidden) if name in variables(n.term))
                message = (
                    f"`{name}` occurs only in negations: each of them has a `{name}` of its own"
                )
                hint = f"bind {name} by another condition, or use names that start with `_`"
                yield finding(
                    "H306", message, rule.clause, find_variable(last.term, name) or last.term, hint
                )


def _outermost_negations(literal: ec.Literal) -> Iterator[ec.Negation]:
    if isinstance(literal, ec.Negation):
        yield literal
        return
    for part in ec.parts(literal):
        yield from _outermost_negations(part)


def holds_at_heads(context: CheckContext) -> Iterator[Diagnostic]:
    """H307: what the body of a rule with a holdsAt head may say."""
    for rule in context.description.of(ec.HoldsAtRule):
        yield from _formula(rule)


_NOT_IN_A_FORMULA = (
    ec.Happens,
    ec.Edge,
    ec.HoldsFor,
    ec.InitiatedAt,
    ec.TerminatedAt,
    ec.IntervalOp,
    ec.DurationFilter,
    ec.AggregateAll,
    ec.Allen,
)


def _formula(rule: ec.HoldsAtRule) -> Iterator[Diagnostic]:
    # A head whose time no condition mentions is an error of its own.
    one_time = names(rule.time) <= names(rule.body.term)
    for literal in ec.walk(rule.body):
        if isinstance(literal, _NOT_IN_A_FORMULA):
            message = f"{_word(literal)} cannot occur in a rule with a holdsAt head"
            hint = "use initiatedAt for effects of events, holdsFor for interval operations"
            yield finding("H307", message, rule.clause, literal.term, hint)
        elif isinstance(literal, ec.HoldsAt) and literal.time != rule.time and one_time:
            message = f"{quoted(literal.term)} looks at another time than the head"
            hint = "a rule with a holdsAt head speaks of one time-point only"
            where = literal.time if literal.time.span is not None else literal.term
            yield finding("H307", message, rule.clause, where, hint)


def _word(literal: ec.Literal) -> str:
    match literal:
        case ec.IntervalOp(kind=kind):
            return kind
        case ec.DurationFilter():
            return "a duration filter"
        case ec.Allen(relation=relation):
            return relation
        case _:
            return literal_word(literal)
