"""The reader of continuous queries: text in; typed statements and all that is wrong out.

Names are in small letters, as SQL wants it. A part that reads well and has no translation is an
`Untranslated`, with the words for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Any
from typing import Literal as OneOf

from lark import Token, Transformer, v_args

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import outer, token_span
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Constant, Float, Int, Span, Term
from horai.lang.lars.clock import Duration, unit_named
from horai.lang.translate.statements import SIGNS, Foreign, LanguageSpec, statements

Place = Span | None


@dataclass(frozen=True, slots=True)
class Untranslated:
    """A part of a query that LARS programs cannot express."""

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


_CHANGES = "run the query itself with `--answers changelog`, which tells what comes and goes"


@v_args(inline=True)
class Statements(Transformer[Token, Any]):
    """Grammar rules to statements. It keeps nothing between calls."""

    # --- statements ---

    def stream(self, create: Token, *rest: Any) -> CqlDeclaration:
        return _declaration(create, rest, is_stream=True)

    def table(self, create: Token, *rest: Any) -> CqlDeclaration:
        return _declaration(create, rest, is_stream=False)

    def columns(self, *items: Any) -> tuple[str, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    def column(self, name: Token, *_kind: Token) -> str:
        return name.lower()

    def insert(
        self, insert: Token, _into: Token, name: Token, _values: Token, *rest: Any
    ) -> Insert:
        rows = tuple(item for item in rest if not isinstance(item, Token))
        return Insert(name.lower(), rows, outer(insert, name))

    def row(self, *items: Any) -> tuple[Term, ...]:
        return tuple(item.term for item in items if isinstance(item, CqlConstant))

    def view(self, create: Token, _view: Token, name: Token, _as: Token, query: Query) -> CqlView:
        return CqlView(name.lower(), query, outer(create, name))

    def unnamed(self, query: Query) -> CqlView:
        return CqlView(None, query, query.span)

    # --- queries ---

    def combined(self, left: Query, how: Token, right: Query) -> Combined:
        return Combined(how.upper(), left, right, outer(left, right))  # type: ignore[arg-type]

    def combined_all(self, left: Query, union: Token, every: Token, right: Query) -> Query:
        hint = "leave out ALL: relations are sets here"
        return Untranslated("UNION ALL counts equal rows", hint, outer(union, every))

    def to_stream(self, how: Token, _open: Token, query: Query, close: Token) -> Query:
        if how.upper() == "RSTREAM":  # the whole relation at every time, which is what a run shows
            return query
        return Untranslated(f"{how.upper()} looks at the time before", _CHANGES, token_span(how))

    def inner(self, _open: Token, inside: Any, _close: Token) -> Any:
        return inside

    def select(self, first: Token, *rest: Any) -> Query:
        how = next((t for t in rest if isinstance(t, Token) and t.type == "R2S"), None)
        items = next(part for part in rest if isinstance(part, tuple))
        found: dict[str, Any] = {}
        for part in rest:
            if isinstance(part, dict):
                found.update(part)
        span = token_span(first)
        conditions = [*found["on"], *([found["where"]] if "where" in found else [])]
        where = reduce(Both, conditions) if conditions else None
        group, having = found.get("group", ()), found.get("having")
        query = Select(items, found["sources"], where, group, having, span)
        return query if how is None else self.to_stream(how, how, query, how)

    def everything(self, _star: Token) -> tuple[SelectItem, ...]:
        return ()

    def items(self, *items: Any) -> tuple[SelectItem, ...]:
        return tuple(item for item in items if isinstance(item, SelectItem))

    def item(self, expression: Expression, *name: Token) -> SelectItem:
        return SelectItem(expression, name[-1].lower() if name else None)

    def sources(self, *items: Any) -> dict[str, Any]:
        found = tuple(item for item in items if isinstance(item, FromItem))
        return {"sources": found, "on": [i for i in items if not isinstance(i, Token | FromItem)]}

    def outer(self, left: FromItem, how: Token, *rest: Any) -> dict[str, Any]:
        words = " ".join(how.upper().split())
        hint = "LARS has no NULL: join, and say with NOT EXISTS which rows have no partner"
        wrong = Untranslated(f"{words} fills rows with NULL", hint, token_span(how))
        return {"sources": (left, rest[0]), "on": [wrong]}

    def on(self, _on: Token, condition: Condition) -> Condition:
        return condition

    def source(self, name: Token, *rest: Any) -> FromItem:
        window = next((part for part in rest if not isinstance(part, Token)), None)
        alias = rest[-1] if rest and isinstance(rest[-1], Token) else name
        return FromItem(name.lower(), window, alias.lower(), token_span(name))

    def where(self, _where: Token, condition: Condition) -> dict[str, Any]:
        return {"where": condition}

    def group(self, _group: Token, _by: Token, names: tuple[Reference, ...]) -> dict[str, Any]:
        return {"group": names}

    def having(self, _having: Token, condition: Condition) -> dict[str, Any]:
        return {"having": condition}

    def references(self, *items: Any) -> tuple[Reference, ...]:
        return tuple(item for item in items if isinstance(item, Reference))

    # --- windows ---

    def window_now(self, *_: Token) -> Window:
        return Range(Duration(0))

    def window_unbounded(self, *_: Token) -> Window:
        return Range(Duration(None))

    def window_range(self, *items: Any) -> Window:
        durations = [item for item in items if not isinstance(item, Token)]
        for wrong in durations:
            if isinstance(wrong, Untranslated):
                return wrong
        return Range(*durations)

    def duration(self, number: Token, *unit: Token) -> Duration | Untranslated:
        named = unit_named(unit[0].lower()) if unit else None
        if unit and named is None:
            hint = "units are ms, s, min, h and d, or nothing for time points"
            return Untranslated(f"`{unit[0]}` is no unit of time", hint, token_span(unit[0]))
        return Duration(int(number), named)

    def window_rows(self, opening: Token, _rows: Token, number: Token, close: Token) -> Window:
        return _rows_of(number, ())

    def window_rows_slide(self, opening: Token, *rest: Token) -> Window:
        hint = "leave out SLIDE: windows over rows move with every row"
        return Untranslated("windows over rows do not hop", hint, outer(opening, rest[-1]))

    def window_partition(self, *items: Any) -> Window:
        names = next(item for item in items if isinstance(item, tuple))
        return _rows_of(items[-2], names)

    def window_partition_range(self, opening: Token, *rest: Any) -> Window:
        hint = "use either PARTITION BY with ROWS, or RANGE"
        what = "a window over rows of each group and a range of time"
        return Untranslated(what, hint, outer(opening, rest[-1]))

    def names(self, *items: Token) -> tuple[Reference, ...]:
        return tuple(
            Reference(None, item.lower(), token_span(item)) for item in items if item.type == "NAME"
        )

    # --- conditions ---

    def either(self, left: Condition, _or: Token, right: Condition) -> Condition:
        return Either(left, right)

    def both(self, left: Condition, _and: Token, right: Condition) -> Condition:
        return Both(left, right)

    def denied(self, _not: Token, condition: Condition) -> Condition:
        return Denied(condition)

    def comparison(self, left: Expression, sign: Token, right: Expression) -> Condition:
        said = "!=" if sign == "<>" else str(sign)
        return CqlComparison(said, left, right, outer(left, right))  # type: ignore[arg-type]

    def between(self, *items: Any) -> Condition:
        middle, low, high = (item for item in items if not isinstance(item, Token))
        span = outer(middle, high)
        return Both(CqlComparison(">=", middle, low, span), CqlComparison("<=", middle, high, span))

    def in_query(self, *items: Any) -> Condition:
        wanted, query = (item for item in items if not isinstance(item, Token))
        return Exists(query, wanted, wanted.span)

    def not_in_query(self, *items: Any) -> Condition:
        return Denied(self.in_query(*items))

    def in_list(self, *items: Any) -> Condition:
        wanted, values = (item for item in items if not isinstance(item, Token))
        tests: list[Condition] = [
            CqlComparison("=", wanted, one, outer(wanted, one)) for one in values
        ]
        return reduce(Either, tests)

    def not_in_list(self, *items: Any) -> Condition:
        return Denied(self.in_list(*items))

    def exists(self, exists: Token, _open: Token, query: Query, close: Token) -> Condition:
        return Exists(query, None, outer(exists, close))

    def null(self, expression: Expression, *words: Token) -> Condition:
        hint = "leave the condition out: every column of every row has a value"
        return Untranslated("LARS has no NULL", hint, outer(expression, words[-1]))

    def like(self, left: Expression, _like: Token, right: Expression) -> Condition:
        hint = "compare with `=`, or with `IN ('one', 'other')`"
        return Untranslated("LARS does not look into texts", hint, outer(left, right))

    def expressions(self, *items: Any) -> tuple[Expression, ...]:
        return tuple(item for item in items if not isinstance(item, Token))

    # --- expressions ---

    def operation(self, left: Expression, sign: Token, right: Expression) -> Expression:
        return Operation(str(sign), left, right, outer(left, right))

    def count_rows(self, function: Token, *rest: Token) -> Expression:
        return AggregateCall(function.lower(), None, False, outer(function, rest[-1]))

    def aggregate(self, function: Token, *rest: Any) -> Expression:
        return AggregateCall(function.lower(), rest[-2], False, outer(function, rest[-1]))

    def aggregate_distinct(self, function: Token, *rest: Any) -> Expression:
        return AggregateCall(function.lower(), rest[-2], True, outer(function, rest[-1]))

    def reference(self, name: Token, *rest: Token) -> Expression:
        if not rest:
            return Reference(None, name.lower(), token_span(name))
        return Reference(name.lower(), rest[-1].lower(), outer(name, rest[-1]))

    def integer(self, token: Token) -> Expression:
        return CqlConstant(Int(int(token)), token_span(token))

    def signed(self, sign: Token, token: Token) -> Expression:
        value = -int(token) if sign == "-" else int(token)
        return CqlConstant(Int(value), outer(sign, token))

    def decimal(self, token: Token) -> Expression:
        return CqlConstant(Float(float(token)), token_span(token))

    def string(self, token: Token) -> Expression:
        return CqlConstant(Constant(token[1:-1].replace("''", "'")), token_span(token))


def _declaration(create: Token, rest: tuple[Any, ...], is_stream: bool) -> CqlDeclaration:
    _, name, _, columns, close = rest
    return CqlDeclaration(name.lower(), columns, is_stream, outer(create, close))


def _rows_of(number: Token, by: tuple[Reference, ...]) -> Window:
    if int(number) == 0:
        return Untranslated("a window of no rows", "take at least one row", token_span(number))
    return RowsWindow(int(number), by)


_MORE_ROWS = "an answer has all rows that hold; for the last N tuples write a window: [ROWS N]"
_FOREIGN = {
    ("ORDER", "BY"): ("ORDER BY", "rows of an answer have no order: sort them where you use them"),
    ("LIMIT", None): ("LIMIT", _MORE_ROWS),
    ("OFFSET", None): ("OFFSET", _MORE_ROWS),
    ("FETCH", None): ("FETCH", _MORE_ROWS),
    ("TOP", None): ("TOP", _MORE_ROWS),
    ("CASE", None): (
        "CASE",
        "write one query for each case, with its condition after WHERE, and put UNION between them",
    ),
    ("OVER", "("): ("OVER", "aggregate with GROUP BY, over the window of the stream"),
    ("WITH", None): ("WITH", "name the query first: CREATE VIEW v AS SELECT ...; and read from v"),
}
"""Words of SQL that are not here; the second one has to follow, if there is one."""


def _foreign(tokens: list[Token], wrong: int) -> Foreign | None:
    """Clauses of SQL that have no translation, and queries where a source should stand."""
    words = [str(token).upper() for token in tokens]
    for place, word in enumerate(words[: wrong + 1]):
        follows = words[place + 1] if place + 1 < len(words) else None
        after = words[place - 1] if place else None
        if word == "(" and follows == "SELECT" and after in ("FROM", ",", "JOIN"):
            hint = "name it first: CREATE VIEW v AS SELECT ...; and read from v"
            return Foreign(place, place + 1, "a query cannot stand in FROM", hint)
        known = _FOREIGN.get((word, None)) or _FOREIGN.get((word, follows or ""))
        if known is not None and place >= wrong - (2 if word == "CASE" else 1):  # else a name
            name, hint = known
            last = place + 1 if name == "ORDER BY" else place
            return Foreign(place, last, f"{name} has no translation", hint)
    return None


LANGUAGE = LanguageSpec(
    "horai.lang.translate.cql",
    "cql.lark",
    Statements,
    {
        "NAME": "a name",
        "INT": "a number",
        "DECIMAL": "a number",
        "STRING": "a text",
        "ADD": "`+`",
        "STAR": "`*`",
        "SLASH": "`/`",
        "COMPARE": "a comparison",
        "AGGREGATE": "an aggregate",
        "R2S": "`RSTREAM`",
        "OUTER_JOIN": "`JOIN`",
        **SIGNS,
    },
    ";",
    _foreign,
)


def read_source(source: SourceText) -> tuple[list[Statement], list[Diagnostic]]:
    """The statements of a text, and all that is wrong with it.

    >>> found, findings = read_source(SourceText("q", "SELECT * FROM tram [NOW];"))
    >>> len(found), findings
    (1, [])
    """
    report = Report()
    found = list(statements(LANGUAGE, source, report))
    return found, sorted(report.findings, key=sort_key)
