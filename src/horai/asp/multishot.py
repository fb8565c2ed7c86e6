"""Grounding that is kept: windows are externals, and only their truth changes from time to time.

An atom of a window that was never seen may need rules that are not ground yet. Where background
facts guard all its variables, all atoms that matter are known beforehand. Otherwise clingo starts
anew with all atoms seen so far, once no new ones have come for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from clingo import Symbol

from horai.asp.answers import Answers
from horai.asp.encoding import Encoding
from horai.asp.plain import Ordinary, PlainProgram, PlainRule
from horai.asp.sizes import most_instances
from horai.asp.solving import Asked, Clingo
from horai.asp.views import Row, ViewKey
from horai.lang.lars.predicates import is_computed
from horai.lang.lars.syntax import Atom, Predicate
from horai.lang.terms import is_anonymous, variables

Rows = Mapping[ViewKey, Set[Row]]
ToSymbol = Callable[[ViewKey, Row], Symbol]
PATIENCE = 2
"""How many times in a row without new atoms make it likely that the grounding can be kept."""


MOST_RULES = 40_000
"""Solving has its cost even where windows are empty; larger groundings are not worth keeping."""
LATER = 1_000
"""After so many questions it is tried even if the grounding may be too large to keep."""
MOST_IDLE = 256
"""How many atoms of windows may be known without being true before they are forgotten."""


class MultiShot:
    """A clingo that lives on between questions."""

    def __init__(
        self, program: PlainProgram, encoding: Encoding, asked: Asked, patience: int = PATIENCE
    ) -> None:
        self.encoding = encoding
        self.asked = asked
        self.patience = patience
        fixed = program.background - encoding.signalled
        self.guards = {key: _guards(encoding, fixed, key) for key in encoding.views}
        self.open = [key for key, guards in self.guards.items() if guards is None]
        self.seen: dict[ViewKey, set[Row]] = {key: set() for key in self.open}
        self.quiet = 0 if self.open else patience
        self.clingo: Clingo | None = None
        self.literals: dict[tuple[ViewKey, Row], int | None] = {}
        self.true: dict[ViewKey, set[Row]] = {}
        # To find out costs as much as dozens of answers; it is put off until that is little.
        self.waits = LATER if patience and most_instances(program) > MOST_RULES else 0
        self.is_too_large = False

    def answers(self, time: int, rows: Rows, symbol: ToSymbol) -> Answers | None:
        """The answers for what windows hold; None when it is better to ask a fresh clingo."""
        if self.is_too_large:
            return None
        new = self._learn(rows)
        if self.waits:
            self.waits -= 1
            return None
        if new:
            self.clingo = None
            self.quiet = 0
        else:
            self.quiet += 1
        is_new = self.clingo is None
        if self.clingo is None:
            if self.quiet < self.patience:
                return None
            self.clingo = self._ground(rows, symbol)
        self._assign(self.clingo, rows, symbol)
        found = self.clingo.answers(self.encoding, time)
        # Asking clingo for its statistics costs more than asking for an answer: once is enough.
        if is_new and self.patience and self.clingo.rules() > MOST_RULES:
            self.is_too_large = True
            self.clingo = None
        return found

    def _learn(self, rows: Rows) -> bool:
        """Take note of atoms that are new; True if there are any."""
        found = False
        for key in self.open:
            if not rows[key] <= self.seen[key]:
                self.seen[key] |= rows[key]
                found = True
        return found

    def _ground(self, rows: Rows, symbol: ToSymbol) -> Clingo:
        """A clingo with an external for every atom of a window that may come to matter."""
        self.literals = {}
        self.true = {key: set() for key in self.encoding.views}
        lines: list[str] = []
        for key, guards in self.guards.items():
            if guards is not None:
                lines.extend(guards)
                continue
            if len(self.seen[key]) > MOST_IDLE + 4 * len(rows[key]):
                self.seen[key] = set(rows[key])
            lines.extend(f"#external {symbol(key, row)}." for row in self.seen[key])
        clingo = Clingo(self.asked, is_tame=not self.encoding.writer.has_decimals)
        clingo.ground("\n".join([self.encoding.text(), *lines]))
        return clingo

    def _assign(self, clingo: Clingo, rows: Rows, symbol: ToSymbol) -> None:
        """Make externals true and false, as far as they changed."""
        for key, now in rows.items():
            before = self.true[key]
            for changed, truth in ((now - before, True), (before - now, False)):
                for row in changed:
                    literal = self._literal(clingo, key, row, symbol)
                    if literal is not None:
                        clingo.control.assign_external(literal, truth)
            self.true[key] = set(now)

    def _literal(self, clingo: Clingo, key: ViewKey, row: Row, symbol: ToSymbol) -> int | None:
        """The external of a row; None for a row that no rule asks for."""
        place = (key, row)
        if place not in self.literals:
            atom = clingo.control.symbolic_atoms[symbol(key, row)]
            self.literals[place] = None if atom is None else atom.literal
        return self.literals[place]


def _guards(encoding: Encoding, fixed: Set[Predicate], key: ViewKey) -> list[str] | None:
    """Externals for all atoms that rules may ask for; None if background facts do not tell them."""
    found: list[str] = []
    for rule, atom in encoding.occurrences[key]:
        guards = _background(rule, fixed)
        guarded = {name for guard in guards for arg in guard.args for name in variables(arg)}
        asked = {name: var for arg in atom.args for name, var in variables(arg).items()}
        if not asked.keys() <= guarded or any(is_anonymous(var) for var in asked.values()):
            return None
        condition = ", ".join(encoding.writer.atom(guard) for guard in guards)
        external = encoding.writer.applied(encoding.views[key], atom.args)
        found.append(f"#external {external} : {condition}." if guards else f"#external {external}.")
    return found


def _background(rule: PlainRule, fixed: Set[Predicate]) -> list[Atom]:
    """Conditions on facts that give all their variables values, which expressions do not."""
    return [
        condition.element.atom
        for condition in rule.body
        if isinstance(condition.element, Ordinary)
        and not condition.negated
        and condition.element.atom.predicate in fixed
        and not any(map(is_computed, condition.element.atom.args))
    ]
