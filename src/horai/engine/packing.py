"""Plain values, arrays and terms as bytes that cannot do anything when they are read.

A line says what it is and carries a checksum; a line of JSON follows, and after it the arrays, one
behind the other, each in as few bytes as its values need. In the JSON an array is its place among
them, and a term its place in a table in which compound terms name their parts by place, so that
depth is no matter. The table has only terms that are used: a session that met a million values and
needs ten saves ten.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from horai.engine.columns import Column
from horai.engine.rows import Rows
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var, children
from horai.lang.ec.errors import EngineError
from horai.temporal.spans import Ints

Json = Any
Data = npt.NDArray[Any]
NOT_YET = np.int64(-2)  # as a code: no term has it
SAME = "same"  # as a type: all rows are equal, and one is stored
_NARROW = (np.int8, np.int16, np.int32)
_TERMS = (Constant, Int, Float, Str, Var, Compound, ListTerm)
_TYPES = {"int64", "float64", "bool", "int8", "uint8"}
_STORED = _TYPES | {"int16", "int32"}
# Rows that are all equal are stored as one. Some column tells rows apart, so that what a state
# grows to has a measure in its own size; a few forged bytes must not ask for all memory there is.
_GROWS = 1024
_SMALL = 1 << 26


class Unreadable(ValueError):
    """Bytes that are not what was packed."""


class NotRestored(EngineError):
    """Saved bytes that this session cannot take up."""


# Whatever is wrong inside of bytes shows as one of these, those of Arrow included.
_WRONG_INSIDE = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(OSError, RecursionError, MemoryError, OverflowError),
)


@contextmanager
def readable() -> Iterator[None]:
    """Whatever is wrong inside of bytes, in words."""
    try:
        yield
    except _WRONG_INSIDE as error:
        said = str(error) if isinstance(error, Unreadable) else "something in the bytes is wrong"
        raise NotRestored(
            f"this is no saved session that can be read: {said}; "
            "give exactly what save() returned, from the same version of Horai"
        ) from error


class Packer:
    """Collects arrays and terms while values are turned into JSON."""

    def __init__(self, symbols: Symbols) -> None:
        self._symbols = symbols
        self._arrays: list[memoryview] = []
        self._types: list[tuple[str, int, str]] = []  # what it is, its size, and how it is stored
        self._terms: list[Json] = []
        self._places: dict[Term | str, int] = {}  # atoms by their names, which hash fast
        self._kept = symbols.kept()
        self._codes = np.full(len(self._kept), NOT_YET)

    def value(self, value: object) -> Json:
        """Anything as JSON."""
        match value:
            case None | bool() | int() | str():
                return value
            case np.integer():
                return int(value)
            case np.ndarray():
                return {"array": self._array(value)}
            case bytes():
                return {"bytes": self._array(np.frombuffer(value, np.uint8))}
            case Column(kind="term", data=data):
                return {"column": ["term", self._array(self._coded(data))]}
            case Column(kind=kind, data=data):
                return {"column": [kind, self._array(data)]}
            case Rows(numbers=numbers, terms=terms):
                return {"rows": [self.value(numbers), [self.value(one) for one in terms]]}
            case list():
                return [self.value(part) for part in value]
            case dict():
                return {"dict": [[self.value(k), self.value(v)] for k, v in value.items()]}
        if type(value) is tuple:
            return {"tuple": [self.value(part) for part in value]}
        if isinstance(value, _TERMS):
            return {"term": self._term(value)}
        raise TypeError(f"{type(value).__name__} is no plain value")

    def bytes(self, name: str, value: object) -> bytes:
        """A value with all it needs; `name` is what the bytes are called."""
        plain = self.value(value)
        header = {"terms": self._terms, "arrays": self._types, "value": plain}
        line = json.dumps(header, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        check = hashlib.sha256(line)
        for array in self._arrays:
            check.update(array)
        return b"".join([f"{name} {check.hexdigest()}\n".encode(), line, *self._arrays])

    def _array(self, data: np.ndarray[Any, Any]) -> int:
        assert data.dtype.name in _TYPES, data.dtype
        stored, array = narrowed(data)
        self._types.append((data.dtype.name, len(data), stored))
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        self._arrays.append(little.view(np.uint8).data)
        return len(self._arrays) - 1

    def _coded(self, codes: Ints) -> Ints:
        """The codes with places in the saved table instead of those in the symbols."""
        new = len(self._symbols) - len(self._codes)
        if new:  # met while values were taken apart
            self._kept += self._symbols.kept(len(self._kept))
            self._codes = np.concatenate([self._codes, np.full(new, NOT_YET)])
        return recoded(codes, self._codes, self._code)

    def _code(self, places: list[int]) -> Iterator[int]:
        for place in places:
            kept = self._kept[place]
            yield 2 * (self._atom(kept) if isinstance(kept, str) else self._term(kept))

    def _atom(self, name: str) -> int:
        """The place of an atom in the table."""
        found = self._places.get(name)
        if found is None:
            found = self._places[name] = len(self._terms)
            self._terms.append(name)
        return found

    def _term(self, term: Term) -> int:
        """The place of a term in the table; its parts come before it."""
        stack = [term]
        while stack:
            missing = [part for part in children(stack[-1]) if _known_as(part) not in self._places]
            if missing:
                stack.extend(missing)
                continue
            top = stack.pop()
            if _known_as(top) not in self._places:
                self._places[_known_as(top)] = len(self._terms)
                self._terms.append(self._entry(top))
        return self._places[_known_as(term)]

    def _entry(self, term: Term) -> Json:
        """Atoms, which are most of them, as text; all others as lists."""
        match term:
            case Constant(name=name):
                return name
            case Int(value=whole):
                return ["i", hex(whole)]  # Python refuses to read decimals of thousands of digits
            case Float(value=real):
                return ["f", real.hex()]
            case Str(value=text):
                return ["s", text]
            case Var(name=name):
                return ["v", name]
            case Compound(name=name, args=args):
                return ["c", name, *(self._places[_known_as(arg)] for arg in args)]
            case ListTerm(items=items, tail=tail):
                last = None if tail is None else self._places[_known_as(tail)]
                return ["l", last, *(self._places[_known_as(item)] for item in items)]


def _known_as(term: Term) -> Term | str:
    return term.name if isinstance(term, Constant) else term


class Unpacker:
    """Turns packed bytes back into values; terms get the codes of the symbols given."""

    def __init__(self, name: str, packed: bytes, symbols: Symbols) -> None:
        self._symbols = symbols
        first = packed.find(b"\n") + 1
        second = packed.find(b"\n", first) + 1
        self._packed, whole = packed, memoryview(packed)
        if packed[:first] != f"{name} {hashlib.sha256(whole[first:]).hexdigest()}\n".encode():
            known = packed.startswith(f"{name} ".encode())
            raise Unreadable("the bytes are damaged" if known else "the bytes are something else")
        self._header = json.loads(packed[first:second])
        self._terms = self._read_terms(self._header["terms"])
        self._codes = np.full(len(self._terms), NOT_YET)
        self._places: list[tuple[np.dtype[Any], int, int]] = []  # what is stored, how many, where
        for kind, size, stored in self._header["arrays"]:
            self._places.append(_stored(kind, size, stored, second))
            second += self._places[-1][0].itemsize * self._places[-1][1]
        self._room = _SMALL + _GROWS * len(packed)

    def whole(self) -> Any:
        """What was packed."""
        return self._value(self._header["value"])

    def _value(self, plain: Json) -> Any:
        match plain:
            case list():
                return [self._value(part) for part in plain]
            case {"array": place}:
                return self._array(place)
            case {"bytes": place}:
                return self._array(place).tobytes()
            case {"column": ["term", place]}:
                return Column("term", self._coded(self._array(place)))
            case {"column": ["int" | "float" as kind, place]}:
                return Column(kind, self._array(place))
            case {"tuple": parts}:
                return tuple(self._value(part) for part in parts)
            case {"dict": pairs}:
                return {self._value(key): self._value(value) for key, value in pairs}
            case {"term": place}:
                return self._terms[place]
            case {"rows": [numbers, terms]}:
                return _rows(self._value(numbers), tuple(map(self._value, terms)))
            case None | bool() | int() | str():
                return plain
        raise Unreadable(f"there is no value {plain!r:.40}")

    def _array(self, place: int) -> np.ndarray[Any, Any]:
        kind, size, _ = self._header["arrays"][place]
        self._room -= size * np.dtype(kind).itemsize
        if self._room < 0:
            raise Unreadable("its arrays would be far larger than what is stored of them")
        return widened(np.frombuffer(self._packed, *self._places[place]), kind, size)

    def _coded(self, codes: Ints) -> Ints:
        return recoded(codes, self._codes, self._code)

    def _code(self, places: list[int]) -> Ints:
        terms = [self._terms[place] for place in places]
        names = [term.name for term in terms if isinstance(term, Constant)]
        if len(names) == len(terms):
            return self._symbols.atoms(names)
        return self._symbols.codes(terms)

    def _read_terms(self, entries: list[Json]) -> list[Term]:
        found: list[Term] = []
        for entry in entries:
            match entry:
                case str():
                    found.append(Constant(entry))
                case ["i", digits]:
                    found.append(Int(int(digits, 16)))
                case ["f", digits]:
                    found.append(Float(float.fromhex(digits)))
                case ["s", text]:
                    found.append(Str(text))
                case ["v", name]:
                    found.append(Var(name))
                case ["c", name, *args]:
                    found.append(Compound(name, tuple(found[place] for place in args)))
                case ["l", tail, *items]:
                    last = None if tail is None else found[tail]
                    found.append(ListTerm(tuple(found[place] for place in items), last))
                case _:
                    raise Unreadable(f"there is no term {entry!r:.40}")
        return found


def _stored(kind: str, size: int, stored: str, first: int) -> tuple[np.dtype[Any], int, int]:
    """How an array lies in the bytes from a place on."""
    if kind not in _TYPES or size < 0 or stored not in _STORED | {SAME}:
        raise Unreadable(f"there is no array of {size} {kind} as {stored}")
    one = stored == SAME
    return np.dtype(kind if one else stored).newbyteorder("<"), 1 if one else size, first


def _rows(numbers: dict[str, Ints], terms: tuple[Column, ...]) -> Rows:
    lengths = {len(data) for data in (*numbers.values(), *(term.data for term in terms))}
    if len(lengths) != 1 or any(data.dtype != np.int64 for data in numbers.values()):
        raise Unreadable("its parts do not fit together")
    return Rows(numbers, terms)


def recoded(codes: Ints, known: Ints, code: Callable[[list[int]], Iterable[int]]) -> Ints:
    """Codes with those of terms changed: `known` has the new ones by place, as far as they are.

    Those of integers say what they are, and stay.
    """
    terms = np.flatnonzero((codes & 1) == 0)
    if not len(terms):
        return codes
    places = codes[terms] >> 1
    if places.min() < 0 or places.max() >= len(known):
        raise Unreadable("there is a code that no term has")
    is_new = np.zeros(len(known), np.bool_)
    is_new[places] = known[places] == NOT_YET
    new = np.flatnonzero(is_new)
    known[new] = np.fromiter(code(new.tolist()), np.int64, len(new))
    found = codes.copy()
    found[terms] = known[places]
    return found


def narrowed(data: Data) -> tuple[str, Data]:
    """An array in as few bytes as its values need, and what it is stored as."""
    name = data.dtype.name
    if name != "int64" or not len(data):
        return name, data
    least, most = int(data.min()), int(data.max())
    if least == most:
        return SAME, data[:1]
    for narrow in _NARROW:
        kept = np.iinfo(narrow)
        if kept.min <= least and most <= kept.max:
            return kept.dtype.name, data.astype(narrow)
    return name, data


def widened(stored: Data, kind: str, size: int) -> Data:
    """The array that was narrowed, in memory of its own: compiled sweeps know no other kind."""
    if len(stored) == size:
        return stored.astype(kind)
    return np.full(size, stored[0], kind)
