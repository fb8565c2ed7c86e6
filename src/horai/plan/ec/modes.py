"""What literals need bound before they can be evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import BUILTINS

# The argument positions that must be bound; several sets are alternatives.
Modes = tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class PythonPredicate:
    """A predicate registered from Python, with the number of its parameters if known.

    Called with one argument more than it has parameters, it computes the last one; otherwise it
    tests its arguments.
    """

    name: str
    parameters: int | None = None

    def inputs(self, arguments: int) -> int:
        """How many arguments of a call must be bound."""
        return arguments if self.parameters is None else min(arguments, self.parameters)

    def accepts(self, arguments: int) -> bool:
        """True when it can be called with so many arguments."""
        return self.parameters is None or arguments - self.parameters in (0, 1)


@dataclass(frozen=True, slots=True)
class ModeTable:
    """The modes of callable predicates; a predicate that is not listed binds everything."""

    background: Mapping[tuple[str, int], Modes] = field(default_factory=dict)
    python: Mapping[str, PythonPredicate] = field(default_factory=dict)
    # Arguments that any value satisfies, as in `price(_, 10)`: neither needed nor given a value.
    open: Mapping[tuple[str, int], frozenset[int]] = field(default_factory=dict)
    # In rules for interval lists, variables of `holdsFor` range over all who are known.
    ranging: bool = False

    def of(self, call: ec.Call) -> Modes:
        """The alternatives of argument positions that a call needs bound."""
        key = call.key
        if key in self.background:
            return self.background[key]
        if call.name in self.python:
            inputs = self.python[call.name].inputs(len(call.args))
            return (frozenset(range(inputs)),)
        if call.name in ("var", "nonvar"):
            return (frozenset({0}),)
        if key in BUILTINS:
            modes = BUILTINS[key].modes
            return (frozenset(i for i, mode in enumerate(modes) if mode == "+"),)
        return (frozenset(),)
