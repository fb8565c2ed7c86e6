"""When background rules are given up that make new values of their own values.

All engines have the same limits. They are about what is derived, and not about how: where one
engine gives up, so does the other.
"""

from __future__ import annotations

from horai.lang.core.terms import Constant, Int, Str, Term, children

MOST_ROUNDS = 10_000  # each derives from what the one before has found
MOST_PARTS = 2_000_000  # of all that is derived, known or not
LARGEST = 1_000  # parts of one value
DEEPEST = 100  # terms inside of each other
MOST_ROWS = 10_000_000  # of a predicate whose rules make nothing new
MOST_CALLS = 100_000  # of predicates that need arguments, inside of one call
DEEPEST_CALL = 200  # of these inside of each other
_HINT = "bound what its rules compute, as `N < 100` does"


def parts(term: Term, deepest: int = DEEPEST) -> int:
    """How large a value is: constants in it, functors and lists; more than LARGEST if too deep.

    >>> parts(Int(7)), parts(Int(2**640))
    (1, 11)
    """
    match term:
        case Int(value=number):
            return 1 + number.bit_length() // 64
        case Constant(name=text) | Str(value=text):
            return 1 + len(text) // 64
    inside = children(term)
    if inside and not deepest:
        return LARGEST + 1
    return 1 + sum(parts(child, deepest - 1) for child in inside)


def too_many_rounds(name: str) -> str:
    """The message about a predicate that still has new rows."""
    return f"{name} still has new rows after {MOST_ROUNDS} rounds, it seems without end: {_HINT}"


def too_much(name: str) -> str:
    """The message about rules that derive too much."""
    return f"{name} derives more than {MOST_PARTS} values, it seems without end: {_HINT}"


def too_large(name: str) -> str:
    """The message about rules that make values larger and larger."""
    limits = f"more than {LARGEST} parts, or nested more than {DEEPEST} times"
    return f"{name} makes values of {limits}, it seems without end: {_HINT}"


def too_many_rows(name: str) -> str:
    """The message about a predicate with too many rows to list."""
    return f"{name} has more than {MOST_ROWS} rows"


def too_many_calls(name: str) -> str:
    """The message about a predicate that calls itself."""
    limits = f"{MOST_CALLS} times in all, or {DEEPEST_CALL} times inside of each other"
    return f"{name} calls itself too often, or without end: more than {limits}"
