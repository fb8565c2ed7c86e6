"""Terms as 64-bit words that tell what they are, so that the machine needs no types.

| last bits | what the rest is |
|---|---|
| 1 | a whole number |
| 10 | a decimal, turned by three bits; Ruby's flonum: all decimals from 1e-77 to 1e77, exactly |
| 00 | the place of any other term in the table of symbols |

Equal terms have equal words, and no others have.
"""

from __future__ import annotations

from collections.abc import Container
from math import inf
from struct import Struct

import numpy as np

from horai.engine.columns import Column, codes, floats, ints
from horai.engine.symbols import LARGEST, Symbols
from horai.lang.core.arithmetic import CONSTANTS, number_term
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    Term,
    children,
    substitute,
    variables,
)
from horai.plan.ec.instructions import BEYOND, FORM
from horai.temporal.spans import Ints

ZERO = -(1 << 63) + 2
SMALL = 0x3000000000000000
FORM_OF = "\0form"
"""The name of terms that stand for all values of the form they hold."""
_VAST = 1 << 1000  # a double still holds it, and no time is as far
BELOW_ALL = number_term(-inf)
_ALL = (1 << 64) - 1
_DECIMAL, _UNSIGNED = Struct("<d"), Struct("<Q")
_ZERO = np.uint64(0x8000000000000002)
_SMALL = np.uint64(SMALL)
_REST = np.uint64(0xFFFFFFFFFFFFFFFC)
_3, _60, _61, _63, _7, _2, _4 = (np.uint64(n) for n in (3, 60, 61, 63, 7, 2, 4))


def words_of_decimals(data: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[Ints, Ints]:
    """The words of decimals, and the places of those that no word holds."""
    bits = np.ascontiguousarray(data, np.float64).view(np.uint64)
    top = (bits >> _60) & _7
    fits = ((top == _3) | (top == _4)) & (bits != _SMALL)
    turned = (((bits << _3) | (bits >> _61)) & _REST) | _2
    zero = data == 0.0
    found = np.where(zero, _ZERO, turned).view(np.int64)
    return found, np.flatnonzero(~fits & ~zero)


def word_of_decimal(value: float) -> int | None:
    """The word of a decimal, if one holds it."""
    if value == 0.0:
        return ZERO
    bits: int = _UNSIGNED.unpack(_DECIMAL.pack(value))[0]
    if (bits >> 60) & 7 not in (3, 4) or bits == SMALL:
        return None
    turned = ((bits << 3 | bits >> 61) & _ALL & ~3) | 2
    return turned - (1 << 64) if turned >> 63 else turned


def decimals_of_words(words: Ints) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The decimals that words of decimals hold."""
    bits = np.ascontiguousarray(words, np.int64).view(np.uint64)
    turned = (_2 - (bits >> _63)) | (bits & _REST)
    back = (turned >> _3) | (turned << _61)
    return np.where(bits == _ZERO, np.uint64(0), back).view(np.float64)


def decimal_of_word(word: int) -> float:
    """The decimal that the word of a decimal holds."""
    if word == ZERO:
        return 0.0
    turned = (2 - (word >> 63 & 1)) | (word & _ALL & ~3)
    found: float = _DECIMAL.unpack(_UNSIGNED.pack((turned >> 3 | turned << 61) & _ALL))[0]
    return found


def form_of(value: Term, known: Container[str]) -> Term:
    """A term for all values of a form; what it leaves open are constants that no rule can name."""
    marked = {name: Constant(f"\0{name}") for name in variables(value) if name not in known}
    return Compound(FORM_OF, (substitute(value, marked),))


def is_of_form(form: Term, value: Term) -> bool:
    """Is a value of the form that such a term stands for?"""
    assert isinstance(form, Compound)
    return _fits(form.args[0], value, {})


def _fits(form: Term, value: Term, found: dict[str, Term]) -> bool:
    if isinstance(form, Constant) and form.name.startswith("\0"):
        return found.setdefault(form.name, value) == value
    inside, mine = children(form), children(value)
    if not inside:
        return form == value
    alike = type(form) is type(value) and len(inside) == len(mine)
    alike = alike and getattr(form, "name", None) == getattr(value, "name", None)
    return alike and all(_fits(*pair, found) for pair in zip(inside, mine, strict=True))


class Words:
    """The words of the terms of a session."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._known = np.empty(0, np.int64)  # the words of symbols by their place
        self._told = 0

    def word(self, term: Term) -> int:
        """The word of a ground term."""
        match term:
            case Int(value=value) if -LARGEST < value < LARGEST:
                return 2 * value + 1
            case Float(value=value):
                found = word_of_decimal(value)
                if found is not None:
                    return found
        return 2 * self.symbols.code(term)

    def term(self, word: int) -> Term:
        """The term of a word."""
        if word & 1:
            return Int(word >> 1)
        if word & 2:
            return Float(decimal_of_word(word))
        return self.symbols.term(word // 2)

    def of_column(self, column: Column) -> Ints:
        """The words of the rows of a column."""
        if column.kind == "int":
            data: Ints = column.data
            if len(data) and (data.max() >= LARGEST or data.min() <= -LARGEST):
                return np.array([self.word(Int(value)) for value in data.tolist()], np.int64)
            return data * 2 + 1
        if column.kind == "float":
            found, odd = words_of_decimals(column.data)
            for place in odd.tolist():
                found[place] = 2 * self.symbols.code(Float(float(column.data[place])))
            return found
        data = column.data
        whole = (data & 1).astype(np.bool_)
        places = np.where(whole, 0, data >> 1)
        table = self._words_by_place()
        if not len(table):
            return data
        found = table[places]
        return np.where(whole, data, found)

    @property
    def has_new(self) -> bool:
        """Are there symbols that `numbers` has not told of?"""
        return len(self.symbols) > self._told

    def column(self, words: Ints, own: bool = False) -> Column:
        """Words as a column of the narrowest kind; `own` ones may become it."""
        if not len(words):
            return codes(words)
        out = words if own else None
        if np.bitwise_and.reduce(words) & 1:
            return ints(np.right_shift(words, 1, out=out))
        if not np.bitwise_or.reduce(words) & 3:
            return codes(np.right_shift(words, 1, out=out))
        decimal = (words & 3) == 2
        if decimal.all():
            return floats(decimals_of_words(words))
        data = np.where(words & 1, words, words >> 1)
        if decimal.any():
            values = decimals_of_words(words[decimal])
            data[decimal] = [self.symbols.code(Float(value)) for value in values.tolist()]
        return codes(data)

    def tell_again(self) -> None:
        """Somebody else wants to be told of all symbols."""
        self._told = 0

    def numbers(self) -> tuple[Ints, np.ndarray[tuple[int], np.dtype[np.float64]]]:
        """Which of the symbols that are new are numbers: 1 a decimal, or a large whole number."""
        new = self.symbols.kept(self._told)
        self._told += len(new)
        kinds, values = np.zeros(len(new), np.int64), np.zeros(len(new))
        for place, term in enumerate(new):
            match term:
                case str() | Constant():
                    name = term if isinstance(term, str) else term.name
                    if name in CONSTANTS:
                        kinds[place], values[place] = 1, CONSTANTS[name]
                case Float(value=value):
                    kinds[place], values[place] = 1, value
                case Compound(name=name) if name == FORM_OF:
                    kinds[place] = FORM
                case Compound() if term == BELOW_ALL:
                    kinds[place], values[place] = 1, -inf
                case Int(value=value):
                    kinds[place] = BEYOND
                    values[place] = max(-_VAST, min(_VAST, value))
        return kinds, values

    def _words_by_place(self) -> Ints:
        known = len(self._known)
        if known < len(self.symbols):
            new = self.symbols.kept(known)
            more = 4 * np.arange(known, known + len(new), dtype=np.int64)
            for place, term in enumerate(new):
                found = word_of_decimal(term.value) if isinstance(term, Float) else None
                if found is not None:
                    more[place] = found
            self._known = np.concatenate([self._known, more])
        return self._known
