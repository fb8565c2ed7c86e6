"""The reader of continuous queries: text in; typed statements and all that is wrong out.

Names are in small letters, as SQL wants it. A part that reads well and has no translation is
reported with the words for it, and left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any
from typing import Literal as OneOf

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, sort_key
from horai.lang.core.grammar import token_span
from horai.lang.core.source import Placed, SourceText
from horai.lang.core.terms import Constant, Span, Term
from horai.lang.lars.clock import Duration, unit_named
from horai.lang.translate.statements import (
    SIGNS,
    Foreign,
    LanguageSpec,
    StatementBuilder,
    statements,
)

# --- expressions ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reference(Placed):
    """`tram.id`, `id`, `tram.*`: a column, or all of a source."""

    source: str | None
    column: str


@dataclass(frozen=True, slots=True)
class Operation(Placed):
    """`a + b`."""

    sign: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class AggregateCall(Placed):
    """`COUNT(*)`, `SUM(DISTINCT a)`: an aggregate; without an argument it counts rows."""

    function: str
    argument: Expression | None
    is_distinct: bool = False


Expression = Reference | Operation | AggregateCall | Term

# --- conditions -------------------------------------------------------------------------------

Sign = OneOf["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class CqlComparison(Placed):
    """`a < b`."""

    sign: Sign
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Connective(Placed):
    """`c AND d`, `c OR d`, `NOT c`."""

    word: OneOf["and", "or", "not"]
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Exists(Placed):
    """`EXISTS (query)`; with an expression, `expression IN (query)`."""

    query: Query
    wanted: Expression | None = None


Condition = CqlComparison | Connective | Exists

# --- queries ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range(Placed):
    """`[RANGE 5 seconds SLIDE 2 seconds]`; an infinite one is `[UNBOUNDED]`, 0 is `[NOW]`."""

    length: Duration
    slide: Duration | None = None


@dataclass(frozen=True, slots=True)
class RowsWindow(Placed):
    """`[ROWS 3]`, `[PARTITION BY id ROWS 1]`: the last rows, perhaps of each group."""

    number: int
    by: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class FromItem(Placed):
    """`tram [RANGE 5] AS t`: where rows come from."""

    name: str
    window: Range | RowsWindow | None
    alias: str


@dataclass(frozen=True, slots=True)
class SelectItem(Placed):
    """`a + 1 AS b`: a column of the result."""

    expression: Expression
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Select(Placed):
    """`SELECT items FROM sources WHERE ... GROUP BY ... HAVING ...`; no items are all columns."""

    items: tuple[SelectItem, ...]
    sources: tuple[FromItem, ...]
    where: Condition | None = None
    group: tuple[Reference, ...] = ()
    having: Condition | None = None


@dataclass(frozen=True, slots=True)
class Combined(Placed):
    """`query UNION query` and its kin."""

    how: OneOf["UNION", "EXCEPT", "INTERSECT"]
    left: Query
    right: Query


Query = Select | Combined

# --- statements -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CqlDeclaration(Placed):
    """`CREATE STREAM tram (id, stop)`, `CREATE TABLE line (id, name)`."""

    name: str
    columns: tuple[str, ...]
    is_stream: bool


@dataclass(frozen=True, slots=True)
class Insert(Placed):
    """`INSERT INTO line VALUES ('a1', 'l1'), ...`."""

    name: str
    rows: tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class CqlView(Placed):
    """`CREATE VIEW late AS query`; a query alone has no name."""

    name: str | None
    query: Query


Statement = CqlDeclaration | Insert | CqlView


_CHANGES = "run the query itself with `--answers changelog`, which tells what comes and goes"
_NO_NULL = "leave the condition out: every column of every row has a value"
_PARTNER = "LARS has no NULL: join, and say with NOT EXISTS which rows have no partner"


class Statements(StatementBuilder):
    """Statements from parse trees."""

    def untranslated(self, what: str, span: Span | None, hint: str) -> None:
        """Note a part of a query that LARS programs cannot express."""
        self.say("H802", what, span, hint)

    def stream(self, place: Span, name: Token, columns: tuple[str, ...]) -> CqlDeclaration:
        return CqlDeclaration(name.lower(), columns, is_stream=True, span=place)

    def table(self, place: Span, name: Token, columns: tuple[str, ...]) -> CqlDeclaration:
        return CqlDeclaration(name.lower(), columns, is_stream=False, span=place)

    def column(self, place: Span, name: Token, *_kind: Token) -> str:
        return name.lower()

    def insert(self, place: Span, name: Token, *rows: tuple[Term, ...]) -> Insert:
        return Insert(name.lower(), rows, span=(place[0], token_span(name)[1]))

    def view(self, place: Span, name: Token, query: Query) -> CqlView:
        return CqlView(name.lower(), query, span=(place[0], token_span(name)[1]))

    def unnamed(self, place: Span, query: Query) -> CqlView:
        return CqlView(None, query, span=query.span)

    # --- queries ---

    def combined(self, place: Span, left: Query, how: Token, *rest: Any) -> Query:
        *every, right = rest
        if every:
            span = (token_span(how)[0], token_span(every[0])[1])
            self.untranslated(
                "UNION ALL counts equal rows", span, "leave out ALL: relations are sets here"
            )
        return Combined(how.upper(), left, right, span=place)  # type: ignore[arg-type]

    def to_stream(self, place: Span, how: Token, query: Query) -> Query:
        # RSTREAM is the whole relation at every time, which is what a run shows.
        if how.upper() != "RSTREAM":
            self.untranslated(f"{how.upper()} looks at the time before", token_span(how), _CHANGES)
        return query

    def select(self, place: Span, first: Token, *rest: Any) -> Query:
        how = next((t for t in rest if isinstance(t, Token) and t.type == "R2S"), None)
        items, (sources, on), *more = (part for part in rest if not isinstance(part, Token))
        clauses = dict(more)
        conditions = [*on, *([clauses["where"]] if "where" in clauses else [])]
        where = reduce(_both, conditions) if conditions else None
        group, having = clauses.get("group", ()), clauses.get("having")
        query = Select(items, sources, where, group, having, span=token_span(first))
        return query if how is None else self.to_stream(place, how, query)

    def everything(self, place: Span, _star: Token) -> tuple[SelectItem, ...]:
        return ()

    def item(self, place: Span, expression: Expression, *name: Token) -> SelectItem:
        return SelectItem(expression, name[0].lower() if name else None)

    def sources(self, place: Span, *items: Any) -> tuple[tuple[FromItem, ...], list[Condition]]:
        sources = tuple(item for item in items if isinstance(item, FromItem))
        return sources, [item for item in items if not isinstance(item, FromItem)]

    def outer_join(
        self, place: Span, left: FromItem, how: Token, *rest: Any
    ) -> tuple[tuple[FromItem, ...], list[Condition]]:
        words = " ".join(how.upper().split())
        self.untranslated(f"{words} fills rows with NULL", token_span(how), _PARTNER)
        return self.sources(place, left, *rest)

    def from_item(self, place: Span, name: Token, *rest: Any) -> FromItem:
        window = next((part for part in rest if not isinstance(part, Token)), None)
        alias = rest[-1] if rest and isinstance(rest[-1], Token) else name
        return FromItem(name.lower(), window, alias.lower(), span=token_span(name))

    def where(self, place: Span, condition: Condition) -> tuple[str, Condition]:
        return "where", condition

    def group(self, place: Span, names: tuple[Reference, ...]) -> tuple[str, Any]:
        return "group", names

    def having(self, place: Span, condition: Condition) -> tuple[str, Condition]:
        return "having", condition

    # --- windows ---

    def now(self, place: Span) -> Range:
        return Range(Duration(0))

    def unbounded(self, place: Span) -> Range:
        return Range(Duration(None))

    def window_range(self, place: Span, length: Duration, *slide: Any) -> Range:
        return Range(length, slide[1] if slide else None)

    def duration(self, place: Span, number: Token, *unit: Token) -> Duration:
        named = unit_named(unit[0].lower()) if unit else None
        if unit and named is None:
            hint = "units are ms, s, min, h and d, or nothing for time points"
            self.untranslated(f"`{unit[0]}` is no unit of time", token_span(unit[0]), hint)
        return Duration(int(number), named)

    def rows(self, place: Span, number: Token, *slide: Token) -> RowsWindow:
        if slide:
            hint = "leave out SLIDE: windows over rows move with every row"
            self.untranslated("windows over rows do not hop", place, hint)
        return self._rows_of(number, ())

    def partition(
        self, place: Span, names: tuple[Reference, ...], number: Token, *within: Duration
    ) -> RowsWindow:
        if within:
            hint = "use either PARTITION BY with ROWS, or RANGE"
            what = "a window over rows of each group and a range of time"
            self.untranslated(what, place, hint)
        return self._rows_of(number, names)

    def _rows_of(self, number: Token, by: tuple[Reference, ...]) -> RowsWindow:
        if int(number) == 0:
            self.untranslated("a window of no rows", token_span(number), "take at least one row")
        return RowsWindow(int(number), by)

    def names(self, place: Span, *names: Token) -> tuple[Reference, ...]:
        return tuple(Reference(None, name.lower(), span=token_span(name)) for name in names)

    # --- conditions ---

    def connective(self, place: Span, *items: Any) -> Condition:
        (word,) = (item for item in items if isinstance(item, Token))
        inner = tuple(item for item in items if item is not word)
        return Connective(word.lower(), inner)  # type: ignore[arg-type]

    def comparison(
        self, place: Span, left: Expression, sign: Token, right: Expression
    ) -> Condition:
        said = "!=" if sign == "<>" else str(sign)
        return CqlComparison(said, left, right, span=place)  # type: ignore[arg-type]

    def between(
        self, place: Span, middle: Expression, low: Expression, _and: Token, high: Expression
    ) -> Condition:
        above = CqlComparison(">=", middle, low, span=place)
        return _both(above, CqlComparison("<=", middle, high, span=place))

    def member(self, place: Span, wanted: Expression, *rest: Any) -> Condition:
        *denied, among = rest
        found: Condition
        if isinstance(among, tuple):
            equal = [CqlComparison("=", wanted, one, span=place) for one in among]
            found = equal[0] if len(equal) == 1 else Connective("or", tuple(equal))
        else:
            found = Exists(among, wanted, span=wanted.span)
        return Connective("not", (found,)) if denied else found

    def exists(self, place: Span, query: Query) -> Condition:
        return Exists(query, None, span=place)

    def null(self, place: Span, expression: Expression, *_not: Token) -> Condition:
        self.untranslated("LARS has no NULL", place, _NO_NULL)
        return CqlComparison("=", expression, expression)

    def like(self, place: Span, left: Expression, right: Expression) -> Condition:
        hint = "compare with `=`, or with `IN ('one', 'other')`"
        self.untranslated("LARS does not look into texts", place, hint)
        return CqlComparison("=", left, right)

    # --- expressions ---

    def operation(self, place: Span, left: Expression, sign: Token, right: Expression) -> Operation:
        return Operation(str(sign), left, right, span=place)

    def aggregate(self, place: Span, function: Token, *rest: Any) -> AggregateCall:
        argument = next((part for part in rest if not isinstance(part, Token)), None)
        is_distinct = isinstance(rest[0], Token) and rest[0].type == "DISTINCT"
        return AggregateCall(function.lower(), argument, is_distinct, span=place)

    def reference(self, place: Span, name: Token, *column: Token) -> Reference:
        if not column:
            return Reference(None, name.lower(), span=place)
        return Reference(name.lower(), column[0].lower(), span=place)

    def string(self, place: Span, token: Token) -> Term:
        return Constant(token[1:-1].replace("''", "'"), place)


def _both(left: Condition, right: Condition) -> Condition:
    return Connective("and", (left, right))


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
        **SIGNS,
        "NAME": "a name",
        "STRING": "a text",
        "ADD": "`+`",
        "STAR": "`*`",
        "SLASH": "`/`",
        "COMPARE": "a comparison",
        "AGGREGATE": "an aggregate",
        "R2S": "`RSTREAM`",
        "OUTER_JOIN": "`JOIN`",
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
