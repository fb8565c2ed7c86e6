"""Components as programs for a compiled machine.

A rule that reads its own component becomes instructions that test values, events and edges, bind
variables and say something. Where a rule asks for more than the machine can do there is a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from horai.lang.ec import syntax as ec
from horai.lang.terms import Compound, Var, is_ground
from horai.plan import operators as op
from horai.plan.graphs import Digraph
from horai.plan.machine_code import Coder
from horai.plan.machine_program import Machine, MachineDelay, MachineRule, Postponed
from horai.plan.machine_words import Candidates, Node, NotCompiled, Step
from horai.plan.opcodes import (
    ATTEMPT,
    EFFECT,
    GIVEN,
    HAPPEN,
    HEARD,
    INITIATE,
    OTHERS,
    SAY,
    SINCE,
    TERMINATE,
    TERMINATE_ALL,
)
from horai.plan.places import place_of
from horai.plan.program import DelayPlan, GroundingPlan, PointPlan, Program, Stratum, key_of
from horai.plan.scopes import names
from horai.plan.unify import may_match


def machine_of(stratum: Stratum, program: Program) -> Machine | str:
    """The program of a component, or why there is none."""
    try:
        return _Builder(stratum, program).machine()
    except NotCompiled as reason:
        return str(reason)


class _Builder:
    def __init__(self, stratum: Stratum, program: Program) -> None:
        self.stratum = stratum
        self.program = program
        nodes = [("fluent", key) for key in stratum.fluents]
        nodes += [("event", key) for key in stratum.events]
        self.nodes: dict[Node, int] = {node: number for number, node in enumerate(nodes)}
        self.coder = Coder(self.nodes)

    def machine(self) -> Machine:
        """All of it."""
        self._refuse_mixed()
        for _, key in self.nodes:
            for grounding in self.program.groundings.get(key, ()):
                self._domain(grounding)
        layer = self._layers()
        found = Machine(tuple(self.nodes), max(layer, default=-1) + 1, self.coder)
        for plan in self.stratum.points:
            with _blaming(plan.clause):
                found.rules.append(self._rule(plan, layer[self.nodes[_node(plan)]]))
        for key in self.stratum.events:
            number = self.nodes["event", key]
            found.heard[key] = (layer[number], self._hear(number, key[1]))
        for delay in self.stratum.delays:
            with _blaming(delay.clause):
                found.delays.append(self._delay(delay, layer))
        found.postponed = [
            Postponed(self.nodes[node], self._pattern(fvp))
            for fvp in self.program.postponable
            if (node := ("fluent", key_of(fvp.fluent))) in self.nodes
        ]
        self.coder.finish()
        return found

    def _refuse_mixed(self) -> None:
        determined = {plan.key for one in self.program.strata for plan in one.static}
        for name, arity in self.stratum.fluents:
            if (name, arity) in determined:
                raise NotCompiled(f"some values of {name}/{arity} are given by interval lists")
        for delay in self.stratum.delays:
            if ("fluent", delay.origin_key) not in self.nodes:
                name, arity = delay.origin_key
                raise NotCompiled(f"a delay starts from {name}/{arity}, which is settled before")

    def _domain(self, grounding: GroundingPlan) -> None:
        value = grounding.value
        if value is not None and is_ground(value):
            self.coder.constant(value)
        elif value is not None and not isinstance(value, Var):
            raise NotCompiled("a grounding asks for the form of a value")

    # --- layers of one moment --------------------------------------------------------------------

    def _layers(self) -> list[int]:
        """How many steps of one moment each node has to wait for."""
        asks: set[tuple[int, int]] = set()
        for plan in self.stratum.points:
            for source in instant_sources(plan):
                if source in self.nodes:
                    asks.add((self.nodes[source], self.nodes[_node(plan)]))
        graph = Digraph(sorted(asks), self.nodes.values())
        for delay in self.stratum.delays:
            # Whether a postponed attempt acts depends on initiations at the very moment.
            if any(may_match(one.term, delay.rule.origin.term) for one in self.program.postponable):
                origin, target = ("fluent", delay.origin_key), ("fluent", delay.target_key)
                graph.add_edge(self.nodes[origin], self.nodes[target])
        found = [0] * len(self.nodes)
        for members in graph.components():
            if any(a in members and b in members for a, b in asks):
                raise NotCompiled("what its rules say at one moment depends on itself")
            before = [found[s] + 1 for m in members for s in graph.predecessors(m)
                      if s not in members]  # fmt: skip
            for member in members:
                found[member] = max(before, default=0)
        return found

    # --- rules -----------------------------------------------------------------------------------

    def _rule(self, plan: PointPlan, layer: int) -> MachineRule:
        coder, split = self.coder, plan.split
        if plan.open_value and not isinstance(plan.terms[-1], Var):
            raise NotCompiled("a rule ends all values of a form")
        if split is None:
            coder.begin(plan.time, frozenset(names(*plan.terms, plan.time)))
            entry = coder.here()
            self._say(plan, {}, coder.stop)
            return MachineRule(plan, entry, layer, tuple(coder.columns), True, frozenset())
        if plan.bounds is not None:
            raise NotCompiled("a rule with a range of times reads its own component")
        if not isinstance(plan.time, Var):
            raise NotCompiled("the time of a rule is not a variable")
        if not split.timed and not split.waits:
            raise NotCompiled("a rule can fire at any time")
        coder.begin(plan.time, split.candidates.bound if split.timed else frozenset())
        entry = coder.here()
        steps: list[Step] = list(split.remainder.steps)
        sources: frozenset[int] = frozenset()
        if not split.timed:
            steps, sources = self._triggered(plan, steps)
            coder.lists |= sources
        coder.goals(steps, {}, coder.stop, lambda env, fail: self._say(plan, env, fail))
        return MachineRule(plan, entry, layer, tuple(coder.columns), split.timed, sources)

    def _triggered(self, plan: PointPlan, steps: list[Step]) -> tuple[list[Step], frozenset[int]]:
        """What happens comes first, then the candidates, which have no time of their own."""
        assert plan.split is not None
        given = plan.split.candidates
        extra: list[Step] = []
        if given.steps or plan.domain:
            wanted = sorted(given.bound & (names(*plan.terms) | _asked(plan.split.remainder)))
            extra = [Candidates(plan, tuple(wanted))]
        first = next((s for s in steps if self._list(s) is not None), None)
        if first is None:
            lists = [n for s in op.walk(plan.split.remainder) if (n := self._list(s)) is not None]
            return [*extra, *steps], frozenset(lists)
        source = self._list(first)
        assert source is not None
        return [first, *extra, *(s for s in steps if s is not first)], frozenset({source})

    def _list(self, step: Step) -> int | None:
        return self.coder.list_of(step) if isinstance(step, op.Scan) else None

    def _say(self, plan: PointPlan, env: dict[str, int], fail: int) -> None:
        coder = self.coder
        node = self.nodes[_node(plan)]
        if plan.kind == "event" or plan.open_value:
            kind = HAPPEN if plan.kind == "event" else TERMINATE_ALL
            coder.add(SAY, kind, node, coder.args(plan.terms[: plan.key[1]], env), -1)
        else:
            kind = INITIATE if plan.kind == "initiated" else TERMINATE
            value = coder.known(plan.terms[-1], env)
            coder.add(SAY, kind, node, coder.args(plan.terms, env), value)
        coder.jump(fail)

    def _hear(self, node: int, arity: int) -> int:
        entry = self.coder.here()
        if arity > OTHERS - GIVEN:
            raise NotCompiled("an event has too many arguments")
        self.coder.pool += range(GIVEN, GIVEN + arity)
        self.coder.add(SAY, HEARD, node, len(self.coder.pool) - arity, -1)
        self.coder.jump(self.coder.stop)
        return entry

    # --- delayed effects -------------------------------------------------------------------------

    def _delay(self, plan: DelayPlan, layer: list[int]) -> MachineDelay:
        now = [step.term for step in plan.early.steps]
        later = [step for step in plan.full.steps if step.term not in now]
        wanted = names(*plan.target, *(step.term for step in later))
        own = names(*plan.origin) | ({plan.time} if plan.time else set())
        saved = tuple(sorted((wanted & plan.early.bound) - own))
        early = self._early(plan, saved)
        late = self._late(plan, later, saved)
        target = self.nodes["fluent", plan.target_key]
        return MachineDelay(plan, early, late, layer[target], saved)

    def _early(self, plan: DelayPlan, saved: tuple[str, ...]) -> int:
        coder = self.coder
        coder.begin(Var(plan.time) if plan.time else None, frozenset())
        entry = coder.here()

        def attempt(env: dict[str, int], fail: int) -> None:
            kept = coder.args(tuple(Var(name) for name in saved), env)
            coder.add(ATTEMPT, coder.known(plan.delay, env), kept, len(saved))
            coder.jump(fail)

        env = self._origin(plan)
        coder.goals(list(plan.early.steps), env, coder.stop, attempt)
        return entry

    def _late(self, plan: DelayPlan, later: list[op.Operator], saved: tuple[str, ...]) -> int:
        coder = self.coder
        coder.begin(None, frozenset())
        entry = coder.here()
        env = self._origin(plan)
        env |= {name: GIVEN + len(plan.origin) + place for place, name in enumerate(saved)}
        if plan.time is not None:
            env[plan.time] = SINCE
        if max(env.values(), default=0) >= OTHERS:
            raise NotCompiled("a delayed effect has too many variables")
        kind = INITIATE if plan.initiates else TERMINATE
        node = self.nodes["fluent", plan.target_key]

        def effect(env: dict[str, int], fail: int) -> None:
            args = coder.args(plan.target, env)
            coder.add(EFFECT, kind, node, args, coder.known(plan.target[-1], env))
            coder.jump(fail)

        coder.goals(later, env, coder.stop, effect)
        return entry

    def _origin(self, plan: DelayPlan) -> dict[str, int]:
        """Code that tests whether a pair is one that the effect starts from; its variables."""
        env: dict[str, int] = {}
        for place, pattern in enumerate(plan.origin):
            self.coder.match(pattern, GIVEN + place, env, self.coder.stop)
        return env

    def _pattern(self, fvp: ec.FVP) -> tuple[int, ...]:
        args = fvp.fluent.args if isinstance(fvp.fluent, Compound) else ()
        terms = (*args, fvp.value)
        variables = [term.name for term in terms if isinstance(term, Var)]
        if len(set(variables)) < len(variables):
            raise NotCompiled("a variable occurs twice in a p/1")
        if any(not isinstance(term, Var) and not is_ground(term) for term in terms):
            raise NotCompiled("a p/1 asks for the form of a term")
        return tuple(-1 if isinstance(t, Var) else self.coder.constant(t) for t in terms)


@contextmanager
def _blaming(clause: ec.Clause) -> Iterator[None]:
    """Say which rule it is that has no instructions."""
    try:
        yield
    except NotCompiled as reason:
        raise NotCompiled(f"{place_of(clause)}: {reason}") from None


def _node(plan: PointPlan) -> Node:
    return ("event" if plan.kind == "event" else "fluent", plan.key)


def _asked(chain: op.Chain) -> frozenset[str]:
    return names(*(step.term for step in chain.steps))


def instant_sources(plan: PointPlan) -> Iterator[Node]:
    """What a rule asks about the very moment it speaks of."""
    if plan.split is None:
        return
    for step in op.walk(plan.split.remainder):
        match step:
            case op.Scan(kind="event", key=key):
                yield ("event", key)
            case op.Scan(key=key):
                yield ("fluent", key)
            case _:
                pass
