"""LARS by truth maintenance: clingo grounds the rules, and the JTMS keeps one answer of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from clingo import Symbol

from horai.asp.encode import Encoding
from horai.asp.engine import AspSession
from horai.asp.jtms import Jtms, Justification, Unsettled
from horai.asp.solving import AnswerSets, Clingo, GroundRules, Model, pair_of
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.dependencies import odd_loops, strata
from horai.plan.lars.fragments import NotServed
from horai.plan.lars.normal import Choosing, PlainRule, Total


class TmsSession(AspSession):
    """A run of a program with normal rules; one answer at a time.

    The answer changes as little as its rules do: what still has a reason to hold stays.
    """

    def __init__(self, program: Program, *, start: int = 0, seed: int = 0) -> None:
        super().__init__(program, start=start)
        for rule in self.plain.rules:
            if reason := _why_not_normal(rule):
                raise NotServed(reason, rule.origin, rule.origin.span)
        self.is_unique = strata(program) is not None
        """Whether the answer is the only one."""
        loop, _ = next(odd_loops(program), (None, None))
        self.odd = loop and loop[0]
        """A predicate that may depend on itself through an odd number of negations, if any does."""
        self.seed = seed
        self._begin()

    def _begin(self) -> None:
        self.jtms = Jtms(self.seed, verifies=self.odd is not None)
        self._last_number = 0
        self._numbers: dict[Hashable, int] = {}
        """The number of each atom, by codes; encodings that come one after the other share them."""
        self._symbols: dict[int, Symbol] = {}
        self._shown: set[int] = set()
        self._encoding: Encoding | None = None
        """The one by which it is known what is shown."""
        self._rules: dict[Justification, None] = {}
        """What is in the network, but for windows of a grounding that is kept."""
        self._held: dict[Justification, None] = {}
        """What these windows hold, as facts."""
        self._grounded: Clingo | None = None
        self._literals: dict[int, int] = {}
        """The atoms of the literals of that grounding."""
        self._pairs: dict[int, tuple[Atom, int | None]] = {}

    def clingo(self) -> Clingo:
        is_tame = not self.kinds.has_decimals
        return Clingo(self.asked, is_tame=is_tame, observed=GroundRules())

    def answers(self, clingo: Clingo, time: int) -> AnswerSets:
        """The answer, mended for the rules that have come and gone."""
        rules, before = self._rules, self._held
        is_new = clingo is not self._grounded
        if is_new:
            self._grounded = clingo
            rules = dict.fromkeys(self._justified(clingo))
        held = {Justification(self._literals[one]): None for one in sorted(clingo.true)}
        # What windows hold comes first: a rule that has its reasons at once changes no label.
        came = [rule for rule in held if rule not in before]
        went = [rule for rule in before if rule not in held]
        if is_new:
            came += [rule for rule in rules if rule not in self._rules]
            went += [rule for rule in self._rules if rule not in rules]
        self._rules, self._held = rules, held
        try:
            self.jtms.change(came, went)
        except Unsettled as error:
            self._begin()
            loop = f": {self.odd[0]} depends on itself through `not`" if self.odd else ""
            raise NotServed(f"truth maintenance found no answer{loop}") from error
        return AnswerSets(time, (self._model(time),))

    def _justified(self, clingo: Clingo) -> Iterator[Justification]:
        """The ground rules; facts that nobody is shown are left out, for no rule asks for them."""
        assert clingo.observed is not None
        if self._encoding is not self.encoding:
            self._encoding, self._pairs = self.encoding, {}
            self._shown = {number for number, one in self._symbols.items() if self._shows(one)}
        if len(self._symbols) > 1000 + 2 * len(self.jtms.label):
            self._forget()
        atoms = clingo.control.symbolic_atoms
        self._literals = {atom.literal: self._number(atom.symbol) for atom in atoms}
        rules = clingo.observed.rules
        # Conditions on all points of a window have atoms of their own, which stand for these.
        parts = {head: body for head, body in rules if head not in self._literals}
        for head, body in sorted(rules, key=lambda rule: len(rule[1]) > 0):
            number = self._literals.get(head)
            if number is None or not (body or number in self._shown):
                continue
            whole = [one for part in body for one in parts.get(part, (part,))]
            positive = tuple(self._literals[one] for one in whole if one > 0)
            yield Justification(
                number, positive, tuple(self._literals[-one] for one in whole if one < 0)
            )

    def _shows(self, symbol: Symbol) -> bool:
        return f"{symbol.name}/{len(symbol.arguments)}" in self.encoding.shown

    def _number(self, symbol: Symbol) -> int:
        code = getattr(symbol, "_rep", symbol)  # by the symbol, every lookup would call its library
        found = self._numbers.get(code)
        if found is None:
            found = self._numbers[code] = self._last_number = self._last_number + 1
            self._symbols[found] = symbol
            if self._shows(symbol):
                self._shown.add(found)
        return found

    def _forget(self) -> None:
        """Forget atoms that no rule speaks of any more."""
        known = self.jtms.label
        self._numbers = {code: number for code, number in self._numbers.items() if number in known}
        self._symbols = {number: one for number, one in self._symbols.items() if number in known}
        self._pairs = {number: one for number, one in self._pairs.items() if number in known}
        self._shown.intersection_update(known)

    def _model(self, time: int) -> Model:
        """The answer stream that the labels say."""
        now: list[Atom] = []
        elsewhere: list[tuple[int, Atom]] = []
        for number in self._shown & self.jtms.members:
            if number not in self._pairs:
                self._pairs[number] = pair_of(self._symbols[number], self.encoding)
            atom, moment = self._pairs[number]
            if moment is None or moment == time:
                now.append(atom)
            else:
                elsewhere.append((moment, atom))
        return Model(time, frozenset(now), frozenset(elsewhere))


def _why_not_normal(rule: PlainRule) -> str | None:
    """What a rule has that truth maintenance cannot do."""
    if isinstance(rule.head, Choosing):
        return "a choice"
    if len(rule.head) != 1:
        return "a disjunction" if rule.head else "a constraint"
    has_aggregate = any(isinstance(one.element, Total) for one in rule.body)
    return "an aggregate" if has_aggregate else None
