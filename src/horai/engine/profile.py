"""What a run cost: rows and seconds of every operator, rule and component.

An operator is known by its path: the operators it is inside of, then itself. So a procedure that
several rules call is told apart by who calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from horai.engine.frames import Frame
from horai.plan import operators as op
from horai.plan.program import Plan

Path = tuple[int, ...]


@dataclass(slots=True)
class Stats:
    """How often something ran, over how many rows and for how long, what is inside included."""

    calls: int = 0
    rows_in: int = 0
    rows_out: int = 0
    seconds: float = 0.0

    def add(self, rows_in: int, rows_out: int, seconds: float) -> None:
        """One more call."""
        self.calls += 1
        self.rows_in += rows_in
        self.rows_out += rows_out
        self.seconds += seconds


@dataclass(slots=True)
class Profile:
    """Filled in while a session runs. Operators, rules and components are known by `id`.

    `loose` are the seconds of operators that run outside of any rule's own time: where a component
    is settled cell by cell, bodies are asked piece by piece.
    """

    program: Plan | None = None
    by_operator: bool = False  # does the engine tell of operators, too?
    operators: dict[Path, Stats] = field(default_factory=dict)
    rules: dict[int, Stats] = field(default_factory=dict)
    loose: dict[int, float] = field(default_factory=dict)
    components: dict[int, Stats] = field(default_factory=dict)
    queries: int = 0
    seconds: float = 0.0
    _path: list[int] = field(default_factory=list)
    _rule: int | None = None
    _component: int | None = None

    def watch(self, step: op.Operator, frame: Frame, run: Callable[[], Frame]) -> Frame:
        """Run an operator and note what it did."""
        if self._path and self._path[-1] == id(step):
            return run()  # handed on from one evaluator to another, or a call that calls itself
        self._path.append(id(step))
        path = tuple(self._path)
        began = perf_counter()
        try:
            found = run()
        finally:
            self._path.pop()
        seconds = perf_counter() - began
        self.operators.setdefault(path, Stats()).add(frame.rows, found.rows, seconds)
        if self._rule is None and not self._path:
            self.loose[path[0]] = self.loose.get(path[0], 0.0) + seconds
        return found

    @contextmanager
    def rule(self, plan: object) -> Iterator[Stats]:
        """The time inside is that of a rule, unless it is part of what is timed already."""
        stats = self.rules.setdefault(id(plan), Stats())
        if self._rule is not None:
            yield Stats()
            return
        self._rule = id(plan)
        began = perf_counter()
        try:
            yield stats
        finally:
            stats.seconds += perf_counter() - began
            self._rule = None

    @contextmanager
    def component(self, stratum: object) -> Iterator[None]:
        """The time inside is that of a component, unless it is timed already."""
        if self._component is not None:
            yield
            return
        self._component = id(stratum)
        began = perf_counter()
        try:
            yield
        finally:
            self._component = None
        seconds = perf_counter() - began
        self.components.setdefault(id(stratum), Stats()).add(0, 0, seconds)

    @contextmanager
    def query(self) -> Iterator[None]:
        """The time inside is that of one query."""
        began = perf_counter()
        yield
        self.queries += 1
        self.seconds += perf_counter() - began
