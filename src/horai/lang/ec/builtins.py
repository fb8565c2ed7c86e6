"""The names the Event Calculus language gives a meaning to, and the built-in predicates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Builtin:
    """A built-in predicate. `modes` has one letter per argument:
    `+` must be bound, `-` is computed, `?` either."""

    name: str
    arity: int
    modes: str
    meaning: str


def _builtins(*rows: tuple[str, str, str]) -> dict[tuple[str, int], Builtin]:
    return {
        (name, len(modes)): Builtin(name, len(modes), modes, text) for name, modes, text in rows
    }


BUILTINS = _builtins(
    ("member", "?+", "X is an element of the list"),
    ("memberchk", "++", "X is an element of the list, asked once"),
    ("between", "++?", "Low =< X =< High, all integers"),
    ("length", "+?", "the number of elements of the list"),
    ("sum_list", "+-", "the sum of a list of numbers"),
    ("sumlist", "+-", "the sum of a list of numbers"),
    ("max_list", "+-", "the largest of a list of numbers; fails for the empty list"),
    ("min_list", "+-", "the smallest of a list of numbers; fails for the empty list"),
    ("nth0", "?+?", "the element at an index counted from 0"),
    ("nth1", "?+?", "the element at an index counted from 1"),
    ("append", "++-", "two lists, one after the other"),
    ("sort", "+-", "the list in standard order, without duplicates"),
    ("msort", "+-", "the list in standard order, with duplicates"),
    ("last", "+-", "the last element of the list"),
    ("reverse", "+-", "the list backwards"),
    ("list_to_set", "+-", "the list without repetitions, first occurrences kept"),
    ("atom", "+", "X is an atom"),
    ("number", "+", "X is a number"),
    ("integer", "+", "X is an integer"),
    ("float", "+", "X is a floating-point number"),
    ("atomic", "+", "X is an atom, a number or a string"),
    ("compound", "+", "X is a compound term"),
    ("is_list", "+", "X is a list"),
    ("ground", "+", "X has no unbound variable"),
    ("var", "?", "X is unbound"),
    ("nonvar", "?", "X is bound"),
    ("atom_length", "+-", "the number of characters of an atom"),
    ("queryTime", "-", "the current query time"),
)

# Heads with a meaning of their own, with the numbers of arguments they may have.
FLUENT_HEADS: dict[str, tuple[int, ...]] = {
    "initiatedAt": (2, 4),
    "terminatedAt": (2, 4),
    "initiates": (3,),
    "terminates": (3,),
    "initially": (1,),
    "happensAt": (2,),
    "holdsFor": (2,),
    "holdsAt": (2,),
    "fi": (3,),
    "ft": (2,),
    "grounding": (1,),
    "dynamicDomain": (1,),
    "collectIntervals": (1,),
    "points": (1,),
    "buildFromPoints": (1,),
}
# Declarations that Horai derives by itself.
DECLARATIONS: dict[str, tuple[int, ...]] = {
    "index": (2,),
    "inputEntity": (1,),
    "outputEntity": (1,),
    "internalEntity": (1,),
    "event": (1,),
    "simpleFluent": (1,),
    "sDFluent": (1,),
    "cachingOrder": (1,),
    "cachingOrder2": (2,),
    "collectIntervals2": (2,),
    "buildFromPoints2": (2,),
    "cyclic": (1,),
    "collectGrounds": (1, 2),
    "dgrounded": (2,),
    "needsGrounding": (3,),
}
SPECIAL_HEADS = frozenset(FLUENT_HEADS) | frozenset(DECLARATIONS)
# Names that no background predicate can have: what they say is part of the language.
_CONTROL = frozenset({"not", "is", "call", "findall", "aggregate_all", "forall", "true", "fail"})
RESERVED_HEADS = SPECIAL_HEADS | _CONTROL | {"mod", "rem", "false"}
# Everyday words: with other arguments they are the user's own predicates.
EVERYDAY_HEADS = frozenset({"event", "index", "points", "cyclic", "p"})

INTERVAL_OPERATIONS: dict[str, int] = {
    "union_all": 2,
    "intersect_all": 2,
    "complement_all": 2,
    "relative_complement_all": 3,
}
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
