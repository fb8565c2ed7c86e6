"""Typed syntax trees of continuous queries. Names are in small letters, as SQL wants it.

A part that reads well and has no translation is an `Untranslated`, with the words for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from horai.lang.core.terms import Span, Term
from horai.lang.lars.clock import Duration

Place = Span | None


@dataclass(frozen=True, slots=True)
class Untranslated:
    """Something that LARS programs cannot say."""

    what: str
    hint: str
    span: Place = field(default=None, compare=False, repr=False)


# --- expressions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reference:
    """`tram.id`, `id`, `tram.*`: a column, or all of a source."""

    source: str | None
    column: str
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CqlConstant:
    """A number or a text."""

    term: Term
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """`a + b`."""

    sign: str
    left: Expression
    right: Expression
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`COUNT(*)`, `SUM(DISTINCT a)`: an aggregate; without an argument it counts rows."""

    function: str
    argument: Expression | None
    is_distinct: bool = False
    span: Place = field(default=None, compare=False, repr=False)


Expression = Reference | CqlConstant | Operation | AggregateCall

# --- conditions -------------------------------------------------------------------------------

Sign = OneOf["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class CqlComparison:
    """`a < b`."""

    sign: Sign
    left: Expression
    right: Expression
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Both:
    """`c AND d`."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Either:
    """`c OR d`."""

    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Denied:
    """`NOT c`."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Exists:
    """`EXISTS (query)`; with an expression, `expression IN (query)`."""

    query: Query
    wanted: Expression | None = None
    span: Place = field(default=None, compare=False, repr=False)


Condition = CqlComparison | Both | Either | Denied | Exists | Untranslated

# --- queries ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range:
    """`[RANGE 5 seconds SLIDE 2 seconds]`; an infinite one is `[UNBOUNDED]`, 0 is `[NOW]`."""

    length: Duration
    slide: Duration | None = None


@dataclass(frozen=True, slots=True)
class RowsWindow:
    """`[ROWS 3]`, `[PARTITION BY id ROWS 1]`: the last rows, perhaps of each group."""

    number: int
    by: tuple[Reference, ...] = ()


Window = Range | RowsWindow | Untranslated


@dataclass(frozen=True, slots=True)
class FromItem:
    """`tram [RANGE 5] AS t`: where rows come from."""

    name: str
    window: Window | None
    alias: str
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SelectItem:
    """`a + 1 AS b`: a column of the result."""

    expression: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """`SELECT items FROM sources WHERE ... GROUP BY ... HAVING ...`; no items are all columns."""

    items: tuple[SelectItem, ...]
    sources: tuple[FromItem, ...]
    where: Condition | None = None
    group: tuple[Reference, ...] = ()
    having: Condition | None = None
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Combined:
    """`query UNION query` and its kin."""

    how: OneOf["UNION", "EXCEPT", "INTERSECT"]
    left: Query
    right: Query
    span: Place = field(default=None, compare=False, repr=False)


Query = Select | Combined | Untranslated

# --- statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CqlDeclaration:
    """`CREATE STREAM tram (id, stop)`, `CREATE TABLE line (id, name)`."""

    name: str
    columns: tuple[str, ...]
    is_stream: bool
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Insert:
    """`INSERT INTO line VALUES ('a1', 'l1'), ...`."""

    name: str
    rows: tuple[tuple[Term, ...], ...]
    span: Place = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CqlView:
    """`CREATE VIEW late AS query`; a query alone has no name."""

    name: str | None
    query: Query
    span: Place = field(default=None, compare=False, repr=False)


Statement = CqlDeclaration | Insert | CqlView
