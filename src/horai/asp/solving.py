"""Solving with clingo: how many answers of which kind, and the atoms of its models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clingo import Control, MessageCode, Observer, Symbol
from clingo import Model as ClingoModel

from horai.asp.encode import Encoding
from horai.asp.symbols import Functions, Outgrown, Stopped, TooFar, to_term
from horai.lang.core.terms import Int, Term
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Atom
from horai.plan.lars.fragments import AnswerMode, EndlessValues, NotServed

Pair = tuple[int, Atom]
"""An atom at a time."""


@dataclass(frozen=True)
class Model:
    """An answer stream, told by the atoms that rules derive: at the query time, and elsewhere."""

    time: int
    now: frozenset[Atom]
    elsewhere: frozenset[Pair] = frozenset()

    @property
    def derived(self) -> frozenset[Pair]:
        """All atoms with their times."""
        return self.elsewhere | {(self.time, atom) for atom in self.now}

    def at(self, time: int) -> frozenset[Atom]:
        """The atoms derived for a time."""
        if time == self.time:
            return self.now
        return frozenset(atom for moment, atom in self.elsewhere if moment == time)


@dataclass(frozen=True)
class AnswerSets:
    """The answer streams at a time: as many as were asked for, none if there is none."""

    time: int
    models: tuple[Model, ...]

    @classmethod
    def of(cls, time: int, models: Iterable[Model]) -> AnswerSets:
        """Answers without repetition, in an order that depends on nothing but them."""
        found = list(models)
        if len(found) > 1:
            found = sorted(dict.fromkeys(found), key=_order)
        return cls(time, tuple(found))


def _order(model: Model) -> list[tuple[int, str]]:
    return sorted((time, repr(atom)) for time, atom in model.derived)


MOST_KNOWN = 100_000
"""How many atoms of models are remembered."""


class GroundRules(Observer):
    """The ground rules that clingo makes of normal ones: heads and bodies, as its literals."""

    def __init__(self) -> None:
        self.rules: list[tuple[int, tuple[int, ...]]] = []

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        """Take note of one."""
        self.rules.extend((atom, tuple(body)) for atom in head)


class Clingo:
    """A clingo control whose messages are kept instead of printed."""

    def __init__(
        self, asked: AnswerMode, *, is_tame: bool = False, observed: GroundRules | None = None
    ) -> None:
        modes = {"models": "auto", "brave": "brave", "cautious": "cautious"}
        number = asked.models if asked.reasoning == "models" else 0
        options = [f"--models={number}", f"--enum-mode={modes[asked.reasoning]}"]
        if asked.least_change and asked.reasoning == "models":
            options.append("--opt-mode=optN" if number != 1 else "--opt-mode=opt")
            options[0] = "--models=0"
        self.asked = asked
        self.messages: list[str] = []
        self.control = Control(options, self._note, 20)
        self.control.enable_cleanup = False  # it costs more than it saves
        self.functions = Functions(is_tame)
        self.true: set[int] = set()
        """The externals that hold."""
        self.observed = observed
        if observed is not None:
            self.control.register_observer(observed)

    def _note(self, code: MessageCode, text: str) -> None:
        if code is not MessageCode.OperationUndefined:
            self.messages.append(text)

    def ground(self, text: str) -> None:
        """Add rules and ground them."""
        self.functions.begin()
        try:
            self.control.add("base", [], text)
            self.control.ground([("base", [])], context=self.functions)
        except (Stopped, RuntimeError) as error:
            match self.functions.trouble:
                case Outgrown() | TooLarge() | EndlessValues() as trouble:
                    raise trouble from error
                case TooFar() as trouble:
                    raise NotServed(f"{trouble}, beyond the numbers of clingo") from error
            raise NotServed("; ".join(self.messages) or str(error)) from error

    def assign(self, external: int, truth: bool) -> None:
        """Make an external true or false."""
        self.control.assign_external(external, truth)
        (self.true.add if truth else self.true.discard)(external)

    def answers(self, encoding: Encoding, time: int) -> AnswerSets:
        """Solve, and read the answers."""
        found: list[Model] = []
        with self.control.solve(yield_=True) as handle:
            for model in handle:
                if self.asked.reasoning != "models":
                    found = [read(model, encoding, time)]
                elif not self.asked.least_change:
                    found.append(read(model, encoding, time))
                elif model.optimality_proven or self.asked.models == 1:
                    kept = [] if self.asked.models == 1 else found
                    found = [*kept, read(model, encoding, time)]
        wanted = self.asked.models or len(found)
        return AnswerSets.of(time, found[:wanted])

    def rules(self) -> int:
        """How many ground rules the last question was about."""
        if self.observed is not None:
            return len(self.observed.rules)
        return int(self.control.statistics["problem"]["lp"]["rules"])


def read(model: ClingoModel, encoding: Encoding, time: int) -> Model:
    """The answer stream of a model."""
    memory = encoding.memory
    symbols = model.symbols(shown=True)
    # A symbol is a number for clingo; by the symbol itself, every lookup would call its library.
    numbers = getattr(symbols, "_p_symbols", None)
    codes = list(symbols if numbers is None else numbers)
    new = [place for place, code in enumerate(codes) if code not in memory.atoms]
    if len(memory.atoms) > MOST_KNOWN and new:
        memory.forget()
        new = list(range(len(codes)))
    memory.atoms.update((codes[place], pair_of(symbols[place], encoding)) for place in new)
    if not encoding.has_times:
        return Model(time, memory.now(frozenset(codes)))
    found = [memory.atoms[code] for code in codes]
    now = frozenset([atom for atom, moment in found if moment is None or moment == time])
    elsewhere = [(t, atom) for atom, t in found if t is not None and t != time]
    return Model(time, now, frozenset(elsewhere))


def pair_of(symbol: Symbol, encoding: Encoding) -> tuple[Atom, int | None]:
    """The atom of a symbol that is shown, with its time if it has one."""
    args = symbol.arguments
    (name, arity), pinned = encoding.shown[f"{symbol.name}/{len(args)}"]
    moment = to_term(args[-1]) if pinned else None
    assert moment is None or isinstance(moment, Int)
    terms = encoding.memory.terms
    found: list[Term] = []
    for arg in args[:arity]:
        code = getattr(arg, "_rep", arg)  # as above
        term = terms.get(code)
        if term is None:
            term = terms[code] = to_term(arg)
        found.append(term)
    return Atom(name, tuple(found)), None if moment is None else moment.value
