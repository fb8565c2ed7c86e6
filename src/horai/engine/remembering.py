"""From what a component said to what is kept of it until the next query."""

from __future__ import annotations

from collections.abc import Callable

from horai.engine.findings import Findings
from horai.engine.memory import Memory, clipped, ended, holding, later, only, union
from horai.engine.relations import Relation, different, joined
from horai.engine.symbols import Symbols
from horai.engine.world import Terminations
from horai.plan.ec.reach import Source

Key = tuple[str, int]
Keep = Callable[[Source], int]


class KnownPairs:
    """Pairs whose spans have been forgotten: complements still speak of them."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.wanted: frozenset[Key] = frozenset()
        self.pairs: dict[Key, Relation] = {}

    def add(self, key: Key, pairs: Relation) -> None:
        """Note pairs that are about to be forgotten, if anyone will ask for them."""
        if key in self.wanted and pairs.rows:
            before = [self.pairs[key]] if key in self.pairs else []
            self.pairs[key] = different(joined([*before, pairs], self.symbols), self.symbols)


def remember(
    memory: Memory,
    found: Findings,
    cut: int,
    keep: Keep,
    symbols: Symbols,
    known: KnownPairs,
    since: int | None = None,
) -> Memory:
    """The memory of a component at a later cut; `since` is how far back intervals are compared."""
    since = cut if since is None else since
    kept = Memory(cut, rows=found.rows, owners=found.owners, clock=found.clock)
    for key, fluent in found.fluents.items():
        bound = min(keep(("fluent", key)), cut)
        parts = [fluent, *([memory.fluents[key]] if key in memory.fluents else [])]
        whole = union(parts, key[1] + 1, symbols)
        known.add(key, only(whole, whole.spans.end <= bound).pairs)
        if key in found.simple:
            kept.held[key] = holding(whole, cut, symbols)
            kept.fluents[key] = ended(whole, cut, bound)
        else:
            kept.fluents[key] = clipped(whole, cut, bound)
    for (kind, key), points in found.points.items():
        source: Source = ("event" if kind == "event" else "fluent", key)
        parts_ = [points, *([memory.points[kind, key]] if (kind, key) in memory.points else [])]
        kept.points[kind, key] = later(joined(parts_, symbols), keep(source), cut)
    for key, listed in found.terminations.items():
        bound = keep(("fluent", key))
        every = [*listed, *memory.terminations.get(key, ())]
        cut_down = [
            Terminations(later(one.table, bound, cut), one.form, one.every) for one in every
        ]
        kept.terminations[key] = [one for one in cut_down if one.table.rows]
    for place, lists in found.operands.items():
        kept.operands[place] = {
            number: (clipped(fluent, cut, since), rows) for number, (fluent, rows) in lists.items()
        }
    return kept
