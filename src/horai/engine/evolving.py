"""A session that goes on with other rules.

What is known at the border of the window stays, and from there on the new rules hold: the items of
the window are looked at anew with them. A fluent that was there before goes on with the values it
had by then; one that is new begins with none. Up to the border all is as it was told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from horai.engine.clockstate import ClockState
from horai.engine.horizon import sources_of
from horai.engine.memory import Memory
from horai.engine.saved import NotRestored, install, unpack
from horai.engine.session import Session
from horai.plan.ec.reach import Source
from horai.plan.program import Key, Plan, Stratum

T = TypeVar("T")
Where = dict[Source, int]


def evolve(session: Session, saved: bytes, old: Plan) -> None:
    """Put a fresh session where one with other rules was saved; `NotRestored` says why not."""
    state = unpack(session, saved)
    cut, _ = state["inputs"]
    before: list[Memory] = list(state["memories"])
    makers: Where = {s: n for n, stratum in enumerate(old.strata) for s in sources_of(stratum)}
    state["memories"] = [
        _memory(stratum, old, makers, before, max(int(cut), session.start))
        for stratum in session.program.strata
    ]
    install(session, state)


def _memory(
    stratum: Stratum, old: Plan, makers: Where, before: list[Memory], border: int
) -> Memory:
    """What a component knows, of what others knew of the same relations."""
    sources = sources_of(stratum)
    places = sorted({makers[source] for source in sources if source in makers})
    if not places:
        return Memory(border)
    first = old.strata[places[0]]
    if len(places) == 1 and set(sources_of(first)) == set(sources) and _same(first, stratum):
        return _renumbered(before[places[0]], first, stratum)
    cuts = {before[place].cut for place in places}
    if len(cuts) > 1:
        raise NotRestored(
            f"{_named(sources)} are now worked out together, and were final up to different times"
        )
    found = Memory(cuts.pop())
    for place in places:
        _take(found, before[place], old.strata[place], stratum)
    return found


def _take(found: Memory, memory: Memory, then: Stratum, now: Stratum) -> None:
    """What was known of the relations that a component still makes."""
    simple, static = set(now.fluents), {plan.key for plan in now.static}
    turned = (set(then.fluents) & static) | ({plan.key for plan in then.static} & simple)
    if turned:
        raise NotRestored(
            f"{_named([('fluent', key) for key in sorted(turned)])} was worked out from intervals "
            "and now is from initiations, or the other way round"
        )
    made = {key for _, key in sources_of(now)}
    found.held |= _of(memory.held, made)
    found.fluents |= _of(memory.fluents, made)
    found.points |= {place: table for place, table in memory.points.items() if place[1] in made}
    found.terminations |= _of(memory.terminations, made)


def _of(tables: dict[Key, T], keys: set[Key]) -> dict[Key, T]:
    return {key: table for key, table in tables.items() if key in keys}


def _same(then: Stratum, now: Stratum) -> bool:
    """Have two components the same rules, in the same order?"""
    return _texts(then) == _texts(now)


def _texts(stratum: Stratum) -> list[list[str]]:
    groups = (stratum.points, stratum.initially, stratum.static, stratum.delays)
    clauses = [[plan.clause for plan in group] for group in groups]
    return [[c.source.text[slice(*c.span)] for c in some] for some in clauses]


def _renumbered(memory: Memory, then: Stratum, now: Stratum) -> Memory:
    """Attempts are known by the numbers of their rules, which others may have moved."""
    if memory.clock is None:
        return memory
    pairs = zip(then.delays, now.delays, strict=True)
    number = {old.number: new.number for old, new in pairs}
    clock = ClockState(
        [replace(p, rule=number[p.rule]) for p in memory.clock.pending if p.rule in number],
        {
            (number[rule], owner, value): time
            for (rule, owner, value), time in memory.clock.acted.items()
            if rule in number
        },
    )
    return replace(memory, clock=clock)


def _named(sources: list[Source]) -> str:
    return " and ".join(f"{name}/{arity}" for _, (name, arity) in sources)
