"""Terms of the rule languages: atoms, numbers, strings, variables, compound terms and lists.

Terms compare and hash by what they say, never by where they were written: `span` is a pair of
character offsets into the source text and takes no part in equality.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

Span = tuple[int, int]
Node = TypeVar("Node")


@dataclass(slots=True, unsafe_hash=True)
class Constant:
    """A constant: `chris`, `'New York'`, `[]`."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, unsafe_hash=True)
class Int:
    """An integer."""

    value: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, unsafe_hash=True)
class Float:
    """A floating-point number; never equal to an integer as a term. There is one zero, 0.0."""

    value: float
    span: Span | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        # -0.0 would be equal and look different: which of them is shown would be a matter of luck.
        self.value += 0.0


@dataclass(slots=True, unsafe_hash=True)
class Str:
    """A double-quoted string."""

    value: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, unsafe_hash=True)
class Var:
    """A logic variable. The reader gives every `_` a name of its own (`_#1`, `_#2`, ...)."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, unsafe_hash=True)
class Compound:
    """A functor with at least one argument, operators included: `=(rich(X), true)`."""

    name: str
    args: tuple[Term, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(slots=True, unsafe_hash=True)
class ListTerm:
    """A list `[a, b | Tail]`; `tail` is None for a proper list. `[]` is `ListTerm(())`."""

    items: tuple[Term, ...]
    tail: Term | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


Term = Constant | Int | Float | Str | Var | Compound | ListTerm
Bindings = Mapping[str, Term]


def is_anonymous(var: Var) -> bool:
    """True for a variable written `_`."""
    return var.name.startswith("_#")


def children(term: Term) -> tuple[Term, ...]:
    """The direct subterms.

    >>> children(Compound("f", (Constant("a"), Var("X"))))
    (Constant(name='a'), Var(name='X'))
    """
    match term:
        case Compound(args=args):
            return args
        case ListTerm(items=items, tail=tail):
            return items if tail is None else (*items, tail)
        case _:
            return ()


def subterms(term: Term) -> Iterator[Term]:
    """The term and everything inside it, outside first."""
    stack = [term]
    while stack:
        current = stack.pop()
        yield current
        if isinstance(current, Compound | ListTerm):  # most terms have nothing inside
            stack.extend(reversed(children(current)))


def variables(term: Term) -> dict[str, Var]:
    """The variables of a term by name, in order of first occurrence.

    >>> list(variables(Compound("f", (Var("X"), Var("Y"), Var("X")))))
    ['X', 'Y']
    """
    if isinstance(term, Var):
        return {term.name: term}
    found: dict[str, Var] = {}
    for part in subterms(term):
        if isinstance(part, Var):
            found.setdefault(part.name, part)
    return found


def is_ground(term: Term) -> bool:
    """True when no variable occurs in the term."""
    return not any(isinstance(part, Var) for part in subterms(term))


def substitute(term: Term, bindings: Bindings) -> Term:
    """The term with bound variables replaced, again and again until none is left.

    >>> substitute(Compound("f", (Var("X"),)), {"X": Constant("a")})
    Compound(name='f', args=(Constant(name='a'),))
    """
    match term:
        case Var(name=name):
            bound = bindings.get(name)
            return term if bound is None else substitute(bound, bindings)
        case Compound(name=name, args=args, span=span):
            return Compound(name, tuple(substitute(arg, bindings) for arg in args), span)
        case ListTerm(items=items, tail=tail, span=span):
            new_items = tuple(substitute(item, bindings) for item in items)
            if tail is None:
                return ListTerm(new_items, None, span)
            new_tail = substitute(tail, bindings)
            if isinstance(new_tail, ListTerm):
                return ListTerm(new_items + new_tail.items, new_tail.tail, span)
            return ListTerm(new_items, new_tail, span)
        case _:
            return term


def functor(term: Term) -> tuple[str, int] | None:
    """Name and arity of an atom or compound term, None for anything else.

    >>> functor(Compound("go_to", (Var("X"), Var("Y"))))
    ('go_to', 2)
    >>> functor(Constant("up"))
    ('up', 0)
    """
    match term:
        case Constant(name=name):
            return (name, 0)
        case Compound(name=name, args=args):
            return (name, len(args))
        case _:
            return None


def args_of(term: Term) -> tuple[Term, ...]:
    """The arguments of an atom or compound term."""
    return term.args if isinstance(term, Compound) else ()


def key_of(term: Term) -> tuple[str, int]:
    """Name and arity of what is known to have a name, as events and fluents have."""
    return functor(term) or ("", -1)


def make(name: str, *args: Term) -> Constant | Compound:
    """`name(args...)`, or the atom when there are no arguments."""
    return Compound(name, args) if args else Constant(name)


# Comparing, copying and substituting recurse, and Python's stack holds about 250 terms.
DEEPEST = 100
LONGEST_BODY = 200


def too_deep(term: Term) -> bool:
    """True for terms beyond `DEEPEST`; in a chain of conditions only the length counts.

    >>> too_deep(Compound("f", (Compound("f", (Compound("f", ()),)),)))
    False
    """
    stack = [(term, 0, 0)]
    while stack:
        current, depth, length = stack.pop()
        if depth > DEEPEST or length > LONGEST_BODY:
            return True
        if isinstance(current, Compound) and current.name in (",", ";") and len(current.args) == 2:
            stack.append((current.args[0], depth + 1, length))
            stack.append((current.args[1], depth, length + 1))
        else:
            stack.extend((child, depth + 1, length) for child in children(current))
    return False


def deeper(nodes: Iterable[Node], parts: Callable[[Node], Iterable[Node]]) -> bool:
    """Are syntax trees deeper than `DEEPEST`?"""
    level = list(nodes)
    for _ in range(DEEPEST):
        level = [part for node in level for part in parts(node)]
    return bool(level)


# --- Python values and the terms they stand for, for predicates written in Python -----------------


def to_python(term: Term) -> object:
    """Atoms and strings become `str`, numbers numbers, lists lists; other terms stay terms."""
    match term:
        case Constant(name=name):
            return name
        case Int(value=value):
            return value
        case Float(value=real):
            return real
        case Str(value=text):
            return text
        case ListTerm(items=items, tail=None):
            return [to_python(item) for item in items]
        case _:
            return term


def to_term(value: object) -> Term:
    """The term a Python value stands for.

    >>> to_term([1, "a", True])
    ListTerm(items=(Int(value=1), Constant(name='a'), Constant(name='true')), tail=None)
    """
    match value:
        case bool():
            return Constant("true" if value else "false")
        case int():
            return Int(value)
        case float():
            return Float(value)
        case str():
            return Constant(value)
        case list() | tuple():
            return ListTerm(tuple(to_term(item) for item in value))
        case _:
            if isinstance(value, Term):
                return value
            raise TypeError(f"a Python predicate returned {value!r}, which is no term")


def parameter_count(function: Callable[..., object]) -> int:
    """How many arguments a Python predicate takes.

    Called with as many arguments it is a test; called with one more it computes the last one.
    """
    return len(inspect.signature(function).parameters)
