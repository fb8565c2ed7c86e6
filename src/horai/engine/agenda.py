"""When something can happen in a component: moments, by cells of the grid of time-points."""

from __future__ import annotations

import heapq


class Agenda:
    """The cells that are still to be settled, in time order, and the moments of each."""

    def __init__(self, low: int, query: int, tick: int) -> None:
        self.low = low
        self.query = query
        self.tick = tick
        self._cells: list[int] = []
        self._between: dict[int, set[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._cells)

    def cell_of(self, t: int) -> int:
        """The last time-point not after t."""
        return t - t % self.tick

    def visit(self, t: int) -> None:
        """Something can happen at t."""
        if t <= self.low:
            return
        cell = self.cell_of(t)
        self._between.setdefault(cell, set()).add(t)
        heapq.heappush(self._cells, cell)

    def visit_all(self) -> None:
        """Something can happen at every time-point."""
        first = self.low + self.tick - self.low % self.tick
        for t in [self.low + 1, *range(first, self.query + 1, self.tick)]:
            self.visit(t)

    def next(self) -> int:
        """The next cell; one may come several times, in a row."""
        return heapq.heappop(self._cells)

    def moments(self, cell: int) -> list[int]:
        """When something can happen in a cell."""
        return self.inside([cell, *self._between.get(cell, ())])

    def inside(self, times: list[int]) -> list[int]:
        """Those of some times that are within the run, in order and each once."""
        return sorted({t for t in times if self.low < t <= self.query})
