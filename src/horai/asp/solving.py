"""Asking clingo: how many answers, which kind of them, and what its models say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from clingo import Control, MessageCode, Model, Symbol

from horai.asp.answers import Answers
from horai.asp.answers import Model as AnswerStream
from horai.asp.encoding import Encoding
from horai.asp.numbers import Functions, Outgrown, Stopped, TooFar
from horai.asp.plain import Endless, Refused
from horai.asp.symbols import to_term
from horai.lang.lars.arithmetic import TooLarge
from horai.lang.lars.syntax import Atom
from horai.lang.terms import Term

Which = OneOf["models", "brave", "cautious"]
"""Answer streams themselves, what holds in some of them, or what holds in all of them."""


MOST_KNOWN = 100_000
"""How many atoms of models are remembered."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to ask for. `steady` prefers the answer that changes the least since the last one."""

    models: int = 1
    which: Which = "models"
    steady: bool = False


class Clingo:
    """A clingo control whose messages are kept instead of printed."""

    def __init__(self, asked: Asked, *, is_tame: bool = False) -> None:
        modes = {"models": "auto", "brave": "brave", "cautious": "cautious"}
        number = asked.models if asked.which == "models" else 0
        options = [f"--models={number}", f"--enum-mode={modes[asked.which]}"]
        if asked.steady and asked.which == "models":
            options.append("--opt-mode=optN" if number != 1 else "--opt-mode=opt")
            options[0] = "--models=0"
        self.asked = asked
        self.messages: list[str] = []
        self.control = Control(options, self._note, 20)
        self.control.enable_cleanup = False  # it costs more than it saves
        self.functions = Functions(is_tame)

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
                case Outgrown() | TooLarge() | Endless() as trouble:
                    raise trouble from error
                case TooFar() as trouble:
                    raise Refused(f"{trouble}, beyond the numbers of clingo") from error
            raise Refused("; ".join(self.messages) or str(error)) from error

    def answers(self, encoding: Encoding, time: int) -> Answers:
        """Solve, and read the answers."""
        found: list[AnswerStream] = []
        with self.control.solve(yield_=True) as handle:
            for model in handle:
                if self.asked.which != "models":
                    found = [read(model, encoding, time)]
                elif not self.asked.steady:
                    found.append(read(model, encoding, time))
                elif model.optimality_proven or self.asked.models == 1:
                    kept = [] if self.asked.models == 1 else found
                    found = [*kept, read(model, encoding, time)]
        wanted = self.asked.models or len(found)
        return Answers.of(time, found[:wanted])

    def rules(self) -> int:
        """How many ground rules the last question was about."""
        return int(self.control.statistics["problem"]["lp"]["rules"])


def read(model: Model, encoding: Encoding, time: int) -> AnswerStream:
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
    memory.atoms.update((codes[place], _pair(symbols[place], encoding)) for place in new)
    if not encoding.has_times:
        return AnswerStream(time, memory.now(frozenset(codes)))
    found = [memory.atoms[code] for code in codes]
    now = frozenset([atom for atom, moment in found if moment is None or moment == time])
    elsewhere = [(t, atom) for atom, t in found if t is not None and t != time]
    return AnswerStream(time, now, frozenset(elsewhere))


def _pair(symbol: Symbol, encoding: Encoding) -> tuple[Atom, int | None]:
    args = symbol.arguments
    (name, arity), pinned = encoding.shown[f"{symbol.name}/{len(args)}"]
    moment = args[-1].number if pinned else None
    terms = encoding.memory.terms
    found: list[Term] = []
    for arg in args[:arity]:
        code = getattr(arg, "_rep", arg)  # as above
        term = terms.get(code)
        if term is None:
            term = terms[code] = to_term(arg)
        found.append(term)
    return Atom(name, tuple(found)), moment
