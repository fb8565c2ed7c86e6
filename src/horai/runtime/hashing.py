"""A number for every term, the same in every process and for every way to store the term.

Equal terms have equal numbers. Others may share one: then they share a bucket, which does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.columns import Column
from horai.engine.symbols import Symbols
from horai.io.items.tables import whole_column
from horai.io.terms import META
from horai.lang.core.printer import show
from horai.lang.core.reader import read_term
from horai.lang.core.terms import Compound, Constant, Float, Int, Term

Hashes = npt.NDArray[np.uint64]
Path = tuple[int, ...]
_DECIMAL = np.uint64(0x9E3779B97F4A7C15)  # sets decimals apart from integers with the same bits
NOBODY = np.uint64(0)


def hash_column(column: Column, symbols: Symbols, inner: Path = ()) -> Hashes:
    """Numbers of the terms of a column of an engine, or of what stands at a place inside them."""
    if column.kind != "term":
        return _numbers(column.data, inner)
    if inner:
        codes, places = np.unique(column.data, return_inverse=True)
        return hash_terms([symbols.term(code) for code in codes.tolist()], inner)[places]
    found = _mixed((column.data >> 1).view(np.uint64))  # as if all were integers
    others = np.flatnonzero((column.data & 1) == 0)
    if len(others):
        found[others] = _of_symbols(symbols)[column.data[others] >> 1]
    return found


_known: WeakKeyDictionary[Symbols, Hashes] = WeakKeyDictionary()


def _of_symbols(symbols: Symbols) -> Hashes:
    """Numbers of all terms that a session has met, by place; each is worked out once."""
    known = _known.get(symbols)
    if known is None or len(known) < len(symbols):
        before = np.zeros(0, np.uint64) if known is None else known
        kept = symbols.kept(len(before))
        new = [_digest(term) if isinstance(term, str) else _number(term) for term in kept]
        known = _known[symbols] = np.concatenate([before, np.array(new, np.uint64)])
    return known


def hash_array(array: pa.Array, kind: bytes, inner: Path = ()) -> Hashes:
    """The same for a column of items; `kind` is that of its metadata."""
    if kind in (b"int", b"float"):
        return _numbers(array.to_numpy(zero_copy_only=False), inner)
    texts = array.dictionary.to_pylist()
    if kind == b"atom":
        words = np.fromiter(map(_digest, texts), np.uint64) if not inner else _nobody(len(texts))
    else:
        words = hash_terms([*map(read_term, texts)], inner)
    found: Hashes = words[array.indices.to_numpy(zero_copy_only=False)]
    return found


def hash_argument(table: pa.Table, path: Path) -> Hashes:
    """Numbers of what stands at a place in the arguments of a table of items."""
    name = f"a{path[0]}"
    column = table.column(name)
    return hash_array(whole_column(column), table.schema.field(name).metadata[META], path[1:])


def hash_rows(table: pa.Table, arity: int) -> Hashes:
    return combined([hash_argument(table, (place,)) for place in range(arity)], table.num_rows)


def combined(columns: Sequence[Hashes], rows: int) -> Hashes:
    """One number for the numbers of each row."""
    found = np.zeros(rows, np.uint64)
    for column in columns:
        found = _mixed(found ^ column)
    return found


def hash_terms(terms: Sequence[Term], inner: Path = ()) -> Hashes:
    """Numbers of terms, or of what stands at a place inside them."""
    return np.array([_number(_inside(term, inner)) for term in terms], np.uint64)


def _inside(term: Term | None, inner: Path) -> Term | None:
    for place in inner:
        if not isinstance(term, Compound) or place >= len(term.args):
            return None  # no rule asks for an entity of this shape
        term = term.args[place]
    return term


def _number(term: Term | None) -> int:
    match term:
        case None:
            return int(NOBODY)
        case Int(value=value):
            return int(_mixed(np.array([value % (1 << 64)], np.uint64))[0])
        case Float(value=real):
            return int(_numbers(np.array([real]), ())[0])
        case Constant(name=name):
            return _digest(name)
        case _:
            return _digest(f"({show(term)}")  # no atom of this number is likely


@lru_cache(maxsize=1 << 18)  # the same entities come again and again
def _digest(text: str) -> int:
    coded = text.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(coded, digest_size=8).digest(), "little")


def _numbers(data: npt.NDArray[Any], inner: Path) -> Hashes:
    if inner:
        return _nobody(len(data))
    if data.dtype.kind == "f":
        # There is one zero: -0.0 is equal to it.
        return _mixed((np.asarray(data, np.float64) + 0.0).view(np.uint64) ^ _DECIMAL)
    return _mixed(np.ascontiguousarray(data, np.int64).view(np.uint64))


def _nobody(rows: int) -> Hashes:
    return np.full(rows, NOBODY)


def _mixed(numbers: Hashes) -> Hashes:
    """Splitmix64: neighbours get far apart."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Hashes = x ^ (x >> np.uint64(31))
    return found
