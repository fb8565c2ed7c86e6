"""What random event descriptions are made of: clauses as text, and the entities they speak of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

THINGS = ("x", "y")  # entities of the domain
STRANGER = "z"  # occurs in streams, but is in no domain
LETTERS = ("a", "b")
NUMBERS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class ClauseText:
    """A clause whose conditions can be put in any order."""

    head: str
    body: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.head}." if not self.body else f"{self.head} :- {', '.join(self.body)}."


@dataclass(frozen=True, slots=True)
class Entity:
    """An event or fluent. `values` is empty for an event, `steps` for what has no points."""

    name: str
    values: tuple[str, ...] = ()
    simple: bool = False
    alone: bool = False  # without arguments
    wrapped: bool = False  # with a compound term as its argument
    has_letter: bool = False  # an event with a second argument

    def of(self, who: str) -> str:
        """The event or fluent of an entity.

        >>> Entity("f", ("true",), wrapped=True).of("X")
        'f(k(X))'
        """
        if self.alone:
            return self.name
        argument = f"k({who})" if self.wrapped else who
        return f"{self.name}({argument},L)" if self.has_letter else f"{self.name}({argument})"

    def pair(self, who: str, value: str) -> str:
        """The fluent-value pair of an entity."""
        return f"{self.of(who)}={value}"


# What comes in with the stream.
TICK_EVENT = Entity("e0", alone=True)
EVENTS = (Entity("e1"), Entity("e2"), Entity("e3", has_letter=True), TICK_EVENT)
INTERVALS = Entity("i1", ("true",))
POINTS = Entity("i2", LETTERS)
NUMBER_EVENT = "e4"  # e4(X,N): a number


class Described:
    """A random event description."""

    def __init__(
        self, clauses: Iterable[ClauseText], tick: int = 1, features: frozenset[str] = frozenset()
    ) -> None:
        self.clauses = tuple(clauses)
        self.tick = tick
        self.features = features

    @property
    def text(self) -> str:
        """The description as a file."""
        return text_of(self.clauses)

    def __repr__(self) -> str:
        # What Hypothesis prints for a failing example: readable, and ready to become a case.
        return f"tick {self.tick}\n{self.text}"


def text_of(clauses: Iterable[ClauseText]) -> str:
    """Clauses as a file."""
    return "".join(f"{clause}\n" for clause in clauses)
