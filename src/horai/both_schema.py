"""Which rows of one stream an event description and a LARS program read."""

from __future__ import annotations

from collections.abc import Sequence

from horai import io
from horai.io.schema import TableKey, row_keys
from horai.lang.lars.anyone import is_made
from horai.lang.lars.predicates import derived, inputs
from horai.lang.lars.syntax import Program
from horai.lars_signals import AnySignals
from horai.plan.lars import classify
from horai.rules import Rules


class AllBut:
    """All keys but some."""

    def __init__(self, without: set[TableKey]) -> None:
        self.without = without

    def __contains__(self, key: object) -> bool:
        return key not in self.without


class Signals(AnySignals):
    """Rows of the description as it knows them; others are signals of the program.

    If windows count signals, rows of any name are signals; otherwise only those it knows.
    """

    everything = True

    def lookup(self, name: str) -> Sequence[io.InputType]:
        known = self.types.get(name, ())
        return known if known or not self.everything else super().lookup(name)


def schema_of(rules: Rules, program: Program) -> io.InputSchema:
    """The rows that a description and a program read from one stream."""
    known = {*inputs(program), *derived(program)}
    types = [kind for listed in rules.schema.types.values() for kind in listed]
    fluents = {(kind.name, kind.arity) for kind in types if kind.kind == "fluent"}
    fluents |= {(name, arity + 1) for name, arity in fluents}
    made = {entity.key for entity in rules.entities.outputs}
    types += [
        io.InputType(name, "event", arity)
        for name, arity in sorted(known)
        if (name, arity) not in fluents | made and not is_made(name)
    ]
    if classify(program).features & {"tuple", "partition"}:
        return Signals.of(types, rules.schema.derived)
    return io.InputSchema.of(types, rules.schema.derived)


def keys_of(schema: io.InputSchema) -> set[TableKey]:
    """The tables that rows of a schema come in."""
    return {key for types in schema.types.values() for kind in types for key in row_keys(kind)}
