"""What depends on what in a LARS program, as a picture."""

from __future__ import annotations

from horai.plan.graphs import Digraph
from horai.plan.lars.findings import named
from horai.plan.lars.reading import Readings
from horai.report.drawing import Arrow, Box, Drawing, Node

Predicate = tuple[str, int]
LEGEND = (
    "columns: levels  |  dashed: signal or background  |  arrow: is read by  |  "
    "bar: is read under `not`  |  red box: recursion",
)


def program_graph(readings: Readings) -> Drawing:
    """A node for every predicate, and a box around those that need each other."""
    made, edges = readings.derived, readings.edges
    drawn = sorted(made | {one for one, _ in edges})  # constraints derive nothing
    numbers = {one: f"n{place}" for place, one in enumerate(drawn)}
    level: dict[Predicate, int] = {}
    nodes: list[Node] = []
    boxes: list[Box] = []
    for together in Digraph(edges, drawn).components():
        below = [level[a] + 1 for a, b in edges if b in together and a not in together]
        level.update(dict.fromkeys(together, max(below, default=0)))
        found = tuple(
            Node(numbers[one], named(one), "determined" if one in made else "input", level[one])
            for one in sorted(together)
        )
        if len(found) > 1 or any((one, one) in edges for one in together):
            boxes.append(Box(f"c{len(boxes)}", "recursion", found, cyclic=True))
        else:
            nodes += found
    arrows = (
        Arrow(numbers[source], numbers[target], negative=negative)
        for (source, target), negative in sorted(edges.items())
    )
    return Drawing(tuple(nodes), tuple(boxes), tuple(arrows), LEGEND)
