"""Components whose past may change when an entity comes to be known late.

A member of a dynamic domain, or an instance that a complement speaks of, may be named for the first
time long after the start of the run, and still has a past: its initial value, its complement, what
a grounding kept out so far. A component that could notice is never final, unless its rules fire for
an entity only when an item names it: then there was nothing to notice before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from horai.engine.static import lists_heads, supports_of
from horai.lang.core.terms import Compound, Term, Var, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import literal_fvp, names
from horai.plan.ec.reach import unfolded
from horai.plan.ec.readings import readings
from horai.plan.ec.unify import may_match
from horai.plan.program import GroundingPlan, Key, Plan, PointPlan, StaticPlan, Stratum

Terms = tuple[Term, ...]
Membership = tuple[Key, Terms]  # a dynamic domain and its member, in the variables of a rule
Needs = frozenset[Membership]
UNSEEN: Needs = frozenset({(("", -1), ())})  # what no condition can be seen to imply
NOTHING: Needs = frozenset()


class Latecomers:
    """Which components must not forget the past."""

    def __init__(self, program: Plan) -> None:
        self.program = program
        self.made = {key for stratum in program.strata for key in _makes(stratum)}
        # Initial values that depend on who is known, and the memberships they depend on.
        self.initial: list[tuple[PointPlan, Needs]] = []
        self.absent: list[StaticPlan] = []
        for stratum in program.strata:
            for plan in stratum.initially:
                needs = self._needs(plan.key, plan.terms) | self._dynamic(plan.body)
                if needs:
                    self.initial.append((plan, needs))
            self.absent += [plan for plan in stratum.static if self._speaks_of_absence(plan)]

    def noticed_by(self, stratum: Stratum) -> bool:
        """Could what a component said of the past change when someone comes to be known?"""
        late = {plan.key for plan, _ in self.initial}
        rules = Counter(plan.key for plan in stratum.static)
        if any(rules[plan.key] > 1 for plan in stratum.static if self._is_absent(plan)):
            return True  # the past of a pair is kept for all of its rules together
        for delay in stratum.delays:
            before = self._needs(delay.origin_key, delay.origin)
            if not self._needs(delay.target_key, delay.target) <= before:
                return True
            if {delay.origin_key, delay.target_key} & late:
                return True
        return (
            any(not self._is_anchored(plan) for plan in stratum.points)
            or any(not self._is_anchored_static(plan) for plan in stratum.static)
            or any(self._reads_late(rule) for rule in self._rules(stratum))
        )

    def _rules(self, stratum: Stratum) -> list[ec.Rule]:
        clauses = [plan.clause for plan in stratum.points]
        clauses += [plan.clause for plan in stratum.static]
        clauses += [plan.clause for plan in stratum.delays]
        wanted = {id(clause) for clause in clauses}
        return [rule for rule in self.program.description.rules if id(rule.clause) in wanted]

    # --- who may be late -------------------------------------------------------------------------

    def _is_anchored(self, plan: PointPlan) -> bool:
        arity = plan.key[1]
        needs = self._needs(plan.key, plan.terms)
        for initial, wanted in self.initial:
            if initial.key == plan.key and plan.kind != "event":
                needs |= _moved(wanted, initial.terms[:arity], plan.terms[:arity])
        return needs <= self._implied(ec.conjuncts(plan.body))

    def _is_anchored_static(self, plan: StaticPlan) -> bool:
        needs = self._needs(plan.key, plan.terms)
        if not needs or self._is_absent(plan):
            return True  # a rule that speaks of absence keeps track of whom it speaks of
        if isinstance(plan.rule, ec.HoldsAtRule):
            return needs <= self._implied(ec.conjuncts(plan.rule.body))
        return all(
            needs <= NOTHING.union(*(self._named(one.key, one.terms) for one in support))
            for support in supports_of(plan)
        )

    def _is_absent(self, plan: StaticPlan) -> bool:
        return any(plan is one for one in self.absent)

    def _reads_late(self, rule: ec.Rule) -> bool:
        """Does a rule look at a fluent that may get a past, without an item that names it?"""
        body = getattr(rule, "body", None)
        known = self._implied(ec.conjuncts(body)) if isinstance(body, ec.Conjunction) else NOTHING
        for reading in readings(rule, self.program.graph.helpers):
            fvp = literal_fvp(reading.literal)
            if fvp is None:
                continue
            key = key_of(fvp.fluent)
            if any(p.key == key and may_match(p.terms[-1], fvp.value) for p in self.absent):
                return True
            for plan, needs in self.initial:
                # Other values of the fluent are given by items, which name whom they are about.
                if plan.key != key or not may_match(plan.terms[-1], fvp.value):
                    continue
                if not _moved(needs, plan.terms[: key[1]], _args(fvp.fluent)) <= known:
                    return True
        return False

    def _speaks_of_absence(self, plan: StaticPlan) -> bool:
        """Does an interval rule say something of instances without any interval?"""
        if isinstance(plan.rule, ec.HoldsAtRule):
            return False
        head = names(*plan.terms)
        if all(
            support and head <= names(*(term for one in support for term in one.terms))
            for support in supports_of(plan)
        ):
            return False
        if self._needs(plan.key, plan.terms) or self._dynamic(plan.rule.body):
            return True
        return self._spreads(plan, head if lists_heads(plan, self.program) else frozenset())

    def _spreads(self, plan: StaticPlan, bound: frozenset[str]) -> bool:
        """Does a variable take all values that are known so far?"""
        for step in plan.chain.steps:
            if isinstance(step, op.Lookup) and not names(*step.terms) <= bound:
                return True
            if not isinstance(step, op.AntiJoin | op.Filter):
                bound |= names(step.term)
        return False

    # --- what heads need and conditions imply ----------------------------------------------------

    def _needs(self, key: Key, terms: Terms) -> Needs:
        """The memberships that the groundings of an entity ask for."""
        found = NOTHING
        for plan in self.program.groundings.get(key, ()):
            value = terms[-1] if len(terms) > key[1] else None
            if plan.value is None or (value is not None and may_match(plan.value, value)):
                found |= self._asked(plan, terms[: key[1]])
        return found

    def _asked(self, plan: GroundingPlan, args: Terms) -> Needs:
        """The memberships a grounding asks for, of the arguments in hand."""
        rule = next(r for r in self.program.description.rules if r.clause is plan.clause)
        assert isinstance(rule, ec.Grounding)
        return _moved(self._dynamic(rule.body), plan.terms, args)

    def _dynamic(self, body: ec.Conjunction) -> Needs:
        """The memberships a body asks for; by way of other predicates nothing is seen of them."""
        plain = {id(part) for part in ec.conjuncts(body)}
        found = NOTHING
        for part in unfolded(body, self.program.graph.helpers):
            if isinstance(part, ec.Call) and part.key in self.program.dynamic:
                found |= {(part.key, part.args)} if id(part) in plain else UNSEEN
        return found

    def _implied(self, conditions: Iterable[ec.Literal]) -> Needs:
        """Memberships that are known whenever some conditions are true."""
        found = NOTHING
        for condition in conditions:
            if isinstance(condition, ec.Happens):
                found |= self._named(key_of(condition.event), _args(condition.event))
            elif isinstance(condition, ec.HoldsAt | ec.Edge | ec.InitiatedAt | ec.TerminatedAt):
                fluent, value = condition.fvp.fluent, condition.fvp.value
                found |= self._named(key_of(fluent), (*_args(fluent), value))
        return found

    def _named(self, key: Key, terms: Terms) -> Needs:
        """Members that something names by its groundings, whenever it happens or holds."""
        value = terms[-1] if len(terms) > key[1] else None
        plans = self.program.groundings.get(key, ())
        sure = [
            self._asked(plan, terms[: key[1]])
            for plan in plans
            if (plan.value is None or isinstance(plan.value, Var) or plan.value == value)
            and all(isinstance(term, Var) for term in plan.terms)
        ]
        if key not in self.made:  # an item makes members by every grounding that fits
            return NOTHING.union(*sure) - UNSEEN
        possible = [
            p for p in plans if p.value is None or value is None or may_match(p.value, value)
        ]
        # What rules define is kept out by groundings unless one of them lets it in.
        return frozenset.intersection(*sure) - UNSEEN if 0 < len(possible) == len(sure) else NOTHING


def _makes(stratum: Stratum) -> list[Key]:
    return [*stratum.events, *stratum.fluents, *(plan.key for plan in stratum.static)]


def _args(entity: Term) -> Terms:
    return entity.args if isinstance(entity, Compound) else ()


def _moved(needs: Needs, before: Terms, after: Terms) -> Needs:
    """Memberships of the arguments of one head as those of the arguments of another."""
    if len(before) != len(after):
        return needs and UNSEEN
    places: dict[str, Term] = {}
    for old, new in zip(before, after, strict=True):
        if isinstance(old, Var):
            places.setdefault(old.name, new)
    found = NOTHING
    for key, args in needs:
        moved = [places.get(a.name) if isinstance(a, Var) else a for a in args]
        if any(one is None for one in moved) or (key, args) in UNSEEN:
            found |= UNSEEN
        else:
            found |= {(key, tuple(one for one in moved if one is not None))}
    return found
