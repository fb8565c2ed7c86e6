"""What the code of a machine is made of: instructions, labels, registers, tables to look up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from horai.lang.printer import show
from horai.lang.terms import Term, Var, is_ground
from horai.plan import opcodes as do
from horai.plan import operators as op
from horai.plan.program import Key, PointPlan
from horai.plan.scopes import names

Env = dict[str, int]  # variables and their registers
Node = tuple[str, Key]
LARGEST = 3000  # instructions of one component: alternatives inside alternatives multiply


class NotCompiled(Exception):
    """Why a component has no program."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that rules look up: background facts, points or pairs that were settled before (pairs
    with their numbers as a last column), or the candidates of a rule (`columns` of them).

    `order` are the columns as they are kept; the first `keys` of them are those asked for.
    """

    facts: Key | None = None
    points: tuple[op.PointKind, Key] | None = None
    fluent: Key | None = None
    rule: PointPlan | None = None
    columns: tuple[str, ...] = ()
    order: tuple[int, ...] = ()
    keys: int = 0


@dataclass(frozen=True, slots=True)
class Index:
    """Instances of a node by some of their arguments."""

    node: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of a rule as if they were facts."""

    plan: PointPlan
    columns: tuple[str, ...]


Step = op.Operator | Candidates
Column = Term | op.Operator  # what a candidate brings along: a term, or whether a condition is met


class Words:
    """The code of a component as it is written, one rule after the other."""

    def __init__(self, nodes: dict[Node, int]) -> None:
        self.nodes = nodes
        self.code: list[list[int]] = [[do.STOP, 0, 0, 0, 0, 0]]
        self.stop = 0  # a label and, since it stands first, a place
        self.pool: list[int] = []
        self.constants: dict[Term, int] = {}
        self.tables: list[Table] = []
        self.indexes: list[Index] = []
        self.lists: set[int] = set()  # those that some rule reads
        self._labels = [0]
        self._next = do.OTHERS
        self.begin(None, frozenset())

    def begin(self, time: Term | None, given: frozenset[str]) -> None:
        """A new rule: its time, and the variables that candidates bring along."""
        self.time = time
        self.given = given
        self.columns: list[Column] = []
        self._next = do.OTHERS

    def here(self) -> int:
        """The place of the next instruction."""
        return len(self.code)

    def add(
        self, operation: int, a: int = 0, b: int = 0, c: int = 0, d: int = 0, *, fail: int = 0
    ) -> None:
        """One more instruction."""
        if len(self.code) > LARGEST:
            raise NotCompiled("its rules have too many alternatives")
        self.code.append([operation, a, b, c, d, fail])

    def jump(self, label: int) -> None:
        """Go on elsewhere."""
        self.add(do.JUMP, fail=label)

    def finish(self) -> None:
        """Labels become places."""
        for row in self.code:
            row[5] = self._labels[row[5]]

    def label(self) -> int:
        """A place that is not known yet."""
        self._labels.append(-1)
        return len(self._labels) - 1

    def place(self, label: int) -> None:
        """A label stands for the next instruction."""
        self._labels[label] = self.here()

    def register(self) -> int:
        """A register that nothing else uses."""
        self._next += 1
        if self._next > do.CONSTANTS:
            raise NotCompiled("a rule has too many variables")
        return self._next - 1

    def constant(self, term: Term) -> int:
        """The register of a ground term."""
        return self.constants.setdefault(term, do.CONSTANTS + len(self.constants))

    def find(self, term: Term, env: Env) -> int | None:
        """The register of a term, None if it has a variable without a value."""
        if is_ground(term):
            return self.constant(term)
        if isinstance(term, Var) and term.name in env:
            return env[term.name]
        if term == self.time:
            return do.TIME
        return self.column(term) if names(term) <= self.given else None

    def column(self, brought: Column) -> int:
        """The register of what candidates bring along."""
        if brought not in self.columns:
            self.columns.append(brought)
        if len(self.columns) > do.OTHERS - do.GIVEN:
            raise NotCompiled("a rule has too many variables")
        return do.GIVEN + self.columns.index(brought)

    def known(self, term: Term, env: Env) -> int:
        """The register of a term that must have one."""
        found = self.find(term, env)
        if found is None:
            raise NotCompiled(f"`{show(term)}` is put together only at run time")
        return found

    def args(self, terms: Sequence[Term], env: Env) -> int:
        """The place in the pool of the registers of some terms."""
        registers = [self.known(term, env) for term in terms]
        self.pool += registers
        return len(self.pool) - len(registers)

    def match(self, pattern: Term, register: int, env: Env, fail: int) -> None:
        """Code that compares with a pattern, or gives its variable a value."""
        found = self.find(pattern, env)
        if found is not None:
            self.add(do.SAME, found, register, fail=fail)
        elif isinstance(pattern, Var):
            env[pattern.name] = register
        else:
            raise NotCompiled(f"`{show(pattern)}` is taken apart only at run time")
