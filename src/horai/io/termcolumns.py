"""Columns of terms, typed by what they contain.

| kind | array | what every row is |
|---|---|---|
| int | int64 | an integer |
| float | float64 | a decimal |
| atom | dictionary of strings | an atom, as it is |
| term | dictionary of strings | the Prolog source text of any term |

3 and 3.0 are different terms, so a column with both is a term column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .terms import Term, TermText, float_source, from_source, quote_atom, read_field, to_source

TermKind = Literal["int", "float", "atom", "term"]
SYMBOLS = pa.dictionary(pa.int32(), pa.string())
META = b"horai.type"

NUMBER_LIKE = r"^[ \t]*-?[0-9]+(\.[0-9]+)?[ \t]*$"
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
    if not pc.any(pc.match_substring_regex(texts, NUMBER_LIKE)).as_py():
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
