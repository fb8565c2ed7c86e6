"""Why not: the rules that could have given something, and what each of them lacks.

A rule is tried with a condition less, then with two; what is left out for it to apply is what it
lacks. A row that would make up for that is shown only once a run with it has given what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import NamedTuple, TypeVar

from horai.explain.conditions import resolved
from horai.explain.ec import CalculusProver, IntervalLists, NotProvable, pair
from horai.explain.proof import Proof, RowChange
from horai.io import to_source
from horai.lang.core.terms import Int, Term, children, functor, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import Endless, UnboundVariable
from horai.oracle.ec.terms import Env, resolve, unify, unify_all
from horai.plan.ec.entities import Entities
from horai.runtime.values import plain, show

MOST_MISSING = 2
"""So many conditions of a rule may be missing for it to be told of in detail."""
MOST_TRIED = 6
"""So many rows are tried by a run."""
DEEPEST = 3
"""So far is it followed why a condition does not hold."""
Works = Callable[[RowChange], bool]
Told = tuple[Proof, list[RowChange]]
"""A condition that does not hold, and the rows that may help."""
LackingRule = ec.Initiation | ec.EventRule | ec.HoldsAtRule | ec.HoldsForRule | ec.FutureInitiation
Condition = TypeVar("Condition")
Found = TypeVar("Found")


class Lack(NamedTuple):
    """A rule that lacks conditions, which are the premises, and how far off it would apply."""

    reason: Proof
    wishes: list[RowChange]
    distance: int = 0


def lacking(
    body: Sequence[Condition],
    satisfied: Callable[[list[Condition], list[Condition]], Found | None],
    least: int = 1,
) -> Iterator[tuple[Found, list[Condition], list[Condition]]]:
    """The fewest conditions without which a body is satisfied, in each way; and the other ones."""
    for missing in range(least, MOST_MISSING + 1):
        is_enough = False
        for left in combinations(range(len(body)), missing):
            unmet = [body[place] for place in left]
            rest = [one for place, one in enumerate(body) if place not in left]
            found = satisfied(rest, unmet)
            if found is not None:
                is_enough = True
                yield found, unmet, rest
        if is_enough:
            return


class Reasons(NamedTuple):
    """Why something is not so, the nearest first, and the rows that may make up for it."""

    proofs: list[Proof]
    wishes: list[RowChange]

    def add(self, reason: Proof, wishes: Sequence[RowChange]) -> None:
        """Take in a reason; a row that something below it wishes for is not named again."""
        inside = wished(reason)
        own = tuple(wish for wish in dict.fromkeys(wishes) if wish not in inside)
        self.proofs.append(replace(reason, changes=own))
        self.wishes.extend(wishes)

    def nearest(self, lacks: Iterable[Lack]) -> None:
        """Take in what rules lack, the nearest first."""
        for lack in sorted(lacks, key=lambda one: (len(one.reason.premises), one.distance)):
            self.add(lack.reason, lack.wishes)


def with_tried(node: Proof, reasons: Reasons, works: Works) -> Proof:
    """Why something is not so, with those rows alone that were seen to help; such reasons first."""
    found = [wish for wish in islice(dict.fromkeys(reasons.wishes), MOST_TRIED) if works(wish)]
    told = [_with_changes(reason, found) for reason in reasons.proofs]
    if not told:
        told = [Proof("unmet", "no rule says it, and no row could", met=False, time=node.time)]
    told.sort(key=lambda one: (not wished(one), one.kind == "rule" and len(one.premises)))
    shown = {wish for reason in told for wish in wished(reason)}
    changes = tuple(wish for wish in found if wish not in shown)
    return replace(node, premises=tuple(told), changes=changes)


def _with_changes(reason: Proof, found: Sequence[RowChange]) -> Proof:
    premises = tuple(_with_changes(one, found) for one in reason.premises)
    kept = tuple(wish for wish in reason.changes if wish in found)
    return replace(reason, premises=premises, changes=kept)


class Absences:
    """Finds out why something is not so."""

    def __init__(self, prover: CalculusProver, entities: Entities) -> None:
        self.prover, self.solver = prover, prover.solver
        self.world, self.evidence = prover.world, prover.evidence
        self.entities = entities
        self._depth = 0

    def why_not(self, entity: Term, value: Term | None, t: int, works: Works) -> Proof:
        """Why something is not so at a time; `works` runs with a changed row, and says if it is."""
        text = pair(entity, value) if value is not None else show(entity)
        verb = "does not hold" if value is not None else "does not happen"
        node = Proof("fails", f"{text} {verb}", at=t, met=False, time=self.prover.time)
        return with_tried(node, self.reasons(entity, value, t), works)

    # --- reasons, with rows that may help --------------------------------------------------------

    def reasons(self, entity: Term, value: Term | None, t: int) -> Reasons:
        """What each rule lacks, the nearest first, and the rows that may make up for it."""
        found = self.told(entity, value, t)
        after = self.world.start
        if value is not None and not self.solver.is_static(entity, value):
            ended = self._ended(entity, value, t)
            if ended is not None:
                found.add(ended, [RowChange("-", row.text) for row in ended.rows])
                after = ended.at if ended.at is not None else after
        what = show(entity) if value is None else pair(entity, value)
        rules = self._rules(entity, value)
        found.nearest(
            lack for rule, env in rules for lack in self._lacks(rule, env, (what, t), after)
        )
        if self._is_input(entity, value):
            wish = self._row(entity, value, t)
            text = f"no row of the input says {what}"
            node = Proof("unmet", text, at=t, met=False, time=self.prover.time)
            found.add(node, [] if wish is None else [wish])
        return found

    def told(self, entity: Term, value: Term | None, t: int) -> Reasons:
        """Why another language does not tell of it; here none could."""
        return Reasons([], [])

    def _ended(self, fluent: Term, value: Term, t: int) -> Proof | None:
        """What has ended the last interval before a time."""
        before = [end for _, end in self.evidence.intervals(fluent, value) if end <= t]
        if not before:
            return None
        try:
            return self.prover.broken(fluent, value, int(before[-1]))
        except NotProvable:
            return None

    def _rules(self, entity: Term, value: Term | None) -> Iterator[tuple[LackingRule, Env]]:
        for rule in self.solver.description.rules:
            env: Env | None = None
            match rule:
                case ec.EventRule(event=event) if value is None:
                    env = unify(event, entity, {})
                case (
                    ec.Initiation(fvp=fvp)
                    | ec.HoldsForRule(fvp=fvp)
                    | ec.HoldsAtRule(fvp=fvp)
                    | ec.FutureInitiation(target=fvp)
                ) if value is not None:
                    env = unify_all((fvp.fluent, fvp.value), (entity, value), {})
                case _:
                    continue
            if env is not None:
                yield rule, env

    # --- what a rule lacks -----------------------------------------------------------------------

    def _lacks(
        self, rule: LackingRule, env: Env, about: tuple[str, int], after: int
    ) -> Iterator[Lack]:
        """What a rule lacks to give something at a time, or a value from a time after another."""
        if isinstance(rule, ec.HoldsForRule):
            yield from self._of_lists(rule, env, about)
            return
        if isinstance(rule, ec.FutureInitiation):
            yield from self._of_delay(rule, env, about)
            return
        is_then = isinstance(rule, ec.EventRule | ec.HoldsAtRule)
        last = about[1] if is_then else self.world.grid.prev(about[1])
        first = last if is_then else after

        def solved(rest: list[ec.Literal], _: list[ec.Literal]) -> Env | None:
            return self._solved(rule, tuple(rest), env, (first, last))

        for one, unmet, _ in lacking(tuple(ec.conjuncts(rule.body)), solved):
            at = resolve(rule.time, one)
            told = [self._unmet(condition, one) for condition in unmet]
            yield self._lack(rule, one, about, told, at.value if isinstance(at, Int) else last)

    def _lack(
        self, rule: LackingRule, env: Env, about: tuple[str, int], told: list[Told], at: int
    ) -> Lack:
        (what, t), when = about, self.prover.time(at)
        match rule:
            case ec.Initiation():
                text = f"{what} would be initiated at {when} if all of this were so"
            case ec.FutureInitiation():
                text = f"{what} would take effect at {when} if all of this were so"
            case _:
                text = f"{what} would be so at {when} if all of this were so"
        node = Proof("rule", text, met=False, time=self.prover.time)
        reason = self.prover.by_rule(node, rule.clause, env, (proof for proof, _ in told))
        return Lack(reason, told[0][1] if len(told) == 1 else [], t - at)

    def _of_delay(
        self, rule: ec.FutureInitiation, env: Env, about: tuple[str, int]
    ) -> Iterator[Lack]:
        """The initiation that would take effect just before a time, if the delay is a number."""
        last, delay = self.world.grid.prev(about[1]), resolve(rule.delay, env)
        if isinstance(delay, Int) and self.world.in_run(last - delay.value):
            origin = pair(*resolved(rule.origin, env))
            text = f"initiatedAt({origin},{last - delay.value})"
            unmet = Proof("unmet", text, met=False, time=self.prover.time)
            yield self._lack(rule, env, about, [(unmet, [])], last)

    def _solved(
        self,
        rule: ec.Initiation | ec.EventRule | ec.HoldsAtRule,
        rest: tuple[ec.Literal, ...],
        env: Env,
        within: tuple[int, int],
    ) -> Env | None:
        """The latest way to satisfy some conditions of a rule."""
        if within[0] < within[1]:
            with self.solver.limited(rule.time, within):
                found = self._first(rest, env)
            if found is not None and is_ground(resolve(rule.time, found)):
                return found
        at = unify(rule.time, Int(within[1]), env)
        return None if at is None else self._first(rest, at)

    def _first(self, rest: tuple[ec.Literal, ...], env: Env) -> Env | None:
        try:
            return next(self.solver.solve(rest, env), None)
        except (UnboundVariable, Endless):
            return None

    def _unmet(self, literal: ec.Literal, env: Env) -> Told:
        """A condition that does not hold, why not, and the rows that may help."""
        text = self.prover.text(literal.term, env)
        node = Proof("unmet", text, met=False, time=self.prover.time)
        match literal:
            case ec.Happens(event=event, time=time):
                return self._followed(node, resolve(event, env), None, resolve(time, env))
            case ec.HoldsAt(fvp=fvp, time=time):
                return self._followed(node, *resolved(fvp, env), resolve(time, env))
            case ec.Negation(item=item):
                found = self._first((item,), env)
                proofs = [] if found is None else self._proved(item, found)
                rows = [RowChange("-", row.text) for proof in proofs for row in proof.rows]
                return replace(node, premises=tuple(proofs)), rows
            case _:
                return node, []

    def _proved(self, literal: ec.Literal, env: Env) -> list[Proof]:
        try:
            return self.prover.conditions(literal, env)
        except (NotProvable, UnboundVariable, Endless):
            return []

    def _followed(self, node: Proof, entity: Term, value: Term | None, time: Term) -> Told:
        if not isinstance(time, Int) or functor(entity) is None:
            return node, []
        t = time.value
        about = (entity,) if value is None else (entity, value)
        is_deep = self._depth >= DEEPEST or not all(map(is_ground, about))
        if self._is_input(entity, value):
            wish = self._row(entity, value, t)
            reasons, wishes = Reasons([], []) if is_deep else self.told(entity, value, t)
            return replace(node, premises=tuple(reasons)), [*wishes, *([wish] if wish else [])]
        if is_deep:
            return node, []
        self._depth += 1
        try:
            reasons, wishes = self.reasons(entity, value, t)
        finally:
            self._depth -= 1
        return replace(node, premises=tuple(reasons)), wishes

    # --- interval lists --------------------------------------------------------------------------

    def _of_lists(self, rule: ec.HoldsForRule, env: Env, about: tuple[str, int]) -> Iterator[Lack]:
        try:
            with self.solver.ranging(rule.body, env):
                found = next(self.solver.solve((rule.body,), env), None)
        except (UnboundVariable, Endless):
            found = None
        if found is None:
            return
        lists = IntervalLists(self.prover, rule.body, found)
        for missing in lists.why_not(rule.intervals, about[1]):
            told = [
                (one, list[RowChange]()) if isinstance(one, Proof) else self._unmet(one, found)
                for one in missing
            ]
            yield self._lack(rule, found, about, told, about[1])

    # --- rows ------------------------------------------------------------------------------------

    def _is_input(self, entity: Term, value: Term | None) -> bool:
        table = self.entities.events if value is None else self.entities.fluents
        known = table.get(key_of(entity))
        return known is not None and known.is_input

    def _row(self, entity: Term, value: Term | None, t: int) -> RowChange | None:
        """The row that says it; what is open is taken from another row."""
        if value is None and not is_ground(entity):
            like = next(self.evidence.events(entity, None, None), None)
            if like is None:
                return None
            entity = like[0]
        if value is None:
            return row_of(entity, t, [])
        form = self.entities.fluents[key_of(entity)].form
        return row_of(entity, t, [] if form == "points" else [self.world.grid.next(t)], value)


def row_of(
    entity: Term, t: int, until: Sequence[int] = (), value: Term | None = None
) -> RowChange | None:
    """The row that says something at a time; None for terms that have no form in a narrative."""
    terms = (*(() if value is None else (value,)), *children(entity))
    said = [field_of(term) if is_ground(term) else None for term in terms]
    if any(field is None for field in said):
        return None
    return RowChange("+", "|".join(map(str, [key_of(entity)[0], t, t, *until, *said])))


def field_of(term: Term) -> str | None:
    """A term as a field of a narrative; None for those that have no such form."""
    found = plain(term)
    text = str(found)
    return None if "|" in text or "\n" in text or to_source(found) != text else text


def wished(node: Proof) -> list[RowChange]:
    """The rows that a statement, or one below it, names."""
    return [wish for one in node.walk() for wish in one.changes]
