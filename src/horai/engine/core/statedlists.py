"""Interval lists that rules state, interval by interval.

A rule that looks at whole lists (compares them, collects them, passes them on), or at what happens,
is no expression over the lists of instances. The run drives it: lists are terms in registers, every
solution gives one, and each of its intervals is stated in a column of the instance of the head.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from horai.engine.core.layout import Relation
from horai.engine.core.list_rows import Known
from horai.engine.core.listterms import Pieces
from horai.engine.core.rules import Body, Label, Rules
from horai.lang.core.terms import Var
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.instructions import KIND
from horai.plan.ec.literals import names
from horai.plan.program import StaticPlan

CUTS = Var("#cuts")


def stated_column(relation: Relation) -> Relation:
    """A column beside a list, for the intervals that rules state of it."""
    keys = tuple(range(relation.table.width))
    found = Relation("static", ("", len(keys)), keys, level=relation.level, shown=False)
    found.fields |= {"C_KIND": KIND["STATED"], "C_INPUT": 1, "C_FEEDS": 1}
    return relation.table.add(found)


@dataclass(frozen=True, eq=False)
class StatedRule:
    """A rule whose intervals are stated in a column."""

    plan: StaticPlan
    column: Relation
    known: Known

    def value_known(self, body: Body, name: str) -> Relation:
        """The list of who is known, for a variable that no condition gives a value."""
        if not self.known.has(name):
            raise body.refuse(f"nothing gives a value to {name}")
        return self.known.of(name)

    def state(self, body: Body, chain: op.Chain, fail: Label) -> None:
        """The code of the conditions, and of what they state."""
        plan, code = self.plan, body.code
        body.known = partial(self.value_known, body)
        if isinstance(plan.rule, ec.HoldsAtRule):
            start, end, again = self._formula(body, plan.rule, chain, fail)
        else:
            again = body.chain(chain, fail)
            start, end, again = body.each_interval(Pieces(plan.result), again)
        head = plan.terms if self.column.table.width > plan.key[1] else plan.terms[:-1]
        for name in sorted(names(*head) - body.env.keys()):
            raise body.refuse(f"nothing gives a value to {name}")
        line, again = body.line(self.column, head, None, again)
        code.emit("INTERVAL", line, start, end)
        code.emit("JMP", fail=again)

    def _formula(
        self, body: Body, rule: ec.HoldsAtRule, chain: op.Chain, fail: Label
    ) -> tuple[int, int, Label]:
        """It is true or not from one change of what it looks at to the next."""
        cuts, fail = body.between_cuts([*_readings(chain, body.rules)], fail)
        body.env[CUTS.name] = cuts
        start, end, fail = body.each_interval(Pieces(CUTS, apart=True), fail)
        body.match(rule.time, start, fail)
        for name in sorted(names(*self.plan.terms) - chain.bound - body.env.keys()):
            fail = body.each_known(name, fail)
        first = body.code.constant(2 * body.rules.first + 1)

        def at_start(fail: Label) -> Label:
            body.code.emit("CLT", start, first, fail=fail)
            body.nothing_absent = True
            again = body.chain(chain, fail)
            body.nothing_absent = False
            return again

        def later(fail: Label) -> Label:
            body.code.emit("CLE", first, start, fail=fail)
            return body.chain(chain, fail)

        wanted = names(*self.plan.terms) - body.env.keys()
        return start, end, body.either([at_start, later], wanted, fail)


def _readings(chain: op.Chain, rules: Rules) -> Iterator[op.Stab | op.Walk]:
    """All conditions about what holds, those inside procedures included."""
    waiting, seen = [chain], set()
    while waiting:
        for step in op.walk(waiting.pop()):
            if isinstance(step, op.Stab | op.Walk):
                yield step
            elif isinstance(step, op.Procedure) and (step.key, step.bound) not in seen:
                seen.add((step.key, step.bound))
                branches = rules.plan.procedures.branches[step.key, step.bound]
                waiting += [branch.body for branch in branches]
