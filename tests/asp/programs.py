"""Random plain programs with all window forms, and random streams of signals."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from horai.lang.core.terms import Compound, Constant, Int, Term, Var
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import (
    FUNCTIONS,
    NAMED,
    SIGNS,
    Aggregate,
    Always,
    At,
    Atom,
    Choice,
    ChoiceOption,
    Comparison,
    Element,
    FilterWindow,
    Formula,
    Head,
    IntervalWindow,
    NamedWindow,
    Not,
    Or,
    PartitionWindow,
    Pattern,
    Program,
    Rule,
    Some,
    TimeWindow,
    TupleWindow,
    Window,
    Within,
)
from horai.lang.lars.walk import formula_variables

SIGNALS = [("a", 1), ("b", 0), ("c", 1)]
DERIVED = [("p", 1), ("q", 0), ("r", 1)]
X, Y, T = Var("X"), Var("Y"), Var("T")
MIXED: tuple[Term, ...] = (Int(1), Int(2), Constant("k"))
NUMBERS: tuple[Term, ...] = (Int(1), Int(2), Int(3))
END = 4

Signals = list[tuple[int, Atom]]


@dataclass(frozen=True)
class Kind:
    """Which parts of the language a program may have."""

    is_normal: bool = False
    """Only rules with one atom as head and no aggregates."""
    windows: SearchStrategy[Window] | None = None
    values: tuple[Term, ...] = MIXED


def _durations(largest: int) -> SearchStrategy[Duration]:
    return st.integers(0, largest).map(Duration)


_patterns = st.sampled_from(
    [
        Pattern("a"),
        Pattern("c"),
        Pattern("p"),
        Pattern("b"),
        Pattern("a", (Int(1),)),
        Pattern("p", (Int(1),)),
    ]
)
_keys = st.sampled_from([Pattern("a", (X,)), Pattern("a"), Pattern("c", (X,)), Pattern("b")])
sliding = st.builds(TimeWindow, _durations(3)) | st.builds(TupleWindow, st.integers(1, 3))
windows: SearchStrategy[Window] = st.one_of(
    sliding,
    st.builds(TimeWindow, _durations(3), _durations(2)),
    st.builds(TimeWindow, _durations(3), _durations(1), st.integers(1, 3).map(Duration)),
    st.just(TimeWindow(Duration(None))),
    st.builds(
        PartitionWindow,
        st.integers(1, 2),
        st.just(0),
        st.lists(_keys, min_size=1, max_size=2, unique=True).map(tuple),
    ),
    st.builds(FilterWindow, st.lists(_patterns, min_size=1, max_size=2, unique=True).map(tuple)),
    st.builds(
        lambda f, n: IntervalWindow(Int(f), Int(f + n)), st.integers(0, 3), st.integers(0, 2)
    ),
    st.builds(NamedWindow, st.sampled_from(sorted(NAMED)), st.integers(1, 3).map(Duration)),
)


@st.composite
def atoms(draw: DrawFn, kind: Kind, predicates: list[tuple[str, int]]) -> Atom:
    """An atom with variables or constants."""
    name, arity = draw(st.sampled_from(predicates))
    args = [draw(st.sampled_from([X, X, Y, *kind.values])) for _ in range(arity)]
    return Atom(name, tuple(args))


@st.composite
def extended(draw: DrawFn, kind: Kind, times: list[Term]) -> Formula:
    """An ordinary atom, an @-atom or a window atom, in one or rarely two windows."""
    atom = draw(atoms(kind, SIGNALS + SIGNALS + DERIVED))
    form = draw(st.sampled_from(["plain", "some", "always", "at", "bare"]))
    if form == "plain":
        return atom
    if form == "bare":
        return At(draw(st.sampled_from(times)), atom)
    chosen = [draw(windows if kind.windows is None else kind.windows)]
    if kind.windows is None and atom.name in "abc" and draw(st.integers(0, 5)) == 0:
        chosen.append(draw(windows))
    formula: Formula = Some(atom)
    if form == "at":
        formula = At(draw(st.sampled_from(times)), atom)
    elif form == "always" and any(not isinstance(window, FilterWindow) for window in chosen):
        formula = Always(atom)
    for window in reversed(chosen):
        formula = Within(window, formula)
    return formula


_moments: list[Term] = [T, T, Int(1), Int(3)]


def _bound(body: list[Formula]) -> set[str]:
    return {name for part in body for name in formula_variables(part)}


@st.composite
def rules(draw: DrawFn, kind: Kind) -> Rule:
    """A safe rule: what nothing else gives a value to, the background does."""
    body: list[Formula] = draw(st.lists(extended(kind, _moments), max_size=2))
    times: list[Term] = [Int(2), *([T] if "T" in _bound(body) else [])]
    if not kind.is_normal and draw(st.integers(0, 3)) == 0:
        body.append(draw(aggregates(kind, times)))
    negated = draw(st.lists(extended(kind, times), max_size=1))
    signed: list[Formula] = [Not(part) for part in negated]
    if draw(st.integers(0, 3)) == 0:
        sign = draw(st.sampled_from(SIGNS))
        signed.append(Comparison(sign, X, draw(st.sampled_from([Y, *kind.values]))))
    head = draw(heads(kind, times))
    needed = _bound(signed) | (set() if head is None else set(formula_variables(head)))
    given = {name for part in body if not isinstance(part, Aggregate) for name in _bound([part])}
    inner = {n for part in body if isinstance(part, Aggregate) for n in formula_variables(part)}
    missing = sorted((needed | (inner - {"Z"})) - given - {"T", "Z"})
    guards: list[Formula] = [Atom("g", (Var(name),)) for name in missing]
    return Rule(head, (*body, *guards, *signed))


@st.composite
def aggregates(draw: DrawFn, kind: Kind, times: list[Term]) -> Aggregate:
    """`count { Z : a(Z) [w] } >= 1`."""
    name = draw(st.sampled_from(["a", "c", "p"]))
    inside: Formula = Atom(name, (Var("Z"),))
    if draw(st.booleans()):
        inside = Within(draw(windows), Some(inside))
    function = draw(st.sampled_from(FUNCTIONS))
    sign = draw(st.sampled_from(SIGNS))
    return Aggregate(
        function, (Element((Var("Z"),), (inside,)),), sign, Int(draw(st.integers(0, 2)))
    )


@st.composite
def heads(draw: DrawFn, kind: Kind, times: list[Term]) -> Head | None:
    """An atom or @-atom; unless rules are normal, also a disjunction, choice or constraint."""

    def one() -> Atom | At:
        atom = draw(atoms(kind, DERIVED))
        if draw(st.integers(0, 2)):
            return atom
        time: Term = draw(st.sampled_from(times))
        if time == T and draw(st.integers(0, 2)) == 0:
            time = Compound(draw(st.sampled_from("+-")), (T, Int(1)))
        return At(time, atom)

    forms = ["one"] if kind.is_normal else [*["one"] * 6, "or", "choice", "no"]
    form = draw(st.sampled_from(forms))
    if form == "no":
        return None
    if form == "or":
        return Or((one(), one()))
    if form == "choice":
        least = draw(st.sampled_from([None, Int(1)]))
        return Choice((ChoiceOption(one(), (Atom("g", (Y,)),)), ChoiceOption(one())), least, None)
    return one()


def _is_finite(program: Program) -> bool:
    """No rule moves what it derives from derived atoms in time: that might never end."""
    for rule in program.rules:
        moved = "Compound(name='+'" in repr(rule.head) or "Compound(name='-'" in repr(rule.head)
        if moved and any(f"Atom(name='{name}'" in repr(rule.body) for name, _ in DERIVED):
            return False
    return True


def programs(kind: Kind) -> SearchStrategy[Program]:
    """A few rules, and the background."""
    facts = tuple(Rule(Atom("g", (value,))) for value in kind.values)
    found = st.lists(rules(kind), min_size=1, max_size=3)
    return found.map(lambda some: Program((*facts, *some))).filter(_is_finite)


@st.composite
def streams(draw: DrawFn, kind: Kind, end: int = END, with_derived: bool = False) -> Signals:
    """Signals in the order of their arrival, perhaps with repetitions."""
    predicates = SIGNALS + ([*DERIVED, ("g", 1)] if with_derived else [])
    times = sorted(draw(st.lists(st.integers(0, end), max_size=6)))
    found: Signals = []
    for time in times:
        name, arity = draw(st.sampled_from(predicates))
        args = tuple(draw(st.sampled_from(kind.values)) for _ in range(arity))
        found.append((time, Atom(name, args)))
    return found
