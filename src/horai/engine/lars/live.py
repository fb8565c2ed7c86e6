"""A program from tick to tick, at the cost of what changes: strata, and what follows from each row.

Signals come at the current point; what comes late is worked out by `evaluation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import assert_never

from horai.engine.lars.evaluation import Invents, Plan, Stratum, check_rounds, readings
from horai.engine.lars.live_rules import (
    NONE,
    Change,
    Codes,
    Found,
    LiveRule,
    Made,
    Row,
    Table,
    can_be_written,
)
from horai.engine.lars.live_windows import Points, View, is_seen, is_served, points_of, view_of
from horai.engine.lars.plain import PlainRule, Reading, Source, Total
from horai.engine.lars.signals import Key
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Var, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration

Said = tuple[Made, Row]
Changed = list[tuple[Said, bool]]


class Counted:
    """A stratum without recursion: an atom holds as long as it has solutions."""

    def __init__(self, rules: list[LiveRule]) -> None:
        self.rules = rules
        self.counts: Counter[Said] = Counter()
        self._moved: Counter[Said] = Counter()
        # What rules with aggregates say, and those of which something has changed.
        self._totals: dict[LiveRule, Counter[Row]] = {r: Counter() for r in rules if r.totalled}
        self._stale = dict.fromkeys(self._totals)

    def begin(self) -> None:
        """What holds before anything has come: rules over facts and over what is absent."""
        self._moved = Counter()
        for rule in self.rules:
            if not rule.totalled:
                self._moved.update((rule.made, row) for row in rule.everything())

    def follow(self, rule: LiveRule, source: Source, row: Row, came: bool) -> None:
        """A row of what a rule reads has come, or is about to go."""
        if rule.totalled:
            self._stale[rule] = None
            return
        for is_positive, found in rule.starts[source]:
            more = 1 if is_positive == came else -1
            for said in found(row):
                self._moved[rule.made, said] += more

    def settle(self) -> Changed:
        """Atoms that hold from now on, and those that no longer do."""
        for rule in self._stale:
            self._count_anew(rule)
        self._stale = {}
        moved, self._moved = self._moved, Counter()
        found: Changed = []
        for said, more in moved.items():
            before = self.counts[said]
            self.counts[said] = before + more
            if not before + more:
                del self.counts[said]
            if (before == 0) != (before + more == 0):
                found.append((said, before == 0))
        return found

    def _count_anew(self, rule: LiveRule) -> None:
        """What a rule with an aggregate says now, and how that differs from before."""
        before, now = self._totals[rule], Counter(rule.everything())
        self._totals[rule] = now
        for row in before.keys() | now.keys():
            self._moved[rule.made, row] += now[row] - before[row]


class Recursive:
    """A stratum whose atoms rest on each other.

    What has lost a solution is in doubt, and all that rests on it; what still has a reason comes
    back, and leads on like what is new. Its rules see the atoms of the stratum in tables of their
    own, which rules of other strata do not read.
    """

    def __init__(
        self, rules: list[LiveRule], tables: dict[Made, dict[Source, Table]], invents: Invents
    ) -> None:
        self.rules = rules
        self._invents = invents
        own = {source for listed in tables.values() for source in listed}
        self._exits = {rule for rule in rules if not rule.sources & own}
        self._tables = {made: list(listed.values()) for made, listed in tables.items()}
        self._steps: dict[Made, list[tuple[Made, Found]]] = {
            made: [
                (rule.made, found)
                for source in listed
                for rule in rules
                for _, found in rule.starts.get(source, ())
            ]
            for made, listed in tables.items()
        }
        self.holding: dict[Made, set[Row]] = {made: set() for made in tables}
        self._based: Counter[Said] = Counter()  # solutions of rules without recursion
        self._lost: dict[Said, None] = {}
        self._gained: dict[Said, None] = {}
        self._written_out: dict[LiveRule, set[Row]] = {}  # of rules whose heads compute

    def begin(self) -> None:
        """What holds before anything has come."""
        self._lost, self._gained, self._based = {}, {}, Counter()
        for rule in (rule for rule in self.rules if rule in self._exits):
            for row in rule.everything():
                self._based[rule.made, row] += 1
                self._gained[rule.made, row] = None

    def follow(self, rule: LiveRule, source: Source, row: Row, came: bool) -> None:
        """A row of what a rule reads has come, or is about to go."""
        is_exit = rule in self._exits
        for is_positive, found in rule.starts[source]:
            gained = is_positive == came
            for one in found(row):
                said = (rule.made, one)
                (self._gained if gained else self._lost)[said] = None
                if is_exit:
                    self._based[said] += 1 if gained else -1
                    if not self._based[said]:
                        del self._based[said]

    def settle(self) -> Changed:
        """Atoms that hold from now on, and those that no longer do."""
        if not self._lost and not self._gained:
            return []
        doubtful = self._doubtful()
        for said in doubtful:
            self._remove(said)
        self._written_out = {}
        asked = {**self._gained, **doubtful}
        come = self._grown([said for said in asked if self._has_reason(said)])
        self._lost, self._gained = {}, {}
        gone = [said for said in doubtful if said[1] not in self.holding[said[0]]]
        new = [said for said in come if said not in doubtful]
        return [*((said, False) for said in gone), *((said, True) for said in new)]

    def _doubtful(self) -> dict[Said, None]:
        """What has lost a solution and is not based on anything else, and what rests on that."""
        found: dict[Said, None] = {}
        waiting = [said for said in self._lost if said[1] in self.holding[said[0]]]
        while waiting:
            said = waiting.pop()
            if said in found or self._based[said] > 0:
                continue
            found[said] = None
            for made, step in self._steps[said[0]]:
                holding = self.holding[made]
                waiting += [(made, one) for one in step(said[1]) if one in holding]
        return found

    def _grown(self, seeds: list[Said]) -> list[Said]:
        """Take in atoms and all that follows from them."""
        found: list[Said] = []
        waiting = list(seeds)
        rounds = 0
        while waiting:
            rounds += 1
            check_rounds(rounds, len(found), self._invents)
            asked, waiting = waiting, []
            for said in asked:
                made, row = said
                if row in self.holding[made]:
                    continue
                self.holding[made].add(row)
                found.append(said)
                for table in self._tables[made]:
                    table.add(row)
                for other, step in self._steps[made]:
                    holding = self.holding[other]
                    waiting += [(other, one) for one in step(row) if one not in holding]
        return found

    def _remove(self, said: Said) -> None:
        made, row = said
        self.holding[made].discard(row)
        for table in self._tables[made]:
            table.remove(row)

    def _has_reason(self, said: Said) -> bool:
        """Does what holds now give a reason for an atom?"""
        made, row = said
        own = (rule for rule in self.rules if rule.made == made and rule not in self._exits)
        return self._based[said] > 0 or any(self._derives(rule, row) for rule in own)

    def _derives(self, rule: LiveRule, row: Row) -> bool:
        if rule.derives is not None:
            return rule.derives(row)
        if rule not in self._written_out:
            self._written_out[rule] = set(rule.everything())
        return row in self._written_out[rule]


MOST_KNOWN = 100_000  # how many atoms are kept, so that they need not be made again


def can_live(plan: Plan) -> bool:
    """Can a program be brought up to date from tick to tick?"""
    derived = {key for stratum in plan.strata for key in stratum.keys}
    for stratum in plan.strata:
        if stratum.recursive and not all(_stays_now(rule, stratum) for rule in stratum.rules):
            return False
    for rule in _rules(plan):
        if not can_be_written(rule):
            return False
        for reading, _ in readings(rule):
            key = reading.atom.predicate
            if not all(isinstance(term, Var) or is_ground(term) for term in reading.terms):
                return False
            if key in derived:
                if not (reading.of_signals or is_seen(reading)):
                    return False
            elif key not in plan.facts and not is_served(reading):
                return False
    return True


def _rules(plan: Plan) -> list[PlainRule]:
    return [*plan.constraints, *(rule for stratum in plan.strata for rule in stratum.rules)]


def _stays_now(rule: PlainRule, stratum: Stratum) -> bool:
    """Does a recursive rule derive at the current point only, and count nothing?"""
    if rule.time is not None or any(isinstance(one, Total) for one in rule.body):
        return False
    own = (r for r, _ in readings(rule) if r.atom.predicate in stratum.keys)
    return all(_is_now(reading) for reading in own)


def reach_of(plan: Plan) -> tuple[int, int] | None:
    """How many points and how many signals windows reach back; None if some reach back for ever."""
    points = signals = 0
    derived = {key for stratum in plan.strata for key in stratum.keys}
    for reading in (reading for rule in _rules(plan) for reading, _ in readings(rule)):
        if reading.atom.predicate in derived:
            continue  # what is derived rests on what other windows reach
        window = reading.window
        match window:
            case lars.TimeWindow(past=past, hop=hop) if past.amount is not None:
                longer = 0 if hop is None or hop.amount is None else hop.amount
                points = max(points, past.amount + longer)
            case lars.TupleWindow(past=int(past)):
                signals = max(signals, past)
            case None if reading.modality == "now":
                pass
            case lars.TimeWindow() | lars.TupleWindow() | lars.PartitionWindow() | None:
                return None
            case lars.FilterWindow() | lars.IntervalWindow():
                return None
            case _:
                assert_never(window)
    return points, signals


def _is_now(reading: Reading) -> bool:
    """What is derived holds at the query time only, which windows without hops contain."""
    plain = reading.window is None or (
        isinstance(reading.window, lars.TimeWindow) and reading.window.hop is None
    )
    return plain and reading.modality in ("now", "some")


class Live:
    """The state of a run at its last tick."""

    def __init__(self, plan: Plan, start: int, symbols: Symbols) -> None:
        self.plan, self.start, self.symbols = plan, start, symbols
        self.codes = Codes(symbols)
        self.tables: dict[Source, Table] = {}
        self.views: dict[Key, list[tuple[Source, View]]] = {}
        self.atoms: set[lars.Atom] = set()
        self.news: dict[lars.Atom, bool] = {}
        """What came, and what went, since somebody last looked."""
        self._derived = {key for stratum in plan.strata for key in stratum.keys}
        heads = (rule.head.predicate for rule in _rules(plan) if rule.head and rule.time)
        self._pinned = set(heads)
        self._now: dict[Key, list[Source]] = {}  # readings of what holds at the current point
        self._points: dict[Key, list[tuple[Source | None, Points]]] = {}
        for key in self._pinned:  # without a source: what the answer tells
            now = Reading(lars.Atom(key[0], (Var("_"),) * key[1]), lars.TimeWindow(Duration(0)))
            self._points[key] = [(None, points_of(now, start, self.codes, forgets=False))]
        self._rules: dict[Source, list[tuple[Counted | Recursive, LiveRule]]] = {}
        self._known: dict[Said, lars.Atom] = {}
        self._broken: set[Said] = set()
        strata = [*plan.strata, Stratum({NONE}, plan.constraints)]
        self.strata = [self._ready(stratum) for stratum in strata]
        for sources in self._now.values():  # what only a recursion itself reads is told to nobody
            sources[:] = [source for source in sources if source in self._rules]
        for ready in self.strata:
            # What the strata below have told so far is in the tables, and would count twice.
            ready.begin()
            self._settle(ready)

    # --- making ----------------------------------------------------------------------------------

    def _ready(self, stratum: Stratum) -> Counted | Recursive:
        asked = [reading for rule in stratum.rules for reading, _ in readings(rule)]
        for reading in asked:
            self._table(reading)
        inner: dict[Source, Table] = {}
        if stratum.recursive:
            own = (r for r in asked if r.atom.predicate in stratum.keys and not r.of_signals)
            inner = {reading.source: Table() for reading in own}
        tables = {**self.tables, **inner}
        rules = [LiveRule(rule, tables, self.codes, self.start) for rule in stratum.rules]
        made = {
            (key, False): {source: table for source, table in inner.items() if source[0] == key}
            for key in stratum.keys
        }
        invents = stratum.invents
        ready = Recursive(rules, made, invents) if stratum.recursive else Counted(rules)
        for rule in rules:
            for source in rule.sources - inner.keys():
                self._rules.setdefault(source, []).append((ready, rule))
        return ready

    def _table(self, reading: Reading) -> None:
        """The table of a reading, and what fills it."""
        key, source = reading.atom.predicate, reading.source
        if source in self.tables:
            return
        table = self.tables[source] = Table()
        if key in self.plan.facts:
            for fact in self.plan.facts[key]:
                table.add(tuple(self.codes.code(arg) for arg in fact.args))
        elif key not in self._derived:
            view = view_of(reading, self.start, self.codes)
            self.views.setdefault(key, []).append((source, view))
        elif key not in self._pinned and _is_now(reading):
            self._now.setdefault(key, []).append(source)
        elif not reading.of_signals:  # there are no signals of what is derived
            points = points_of(reading, self.start, self.codes, forgets=False)
            self._points.setdefault(key, []).append((source, points))

    # --- one tick --------------------------------------------------------------------------------

    def tick(self, time: int, signals: Iterable[tuple[Key, Row]]) -> bool:
        """Take in the signals of the next point, in their order; False if there is no answer."""
        given = list(signals)
        for key, views in self.views.items():
            mine = [row if other == key else None for other, row in given]
            for source, view in views:
                self._apply(source, view.tick(time, mine))
        for key, seen in self._points.items():
            for place, points in seen:
                points.slide(time)
                self._see(key, place, points)
        for ready in self.strata:
            self._settle(ready)
        return not self._broken

    def _apply(self, source: Source, changes: list[Change]) -> None:
        """Rows that come or go, one at a time, with what follows from each."""
        table, rules = self.tables[source], self._rules.get(source, ())
        for row, came in changes:
            if came:
                table.add(row)
            for stratum, rule in rules:
                stratum.follow(rule, source, row, came)
            if not came:
                table.remove(row)

    def _settle(self, stratum: Counted | Recursive) -> None:
        """Bring the predicates of a stratum up to date, and tell the rules above."""
        for said, came in stratum.settle():
            (key, is_pinned), row = said
            for source, points in self._points.get(key, ()):
                if is_pinned:
                    points.place(row[:-1], row[-1] >> 1, 1 if came else -1)
                else:
                    points.hold(row, came)
                self._see(key, source, points)
            if key == NONE:
                (self._broken.add if came else self._broken.discard)(said)
            elif key not in self._pinned:
                self._tell(key, row, came)
                for source in self._now.get(key, ()):
                    self._apply(source, [(row, came)])

    def _see(self, key: Key, source: Source | None, points: Points) -> None:
        """Pass on what a window over points has more or less."""
        changes = points.changes()
        if source is not None:
            self._apply(source, changes)
        else:
            for row, came in changes:
                self._tell(key, row, came)

    def _tell(self, key: Key, row: Row, came: bool) -> None:
        atom = self._atom(key, row)
        (self.atoms.add if came else self.atoms.discard)(atom)
        if self.news.pop(atom, came) is came:  # otherwise it is undone
            self.news[atom] = came

    def _atom(self, key: Key, row: Row) -> lars.Atom:
        said = ((key, False), row)
        found = self._known.get(said)
        if found is None:
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            found = lars.Atom(key[0], tuple(self.symbols.term(code) for code in row))
            self._known[said] = found
        return found
