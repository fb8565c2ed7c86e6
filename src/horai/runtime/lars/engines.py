"""Engines for LARS programs by name, and which answers they are asked for.

An engine makes sessions; a session finds the models at growing query times. Which engines can run a
program depends on its fragment: one that cannot refuses it with `UsageError` when a session is
made. What stops a run is said with the rules that it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from horai.errors import RunError, UsageError
from horai.lang.core.terms import Compound, Term, is_ground, subterms
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.predicates import ARITHMETIC, body_atoms, head_predicates
from horai.lang.lars.syntax import Aggregate, Atom, Program, Rule
from horai.lang.lars.walk import formulas, own_terms
from horai.plan.lars.check import written_at
from horai.plan.lars.dependencies import graph
from horai.plan.lars.fragments import ONE, AnswerMode, EndlessValues
from horai.runtime.engines import AUTO, SPARK, loaded
from horai.runtime.lars.admission import SignalMemory
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.engine.lars.run import Signal
    from horai.engine.rows import Rows
    from horai.engine.symbols import Symbols
    from horai.plan.lars.strata import Key


def answer_mode(settings: RunSettings) -> AnswerMode:
    """Which answers the settings of a run ask for.

    >>> answer_mode(RunSettings(language="lars", models="all")).models
    0
    """
    number = {"one": 1, "all": 0}.get(str(settings.models))
    found = int(settings.models) if number is None else number
    return AnswerMode(found, settings.reasoning, settings.least_change)


Model = frozenset[Atom]
"""The derived atoms that hold at the query time in one answer stream."""


class LarsSession(Protocol):
    """A run in progress."""

    def advance(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal]
    ) -> list[Model]:
        """The models at a query time, given what came and what was taken back since the last one.

        Those that are wanted, and none if there is no answer stream. Query times never fall.
        """


class Moved(NamedTuple):
    """How the only model differs from that of the query time before; whether it is an answer."""

    came: Collection[Atom]
    gone: Collection[Atom]
    has_answer: bool


class ByChange(LarsSession, Protocol):
    """A run of programs with one answer that can tell what changes, at less cost than the whole."""

    def move(
        self, query: int, added: Sequence[Signal], removed: Sequence[Signal], known: SignalMemory
    ) -> Moved | None:
        """Like `advance`, for one who keeps all that is `known`.

        None if what has changed is not known.
        """

    def models(self) -> list[Model]:
        """The models at the last query time, or at that which was told last."""

    def moves(self, rows: Mapping[Key, Rows], queries: range) -> Iterator[Moved]:
        """What changes from each query time to the next, given all signals there are."""

    def again(self) -> None:
        """Begin anew, as if nothing had come."""

    @property
    def symbols(self) -> Symbols:
        """The symbols of the columns that it is given."""


class LarsEngine(Protocol):
    """Makes sessions. Windows of the program are measured in time points.

    `before` is the answer that the first one should change the least, if that is wanted.
    """

    def __call__(
        self, program: Program, *, start: int, wanted: AnswerMode = ONE, before: Model | None = None
    ) -> LarsSession: ...


LARS_ENGINES = {
    "plan": "horai.runtime.lars.compiled.PlanEngine",
    "asp": "horai.runtime.lars.asp.AspEngine",
    "tms": "horai.runtime.lars.asp.TmsEngine",
    "reference": "horai.runtime.lars.reference.LarsReferenceEngine",
}
"""The engines there are, by where they are found: only the one that runs is loaded.

The first that runs a program is the best one for it; the last one runs them all.
"""


def lars_engine(name: str) -> LarsEngine:
    """The engine of a name.

    >>> lars_engine("refrence")
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: there is no engine 'refrence' for LARS programs
      hint: did you mean reference?
    """
    names = [AUTO, *LARS_ENGINES, SPARK]
    return cast(LarsEngine, loaded(name, LARS_ENGINES, names, " for LARS programs"))


class EngineChoice(NamedTuple):
    """The engine that is the best one for a program, and why it is not one before it."""

    name: str
    reasons: list[str]

    def __str__(self) -> str:
        return "; ".join([self.name, *self.reasons])


def choose_engine(
    program: Program, engine: str = AUTO, start: int = 0, wanted: AnswerMode = ONE
) -> tuple[EngineChoice, LarsSession]:
    """The engine of a name, with a session; `auto` is the first of the list that runs a program."""
    if engine != AUTO:
        session = lars_engine(engine)(program, start=start, wanted=wanted)
        return EngineChoice(engine, []), session
    reasons: list[str] = []
    *others, last = LARS_ENGINES
    for name in others:
        try:
            found = lars_engine(name)(program, start=start, wanted=wanted)
        except UsageError as refused:
            reasons.append(refused.problem)
            continue
        return EngineChoice(name, reasons), found
    session = lars_engine(last)(program, start=start, wanted=wanted)
    return EngineChoice(last, reasons), session


MOST_SHOWN = 3
"""Places, and numbers of a sum, that a message lists."""


@contextmanager
def stopping(program: Program, when: str) -> Iterator[None]:
    """What stops a run, said with the rules it is about."""
    try:
        yield
    except EndlessValues as error:
        raise endless(program, error.args[0], when) from error
    except TooLarge as error:
        raise too_large(program, error.sign, error.numbers, when) from error


def too_large(program: Program, sign: str, numbers: Sequence[int | float], when: str) -> RunError:
    """A number that a rule computes is larger than numbers can be."""
    shown = [_short(number) for number in numbers[:MOST_SHOWN]]
    if sign == "sum":
        more = [] if len(numbers) <= MOST_SHOWN else ["..."]
        text = f"sum {{ {', '.join([*shown, *more])} }}"
    else:
        text = f"{shown[0]} {sign} {shown[1]}"
    places = _places(rule for rule in program.rules if sign in _operations(rule))
    return RunError(f"{text} is beyond 2^1024, as far as numbers go ({when}): see {places}")


def endless(program: Program, tried: str, when: str) -> RunError:
    """Rules that compute ever new values from what they derive themselves."""
    component = graph(program).component_of()

    def rests_on_itself(rule: Rule) -> bool:
        heads = {component[head] for head in head_predicates(rule) if head in component}
        return any(component.get(atom.predicate) in heads for atom in body_atoms(rule))

    blamed = [rule for rule in program.rules if _makes_terms(rule) and rests_on_itself(rule)]
    problem = f"rules still derive new atoms after {tried}, it seems without end ({when})"
    hint = "bound what they compute, as `X < 100` does"
    return RunError(f"{problem}: see {_places(blamed)}; {hint}")


def _places(rules: Iterable[Rule]) -> str:
    found = list(dict.fromkeys(place for rule in rules if (place := written_at(rule)) is not None))
    if not found:
        return "the rules"
    more = [] if len(found) <= MOST_SHOWN else [f"{len(found) - MOST_SHOWN} more"]
    return ", ".join([*found[:MOST_SHOWN], *more])


def _operations(rule: Rule) -> set[str]:
    """What a rule computes with: `+`, `sum` and so on."""
    found = {
        part.name
        for term in _terms(rule)
        for part in subterms(term)
        if isinstance(part, Compound) and part.name in ARITHMETIC
    }
    functions = (part.function for part in formulas(rule) if isinstance(part, Aggregate))
    return found | set(functions)


def _makes_terms(rule: Rule) -> bool:
    return any(isinstance(term, Compound) and not is_ground(term) for term in _terms(rule))


def _terms(rule: Rule) -> Iterator[Term]:
    return (term for part in formulas(rule) for term in own_terms(part))


def _short(number: int | float) -> str:
    """A number that a reader can take in."""
    text = str(number)
    return text if len(text) < 20 else f"{text[:4]}...{text[-4:]} ({len(text)} digits)"
