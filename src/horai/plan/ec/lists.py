"""Built-in predicates over lists, for one call at a time.

Arguments have their variables filled in; an answer says what those that are left stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from horai.lang.core.terms import Constant, Float, Int, ListTerm, Str, Term
from horai.lang.ec.scalars import (
    Number,
    evaluate,
    largest,
    number_term,
    order_key,
    smallest,
    total,
)
from horai.plan.ec.unify import unify

Args = tuple[Term, ...]
Answer = Mapping[str, Term]
Builtin = Callable[[Args], Iterator[Answer]]


def _items(term: Term) -> tuple[Term, ...] | None:
    return term.items if isinstance(term, ListTerm) and term.tail is None else None


def _equal(*pairs: tuple[Term, Term]) -> Iterator[Answer]:
    found: dict[str, Term] = {}
    for left, right in pairs:
        unified = unify(left, right, found)
        if unified is None:
            return
        found = unified
    yield found


def _member(args: Args) -> Iterator[Answer]:
    for item in _items(args[1]) or ():
        yield from _equal((args[0], item))


def _memberchk(args: Args) -> Iterator[Answer]:
    for found in _member(args):
        yield found
        return


def _length(args: Args) -> Iterator[Answer]:
    items = _items(args[0])
    if items is not None:
        yield from _equal((args[1], Int(len(items))))


def _reduce(pick: Callable[[list[Number]], Number]) -> Builtin:
    def run(args: Args) -> Iterator[Answer]:
        items = _items(args[0])
        if items is None:
            return
        try:
            value = pick([evaluate(item, {}) for item in items])
        except ValueError:  # max and min of nothing
            return
        yield from _equal((args[1], number_term(value)))

    return run


def _nth(first: int) -> Builtin:
    def run(args: Args) -> Iterator[Answer]:
        for index, item in enumerate(_items(args[1]) or (), first):
            yield from _equal((args[0], Int(index)), (args[2], item))

    return run


def _append(args: Args) -> Iterator[Answer]:
    left, right = _items(args[0]), _items(args[1])
    if left is not None and right is not None:
        yield from _equal((args[2], ListTerm(left + right)))
        return
    whole = _items(args[2]) or ()
    for cut in range(len(whole) + 1):
        yield from _equal((args[0], ListTerm(whole[:cut])), (args[1], ListTerm(whole[cut:])))


def _map_list(change: Callable[[tuple[Term, ...]], tuple[Term, ...]]) -> Builtin:
    def run(args: Args) -> Iterator[Answer]:
        items = _items(args[0])
        if items is not None:
            yield from _equal((args[1], ListTerm(change(items))))

    return run


def _last(args: Args) -> Iterator[Answer]:
    items = _items(args[0])
    if items:
        yield from _equal((args[1], items[-1]))


def _atom_length(args: Args) -> Iterator[Answer]:
    match args[0]:
        case Constant(name=text) | Str(value=text):
            yield from _equal((args[1], Int(len(text))))
        case Int(value=number) | Float(value=number):
            yield from _equal((args[1], Int(len(str(number)))))
        case _:
            pass


def standard_order(items: tuple[Term, ...]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, without duplicates."""
    return tuple(sorted(set(items), key=order_key))


def sorted_bag(items: tuple[Term, ...]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, duplicates kept."""
    return tuple(sorted(items, key=order_key))


LISTS: dict[tuple[str, int], Builtin] = {
    ("member", 2): _member,
    ("memberchk", 2): _memberchk,
    ("length", 2): _length,
    ("sum_list", 2): _reduce(total),
    ("sumlist", 2): _reduce(total),
    ("max_list", 2): _reduce(largest),
    ("min_list", 2): _reduce(smallest),
    ("nth0", 3): _nth(0),
    ("nth1", 3): _nth(1),
    ("append", 3): _append,
    ("sort", 2): _map_list(standard_order),
    ("msort", 2): _map_list(sorted_bag),
    ("reverse", 2): _map_list(lambda items: items[::-1]),
    ("list_to_set", 2): _map_list(lambda items: tuple(dict.fromkeys(items))),
    ("last", 2): _last,
    ("atom_length", 2): _atom_length,
}
