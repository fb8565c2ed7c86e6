"""Forms: terms with variables, and what is known of the terms that have them.

Windows overlap, so the same terms are taken apart and put together again and again. Each form
remembers by code what it found, and a column costs little more than a look at a table.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, ListTerm, Term, Var, substitute, variables
from horai.temporal.spans import Ints

Env = dict[str, Term]

MAX_FORMS = 1000  # rules have far fewer; whoever makes them up as he goes must not fill the memory
MAX_BUILT = 1_000_000

UNKNOWN, NO, YES = 0, 1, 2


class Form:
    """A term with variables."""

    def __init__(self, term: Term) -> None:
        self.term = term
        self.names = list(variables(term))
        self._state = np.zeros(0, np.int8)  # by the place of a term in the table of symbols
        self._parts = np.zeros((len(self.names), 0), np.int64)
        self._built: dict[tuple[int, ...], int] = {}
        self._places = self._flat()

    def _flat(self) -> list[int] | None:
        """Of `f(X,Y,X)` the places of its variables among the names; None for other forms."""
        if not isinstance(self.term, Compound):
            return None
        found = [self.names.index(a.name) for a in self.term.args if isinstance(a, Var)]
        return found if len(found) == len(self.term.args) else None

    def take_apart(self, codes: Ints, symbols: Symbols) -> tuple[Ints, list[Ints]]:
        """The rows that have the form, and in these the codes of each variable."""
        rows = np.flatnonzero((codes & 1) == 0)  # small integers have no parts
        places = codes[rows] >> 1
        self._learn(places, symbols)
        fitting = self._state[places] == YES
        return rows[fitting], list(self._parts[:, places[fitting]])

    def _learn(self, places: Ints, symbols: Symbols) -> None:
        if len(places) and places.max() >= len(self._state):
            more = 2 * len(symbols) - len(self._state)
            self._state = np.pad(self._state, (0, more))
            self._parts = np.pad(self._parts, ((0, 0), (0, more)))
        for place in np.unique(places[self._state[places] == UNKNOWN]).tolist():
            env: Env = {}
            fits = take_apart(self.term, symbols.term(2 * place), env)
            self._state[place] = YES if fits else NO
            if fits:
                self._parts[:, place] = [symbols.code(env[name]) for name in self.names]

    def put_together(self, parts: list[Ints], symbols: Symbols) -> Ints:
        """The codes of the terms whose variables have the given codes."""
        if len(self._built) > MAX_BUILT:
            self._built.clear()
        rows = list(zip(*(part.tolist() for part in parts), strict=True))
        new = [row for row in rows if row not in self._built]
        if new:
            self._built.update(zip(new, self._codes(new, symbols), strict=True))
        return np.fromiter(map(self._built.__getitem__, rows), np.int64, len(rows))

    def _codes(self, rows: list[tuple[int, ...]], symbols: Symbols) -> list[int]:
        """The codes of the terms whose variables have the codes of a row each."""
        parts = [list(map(symbols.term, column)) for column in zip(*rows, strict=True)]
        if self._places is not None and isinstance(self.term, Compound):
            name, args = self.term.name, zip(*(parts[at] for at in self._places), strict=True)
            return symbols.plain([Compound(name, some) for some in args])
        env = (dict(zip(self.names, some, strict=True)) for some in zip(*parts, strict=True))
        return [symbols.code(substitute(self.term, one)) for one in env]


_forms: WeakKeyDictionary[Symbols, dict[Term, Form]] = WeakKeyDictionary()


def form(term: Term, symbols: Symbols) -> Form:
    """What is known of a form among some symbols."""
    known = _forms.setdefault(symbols, {})
    if term not in known:
        if len(known) >= MAX_FORMS:
            known.clear()
        known[term] = Form(term)
    return known[term]


def take_apart(pattern: Term, term: Term, env: Env) -> bool:
    """Does a ground term have the form of a pattern? The environment learns what variables are."""
    match pattern:
        case Var(name=name):
            return env.setdefault(name, term) == term
        case Compound(name=name, args=args):
            return (
                isinstance(term, Compound)
                and term.name == name
                and len(term.args) == len(args)
                and all(take_apart(a, b, env) for a, b in zip(args, term.args, strict=True))
            )
        case ListTerm(items=items, tail=tail):
            return isinstance(term, ListTerm) and _take_list(items, tail, term, env)
        case _:
            return pattern == term


def _take_list(items: tuple[Term, ...], tail: Term | None, term: ListTerm, env: Env) -> bool:
    count = len(items)
    if len(term.items) < count:
        return False
    if not all(take_apart(a, b, env) for a, b in zip(items, term.items, strict=False)):
        return False
    rest: Term = ListTerm(term.items[count:], term.tail)
    if len(term.items) == count and term.tail is not None:
        rest = term.tail
    return rest == ListTerm(()) if tail is None else take_apart(tail, rest, env)
