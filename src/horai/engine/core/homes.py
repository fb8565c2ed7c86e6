"""Where instances are at home: by which argument of its key a row belongs together with others.

Items are settled home by home, while what they concern is in the cache. So the best argument of a
table is the one that rules share with the other tables they speak of, as the motion of a vote and
not the voter, where rules ask how the motion stands.
"""

from __future__ import annotations

from collections import Counter

from horai.engine.core.layout import Layout, rule_literals
from horai.lang.core.terms import Var
from horai.lang.ec import syntax as ec

SWEEPS = 8
Place = tuple[int, int]  # the number of a table, and a place in its key


def choose_homes(layout: Layout) -> None:
    """Give each table its home, by what rules speak of together."""
    tables = layout.tables
    shared: Counter[tuple[Place, Place]] = Counter()
    for rule in layout.plan.description.rules:
        for places in _places_of_variables(layout, rule):
            for number, one in enumerate(places):
                for other in places[number + 1 :]:
                    shared[one, other] += 1
                    shared[other, one] += 1
    met: dict[int, list[tuple[int, Place, int]]] = {}
    for (one, other), times in shared.items():
        met.setdefault(one[0], []).append((one[1], other, times))
    for _ in range(SWEEPS):
        before = [table.home for table in tables]
        for table in tables:
            gains = Counter[int]()
            for place, (number, there), times in met.get(table.number, ()):
                if there == (place if number == table.number else tables[number].home):
                    gains[place] += times
            if gains:
                best = max(gains.values())
                if gains[table.home] < best:
                    table.home = min(place for place in gains if gains[place] == best)
        if before == [table.home for table in tables]:
            break


def _places_of_variables(layout: Layout, rule: ec.Rule) -> list[list[Place]]:
    """Where in keys each variable of a rule stands."""
    found: dict[str, list[Place]] = {}
    for kind, key, terms in rule_literals(rule):
        for relation in [layout.events[key]] if kind == "event" else layout.fluents[key]:
            for place, at in enumerate(relation.keys):
                term = terms[at]
                if isinstance(term, Var):
                    found.setdefault(term.name, []).append((relation.table.number, place))
    return list(found.values())
