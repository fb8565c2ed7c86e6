"""Terms as plain Python values and as source text, one by one and as typed columns.

An atom is a `str`, an integer an `int`, a decimal a `float`; anything else (a compound term, a
list) is `TermText`, its source text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class TermText(str):
    """Source text of a term that is no atom and no number, such as `close(c,m)`.

    It differs from the atom with the same letters, which is a plain `str`:

    >>> TermText("f(x)") == TermText("f(x)"), TermText("f(x)") == "f(x)"
    (True, False)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TermText) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((TermText, str(self)))

    def __repr__(self) -> str:
        return f"TermText({str.__repr__(self)})"


Term = str | int | float | TermText

BLANKS = " \t"
# Python refuses to read longer integers, as a guard against slow input.
MAX_DIGITS = 4300
INTEGER = re.compile(f"-?[0-9]{{1,{MAX_DIGITS}}}")
DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
# With such a letter first a spreadsheet works a cell out, unless there is a quote before it.
FORMULA = re.compile(r"[=+\-@\t\r]|'[=+\-@\t\r']")
GUARDED = re.compile(r"'[=+\-@\t\r']")

# A dot alone would end a clause, and `/*` opens a comment; so these are quoted.
BARE_ATOM = re.compile(r"[a-z][A-Za-z0-9_]*|(?!\.$)(?!/\*)[-+*/\\^<>=~:.?@#&$]+")
QUOTED_ATOM = re.compile(r"'(?:[^'\\]|''|\\x[0-9a-f]+\\|\\[^x])*'")
ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
UNESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
UNESCAPE = re.compile(r"''|\\x([0-9a-f]+)\\|\\(.)", re.DOTALL)
FLOAT_SOURCE = re.compile(r"-?[0-9]+\.[0-9]+(?:e[-+]?[0-9]+)?")


def read_field(text: str) -> Term:
    """The term a narrative or CSV field stands for: a plain number, or else an atom.

    >>> [read_field(t) for t in ("12", "-3.5", "1e3", "+5", ".5", "New York", "-", "'=a")]
    [12, -3.5, '1e3', '+5', '.5', 'New York', '-', '=a']
    """
    if INTEGER.fullmatch(text):
        return int(text)
    if DECIMAL.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text[1:] if GUARDED.match(text) else text


def text_cell(text: str) -> str:
    """A text as a cell of CSV: spreadsheets would take some for formulas, and work them out.

    >>> [text_cell(text) for text in ("true", "=1+2", "-", "it's", "'-")]
    ['true', "'=1+2", "'-", "it's", "''-"]
    """
    return f"'{text}" if FORMULA.match(text) else text


def quote_atom(text: str) -> str:
    """The source text of an atom, in quotes where Prolog needs them.

    >>> [quote_atom(t) for t in ("chris", "-", "New York", "12", "Bob", "it's")]
    ['chris', '-', "'New York'", "'12'", "'Bob'", "'it\\\\'s'"]
    """
    if BARE_ATOM.fullmatch(text):
        return text
    return "'" + "".join(map(_escape, text)) + "'"


def _escape(char: str) -> str:
    if char in ESCAPES:
        return ESCAPES[char]
    return char if char.isprintable() or ord(char) > 127 else f"\\x{ord(char):x}\\"


def float_source(number: float) -> str:
    """A float as Prolog writes it: always with a dot.

    >>> float_source(3.0), float_source(1e22)
    ('3.0', '1.0e+22')
    """
    text = repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def to_source(term: Term) -> str:
    """The Prolog source text of a term."""
    if isinstance(term, TermText):
        return str(term)
    if isinstance(term, str):
        return quote_atom(term)
    return float_source(term) if isinstance(term, float) else str(term)


def from_source(text: str) -> Term:
    """The term that `to_source` wrote.

    >>> from_source("'New York'"), from_source("3.0"), from_source("f(x)")
    ('New York', 3.0, TermText('f(x)'))
    """
    if BARE_ATOM.fullmatch(text):
        return text
    if INTEGER.fullmatch(text):
        return int(text)
    if FLOAT_SOURCE.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    if QUOTED_ATOM.fullmatch(text):
        return UNESCAPE.sub(_unescape, text[1:-1])
    return TermText(text)


def _unescape(match: re.Match[str]) -> str:
    code, char = match.groups()
    if code:
        point = int(code, 16)
        legal = point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF
        return chr(point) if legal else match[0]
    return "'" if char is None else UNESCAPES.get(char, char)


TermKind = Literal["int", "float", "atom", "term"]
SYMBOLS = pa.dictionary(pa.int32(), pa.string())
META = b"horai.type"

# Numbers, and texts with a quote before what spreadsheets would work out; all else is an atom.
NO_PLAIN_ATOM = r"^[ \t]*(-?[0-9]+(\.[0-9]+)?[ \t]*$|'[-=+@\t\r'])"
BARE = r"^[a-z][A-Za-z0-9_]*$"


class TermColumn(NamedTuple):
    kind: TermKind
    array: pa.Array

    def field(self, name: str) -> pa.Field:
        """The column's Arrow field, which carries its kind."""
        return pa.field(name, self.array.type, nullable=False, metadata={META: self.kind.encode()})

    def take(self, rows: pa.Array) -> TermColumn:
        return TermColumn(self.kind, self.array.take(rows))


def _bounds(column: pa.Array) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Where the rows of a string column begin and end in its buffer of letters."""
    offsets: np.ndarray[Any, np.dtype[np.int32]]
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int32)
    return offsets[column.offset : column.offset + len(column) + 1]


def text_bytes(column: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The letters of all rows of a string column, one after the other."""
    data = column.buffers()[2]
    if data is None or len(column) == 0:
        return np.zeros(0, dtype=np.uint8)
    bounds = _bounds(column)
    return np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]


def is_digits(column: pa.Array, *, dots: bool = False) -> bool:
    """True when all rows are made of digits and `-` only, and of `.` if dots are allowed."""
    letters = text_bytes(column)
    if len(letters) == 0:
        return True
    # Between `-` and `9` there are only `.`, `/` and the digits.
    if letters.min() < ord("-") or letters.max() > ord("9") or (letters == ord("/")).any():
        return False
    return dots or not (letters == ord(".")).any()


def from_text(column: pa.Array) -> TermColumn:
    """The terms that narrative or CSV fields stand for. `column` holds strings without nulls."""
    if is_digits(column):
        numbers = _cast(column, pa.int64())
        if numbers is not None:
            return TermColumn("int", numbers)
    elif is_digits(column, dots=True):
        numbers = _plain_decimals(column)
        if numbers is not None:
            return TermColumn("float", numbers)
    return _from_uniques(column.dictionary_encode())


def _cast(column: pa.Array, type_: pa.DataType) -> pa.Array | None:
    try:
        return column.cast(type_)
    except pa.ArrowInvalid:
        return None


def _plain_decimals(column: pa.Array) -> pa.Array | None:
    """The floats, if every row is digits, a dot, and digits again."""
    letters = text_bytes(column)
    # A number has at most one dot, so as many dots as rows means one in each.
    dots = np.flatnonzero(letters == ord("."))
    if len(dots) != len(column):
        return None
    numbers = _cast(column, pa.float64())
    if numbers is None or not pc.all(pc.is_finite(numbers)).as_py():
        return None
    bounds = _bounds(column) - _bounds(column)[0]
    has_sign = letters[bounds[:-1]] == ord("-")
    inside = (dots > bounds[:-1] + has_sign) & (dots < bounds[1:] - 1)
    return numbers if inside.all() else None


def _from_uniques(encoded: pa.DictionaryArray) -> TermColumn:
    """Classify each different text once. Columns of atoms need no Python loop at all."""
    texts = encoded.dictionary
    trimmed = pc.utf8_trim(texts, characters=" \t")
    if not pc.any(pc.match_substring_regex(texts, NO_PLAIN_ATOM)).as_py():
        return TermColumn("atom", _symbols(encoded.indices, trimmed))
    return from_uniques(encoded.indices, [read_field(t) for t in trimmed.to_pylist()])


def _symbols(indices: pa.Array, texts: pa.Array) -> pa.DictionaryArray:
    """A symbol column of `texts[indices]` whose dictionary repeats nothing."""
    unique = texts.dictionary_encode()
    codes = unique.indices.take(indices).cast(pa.int32())
    return pa.DictionaryArray.from_arrays(codes, unique.dictionary.cast(pa.string()))


def from_uniques(indices: pa.Array, terms: Sequence[Term]) -> TermColumn:
    """The column of `terms[indices]`, where every term is used."""
    kind = _common_kind(terms)
    if kind in ("int", "float"):
        type_ = pa.int64() if kind == "int" else pa.float64()
        return TermColumn(kind, pa.array(terms, type_).take(indices))
    texts = [str(t) for t in terms] if kind == "atom" else [to_source(t) for t in terms]
    return TermColumn(kind, _symbols(indices, pa.array(texts, pa.string())))


def _common_kind(terms: Sequence[Term]) -> TermKind:
    types = set(map(type, terms))
    if types == {str}:
        return "atom"
    if types == {float}:
        return "float"
    kinds = {_kind_of(term) for term in terms}
    return kinds.pop() if len(kinds) == 1 else "term"


def _kind_of(term: Term) -> TermKind:
    if isinstance(term, TermText):
        return "term"
    if isinstance(term, str):
        return "atom"
    if isinstance(term, float):
        return "float"
    return "int" if -(2**63) <= term < 2**63 else "term"


def from_terms(terms: Sequence[Term]) -> TermColumn:
    """A column of Python terms."""
    return from_uniques(pa.array(np.arange(len(terms), dtype=np.int32)), terms)


def from_arrow(column: pa.Array, *, is_source: bool = False) -> TermColumn:
    """The terms of a typed Arrow column without nulls; strings are atoms, or source text."""
    type_ = column.type
    if pa.types.is_floating(type_):
        return TermColumn("float", column.cast(pa.float64()))
    if pa.types.is_integer(type_):
        numbers = _cast(column, pa.int64())
        if numbers is not None:
            return TermColumn("int", numbers)
        return from_text(column.cast(pa.string()))
    # A dictionary may hold nulls, repetitions and words no row uses; so it is made anew.
    plain = column.dictionary_decode() if pa.types.is_dictionary(type_) else column
    symbols = plain.dictionary_encode()
    texts = symbols.dictionary.cast(pa.string())
    if is_source:
        return from_uniques(symbols.indices, [from_source(t) for t in texts.to_pylist()])
    return TermColumn("atom", _symbols(symbols.indices, texts))


def to_terms(column: TermColumn) -> list[Term]:
    """The rows as Python terms."""
    if column.kind in ("int", "float"):
        numbers: list[Term] = column.array.to_pylist()
        return numbers
    indices, terms = distinct(column)
    return [terms[code] for code in indices.to_numpy().tolist()]


def distinct(column: TermColumn) -> tuple[pa.Array, list[Term]]:
    """The different terms of a column, and for every row the place of its own among them."""
    if column.kind in ("atom", "term"):
        texts = column.array.dictionary.to_pylist()
        terms = [from_source(text) for text in texts] if column.kind == "term" else texts
        return column.array.indices, terms
    # Decimals are compared by their bits, as 0.0 and -0.0 are spelled differently.
    encoded = column.array.view(pa.int64()).dictionary_encode()
    return encoded.indices, encoded.dictionary.view(column.array.type).to_pylist()


def concat(columns: Sequence[TermColumn]) -> TermColumn:
    """One column after the other; columns of different kinds become a term column."""
    kinds = {column.kind for column in columns}
    kind: TermKind = kinds.pop() if len(kinds) == 1 else "term"
    arrays = [c.array if c.kind == kind else _as_source(c) for c in columns]
    if len(arrays) == 1:
        return TermColumn(kind, arrays[0])
    chunked = pa.chunked_array(arrays)
    if kind in ("atom", "term"):
        chunked = chunked.unify_dictionaries()
    return TermColumn(kind, pa.concat_arrays(chunked.chunks))


def _as_source(column: TermColumn) -> pa.DictionaryArray:
    """The same terms as source text."""
    if column.kind == "atom":
        texts = column.array.dictionary
        return pa.DictionaryArray.from_arrays(column.array.indices, _quote_atoms(texts))
    unique = column.array.dictionary_encode()
    if column.kind == "int":
        texts = unique.dictionary.cast(pa.string())
    else:
        texts = pa.array([float_source(x) for x in unique.dictionary.to_pylist()], pa.string())
    return pa.DictionaryArray.from_arrays(unique.indices, texts)


def _quote_atoms(texts: pa.Array) -> pa.Array:
    if pc.all(pc.match_substring_regex(texts, BARE)).as_py():
        return texts
    return pa.array([quote_atom(text) for text in texts.to_pylist()], pa.string())
