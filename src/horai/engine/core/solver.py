"""Conditions that do not look at the stream, solved over rows of words.

Background rules, groundings and what the machine has no instruction for come here. A row is a tuple
of words and a layout names its places, so which variables have a value is known before anything
runs: a chain becomes a list of functions from rows to longer rows. Facts are found by hash indexes,
arithmetic works on numbers, and only what looks inside of terms makes terms of words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

import numpy as np

from horai.engine.core.words import Words
from horai.lang import endless
from horai.lang.core.arithmetic import (
    COMPARISONS,
    ORDER,
    NoValue,
    Number,
    largest,
    number_term,
    order_key,
    smallest,
    sorted_bag,
    sorted_set,
    total,
    value_of,
)
from horai.lang.core.terms import (
    Compound,
    Int,
    ListTerm,
    Term,
    Var,
    is_ground,
    parameter_count,
    substitute,
    to_python,
    to_term,
)
from horai.lang.ec.builtins import BUILTINS, MOST_LISTED
from horai.lang.ec.errors import (
    Endless,
    PredicateFailed,
    Unsupported,
    asks,
    blaming,
    is_heard,
    note,
)
from horai.lang.ec.syntax import Compare
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.ec.unify import answers, unify

Key = tuple[str, int]
Row = tuple[int, ...]
Layout = tuple[str, ...]
Step = Callable[[Sequence[Row]], Iterable[Row]]
Value = Callable[[Row], int]
Match = Callable[[int, Row], Row | None]
Function = Callable[..., Any]
Index = dict[Any, dict[Row, None]]
PIECE = 20_000  # rows at once, where a rule may find very many
PICK: dict[str, Callable[[Sequence[Number]], Number]] = {
    "sum": total,
    "max": largest,
    "min": smallest,
}


class Table:
    """The different rows of a relation, with the indexes asked for."""

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows = dict.fromkeys(rows)
        self._indexes: dict[tuple[Row, Row], Index] = {}

    def add(self, rows: Iterable[Row]) -> None:
        """More rows, none of which is there."""
        new = dict.fromkeys(rows)
        self.rows |= new
        for (keys, outs), index in self._indexes.items():
            _put(index, new, keys, outs)

    def index(self, keys: Sequence[int], outs: Sequence[int]) -> Index:
        """What is in some columns, by what is in others: a word, or a tuple unless it is one."""
        place = (*keys,), (*outs,)
        if place not in self._indexes:
            self._indexes[place] = {}
            _put(self._indexes[place], self.rows, *place)
        return self._indexes[place]


def _put(index: Index, rows: Iterable[Row], keys: Row, outs: Row) -> None:
    key_of, out_of = _key(keys), _pick(outs)
    for row in rows:
        index.setdefault(key_of(row), {})[out_of(row)] = None


def _key(places: Sequence[int]) -> Callable[[Row], Any]:
    return itemgetter(*places) if places else lambda row: ()


def _pick(places: Sequence[int]) -> Callable[[Row], Row]:
    match list(places):
        case []:
            return lambda row: ()
        case [one]:
            return lambda row: (row[one],)
        case _:
            return itemgetter(*places)


class Relations(Protocol):
    """The relations of the background."""

    def table(self, key: Key) -> Table:
        """All rows of a relation."""

    def stated(self, key: Key) -> Table:
        """Those that no rule has to say."""


class Compiled(NamedTuple):
    """A chain for rows of a layout, and the layout of its solutions."""

    chain: op.Chain
    steps: list[Step]
    layout: Layout


class Solver:
    """Solves chains of operators that do not look at the stream."""

    def __init__(
        self,
        words: Words,
        relations: Relations,
        procedures: op.Procedures,
        python: Mapping[str, Function],
    ) -> None:
        self.words, self.relations = words, relations
        self.procedures, self.python = procedures, python
        self.news: dict[int, Table] = {}
        """Tables that stand in for those of single operators."""
        self._chains: dict[tuple[int, Layout, int | None], Compiled] = {}
        self._questions: dict[int, tuple[op.Operator, Step, Layout]] = {}
        self._calls = self._depth = 0  # of procedures: inside of the outermost, inside each other
        self._marks = 0

    def compiled(self, chain: op.Chain, layout: Layout = (), first: int | None = None) -> Compiled:
        """A chain for rows of a layout; a reading that brings news may come first."""
        known = self._chains.get((id(chain), layout, first))
        if known is not None:
            return known
        pairs = list(zip(chain.steps, chain.needed, strict=True))
        if first is not None:
            place = next(at for at, (step, _) in enumerate(pairs) if id(step) == first)
            if all(_is_plain(step) for step, _ in pairs[:place]):
                wanted = frozenset().union(*(names(step.term) for step, _ in pairs), *chain.needed)
                pairs = [(step, wanted) for step, _ in (pairs.pop(place), *pairs)]
        steps = []
        inner = layout
        for step, needed in pairs:
            made, inner = self.step(step, inner, needed)
            steps.append(made)
        found = Compiled(chain, steps, inner)
        self._chains[id(chain), layout, first] = found
        return found

    def solve(self, compiled: Compiled, rows: Sequence[Row]) -> Sequence[Row]:
        """The solutions of a chain that extend some rows."""
        if compiled.chain.clause is None:
            return _through(compiled.steps, rows)
        with blaming(compiled.chain.clause):
            return _through(compiled.steps, rows)

    def pieces(self, steps: Sequence[Step], rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
        """The same of steps bit by bit: all at once may be too many."""
        if not steps:
            yield rows
            return
        found = iter(steps[0](rows))
        while piece := list(islice(found, PIECE)):
            yield from self.pieces(steps[1:], piece)

    def answers(
        self, step: op.Operator, layout: Layout, wanted: Sequence[str], asked: Sequence[Row]
    ) -> dict[Row, list[Row]]:
        """What variables may be for each of some different rows, by one operator."""
        if id(step) not in self._questions:
            self._questions[id(step)] = (step, *self.step(step, layout, frozenset(wanted)))
        _, run, found = self._questions[id(step)]
        pick = _pick([found.index(name) for name in wanted])
        different: dict[Row, dict[Row, None]] = {row: {} for row in asked}
        for row in run(asked):
            different[row[: len(layout)]][pick(row)] = None
        return {row: list(some) for row, some in different.items()}

    # --- terms -----------------------------------------------------------------------------------

    def value(self, term: Term, layout: Layout) -> Value:
        """The word of a term whose variables all have a place."""
        if isinstance(term, Var):
            return itemgetter(layout.index(term.name))
        word = self.words.word
        if is_ground(term):
            found = word(term)
            return lambda row: found
        env = self._env(term, layout)
        return lambda row: word(substitute(term, env(row)))

    def values(self, terms: Sequence[Term], layout: Layout) -> Callable[[Row], Row]:
        """The words of some terms."""
        if all(isinstance(term, Var) for term in terms):
            return _pick([layout.index(_name(term)) for term in terms])
        each = [self.value(term, layout) for term in terms]
        return lambda row: tuple([value(row) for value in each])

    def _env(self, term: Term, layout: Layout) -> Callable[[Row], dict[str, Term]]:
        """What those variables of a term stand for that have a place."""
        places = [(name, layout.index(name)) for name in sorted(names(term) & {*layout})]
        as_term = self.words.term
        return lambda row: {name: as_term(row[at]) for name, at in places}

    def match(self, pattern: Term, layout: Layout) -> tuple[Layout, Match]:
        """Makes a pattern equal to a word: names that get a value, and these, None if it cannot."""
        new = tuple(sorted(names(pattern) - {*layout}))
        if not new:
            value = self.value(pattern, layout)
            return new, lambda word, row: () if word == value(row) else None
        if isinstance(pattern, Var):
            return new, lambda word, row: (word,)
        env, as_term, as_word = self._env(pattern, layout), self.words.term, self.words.word

        def matched(word: int, row: Row) -> Row | None:
            found = unify(pattern, as_term(word), dict(env(row)))
            return None if found is None else tuple(as_word(found[name]) for name in new)

        return new, matched

    def _bound(
        self, pattern: Term, layout: Layout, compute: Callable[[Row], int | None]
    ) -> tuple[Step, Layout]:
        """Makes a pattern equal to what is computed, where it has a value."""
        new, matched = self.match(pattern, layout)

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            for row in rows:
                word = compute(row)
                more = None if word is None else matched(word, row)
                if more is not None:
                    yield row + more

        return run, layout + new

    def number(self, term: Term, layout: Layout) -> Callable[[Row], Number | None]:
        """The value of an expression, None if it has none."""
        if not isinstance(term, Var) or term.name not in layout:
            env = self._env(term, layout)
            return lambda row: value_of(term, env(row))
        at, as_term = layout.index(term.name), self.words.term

        def held(row: Row) -> Number | None:
            word = row[at]
            return word >> 1 if word & 1 else value_of(as_term(word), {})

        return held

    def _word_of(self, value: Number) -> int:
        small = isinstance(value, int) and -(1 << 60) < value < 1 << 60
        return 2 * int(value) + 1 if small else self.words.word(number_term(value))

    def _teller(self, condition: Term, expression: Term, layout: Layout) -> Callable[[Row], None]:
        """Says of a row that a condition has no value in it."""
        env = self._env(expression, layout)

        def tell(row: Row) -> None:
            asks(condition)
            if is_heard():
                note(expression, env(row))

        return tell

    # --- operators -------------------------------------------------------------------------------

    def step(
        self, step: op.Operator, layout: Layout, needed: frozenset[str]
    ) -> tuple[Step, Layout]:
        """An operator for rows of a layout, and the layout of what it gives."""
        match step:
            case op.FactJoin(key=key, terms=terms):
                mine, news = id(step), self.news
                return self._join(
                    terms,
                    layout,
                    needed,
                    lambda: news[mine] if mine in news else self.relations.table(key),
                )
            case op.Filter(literal=literal):
                test = self._test(literal, step.term, layout)
                return lambda rows: filter(test, rows), layout
            case op.Unify(left=left, right=right):
                return self._unify(left, right, layout)
            case op.Extend(literal=literal):
                compute = self.number(literal.expression, layout)
                tell = self._teller(step.term, literal.expression, layout)

                def extended(row: Row) -> int | None:
                    found = compute(row)
                    if found is None:
                        tell(row)
                    return None if found is None else self._word_of(found)

                return self._bound(literal.target, layout, extended)
            case op.TruthOp(value=value):
                return lambda rows: rows if value else (), layout
            case op.AntiJoin(body=body):
                return self._without(body, layout), layout
            case op.Union(branches=branches):
                return self._union(branches, layout)
            case op.AggregateOp():
                return self._aggregate(step, layout)
            case op.BuiltinOp():
                return self._builtin(step, layout)
            case op.Python():
                return self._python(step, layout)
            case op.Procedure():
                return self._procedure(step, layout)
            case _:
                raise TypeError(f"it looks at the stream: {step}")

    def _join(
        self,
        terms: Sequence[Term],
        layout: Layout,
        needed: frozenset[str],
        source: Callable[[], Table],
    ) -> tuple[Step, Layout]:
        keys = [at for at, term in enumerate(terms) if names(term) <= {*layout}]
        asked = [terms[at] for at in keys]
        key: Callable[[Row], Any] = self.values(asked, layout)
        if len(keys) == 1:
            key = self.value(asked[0], layout)
        free = [at for at in range(len(terms)) if at not in keys]
        plain = [_name(terms[at]) for at in free if isinstance(terms[at], Var)]
        if len(set(plain)) == len(free):
            outs = [at for at in free if _name(terms[at]) in needed]

            def joined(rows: Sequence[Row]) -> Iterator[Row]:
                index = source().index(keys, outs)
                for row in rows:
                    for out in index.get(key(row), ()):
                        yield row + out

            return joined, (*layout, *(_name(terms[at]) for at in outs))
        matches: list[Match] = []
        inner = layout
        for at in free:
            new, matched = self.match(terms[at], inner)
            matches.append(matched)
            inner += new

        def fitting(rows: Sequence[Row]) -> Iterator[Row]:
            index = source().index(keys, free)
            for row in rows:
                for out in index.get(key(row), ()):
                    found = _fitted(row, out, matches)
                    if found is not None:
                        yield found

        return fitting, inner

    def _test(self, literal: Compare, condition: Term, layout: Layout) -> Callable[[Row], bool]:
        """A comparison."""
        left, right, sign = literal.left, literal.right, literal.op
        if sign in COMPARISONS:
            one, other = self.number(left, layout), self.number(right, layout)
            compare = COMPARISONS[sign]
            tell = self._teller(condition, Compound(sign, (left, right)), layout)

            def compared(row: Row) -> bool:
                a, b = one(row), other(row)
                if a is None or b is None:
                    tell(row)
                    return False
                return bool(compare(a, b))

            return compared
        if sign == "\\=" and not names(left, right) <= {*layout}:
            env = self._env(literal.term, layout)

            def differ(row: Row) -> bool:
                known = env(row)
                return unify(substitute(left, known), substitute(right, known)) is None

            return differ
        ours, theirs = self.value(left, layout), self.value(right, layout)
        if sign in ORDER:
            ordered, term = ORDER[sign], self.words.term
            return lambda row: ordered(order_key(term(ours(row))), order_key(term(theirs(row))))
        if sign == "==":
            return lambda row: ours(row) == theirs(row)
        return lambda row: ours(row) != theirs(row)

    def _unify(self, left: Term, right: Term, layout: Layout) -> tuple[Step, Layout]:
        if not names(right) <= {*layout}:
            left, right = right, left
        if names(right) <= {*layout}:
            return self._bound(left, layout, self.value(right, layout))
        raise Unsupported("nothing gives a value to either side")

    def _without(self, body: op.Chain, layout: Layout) -> Step:
        """The rows for which a chain has no solution."""
        place = len(layout)
        inner = self.compiled(body, (*layout, self._mark()))

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            found = {row[place] for row in self.solve(inner, _numbered(rows))}
            return (row for at, row in enumerate(rows) if at not in found)

        return run

    def _mark(self) -> str:
        """A name for the number of a row."""
        self._marks += 1
        return f"@{self._marks}"

    def _union(self, branches: Sequence[op.Chain], layout: Layout) -> tuple[Step, Layout]:
        every = [self.compiled(branch, layout) for branch in branches]
        found = _shared(layout, [one.layout for one in every])
        picks = [_pick([one.layout.index(name) for name in found]) for one in every]

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            for one, pick in zip(every, picks, strict=True):
                yield from map(pick, self.solve(one, rows))

        return run, found

    def _aggregate(self, step: op.AggregateOp, layout: Layout) -> tuple[Step, Layout]:
        place = len(layout)
        body = self.compiled(step.body, (*layout, self._mark()))
        total_of = self.totals(step, body.layout)
        different = _pick([at for at, name in enumerate(body.layout) if name in step.inner])
        new, matched = self.match(step.result, layout)

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            groups: list[dict[Row, Row]] = [{} for _ in rows]
            for found in self.solve(body, _numbered(rows)):
                groups[found[place]].setdefault(different(found), found)
            for row, group in zip(rows, groups, strict=True):
                word = total_of([*group.values()])
                more = None if word is None else matched(word, row)
                if more is not None:
                    yield row + more

        return run, layout + new

    def totals(self, step: op.AggregateOp, layout: Layout) -> Callable[[Sequence[Row]], int | None]:
        """What an aggregate makes of different solutions, None if it has no value."""
        template, kind, words = step.template, step.kind, self.words
        if kind == "count" or template is None:
            return lambda rows: 2 * len(rows) + 1
        known = names(template) <= {*layout}
        if kind in PICK:
            pick, compute = PICK[kind], self.number(template, layout)
            tell = self._teller(step.term, template, layout)

            def reduced(rows: Sequence[Row]) -> int | None:
                values = [compute(row) for row in rows]
                for row, value in zip(rows, values, strict=True):
                    if value is None:
                        tell(row)
                numbers = [value for value in values if value is not None]
                if len(numbers) < len(rows) or not (rows or kind == "sum"):
                    return None
                try:
                    return self._word_of(pick(numbers))
                except NoValue:
                    return None

            return reduced
        value = self.value(template, layout) if known else None
        arranged = sorted_set if kind == "set" else sorted_bag

        def listed(rows: Sequence[Row]) -> int:
            items = [words.term(value(row)) for row in rows] if value is not None else []
            return words.word(ListTerm(arranged(items)))

        return listed

    # --- built-in predicates, and those of Python ------------------------------------------------

    def _builtin(self, step: op.BuiltinOp, layout: Layout) -> tuple[Step, Layout]:
        goal = Compound(step.call.name, step.call.args)
        if goal.name == "between":
            return self._between(step, layout)
        solutions = BUILTINS[step.call.key].solutions
        assert solutions is not None, f"{goal.name} depends on the run"
        new = tuple(sorted(names(goal) - {*layout}))
        env, tell = self._env(goal, layout), self._teller(step.term, goal, layout)
        used = _pick([at for at, name in enumerate(layout) if name in names(goal)])

        def solved(row: Row) -> Iterable[Row]:
            known = env(row)
            found: dict[Row, None] = {}
            try:
                for one in answers(solutions, tuple(substitute(arg, known) for arg in goal.args)):
                    terms = [substitute(Var(name), one) for name in new]
                    found[tuple(map(self.words.word, terms))] = None
            except NoValue:
                tell(row)
            return found

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            asked: dict[Row, Iterable[Row]] = {}
            for row in rows:
                given = used(row)
                if given not in asked:
                    asked[given] = solved(row)
                for more in asked[given]:
                    yield row + more

        return run, layout + new

    def _between(self, step: op.BuiltinOp, layout: Layout) -> tuple[Step, Layout]:
        *limits, target = step.call.args
        low, high = (self.number(limit, layout) for limit in limits)
        tell_low, tell_high = (self._teller(step.term, limit, layout) for limit in limits)
        listed = isinstance(target, Var) and target.name not in layout
        new, matched = self.match(target, layout)

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            for row in rows:
                first, last = low(row), high(row)
                if first is None:
                    tell_low(row)
                if last is None:
                    tell_high(row)
                if not isinstance(first, int) or not (isinstance(last, int) or last == math.inf):
                    continue
                if not listed:
                    value = None if new else self.words.term(held(row))
                    if isinstance(value, Int) and first <= value.value <= last:
                        yield row
                    continue
                if last == math.inf:
                    raise Endless("between/3 up to infinity has no end")
                if last - first >= MOST_LISTED:
                    most = f"between/3 lists at most {MOST_LISTED} numbers"
                    raise Endless(f"{most}, here {int(last - first) + 1}")
                for number in range(first, int(last) + 1):
                    yield row + (matched(self._word_of(number), row) or ())

        if not new:
            held = self.value(target, layout)
        return run, layout + new

    def _python(self, step: op.Python, layout: Layout) -> tuple[Step, Layout]:
        """A Python predicate: with as many parameters as arguments it is a test.

        With one fewer it computes the last one. It is asked once for each different row.
        """
        goal = step.call
        function = self.python[goal.name]
        tests = parameter_count(function) == len(goal.args)
        asks_for = self.values(goal.args if tests else goal.args[:-1], layout)
        new, matched = ((), None) if tests else self.match(goal.args[-1], layout)

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            given = list(map(asks_for, rows))
            different = list(dict.fromkeys(given))
            try:
                said = dict(zip(different, self._said(function, different, tests), strict=True))
            except Exception as error:  # whatever the user's code raises
                failed = f"the Python predicate {goal.name} failed: {error}"
                raise PredicateFailed(failed) from error
            for row, asked in zip(rows, given, strict=True):
                word = said[asked]
                more = () if matched is None or word is None else matched(word, row)
                if word is not None and more is not None:
                    yield row + more

        return run, layout + new

    def _said(self, function: Function, asked: list[Row], tests: bool) -> list[int | None]:
        """The word of what a function says of each row, None where it says no."""
        if not getattr(function, "vectorised", False):
            some = [map(to_python, map(self.words.term, row)) for row in asked]
            found: Any = [function(*row) for row in some]
        elif not asked:
            return []
        else:
            many = getattr(function, "__wrapped__", function)  # the decorator is for single rows
            columns = np.array(asked, np.int64).reshape(len(asked), -1).T
            found = many(*map(self._array, columns))
            if len(found) != len(asked):
                raise ValueError(f"{len(found)} answers for {len(asked)} rows")
            found = found.tolist() if isinstance(found, np.ndarray) else found
            found = [None if one != one else one for one in found]  # NaN is no answer
        if tests:
            return [1 if one else None for one in found]
        return [None if one is None else self.words.word(to_term(one)) for one in found]

    def _array(self, column: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
        """Numbers as such, whatever else as Python values; not to be written to."""
        found = self.words.column(np.ascontiguousarray(column))
        if found.kind == "term":
            values = map(to_python, map(self.words.term, column.tolist()))
            return np.fromiter(values, object, len(column))
        found.data.flags.writeable = False
        return found.data

    # --- procedures ------------------------------------------------------------------------------

    def _procedure(self, step: op.Procedure, layout: Layout) -> tuple[Step, Layout]:
        bound = sorted(step.bound)
        asks_for = self.values([step.args[at] for at in bound], layout)
        matches: list[Match] = []
        inner = layout
        for at, arg in enumerate(step.args):
            if at not in step.bound:
                new, matched = self.match(arg, inner)
                matches.append(matched)
                inner += new

        def run(rows: Sequence[Row]) -> Iterator[Row]:
            given = list(map(asks_for, rows))
            found = self._called(step.key, step.bound, list(dict.fromkeys(given)))
            for row, asked in zip(rows, given, strict=True):
                for out in found[asked]:
                    more = _fitted(row, out, matches)
                    if more is not None:
                        yield more

        return run, inner

    def _called(
        self, key: Key, bound: frozenset[int], asked: Sequence[Row]
    ) -> dict[Row, dict[Row, None]]:
        """The different answers of a procedure for arguments."""
        self._calls = self._calls + 1 if self._depth else 0
        if self._depth >= endless.DEEPEST_CALL or self._calls > endless.MOST_CALLS:
            raise Endless(endless.too_many_calls(f"{key[0]}/{key[1]}"))
        given, free = sorted(bound), [at for at in range(key[1]) if at not in bound]
        found: dict[Row, dict[Row, None]] = {row: {} for row in asked}
        self._depth += 1
        try:
            for branch in self.procedures.branches[key, bound]:
                layout, rows = self._entered(branch, given, asked)
                body = self.compiled(branch.body, layout)
                if solved := self.solve(body, rows):
                    out = self.values([branch.head[at] for at in free], body.layout)
                    for row in solved:
                        found[row[: len(given)]][out(row)] = None
        finally:
            self._depth -= 1
        index = self.relations.stated(key).index(given, free)
        for row, some in found.items():
            some.update(dict.fromkeys(index.get(row[0] if len(row) == 1 else row, ())))
        return found

    def _entered(
        self, branch: op.Branch, given: Sequence[int], asked: Sequence[Row]
    ) -> tuple[Layout, list[Row]]:
        """The calls that fit the head of a clause, with what its variables are."""
        layout: Layout = tuple(f"@in{at}" for at in range(len(given)))
        matches: list[Match] = []
        for at in given:
            new, matched = self.match(branch.head[at], layout)
            matches.append(matched)
            layout += new
        fits = (_fitted(row, row, matches) for row in asked)
        return layout, [row for row in fits if row is not None]


def _through(steps: Sequence[Step], rows: Sequence[Row]) -> Sequence[Row]:
    for step in steps:
        if not rows:
            break
        rows = list(step(rows))
    return rows


def _is_plain(step: op.Operator) -> bool:
    """Does it say the same where more variables have a value?"""
    return isinstance(step, op.FactJoin) or (
        isinstance(step, op.Filter) and step.literal.op != "\\="
    )


def _numbered(rows: Sequence[Row]) -> list[Row]:
    return [(*row, at) for at, row in enumerate(rows)]


def _name(term: Term) -> str:
    assert isinstance(term, Var)
    return term.name


def _shared(layout: Layout, others: Sequence[Layout]) -> Layout:
    """A layout, and the other names that all of some have."""
    if not others:
        return layout
    more = {*others[0]}.intersection(*others[1:]) - {*layout}
    return (*layout, *(name for name in others[0] if name in more and name[0] != "@"))


def _fitted(row: Row, words: Row, matches: Sequence[Match]) -> Row | None:
    """A row with what some words have to be."""
    for word, matched in zip(words, matches, strict=True):
        more = matched(word, row)
        if more is None:
            return None
        row += more
    return row
