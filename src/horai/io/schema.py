"""The input schema of rules: the names, kinds and arities that they expect of the stream."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Format = Literal["narrative", "csv", "jsonl", "parquet", "arrow"]
Kind = Literal["event", "fluent"]
Form = Literal["any", "intervals", "points"]
RowForm = Literal["intervals", "points"]
MAX_REASONS = 10_000
PARTS = ("time", "start", "end", "arrival", "value", "op")
MEANT = "did you mean"


class InputType(NamedTuple):
    """An input event or fluent. `form` says how values of a fluent arrive; events are points."""

    name: str
    kind: Kind
    arity: int
    form: Form = "any"


class TableKey(NamedTuple):
    """The key of a table, which all of its rows have in common."""

    name: str
    arity: int
    kind: Kind
    form: RowForm

    @property
    def fields(self) -> int:
        """How many fields such a row has in a narrative."""
        return self.arity + (3 if self.kind == "event" else 5 if self.form == "intervals" else 4)

    @property
    def layout(self) -> str:
        """How such a row looks in a narrative.

        >>> TableKey("working", 1, "fluent", "intervals").layout
        'working|Arrival|Start|End|Value|Arg1'
        """
        times = ["Start", "End"] if self.form == "intervals" else ["Time"]
        value = ["Value"] if self.kind == "fluent" else []
        args = [f"Arg{i + 1}" for i in range(self.arity)]
        return "|".join([self.name, "Arrival", *times, *value, *args])


def row_keys(type_: InputType) -> list[TableKey]:
    """The kinds of row in which items of this type may arrive."""
    if type_.kind == "event":
        return [TableKey(type_.name, type_.arity, "event", "points")]
    forms: list[RowForm] = ["intervals", "points"] if type_.form == "any" else [type_.form]
    return [TableKey(type_.name, type_.arity, "fluent", form) for form in forms]


class TypeColumns(NamedTuple):
    """The columns of a type of rows: those that play a part, and those of the arguments."""

    parts: Mapping[str, str]
    args: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.parts.values(), *self.args)

    @classmethod
    def of(cls, given: Iterable[str]) -> TypeColumns:
        """The columns of a list in which `time:when` says that the time is called when.

        >>> TypeColumns.of(["time:when", "vessel", "knots"])
        TypeColumns(parts={'time': 'when'}, args=('vessel', 'knots'))
        """
        parts, args = {}, []
        for name in given:
            part, sign, column = name.partition(":")
            if sign and part.strip() in PARTS:
                parts[part.strip()] = column.strip()
            else:
                args.append(name.strip())
        return cls(parts, tuple(args))


@dataclass(frozen=True)
class InputSchema:
    """The input types by name, and the names the rules derive themselves."""

    types: Mapping[str, Sequence[InputType]]
    derived: frozenset[str] = frozenset()
    columns: Mapping[str, TypeColumns] = field(default_factory=dict)
    """For some types, which columns their rows are in; the others have all columns in order."""
    # A stream may hold millions of rows of a type nobody asked for; the search is done once.
    _reasons: dict[str, tuple[str, str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        merged = {name: _one_per_arity(types) for name, types in self.types.items()}
        object.__setattr__(self, "types", merged)

    @classmethod
    def of(cls, types: Iterable[InputType], derived: Iterable[str] = ()) -> InputSchema:
        """A schema from a plain list of types.

        >>> InputSchema.of([InputType("up", "event", 0)]).lookup("up")
        [InputType(name='up', kind='event', arity=0, form='any')]
        """
        by_name: dict[str, list[InputType]] = {}
        for type_ in types:
            by_name.setdefault(type_.name, []).append(type_)
        return cls(by_name, frozenset(derived))

    def lookup(self, name: str) -> Sequence[InputType]:
        return self.types.get(name, ())

    def keys(self, name: str) -> list[TableKey]:
        """The kinds of row a name may have."""
        return [key for type_ in self.lookup(name) for key in row_keys(type_)]

    @property
    def every_key(self) -> list[TableKey]:
        """The kinds of row that the names of the schema may have."""
        return [key for name in self.types for key in self.keys(name)]

    def why_unknown(self, name: str) -> tuple[str, str]:
        """Code and reason for a row whose name is no input."""
        if name not in self._reasons:
            if len(self._reasons) >= MAX_REASONS:
                self._reasons.clear()
            self._reasons[name] = self._find_why_unknown(name)
        return self._reasons[name]

    def _find_why_unknown(self, name: str) -> tuple[str, str]:
        if name in self.derived:
            return "derived-type", f"{name} is derived by the rules, not an input"
        close = difflib.get_close_matches(name[:100], self.types, n=1)
        if close:
            return "unknown-type", f"unknown type {_show(name)}; {MEANT} {close[0]}?"
        known = ", ".join(sorted(self.types)[:8]) + (", ..." if len(self.types) > 8 else "")
        return "unknown-type", f"unknown type {_show(name)}; the rules read {known or 'nothing'}"


def _one_per_arity(types: Iterable[InputType]) -> list[InputType]:
    """A fluent declared both with points and with intervals accepts either."""
    merged: dict[tuple[Kind, int], InputType] = {}
    for type_ in types:
        before = merged.setdefault((type_.kind, type_.arity), type_)
        if before.form != type_.form:
            merged[type_.kind, type_.arity] = before._replace(form="any")
    return list(merged.values())


def _show(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:59] + "…")
