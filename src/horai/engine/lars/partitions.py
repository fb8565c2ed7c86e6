"""Which signals are counted together by a window of the last ones."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import codes_of
from horai.engine.frames import unit
from horai.engine.hashing import dense
from horai.engine.lars.signals import Counted, Key, Signals
from horai.engine.relations import Relation, join
from horai.engine.symbols import Symbols
from horai.lang.core.terms import is_anonymous, variables
from horai.lang.lars.syntax import Pattern
from horai.temporal.spans import Ints


def groups_of(
    counted: Counted,
    signals: Signals,
    keys: list[Key],
    patterns: tuple[Pattern, ...] | None,
    symbols: Symbols,
) -> Ints:
    """The group of every signal: one for all, or one for each value of the variables of a pattern.

    The first pattern that fits counts; what fits none is in no group, -1.
    """
    if patterns is None:
        return np.zeros(len(counted.time), np.int64)
    found = np.full(len(counted.time), -1)
    groups = 0
    for pattern in patterns:
        for number, key in enumerate(keys):
            if pattern.name != key[0] or (pattern.args is not None and len(pattern.args) != key[1]):
                continue
            mine = np.flatnonzero((counted.predicate == number) & (found < 0))
            args = signals.rows[key].args
            table = Relation(tuple(c.take(counted.row[mine]) for c in args), len(mine))
            rows, groups_here = _values(table, pattern, symbols)
            found[mine[rows]] = groups_here + groups
            groups += int(groups_here.max()) + 1 if len(groups_here) else 0
    return found


def _values(table: Relation, pattern: Pattern, symbols: Symbols) -> tuple[Ints, Ints]:
    """The rows that fit a pattern, and a number for the values of its variables."""
    if pattern.args is None:
        return np.arange(table.rows), np.zeros(table.rows, np.int64)
    found = join(unit(), table, pattern.args, symbols)
    frame = found.to_frame(lambda _: True)
    named = {
        name
        for term in pattern.args
        for name, var in variables(term).items()
        if not is_anonymous(var)
    }
    keys = [codes_of(frame.columns[name], symbols) for name in sorted(named)]
    return found.source_rows(), dense(keys, frame.rows)[0]
