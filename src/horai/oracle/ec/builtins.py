"""Built-in predicates over terms: lists, types, ranges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var
from horai.oracle.ec.arithmetic import (
    EvaluationError,
    evaluate,
    largest,
    number_term,
    order_key,
    smallest,
    total,
)
from horai.oracle.ec.errors import EndlessBackground
from horai.oracle.ec.terms import Env, resolve, unify, unify_all, walk

Args = tuple[Term, ...]
Builtin = Callable[[Args, Env], Iterator[Env]]


def _items(term: Term, env: Env) -> tuple[Term, ...] | None:
    full = resolve(term, env)
    if isinstance(full, ListTerm) and full.tail is None:
        return full.items
    return None


def _once(env: Env | None) -> Iterator[Env]:
    if env is not None:
        yield env


def _member(args: Args, env: Env) -> Iterator[Env]:
    for item in _items(args[1], env) or ():
        yield from _once(unify(args[0], item, env))


def _memberchk(args: Args, env: Env) -> Iterator[Env]:
    for found in _member(args, env):
        yield found
        return


MOST_LISTED = 1_000_000  # numbers of a range


def _between(args: Args, env: Env) -> Iterator[Env]:
    low, high = evaluate(args[0], env), evaluate(args[1], env)
    target = walk(args[2], env)
    if not isinstance(low, int) or not (isinstance(high, int) or high == math.inf):
        raise EvaluationError("between/3 needs whole numbers")
    if isinstance(target, Int):
        if low <= target.value <= high:
            yield env
    elif isinstance(target, Var):
        if not isinstance(high, int):
            raise EndlessBackground("between/3 up to infinity has no end")
        if high - low >= MOST_LISTED:
            raise EndlessBackground(
                f"between/3 lists at most {MOST_LISTED} numbers, here {high - low + 1}"
            )
        for value in range(low, high + 1):
            yield {**env, target.name: Int(value)}


def _length(args: Args, env: Env) -> Iterator[Env]:
    items = _items(args[0], env)
    if items is not None:
        yield from _once(unify(args[1], Int(len(items)), env))


def _reduce(pick: Callable[[list[int | float]], int | float]) -> Builtin:
    def run(args: Args, env: Env) -> Iterator[Env]:
        items = _items(args[0], env)
        if items is None:
            return
        try:
            value = pick([evaluate(item, env) for item in items])
        except ValueError:  # max and min of nothing
            return
        yield from _once(unify(args[1], number_term(value), env))

    return run


def _nth(first: int) -> Builtin:
    def run(args: Args, env: Env) -> Iterator[Env]:
        for index, item in enumerate(_items(args[1], env) or (), first):
            yield from _once(unify_all((args[0], args[2]), (Int(index), item), env))

    return run


def _append(args: Args, env: Env) -> Iterator[Env]:
    left, right = _items(args[0], env), _items(args[1], env)
    if left is not None and right is not None:
        yield from _once(unify(args[2], ListTerm(left + right), env))
        return
    whole = _items(args[2], env) or ()
    for cut in range(len(whole) + 1):
        parts = (ListTerm(whole[:cut]), ListTerm(whole[cut:]))
        yield from _once(unify_all((args[0], args[1]), parts, env))


def _map_list(change: Callable[[tuple[Term, ...]], tuple[Term, ...]]) -> Builtin:
    def run(args: Args, env: Env) -> Iterator[Env]:
        items = _items(args[0], env)
        if items is not None:
            yield from _once(unify(args[1], ListTerm(change(items)), env))

    return run


def _last(args: Args, env: Env) -> Iterator[Env]:
    items = _items(args[0], env)
    if items:
        yield from _once(unify(args[1], items[-1], env))


def _is_a(*kinds: type) -> Builtin:
    def run(args: Args, env: Env) -> Iterator[Env]:
        if isinstance(walk(args[0], env), kinds):
            yield env

    return run


def _atom_length(args: Args, env: Env) -> Iterator[Env]:
    match walk(args[0], env):
        case Constant(name=text) | Str(value=text):
            yield from _once(unify(args[1], Int(len(text)), env))
        case Int(value=number) | Float(value=number):
            yield from _once(unify(args[1], Int(len(str(number))), env))
        case _:
            pass


def standard_order(items: tuple[Term, ...]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, without duplicates."""
    return tuple(sorted(set(items), key=order_key))


def sorted_bag(items: list[Term]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, duplicates kept."""
    return tuple(sorted(items, key=order_key))


BUILTINS: dict[tuple[str, int], Builtin] = {
    ("member", 2): _member,
    ("memberchk", 2): _memberchk,
    ("between", 3): _between,
    ("length", 2): _length,
    ("sum_list", 2): _reduce(total),
    ("sumlist", 2): _reduce(total),
    ("max_list", 2): _reduce(largest),
    ("min_list", 2): _reduce(smallest),
    ("nth0", 3): _nth(0),
    ("nth1", 3): _nth(1),
    ("append", 3): _append,
    ("sort", 2): _map_list(standard_order),
    ("msort", 2): _map_list(lambda items: sorted_bag(list(items))),
    ("reverse", 2): _map_list(lambda items: items[::-1]),
    ("list_to_set", 2): _map_list(lambda items: tuple(dict.fromkeys(items))),
    ("last", 2): _last,
    ("atom_length", 2): _atom_length,
    ("atom", 1): _is_a(Constant),
    ("atomic", 1): _is_a(Constant, Int, Float, Str),
    ("number", 1): _is_a(Int, Float),
    ("integer", 1): _is_a(Int),
    ("float", 1): _is_a(Float),
    ("compound", 1): _is_a(Compound, ListTerm),
    ("is_list", 1): _is_a(ListTerm),
    # Conditions wait until their variables are bound, so nothing is ever seen unbound.
    ("ground", 1): lambda args, env: iter([env]),
    ("nonvar", 1): lambda args, env: iter([env]),
    ("var", 1): lambda args, env: iter([]),
}

# Argument positions that must be bound before the built-in can run; the first one otherwise.
_INPUTS: dict[str, tuple[int, ...]] = {
    "member": (1,),
    "memberchk": (1,),
    "between": (0, 1),
    "nth0": (1,),
    "nth1": (1,),
    "append": (0, 1),
}
INPUTS = {key: _INPUTS.get(key[0], (0,)) for key in BUILTINS}
