"""Random LARS formulas, rules and programs."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from horai.lang.core.terms import Compound, Constant, Float, Int, Str, Term, Var
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import (
    FUNCTIONS,
    SIGNS,
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Choice,
    ChoiceOption,
    Comparison,
    Element,
    FilterWindow,
    Formula,
    Implies,
    IntervalWindow,
    Not,
    Or,
    PartitionWindow,
    Pattern,
    Program,
    Reset,
    Rule,
    Some,
    TimeWindow,
    Truth,
    TupleWindow,
    Window,
    Within,
)

names = st.sampled_from(
    ["a", "b", "tram", "New York", "in", "at", "not", "min", "hop", "true", "é"]
)
numbers = st.integers(-9, 99)
variables = st.sampled_from(["X", "Y", "T", "Id"]).map(Var)
leaves: SearchStrategy[Term] = st.one_of(
    variables,
    numbers.map(Int),
    st.floats(-9, 9, allow_nan=False).map(Float),
    names.map(Constant),
    st.text(max_size=3).filter(str.isprintable).map(Str),
)


def _compound(inner: SearchStrategy[Term]) -> SearchStrategy[Term]:
    signs = st.sampled_from(["+", "-", "*", "/", "%", "^"])
    infix = st.tuples(signs, inner, inner).map(lambda t: Compound(t[0], (t[1], t[2])))
    args = st.lists(inner, min_size=1, max_size=2).map(tuple)
    return infix | st.tuples(names, args).map(lambda t: Compound(*t))


terms: SearchStrategy[Term] = st.recursive(leaves, _compound, max_leaves=3)
times: SearchStrategy[Term] = variables | st.integers(0, 9).map(Int)
atoms = st.builds(Atom, names.filter(lambda n: n != "true"), st.lists(terms, max_size=2).map(tuple))
durations = st.builds(
    Duration, st.integers(0, 9), st.sampled_from([None, "ms", "s", "min", "h", "d"])
) | st.just(Duration(None))
hops = st.builds(Duration, st.integers(1, 9), st.sampled_from([None, "s"]))
counts = st.integers(1, 9) | st.none()
constants = st.sampled_from([Constant("a1"), Int(3)])
wild = st.just(Var("_#1"))
filters = st.builds(
    Pattern, names, st.none() | st.lists(constants, min_size=1, max_size=2).map(tuple)
)
keys = st.builds(
    Pattern, names, st.lists(constants | variables, min_size=1, max_size=2).map(tuple) | st.none()
)
windows: SearchStrategy[Window] = st.one_of(
    st.builds(TimeWindow, durations, durations, hops | st.none()),
    st.builds(TupleWindow, counts, st.integers(0, 3)),
    st.builds(PartitionWindow, counts, st.integers(0, 3), st.lists(keys, min_size=1).map(tuple)),
    st.builds(FilterWindow, st.lists(filters, min_size=1, max_size=2).map(tuple)),
    st.builds(IntervalWindow, times, times),
)
comparisons = st.builds(Comparison, st.sampled_from(SIGNS), terms, terms)


def _several(inner: SearchStrategy[Formula]) -> SearchStrategy[tuple[Formula, ...]]:
    return st.lists(inner, min_size=2, max_size=3).map(tuple)


def _larger(inner: SearchStrategy[Formula]) -> SearchStrategy[Formula]:
    some_terms = st.lists(terms, min_size=1, max_size=2).map(tuple)
    elements = st.builds(Element, some_terms, st.lists(inner, max_size=2).map(tuple))
    return st.one_of(
        inner.map(Not),
        _several(inner).map(And),
        _several(inner).map(Or),
        st.builds(Implies, inner, inner),
        inner.map(Some),
        inner.map(lambda f: Within(TimeWindow(Duration(3, "s")), Always(f))),
        st.builds(At, times, inner),
        st.builds(Within, windows, inner),
        inner.map(Reset),
        st.builds(
            Aggregate,
            st.sampled_from(FUNCTIONS),
            st.lists(elements, max_size=2).map(tuple),
            st.sampled_from(SIGNS),
            terms,
        ),
    )


formulas: SearchStrategy[Formula] = st.recursive(
    st.one_of(atoms, st.booleans().map(Truth), comparisons), _larger, max_leaves=5
)
at_atoms = st.builds(At, times, atoms)
options = st.builds(ChoiceOption, atoms | at_atoms, st.lists(formulas, max_size=2).map(tuple))
choices = st.builds(
    Choice, st.lists(options, min_size=1, max_size=3).map(tuple), st.none() | times, st.none()
)
heads = st.one_of(atoms, at_atoms, _several(atoms | at_atoms).map(Or), choices)
rules = st.builds(Rule, heads, st.lists(formulas, max_size=3).map(tuple)) | st.builds(
    Rule, st.none(), st.lists(formulas, min_size=1, max_size=3).map(tuple)
)
programs = st.builds(Program, st.lists(rules, max_size=3).map(tuple))
