"""Directed graphs, as far as plans need them: components, orders, paths.

Networkx has all of this and much more, but takes longer to load than small rules take to plan.
Nodes and edges keep the order in which they were added, so that nothing depends on hashing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

N = TypeVar("N", bound=Hashable)


class Digraph(Generic[N]):
    """Nodes, and edges from one to another or to itself.

    >>> graph = Digraph([("a", "b"), ("b", "a"), ("b", "c")])
    >>> [sorted(together) for together in graph.components()]
    [['a', 'b'], ['c']]
    >>> graph.path("a", "c")
    ['a', 'b', 'c']
    """

    def __init__(self, edges: Iterable[tuple[N, N]] = (), nodes: Iterable[N] = ()) -> None:
        self._after: dict[N, dict[N, None]] = {}
        self._before: dict[N, dict[N, None]] = {}
        self.add_nodes(nodes)
        self.add_edges(edges)

    def add_nodes(self, nodes: Iterable[N]) -> None:
        """Nodes, if they are new."""
        for node in nodes:
            self._after.setdefault(node, {})
            self._before.setdefault(node, {})

    def add_edge(self, source: N, target: N) -> None:
        """An edge, with its nodes."""
        self.add_nodes((source, target))
        self._after[source][target] = None
        self._before[target][source] = None

    def add_edges(self, edges: Iterable[tuple[N, N]]) -> None:
        """Edges, with their nodes."""
        for source, target in edges:
            self.add_edge(source, target)

    def __contains__(self, node: object) -> bool:
        return node in self._after

    @property
    def nodes(self) -> list[N]:
        """All nodes."""
        return list(self._after)

    @property
    def edges(self) -> list[tuple[N, N]]:
        """All edges."""
        return [(source, target) for source, after in self._after.items() for target in after]

    def successors(self, node: N) -> Iterable[N]:
        """Where edges lead from a node."""
        return self._after[node].keys()

    def predecessors(self, node: N) -> Iterable[N]:
        """Where edges lead to a node from."""
        return self._before[node].keys()

    def has_edge(self, source: N, target: N) -> bool:
        """Is there this edge?"""
        return source in self._after and target in self._after[source]

    # --- what hangs together ---------------------------------------------------------------------

    def components(self) -> list[frozenset[N]]:
        """Nodes that reach each other, each group after all groups from which edges lead to it."""
        found: list[frozenset[N]] = []
        index: dict[N, int] = {}  # in the order of the first visit
        low: dict[N, int] = {}  # the first node on the stack that is known to be reached
        stack: dict[N, None] = {}
        for root in self._after:
            if root in index:
                continue
            trail = [(root, self._visit(root, index, low, stack))]
            while trail:
                node, targets = trail[-1]
                target = next((t for t in targets if t not in index or t in stack), None)
                if target is None:
                    trail.pop()
                    if trail:
                        above = trail[-1][0]
                        low[above] = min(low[above], low[node])
                    if low[node] == index[node]:
                        found.append(_popped(stack, node))
                elif target in index:
                    low[node] = min(low[node], index[target])
                else:
                    trail.append((target, self._visit(target, index, low, stack)))
        return found[::-1]

    def _visit(
        self, node: N, index: dict[N, int], low: dict[N, int], stack: dict[N, None]
    ) -> Iterator[N]:
        index[node] = low[node] = len(index)
        stack[node] = None
        return iter(self._after[node])

    def component_of(self) -> dict[N, int]:
        """The number of each node's component."""
        return {n: number for number, group in enumerate(self.components()) for n in group}

    # --- orders and paths ------------------------------------------------------------------------

    def has_cycle(self) -> bool:
        """Does a path lead from a node back to it? A loop at one node is one."""
        loops = any(node in after for node, after in self._after.items())
        return loops or any(len(group) > 1 for group in self.components())

    def ordered(self, place: Callable[[N], int]) -> list[N]:
        """The nodes, each after its predecessors and ties by place; the graph has no cycles."""
        waiting = {node: len(before) for node, before in self._before.items()}
        number = {node: k for k, node in enumerate(self._after)}
        ready = [(place(n), number[n], n) for n in self._after if not waiting[n]]
        heapify(ready)
        found: list[N] = []
        while ready:
            node = heappop(ready)[2]
            found.append(node)
            for target in self._after[node]:
                waiting[target] -= 1
                if not waiting[target]:
                    heappush(ready, (place(target), number[target], target))
        return found

    def below(self, node: N) -> set[N]:
        """What a path of at least one edge leads to."""
        after = self._after.get(node, ())
        return {one for target in after for one in _reached(target, self.successors)}

    def path(self, source: N, target: N) -> list[N] | None:
        """A shortest path, both ends included."""
        came_from = _reached(source, self.successors)
        if target not in came_from:
            return None
        found = [target]
        while found[-1] != source:
            found.append(came_from[found[-1]])
        return found[::-1]


def _popped(stack: dict[N, None], until: N) -> frozenset[N]:
    """Take a component off the stack."""
    group: list[N] = []
    while not group or group[-1] != until:
        group.append(stack.popitem()[0])
    return frozenset(group)


def _reached(start: N, following: Callable[[N], Iterable[N]]) -> dict[N, N]:
    """The nodes that can be reached, nearest first, and from where each was."""
    came_from = {start: start}
    for node in (queue := [start]):
        for target in following(node):
            if target not in came_from:
                came_from[target] = node
                queue.append(target)
    return came_from
