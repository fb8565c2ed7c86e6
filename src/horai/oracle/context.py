"""What the evaluation of a condition can see."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping

from horai.lang.ec.syntax import Literal
from horai.lang.terms import Term
from horai.oracle.background import Background, Row, Table
from horai.oracle.errors import FutureRead as FutureRead
from horai.oracle.errors import Stuck as Stuck
from horai.oracle.scopes import Scopes
from horai.oracle.unify import Env
from horai.oracle.world import Key, World

PythonPredicate = Callable[..., object]
Domains = Mapping[str, list[Term]]


class Context(ABC):
    """World, background knowledge and the state of an evaluation."""

    def __init__(
        self,
        world: World,
        background: Background,
        scopes: Scopes,
        domain_rows: Mapping[Key, list[Row]],
        python: Mapping[str, PythonPredicate],
    ) -> None:
        self.world = world
        self.background = background
        self.scopes = scopes
        self.python = python
        self.dynamic = domain_rows
        self.domains: Domains = {}  # values for variables of `holdsFor` that nothing else binds
        self.horizon: int | None = None  # in a cycle: the first point not settled yet
        self.members: frozenset[Key] = frozenset()  # the fluents of the cycle being settled
        self.events: frozenset[Key] = frozenset()  # and its output events
        # Is a ground entity inside its grounding? Set by who knows the groundings.
        self.in_domain: Callable[[Term, Term | None], bool] = lambda entity, value: True
        self.nothing_absent = False  # formulas: no absence at the very start of the run
        self.domain_answers: dict[tuple[Term, Term | None], bool] = {}  # of groundings, asked once
        self.domain_rows: dict[Key, list[tuple[Term, Term | None]]] = {}
        self.open_domains: set[Key] = set()  # of groundings that leave an argument open
        self._tables: dict[Key, Table] = {}
        self._depth = 0

    @abstractmethod
    def solve(self, goals: tuple[Literal, ...], env: Env) -> Iterator[Env]:
        """All environments that extend `env` and satisfy every goal."""


def once(env: Env | None) -> Iterator[Env]:
    """The environment, if there is one."""
    if env is not None:
        yield env
