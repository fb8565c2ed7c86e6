"""A LARS program as tables that follow from each other: windows, patterns, rules, aggregates.

What is made of a program is a list of calls to `views.Views`: so a session may begin anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from horai.engine.core.words import Words
from horai.engine.lars.bodies import Body, Condition, TableRule
from horai.engine.lars.questions import TOTALS, TermAnswers
from horai.lang.core.terms import Int, Term, Var, is_anonymous, is_ground, substitute, variables
from horai.lang.lars import syntax as lars
from horai.lang.lars.windows import FAR, ByNumber, ByTime, Selection
from horai.plan.graphs import Digraph
from horai.plan.lars.fragments import NotServed
from horai.plan.lars.normal import ExtendedAtom, Literal, Total, names_of
from horai.plan.lars.strata import (
    Key,
    OrderedRule,
    ProgramPlan,
    check_rounds,
    given_by,
    invented,
)

SHAPE, POINT, HELD, START, ASKED, ELEMENT, OUTPUT = range(7)
KINDS = {"now": 0, "some": 0, "at": 1, "always": 2}
NOW = ByTime(0, 1, 0, 1)
WIDEST = 30
"""So many columns a table may have."""
ANY = Var("_#")
NONE: Key = ("#none", 0)
"""What the bodies of constraints say."""


@dataclass(slots=True)
class Signals:
    """A predicate of signals: its points, its atoms in windows by number, and their groups."""

    number: int
    points: int | None = None
    atoms: int | None = None
    routes: list[tuple[int, int, int]] = field(default_factory=list)  # rank, matcher, group
    read: set[int] = field(default_factory=set)  # ranks whose rows of this predicate are asked for


@dataclass(frozen=True, slots=True)
class Edge:
    """What follows from the rows of a table, and in which table."""

    table: int
    kind: int
    what: int
    target: int = -1


class Tables:
    """All that a plan is made of."""

    def __init__(self, plan: ProgramPlan, start: int, words: Words) -> None:
        self.plan, self.start, self.words = plan, start, words
        self.asked = TermAnswers(words, self._check)
        self.widths: list[int] = []
        self.indexes: list[dict[tuple[int, ...], int]] = []
        self.edges: list[Edge] = []
        self.rules: list[TableRule] = []
        self.signals: dict[Key, Signals] = {}
        self.outputs: list[Key] = []
        self._now: dict[Key, int] = {}
        self._readings: dict[object, int] = {}
        self._shapes: dict[object, tuple[int, tuple[str, ...]]] = {}
        self._ranks: dict[ByNumber, int] = {}
        self._whole: set[int] = set()  # of these all signals count, whoever reads them
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._made = Counter[str]()
        rules = [rule for stratum in plan.strata for rule in stratum.rules]
        heads = [rule for rule in rules if rule.head is not None]
        self._at_now = {rule.head.predicate for rule in heads if rule.head and rule.time is None}
        self._pinned = {rule.head.predicate for rule in heads if rule.head and rule.time}
        self._none = self.table(0)
        for rule in (*rules, *plan.constraints):
            try:
                self._rule(rule)
            except NotServed as refused:
                raise NotServed(refused.reason, rule.rule) from None
        for stratum in plan.strata:
            for key in sorted(stratum.keys):
                self.edges.append(Edge(self.now(key), OUTPUT, len(self.outputs)))
                self.outputs.append(key)
        self.edges.append(Edge(self._none, OUTPUT, len(self.outputs)))
        self.components: list[list[int]] = []
        self._order()
        self._compile()
        self._connect()

    def _make(self, what: str, *parts: Any) -> int:
        """Something that `views.Views` makes; gives its number among those of its kind."""
        self._calls.append((what, parts))
        self._made[what] += 1
        return self._made[what] - 1

    # --- tables ----------------------------------------------------------------------------------

    def table(self, width: int) -> int:
        """A new one."""
        if width > WIDEST:
            raise NotServed(f"it needs a table with more than {WIDEST} columns")
        self.widths.append(width)
        self.indexes.append({})
        return self._make("table", width)

    def index(self, table: int, columns: tuple[int, ...]) -> int:
        """An index of a table by some columns."""
        known = self.indexes[table]
        if columns not in known:
            known[columns] = len(known)
            self._make("index", table, columns)
        return known[columns]

    def signals_of(self, key: Key) -> Signals:
        """A predicate of signals."""
        if key not in self.signals:
            found = self.signals[key] = Signals(len(self.signals))
            for window, rank in self._ranks.items():
                self._route(key, found, window, rank)
        return self.signals[key]

    def points(self, key: Key) -> int:
        """The rows of a predicate at points that are named: signals, and those of `@T` heads."""
        signals = self.signals_of(key)
        if signals.points is None:
            signals.points = self.table(key[1] + 1)
            self.index(signals.points, (key[1],))
        return signals.points

    def now(self, key: Key) -> int:
        """What holds of a predicate at the query time."""
        if key not in self._now:
            found = self._now[key] = self.table(key[1])
            self._window(self.points(key), None, found, 0, NOW)
        return self._now[key]

    def _window(
        self,
        points: int | None,
        held: int | None,
        target: int,
        kind: int,
        bounds: ByTime,
        key: Key | None = None,
        rank: int = -1,
    ) -> None:
        if kind == 2:
            self.index(target, ())
        matcher = -1
        if bounds.patterns is not None and key is not None:
            fitting = [pattern for pattern in bounds.patterns if _may_fit(pattern, key)]
            listed = [self._matcher(pattern.args or (ANY,) * key[1], ()) for pattern in fitting]
            matcher = [*listed, self._make("matcher", (), (), None, -1)][0]
        by_time = -1 if points is None else self.index(points, (self.widths[points] - 1,))
        numbers = (bounds.past, bounds.low_hop, bounds.future, bounds.high_hop)
        places = (-1 if points is None else points, -1 if held is None else held)
        given = (*places, target, kind, matcher, by_time, bounds.fixed, numbers, rank)
        number = self._make("window", *given)
        if points is not None:
            self.edges.append(Edge(points, POINT, number, target))
        if held is not None:
            self.edges.append(Edge(held, HELD, number, target))

    def _matcher(self, terms: tuple[Term, ...], wanted: tuple[str, ...]) -> int:
        """A pattern, of which the values of some variables are wanted."""
        fixed: list[int] = []
        alike: list[int] = []
        places: dict[str, int] = {}
        asks = -1
        for place, term in enumerate(terms):
            if not isinstance(term, Var):
                if not is_ground(term):
                    asks = self.asked.pattern(terms, wanted)
                    break
                fixed += [place, self.words.word(term)]
            elif term.name in places:
                alike += [places[term.name], place]
            elif not is_anonymous(term):
                places[term.name] = place
        columns = [] if asks >= 0 else [places[name] for name in wanted]
        return self._make("matcher", tuple(fixed), tuple(alike), tuple(columns), asks)

    def shaped(self, table: int, terms: tuple[Term, ...]) -> tuple[int, tuple[str, ...]]:
        """The rows of a table that fit some terms, as values of their variables."""
        names = tuple(
            dict.fromkeys(
                name
                for term in terms
                for name, one in variables(term).items()
                if not is_anonymous(one)
            )
        )
        if len(names) == len(terms) and all(isinstance(term, Var) for term in terms):
            return table, names
        known = (table, tuple(_unnamed(term, names) for term in terms))
        if known not in self._shapes:
            self._shapes[known] = (self._shape(table, terms, names), names)
        return self._shapes[known][0], names

    def _shape(self, table: int, terms: tuple[Term, ...], names: tuple[str, ...]) -> int:
        target = self.table(len(names))
        number = self._make("shape", target, self._matcher(terms, names))
        self.edges.append(Edge(table, SHAPE, number, target))
        return target

    # --- windows ---------------------------------------------------------------------------------

    def reading(self, reading: ExtendedAtom) -> int:
        """The rows of a literal: its arguments, and the point if it names one."""
        key = reading.atom.predicate
        window: Selection = reading.windows[0] if reading.windows else ByTime()
        known = (key, window, reading.modality)
        if known not in self._readings:
            if isinstance(window, ByNumber):
                found = self._by_number(key, window, reading.modality)
            else:
                found = self._by_time(key, window, reading.modality)
            self._readings[known] = found
        return self._readings[known]

    def _by_time(self, key: Key, window: ByTime, modality: str) -> int:
        if modality == "now" and window in (ByTime(), NOW):
            return self.now(key)
        target = self.table(key[1] + (modality == "at"))
        fitting = window.patterns is None or any(_may_fit(one, key) for one in window.patterns)
        if not fitting:
            return target  # nothing of it is ever in the window
        held = self.now(key) if modality == "now" or key in self._at_now else None
        points = None if modality == "now" else self.points(key)
        self._window(points, held, target, KINDS[modality], window, key)
        return target

    def _by_number(self, key: Key, window: ByNumber, modality: str) -> int:
        if window not in self._ranks:
            width = 1 + max((len(names_of(p.args or ())) for p in window.patterns or ()), default=0)
            keys = self.table(width)
            rank = self._ranks[window] = self._make("rank", window.past, window.future, width, keys)
            for other, signals in self.signals.items():
                self._route(other, signals, window, rank)
        rank, signals = self._ranks[window], self.signals_of(key)
        if signals.atoms is None:
            signals.atoms = self.table(key[1])
        target = self.table(key[1] + (modality != "some"))
        self._make("rank_output", rank, signals.number, target)
        signals.read.add(rank)
        if window.patterns is None or modality == "always":
            self._whole.add(rank)
        if modality in ("some", "at"):
            return target
        found = self.table(key[1])
        bounds = ByTime(FAR, 1, FAR, 1) if modality == "always" else NOW
        always = rank if modality == "always" else -1
        self._window(target, None, found, KINDS[modality], bounds, rank=always)
        return found

    def _route(self, key: Key, signals: Signals, window: ByNumber, rank: int) -> None:
        """To which groups of a window the signals of a predicate belong."""
        if window.patterns is None:
            signals.routes.append((rank, self._matcher((ANY,) * key[1], ()), 0))
        for place, pattern in enumerate(window.patterns or ()):
            if _may_fit(pattern, key):
                terms = pattern.args or (ANY,) * key[1]
                matcher = self._matcher(terms, tuple(sorted(names_of(terms))))
                signals.routes.append((rank, matcher, place << 20 | signals.number))

    # --- rules -----------------------------------------------------------------------------------

    def _rule(self, rule: OrderedRule) -> None:
        body: list[Condition | Literal] = []
        for place, literal in enumerate(rule.body):
            if isinstance(literal.element, Total):
                body = self._total(rule, place, literal, body)
            else:
                body.append(self._condition(literal))
        if rule.head is None:
            self.rules.append(TableRule(self._none, (), False, tuple(body), rule))
        elif rule.time is None:
            head = self.now(rule.head.predicate)
            self.rules.append(TableRule(head, rule.head.args, False, tuple(body), rule))
        else:
            head, terms = self.points(rule.head.predicate), (*rule.head.args, rule.time)
            self.rules.append(TableRule(head, terms, True, tuple(body), rule))

    def _condition(self, literal: Literal) -> Condition | Literal:
        if not isinstance(literal.element, ExtendedAtom):
            return literal
        table, names = self.shaped(self.reading(literal.element), literal.element.terms)
        return Condition(table, names, not literal.negated)

    def _total(
        self, rule: OrderedRule, place: int, literal: Literal, body: list[Condition | Literal]
    ) -> list[Condition | Literal]:
        """What stands before an aggregate asks for it; the rest goes on with its value."""
        total = literal.element
        assert isinstance(total, Total)
        bound = {name for one in body for name in _names(one)}
        inside = names_of(
            term
            for row in total.rows
            for term in (*row.terms, *(t for one in row.body for t in one.terms))
        )
        later = names_of(term for one in rule.body[place + 1 :] for term in one.terms)
        later |= names_of((total.bound, *rule.head_terms))
        shared = sorted(bound & inside)
        names = tuple(sorted(bound & (later | inside)))
        asked = self.table(len(names))
        self.rules.append(
            TableRule(asked, tuple(Var(name) for name in names), False, tuple(body), rule)
        )
        keys, _ = self.shaped(asked, tuple(Var(name) if name in shared else ANY for name in names))
        width, most = len(shared), max((len(row.terms) for row in total.rows), default=0)
        elements = self.table(width + most + 1)
        key = tuple(Var(name) for name in shared)
        for row in total.rows:
            padding = (Int(0),) * (most - len(row.terms))
            terms = (*key, *row.terms, *padding, Int(len(row.terms)))
            own = (Condition(keys, tuple(shared)), *(self._condition(one) for one in row.body))
            self.rules.append(TableRule(elements, terms, False, own, rule))
        target = self.table(width + 1)
        index = self.index(elements, tuple(range(width)))
        function = TOTALS.index(total.function)
        number = self._make("total", function, elements, target, self.table(width), width, index)
        value = Var(f"Total#{number}")
        self.edges.append(Edge(keys, ASKED, number, target))
        self.edges.append(Edge(elements, ELEMENT, number, target))
        gives = given_by(literal, bound)
        sides = (value, total.bound) if gives is None else (Var(gives), value)
        compared = lars.Comparison(total.sign, *sides)
        return [
            Condition(asked, names),
            Condition(target, (*shared, value.name)),
            Literal(compared, literal.negated),
        ]

    # --- in which order --------------------------------------------------------------------------

    def _order(self) -> None:
        graph: Digraph[int] = Digraph(nodes=range(len(self.widths)))
        for edge in self.edges:
            if edge.target >= 0:
                graph.add_edge(edge.table, edge.target)
        for rule in self.rules:
            for _, one in rule.conditions:
                graph.add_edge(one.table, rule.head)
        self.component: dict[int, int] = {}
        self.order: list[int] = []  # tables, and components as -1 - number
        for together in graph.components():
            members = sorted(together)
            if len(members) == 1 and not graph.has_edge(members[0], members[0]):
                self.order += members
                continue
            number = len(self.components)
            self.component |= dict.fromkeys(members, number)
            self.components.append(members)
            self.order.append(-1 - number)
        # Whoever reads such a table from outside sees its rows come one by one, in a copy.
        self._copies: dict[int, int] = {}
        for rule in self.rules:
            for _, one in rule.conditions:
                where = self.component.get(one.table)
                if where is None or where == self.component.get(rule.head):
                    continue
                if one.table not in self._copies:
                    self._copies[one.table] = self._copy(one.table, where)

    def _copy(self, table: int, component: int) -> int:
        terms = tuple(Var(f"C{place}") for place in range(self.widths[table]))
        target = self._shape(table, terms, tuple(var.name for var in terms))
        self.order.insert(self.order.index(-1 - component) + 1, target)
        return target

    def _check(self, component: int, rounds: int, rows: int) -> None:
        """Give up on rules that go on and on."""
        tables = set(self.components[component])
        check_rounds(rounds, rows, invented(r.origin for r in self.rules if r.head in tables))

    def _derived(self, members: Sequence[int]) -> dict[int, int]:
        """Which tables of a component rules speak of, and whether other tables do so as well."""
        own = set(members)
        targets = {
            one.target
            for one in self.edges
            if one.table in own and one.kind in (SHAPE, POINT, HELD)
        }
        heads = {rule.head for rule in self.rules if not self._leaves(rule)}
        return {table: 2 if table in targets else 1 for table in members if table in heads}

    def _leaves(self, rule: TableRule) -> bool:
        """Does a rule for a component read nothing of it?"""
        where = self.component.get(rule.head)
        return where is None or all(
            self.component.get(one.table) != where for _, one in rule.conditions
        )

    # --- programs --------------------------------------------------------------------------------

    def _compile(self) -> None:
        for rule in self.rules:
            where = self.component.get(rule.head)
            copies = {
                one.table: self._copies[one.table]
                for _, one in rule.conditions
                if self.component.get(one.table, where) != where
            }
            leaves = self._leaves(rule)
            for place, one in rule.conditions:
                table = copies.get(one.table, one.table)
                weight = 1 if one.positive else -1
                program = self._from(rule, place, copies)
                number = self._make("start", program, weight, rule.head, leaves)
                self.edges.append(Edge(table, START, number, rule.head))
            everything = self._everything(rule, copies)
            derives = self._derives(rule, copies) if where is not None and not leaves else -1
            self._make("rule", rule.head, everything, derives, leaves)

    def _finished(self, body: Body, rule: TableRule) -> int:
        body.head(rule)
        return self._make("program", body.code, body.registers)

    def _body(self) -> Body:
        return Body(self.words.word, self.asked.template)

    def _from(self, rule: TableRule, place: int, copies: dict[int, int]) -> int:
        """From a row of one condition on; those before it do not see that row."""
        body, given = self._body(), rule.body[place]
        assert isinstance(given, Condition)
        body.take(given.names)
        others = [
            (one, i < place and isinstance(one, Condition) and one.table == given.table)
            for i, one in enumerate(rule.body)
            if i != place
        ]
        body.conditions(others, self.index, copies)
        return self._finished(body, rule)

    def _everything(self, rule: TableRule, copies: dict[int, int]) -> int:
        body = self._body()
        body.conditions(((one, False) for one in rule.body), self.index, copies)
        return self._finished(body, rule)

    def _derives(self, rule: TableRule, copies: dict[int, int]) -> int:
        body = self._body()
        body.sought(rule.terms)
        body.conditions(((one, False) for one in rule.body), self.index, copies)
        return self._finished(body, rule)

    # --- to the machine --------------------------------------------------------------------------

    def _connect(self) -> None:
        """What is known only when all else is there."""
        self._make("outputs", len(self.outputs) + 1)
        for key, signals in self.signals.items():
            self._predicate(key, signals)
        for edge in self.edges:
            where = self.component.get(edge.table)
            inner = where is not None and self.component.get(edge.target) == where
            self._make("edge", edge.table, edge.kind, edge.what, inner)
        for place in self.order:
            if place >= 0:
                self._make("next_table", place)
            else:
                members = self.components[-1 - place]
                self._make("component", members, self._derived(members))
        for key, table in self._now.items():
            for fact in self.plan.facts.get(key, ()):
                self._make("fact", table, tuple(map(self.words.word, fact.args)))

    def _predicate(self, key: Key, signals: Signals) -> None:
        places = (-1 if place is None else place for place in (signals.points, signals.atoms))
        number = self._make("predicate", key[1], *places, key not in self._pinned)
        for rank, matcher, group in signals.routes:
            if rank in signals.read or rank in self._whole:
                self._make("route", number, rank, matcher, group)

    def give_to(self, views: Any, since: int = 0) -> None:
        """Make everything there, or what was added since there were so many calls."""
        for what, parts in self._calls[since:]:
            getattr(views, what)(*parts)

    def came(self, views: Any, key: Key) -> int:
        """The number of a predicate of signals, which may be new: then only numbers count it."""
        if key not in self.signals:
            known = len(self._calls)
            self._predicate(key, self.signals_of(key))
            self.give_to(views, known)
        return self.signals[key].number


def _names(one: Condition | Literal) -> Iterable[str]:
    if isinstance(one, Condition):
        return one.names if one.positive else ()
    return names_of(one.terms)


def _unnamed(term: Term, names: tuple[str, ...]) -> Term:
    """A term whose variables have numbers instead of names: shapes differ in nothing else."""
    return substitute(term, {name: Var(f"#{place}") for place, name in enumerate(names)})


def _may_fit(pattern: lars.Pattern, key: Key) -> bool:
    return pattern.name == key[0] and (pattern.args is None or len(pattern.args) == key[1])
