"""A program from tick to tick, at the cost of what changes.

Signals come at the current point; what comes late is worked out by `evaluation`.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.engine.lars.evaluation import Plan
from horai.engine.lars.literals import PlainRule, Reading, Source, Total
from horai.engine.lars.live_points import Points, is_seen, points_of
from horai.engine.lars.live_rules import NONE, LiveRule, can_be_written
from horai.engine.lars.live_strata import Counted, Recursive, Said
from horai.engine.lars.live_tables import Change, Row, Table
from horai.engine.lars.live_terms import Codes
from horai.engine.lars.live_views import View, is_served, view_of
from horai.engine.lars.signals import Key
from horai.engine.lars.strata import Stratum, readings
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Var, is_ground
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration

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
