"""Rules for interval lists by change, against the same rules from scratch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.engine.comparing import read
from tests.weights import examples

from horai.engine.columns import column_of, terms_of
from horai.engine.components import Components
from horai.engine.deltas.static import StaticComponent, possible_stratum
from horai.engine.deltas.store import FluentStore, SpanChange
from horai.engine.findings import Findings
from horai.engine.memory import FOREVER, KnownPairs, Memory, remember, union
from horai.engine.relations import Relation
from horai.engine.session import Session
from horai.engine.static import Remembered
from horai.engine.world import Fluent, World, no_fluent
from horai.lang.core.printer import show
from horai.lang.core.terms import Constant, Term
from horai.plan.pipeline import compile_program
from horai.temporal.coalesce import sort_spans
from horai.temporal.spans import INF

Key = tuple[str, int]
Pair = tuple[str, ...]
Times = list[tuple[int, int]]
Reaching = tuple[int, Pair, int, int]  # a list, its row, and an interval
START = 3
DERIVED = frozenset({("b", 1)})  # readers see only the pairs in its domain
WHO = ("x", "y", "z")
FLUENTS: dict[Key, list[Pair]] = {
    ("a", 1): [(one,) for one in WHO],
    ("b", 1): [(one,) for one in WHO],
    ("c", 2): [(one, other) for one in WHO for other in WHO],
    ("d", 0): [()],
}
INPUTS = """
    collectIntervals(a(_)=true). collectIntervals(b(_)=true).
    collectIntervals(c(_,_)=true). collectIntervals(d=true).
    grounding(b(X)=true) :- who(X).
    who(x). who(y). like(x,y). like(y,x). like(z,z).
    limit(x,3). limit(y,4.5). limit(z,none).
"""
LEAVES = ["a(X)", "b(X)", "a(Y)", "b(Y)", "c(X,Y)", "c(Y,X)", "d"]
OPERATIONS = {
    "union": "union_all([{0},{1}],{2})",
    "common": "intersect_all([{0},{1}],{2})",
    "without": "relative_complement_all({0},[{1}],{2})",
    "outside": "complement_all([{1}],N{2}), intersect_all([{0},N{2}],{2})",
}
FILTERS = ["intDurGreater", "intDurLess", "intDurGreaterEq", "intDurLessEq"]
FACTS = ["who(X)", "like(X,Y)", "like(Y,W), who(W)", "X \\= y", "who(X), Z = X"]

# --- random rules --------------------------------------------------------------------------------


@dataclass
class Body:
    """A body in the making."""

    goals: list[str] = field(default_factory=list)
    lists: int = 0

    def add(self, goal: str, *given: str) -> str:
        """One more condition with a list of its own."""
        self.lists += 1
        name = f"L{self.lists}"
        self.goals.append(goal.format(*given, name))
        return name


@st.composite
def rules(draw: st.DrawFn, leaves: list[str], head: str) -> str:
    """A rule for a fluent, with lists as deep as three operations."""
    body = Body()

    def expression(depth: int) -> str:
        kind = draw(st.sampled_from(["leaf", *OPERATIONS, "filter"] if depth else ["leaf"]))
        if kind == "leaf":
            return body.add(f"holdsFor({draw(st.sampled_from(leaves))}=true,{{0}})")
        one = expression(depth - 1)
        if kind == "filter":
            bound = draw(st.sampled_from(["2", "5", "7.5", "B", "2 * B"]))
            if "B" in bound:
                body.goals.append("limit(X,B)")
            return body.add(f"{draw(st.sampled_from(FILTERS))}({{0}},{bound},{{1}})", one)
        return body.add(OPERATIONS[kind], one, expression(depth - 1))

    result = expression(3)
    used = [leaf for leaf in leaves if any(leaf in goal for goal in body.goals)]
    facts = [fact for fact in FACTS if "Y" not in fact or any("Y" in leaf for leaf in used)]
    goals = body.goals + draw(st.lists(st.sampled_from(facts), max_size=1))
    return f"holdsFor({head}=true,{result}) :- {', '.join(dict.fromkeys(goals))}."


@st.composite
def programs(draw: st.DrawFn) -> str:
    """One or two rules of one fluent."""
    leaves, head = draw(
        st.sampled_from(
            [
                (["a(X)", "b(X)", "d"], "h(X)"),
                (LEAVES, "h(X,Y)"),
                (LEAVES, "h(X)"),
                (["d", "a(x)", "b(y)"], "h"),
            ]
        )
    )
    made = draw(st.lists(rules(leaves, head), min_size=1, max_size=2))
    return INPUTS + "\n".join(made)


# --- random changes ------------------------------------------------------------------------------


@dataclass
class Edit:
    """A pair holds, or does not, during some time after the border."""

    key: Key
    pair: int
    holds: bool
    after: int
    length: int | None


edits = st.builds(
    Edit,
    st.sampled_from(list(FLUENTS)),
    st.integers(0, 8),
    st.booleans() | st.just(True),
    st.integers(1, 14),
    st.integers(1, 9) | st.none(),
)


@dataclass
class Step:
    """What happens before one query."""

    edits: list[Edit]
    later: int  # the query
    settle: int  # the border
    trim: bool


def steps(least: int) -> st.SearchStrategy[list[Step]]:
    """Steps with at least so many edits."""
    changes = st.lists(edits, min_size=least, max_size=least + 4)
    more = st.integers(3, 15)
    one = st.builds(Step, changes, st.integers(1, 15), more, st.sampled_from([False, False, True]))
    return st.lists(one, min_size=2, max_size=7)


class Timeline:
    """The spans of every pair of a fluent."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.spans: dict[Pair, set[tuple[int, int]]] = {}
        self.forgotten: dict[Pair, set[tuple[int, int]]] = {}

    def edit(self, edit: Edit, border: int, tick: int) -> None:
        pair = FLUENTS[self.key][edit.pair % len(FLUENTS[self.key])]
        start = (border // tick + edit.after) * tick
        end = INF if edit.length is None else start + edit.length * tick
        before = self.spans.get(pair, set())
        kept = {(s, min(e, start)) for s, e in before} | {(max(s, end), e) for s, e in before}
        self.spans[pair] = {(s, e) for s, e in kept if s < e} | (
            {(start, end)} if edit.holds else set()
        )

    def trim(self, until: int) -> None:
        for pair, listed in self.spans.items():
            over = {(s, e) for s, e in listed if e <= until}
            self.forgotten.setdefault(pair, set()).update(over)
            self.spans[pair] = listed - over

    def fluent(self, session: Session, ever: bool = False) -> Fluent:
        spans = {
            p: s | (self.forgotten.get(p, set()) if ever else set()) for p, s in self.spans.items()
        }
        pairs = [pair for pair, listed in spans.items() if listed]
        if not pairs:
            return no_fluent(self.key[1] + 1)
        terms: list[list[Term]] = [
            [Constant(name) for name in column] for column in zip(*pairs, strict=True)
        ]
        terms.append([Constant("true")] * len(pairs))
        columns = tuple(column_of(column, session.symbols) for column in terms)
        rows = [(i, s, e) for i, pair in enumerate(pairs) for s, e in spans[pair]]
        key, start, end = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        return Fluent(Relation(columns, len(pairs)), sort_spans(key, start, end))


# --- both ways -----------------------------------------------------------------------------------


def shown(fluent: Fluent, session: Session) -> dict[tuple[str, ...], Times]:
    columns = [terms_of(column, session.symbols) for column in fluent.pairs.columns]
    pairs = [tuple(show(column[i]) for column in columns) for i in range(fluent.pairs.rows)]
    found: dict[tuple[str, ...], Times] = {}
    for key, start, end in zip(*(column.tolist() for column in fluent.spans), strict=True):
        found.setdefault(pairs[key], []).append((start, end))
    return found


def reaching(lists: dict[int, Remembered], cut: int, session: Session) -> set[Reaching]:
    """The intervals of lists inside a rule that are not over at the cut."""
    return {
        (number, row, start, end)
        for number, (fluent, _) in lists.items()
        for row, times in shown(fluent, session).items()
        for start, end in times
        if end > cut + 1
    }


class Run:
    """A component by change, beside the same from scratch with a memory."""

    def __init__(self, text: str, tick: int) -> None:
        self.session = Session(read(text), start=START, tick=tick)
        self.tick = tick
        (self.stratum,) = self.session.program.strata
        self.timelines = {key: Timeline(key) for key in FLUENTS}
        self.memory = Memory(START)
        self.component: StaticComponent | None = None
        self.border = self.query = START
        self.empty_stores()

    def empty_stores(self) -> None:
        symbols = self.session.symbols
        self.stores = {key: FluentStore(no_fluent(key[1] + 1), symbols) for key in FLUENTS}

    def world(self) -> tuple[World, Components]:
        world = World(self.session.symbols, self.tick, START, self.query, derived=DERIVED)
        return world, self.session.components_in(world, self.session.knowledge, {})

    def from_scratch(self) -> tuple[Findings, Components]:
        world, components = self.world()
        for key, store in self.stores.items():
            fluent = store.public()
            world.add_fluent(key, components.shown(key, fluent) if key in DERIVED else fluent)
        return components.run(self.stratum, self.memory, None, lambda: 0), components

    def from_the_start(self, key: Key) -> Fluent:
        """What all that ever was says, without any memory."""
        world, components = self.world()
        for one, timeline in self.timelines.items():
            fluent = timeline.fluent(self.session, ever=True)
            world.add_fluent(one, components.shown(one, fluent) if one in DERIVED else fluent)
        return components.run(self.stratum, Memory(START), None, lambda: 0).fluents[key]

    def step(self, step: Step) -> None:
        for edit in step.edits:
            self.timelines[edit.key].edit(edit, self.border, self.tick)
        self.query = max(self.border, self.query + step.later)
        changes = {
            key: self.stores[key].replace(timeline.fluent(self.session))
            for key, timeline in self.timelines.items()
        }
        found, components = self.from_scratch()
        longest = components.world.undecided.longest
        if self.component is None:
            self.component = StaticComponent(self.stratum, self.session.symbols)
            self.component.build(components.static, self.stores, self.memory, found)
        else:
            self.by_change(found, changes, longest)
        self.go_on(step, found, longest)

    def by_change(self, found: Findings, changes: dict[Key, SpanChange], longest: float) -> None:
        assert self.component is not None
        world, components = self.world()
        before = {k: shown(s.fluent, self.session) for k, s in self.component.stores.items()}
        made = self.component.step(components.static, self.stores, changes, self.memory.cut)
        assert world.undecided.longest >= longest
        for key, store in self.component.stores.items():
            parts = [part[key] for part in (self.memory.fluents, found.fluents) if key in part]
            expected = union(parts, key[1] + 1, self.session.symbols)
            now = shown(store.public(), self.session)
            assert now == shown(expected, self.session)
            assert now == shown(self.from_the_start(key), self.session)
            assert bool(made[key]) == (before[key] != shown(store.fluent, self.session))
        for place, lists in self.component.operands().items():
            mine = reaching(lists, self.memory.cut, self.session)
            theirs = reaching(found.operands[place], self.memory.cut, self.session)
            # Of z a later filter may have no bound: then the rule says nothing of it anyway.
            assert mine <= theirs
            assert all({"z", "none"} & set(row) for _, row, *_ in theirs - mine)
        if self.query % 2:
            found.operands = self.component.operands()

    def go_on(self, step: Step, found: Findings, longest: float) -> None:
        """Some time becomes final; perhaps what lies before it is forgotten."""
        assert self.component is not None
        self.border = min(self.query, self.border + step.settle)
        final = self.border - int(longest) - 1 - self.tick
        cut = max(self.memory.cut, final - (final + 1) % self.tick)
        if cut == self.memory.cut:
            return
        symbols = self.session.symbols
        self.memory = remember(
            self.memory, found, cut, lambda _: FOREVER, symbols, KnownPairs(symbols)
        )
        if step.trim:
            for timeline in self.timelines.values():
                timeline.trim(cut)
            self.empty_stores()
            for key, timeline in self.timelines.items():
                self.stores[key].replace(timeline.fluent(self.session))
            again, components = self.from_scratch()
            self.component.build(components.static, self.stores, self.memory, again)


@examples("heavy")
@given(programs(), steps(1), st.sampled_from([1, 1, 5]))
def test_random_rules(text: str, steps: list[Step], tick: int) -> None:
    run = Run(text, tick)
    assume(possible_stratum(run.stratum, run.session.program))
    for step in steps:
        run.step(step)


AB = "holdsFor(a(X)=true,A), holdsFor(b(X)=true,B)"
PAIRS = "holdsFor(c(X,Y)=true,C), holdsFor(a(X)=true,A), holdsFor(a(Y)=true,B)"
RULES = [
    f"holdsFor(h(X)=true,I) :- {AB}, union_all([A,B],D), intDurGreater(D,4,I).",
    f"holdsFor(h(X)=true,I) :- {AB}, union_all([A,B],D), intDurLess(D,6,I).",
    f"holdsFor(h(X)=true,I) :- {AB}, relative_complement_all(A,[B],I).",
    f"holdsFor(h(X,Y)=true,I) :- {PAIRS}, intersect_all([C,A,B],I).",
    f"holdsFor(h(X)=true,I) :- {PAIRS}, intersect_all([A,B],D), relative_complement_all(D,[C],I).",
    f"holdsFor(h(X)=true,I) :- {AB}, union_all([A,B],I)."
    f"holdsFor(h(X)=true,I) :- {PAIRS}, intDurGreaterEq(C,3,D), intersect_all([A,D],I).",
]


@pytest.mark.parametrize("rules", RULES)
@examples("heavy")
@given(steps(4))
def test_chosen_rules(rules: str, steps: list[Step]) -> None:
    run = Run(INPUTS + rules, 1)
    assert possible_stratum(run.stratum, run.session.program)
    for step in steps:
        run.step(step)


READ = "holdsFor(a(X)=true,A), holdsFor(b(X)=true,B), holdsFor(c(X,Y)=true,C)"


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("holdsFor(h(X)=true,I) :- holdsFor(a(X)=true,I)", True),
        (f"holdsFor(h(X)=true,I) :- {READ}, intersect_all([A,B,C],I)", True),
        (f"holdsFor(h(X,Y)=true,I) :- {READ}, relative_complement_all(C,[A,B],I)", True),
        (f"holdsFor(h(X)=true,I) :- {READ}, who(X), limit(X,D), intDurLess(C,D,I)", True),
        # The filter does not come last, and there is another one.
        (
            f"holdsFor(h(X)=true,I) :- {READ}, intDurLess(C,4,D), intersect_all([A,D],E),"
            " intDurGreater(E,2,I)",
            True,
        ),
        # Everyone who is known, and a variable that nothing gives a value.
        ("holdsFor(h(X)=true,I) :- holdsFor(a(X)=true,A), complement_all([A],I)", False),
        (f"holdsFor(h(X)=true,I) :- {READ}, union_all([A,B,C],I)", False),
        # Lists that are not only operands, or not of fluents.
        (f"holdsFor(h(X)=true,C) :- {READ}, A \\= []", False),
        (f"holdsFor(h(X)=true,I) :- {READ}, union_all([C,[(1,3)]],I)", False),
        # Other conditions.
        (f"holdsFor(h(X)=true,I) :- {READ}, meets(C,A,source,I)", False),
        (f"holdsFor(h(X)=true,C) :- {READ}, \\+ who(X)", False),
        ("holdsFor(h(X)=true,A) :- holdsFor(a(X)=true,A), guest(X)", False),
        ("holdsAt(h(X)=true,T) :- holdsAt(a(X)=true,T)", False),
        ("holdsFor(h(X)=true,I) :- holdsFor(h(X)=false,I)", False),
    ],
)
def test_possible(rule: str, expected: bool) -> None:
    guests = "dynamicDomain(guest(_))." if "guest" in rule else ""
    program = compile_program(read(f"{INPUTS} {guests} {rule}."))
    found = [possible_stratum(one, program) for one in program.strata if one.static]
    assert found == [expected]


def test_a_step_without_changes() -> None:
    run = Run(f"{INPUTS} holdsFor(h(X)=true,I) :- holdsFor(a(X)=true,A), intDurGreater(A,9,I).", 1)
    run.step(Step([Edit(("a", 1), 0, True, 2, None)], 1, 0, False))
    queries = [run.query + 1, START + 2 + 9, START + 2 + 10, START + 2 + 11]
    changed = []
    for query in queries:
        run.query = query
        assert run.component is not None
        (change,) = run.component.step(run.world()[1].static, run.stores, {}, START).values()
        changed.append((len(change.gone), len(change.new)))
    assert changed == [(0, 0), (0, 0), (0, 1), (0, 0)]


def test_what_is_over_is_forgotten() -> None:
    rules = f"holdsFor(h(X)=true,I) :- {AB}, union_all([A,B],D), intDurLess(D,9,I)."
    run = Run(INPUTS + rules, 1)
    run.step(Step([Edit(("a", 1), 0, True, after, 2) for after in (1, 9)], 20, 0, False))
    assert run.component is not None
    run.component.forget(START + 6)
    run.timelines["b", 1].edit(Edit(("b", 1), 0, True, 11, 3), START, 1)
    changes = {
        key: s.replace(run.timelines[key].fluent(run.session)) for key, s in run.stores.items()
    }
    run.component.step(run.world()[1].static, run.stores, changes, START + 6)
    (store,) = run.component.stores.values()
    assert shown(store.public(), run.session) == {("x", "true"): [(START + 9, START + 14)]}
