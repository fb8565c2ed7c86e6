"""Do two LARS programs say the same? Ordinary, data, uniform and strong equivalence.

A difference is always shown by a stream and a context in which both programs have been run, by the
definitions. That there is none is known for some programs (`Vocabulary.obstacle`); for others it is
only known how far the search went.

Programs are strongly equivalent if they have the same bi-models: pairs of a smaller and a larger
stream such that the larger one is a model of the program, and the smaller one of the rules whose
body holds in the larger (Theorems 19 and 21 of the thesis). One call of the solver looks for a pair
that is a bi-model of one program only; formulas become circuits, functions of the atoms that hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations, permutations, product
from operator import itemgetter

import clingo

from horai import settings
from horai.errors import RunError, UsageError
from horai.io import TimeScale
from horai.io.items.tables import extent
from horai.lang.core.terms import Compound, Constant, Float, Int, Str, Term, Var, subterms
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import background, background_facts, derived, inputs, is_made
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import At, Atom, Predicate, Program, Rule
from horai.lang.lars.walk import children, own_terms, rule_variables, subformulas
from horai.oracle.lars.answers import answers_at
from horai.oracle.lars.entailment import Part, Semantics
from horai.oracle.lars.grounding import EndlessDerivation, Instance, ProgramGrounding
from horai.oracle.lars.matching import TooManyValues
from horai.oracle.lars.stream import Pair, Stream
from horai.rules import Rules
from horai.runtime.inputs import DEFAULT_CLOCK, files_of, letters_of, read_input
from horai.runtime.lars.admission import Arrivals, in_order, numbered
from horai.runtime.lars.signals import AnySignals
from horai.settings import point

Gate = bool | str
"""A constant, or the name of a gate that holds when its formula does."""
Wire = Callable[[Pair], str]
"""The name of the gate for a derived atom at a time."""


class NotACircuit(Exception):
    """A formula that depends on derived atoms in another way than gates can say."""


class Circuits:
    """Gates for formulas over one stream, with the rules that define them."""

    def __init__(self) -> None:
        self.rules: list[str] = []
        self._known: dict[tuple[str, tuple[str, ...]], str] = {}

    def both(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when all gates do."""
        return self._joined("and", gates, decides=False)

    def either(self, gates: Iterable[Gate]) -> Gate:
        """A gate that holds when one of the gates does."""
        return self._joined("or", gates, decides=True)

    def _joined(self, kind: str, gates: Iterable[Gate], *, decides: bool) -> Gate:
        """A gate of several; one that always has the value that `decides` is enough."""
        kept: dict[str, None] = {}
        for gate in gates:
            if gate is decides:
                return decides
            if isinstance(gate, str):
                kept[gate] = None
        return self._gate(kind, tuple(kept)) if len(kept) > 1 else next(iter(kept), not decides)

    def no(self, gate: Gate) -> Gate:
        """A gate that holds when another one does not."""
        return not gate if isinstance(gate, bool) else self._gate("not", (gate,))

    def _gate(self, kind: str, inputs: tuple[str, ...]) -> str:
        key = (kind, inputs)
        if key not in self._known:
            name = self._known[key] = f"g({len(self._known)})"
            match kind:
                case "and":
                    self.rules.append(f"{name} :- {', '.join(inputs)}.")
                case "or":
                    self.rules.extend(f"{name} :- {one}." for one in inputs)
                case _:
                    self.rules.append(f"{name} :- not {inputs[0]}.")
        return self._known[key]


class OpenStream(Semantics[Gate]):
    """A stream whose derived atoms are open: `wire` names the gate of each."""

    def __init__(
        self, circuits: Circuits, stream: Stream, background: Set[lars.Atom], wire: Wire
    ) -> None:
        self.whole = (stream,)
        self._circuits = circuits
        self._background = background
        self._wire = wire
        self._known: dict[tuple[lars.Formula, Part, int], Gate] = {}

    def holds(self, formula: lars.Formula, part: Part, time: int) -> Gate:
        key = (formula, part, time)
        if key not in self._known:
            self._known[key] = super().holds(formula, part, time)
        return self._known[key]

    def atom(self, atom: lars.Atom, part: Part, time: int) -> Gate:
        pair = (time, atom)
        if atom in self._background or pair in part[0].signals:
            return True
        return self._wire(pair) if pair in part[0].derived else False

    def aggregate(self, formula: lars.Aggregate, part: Part, time: int) -> Gate:
        raise NotACircuit("an aggregate")

    def negation(self, value: Gate) -> Gate:
        return self._circuits.no(value)

    def both(self, values: Iterable[Gate]) -> Gate:
        return self._circuits.both(values)

    def either(self, values: Iterable[Gate]) -> Gate:
        return self._circuits.either(values)


BiModel = tuple[frozenset[Pair], frozenset[Pair]]


def difference(
    programs: tuple[lars.Program, lars.Program], data: Stream, time: int, universe: Sequence[Pair]
) -> tuple[BiModel, bool] | None:
    """Two sets of derived atoms that are a bi-model of one program only; None if there are none.

    The truth value says whether already the larger stream is no model of the other program.
    """
    open_pairs = [pair for pair in universe if pair not in data.pairs]
    numbers = {pair: number for number, pair in enumerate(open_pairs)}
    circuits = Circuits()
    text = [f"{{ r({n}) }}. {{ l({n}) }} :- r({n})." for n in numbers.values()]
    for name, program in zip("ab", programs, strict=True):
        grounding = _ground(program, data, time, open_pairs)
        whole = data.plus(open_pairs)
        facts = grounding.background
        large = OpenStream(circuits, whole, facts, lambda pair: f"r({numbers[pair]})")
        small = OpenStream(circuits, whole, facts, lambda pair: f"l({numbers[pair]})")
        for instance in grounding.instances:
            text.extend(_violations(name, instance, circuits, large, small, time, whole))
    text.extend(circuits.rules)
    text.append("bad(X) :- worse(X). :- bad(a), bad(b). :- not bad(a), not bad(b).")
    text.append("#show r/1. #show l/1. #show worse/1. #defined bad/1. #defined worse/1.")
    return _solved("\n".join(text), open_pairs)


def _ground(
    program: lars.Program, data: Stream, time: int, universe: Sequence[Pair]
) -> ProgramGrounding:
    """The instances of a program when any atom of the universe may hold.

    A choice among them makes the grounder believe it; afterwards the choice is dropped.
    """
    options = tuple(lars.ChoiceOption(lars.At(Int(t), atom)) for t, atom in universe)
    anything = lars.Choice(options)
    grounding = ProgramGrounding(
        replace(program, rules=(*program.rules, lars.Rule(anything))), data, time
    )
    grounding.instances = [i for i in grounding.instances if i.head != anything]
    return grounding


def _violations(
    name: str,
    instance: Instance,
    circuits: Circuits,
    large: OpenStream,
    small: OpenStream,
    time: int,
    whole: Stream,
) -> list[str]:
    """Rules that tell when a pair of streams is no bi-model because of an instance."""
    body = large.together(instance.body, time)
    if isinstance(instance.head, lars.Choice):
        choice = instance.head
        if choice.least is not None or choice.most is not None:
            raise NotACircuit("a choice with bounds")
        found: list[str] = []
        for option in choice.options:
            parts = (option.head, *option.condition)
            taken = circuits.both([body, large.together(parts, time)])
            reason = small.together((*instance.body, *option.condition), time)
            missing = circuits.no(small.together((option.head,), time))
            found += _when(f"bad({name})", circuits.both([taken, reason, missing]))
        return found
    head = () if instance.head is None else (instance.head,)
    fails: Gate = True if instance.head is None else circuits.no(large.together(head, time))
    loses: Gate = True if instance.head is None else circuits.no(small.together(head, time))
    return [
        *_when(f"worse({name})", circuits.both([body, fails])),
        *_when(f"bad({name})", circuits.both([body, small.together(instance.body, time), loses])),
    ]


def _when(head: str, gate: Gate) -> list[str]:
    if isinstance(gate, bool):
        return [f"{head}."] if gate else []
    return [f"{head} :- {gate}."]


def _solved(text: str, universe: Sequence[Pair]) -> tuple[BiModel, bool] | None:
    control = clingo.Control(["1", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    with control.solve(yield_=True) as handle:
        for model in handle:
            small: set[Pair] = set()
            large: set[Pair] = set()
            is_total = False
            for symbol in model.symbols(shown=True):
                if symbol.name == "worse":
                    is_total = True
                else:
                    pair = universe[symbol.arguments[0].number]
                    (large if symbol.name == "r" else small).add(pair)
            return (frozenset(small), frozenset(large)), is_total
    return None


def separating(found: BiModel, is_total: bool) -> tuple[lars.Rule, ...]:
    """Rules that, added to both programs, make the difference show (the proof of Theorem 21)."""
    small, large = found
    facts = tuple(lars.Rule(lars.At(Int(t), a)) for t, a in _sorted(large if is_total else small))
    if is_total:
        return facts
    others = _sorted(large - small)
    implied = (
        lars.Rule(lars.At(Int(z), b), (lars.At(Int(y), a),))
        for (y, a), (z, b) in product(others, others)
        if (y, a) != (z, b)
    )
    return (*facts, *implied)


def _sorted(pairs: frozenset[Pair]) -> list[tuple[int, lars.Atom]]:
    return sorted(pairs, key=lambda pair: (pair[0], repr(pair[1])))


@dataclass(frozen=True)
class Vocabulary:
    """Two programs, with windows in time points, and what is in them."""

    programs: tuple[lars.Program, lars.Program]

    @cached_property
    def rules(self) -> list[lars.Rule]:
        """The rules of both."""
        return [rule for program in self.programs for rule in program.rules]

    @cached_property
    def background(self) -> set[lars.Predicate]:
        """The predicates that facts define, in one of the programs at least."""
        return set().union(*map(background, self.programs))

    @cached_property
    def derived(self) -> set[lars.Predicate]:
        """The predicates that rules derive, in one of the programs at least."""
        return set().union(*map(derived, self.programs))

    @cached_property
    def extensional(self) -> list[lars.Predicate]:
        """The predicates that only a stream makes true."""
        known = self.derived | self.background
        return sorted(set().union(*map(inputs, self.programs)) - known)

    @cached_property
    def open(self) -> list[lars.Predicate]:
        """The predicates that a context may speak of: derived ones and those of the stream."""
        made = {p for p in self.derived if is_made(p[0])}
        return sorted((self.derived | set(self.extensional)) - self.background - made)

    def constants(self, more: int, *, numbers: bool) -> list[Term]:
        """All constants of the programs and some new ones; with `numbers`, neighbours of theirs."""
        found = {term: None for rule in self.rules for term in _constants(rule)}
        for program in self.programs:
            for fact in background_facts(program):
                found.update(dict.fromkeys(arg for arg in fact.args if not isinstance(arg, Var)))
        if numbers:
            near = [t.value + d for t in list(found) if isinstance(t, Int) for d in (-1, 1)]
            found.update(dict.fromkeys(map(Int, near)))
        taken = {term.name for term in found if isinstance(term, Constant)}
        fresh = (name for n in range(1, 10**6) if (name := f"c{n}") not in taken)
        found.update((Constant(name), None) for name, _ in zip(fresh, range(more), strict=False))
        return sorted(found, key=repr)

    def pairs(
        self, predicates: list[lars.Predicate], constants: list[Term], times: Iterable[int]
    ) -> list[Pair]:
        """All atoms over some predicates and constants, at all of some times."""
        every = (
            lars.Atom(name, args)
            for name, arity in predicates
            for args in product(constants, repeat=arity)
        )
        return list(product(times, every))

    @property
    def counts_signals(self) -> bool:
        """Are there windows over numbers of signals, for which their order matters?"""
        return any(isinstance(part, lars.Within) and part.window.counts for part in self._parts())

    @property
    def most_variables(self) -> int:
        """The largest number of variables in a rule."""
        return max((len(rule_variables(rule)) for rule in self.rules), default=0)

    @property
    def reach(self) -> int:
        """How far back windows of a limited length look, at most."""
        return max((_reach(part) for rule in self.rules for part in rule.parts), default=0)

    def _parts(self) -> Iterator[lars.Head]:
        for rule in self.rules:
            for part in rule.parts:
                yield from subformulas(part)

    @cached_property
    def obstacle(self) -> str | None:
        """Why a search up to the reach does not settle the matter; None if it does.

        Programs that look back a limited time, and treat all points and all constants alike, cannot
        tell a long stream from its last part, nor many constants from as many as a rule has
        variables.
        """
        return next((found for rule in self.rules if (found := _obstacle_in(rule))), None)

    @property
    def offsets(self) -> set[int]:
        """How long ago something matters: now, just before, and at both sides of window ends."""
        sizes = {
            part.window.past.amount or 0
            for part in self._parts()
            if isinstance(part, lars.Within) and isinstance(part.window, lars.TimeWindow)
        }
        return {0, 1, *sizes, *(size + 1 for size in sizes), self.reach}


def _constants(rule: lars.Rule) -> Iterator[Term]:
    for condition in rule.parts:
        for part in subformulas(condition):
            # The times of @ are no values, and those of intervals are not either.
            for term in (
                () if isinstance(part, lars.At | lars.Within | lars.Choice) else own_terms(part)
            ):
                for inner in subterms(term):
                    if not isinstance(inner, Var | Compound):
                        yield inner


def _reach(formula: lars.Head) -> int:
    inner = max((_reach(part) for part in children(formula)), default=0)
    if isinstance(formula, lars.Within) and isinstance(formula.window, lars.TimeWindow):
        return inner + (formula.window.past.amount or 0)
    return inner


def _obstacle_in(rule: lars.Rule) -> str | None:
    if isinstance(rule.head, lars.Atom) and is_made(rule.head.name):
        return "`_` under `not`"
    times = set(_window_times(rule))
    for condition in rule.parts:
        for part in subformulas(condition):
            named = {v for term in own_terms(part) for v in subterms(term) if isinstance(v, Var)}
            if not isinstance(part, lars.At) and named & times:
                return "times that are values"
        found = _obstacle(condition, times, is_in_window=condition is rule.head)
        if found is not None:
            return found
    return None


def _window_times(rule: lars.Rule) -> Iterator[Var]:
    """The variables for times that lie in a window."""
    for condition in rule.body:
        match condition:
            case lars.Within(window=lars.TimeWindow(), formula=lars.At(time=Var() as time)):
                yield time


def _obstacle(formula: lars.Head, times: set[Var], *, is_in_window: bool) -> str | None:
    match formula:
        case lars.Within(window=lars.TimeWindow(past=past, future=future, hop=hop)):
            if past.amount is None or future.amount != 0:
                return "a window without end or into the future"
            if hop is not None:
                return "a window that hops"
            is_in_window = True
        case lars.Within(window=lars.FilterWindow()):
            pass
        case lars.Within(window=lars.TupleWindow() | lars.PartitionWindow()):
            return "a window over numbers of signals"
        case lars.Within():
            return "a window at fixed times"
        case lars.Reset():
            is_in_window = False
        case lars.At(time=time) if not isinstance(time, Var):
            return "times that are named or computed"
        case lars.At(time=Var() as time) if time not in times:
            return "times outside of windows"
        case lars.Some() | lars.Always() if not is_in_window:
            return "`some` or `always` without a window"
        case lars.Comparison(sign=sign, left=left, right=right):
            if sign not in ("=", "!="):
                return "a comparison by size"
            if isinstance(left, Compound) or isinstance(right, Compound):
                return "arithmetic"
        case lars.Atom(args=args) if any(isinstance(arg, Compound) for arg in args):
            return "compound terms"
        case lars.Aggregate() | lars.Choice():
            return "an aggregate or a choice"
    for part in children(formula):
        found = _obstacle(part, times, is_in_window=is_in_window)
        if found is not None:
            return found
    return None


Content = frozenset[tuple[int | None, Atom]]
"""An answer: atoms at times; those of the background have no time."""


class Notion(StrEnum):
    """In which surroundings two programs must have the same answers."""

    ordinary = "ordinary"
    data = "data"
    uniform = "uniform"
    strong = "strong"


@dataclass(frozen=True)
class Counterexample:
    """Signals and rules with which two programs have different answers at a time."""

    signals: tuple[Pair, ...]
    context: tuple[Rule, ...]
    time: int
    answers: tuple[frozenset[Content], frozenset[Content]]

    def narrative(self) -> list[str]:
        """The signals as rows: `name|arrival|time|args`."""
        return ["|".join([a.name, str(t), str(t), *map(_cell, a.args)]) for t, a in self.signals]

    def rules(self) -> list[str]:
        """The rules to add to both programs, as text."""
        return [show_rule(rule) for rule in self.context]

    def answer_texts(self, which: int) -> list[str]:
        """The answers of a program, one line each; those of both programs are left out."""
        own, other = self.answers[which], self.answers[1 - which]
        return sorted(_line(answer) for answer in own - other)


@dataclass(frozen=True)
class Verdict:
    """Equal, different, or not found to be different; `reason` says how that is known."""

    notion: Notion
    is_equal: bool | None
    reason: str
    counterexample: Counterexample | None = None


def _line(answer: Content) -> str:
    def place(pair: tuple[int | None, Atom]) -> tuple[int, str]:
        return (-1 if pair[0] is None else pair[0], show(pair[1]))

    shown = [show(a) if t is None else f"@{t} {show(a)}" for t, a in sorted(answer, key=place)]
    return ", ".join(shown) or "-"


def _cell(term: Term) -> str:
    match term:
        case Constant(name=name):
            return name
        case Int(value=value) | Float(value=value) | Str(value=value):
            return str(value)
        case _:
            return show(Atom("x", (term,)))[2:-1]


Progress = Callable[[int], None]
MOST_PAIRS = 600
"""More atoms at times than the solver should guess."""
FEW_POINTS = 6
"""Up to so many time points, all of them are tried; of more, those next to ends of windows."""
SOME_POINTS = 3
"""The last time point where no window says how far to go."""


class Enough(Exception):
    """All attempts were made."""


@dataclass
class ProgramComparison:
    """Two programs, with windows in time points, about to be compared.

    It says how far to search: the last time point, signals or facts, new constants, and attempts.
    """

    programs: tuple[Program, Program]
    points: int | None = None
    signals: int = 3
    constants: int = 1
    tries: int = 20_000
    shown: frozenset[str] | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        self._words = words = Vocabulary(self.programs)
        self._tried = 0
        is_settled = words.obstacle is None
        needed = words.reach if is_settled else max(words.reach + 1, SOME_POINTS)
        self._last = needed if self.points is None else self.points
        # Whether a search without a finding would settle the matter.
        self._is_settled = is_settled and self._last >= words.reach

    def verdict(
        self, notion: Notion, signals: Sequence[Pair] = (), times: range = range(1)
    ) -> Verdict:
        """The verdict; signals and times are those of a given stream, for the ordinary notion."""
        try:
            if notion is Notion.ordinary:
                return self._ordinary(signals, times)
            return self._by_contexts(notion) or self._by_trying(notion)
        except Enough:
            return Verdict(notion, None, self._how_far())

    # --- answers ---

    def _answers(
        self, program: Program, context: Sequence[Rule], signals: Sequence[Pair], time: int
    ) -> frozenset[Content]:
        """All answer streams, as far as they are compared."""
        full = replace(program, rules=(*program.rules, *context))
        return frozenset(
            frozenset(
                pair
                for pair in (*answer.stream.pairs, *((None, a) for a in answer.background))
                if not is_made(pair[1].name) and (self.shown is None or pair[1].name in self.shown)
            )
            for answer in answers_at(full, signals, time, 0)
        )

    def _differ(
        self, context: Sequence[Rule], signals: Sequence[Pair], time: int
    ) -> Counterexample | None:
        self._count()
        known = [pair for pair in signals if pair[0] <= time]
        first, second = (self._answers(p, context, known, time) for p in self.programs)
        if first == second:
            return None
        return Counterexample(tuple(known), tuple(context), time, (first, second))

    def _count(self) -> None:
        if self._tried >= self.tries:
            raise Enough
        self._tried += 1
        if self.progress is not None:
            self.progress(self._tried)

    # --- one stream ---

    def _ordinary(self, signals: Sequence[Pair], times: range) -> Verdict:
        for time in times:
            found = self._differ((), signals, time)
            if found is not None:
                return _different(Notion.ordinary, found)
        span = f"at {times[0]}" if len(times) == 1 else f"from {times[0]} to {times[-1]}"
        return Verdict(Notion.ordinary, True, f"they have the same answers {span}")

    # --- all contexts ---

    def _by_contexts(self, notion: Notion) -> Verdict | None:
        """The verdict of bi-models: equal in all contexts, or a context that the notion allows."""
        made = any(is_made(name) for name, _ in self._words.derived)
        if made or self.shown is not None:
            return None
        found = self._differ((), (), 0)  # also sees facts, of which no context speaks
        if found is not None:
            return _different(notion, found)
        constants = self._constants()
        universe = self._words.pairs(self._words.open, constants, range(self._last + 1))
        if len(universe) > MOST_PAIRS:
            return None
        is_equal = True
        try:
            for signals, time in self._situations(constants):
                context = self._context(signals, time, universe)
                if context is None:
                    continue
                is_equal = False
                shown = self._allowed(notion, context, signals, time)
                if shown is not None:
                    return _different(notion, shown)
        except NotACircuit:
            return None
        if is_equal and self._is_settled:
            return Verdict(notion, True, "they have the same bi-models, so no context matters")
        if notion is Notion.strong and is_equal:
            return Verdict(notion, None, self._how_far())
        return None

    def _situations(self, constants: list[Term]) -> Iterator[tuple[tuple[Pair, ...], int]]:
        """Signals matter beside a context only where they are counted."""
        if not self._words.counts_signals:
            yield from (((), time) for time in range(self._last + 1))
            return
        for signals in self._streams(self._words.extensional, constants):
            yield from ((signals, time) for time in self._times() if time >= _end(signals))

    def _context(
        self, signals: tuple[Pair, ...], time: int, universe: Sequence[Pair]
    ) -> tuple[Rule, ...] | None:
        self._count()
        data = Stream(0, self._last + 1, signals)
        # A program that looks back only knows nothing of what comes after now.
        here = [pair for pair in universe if pair[0] <= time or not self._is_settled]
        found = difference(self.programs, data, time, here)
        return None if found is None else separating(*found)

    def _allowed(
        self, notion: Notion, context: tuple[Rule, ...], signals: tuple[Pair, ...], time: int
    ) -> Counterexample | None:
        """The context as a counterexample, if it is one for the notion."""
        if notion is Notion.strong:
            return self._differ(context, signals, time)
        facts = [pair for rule in context for pair in _fact_at(rule)]
        if len(facts) < len(context):
            return None
        if notion is Notion.uniform:
            return self._differ(context, signals, time)
        if any(atom.predicate not in self._words.extensional for _, atom in facts):
            return None
        return self._differ((), sorted([*signals, *facts], key=itemgetter(0)), time)

    # --- small streams, one by one ---

    def _by_trying(self, notion: Notion) -> Verdict:
        """All small streams, or for other notions than data all small sets of facts."""
        is_data = notion is Notion.data
        predicates = self._words.extensional if is_data else self._words.open
        constants = self._constants()
        for chosen in self._streams(predicates, constants):
            for time in self._times():
                if time < _end(chosen):
                    continue
                facts = [] if is_data else [Rule(At(Int(t), a)) for t, a in chosen]
                found = self._differ(facts, chosen if is_data else (), time)
                if found is not None:
                    return _different(notion, found)
        all_pairs = len(self._words.pairs(predicates, constants, self._times()))
        was_all = self._last < FEW_POINTS and self.signals >= all_pairs
        is_ground = not self._words.most_variables and notion is not Notion.strong
        if self._is_settled and was_all and is_ground:
            return Verdict(notion, True, "all that can make a difference was tried")
        return Verdict(notion, None, self._how_far())

    def _constants(self) -> list[Term]:
        if self._words.obstacle is None:
            return self._words.constants(self._words.most_variables, numbers=False)
        return self._words.constants(self.constants, numbers=True)

    def _times(self) -> list[int]:
        if self._last < FEW_POINTS:
            return list(range(self._last + 1))
        return sorted({self._last - o for o in self._words.offsets if o <= self._last})

    def _streams(
        self, predicates: list[Predicate], constants: list[Term]
    ) -> Iterator[tuple[Pair, ...]]:
        """Streams of ever more signals; in every order where it matters."""
        pairs = self._words.pairs(predicates, constants, self._times())
        for size in range(self.signals + 1):
            for chosen in combinations(pairs, size):
                yield from _orders(chosen) if self._words.counts_signals else [chosen]

    def _how_far(self) -> str:
        obstacle = self._words.obstacle
        why = f"; more cannot be settled because of {obstacle}" if obstacle else ""
        return (
            f"{self._tried} attempts up to time point {self._last}, with up to "
            f"{self.signals} signals or facts{why}"
        )


def _different(notion: Notion, found: Counterexample) -> Verdict:
    return Verdict(notion, False, "their answers differ", found)


def _fact_at(rule: Rule) -> Iterator[Pair]:
    """The atom at a time that a rule without conditions says."""
    match rule:
        case Rule(head=At(time=Int(value=time), formula=Atom() as atom), body=()):
            yield (time, atom)


def _end(signals: Sequence[Pair]) -> int:
    return max((time for time, _ in signals), default=0)


def _orders(chosen: tuple[Pair, ...]) -> Iterator[tuple[Pair, ...]]:
    """The signals of each time point in every order."""
    times = sorted({time for time, _ in chosen})
    groups = [[pair for pair in chosen if pair[0] == time] for time in times]
    for ordered in product(*(permutations(group) for group in groups)):
        yield tuple(pair for group in ordered for pair in group)


def equivalence(
    one: Rules,
    other: Rules,
    *,
    notion: str = "data",
    clock: str = DEFAULT_CLOCK,
    points: int | None = None,
    signals: int = 3,
    constants: int = 1,
    tries: int = 20_000,
    filter: Iterable[str] | None = None,
    input: object = (),
    end: int | str | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Have two programs the same answers: on one stream, on all, with all facts, with all rules?

    `notion` is `ordinary` (on the stream `input`, up to `end`), `data` (on every stream), `uniform`
    (whatever facts are added to both) or `strong` (whatever rules are added). Where the matter
    cannot be settled, streams up to time point `points` with up to so many `signals` over the
    constants of the programs and so many new ones are tried, at most `tries` of them. `filter`
    names the predicates that count.
    """
    wanted = _notion(notion)
    if filter is not None and wanted is Notion.strong:
        hint = "leave out the filter, or compare with the notion data"
        raise UsageError("strong equivalence is about all predicates", hint)
    programs = (one.in_points(clock), other.in_points(clock))
    comparison = ProgramComparison(
        programs,
        None if points is None else _count(points, "points"),
        _count(signals, "signals"),
        _count(constants, "constants"),
        _count(tries, "tries"),
        None if filter is None else frozenset(filter),
        progress,
    )
    schema = AnySignals.known(set().union(*(inputs(program) for program in programs)))
    narrative = read_input(input, schema, TimeScale())
    last = (extent(narrative.tables) or (0, 0))[1] if end is None else point(end, "end")
    if last < 0:
        raise UsageError(f"the end, {last}, is before the start, 0")
    arrivals = Arrivals(0)
    arrivals.feed(in_order(numbered(narrative.tables, files_of(input))))
    added, _ = arrivals.until(last)
    for letter in (*narrative.dead_letters, *letters_of(arrivals.dropped)):
        raise UsageError(f"{letter.file}:{letter.line}: {letter.reason}", "correct the row")
    stream = sorted(((s.time, s.order, s.atom) for s in added), key=lambda s: s[:2])
    try:
        return comparison.verdict(wanted, [(t, a) for t, _, a in stream], range(last + 1))
    except (EndlessDerivation, TooManyValues) as error:
        raise RunError(str(error)) from error


def _count(given: object, name: str) -> int:
    number = settings.whole(given, name, "it bounds the search")
    if number < 0:
        raise UsageError(f"{name} must be at least 0, not {number}", "it bounds the search")
    return number


def _notion(name: str) -> Notion:
    hint = f"it is one of {', '.join(Notion)}"
    try:
        return Notion(settings.text(name, "notion", hint))
    except UsageError:
        raise
    except ValueError:
        raise UsageError(f"there is no notion {name!r} of equivalence", hint) from None
