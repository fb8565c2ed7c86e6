"""Unification of terms. An environment maps variable names to terms and is never changed."""

from __future__ import annotations

from horai.lang.core.terms import Compound, ListTerm, Term, Var, children, is_ground

Env = dict[str, Term]


def walk(term: Term, env: Env) -> Term:
    """The term that a variable stands for, one level deep."""
    while isinstance(term, Var):
        bound = env.get(term.name)
        if bound is None:
            return term
        term = bound
    return term


def resolve(term: Term, env: Env) -> Term:
    """The term with everything the environment knows filled in; spans are dropped."""
    term = walk(term, env)
    if isinstance(term, Compound):
        return Compound(term.name, tuple(resolve(arg, env) for arg in term.args))
    if isinstance(term, ListTerm):
        items = tuple(resolve(item, env) for item in term.items)
        tail = None if term.tail is None else resolve(term.tail, env)
        if isinstance(tail, ListTerm):
            return ListTerm(items + tail.items, tail.tail)
        return ListTerm(items, tail)
    return term


def ground(term: Term, env: Env) -> bool:
    """Is every variable of the term bound to something ground?"""
    term = walk(term, env)
    if isinstance(term, Var):
        return False
    if isinstance(term, Compound):
        return all(ground(arg, env) for arg in term.args)
    if isinstance(term, ListTerm):
        return all(ground(i, env) for i in term.items) and (
            term.tail is None or ground(term.tail, env)
        )
    return True


def unify(left: Term, right: Term, env: Env) -> Env | None:
    """The environment that makes both terms equal, or None."""
    left, right = walk(left, env), walk(right, env)
    if isinstance(left, Var):
        if isinstance(right, Var) and right.name == left.name:
            return env
        return None if _inside(left, right, env) else {**env, left.name: right}
    if isinstance(right, Var):
        return None if _inside(right, left, env) else {**env, right.name: left}
    if isinstance(left, Compound) and isinstance(right, Compound):
        if left.name != right.name or len(left.args) != len(right.args):
            return None
        return unify_all(left.args, right.args, env)
    if isinstance(left, ListTerm) and isinstance(right, ListTerm):
        return _unify_lists(left, right, env)
    return env if left == right else None


def _inside(var: Var, term: Term, env: Env) -> bool:
    """Would binding the variable make a term that contains itself?"""
    term = walk(term, env)
    if isinstance(term, Var):
        return term.name == var.name
    return any(_inside(var, part, env) for part in children(term))


def unify_all(lefts: tuple[Term, ...], rights: tuple[Term, ...], env: Env) -> Env | None:
    """Unify two argument rows of equal length."""
    for left, right in zip(lefts, rights, strict=True):
        unified = unify(left, right, env)
        if unified is None:
            return None
        env = unified
    return env


def _unify_lists(left: ListTerm, right: ListTerm, env: Env) -> Env | None:
    common = min(len(left.items), len(right.items))
    current = unify_all(left.items[:common], right.items[:common], env)
    if current is None:
        return None
    rest_left, rest_right = _rest(left, common), _rest(right, common)
    if isinstance(rest_left, ListTerm) and isinstance(rest_right, ListTerm):
        # Both are proper lists now and at least one is empty: equal only when both are.
        return current if rest_left.items == rest_right.items else None
    return unify(rest_left, rest_right, current)


def _rest(term: ListTerm, count: int) -> Term:
    """The rest after the first `count` items; a variable tail shows itself."""
    if term.tail is not None and len(term.items) == count:
        return term.tail
    return ListTerm(term.items[count:], term.tail)


def covers(pattern: Term | None, value: Term) -> bool:
    """Does a value fit what a termination ends: every value, one, or all of a form?"""
    if pattern is None or pattern == value:
        return True
    return not is_ground(pattern) and unify(pattern, value, {}) is not None
