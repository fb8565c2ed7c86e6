"""Statically determined fluents: interval operations and Boolean formulas over other fluents."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.core.printer import show
from horai.lang.core.terms import Int, Term, Var
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import UnboundVariable, Unsupported, blaming
from horai.oracle.ec.background import TEMPORAL
from horai.oracle.ec.groundings import Groundings, refuse_open
from horai.oracle.ec.intervals import INF, Intervals, coalesce
from horai.oracle.ec.scopes import names, visible
from horai.oracle.ec.solver import Solver
from horai.oracle.ec.strata import OracleNode, OracleStrata, StaticRule
from horai.oracle.ec.terms import Env, ground, resolve, unify_all
from horai.oracle.ec.world import key_of, term_intervals


def holds_for_domains(
    body: ec.Literal, groundings: Groundings, formula: bool = False
) -> dict[str, list[Term]]:
    """Values for the variables of `holdsFor` and `holdsAt` conditions.

    `holdsFor` never fails, so it cannot choose values for its variables. They range over all
    instances that some fluent of the body is known to have, or that its grounding lists.
    """
    found: dict[str, dict[Term, None]] = {}
    parts = list(ec.walk(body))
    if not formula and not any(isinstance(literal, ec.HoldsFor) for literal in parts):
        return {}
    for literal in parts:
        if not isinstance(literal, ec.HoldsFor | ec.HoldsAt):
            continue
        pattern = (literal.fvp.fluent, literal.fvp.value)
        key = key_of(literal.fvp.fluent)
        for name in names(*pattern):
            found.setdefault(name, {})  # nothing known yet is an empty domain, not a mistake
        pairs = [(fluent, value) for fluent, value, _ in groundings.solver.world.instances(key)]
        listed = [
            (entity, value) for entity, value in groundings.instances(key) if value is not None
        ]
        for pair in [*pairs, *listed]:
            env = unify_all(pattern, pair, {})
            for name in names(*pattern) if env is not None else ():
                found[name][resolve(Var(name), env or {})] = None
    return {name: list(values) for name, values in found.items()}


def evaluate_static(node: OracleNode, strata: OracleStrata, groundings: Groundings) -> None:
    """Work out a statically determined fluent-value pair; several rules give their union.

    It holds from the start of the run on, whatever lists say that are written out.
    """
    results: dict[tuple[Term, Term], Intervals] = {}
    solver = groundings.solver
    for rule in strata.defined.static[node]:
        formula = isinstance(rule, ec.HoldsAtRule)
        with blaming(rule.clause):
            solver.domains = holds_for_domains(rule.body, groundings, formula)
            for env, intervals in _solutions(rule, groundings):
                fluent, value = resolve(rule.fvp.fluent, env), resolve(rule.fvp.value, env)
                refuse_open(names(fluent, value))
                if intervals and groundings.allows(fluent, value):
                    results.setdefault((fluent, value), []).extend(intervals)
        solver.domains = {}
    for (fluent, value), intervals in results.items():
        for interval in intervals:
            solver.world.add_interval(fluent, value, interval)
    solver.world.merge(node.key)


def _solutions(rule: StaticRule, groundings: Groundings) -> list[tuple[Env, Intervals]]:
    solver = groundings.solver
    found: list[tuple[Env, Intervals]] = []
    first = solver.world.start
    for start in _head_bindings(rule, groundings):
        if isinstance(rule, ec.HoldsForRule):
            for env in solver.solve((rule.body,), start):
                intervals = term_intervals(resolve(rule.intervals, env))
                if intervals is not None:
                    inside = [(max(s, first), e) for s, e in coalesce(intervals) if e > first]
                    found.append((env, inside))
        else:
            for listed in _timeless(rule, start, solver):
                found.extend(_formula(rule, listed, solver))
    return found


def _head_bindings(rule: StaticRule, groundings: Groundings) -> list[Env]:
    """The head's variables bound by its grounding; left to the body where that does not say."""
    fluent, value = rule.fvp.fluent, rule.fvp.value
    if not names(fluent, value):
        return [{}]
    if not groundings.speaks_of(fluent, value):
        # Variables that nothing in the body gives a value are those of the other values.
        if names(fluent, value) <= visible(rule.body):
            return [{}]
        return list(groundings.complete(fluent, value, {})) or [{}]
    listed = list(groundings.complete(fluent, value, {}))
    return listed if groundings.lists_all(key_of(fluent)) else [*listed, {}]


def _timeless(rule: ec.HoldsAtRule, start: Env, solver: Solver) -> list[Env]:
    """Entities that conditions without time list: each has its own times to look at."""
    timeless = tuple(g for g in ec.conjuncts(rule.body) if not solver.is_temporal(g))
    try:
        return list(solver.solve(timeless, start))
    except UnboundVariable:
        return [start]  # they need values that the others give


def _formula(rule: ec.HoldsAtRule, start: Env, solver: Solver) -> list[tuple[Env, Intervals]]:
    """The intervals in which a Boolean formula over `holdsAt` is true, for every instance.

    The truth of a formula changes only where some fluent starts or ends, so it is enough to look
    at one point between any two such places. Negation speaks of the time after the start of the
    run only, as complements do.
    """
    head = names(rule.fvp.fluent, rule.fvp.value)
    free = sorted(name for name in head if not ground(Var(name), start))
    if not isinstance(rule.time, Var):
        raise Unsupported("the time of a holdsAt head must be a variable")
    cuts = _cuts(rule, start, solver)
    true_in: dict[tuple[Term, ...], Intervals] = {}
    for begin, end in zip(cuts, [*cuts[1:], INF], strict=True):
        for env in _at(rule, begin, {**start, rule.time.name: Int(begin)}, solver, free):
            refuse_open(names(resolve(rule.fvp.fluent, env), resolve(rule.fvp.value, env)))
            key = tuple(resolve(Var(name), env) for name in free)
            true_in.setdefault(key, []).append((begin, end))
    return [
        ({**start, **dict(zip(free, key, strict=True))}, coalesce(intervals))
        for key, intervals in true_in.items()
    ]


def _cuts(rule: ec.HoldsAtRule, env: Env, solver: Solver) -> list[int]:
    """Where the truth of a formula may change, for the entities bound so far."""
    world = solver.world
    cuts = {world.start, world.grid.next(world.start)}
    for pair in _looked_at(rule.body, rule.time, env, solver):
        for _, _, intervals in solver.known(pair):
            cuts |= {int(t) for interval in intervals for t in interval if t != INF}
    return sorted(t for t in cuts if t >= world.start)


def _looked_at(
    body: ec.Literal, time: Term, env: Env, solver: Solver
) -> Iterator[tuple[Term, Term]]:
    """The pairs a formula looks at, helper predicates included; nothing else may have a time."""
    for literal in ec.walk(body):
        if isinstance(literal, ec.HoldsAt):
            yield resolve(literal.fvp.fluent, env), resolve(literal.fvp.value, env)
        elif isinstance(literal, TEMPORAL):
            raise Unsupported(f"a holdsAt rule cannot ask for `{show(literal.term)}`")
        elif isinstance(literal, ec.Call) and literal.key in solver.background.temporal:
            for rule in solver.background.rules[literal.key]:
                yield from _looked_at(rule.body, time, {}, solver)
        elif isinstance(literal, ec.Compare | ec.Is) and names(time) & names(literal.term):
            raise Unsupported(f"a holdsAt rule cannot compare times: `{show(literal.term)}`")


def _at(rule: ec.HoldsAtRule, at: int, env: Env, solver: Solver, free: list[str]) -> list[Env]:
    """Solutions of the formula at one point, for every value its variables can take."""
    solver.nothing_absent = at < solver.world.grid.next(solver.world.start)
    try:
        return list(solver.solve((rule.body,), env))
    except UnboundVariable:
        # A negation needs a value that no condition gives: all known instances are meant.
        known = [name for name in free if name in solver.domains]
        if not known:
            raise
        starts: list[Env] = [env]
        for name in known:
            starts = [{**one, name: value} for one in starts for value in solver.domains[name]]
        return [found for one in starts for found in solver.solve((rule.body,), one)]
    finally:
        solver.nothing_absent = False
