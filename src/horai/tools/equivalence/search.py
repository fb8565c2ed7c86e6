"""The comparison of two programs, notion by notion.

A difference is always shown by a stream and a context in which both programs have been run, by the
definitions. That there is none is known for some programs (`Vocabulary.obstacle`); for others it is
only known how far the search went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, permutations, product

from horai import settings
from horai.errors import RunError, UsageError
from horai.io import TimeScale
from horai.io.items.tables import extent
from horai.lang.core.terms import Constant, Float, Int, Str, Term
from horai.lang.lars.predicates import inputs, is_made
from horai.lang.lars.printer import show, show_rule
from horai.lang.lars.syntax import At, Atom, Predicate, Program, Rule
from horai.oracle.lars.answers import answers_at
from horai.oracle.lars.grounding import EndlessDerivation
from horai.oracle.lars.matching import TooManyValues
from horai.oracle.lars.stream import Pair, Stream
from horai.rules import Rules
from horai.runtime.inputs import DEFAULT_CLOCK, files_of, letters_of, read_input
from horai.runtime.lars.admission import Arrivals
from horai.runtime.lars.log import in_order, numbered
from horai.runtime.lars.signals import AnySignals
from horai.settings import point
from horai.tools.equivalence.bimodels import NotACircuit, difference, separating
from horai.tools.equivalence.vocabulary import Vocabulary

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


@dataclass(frozen=True)
class SearchLimits:
    """How far to search: the last time point, signals or facts, new constants, and attempts."""

    points: int | None = None
    signals: int = 3
    constants: int = 1
    tries: int = 20_000


class Enough(Exception):
    """All attempts were made."""


class ProgramComparison:
    """Two programs, with windows in time points, about to be compared."""

    def __init__(
        self,
        programs: tuple[Program, Program],
        bounds: SearchLimits,
        shown: frozenset[str] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._programs = programs
        self._words = Vocabulary(programs)
        self._bounds = bounds
        self._shown = shown
        self._progress = progress
        self._tries = 0
        is_settled = self._words.obstacle is None
        needed = self._words.reach if is_settled else max(self._words.reach + 1, SOME_POINTS)
        self._last = needed if bounds.points is None else bounds.points
        # Whether a search without a finding would settle the matter.
        self._is_settled = is_settled and self._last >= self._words.reach

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
                if not is_made(pair[1].name)
                and (self._shown is None or pair[1].name in self._shown)
            )
            for answer in answers_at(full, signals, time, 0)
        )

    def _differ(
        self, context: Sequence[Rule], signals: Sequence[Pair], time: int
    ) -> Counterexample | None:
        self._count()
        known = [pair for pair in signals if pair[0] <= time]
        first, second = (self._answers(p, context, known, time) for p in self._programs)
        if first == second:
            return None
        return Counterexample(tuple(known), tuple(context), time, (first, second))

    def _count(self) -> None:
        if self._tries >= self._bounds.tries:
            raise Enough
        self._tries += 1
        if self._progress is not None:
            self._progress(self._tries)

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
        if made or self._shown is not None:
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
        found = difference(self._programs, data, time, here)
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
        return self._differ((), sorted([*signals, *facts], key=_place), time)

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
        was_all = self._last < FEW_POINTS and self._bounds.signals >= all_pairs
        is_ground = not self._words.has_variables and notion is not Notion.strong
        if self._is_settled and was_all and is_ground:
            return Verdict(notion, True, "all that can make a difference was tried")
        return Verdict(notion, None, self._how_far())

    def _constants(self) -> list[Term]:
        if self._words.obstacle is None:
            return self._words.constants(self._words.most_variables, numbers=False)
        return self._words.constants(self._bounds.constants, numbers=True)

    def _times(self) -> list[int]:
        if self._last < FEW_POINTS:
            return list(range(self._last + 1))
        return sorted({self._last - o for o in self._words.offsets if o <= self._last})

    def _streams(
        self, predicates: list[Predicate], constants: list[Term]
    ) -> Iterator[tuple[Pair, ...]]:
        """Streams of ever more signals; in every order where it matters."""
        pairs = self._words.pairs(predicates, constants, self._times())
        for size in range(self._bounds.signals + 1):
            for chosen in combinations(pairs, size):
                yield from _orders(chosen) if self._words.counts_signals else [chosen]

    def _how_far(self) -> str:
        obstacle = self._words.obstacle
        why = f"; more cannot be settled because of {obstacle}" if obstacle else ""
        return (
            f"{self._tries} attempts up to time point {self._last}, with up to "
            f"{self._bounds.signals} signals or facts{why}"
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


def _place(pair: Pair) -> int:
    return pair[0]


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
    bounds = SearchLimits(
        None if points is None else _count(points, "points"),
        _count(signals, "signals"),
        _count(constants, "constants"),
        _count(tries, "tries"),
    )
    shown = None if filter is None else frozenset(filter)
    comparison = ProgramComparison(programs, bounds, shown, progress)
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
