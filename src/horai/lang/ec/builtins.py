"""The built-in predicates of the Event Calculus, and the names its language gives a meaning to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import get_args

from horai.lang.core.arithmetic import (
    Number,
    evaluate,
    largest,
    number_term,
    smallest,
    sorted_bag,
    sorted_set,
    total,
)
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term
from horai.lang.ec.operators import OPERATORS

Args = tuple[Term, ...]
Solution = dict[int, Term]
"""The terms that arguments have to equal, by position."""
Solutions = Callable[[Args], Iterable[Solution]]


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in predicate. `modes` has one letter per argument:
    `+` must be bound, `-` is computed, `?` either.

    `solutions` says what a call with such arguments comes to; raises `NoValue`. It is None for
    `between`, which engines list in their own ways, and for what depends on the run. A test is
    true of terms of the given `types`.
    """

    name: str
    arity: int
    modes: str
    meaning: str
    solutions: Solutions | None = None
    types: tuple[type, ...] = ()
    is_test: bool = False

    @property
    def inputs(self) -> tuple[int, ...]:
        """The arguments that must be bound; nothing is ever seen unbound, by `var` neither."""
        needed = tuple(i for i, mode in enumerate(self.modes) if mode == "+")
        return (0,) if self.name in ("var", "nonvar") else needed


MOST_LISTED = 1_000_000  # numbers of a range


def _items(term: Term) -> tuple[Term, ...] | None:
    return term.items if isinstance(term, ListTerm) and term.tail is None else None


def _member(args: Args) -> Iterator[Solution]:
    for item in _items(args[1]) or ():
        yield {0: item}


def _memberchk(args: Args) -> Iterator[Solution]:
    if args[0] in (_items(args[1]) or ()):
        yield {}


def _of_list(compute: Callable[[tuple[Term, ...]], Term | None]) -> Solutions:
    """The last argument is computed from the list that comes first; None: it has no value."""

    def solutions(args: Args) -> Iterator[Solution]:
        items = _items(args[0])
        found = None if items is None else compute(items)
        if found is not None:
            yield {1: found}

    return solutions


def _reduced(pick: Callable[[list[Number]], Number]) -> Solutions:
    def compute(items: tuple[Term, ...]) -> Term | None:
        try:
            return number_term(pick([evaluate(item, {}) for item in items]))
        except ValueError:  # max and min of nothing
            return None

    return _of_list(compute)


def _nth(first: int) -> Solutions:
    def solutions(args: Args) -> Iterator[Solution]:
        for index, item in enumerate(_items(args[1]) or (), first):
            yield {0: Int(index), 2: item}

    return solutions


def _append(args: Args) -> Iterator[Solution]:
    left, right = _items(args[0]), _items(args[1])
    if left is not None and right is not None:
        yield {2: ListTerm(left + right)}
        return
    whole = _items(args[2]) or ()
    for cut in range(len(whole) + 1):
        yield {0: ListTerm(whole[:cut]), 1: ListTerm(whole[cut:])}


def _atom_length(args: Args) -> Iterator[Solution]:
    match args[0]:
        case Constant(name=text) | Str(value=text):
            yield {1: Int(len(text))}
        case Int(value=number) | Float(value=number):
            yield {1: Int(len(str(number)))}


def _is_a(*types: type) -> tuple[Solutions, tuple[type, ...]]:
    return lambda args: [{}] if isinstance(args[0], types) else [], types


def _builtins(
    *rows: tuple[str, str, str, Solutions | tuple[Solutions, tuple[type, ...]] | None],
) -> dict[tuple[str, int], Builtin]:
    found = {}
    for name, modes, text, meant in rows:
        is_test = isinstance(meant, tuple)
        solutions, types = meant if isinstance(meant, tuple) else (meant, ())
        found[name, len(modes)] = Builtin(name, len(modes), modes, text, solutions, types, is_test)
    return found


_length = _of_list(lambda items: Int(len(items)))
_sum, _largest, _smallest = (_reduced(pick) for pick in (total, largest, smallest))
_sort = _of_list(lambda items: ListTerm(sorted_set(items)))
_msort = _of_list(lambda items: ListTerm(sorted_bag(items)))
_last = _of_list(lambda items: items[-1] if items else None)
_reverse = _of_list(lambda items: ListTerm(items[::-1]))
_list_to_set = _of_list(lambda items: ListTerm(tuple(dict.fromkeys(items))))
_anything = get_args(Term)

BUILTINS = _builtins(
    ("member", "?+", "X is an element of the list", _member),
    ("memberchk", "++", "X is an element of the list, asked once", _memberchk),
    ("between", "++?", "Low =< X =< High, all integers", None),
    ("length", "+?", "the number of elements of the list", _length),
    ("sum_list", "+-", "the sum of a list of numbers", _sum),
    ("sumlist", "+-", "the sum of a list of numbers", _sum),
    ("max_list", "+-", "the largest of a list of numbers; fails for the empty list", _largest),
    ("min_list", "+-", "the smallest of a list of numbers; fails for the empty list", _smallest),
    ("nth0", "?+?", "the element at an index counted from 0", _nth(0)),
    ("nth1", "?+?", "the element at an index counted from 1", _nth(1)),
    ("append", "++-", "two lists, one after the other", _append),
    ("sort", "+-", "the list in standard order, without duplicates", _sort),
    ("msort", "+-", "the list in standard order, with duplicates", _msort),
    ("last", "+-", "the last element of the list", _last),
    ("reverse", "+-", "the list backwards", _reverse),
    ("list_to_set", "+-", "the list without repetitions, first occurrences kept", _list_to_set),
    ("atom", "+", "X is an atom", _is_a(Constant)),
    ("number", "+", "X is a number", _is_a(Int, Float)),
    ("integer", "+", "X is an integer", _is_a(Int)),
    ("float", "+", "X is a floating-point number", _is_a(Float)),
    ("atomic", "+", "X is an atom, a number or a string", _is_a(Constant, Int, Float, Str)),
    ("compound", "+", "X is a compound term", _is_a(Compound, ListTerm)),
    ("is_list", "+", "X is a list", _is_a(ListTerm)),
    ("ground", "+", "X has no unbound variable", _is_a(*_anything)),
    ("var", "?", "X is unbound", _is_a()),
    ("nonvar", "?", "X is bound", _is_a(*_anything)),
    ("atom_length", "+-", "the number of characters of an atom", _atom_length),
    ("queryTime", "-", "the current query time", None),
)

# Heads with a meaning of their own, with the numbers of arguments they may have.
FLUENT_HEADS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("initiatedAt", "terminatedAt"), (2, 4)),
    **dict.fromkeys(("initiates", "terminates", "fi"), (3,)),
    **dict.fromkeys(("happensAt", "holdsFor", "holdsAt", "ft"), (2,)),
    **dict.fromkeys(("initially", "grounding", "dynamicDomain"), (1,)),
    **dict.fromkeys(("collectIntervals", "points", "buildFromPoints"), (1,)),
}
# Declarations that Horai derives by itself.
DECLARATIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("inputEntity", "outputEntity", "internalEntity", "event"), (1,)),
    **dict.fromkeys(("simpleFluent", "sDFluent", "cachingOrder", "cyclic"), (1,)),
    **dict.fromkeys(("index", "cachingOrder2", "collectIntervals2", "dgrounded"), (2,)),
    "buildFromPoints2": (2,),
    "collectGrounds": (1, 2),
    "needsGrounding": (3,),
}
SPECIAL_HEADS = frozenset(FLUENT_HEADS) | frozenset(DECLARATIONS)
# Names that no background predicate can have: what they say is part of the language.
_CONTROL = frozenset({"not", "is", "call", "findall", "aggregate_all", "forall", "true", "fail"})
RESERVED_HEADS = SPECIAL_HEADS | _CONTROL | {"mod", "rem", "false"}
# Everyday words: with other arguments they are the user's own predicates.
EVERYDAY_HEADS = frozenset({"event", "index", "points", "cyclic", "p"})

INTERVAL_OPERATIONS: dict[str, int] = {name: one.arity for name, one in OPERATORS.items()}
DURATIONS: dict[str, str] = {
    "intDurGreater": ">",
    "intDurLess": "<",
    "intDurGreaterEq": ">=",
    "intDurLessEq": "=<",
    "durGreater": ">",
    "durLess": "<",
    "durGreaterEq": ">=",
    "durLessEq": "=<",
}
ALLEN_RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
ALLEN_MODES: dict[str, str] = {
    "source": "source",
    "lhs": "source",
    "target": "target",
    "rhs": "target",
    "union": "union",
    "intersection": "intersection",
    "relative_complement": "relative_complement",
    "relative_complement_inverse": "relative_complement_inverse",
}
AGGREGATES = ("count", "sum", "max", "min", "bag", "set")
EDGES = ("start", "end", "startI", "endI")

# Predicates with a meaning in bodies, with the numbers of arguments they may have.
BODY_LITERALS: dict[str, tuple[int, ...]] = {
    "happensAt": (2,),
    "holdsAt": (2,),
    "holdsFor": (2,),
    "initiatedAt": (2, 4),
    "terminatedAt": (2, 4),
    "findall": (3,),
    "aggregate_all": (3,),
    "forall": (2,),
    **{name: (arity,) for name, arity in INTERVAL_OPERATIONS.items()},
    **dict.fromkeys(DURATIONS, (3,)),
}
