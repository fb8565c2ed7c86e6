"""Our graphs against those of networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from horai.plan.graphs import Digraph

edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=16)
nodes = st.lists(st.integers(0, 9), max_size=5)


def both(edges: list[tuple[int, int]], nodes: list[int]) -> tuple[Digraph[int], nx.DiGraph[int]]:
    theirs: nx.DiGraph[int] = nx.DiGraph()
    theirs.add_nodes_from(nodes)
    theirs.add_edges_from(edges)
    return Digraph(edges, nodes), theirs


@given(edges, nodes)
def test_nodes_edges_and_components(edges: list[tuple[int, int]], nodes: list[int]) -> None:
    ours, theirs = both(edges, nodes)
    assert ours.nodes == list(theirs.nodes)
    assert ours.edges == list(theirs.edges)
    found = ours.components()
    assert len(found) == len(set(found))
    assert set(found) == {frozenset(c) for c in nx.strongly_connected_components(theirs)}
    number = ours.component_of()
    assert all(number[a] <= number[b] for a, b in ours.edges)
    for node in ours.nodes:
        assert list(ours.successors(node)) == list(theirs.successors(node))
        assert list(ours.predecessors(node)) == list(theirs.predecessors(node))


@given(edges, nodes)
def test_paths_and_cycles(edges: list[tuple[int, int]], nodes: list[int]) -> None:
    ours, theirs = both(edges, nodes)
    assert ours.has_cycle() == (not nx.is_directed_acyclic_graph(theirs))
    for a in ours.nodes:
        for b in ours.nodes:
            path = ours.path(a, b)
            assert (path is not None) == nx.has_path(theirs, a, b)
            if path is not None:
                assert path[0] == a and path[-1] == b
                assert len(path) == len(nx.shortest_path(theirs, a, b))
                assert all(ours.has_edge(*step) for step in pairwise(path))


@given(edges, nodes, st.permutations(range(10)))
def test_orders(edges: list[tuple[int, int]], nodes: list[int], place: list[int]) -> None:
    ours, theirs = both([(a, b) for a, b in edges if a < b], nodes)
    expected = nx.lexicographical_topological_sort(theirs, key=lambda node: place[node])
    assert ours.ordered(place.__getitem__) == list(expected)
