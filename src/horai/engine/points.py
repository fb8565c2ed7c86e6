"""Points of rules as relations that other rules read."""

from __future__ import annotations

from horai.engine.columns import codes, ints
from horai.engine.heads import EVERY, Said
from horai.engine.relations import Relation
from horai.engine.world import Terminations


def event_rows(said: Said) -> Relation:
    """Points of an event: arguments, time."""
    return Relation((*said.args, ints(said.time)), len(said))


def fluent_rows(said: Said) -> Relation:
    """Points of a fluent: arguments, value, time."""
    assert said.value is not None
    return Relation((*said.args, codes(said.value), ints(said.time)), len(said))


def termination_rows(said: Said) -> Terminations:
    """Terminations as rules see them."""
    if len(said) and said.value is not None and said.value[0] == EVERY:
        return Terminations(event_rows(said), said.form, True)
    return Terminations(fluent_rows(said), None, False)
