"""Dynamic domains: members come from the arguments of input items, through their groundings."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import Column, bits, codes
from horai.engine.frames import Frame
from horai.engine.hashing import dense
from horai.engine.inputs import flattened
from horai.engine.matching import build, match
from horai.engine.relations import Relation, joined
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.plan.program import GroundingPlan, Program
from horai.plan.scopes import names

Key = tuple[str, int]


def members(program: Program, stream: Stream, symbols: Symbols) -> dict[Key, Relation]:
    """What the items that count now put into the dynamic domains."""
    found: dict[Key, list[Relation]] = {key: [_nobody(key)] for key in program.dynamic}
    if not found:
        return {}
    for kind in ("event", "fluent"):
        for key in stream.keys(kind):
            if kind == "event":
                rows = stream.events(key)
                args, value, size = rows.args, None, len(rows.time)
            else:
                fluents = stream.fluents(key)
                args, value, size = fluents.args, fluents.value, len(fluents.start)
            for flat, columns, chosen in flattened(key, args, size, program.unwrapping, symbols):
                taken = None if value is None else value.take(chosen)
                for plan in program.groundings.get(flat, ()):
                    _fill(found, plan, columns, taken, len(chosen), symbols)
    return {key: joined(parts, symbols) for key, parts in found.items()}


def _nobody(key: Key) -> Relation:
    return Relation(tuple(codes(np.empty(0, np.int64)) for _ in range(key[1])), 0)


def _fill(
    found: dict[Key, list[Relation]],
    plan: GroundingPlan,
    args: tuple[Column, ...],
    value: Column | None,
    rows: int,
    symbols: Symbols,
) -> None:
    calls = [call for call in plan.calls if call.key in found]
    if not calls or (value is None and plan.value is not None):
        return
    columns = args if value is None or plan.value is None else (*args, value)
    terms = plan.terms if value is None or plan.value is None else (*plan.terms, plan.value)
    _, firsts = dense([bits(column) for column in columns], rows)
    frame = Frame(len(firsts)).numbered("@row")
    for pattern, column in zip(terms, columns, strict=True):
        here = column.take(firsts[frame.columns["@row"].data])
        fits = match(pattern, here, frame.columns, symbols)
        frame = frame.take(fits.rows).with_columns(fits.new)
    for call in calls:
        if frame.rows and names(*call.args) <= set(frame.columns):
            made = tuple(build(arg, frame.columns, frame.rows, symbols) for arg in call.args)
            found[call.key].append(Relation(made, frame.rows))
