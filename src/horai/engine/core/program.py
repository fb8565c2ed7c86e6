"""A whole plan as a program of the machine: tables, columns, readings and the code of all rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

import numpy as np

from horai.engine.core.deadlines import Attempt, Deadlines, Effect
from horai.engine.core.facts import Rows, StaticFacts, literal_is_temporal
from horai.engine.core.layout import (
    RUN,
    Layout,
    NotLowered,
    Relation,
    Table,
    args_of,
    choose_homes,
    key_of,
    levels_heard_of,
)
from horai.engine.core.lists import Known, Lists, StatedRule, stated_column
from horai.engine.core.rules import (
    Body,
    Label,
    Question,
    Rules,
    Unvalued,
    by_value,
    ends_all,
    is_asked_by_time,
)
from horai.engine.core.words import Words, form_of
from horai.engine.profile import Owners
from horai.lang.core.printer import show
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    Term,
    Var,
    is_ground,
    make,
    substitute,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import ANY, GHOST, INF, INITIATED, PEND, TERMINATED
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import names
from horai.plan.ec.unify import may_match
from horai.plan.program import GroundingPlan, Plan, PointPlan, StaticPlan

Key = tuple[str, int]
Names = frozenset[str]
Step = tuple[op.Operator, Names]
POINTS = (ec.Happens, ec.Edge, ec.InitiatedAt, ec.TerminatedAt)
TIMED = (*POINTS, ec.HoldsAt)
POINT_KINDS: dict[type, str] = {
    ec.InitiatedAt: "initiated",
    ec.TerminatedAt: "terminated",
    ec.HoldsAt: "held",
}
SAID = (ec.InitiatedAt, ec.TerminatedAt)
QUERY, NONE, ENDED = Var("query~"), Var("none~"), Var("ended~")
MANY = 64  # alternatives of a rule


@dataclass
class DrivenRule:
    """A rule, or one of its alternatives, with the condition that drives it.

    `static` are the conditions on facts, `dynamic` those on what changes. A rule that is `listed`
    has to remember what it said.
    """

    plan: PointPlan
    driver: ec.Literal
    level: int
    static: op.Chain
    dynamic: op.Chain
    listed: bool
    attempt: Attempt | None = None
    stated: StatedRule | None = None
    bit: int = 0

    @property
    def waits(self) -> bool:
        """Has it to wait for the level of its head?"""
        return bool(self.dynamic.steps or self.attempt) or self.listed

    @property
    def needs_no_facts(self) -> bool:
        """Is all that conditions on facts say that they are met?"""
        if self.attempt is not None:
            return False
        given = _bound_by(self.static)
        terms = (*self.plan.terms, *(self.plan.bounds or ()))
        asked = names(*_terms_in(self.dynamic), *terms, self.plan.time)
        return not (given - names(self.driver.term)) & asked


@dataclass(frozen=True)
class Program:
    """What the machine is given, and what the session has to know."""

    code: list[int]
    args: list[int]
    tables: list[int]
    cols: list[int]
    sites: list[int]
    cyclic: list[int]
    constants: Sequence[int]
    own: int
    """Levels below this one are settled entity by entity, while what they know is at hand."""
    layout: Layout
    questions: list[Question]
    called: list[str]
    unvalued: list[list[Unvalued]]
    columns: list[Relation]
    first: int | None
    """The table whose only row is made at the start."""


class NoExpression(Exception):
    """Rules for interval lists that are no expressions over other lists."""

    def __init__(self, plans: Sequence[StaticPlan]) -> None:
        super().__init__(plans)
        self.plans = plans


def lower(lowering: Callable[[Sequence[StaticPlan]], Lowering]) -> Program:
    """The program of a plan. `lowering` is told which rules state their intervals.

    These are the rules that turn out to be no expressions over other lists.
    """
    stated: list[StaticPlan] = []
    while True:
        try:
            return lowering(stated).program()
        except NoExpression as found:
            stated += found.plans


class Lowering:
    """Lowers a plan. Raises `NotLowered` for the first rule that has no instructions."""

    def __init__(
        self,
        plan: Plan,
        words: Words,
        facts: StaticFacts,
        put_index: Callable[[Rows, int], int],
        start: int,
        tick: int,
        allen_memory: int | None = None,
        owners: Owners | None = None,
        stated: Iterable[StaticPlan] = (),
    ) -> None:
        self.plan, self.words, self.facts, self.owners = plan, words, facts, owners
        self.layout = Layout(plan)
        choose_homes(self.layout)
        self.start, self.tick = start, tick
        self.rules = Rules(plan, self.layout, words, facts, put_index, start, tick, allen_memory)
        self._stated = frozenset(map(id, stated))
        self._columns: dict[int, Relation] = {}
        """By rule: where the intervals are stated of one that is no expression over lists."""
        self.code = self.rules.code
        self._deadlines = Deadlines(plan, self.layout, facts, words)
        self._moving = frozenset(filter(facts.moves, plan.groundings))
        """What the stream says the domain of."""
        self.origin = (start - 1) // tick * tick  # when what holds from the start on has begun
        self._heard = levels_heard_of(plan, self.layout.levels)
        self._cyclic = {
            level
            for level, stratum in zip(self.layout.levels, plan.strata, strict=True)
            if stratum.settles_in_time
        }

    def program(self) -> Program:
        """The program of the plan."""
        driven: dict[Relation, list[DrivenRule]] = {}
        edges: dict[tuple[Relation, str], list[DrivenRule]] = {}
        for level, stratum in zip(self.layout.levels, self.plan.strata, strict=True):
            for plan in stratum.points:
                for rule in self._driven(plan, level):
                    self._assign(rule, driven, edges)
            for delay in stratum.delays:
                for effect in self._deadlines.effects(delay, level):
                    self._assign(self._with_driver(effect.plan, level, effect), driven, edges)
            for plan in stratum.initially:
                plan = replace(plan, kind="initiated", time=Int(self.origin))
                self._assign(self._with_driver(plan, level, None, self._run()), driven, edges)
            for listed in stratum.static:
                if id(listed) in self._stated:
                    for rule in self._stated_rules(listed, level):
                        self._assign(rule, driven, edges)
        for plan, source in self._members():
            self._assign(self._with_driver(plan, 0, None, source), driven, edges)
        for relation, clause in self._asked_by_time(driven):
            rule = self._told_by_time(relation, clause)
            driven.setdefault(relation, []).append(rule)
        for fluent, entries in self._deadlines.entries.items():
            words = [word for entry in entries for word in entry]
            fluent.fields["C_DELAYS"] = self.code.list([len(entries), *words])
        self._edges(driven, edges)
        for relation, rules in driven.items():
            self._drive(relation, rules)
        self._lists()
        self._domains()
        for table in self.layout.tables:
            self._rows(table)
        self.code.link()
        self.layout.number_columns()
        for some in self.layout.fluents.values():
            for one in some:
                if not one.derived:
                    value = ANY if one.value is None else self.words.word(one.value)
                    one.fields["C_INPUT"] = value
        args = self.code.args
        tables, cols, sites = self.layout.words(args)
        levels = max(self.layout.levels, default=0) + 1
        columns = [one for table in self.layout.tables for one in table.columns]
        return Program(
            self.code.words,
            args,
            tables,
            cols,
            sites,
            [int(level in self._cyclic) for level in range(levels)],
            self.code.constants,
            min(
                (*filter(self._hears_of_others, self._cyclic), *self.layout.gathered),
                default=levels,
            ),
            self.layout,
            self.rules.questions,
            self.rules.called,
            self.rules.unvalued,
            columns,
            None if self.layout.first is None else self.layout.first.number,
        )

    def _hears_of_others(self, level: int) -> bool:
        """Does a level hear of other homes? If it goes through time it would go back with each."""
        return bool(self._heard[level] & self.layout.mixed)

    def _members(self) -> Iterator[tuple[PointPlan, ec.Literal]]:
        """Rules by which items make members of dynamic domains, with what drives them."""
        for key, plans in self.plan.groundings.items():
            for plan in plans:
                for call in plan.calls:
                    if call.key not in self.plan.dynamic:
                        continue
                    name = self.layout.members(call.key).key
                    terms = (*call.args, Constant("true"))
                    for driver in self._items(key, plan):
                        if names(*call.args) <= names(driver.event):
                            body = ec.Conjunction((driver,), driver.term)
                            yield self._at_origin(name, terms, body, plan.clause), driver

    def _at_origin(
        self, key: Key, terms: tuple[Term, ...], body: ec.Conjunction, clause: ec.Clause
    ) -> PointPlan:
        time = Int(self.origin)
        return PointPlan("initiated", key, terms, time, op.Chain(), frozenset(), body, clause)

    def _items(self, key: Key, plan: GroundingPlan) -> Iterator[ec.Happens]:
        """The items of an entity with a grounding, as events."""
        relation = self.layout.events.get(key)
        if relation is not None and not relation.derived and plan.value is None:
            yield _happens(key[0], plan.terms, Var("time~"))
        for one in self.layout.fluents.get(key, ()):
            if one.derived or (one.value and plan.value and one.value != plan.value):
                continue
            terms = plan.terms
            if one.value is None:
                terms = (*terms, Var("value~") if plan.value is None else plan.value)
            yield _happens(self.layout.known(one)[0], terms, Var("time~"))

    def _asked_by_time(
        self, driven: Mapping[Relation, Sequence[DrivenRule]]
    ) -> list[tuple[Relation, ec.Clause]]:
        """The events of which rules know nothing but the time, and the first of these rules."""
        found: dict[Relation, ec.Clause] = {}
        for rule in (one for some in driven.values() for one in some):
            known = names(rule.driver.term) | _bound_by(rule.static)
            for step in rule.dynamic.steps:
                if isinstance(step, op.Scan) and step.kind == "event":
                    relation = self.layout.event(step.key)
                    keys = [step.terms[at] for at in relation.keys]
                    if keys and is_asked_by_time(step, keys, partial(_is_given, known)):
                        found.setdefault(relation, rule.plan.clause)
                known |= names(step.term)
        return [(one, clause) for one, clause in found.items() if one.level not in self._cyclic]

    def _told_by_time(self, relation: Relation, clause: ec.Clause) -> DrivenRule:
        """A rule by which an event is one of its time, too."""
        args, time = tuple(Var(f"arg{at}~") for at in range(relation.key[1])), Var("time~")
        driver = _happens(relation.key[0], args, time)
        body = ec.Conjunction((driver,), driver.term)
        key = self.layout.moment(relation).key
        plan = PointPlan("event", key, (*args, time), time, op.Chain(), frozenset(), body, clause)
        return self._with_driver(plan, relation.level, None, driver)

    # --- rules about points ----------------------------------------------------------------------

    def _driven(self, plan: PointPlan, level: int) -> list[DrivenRule]:
        """A rule with its driver, or each of its alternatives."""
        plan = self._in_whole_run(plan)
        return [self._with_driver(one, level) for one in _alternatives(plan, self.tick)]

    def _in_whole_run(self, plan: PointPlan) -> PointPlan:
        """A range T1 =< T < T2 of the head that the body leaves open is the whole run."""
        if plan.bounds is None:
            return plan
        first, last = plan.bounds
        spoken = names(*plan.terms, *(one.term for one in ec.conjuncts(plan.body)))
        goals: list[ec.Literal] = []
        if isinstance(first, Var) and first.name in plan.given:
            begin = Int(self.start + 1)
            goals.append(ec.Compare("=", first, begin, Compound("=", (first, begin))))
        if isinstance(last, Var) and last.name in plan.given & spoken:
            now, query = Compound("queryTime", (QUERY,)), Compound("+", (QUERY, Int(1)))
            goals.append(ec.Call("queryTime", (QUERY,), now))
            goals.append(ec.Is(last, query, Compound("is", (last, query))))
        body = ec.Conjunction((*goals, *ec.conjuncts(plan.body)), plan.body.term)
        return replace(plan, body=body)

    def _driver(self, plan: PointPlan) -> ec.Literal:
        """What a rule is asked for at each of its points, best a condition about its time.

        A fluent happens at every time-point at which it holds; without a time between two of them.
        """
        literals = list(ec.conjuncts(plan.body))
        points = [one for one in literals if isinstance(one, POINTS)]
        then = [one for one in points if one.time == plan.time]
        held = [one for one in literals if isinstance(one, ec.HoldsAt) and one.time == plan.time]
        if self.tick != 1 and any(_names_time(one, plan.time) for one in literals):
            held = []
        found: list[ec.Literal] = [one for one in then if isinstance(one, ec.Happens)]
        found += [one for one in then if isinstance(one, ec.Edge)]
        found += [*then, *held, *points]
        if found:
            return found[0]
        return self._run()

    def _run(self) -> ec.Happens:
        """The run itself, as an event."""
        self.layout.run()
        return _happens(RUN[0], (), Var("start~"))

    def _with_driver(
        self,
        plan: PointPlan,
        level: int,
        effect: Effect | None = None,
        driver: ec.Literal | None = None,
    ) -> DrivenRule:
        driver = effect.driver if effect else driver or self._driver(plan)
        attempt = effect.attempt if effect else None
        others = [one for one in ec.conjuncts(plan.body) if one is not driver]
        if isinstance(driver, ec.TerminatedAt) and self._is_open(driver.fvp):
            # Which values these are is a condition of its own.
            others.append(driver)
            driver = replace(driver, fvp=replace(driver.fvp, value=ENDED), bounds=None)
        needed = names(*(plan.terms[:-1] if plan.open_value else plan.terms), plan.time)
        needed |= names(*(plan.bounds or ()))
        bound = names(driver.term)
        if isinstance(driver, ec.TerminatedAt) and driver.fvp.value == ENDED:
            bound = names(driver.fvp.fluent, driver.time)
        if isinstance(driver, ec.InitiatedAt | ec.TerminatedAt) and driver.bounds is not None:
            others += self._in_bounds(driver.bounds, driver.time, others, bound)
        about = effect.about if effect else plan
        listing = self.facts.of_head(about)
        moves = about.key in self._moving
        driven = bound
        if listing is not None and not moves:
            bound |= names(listing.term)
        temporal = [one for one in others if literal_is_temporal(one, self.plan)]
        first = self._first([one for one in others if one not in temporal], temporal, bound, needed)
        late = [one for one in others if not any(one is other for other in first)]
        static, more = self._chain(first, late, plan, bound, needed)
        late += more
        given = static.bound | bound
        if listing is not None:
            given |= names(listing.term)
        dynamic, stuck = self._chain(late, [], plan, given, needed)
        if stuck:
            raise NotLowered(f"no order for `{show(stuck[0].term)}`", plan.clause)
        asked = needed | names(*_terms_in(static), *_terms_in(dynamic))
        if listing is not None and moves:
            dynamic = _after(listing, dynamic, asked)
        elif listing is not None:
            static = _after(listing, static, asked)
        # A bit is enough where one solution of the conditions on facts says what the head says.
        given = bound | static.bound
        listed = bool(dynamic.steps or attempt) and (
            not needed <= given or not self._single(static, driven)
        )
        spoken = {plan.key, *(key_of(one.fvp.fluent) for one in (driver,) if isinstance(one, SAID))}
        listed |= bool(spoken & self._moving)
        return DrivenRule(plan, driver, level, static, dynamic, listed, attempt)

    def _is_open(self, fvp: ec.FVP) -> bool:
        """May a termination be one of values that it does not name?"""
        return ends_all(self.plan, fvp.key) and not names(fvp.value) <= names(fvp.fluent)

    def _in_bounds(
        self, bounds: tuple[Term, Term], time: Term, others: list[ec.Literal], bound: Names
    ) -> list[ec.Literal]:
        """A range T1 =< T < T2 of the driver as conditions; what has no value is no limit."""
        known = bound | names(*(one.term for one in others))
        sides = [("=<", bounds[0], time), ("<", time, bounds[1])]
        return [
            ec.Compare(sign, left, right, Compound(sign, (left, right)))
            for sign, left, right in sides
            if names(left, right) <= known
        ]

    def _first(
        self, static: list[ec.Literal], temporal: list[ec.Literal], bound: Names, needed: Names
    ) -> list[ec.Literal]:
        """Conditions on facts that need not wait: those that are about what is known."""
        if not temporal:
            return static
        asked = names(*(one.term for one in temporal))
        found: list[ec.Literal] = []
        waiting = list(static)
        known = set(bound)
        while True:
            for one in waiting:
                mine = names(one.term)
                free = mine - known
                if isinstance(one, ec.Disjunction | ec.IfThenElse) and free & (asked | needed):
                    continue  # a branch may leave open what another condition gives
                if not isinstance(one, ec.Call) or not free or mine & known or not free & asked:
                    found.append(one)
                    known |= mine
                    waiting.remove(one)
                    break
            else:
                return found

    def _chain(
        self,
        literals: Sequence[ec.Literal],
        later: Sequence[ec.Literal],
        plan: PointPlan,
        bound: Names,
        needed: Names,
    ) -> tuple[op.Chain, list[ec.Literal]]:
        """A chain of those conditions that can be evaluated, and the others."""
        left = list(literals)
        late: list[ec.Literal] = []
        table = self.plan.lowering.table
        while True:
            outside = needed | names(*(one.term for one in (*later, *late)))
            found = order_body(ec.Conjunction(tuple(left), plan.body.term), bound, table, outside)
            if found.ok:
                return self.plan.lowering.chain(found.body, bound, outside), late
            waits = [one for one in left if any(one is other for other in found.waiting)]
            late += waits
            left = [one for one in left if not any(one is other for other in waits)]

    def _single(self, chain: op.Chain, bound: Names) -> bool:
        """Has the chain at most one solution, as far as one can tell?"""
        known = set(bound)
        for step in chain.steps:
            match step:
                case op.Union(branches=(branch,)):
                    if not self._single(branch, frozenset(known)):
                        return False
                case op.Filter() | op.Extend() | op.Unify() | op.AntiJoin() | op.TruthOp():
                    pass
                case op.FactJoin(key=key, terms=terms):
                    given = [at for at, term in enumerate(terms) if names(term) <= known]
                    rows = self.facts.rows(key)
                    if len(rows) > 1 and len(np.unique(rows[:, given], axis=0)) < len(rows):
                        return False
                case _:
                    return False
            known |= names(step.term)
        return True

    def _assign(
        self,
        rule: DrivenRule,
        driven: dict[Relation, list[DrivenRule]],
        edges: dict[tuple[Relation, str], list[DrivenRule]],
    ) -> None:
        """Put a rule with the others of its driver."""
        driver = rule.driver
        if isinstance(driver, ec.Happens):
            relation = self.layout.event(key_of(driver.event))
            driven.setdefault(relation, []).append(rule)
            return
        body = self._body(rule, None, ())
        assert isinstance(driver, ec.Edge | ec.InitiatedAt | ec.TerminatedAt | ec.HoldsAt)
        kind = driver.kind if isinstance(driver, ec.Edge) else POINT_KINDS[type(driver)]
        key, value = key_of(driver.fvp.fluent), driver.fvp.value
        if kind in ("start", "end") and not rule.waits:
            for fluent in self.layout.readable(key, value):
                edges.setdefault((fluent, kind), []).append(rule)
            return
        for part in body.parts_of(kind, key, value):
            driven.setdefault(part, []).append(replace(rule))

    def _body(self, rule: DrivenRule, relation: Relation | None, keys: tuple[Term, ...]) -> Body:
        width = 0 if relation is None else len(relation.keys) + len(relation.rest)
        found = Body(
            self.rules, rule.plan.clause, relation, keys, width + 2, rule.level, 1 << rule.bit
        )
        found.at_start = relation is self.layout.events.get(RUN) and not rule.waits
        return found

    def _edges(
        self,
        driven: dict[Relation, list[DrivenRule]],
        edges: dict[tuple[Relation, str], list[DrivenRule]],
    ) -> None:
        """Rules that only starts and ends drive, and that ask for nothing that changes."""
        for (fluent, kind), rules in edges.items():
            for rule in rules:
                driver = rule.driver
                assert isinstance(driver, ec.Edge)
                value = driver.fvp.value
                fixed = self.words.word(value) if is_ground(value) else ANY
                fluent.edges.append((int(kind == "start"), fixed, len(self.code.words)))
                terms = (*args_of(driver.fvp.fluent), value)
                keys = tuple(terms[at] for at in fluent.keys)
                body = self._body(rule, fluent, keys)
                body.next = len(keys) + 3
                end = self.code.label()
                self._mark(rule)
                self._enter(body, driver.time, [*keys, value], end)
                self._conclude(body, rule, body.chain(rule.static, end), end)
                self.code.here(end)
                self.code.emit("END")

    def _drive(self, relation: Relation, rules: list[DrivenRule]) -> None:
        """The program of all rules that a kind of event drives."""
        self._bits(rules)
        rules.sort(key=lambda rule: rule.bit)
        questions = len(self.rules.questions)
        relation.fields["C_CODE"] = _mask(rules)
        relation.fields["C_LISTED"] = _mask(rule for rule in rules if rule.listed)
        relation.fields["C_ENTRY"] = len(self.code.words)
        end = self.code.label()
        self.code.emit("RULE", 0, fail=end)
        alike: list[Started] = []
        for rule in rules:
            body = self._started(rule, relation)
            if not isinstance(rule.driver, ec.InitiatedAt | ec.TerminatedAt):
                steps = self._entering(body, rule, relation)
                static = zip(rule.static.steps, rule.static.needed, strict=True)
                alike.append(Started(rule, body, [*steps, *static]))
                continue
            following = self.code.label()
            self._mark(rule)
            self._enter_point(body, rule, relation, following, True)
            self._met(rules, rule, body, body.chain(rule.static, following), following)
            self.code.here(following)
        for one in alike:
            _prepare(one)
        self._share(rules, alike)
        self.code.here(end)
        self.code.emit("END")
        programs: list[int] = []
        for level in range(max(self.layout.levels, default=0) + 1):
            mask = _level_mask(rules, level)
            programs += [mask, len(self.code.words)]
            if mask:
                self._late(relation, [one for one in rules if one.waits and one.level == level])
        relation.fields["C_RULES"] = self.code.list(programs)
        relation.fields["C_ASKS"] = int(len(self.rules.questions) > questions)

    def _share(self, rules: list[DrivenRule], alike: list[Started]) -> None:
        """The code of some rules of an event, which ask once what they ask of facts alike.

        They become a tree: a condition that several of them have in common comes first, then what
        is left of these; if it fails, all of them are passed over.
        """
        waiting = list(alike)
        while waiting:
            first = waiting[0]
            group = _most_alike(first, waiting)
            after = self.code.label()
            self._mark(first.rule)
            if len(group) == 1:
                fail = after
                for step, needed in first.steps:
                    fail = first.body.step(step, needed, fail)
                self._met(rules, first.rule, first.body, fail, after)
            else:
                fail = _ask_once(group, after)
                self._share(rules, [one for one, _ in group])
                self.code.emit("JMP", fail=fail)
            self.code.here(after)
            done = {id(one) for one, _ in group}
            waiting = [one for one in waiting if id(one) not in done]

    def _met(
        self, rules: list[DrivenRule], rule: DrivenRule, body: Body, fail: Label, after: Label
    ) -> None:
        """What is to do once the conditions on facts are met."""
        if rule.waits:
            self.code.emit("WAIT", rule.bit, rule.level, _level_mask(rules, rule.level))
        else:
            self._conclude(body, rule, fail, after)

    def _started(self, rule: DrivenRule, relation: Relation) -> Body:
        terms = _terms_of(rule.driver, relation)
        body = self._body(rule, relation, tuple(terms[at] for at in relation.keys))
        if rule.attempt is not None and rule.attempt.longest < INF:
            body.before[show(rule.attempt.since)] = rule.attempt.longest
        return body

    def _entering(self, body: Body, rule: DrivenRule, relation: Relation) -> list[Step]:
        terms = _terms_of(rule.driver, relation)
        every = [terms[at] for at in (*relation.keys, *relation.rest)]
        return _bind(body, rule.driver.time, every)  # type: ignore[union-attr]

    def _enter_point(
        self,
        body: Body,
        rule: DrivenRule,
        relation: Relation,
        following: Label,
        first: bool = False,
    ) -> None:
        """Bind the variables of the driver of a rule."""
        driver = rule.driver
        if not isinstance(driver, ec.InitiatedAt | ec.TerminatedAt):
            for step, needed in self._entering(body, rule, relation):
                body.step(step, needed, following)
            return
        terms = _terms_of(driver, relation)
        every = [terms[at] for at in (*relation.keys, *relation.rest)]
        self._enter(body, driver.time, every[:-1], following)
        kind = POINT_KINDS[type(driver)]
        if terms[relation.key[1]] == ENDED:
            return
        later = first and relation.key in self._moving
        body.value_of_point(kind, relation.key, terms, len(every), following, later)
        if rule.plan.time == driver.time:
            self._in_run(body, following)

    def _late(self, relation: Relation, rules: list[DrivenRule]) -> None:
        """The program of the rules of a level: what they ask of all that changes."""
        bits = [rule.bit for rule in rules]
        for rule in rules:
            following = self.code.label()
            self.code.emit("RULE", rule.bit, int(rule.listed), fail=following)
            self._mark(rule, runs=0)
            body = self._started(rule, relation)
            self._enter_point(body, rule, relation, following)
            if rule.level in self._cyclic:
                body.mask = _mask(rules)
            fail = following
            if bits.count(rule.bit) > 1 or not rule.needs_no_facts:
                fail = body.chain(rule.static, following)
            emit = self.code.label()
            self.code.emit("TRUE", fail=emit)
            known = dict(body.env)
            if rule.stated is not None:
                self._says(body, rule, rule.stated.column)
                rule.stated.state(body, rule.dynamic, fail)
                self.code.here(emit)
                self.code.here(following)
                continue
            if rule.attempt is not None:
                rule.attempt.stands(body, fail)
            fail = body.chain(rule.dynamic, fail)
            self.code.here(emit)
            if not rule.listed:
                body.env, fail = known, following  # one solution is enough
            self._conclude(body, rule, fail, following)
            self.code.here(following)
        self.code.emit("END")

    def _bits(self, rules: list[DrivenRule]) -> None:
        """A bit for each rule; for all that never wait one, and for many of a level one.

        Rules of the last of very many levels wait for the last, which costs time and is as right.
        """
        place = 1 if any(not rule.waits for rule in rules) else 0
        waiting = [rule for rule in rules if rule.waits]
        if place + len(waiting) <= PEND:
            for rule in waiting:
                rule.bit = place
                place += 1
            return
        levels = sorted({rule.level for rule in waiting})
        if place + len(levels) > PEND:
            levels = [*levels[: PEND - place - 1], levels[-1]]
        for rule in waiting:
            rule.listed = True
            if rule.level not in levels:
                rule.level = levels[-1]
            rule.bit = place + levels.index(rule.level)

    def _enter(self, body: Body, time: Term, terms: Sequence[Term], fail: Label) -> None:
        """Bind the variables of the driver to the registers that hold it."""
        for step, needed in _bind(body, time, terms):
            body.step(step, needed, fail)

    def _in_run(self, body: Body, fail: Label) -> None:
        """Initial values are begun before the run, when no rule says anything."""
        start = body.register()
        self.code.emit("LDC", start, 2 * self.start + 1)
        self.code.emit("AFTER", 0, start, fail=fail)

    def _conclude(self, body: Body, rule: DrivenRule, fail: Label, end: Label) -> None:
        """Say what the head says; look for more solutions."""
        plan = rule.plan
        again = fail
        args = plan.terms[: plan.key[1]]
        assert plan.time is not None
        time = body.load(plan.time, again)
        begins = plan.time == Int(self.origin)
        if plan.time != rule.driver.time and rule.attempt is None and not begins:  # type: ignore[union-attr]
            self.code.emit("AFTER", time, self.code.constant(2 * self.start + 1), fail=again)
        for place, bound in enumerate(plan.bounds or ()):
            if body.is_bound(bound):
                body.in_range((bound, NONE) if place == 0 else (NONE, bound), time, again)
            elif not isinstance(bound, Var) or bound.name not in plan.given:
                self.code.emit("JMP", fail=again)
        for arg in args:
            if not body.is_bound(arg):
                raise NotLowered(f"nothing gives a value to {show(arg)}", plan.clause)
        if body.relation in self.layout.moments and plan.key == (
            self.layout.moments[body.relation].key
        ):
            self._tell_by_time(body, rule, time, again)
            return
        if plan.kind == "event":
            head = self.layout.event(plan.key)
            if plan.key in self.plan.groundings:
                body.ask_domain(plan.key, args, None, again)
            self._says(body, rule, head)
            line, _ = body.line(head, args[: len(head.keys)], None, again)
            argument = 0
            if head.rest:  # an attempt: later, and it knows its own time
                self.code.emit("AFTER", time, 0, fail=again)
                argument = body.load(args[-1], again)
            self._mark(rule, rows=1)
            self.code.emit("TELL", line, time, argument)
        else:
            head = next(one for one in self.layout.fluents[plan.key] if one.kind == "simple")
            self._says(body, rule, head)
            line, _ = body.line(head, args, None, again)
            shift = INITIATED if plan.kind == "initiated" else TERMINATED
            value = plan.terms[-1]
            if plan.open_value:
                said = -1 if isinstance(value, Var) else body.load(form_of(value, body.env), again)
                self._mark(rule, rows=1)
                self.code.emit("SAY", line, said, time, shift)
            else:
                said = body.load(value, again)
                if plan.kind == "initiated" and by_value(self.plan, plan.key):
                    said = self._inside(body, plan, args, said)
                elif begins and plan.key in self.plan.groundings:
                    body.ask_domain(plan.key, args, value, again)
                self._mark(rule, rows=1)
                self.code.emit("SAY", line, said, time, shift)
        self.code.emit("JMP", fail=again)

    def _tell_by_time(self, body: Body, rule: DrivenRule, time: int, again: Label) -> None:
        """Say an event as one of its time, with all its arguments."""
        head = self.layout.event(rule.plan.key)
        self._says(body, rule, head)
        line, first = body.register(), body.register(len(head.rest))
        where = head.table.number * 4096 + head.place
        self.code.emit("LINE", line, self.code.list([1, time]), where, -1)
        for place, arg in enumerate(rule.plan.terms[:-1]):
            self.code.emit("MOV", first + place, body.load(arg, again))
        self.code.emit("TELL", line, time, first)
        self.code.emit("JMP", fail=again)

    def _mark(self, rule: DrivenRule, runs: int = 1, rows: int = 0) -> None:
        """Where costs are asked for: what follows is work of a rule; it says `rows` more."""
        if self.owners is not None:
            self.code.emit("MARK", self.owners.of_rule(rule.plan.clause), runs, rows)

    def _says(self, body: Body, rule: DrivenRule, head: Relation) -> None:
        """Note who says something, and whether it is no earlier than what drives the rule."""
        assert body.relation is not None
        if body.at_start and rule.plan.time == Int(self.origin):
            return  # once, before anything is forgotten
        later = rule.plan.time == rule.driver.time or rule.attempt is not None  # type: ignore[union-attr]
        later &= rule.stated is None
        later |= rule.plan.kind == "event" and bool(head.rest)  # an attempt is at its deadline
        self.layout.said.append((body.relation, head, later))

    def _inside(self, body: Body, plan: PointPlan, args: Sequence[Term], said: int) -> int:
        """The value, or a ghost of it: outside its domain it holds nowhere, and breaks others."""
        found = body.register()
        outside, done = self.code.label(), self.code.label()
        value = plan.terms[-1]
        body.ask_domain(plan.key, args, value, outside)
        self.code.emit("MOV", found, said)
        self.code.emit("JMP", fail=done)
        self.code.here(outside)
        self.code.emit("LDC", found, GHOST)
        self.code.here(done)
        return found

    # --- lists, domains, rows --------------------------------------------------------------------

    def _list_of(self, plan: StaticPlan) -> Relation:
        """The list that a rule is about."""
        (relation,) = (
            one
            for one in self.layout.fluents[plan.key]
            if one.kind == "static" and (one.keyed or one.value == plan.terms[-1])
        )
        return relation

    def _stated_rules(self, plan: StaticPlan, level: int) -> Iterator[DrivenRule]:
        """A rule that states intervals: the run drives it."""
        self.layout.scattered = True  # the run looks at whole lists, and states some of all
        column = self._columns[id(plan)] = stated_column(self._list_of(plan))
        known = Known(self.rules, plan, level)
        driver = self._run()
        nothing = op.Chain()
        head = PointPlan(
            *("event", plan.key, plan.terms, driver.time, nothing, frozenset()),
            *(plan.rule.body, plan.clause),
        )
        for listing in self.facts.of_list(plan):
            chain = plan.chain
            if listing is not None:
                chain = _after(listing, chain, names(*plan.terms, *_terms_in(chain)))
            rule = StatedRule(plan, column, known)
            yield DrivenRule(head, driver, level, nothing, chain, True, stated=rule)

    def _lists(self) -> None:
        """Lists of all components: rules about different instances of one may be in several."""
        by_pair: dict[Relation, list[StaticPlan]] = {}
        for stratum in self.plan.strata:
            for plan in stratum.static:
                by_pair.setdefault(self._list_of(plan), []).append(plan)
        for relation, plans in by_pair.items():
            columns = [self._columns[id(one)] for one in plans if id(one) in self._columns]
            others = [one for one in plans if id(one) not in self._columns]
            try:
                Lists(self.rules, relation, others, columns).lower()
            except NotLowered as error:
                some = [one for one in others if one.clause is error.clause]
                raise NoExpression(some or others) from error
            if self.owners is not None:
                self.owners.take_lists(relation, plans, self.layout.tables)

    def _domains(self) -> None:
        """Rows of fluents with a grounding ask whether they are in it."""
        for key, plans in self.plan.groundings.items():
            for relation in self.layout.fluents.get(key, ()):
                if not relation.derived:
                    continue
                if any(self._speaks(one, relation) for one in plans):
                    relation.table.parts.insert(0, partial(self._check, relation=relation))

    def _speaks(self, plan: GroundingPlan, relation: Relation) -> bool:
        """Does a grounding speak of the values of a relation?"""
        if plan.value is None or relation.keyed:
            return True
        if relation.kind == "static":
            assert relation.value is not None
            return may_match(plan.value, relation.value)
        return False  # asked with each value

    def _check(self, body: Body, relation: Relation) -> None:
        """A row that is outside the domain of a fluent says nothing of it."""
        key = [Var(f"#{place}") for place in range(1, len(relation.keys) + 1)]
        body.env = {term.name: place for place, term in enumerate(key, 1)}
        body.of_row(key)
        outside, done = self.code.label(), self.code.label()
        value = key[-1] if relation.keyed else relation.value
        body.ask_domain(relation.key, key[: relation.key[1]], value, outside)
        self.code.emit("ALLOW", relation.place)
        self.code.emit("JMP", fail=done)
        self.code.here(outside)
        self.code.emit("BAR", relation.place)
        self.code.here(done)

    def _rows(self, table: Table) -> None:
        """What is to do for a new row of a table."""
        if not table.parts:
            return
        table.code = len(self.code.words)
        clause = self.plan.description.rules[0].clause
        for part in table.parts:
            body = Body(self.rules, clause, None, (), table.width + 3, 0, 0)
            body.row = table
            part(body)
        self.code.emit("END")


def _alternatives(plan: PointPlan, tick: int) -> list[PointPlan]:
    """A rule for each choice among conditions that only together give its time.

    So it is for those that say who is meant, `(P = A ; P = B)`: the rest is then found by that.
    Very many of them stay one rule, which something else has to drive. Beside a fluent, which gives
    no time between two ticks, one such condition at a time is enough.
    """
    literals = list(ec.conjuncts(plan.body))
    now = [one for one in literals if isinstance(one, TIMED) and one.time == plan.time]
    held = any(isinstance(one, ec.HoldsAt) for one in now)
    wanted = () if any(isinstance(one, POINTS) for one in now) else POINTS if held else TIMED
    if held and tick == 1:
        wanted = ()
    options: list[list[tuple[ec.Literal, ...]]] = []
    for one in literals:
        gives = isinstance(one, ec.Disjunction) and any(isinstance(p, wanted) for p in ec.walk(one))
        if isinstance(one, ec.Disjunction) and (
            gives or all(isinstance(p, ec.Compare) and p.op == "=" for p in one.items)
        ):
            options.append([tuple(ec.conjuncts(item)) for item in one.items])
        else:
            options.append([(one,)])
        if gives and held:
            wanted = ()
    number = prod(map(len, options))
    if number == 1 or number > MANY:
        return [plan]
    choices = product(*options)
    found = []
    for choice in choices:
        items = tuple(literal for part in choice for literal in part)
        body = ec.Conjunction(items, plan.body.term)
        found += _alternatives(replace(plan, body=body), tick)
    return found


def _terms_of(driver: ec.Literal, relation: Relation) -> tuple[Term, ...]:
    match driver:
        case ec.Happens(event=event):
            return args_of(event)
        case (
            ec.Edge(fvp=fvp)
            | ec.InitiatedAt(fvp=fvp)
            | ec.TerminatedAt(fvp=fvp)
            | ec.HoldsAt(fvp=fvp)
        ):
            terms = (*args_of(fvp.fluent), fvp.value)
            return (*terms, fvp.value) if relation.rest == (len(terms),) else terms
        case _:
            raise TypeError(driver)


def _bind(body: Body, time: Term, terms: Sequence[Term]) -> list[Step]:
    """Bind the variables of a driver to the registers that hold it; what has to be compared."""
    body.time = time
    found: list[Step] = []
    for register, term in enumerate((time, *terms)):
        if isinstance(term, Var) and term.name not in body.env:
            body.env[term.name] = register
        else:
            held = Var(f"#{register}")
            body.env[held.name] = register
            found.append((op.equal(held, term), names(term)))
    return found


def _is_given(known: Names, term: Term) -> bool:
    return names(term) <= known


def _happens(name: str, args: tuple[Term, ...], time: Var) -> ec.Happens:
    event = make(name, *args)
    return ec.Happens(event, time, Compound("happensAt", (event, time)))


def _names_time(literal: ec.Literal, time: Term | None) -> bool:
    """May a condition name a time that need not be a time-point of the grid?"""
    for part in ec.walk(literal):
        match part:
            case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
                said = frozenset() if part is literal else names(part.time)
            case ec.Is(target=target):
                said = names(target)
            case ec.Compare(op="=", left=left, right=right):
                said = names(left, right)
            case ec.Call(args=args):
                said = names(*args)
            case ec.FindAll(result=result) | ec.AggregateAll(result=result):
                said = names(result)
            case _:
                continue
        if said & names(time):
            return True
    return False


def _level_mask(rules: Iterable[DrivenRule], level: int) -> int:
    return _mask(rule for rule in rules if rule.waits and rule.level == level)


def _mask(rules: Iterable[DrivenRule]) -> int:
    found = 0
    for rule in rules:
        found |= 1 << rule.bit
    return found


def _after(first: op.Operator, chain: op.Chain, asked: Names) -> op.Chain:
    """A chain after an operator of which later ones need some variables."""
    return op.Chain((first, *chain.steps), (asked, *chain.needed), chain.bound)


def _bound_by(chain: op.Chain) -> Names:
    return frozenset[str]().union(*map(op.binds, chain.steps))


def _terms_in(chain: op.Chain) -> list[Term]:
    return [step.term for step in chain.steps]


# --- conditions that several rules share ----------------------------------------------------------


@dataclass(eq=False)
class Started:
    """A rule whose driver is in registers, with the conditions that have to be asked yet."""

    rule: DrivenRule
    body: Body
    steps: list[Step]

    def free(self) -> Iterator[int]:
        """The places of conditions that need nothing from those before them."""
        spoken: set[str] = set()
        for place, (step, _) in enumerate(self.steps):
            said = names(step.term)
            if not said & spoken:
                yield place
            spoken |= said - self.body.env.keys()

    def names_of(self, step: op.Operator) -> list[str]:
        """The variables that a condition gives a value, in the order in which they are written."""
        return [name for name in variables(step.term) if name not in self.body.env]

    def signature(self, step: op.Operator) -> tuple[str, str]:
        """The same for conditions that ask the same of the same registers."""
        new = self.names_of(step)
        meant = {
            name: Constant(f"new {new.index(name)}")
            if name in new
            else Constant(f"in {self.body.env[name]}")
            for name in variables(step.term)
        }
        return type(step).__name__, show(substitute(step.term, meant))


def _prepare(one: Started) -> None:
    """Look up what are constants, and ask for a column before it is compared with one."""
    body = one.body
    steps: list[Step] = []
    for step, needed in one.steps:
        if isinstance(step, op.FactJoin) and not names(step.term) & _asked(steps):
            if body.constants_of(step, needed):
                continue
            fixed = [at for at, term in enumerate(step.terms) if is_ground(term)]
            if fixed and body.is_one_row(step, fixed):
                terms = list(step.terms)
                for at in fixed:
                    terms[at] = Var(f"#given{at}")
                new = [Var(f"#given{at}") for at in fixed]
                term = Compound(step.key[0], tuple(terms))
                more = needed | {var.name for var in new}
                steps.append((op.FactJoin(step.key, tuple(terms), term), more))
                for at, var in zip(fixed, new, strict=True):
                    steps.append((op.equal(var, step.terms[at]), needed))
                continue
        steps.append((step, needed))
    one.steps = steps


def _asked(steps: list[Step]) -> Names:
    return names(*(step.term for step, _ in steps))


def _most_alike(first: Started, rules: list[Started]) -> list[tuple[Started, int]]:
    """The rules that share a condition with the first, and its place in each of them."""
    best = [(first, -1)]
    for place in first.free():
        wanted = first.signature(first.steps[place][0])
        group = [(first, place)]
        for one in rules[1:]:
            at = next((at for at in one.free() if one.signature(one.steps[at][0]) == wanted), None)
            if at is not None:
                group.append((one, at))
        if len(group) > len(best):
            best = group
    return best


def _ask_once(group: list[tuple[Started, int]], after: Label) -> Label:
    """The code of a condition that rules share; all of them know what it found."""
    first, place = group[0]
    body = first.body
    body.next = max(one.body.next for one, _ in group)
    step = first.steps[place][0]
    mine = first.names_of(step)
    wanted: set[str] = set()
    theirs = []
    for one, at in group:
        other, needed = one.steps.pop(at)
        if one is not first and isinstance(other, op.Filter | op.Extend):
            body.alike.append((one.body, other))
        found = one.names_of(other)
        theirs.append(found)
        wanted |= {name for name, its in zip(mine, found, strict=True) if its in needed}
    fail = body.step(step, frozenset(wanted), after)
    body.alike = []
    for (one, _), found in zip(group, theirs, strict=True):
        one.body.next, one.body.loops = body.next, body.loops
        for name, its in zip(mine, found, strict=True):
            if name in body.env:
                one.body.env[its] = body.env[name]
    return fail
