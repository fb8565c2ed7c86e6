"""Where everything has its place: relations are columns of tables, instances are rows.

Events and fluents that rules speak of with the same variables as key share a table, so that what
happens to an instance and what holds of it lie beside each other. The key of a fluent are its
arguments. Values of an input fluent may overlap: each that rules ask for has a column of its own,
or the value is in the key, if rules ask for any. The key of an event are the arguments by which
rules find something else; the others are arguments of its points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Term, Var, functor, is_ground
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import ANY, FIELD, FIELDS, KIND, SITE, TABLE
from horai.plan.program import Plan

if TYPE_CHECKING:
    from horai.engine.core.rules import Body

Key = tuple[str, int]
Part = Callable[["Body"], None]
Place = tuple[int, int]  # the number of a table, and a place in its key
SWEEPS = 8  # over all tables, until each has found its home
Kind = OneOf["event", "simple", "static", "input", "hidden"]
RUN: Key = ("run~", 0)
PARTS = {
    "known": "C_KNOWN",
    "start": "C_STARTS",
    "end": "C_ENDS",
    "startI": "C_STARTIS",
    "endI": "C_ENDIS",
    "held": "C_HELD",
    "initiated": "C_INITS",
    "terminated": "C_TERMS",
}
"""What happens to a fluent, and where a column says how far away the events of it are."""


class NotLowered(Exception):
    """A rule that has no instructions yet, and why."""

    def __init__(self, reason: str, clause: ec.Clause | None = None) -> None:
        super().__init__(reason)
        self.reason, self.clause = reason, clause

    @property
    def place(self) -> str | None:
        """File, line and column of the rule."""
        if self.clause is None:
            return None
        line, column = self.clause.source.position(self.clause.span[0])
        return f"{self.clause.source.name}:{line}:{column}"


@dataclass(eq=False)
class Relation:
    """A column of a table. `keys` and `rest` are places of arguments, the value being the last."""

    kind: Kind
    key: Key
    keys: tuple[int, ...]
    rest: tuple[int, ...] = ()
    value: Term | None = None  # of a list or an input, the only one it has
    derived: bool = True
    level: int = 0
    shown: bool = True
    table: Table = field(init=False)
    place: int = -1
    fields: dict[str, int] = field(default_factory=dict)
    readers: list[tuple[int, int]] = field(default_factory=list)  # how far away, site
    edges: list[tuple[int, int, int]] = field(default_factory=list)  # start?, value, code
    moving: bool = False  # may conditions on members of dynamic domains let it in with its past?
    masked: set[int] = field(default_factory=set)  # values that lists beside it have, too
    parts: dict[str, Relation] = field(default_factory=dict)  # its starts, ends, ... as events

    @property
    def keyed(self) -> bool:
        """Is the value of a fluent part of the key?"""
        return self.kind != "event" and len(self.keys) > self.key[1]

    @property
    def number(self) -> int:
        """The number of the column."""
        return self.table.first + self.place

    def __str__(self) -> str:
        return f"{self.key[0]}/{self.key[1]}"


@dataclass(eq=False)
class Table:
    """Instances with the same kind of key."""

    number: int
    width: int
    columns: list[Relation] = field(default_factory=list)
    indexes: dict[tuple[int, ...], Table] = field(default_factory=dict)
    refs: int = 0
    first: int = -1
    code: int = 0
    parts: list[Part] = field(default_factory=list)  # what is to do for a new row
    home: int = 0  # the place in its key by which its rows belong together with others

    def home_of(self, keys: Sequence[Term]) -> tuple[Term, ...]:
        """By what a row with these terms as key belongs together with others."""
        return tuple(keys[self.home : self.home + 1])

    @property
    def has_items(self) -> bool:
        """Do items come for its rows?"""
        return any(not one.derived for one in self.columns)

    def add(self, relation: Relation) -> Relation:
        """One more column."""
        relation.table, relation.place = self, len(self.columns)
        self.columns.append(relation)
        return relation


@dataclass
class Site:
    """Somebody who looks at a column: rules of a driver, or the row that is linked.

    Of a row `lists` says what it is told.
    """

    column: Relation
    lists: int = 0  # what it is told, if it is no rule: `TO_LISTS` and the like
    value: int = ANY
    level: int = 0
    mask: int = 0
    low: int = 0
    high: int = 0
    shift: int = 0
    driver: Relation | None = None  # whose rules, or the list that looks
    apart: bool = False  # a list of who may become known only later on

    def words(self) -> list[int]:
        """As the machine knows it."""
        told = {
            "S_LISTS": self.lists,
            "S_COLUMN": self.column.number,
            "S_VALUE": self.value,
            "S_LEVEL": self.level,
            "S_MASK": self.mask,
            "S_LOW": self.low,
            "S_HIGH": self.high,
            "S_SHIFT": self.shift,
        }
        return [told.get(name, 0) for name in SITE]


def args_of(entity: Term) -> tuple[Term, ...]:
    """The arguments of an event or fluent."""
    return entity.args if isinstance(entity, Compound) else ()


def key_of(entity: Term) -> Key:
    """Its name and arity."""
    return functor(entity) or ("", -1)


def point_literals(body: ec.Literal) -> Iterator[tuple[str, Key, tuple[Term, ...]]]:
    """What a body reads: kind of literal, key, arguments followed by the value of a fluent."""
    for part in ec.walk(body):
        match part:
            case ec.Happens(event=event):
                yield "event", key_of(event), args_of(event)
            case (
                ec.Edge(fvp=fvp)
                | ec.HoldsAt(fvp=fvp)
                | ec.HoldsFor(fvp=fvp)
                | ec.InitiatedAt(fvp=fvp)
                | ec.TerminatedAt(fvp=fvp)
            ):
                yield "fluent", key_of(fvp.fluent), (*args_of(fvp.fluent), fvp.value)
            case _:
                pass


def rule_literals(rule: ec.Rule) -> Iterator[tuple[str, Key, tuple[Term, ...]]]:
    """What a rule speaks of, the head first."""
    match rule:
        case ec.EventRule(event=event):
            yield "event", key_of(event), args_of(event)
        case (
            ec.Initiation(fvp=fvp)
            | ec.Termination(fvp=fvp)
            | ec.HoldsForRule(fvp=fvp)
            | ec.HoldsAtRule(fvp=fvp)
        ):
            yield "fluent", key_of(fvp.fluent), (*args_of(fvp.fluent), fvp.value)
        case _:
            pass
    body = getattr(rule, "body", None)
    if body is not None:
        yield from point_literals(body)


def levels_of(plan: Plan) -> list[int]:
    """The level of each component, from 1 on: after all it reads, with others as far up.

    One that goes through time has a level of its own.
    """
    depth = [0] * len(plan.strata)
    for number, readers in enumerate(_readers(plan)):
        for reader in readers:
            depth[reader] = max(depth[reader], depth[number] + 1)
    keys = [
        (depth[number], number if stratum.settles_in_time else -1)
        for number, stratum in enumerate(plan.strata)
    ]
    order = {key: level for level, key in enumerate(sorted(set(keys)), 1)}
    return [order[key] for key in keys]


def levels_heard_of(plan: Plan, levels: Sequence[int]) -> dict[int, set[int]]:
    """For each level that of all it hears of, and its own."""
    heard = [{0, level} for level in levels]
    for number, readers in enumerate(_readers(plan)):
        for reader in readers:
            heard[reader] |= heard[number]
    found: dict[int, set[int]] = {}
    for level, some in zip(levels, heard, strict=True):
        found.setdefault(level, set()).update(some)
    return found


def _readers(plan: Plan) -> Iterator[set[int]]:
    """For each component the numbers of others that read it; they come later."""
    place = {
        vertex: number
        for number, stratum in enumerate(plan.strata)
        for vertex in stratum.component.vertices
    }
    for number, stratum in enumerate(plan.strata):
        edges = (
            edge for vertex in stratum.component.vertices for edge in plan.graph.edges_from[vertex]
        )
        yield {place[edge.target] for edge in edges if edge.target in place} - {number}


class Layout:
    """The tables of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.levels = levels_of(plan)
        self.tables: list[Table] = []
        self.events: dict[Key, Relation] = {}
        self.fluents: dict[Key, list[Relation]] = {}
        self.sites: list[Site] = []
        self.clock: Relation | None = None
        self.said: list[tuple[Relation, Relation, bool]] = []
        """Drivers of rules, what the rules say, and whether that is no earlier than the driver."""
        self.first: Table | None = None
        self.mixed: set[int] = set()
        """The levels at which rules join instances with different homes."""
        self.moments: dict[Relation, Relation] = {}
        """Events by their time alone, for rules that ask who else one happens to then."""
        self.gathered: set[int] = set()
        """The levels of such rules: all items of a time should be known before they are asked."""
        self.scattered = False
        """Do rules look through an index for instances that may be at home anywhere?"""
        self._relations()
        self._place()

    # --- relations -------------------------------------------------------------------------------

    def _relations(self) -> None:
        """A relation for every event, and for every fluent as it is defined."""
        for level, stratum in zip(self.levels, self.plan.strata, strict=True):
            for key in stratum.events:
                self.events[key] = Relation("event", key, tuple(range(key[1])), level=level)
            for key in stratum.fluents:
                found = Relation("simple", key, tuple(range(key[1])), level=level)
                self.fluents.setdefault(key, []).append(found)
            for plan in stratum.static:
                computed = plan.key in self.plan.computed
                value = None if computed else plan.terms[-1]
                known = self.fluents.setdefault(plan.key, [])
                one = next((x for x in known if x.kind == "static" and x.value == value), None)
                if one is None:
                    keys = tuple(range(plan.key[1] + computed))
                    known.append(Relation("static", plan.key, keys, value=value, level=level))
                else:
                    one.level = max(one.level, level)
        for rule in self.plan.description.rules:
            for kind, key, _ in rule_literals(rule):
                if kind == "event":
                    self.event(key)
                else:
                    self.fluent(key)
            if isinstance(rule, ec.InputFluent):
                self.fluent(key_of(rule.fvp.fluent))
        for key, groundings in self.plan.groundings.items():
            if any(call.key in self.plan.dynamic for one in groundings for call in one.calls):
                spoken = key in self.events or key in self.fluents
                if not spoken and any(one.value is None for one in groundings):
                    self.event(key)
                if not spoken:
                    self.fluent(key)

    def event(self, key: Key) -> Relation:
        """The relation of an event; of one that no rule derives, an input."""
        if key not in self.events:
            keys = self._key_arguments(key)
            rest = tuple(place for place in range(key[1]) if place not in keys)
            self.events[key] = Relation("event", key, keys, rest, derived=False, shown=False)
        return self.events[key]

    def fluent(self, key: Key) -> list[Relation]:
        """The relations of a fluent; of one that no rule defines, an input."""
        if key not in self.fluents:
            made = [
                Relation("static", key, tuple(range(key[1])), value=value)
                for value in self._asked.get(key, ())
            ]
            made = made or [Relation("input", key, tuple(range(key[1] + 1)))]
            for one in made:
                one.derived = one.shown = False
                one.fields["C_KIND"] = KIND["INPUT"]
            self.fluents[key] = made
        return self.fluents[key]

    def readable(self, key: Key, value: Term) -> list[Relation]:
        """The columns that may say that a fluent has a value."""
        found = self.fluent(key)
        if key in self.plan.computed:
            return [one for one in found if one.keyed]
        if is_ground(value):
            fits = [one for one in found if one.kind == "static" and one.value == value]
            return fits or [one for one in found if one.kind != "static"]
        return found

    @cached_property
    def _asked(self) -> dict[Key, list[Term]]:
        """The values of each fluent that rules ask for, of those of which none asks for any."""
        asked: dict[Key, dict[Term, None]] = {}
        for rule in self.plan.description.rules:
            for kind, key, terms in rule_literals(rule):
                if kind == "fluent":
                    asked.setdefault(key, {})[terms[-1]] = None
        chains = [branch.body for some in self.plan.background.values() for branch in some]
        chains += [one.listing for some in self.plan.groundings.values() for one in some]
        for chain in chains:
            for step in op.walk(chain):
                if isinstance(step, op.Stab | op.Lookup | op.Scan):
                    asked.setdefault(step.key, {})[step.terms[-1]] = None
        for key, groundings in self.plan.groundings.items():
            values = (one.value for one in groundings if one.value is not None)
            asked.setdefault(key, {}).update(dict.fromkeys(values))
        return {key: list(values) for key, values in asked.items() if all(map(is_ground, values))}

    def _key_arguments(self, key: Key) -> tuple[int, ...]:
        """The arguments of an input event by which rules find something else."""
        found: set[int] = set()
        for rule in self.plan.description.rules:
            spoken = list(rule_literals(rule))
            for place, (kind, name, args) in enumerate(spoken):
                if kind != "event" or name != key:
                    continue
                others: set[str] = set()
                for at, (other, _, terms) in enumerate(spoken):
                    if at != place:
                        used = terms if other == "event" else terms[:-1]
                        others |= {term.name for term in used if isinstance(term, Var)}
                found |= {
                    at for at, arg in enumerate(args) if isinstance(arg, Var) and arg.name in others
                }
        return tuple(sorted(found))

    # --- tables ----------------------------------------------------------------------------------

    def _place(self) -> None:
        """Columns that rules speak of with the same variables share a table."""
        every = [*self.events.values(), *(one for some in self.fluents.values() for one in some)]
        group = {id(one): id(one) for one in every}

        def find(one: int) -> int:
            while group[one] != one:
                group[one] = group[group[one]]
                one = group[one]
            return one

        for rule in self.plan.description.rules:
            same: dict[tuple[str, ...], int] = {}
            for kind, key, terms in rule_literals(rule):
                some = [self.events[key]] if kind == "event" else self.fluents[key]
                for one in some:
                    wanted = [terms[at] for at in one.keys]
                    if not all(isinstance(term, Var) for term in wanted):
                        continue
                    names = tuple(term.name for term in wanted if isinstance(term, Var))
                    if len(set(names)) == len(names):
                        group[find(id(one))] = find(same.setdefault(names, id(one)))
        for some in self.fluents.values():
            for one in some[1:]:
                if len(one.keys) == len(some[0].keys):
                    group[find(id(one))] = find(id(some[0]))
        tables: dict[int, Table] = {}
        for one in every:
            root = find(id(one))
            if root not in tables:
                tables[root] = self.table(len(one.keys))
            tables[root].add(one)

    def joins(
        self, mine: tuple[Term, ...], relation: Relation, terms: Sequence[Term], level: int
    ) -> None:
        """Who is at home with some terms looks at an instance, or says something of it."""
        if relation.table.home_of(terms) != mine:
            self.mixed.add(level)

    def looks_up(self, mine: tuple[Term, ...], table: Table, terms: Sequence[Term]) -> None:
        """Who is at home with some terms asks which instances of a table there are."""
        self.scattered |= not mine or table.home_of(terms) != mine

    def table(self, width: int) -> Table:
        """A new table."""
        found = Table(len(self.tables), width)
        self.tables.append(found)
        return found

    def origin(self) -> Table:
        """The table whose only row is made at the start; its program makes rows of others."""
        if self.first is None:
            self.first = self.table(0)
            self.first.add(Relation("hidden", ("", 0), (), shown=False))
        return self.first

    def index(self, table: Table, places: tuple[int, ...]) -> Table:
        """The table of the buckets of an index over some places of the keys of a table."""
        if places not in table.indexes:
            made = self.table(len(places))
            made.add(Relation("hidden", ("", 0), places, shown=False))
            table.indexes[places] = made
        return table.indexes[places]

    def part(self, relation: Relation, what: str) -> Relation:
        """What happens to a fluent (see `PARTS`) as events beside it, with the value."""
        if what not in relation.parts:
            width = relation.key[1] + 1
            keys = relation.keys
            rest: tuple[int, ...] = (width,) if relation.keyed else (width - 1,)
            if what == "known":
                rest = ()
            made = Relation("event", relation.key, keys, rest, level=relation.level, shown=False)
            relation.table.add(made)
            relation.parts[what] = made
            relation.fields[PARTS[what]] = made.place - relation.place
            if what == "held":
                made.fields["C_HOLDER"] = made.place - relation.place
        return relation.parts[what]

    def moment(self, relation: Relation) -> Relation:
        """An event as one of its time, with all its arguments at the points."""
        arity = relation.key[1]
        key, rest = (f"{relation.key[0]} at", arity + 1), tuple(range(arity))
        made = Relation("event", key, (arity,), rest, level=relation.level, shown=False)
        self.events[key] = self.moments[relation] = self.table(1).add(made)
        return made

    def run(self) -> Relation:
        """The run itself as an event without arguments at its start, for rules nothing drives."""
        if RUN not in self.events:
            made = Relation("event", RUN, (), derived=False, shown=False)
            self.events[RUN] = self.table(0).add(made)
        return self.events[RUN]

    def members(self, key: Key) -> Relation:
        """A dynamic domain as a fluent that its members have from the start of the run on."""
        name = (f"{key[0]}~", key[1])
        if name not in self.fluents:
            made = Relation("simple", name, tuple(range(key[1])), shown=False)
            made.fields["C_MEMBERS"] = 1
            self.fluents[name] = [self.table(key[1]).add(made)]
        return self.fluents[name][0]

    def known(self, relation: Relation) -> Key:
        """The event that something is known of an input fluent and value; it is at the start."""
        value = "" if relation.value is None else f" {show(relation.value)}"
        key = (f"known {relation.key[0]}{value}", len(relation.keys))
        self.events[key] = self.part(relation, "known")
        return key

    def now(self) -> Relation:
        """Something that is other at every query time."""
        if self.clock is None:
            self.clock = self.table(0).add(Relation("hidden", ("", 0), (), shown=False))
        return self.clock

    def deadline(
        self, fluent: Relation, number: int, one_value: bool, level: int
    ) -> tuple[Relation, Relation]:
        """The attempts of a deadline, events that know their own time; those that have acted.

        They are beside their fluent if they are about one value, else each value has its own.
        """
        width = len(fluent.keys) + (not one_value)
        table = fluent.table
        if not one_value:
            table = self.table(width)
            table.home = fluent.table.home
        keys = tuple(range(width))
        found = []
        for name, rest in ((f"deadline {number}", (width,)), (f"acted {number}", ())):
            key = (name, width + len(rest))
            made = Relation("event", key, keys, rest, level=level, shown=False)
            found.append(table.add(made))
            self.events[key] = made
        return found[0], found[1]

    def site(self, site: Site) -> int:
        """The number of a new site."""
        self.sites.append(site)
        return len(self.sites) - 1

    # --- for the machine -------------------------------------------------------------------------

    def number_columns(self) -> None:
        """Give every column its number; there are no more of them from now on."""
        first = 0
        for table in self.tables:
            table.first = first
            first += len(table.columns)

    def words(self, args: list[int]) -> tuple[list[int], list[int], list[int]]:
        """Tables, columns and sites as the machine knows them; readers and more go to `args`."""
        tables: list[int] = []
        cols: list[int] = []
        for table in self.tables:
            indexes = 0
            if table.indexes:
                places = []
                for keys, buckets in table.indexes.items():
                    places.append(len(args))
                    args += [buckets.number, *keys]
                indexes = len(args)
                args += [len(places), *places]
            words = [0] * len(TABLE)
            words[TABLE["T_KEYS"]] = table.width
            words[TABLE["T_COLUMNS"]] = len(table.columns)
            words[TABLE["T_FIRST"]] = table.first
            words[TABLE["T_CODE"]] = table.code
            words[TABLE["T_REFS"]] = table.refs
            words[TABLE["T_INDEXES"]] = indexes
            words[TABLE["T_HOME"]] = table.home if table.width and table.has_items else -1
            tables += words
            for relation in table.columns:
                cols += _column(relation, args)
        return tables, cols, [word for site in self.sites for word in site.words()]


def _column(relation: Relation, args: list[int]) -> list[int]:
    words = [0] * FIELDS
    kinds = {"event": "EVENT", "simple": "SIMPLE", "static": "LIST", "input": "INPUT"}
    words[FIELD["C_KIND"]] = KIND[kinds.get(relation.kind, "NONE")]
    words[FIELD["C_TABLE"]] = relation.table.number
    words[FIELD["C_PLACE"]] = relation.place
    words[FIELD["C_LEVEL"]] = relation.level
    words[FIELD["C_OUT"]] = int(relation.shown)
    words[FIELD["C_HEAD"]] = 2
    words[FIELD["C_STRIDE"]] = 2 + len(relation.rest)
    for name, value in relation.fields.items():
        words[FIELD[name]] = value
    if relation.kind == "event" and relation.fields.get("C_LISTED"):
        words[FIELD["C_HEAD"]] = 3
        words[FIELD["C_STRIDE"]] = 3 + len(relation.rest)
    if relation.readers:
        words[FIELD["C_READERS"]] = len(args)
        args.append(len(relation.readers))
        for delta, site in relation.readers:
            args += [delta, site]
    if relation.edges:
        words[FIELD["C_EDGES"]] = len(args)
        for edge in relation.edges:
            args += edge
        args.append(-1)
    return words


# --- homes ----------------------------------------------------------------------------------------


def choose_homes(layout: Layout) -> None:
    """Give each table its home: by which argument of its key a row belongs together with others.

    Items are settled home by home, while what they concern is in the cache. So the best argument of
    a table is the one that rules share with the other tables they speak of, as the motion of a vote
    and not the voter, where rules ask how the motion stands.
    """
    tables = layout.tables
    shared: Counter[tuple[Place, Place]] = Counter()
    for rule in layout.plan.description.rules:
        for places in _places_of_variables(layout, rule):
            for number, one in enumerate(places):
                for other in places[number + 1 :]:
                    shared[one, other] += 1
                    shared[other, one] += 1
    met: dict[int, list[tuple[int, Place, int]]] = {}
    for (one, other), times in shared.items():
        met.setdefault(one[0], []).append((one[1], other, times))
    for _ in range(SWEEPS):
        before = [table.home for table in tables]
        for table in tables:
            gains = Counter[int]()
            for place, (number, there), times in met.get(table.number, ()):
                if there == (place if number == table.number else tables[number].home):
                    gains[place] += times
            if gains:
                best = max(gains.values())
                if gains[table.home] < best:
                    table.home = min(place for place in gains if gains[place] == best)
        if before == [table.home for table in tables]:
            break


def _places_of_variables(layout: Layout, rule: ec.Rule) -> list[list[Place]]:
    """Where in keys each variable of a rule stands."""
    found: dict[str, list[Place]] = {}
    for kind, key, terms in rule_literals(rule):
        for relation in [layout.events[key]] if kind == "event" else layout.fluents[key]:
            for place, at in enumerate(relation.keys):
                term = terms[at]
                if isinstance(term, Var):
                    found.setdefault(term.name, []).append((relation.table.number, place))
    return list(found.values())
