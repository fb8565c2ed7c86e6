"""A program from tick to tick, at the cost of what changes.

It serves programs whose heads name no points, over signals that come at the current point. All
else is worked out by `evaluation`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from horai.engine.lars.evaluation import Plan
from horai.engine.lars.literals import PlainRule, Positive, Reading, Source, Total
from horai.engine.lars.live_rules import LiveRule, Table
from horai.engine.lars.live_terms import Codes
from horai.engine.lars.live_views import Change, Row, View, is_served, view_of
from horai.engine.lars.signals import Key
from horai.engine.lars.strata import Stratum, readings
from horai.engine.symbols import Symbols
from horai.lang.lars import syntax as lars
from horai.lang.terms import Var, is_ground

NONE: Key = ("#none", 0)  # what the bodies of constraints say


def can_live(plan: Plan) -> bool:
    """Can a program be brought up to date from tick to tick?"""
    derived = {key for stratum in plan.strata for key in stratum.keys}
    rules = [*plan.constraints, *(rule for stratum in plan.strata for rule in stratum.rules)]
    if any(rule.time is not None for rule in rules):
        return False
    recursive = [rule for stratum in plan.strata if stratum.recursive for rule in stratum.rules]
    if any(isinstance(literal, Total) for rule in recursive for literal in rule.body):
        return False
    for rule in rules:
        for reading, _ in readings(rule):
            key = reading.atom.predicate
            if not all(isinstance(term, Var) or is_ground(term) for term in reading.terms):
                return False
            if key in derived:
                if not _is_now(reading):
                    return False
            elif key not in plan.facts and not is_served(reading):
                return False
    return True


def reach_of(plan: Plan) -> tuple[int, int] | None:
    """How many points and how many signals windows reach back; None if some reach back for ever."""
    points = signals = 0
    rules = [*plan.constraints, *(rule for stratum in plan.strata for rule in stratum.rules)]
    for reading in (reading for rule in rules for reading, _ in readings(rule)):
        match reading.window:
            case lars.TimeWindow(past=past, hop=hop) if past.amount is not None:
                longer = 0 if hop is None or hop.amount is None else hop.amount
                points = max(points, past.amount + longer)
            case lars.TupleWindow(past=int(past)):
                signals = max(signals, past)
            case None if reading.modality == "now":
                pass
            case _:
                return None
    return points, signals


def _is_now(reading: Reading) -> bool:
    """What is derived holds at the query time only, which windows without hops contain."""
    plain = reading.window is None or (
        isinstance(reading.window, lars.TimeWindow) and reading.window.hop is None
    )
    return plain and (reading.modality == "now" or (reading.modality == "some" and plain))


class Live:
    """The state of a run at its last tick."""

    def __init__(self, plan: Plan, start: int, symbols: Symbols) -> None:
        self.plan = plan
        self.codes = Codes(symbols)
        self.symbols = symbols
        self.tables: dict[Source, Table] = {}
        self.views: dict[Key, list[tuple[Source, View]]] = {}
        self.atoms: set[lars.Atom] = set()
        self._made: dict[Key, list[Source]] = {}
        self._derived = {key for stratum in plan.strata for key in stratum.keys}
        self._rules: dict[Source, list[tuple[int, LiveRule]]] = {}
        self._counts: dict[Key, Counter[Row]] = {NONE: Counter()}
        self._known: dict[tuple[Key, Row], lars.Atom] = {}
        constraints = Stratum({NONE}, plan.constraints)
        self.strata = [*plan.strata, constraints]
        self._lives: list[list[LiveRule]] = []
        # What rules with aggregates say, and those of which something has changed.
        self._anew: list[dict[LiveRule, Counter[Row]]] = [{} for _ in self.strata]
        self._stale: list[dict[LiveRule, None]] = [{} for _ in self.strata]
        for place, stratum in enumerate(self.strata):
            self._lives.append([self._ready(rule, place, start) for rule in stratum.rules])
        self._begin()

    def _ready(self, rule: PlainRule, place: int, start: int) -> LiveRule:
        for reading, _ in readings(rule):
            key, source = reading.atom.predicate, reading.source
            if source in self.tables:
                continue
            self.tables[source] = Table()
            if key in self._derived:
                self._made.setdefault(key, []).append(source)
            elif key in self.plan.facts:
                for fact in self.plan.facts[key]:
                    self.tables[source].add(tuple(self.codes.code(arg) for arg in fact.args))
            else:
                self.views.setdefault(key, []).append((source, view_of(reading, start)))
        live = LiveRule(rule, self.tables, self.codes)
        for source in {**live.places, **dict.fromkeys(live.totalled)}:
            self._rules.setdefault(source, []).append((place, live))
        if live.totalled:
            self._anew[place][live] = Counter()
            self._stale[place][live] = None
        return live

    def _begin(self) -> None:
        """What holds before anything has come: rules over facts and over what is absent."""
        self._moved: list[Counter[tuple[Key, Row]]] = [Counter() for _ in self.strata]
        self._shrunk = [False for _ in self.strata]
        for place, stratum in enumerate(self.strata):
            # What the strata below have told so far is in the tables, and would count twice.
            self._moved[place], self._shrunk[place] = Counter(), False
            for live in self._lives[place]:
                if not live.totalled:
                    self._at_first(place, stratum, live)
            self._settle(place)

    def _at_first(self, place: int, stratum: Stratum, live: LiveRule) -> None:
        if stratum.recursive and self._is_own(place, live):
            return
        key = _key(live.rule)

        def report(row: Row, sign: bool) -> None:
            self._moved[place][key, row] += 1

        live.everything(report)

    # --- one tick --------------------------------------------------------------------------------

    def tick(self, time: int, signals: Iterable[tuple[Key, Row]]) -> bool:
        """Take in the signals of the next point, in their order; False if there is no answer."""
        given = list(signals)
        for key, views in self.views.items():
            mine = [row if other == key else None for other, row in given]
            for source, view in views:
                self._apply(source, view.tick(time, mine))
        for place in range(len(self.strata)):
            self._settle(place)
        return not self._counts[NONE]

    def _apply(self, source: Source, changes: list[Change]) -> None:
        """Rows that come or go, one at a time, with what follows from each."""
        table = self.tables[source]
        for row, came in changes:
            if came:
                table.add(row)
            for place, live in self._rules.get(source, ()):
                if live.totalled:
                    self._stale[place][live] = None
                else:
                    self._follow(place, live, source, row, came)
            if not came:
                table.remove(row)

    def _follow(self, place: int, live: LiveRule, source: Source, row: Row, came: bool) -> None:
        key = _key(live.rule)
        moved = self._moved[place]

        def report(said: Row, sign: bool) -> None:
            more = sign == came
            moved[key, said] += 1 if more else -1
            if not more:
                self._shrunk[place] = True

        live.heads(source, row, report)

    def _settle(self, place: int) -> None:
        """Bring the predicates of a stratum up to date, and tell the rules above."""
        for live in self._stale[place]:
            self._count_anew(place, live)
        self._stale[place] = {}
        moved, self._moved[place] = self._moved[place], Counter()
        if self.strata[place].recursive:
            self._settle_recursion(place, moved)
            return
        for (key, row), more in moved.items():
            counts = self._counts.setdefault(key, Counter())
            before = counts[row]
            counts[row] = before + more
            if not counts[row]:
                del counts[row]
            if (before == 0) != (before + more == 0):
                self._publish(key, row, before == 0)
        self._shrunk[place] = False

    def _count_anew(self, place: int, live: LiveRule) -> None:
        """What a rule with an aggregate says now, and how that differs from before."""
        said: Counter[Row] = Counter()

        def report(row: Row, sign: bool) -> None:
            said[row] += 1

        live.everything(report)
        before, self._anew[place][live] = self._anew[place][live], said
        key, moved = _key(live.rule), self._moved[place]
        for row in before.keys() | said.keys():
            if said[row] != before[row]:
                moved[key, row] += said[row] - before[row]

    def _publish(self, key: Key, row: Row, came: bool) -> None:
        if key != NONE:
            (self.atoms.add if came else self.atoms.discard)(self._atom(key, row))
        for source in self._made.get(key, ()):
            self._apply(source, [(row, came)])

    def _atom(self, key: Key, row: Row) -> lars.Atom:
        found = self._known.get((key, row))
        if found is None:
            found = lars.Atom(key[0], tuple(self.symbols.term(code) for code in row))
            self._known[key, row] = found
        return found

    # --- recursion -------------------------------------------------------------------------------

    def _settle_recursion(self, place: int, moved: Counter[tuple[Key, Row]]) -> None:
        """What is new leads on from row to row; when something goes, all is worked out again."""
        stratum = self.strata[place]
        seeds = [said for said, more in moved.items() if more > 0]
        before = {key: self._counts.setdefault(key, Counter()) for key in stratum.keys}
        if not self._shrunk[place]:
            self._grow(place, seeds)
            return
        self._shrunk[place] = False
        old = {(key, row) for key, counts in before.items() for row in counts}
        own = {source for key in stratum.keys for source in self._made.get(key, ())}
        kept = {source: self.tables[source] for source in own}
        for source in own:
            self.tables[source] = Table()
        new = self._closure(place)
        self.tables.update(kept)
        for key in stratum.keys:
            self._counts[key] = Counter({row: 1 for other, row in new if other == key})
        for key, row in old - new:
            self._publish(key, row, False)
        for key, row in new - old:
            self._publish(key, row, True)
        # The rules of the stratum itself have been asked already.
        self._moved[place].clear()
        self._shrunk[place] = False

    def _closure(self, place: int) -> set[tuple[Key, Row]]:
        """All that a stratum derives from what is below it."""
        found: dict[tuple[Key, Row], None] = {}

        def report_of(live: LiveRule) -> None:
            key = _key(live.rule)
            live.everything(lambda row, sign: found.setdefault((key, row)))

        for live in self._lives[place]:
            if not self._is_own(place, live):
                report_of(live)
        waiting = list(found)
        while waiting:
            key, row = waiting.pop()
            for source in self._made.get(key, ()):
                self.tables[source].add(row)
                for other, live in self._rules.get(source, ()):
                    if other != place:
                        continue
                    for one in _said(live, source, row):
                        if one not in found:
                            found[one] = None
                            waiting.append(one)
        return set(found)

    def _grow(self, place: int, seeds: list[tuple[Key, Row]]) -> None:
        waiting = list(seeds)
        while waiting:
            key, row = waiting.pop()
            if row in self._counts[key]:
                continue
            self._counts[key][row] = 1
            self._publish(key, row, True)
            moved, self._moved[place] = self._moved[place], Counter()
            waiting += [said for said in moved if said[1] not in self._counts[said[0]]]

    def _is_own(self, place: int, live: LiveRule) -> bool:
        keys = self.strata[place].keys
        return any(
            isinstance(one, Positive) and one.reading.atom.predicate in keys
            for one in live.rule.body
        )


def _said(live: LiveRule, source: Source, row: Row) -> list[tuple[Key, Row]]:
    """What a rule without negation of its own says because of a row."""
    found: list[tuple[Key, Row]] = []
    key = _key(live.rule)

    def report(said: Row, sign: bool) -> None:
        found.append((key, said))

    live.heads(source, row, report)
    return found


def _key(rule: PlainRule) -> Key:
    return NONE if rule.head is None else rule.head.predicate
