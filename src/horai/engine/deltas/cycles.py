"""Components that depend on themselves, by change.

They are settled in the order of time, entity by entity. An entity whose candidates came or went
goes back to the snapshot before, and on from there, from one snapshot to the next, until it is
as it was; those with new candidates or open attempts go on from the last query. All others stay as
they are.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from horai.engine.clockstate import ClockState
from horai.engine.columns import codes, codes_of, ints
from horai.engine.components import Components, held_by_both
from horai.engine.deltas.candidates import CandidateDelta, HeardDelta, no_points, touched_times
from horai.engine.deltas.changes import Changed, touched, within_reach
from horai.engine.deltas.cycle_rules import CycleRules, Watched
from horai.engine.deltas.entities import Args, Entities, entities
from horai.engine.deltas.log import Log
from horai.engine.deltas.rewriting import Rewriting, differing, held_at, holders, lasting
from horai.engine.deltas.rules import Logs
from horai.engine.deltas.settling import Course, Part, settler_of
from horai.engine.deltas.snapshots import Snapshots, together
from horai.engine.deltas.store import FluentStore
from horai.engine.findings import Findings
from horai.engine.frames import unit
from horai.engine.matching import build
from horai.engine.memory import Memory, holding, only, union
from horai.engine.relations import Relation, join, joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, no_fluent
from horai.plan.program import Key, Plan
from horai.temporal.spans import INF

AT_FIRST = 8  # snapshots that are made when everything is worked out from the cut on


class CycleDelta:
    """One component: its candidates, its fluents and events, and the clocks at its snapshots."""

    def __init__(self, rules: CycleRules, program: Plan, symbols: Symbols) -> None:
        self.rules, self.keys, self.symbols = rules, rules.keys, symbols
        self.stratum = rules.stratum
        self.candidates = [CandidateDelta(one, symbols) for one in rules.candidates]
        self.heard = {
            key: HeardDelta(key, rules.keys.places["event", key], symbols) for key in rules.heard
        }
        self.settler = settler_of(rules, program)
        self.snapshots = Snapshots(rules.keys)
        self.stores: dict[Key, FluentStore] = {}
        self.logs: dict[Key, Log] = {}
        self._carried: ClockState | None = None  # at the cut that findings were asked for

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything after the cut from scratch, beside what is remembered."""
        cut = components.heads.low = memory.cut
        for rule in self.candidates:
            rule.begin(components.heads, logs)
        for heard in self.heard.values():
            heard.begin(logs, cut)
        self.settler.begin(components)
        fluents, events = self._from_cut(components, memory)
        for key, parts in fluents.items():
            self.stores[key] = FluentStore(union(parts, key[1] + 1, self.symbols), self.symbols)
        for key, tables in events.items():
            log = self.logs[key] = Log(no_points(key[1]), self.symbols)
            log.add(joined(tables, self.symbols))

    def _from_cut(
        self, components: Components, memory: Memory
    ) -> tuple[dict[Key, list[Fluent]], dict[Key, list[Relation]]]:
        """All entities from the cut on, from one snapshot to the next."""
        cut, query = memory.cut, components.world.query
        state = memory.clock or ClockState()
        held = components.held(self.stratum, memory, Findings())
        fluents = {
            key: [memory.fluents.get(key, no_fluent(key[1] + 1))] for key in self.stratum.fluents
        }
        events = {
            key: [memory.points.get(("event", key), no_points(key[1]))]
            for key in self.stratum.events
        }
        self.snapshots.begin(cut, state)
        times = np.linspace(cut, query, min(AT_FIRST, query - cut) + 1).astype(np.int64).tolist()
        for low, high in pairwise(times):
            part = self._part(None, low, high, held, state)
            if self.rules.looks_back:
                part.past = {k: union(f, k[1] + 1, self.symbols) for k, f in fluents.items()}
            course = self.settler.settle(components, part)
            state = course.state
            held = {key: lasting(one, self.symbols) for key, one in course.fluents.items()}
            for key, fluent in course.fluents.items():
                over = fluent if high == query else only(fluent, fluent.spans.end != INF)
                fluents[key].append(over)
            for key, table in course.events.items():
                events[key].append(table)
            self.snapshots.add(high, self.snapshots.clocks(state))
        return fluents, events

    def step(self, components: Components, logs: Logs, changed: Changed, memory: Memory) -> Changed:
        """How its relations change with what they read, and as time goes on."""
        components.heads.low = memory.cut
        self.settler.begin(components)
        segments = self._segments(components, logs, changed)
        anew = Rewriting(self.keys, self.stores, self.logs, self.symbols)
        begun: dict[Args, int] = {}  # those who are not as they were, and since when
        carried: dict[Key, Held] = {}
        every = self.snapshots.every
        now = components.world.query
        clocks: dict[Args, ClockState] = {}
        for place, check in enumerate(every):
            new = segments.get(place, set()) - begun.keys()
            if not new and not begun:
                continue
            begun |= dict.fromkeys(new, check.time)
            who = entities(set(begun), self.keys.width)
            high = every[place + 1].time if place + 1 < len(every) else now
            held = self._held(entities(new, self.keys.width), check.time, carried)
            part = self._part(who, check.time, high, held, check.state(set(begun)))
            if self.rules.looks_back and part.state.pending:
                part.past = anew.past(begun)
            course = self.settler.settle(components, part)
            found = self.snapshots.clocks(course.state)
            if place + 1 == len(every):
                anew.take(who, check.time, INF, course)
                clocks = found
            else:
                anew.take(who, check.time, high, course)
                others = every[place + 1].replace(set(begun), found)
                begun, carried = self._gone_on(course, who, high, begun, others)
        self.snapshots.add(now, clocks)
        return anew.exchange() if anew.regions else {}

    def state_at(self, components: Components, cut: int) -> ClockState:
        """The attempts that are open at a cut."""
        check = self.snapshots.before(cut)
        if check.time == cut:
            self._carried = together(check.clocks.values())
            return self._carried
        held = {
            key: holding(store.fluent, check.time, self.symbols)
            for key, store in self.stores.items()
        }
        part = self._part(None, check.time, cut, held, together(check.clocks.values()))
        if self.rules.looks_back:
            part.past = {key: store.public() for key, store in self.stores.items()}
        self._carried = self.settler.settle(components, part).state
        return self._carried

    def forget(self, cut: int) -> None:
        """Drop what the memory of the component stands for."""
        for rule in self.candidates:
            rule.forget(cut)
        for heard in self.heard.values():
            heard.forget(cut)
        if cut != self.snapshots.every[0].time:
            assert self._carried is not None
            self.snapshots.forget(cut, self._carried)

    # --- who is touched --------------------------------------------------------------------------

    def _segments(
        self, components: Components, logs: Logs, changed: Changed
    ) -> dict[int, set[Args]]:
        """The entities that are touched, by the snapshot before; and those with open attempts."""
        points: list[Relation] = []
        for rule in self.candidates:
            points += rule.changes(components.heads, logs, changed)
        for heard in self.heard.values():
            points += heard.changes(changed)
        stretches = [s for one in self.rules.watched for s in self._watched(one, changed)]
        touched = touched_times(points, stretches, self.keys.width, self.symbols)
        found = self.snapshots.segments(*touched)
        last = len(self.snapshots.every) - 1
        found[last] = found.get(last, set()) | self.snapshots.last.clocks.keys()
        return found

    def _watched(self, watched: Watched, changed: Changed) -> list[Relation]:
        """Entities that ask about something that has changed, from when on they may, and how long.

        An entity that is as it was at a snapshot may ask later still.
        """
        change = changed.get(watched.asked.relation)
        if not change:
            return []
        about = touched(change, self.symbols)
        found = join(unit(), about.rows, watched.asked.terms, self.symbols)
        frame = found.to_frame(lambda name: not name.startswith("#"))
        low, high = within_reach(about, watched.asked.back, watched.asked.ahead)
        terms = [build(one, frame.columns, frame.rows, self.symbols) for one in watched.entity]
        columns = (codes(codes_of(column, self.symbols)) for column in terms)
        rows = found.source_rows()
        return [Relation((*columns, ints(low[rows]), ints(high[rows])), frame.rows)]

    # --- one part --------------------------------------------------------------------------------

    def _part(
        self, who: Entities | None, low: int, high: int, held: dict[Key, Held], state: ClockState
    ) -> Part:
        rows = [rule.rows(who, low, high) for rule in self.candidates]
        heard = {key: one.rows(who, low, high) for key, one in self.heard.items()}
        return Part(low, high, held, state, rows, heard, {})

    def _held(self, new: Entities, time: int, carried: dict[Key, Held]) -> dict[Key, Held]:
        """The values that entities have at a snapshot: as before, or as they are by now."""
        found: dict[Key, Held] = {}
        for key, store in self.stores.items():
            held = held_at(store.fluent, new, self._places(key), time, self.symbols)
            found[key] = held_by_both(held, carried[key], self.symbols) if carried else held
        return found

    def _gone_on(
        self, course: Course, who: Entities, time: int, begun: dict[Args, int], others: set[Args]
    ) -> tuple[dict[Args, int], dict[Key, Held]]:
        """Who is not as he was at a snapshot, and the values of those. `others`: by attempts."""
        after = {key: lasting(fluent, self.symbols) for key, fluent in course.fluents.items()}
        for key, held in after.items():
            places = self._places(key)
            before = held_at(self.stores[key].fluent, who, places, time, self.symbols)
            others |= differing(before, held, places, self.symbols)
        if not others:
            return {}, {}
        left = entities(others, self.keys.width)
        carried: dict[Key, Held] = {}
        for key, held in after.items():
            columns = holders(held, self._places(key))
            mine = np.flatnonzero(left.having(columns, len(held), self.symbols))
            args = tuple(column.take(mine) for column in held.args)
            carried[key] = Held(args, held.value[mine], held.start[mine])
        return {one: begun[one] for one in others}, carried

    def _places(self, key: Key) -> tuple[int, ...]:
        return self.keys.places["fluent", key]
