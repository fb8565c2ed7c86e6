"""Solutions of a body for which the head of its rule says something definite."""

from __future__ import annotations

from horai.lang.ec.syntax import Literal
from horai.lang.terms import Term, Var
from horai.oracle.errors import Stuck, Unsupported
from horai.oracle.groundings import Groundings
from horai.oracle.scopes import Names, names, visible
from horai.oracle.solver import Solver
from horai.oracle.unify import Env, ground
from horai.oracle.world import key_of


def head_solutions(
    solver: Solver,
    groundings: Groundings,
    body: Literal,
    entity: Term,
    value: Term | None,
    env: Env,
) -> list[Env]:
    """Solutions in which the head has no free variable.

    Variables of the head that no condition binds range over the grounding of the entity. Where
    conditions need their values (a negation, a comparison), they have to be bound first.
    """
    open_names = names(entity, value) - frozenset(env) - visible(body)
    grounded = key_of(entity) in groundings.rules
    if open_names and not grounded:
        raise _missing(open_names)
    if not open_names:
        try:
            return _solutions(solver, groundings, body, entity, value, [env])
        except Stuck:
            if not grounded:
                raise
    # A value that the body gives may lie outside the grounding, and still ends the others.
    given = value if value is not None and names(value) - visible(body) else None
    starts = list(groundings.complete(solver, entity, given, env))
    return _solutions(solver, groundings, body, entity, value, starts)


def _solutions(
    solver: Solver,
    groundings: Groundings,
    body: Literal,
    entity: Term,
    value: Term | None,
    starts: list[Env],
) -> list[Env]:
    head = names(entity, value)
    found: list[Env] = []
    for start in starts:
        for env in solver.solve((body,), start):
            left = frozenset(name for name in head if not ground(Var(name), env))
            if not left:
                found.append(env)
            elif key_of(entity) in groundings.rules:
                given = value if value is not None and not ground(value, env) else None
                found.extend(groundings.complete(solver, entity, given, env))
            else:
                raise _missing(left)
    return found


def _missing(open_names: Names) -> Unsupported:
    listed = ", ".join(sorted(open_names))
    return Unsupported(f"nothing gives a value to {listed}: a grounding is missing")
