"""Continuous queries as LARS: relational algebra as rules, streams through windows.

A query becomes a rule for each alternative of its condition: sources are window atoms and facts,
equal columns the same variable, `NOT EXISTS` the negation of a rule of its own. Relations are sets.
Rules are written as a person would write them.

Names are in small letters, as SQL wants it. A part that reads well and has no translation is
reported with the words for it, and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from itertools import product
from math import prod
from typing import Any, cast
from typing import Literal as OneOf

from lark import Token

from horai.lang.core.diagnostics import Diagnostic, Report, did_you_mean, sort_key
from horai.lang.core.grammar import token_span
from horai.lang.core.source import Placed, SourceText
from horai.lang.core.terms import (
    Bindings,
    Compound,
    Constant,
    Span,
    Term,
    Var,
    is_anonymous,
    subterms,
)
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration, unit_named
from horai.lang.lars.walk import bind, own_terms, subformulas
from horai.lang.translate.statements import (
    SIGNS,
    Foreign,
    FreshNames,
    LanguageSpec,
    StatementBuilder,
    compare,
    negated,
    some,
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

    def declaration(
        self, place: Span, kind: Token, name: Token, columns: tuple[str, ...]
    ) -> CqlDeclaration:
        return CqlDeclaration(name.lower(), columns, kind.type == "STREAM", span=place)

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
        if len(rest) > 1 and rest[0] is not None:
            span = (token_span(how)[0], token_span(rest[0])[1])
            hint = "leave out ALL: relations are sets here"
            self.untranslated("UNION ALL counts equal rows", span, hint)
        return Combined(how.upper(), left, rest[-1], span=place)  # type: ignore[arg-type]

    def to_stream(self, place: Span, how: Token, query: Query) -> Query:
        # RSTREAM is the whole relation at every time, which is what a run shows.
        if how.upper() != "RSTREAM":
            self.untranslated(f"{how.upper()} looks at the time before", token_span(how), _CHANGES)
        return query

    def select(
        self,
        place: Span,
        first: Token,
        how: Token | None,
        items: tuple[SelectItem, ...],
        sources: tuple[tuple[FromItem, ...], list[Condition]],
        where: Condition | None,
        group: tuple[Reference, ...] | None,
        having: Condition | None,
    ) -> Query:
        conditions = sources[1] if where is None else [*sources[1], where]
        whole = reduce(_both, conditions) if conditions else None
        query = Select(items, sources[0], whole, group or (), having, span=token_span(first))
        return query if how is None or how.type != "R2S" else self.to_stream(place, how, query)

    def everything(self, place: Span, _star: Token) -> tuple[SelectItem, ...]:
        return ()

    def item(self, place: Span, expression: Expression, name: Token | None) -> SelectItem:
        return SelectItem(expression, None if name is None else name.lower())

    def sources(self, place: Span, *items: Any) -> tuple[tuple[FromItem, ...], list[Condition]]:
        sources = tuple(item for item in items if isinstance(item, FromItem))
        return sources, [item for item in items if not isinstance(item, FromItem)]

    def outer_join(
        self, place: Span, left: FromItem, how: Token, *rest: Any
    ) -> tuple[tuple[FromItem, ...], list[Condition]]:
        words = " ".join(how.upper().split())
        self.untranslated(f"{words} fills rows with NULL", token_span(how), _PARTNER)
        return self.sources(place, left, *rest)

    def from_item(
        self, place: Span, name: Token, window: Range | RowsWindow | None, alias: Token | None
    ) -> FromItem:
        return FromItem(name.lower(), window, (alias or name).lower(), span=token_span(name))

    # --- windows ---

    def now(self, place: Span) -> Range:
        return Range(Duration(0))

    def unbounded(self, place: Span) -> Range:
        return Range(Duration(None))

    def window_range(self, place: Span, length: Duration, slide: Duration | None) -> Range:
        return Range(length, slide)

    def duration(self, place: Span, number: Token, unit: Token | None) -> Duration:
        named = None if unit is None else unit_named(unit.lower())
        if unit is not None and named is None:
            hint = "units are ms, s, min, h and d, or nothing for time points"
            self.untranslated(f"`{unit}` is no unit of time", token_span(unit), hint)
        return Duration(int(number), named)

    def rows(self, place: Span, number: Token, slide: Token | None) -> RowsWindow:
        if slide is not None:
            hint = "leave out SLIDE: windows over rows move with every row"
            self.untranslated("windows over rows do not hop", place, hint)
        return self._rows_of(number, ())

    def partition(
        self, place: Span, names: tuple[Reference, ...], number: Token, within: Duration | None
    ) -> RowsWindow:
        if within is not None:
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

    def member(
        self, place: Span, wanted: Expression, denied: Token | None, among: Any
    ) -> Condition:
        found: Condition
        if isinstance(among, tuple):
            equal = [CqlComparison("=", wanted, one, span=place) for one in among]
            found = equal[0] if len(equal) == 1 else Connective("or", tuple(equal))
        else:
            found = Exists(among, wanted, span=wanted.span)
        return found if denied is None else Connective("not", (found,))

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
        argument = None if isinstance(rest[-1], Token) else rest[-1]
        is_distinct = len(rest) > 1 and rest[0] is not None
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


Alternatives = list[list[lars.Formula]]
OPPOSITE: dict[lars.Sign, lars.Sign] = {
    "=": "!=",
    "!=": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
MOST_ALTERNATIVES = 256


class TooManyAlternatives(Exception):
    """A condition with more alternatives than anybody wants rules."""


def alternatives(
    condition: Condition | None,
    value: Callable[[Expression], Term],
    exists: Callable[[Exists], lars.Formula],
) -> Alternatives:
    """The disjunctive normal form of a condition; `NOT` turns comparisons round."""

    def normal(part: Condition, positive: bool) -> Alternatives:
        match part:
            case CqlComparison(sign=sign, left=left, right=right):
                said: lars.Sign = sign if positive else OPPOSITE[sign]
                return [[lars.Comparison(said, value(left), value(right))]]
            case Exists():
                found = exists(part)
                return [[found if positive else negated(found)]]
            case Connective("not", (inner,)):
                return normal(inner, not positive)
            case Connective(word, inner_parts):
                found_in = [normal(one, positive) for one in inner_parts]
                if (word == "or") == positive:
                    return [body for bodies in found_in for body in bodies]
                if prod(map(len, found_in)) > MOST_ALTERNATIVES:
                    raise TooManyAlternatives
                return [[f for body in bodies for f in body] for bodies in product(*found_in)]
        raise AssertionError(f"{part} is no condition")

    return [[]] if condition is None else normal(condition, True)


def expression_value(
    expression: Expression,
    column: Callable[[Reference], Term],
    aggregate: Callable[[AggregateCall], Term],
) -> Term:
    """An expression as a term."""
    match expression:
        case Reference():
            return column(expression)
        case Operation(sign=sign, left=left, right=right):
            sides = (expression_value(side, column, aggregate) for side in (left, right))
            return Compound(sign, tuple(sides))
        case AggregateCall():
            return aggregate(expression)
        case _:
            return expression


@dataclass(frozen=True)
class Relation:
    """A source of rows: the condition that brings them, and a variable for each column."""

    alias: str
    condition: lars.Formula
    columns: Mapping[str, Var]


@dataclass
class Scope:
    """The sources of a query, and the query around it.

    What an inner query takes from an outer one is `captured`: rules for the inner query need the
    sources of these variables, too.
    """

    variables: FreshNames
    report: Report
    text: SourceText
    outer: Scope | None = None
    relations: list[Relation] = field(default_factory=list)
    captured: dict[str, Relation] = field(default_factory=dict)
    is_complete: bool = True
    """False if a source is not known: then columns may be missing that are not to blame."""

    def add(self, relation: Relation) -> None:
        """One more source."""
        self.relations.append(relation)

    def variable(self, reference: Reference) -> Var:
        """The variable for a column; of an unknown one, which is told, a variable for nothing."""
        found = self._find(reference)
        if found is not None:
            return found[1]
        return Var("Unknown")

    def _find(self, reference: Reference) -> tuple[Relation, Var] | None:
        wanted, column = reference.source, reference.column
        fitting = [r for r in self.relations if wanted in (None, r.alias)]
        found = [(r, r.columns[column]) for r in fitting if column in r.columns]
        if len(found) == 1:
            return found[0]
        if found:
            names = " or ".join(f"`{r.alias}.{column}`" for r, _ in found)
            self._say(f"`{column}` is a column of several sources", reference, f"write {names}")
            return None
        known_here = wanted is not None and bool(fitting)
        if self.outer is None or known_here:
            if self.is_complete:
                self._say_unknown(reference)
            return None
        beyond = self.outer._find(reference)
        if beyond is not None:
            self.captured[beyond[1].name] = beyond[0]
        return beyond

    def _say_unknown(self, reference: Reference) -> None:
        named = reference.column
        if reference.source is not None:
            named = f"{reference.source}.{named}"
        scope: Scope | None = self
        aliases: list[str] = []
        columns: list[str] = []
        while scope is not None:
            aliases.extend(r.alias for r in scope.relations)
            columns.extend(c for r in scope.relations for c in r.columns)
            scope = scope.outer
        if reference.source is not None and reference.source not in aliases:
            near = did_you_mean(reference.source, aliases)
            hint = f"did you mean `{near}`?" if near else f"the sources are: {', '.join(aliases)}"
        else:
            near = did_you_mean(reference.column, columns)
            hint = f"did you mean `{near}`?" if near else f"there are: {', '.join(columns)}"
        self._say(f"there is no column `{named}`", reference, hint)

    def _say(self, message: str, reference: Reference, hint: str) -> None:
        self.report.add("H807", message, self.text, reference.span, hint)


Say = Callable[[str, str, Span | None, str], None]
"""Takes code, message, place and hint of a mistake."""


def has_aggregates(query: Select) -> bool:
    """Does a query have one row for each group?"""
    items = [item.expression for item in query.items]
    return bool(query.group) or query.having is not None or any(map(_calls, items))


def _calls(expression: Expression) -> bool:
    match expression:
        case AggregateCall():
            return True
        case Operation(left=left, right=right):
            return _calls(left) or _calls(right)
        case _:
            return False


class QueryGroups:
    """The groups of a query."""

    def __init__(self, query: Select, scope: Scope, name: str, say: Say) -> None:
        self._query, self._scope, self._say = query, scope, say
        columns = [var for relation in scope.relations for var in relation.columns.values()]
        self.row = lars.Atom(name, tuple(columns))
        self._keys = [scope.variable(reference) for reference in query.group]
        self._values: dict[AggregateCall, Var] = {}
        self._elements: dict[Var, tuple[lars.Function, lars.Element]] = {}

    def bodies(self) -> Alternatives:
        """For each alternative of `HAVING`: there is such a group, and it has this."""
        found = alternatives(
            self._query.having,
            lambda part: expression_value(part, self.column, self.value),
            self._no_query,
        )
        nobody = (Var(f"_#{number}") for number in range(len(self.row.args)))
        args = (arg if arg in self._keys else next(nobody) for arg in self.row.args)
        here = [lars.Atom(self.row.name, tuple(args))] if self._keys else []
        return [[*here, *conditions] for conditions in found]

    def _no_query(self, part: Exists) -> lars.Formula:
        hint = "put it into WHERE, or name the grouped query with CREATE VIEW"
        self._say("H802", "a query inside of HAVING", part.span, hint)
        return lars.Atom("unknown")

    def column(self, reference: Reference) -> Term:
        """A column of the groups."""
        var = self._scope.variable(reference)
        if var not in self._keys and var.name != "Unknown":
            hint = f"add `{reference.column}` to GROUP BY, or aggregate it: MIN({reference.column})"
            message = f"`{reference.column}` has no single value in a group"
            self._say("H810", message, reference.span, hint)
        return var

    def value(self, call: AggregateCall) -> Term:
        """The variable for the value of an aggregate."""
        if call not in self._values:
            var = Var(self._scope.variables.free(call.function.capitalize()))
            self._values[call] = var
            element = self._element(call)
            if element is not None:
                self._elements[var] = (cast(lars.Function, call.function), element)
        return self._values[call]

    def _element(self, call: AggregateCall) -> lars.Element | None:
        if call.function not in lars.FUNCTIONS:
            hint = "select SUM and COUNT, and divide where the result is used"
            self._say("H802", f"there is no {call.function.upper()}", call.span, hint)
            return None
        every = tuple(arg for arg in self.row.args if arg not in self._keys) or self.row.args
        if call.argument is None:
            if call.function != "count":
                hint = "name a column"
                self._say("H801", f"{call.function.upper()} of what?", call.span, hint)
            return lars.Element(every, (self.row,))
        term = expression_value(call.argument, self._scope.variable, self._nested)
        conditions: list[lars.Formula] = [self.row]
        if not isinstance(call.argument, Reference | Term):
            own = Var(self._scope.variables.free("Of"))
            conditions.append(compare(own, "=", term))
            term = own
        if call.function == "count" and not call.is_distinct:
            return lars.Element(every, tuple(conditions))
        # Equal values of different rows are summed each; for the least it makes no difference.
        rest = every if call.function == "sum" and not call.is_distinct else ()
        return lars.Element((term, *rest), tuple(conditions))

    def _nested(self, call: AggregateCall) -> Term:
        self._say("H810", "an aggregate of an aggregate", call.span, "name the inner one in a view")
        return Var("Unknown")

    def counted(self) -> Iterator[lars.Formula]:
        """The conditions that give aggregates their values."""
        for var, (function, element) in self._elements.items():
            yield lars.Aggregate(function, (element,), "=", var)


def items_of(query: Select, scope: Scope) -> list[SelectItem]:
    """The columns that a query selects, with `*` written out."""
    found: list[SelectItem] = []
    for item in query.items or (SelectItem(Reference(None, "*")),):
        if isinstance(item.expression, Reference) and item.expression.column == "*":
            found.extend(_all_of(item.expression, scope))
        else:
            found.append(item)
    return found


def _all_of(reference: Reference, scope: Scope) -> list[SelectItem]:
    wanted = [r for r in scope.relations if reference.source in (None, r.alias)]
    if not wanted:
        scope.variable(reference)  # tells that there is no such source
    return [
        SelectItem(Reference(relation.alias, column, span=reference.span))
        for relation in wanted
        for column in relation.columns
    ]


def columns_of(items: list[SelectItem]) -> tuple[str, ...]:
    """The names of columns; those without one are numbered."""
    names: list[str] = []
    for number, item in enumerate(items, 1):
        own = item.name
        if own is None and isinstance(item.expression, Reference):
            own = item.expression.column
        names.append(own if own is not None and own not in names else f"column{number}")
    return tuple(names)


def is_computed(item: SelectItem) -> bool:
    """Must the value of a column be worked out?"""
    return not isinstance(item.expression, Reference | Term)


def finished(rule: lars.Rule) -> lars.Rule:
    """The rule with joins as equal variables, and `_` for what is not needed."""
    assert isinstance(rule.head, lars.Atom)
    head, body = joined(rule.head, list(rule.body))
    terms = [t for part in (head, *body) for f in subformulas(part) for t in own_terms(f)]
    counts = Counter(var.name for t in terms for var in subterms(t) if isinstance(var, Var))
    single = [name for name, count in counts.items() if count == 1 and not is_anonymous(Var(name))]
    nobody: Bindings = {name: Var(f"_#{name}") for name in single}
    changed = bind(head, nobody)
    assert isinstance(changed, lars.Atom)
    return lars.Rule(changed, tuple(bind(part, nobody) for part in body))


def joined(head: lars.Atom, body: list[lars.Formula]) -> tuple[lars.Atom, list[lars.Formula]]:
    """The rule with equal columns made one variable, so that joins are joins."""
    body = [part for part in body if not _is_trivial(part)]
    found = next((pair for part in body if (pair := _equal(part)) is not None), None)
    if found is None:
        return head, body
    changed = bind(head, found)
    assert isinstance(changed, lars.Atom)
    return joined(changed, [bind(part, found) for part in body])


def _is_trivial(part: lars.Formula) -> bool:
    return isinstance(part, lars.Comparison) and part.sign == "=" and part.left == part.right


def _equal(part: lars.Formula) -> Bindings | None:
    """A variable and the other term that it must be, if a condition says so."""
    if not isinstance(part, lars.Comparison) or part.sign != "=":
        return None
    for one, other in ((part.right, part.left), (part.left, part.right)):
        if isinstance(one, Var) and not isinstance(other, Compound):
            return {one.name: other}
    return None


def relation_of(say: Say, source: FromItem, known: CqlDeclaration, scope: Scope) -> Relation:
    """The condition that a source is, and the variables of its columns."""
    alias = source.alias.capitalize()
    columns = {c: Var(scope.variables.free(f"{alias}_{c}")) for c in known.columns}
    atom = lars.Atom(known.name, tuple(columns.values()))
    condition: lars.Formula = atom
    if known.is_stream and source.window is None:
        hint = f"choose one: `{source.name} [RANGE 10 s]`, `[ROWS 5]`, `[NOW]`, `[UNBOUNDED]`"
        say("H809", f"the stream `{source.name}` needs a window", source.span, hint)
    elif source.window is not None and not known.is_stream:
        say("H809", f"`{source.name}` is no stream", source.span, "leave the window out")
    elif source.window is not None:
        condition = some(atom, _window(say, source.window, known))
    return Relation(source.alias, condition, columns)


def _window(say: Say, window: Range | RowsWindow, known: CqlDeclaration) -> lars.Window:
    match window:
        case Range(length=length, slide=slide):
            return lars.TimeWindow(length, hop=slide)
        case RowsWindow(number=number, by=by):
            groups = {reference.column for reference in by}
            for reference in by:
                if reference.column not in known.columns:
                    hint = f"there are: {', '.join(known.columns)}"
                    say("H807", f"there is no column `{reference.column}`", reference.span, hint)
            args = tuple(
                Var(c.capitalize()) if c in groups else Var(f"_#{place}")
                for place, c in enumerate(known.columns)
            )
            return lars.PartitionWindow(number, 0, (lars.Pattern(known.name, args),))


UNNAMED = "answer"


def translated(
    statements: Iterable[Statement], source: SourceText
) -> tuple[lars.Program, list[Diagnostic]]:
    """The program that derives the rows of all views, and what cannot be translated."""
    translation = Translation(list(statements), source)
    return translation.program(), sorted(translation.report.findings, key=sort_key)


class Translation:
    """Statements on their way to rules."""

    def __init__(self, statements: list[Statement], source: SourceText) -> None:
        self.report = Report()
        self.source = source
        self.rules: list[lars.Rule] = []
        self._statements = statements
        self._known: dict[str, CqlDeclaration] = {}
        named = [s.name for s in statements if isinstance(s, CqlDeclaration | CqlView) and s.name]
        self.names = FreshNames(named)

    def program(self) -> lars.Program:
        """The rules for all statements."""
        for statement in self._statements:
            match statement:
                case CqlDeclaration():
                    self._declare(statement)
                case Insert():
                    self._insert(statement)
                case CqlView(name=name, query=query, span=span):
                    own = self.names.free(UNNAMED) if name is None else name
                    try:
                        columns = self.query(query, own, None)
                    except TooManyAlternatives:
                        hint = "split the query: name a part of it with CREATE VIEW"
                        self.say("H801", "a condition with too many alternatives", span, hint)
                        columns = ()
                    self._declare(CqlDeclaration(own, columns, False, span=span))
        return lars.Program(tuple(finished(rule) for rule in self.rules))

    def say(self, code: str, message: str, span: Span | None, hint: str) -> None:
        """Note what is wrong."""
        self.report.add(code, message, self.source, span, hint)

    def _declare(self, known: CqlDeclaration) -> None:
        if known.name in self._known:
            message = f"`{known.name}` is declared already"
            self.say("H804", message, known.span, "choose another name")
        self._known[known.name] = known

    def _insert(self, insert: Insert) -> None:
        known = self._relation(insert.name, insert.span)
        if known is None:
            return
        for row in insert.rows:
            if len(row) != len(known.columns):
                message = f"a row of {len(row)} values for {len(known.columns)} columns"
                hint = f"the columns are: {', '.join(known.columns)}"
                self.say("H808", message, insert.span, hint)
                return
            self.rules.append(lars.Rule(lars.Atom(known.name, row)))

    def _relation(self, name: str, span: Span | None) -> CqlDeclaration | None:
        if name not in self._known:
            near = did_you_mean(name, self._known)
            declare = f"declare it: `CREATE STREAM {name} (column, ...);` or `CREATE TABLE ...`"
            hint = f"did you mean `{near}`?" if near else declare
            self.say("H807", f"there is no stream or table `{name}`", span, hint)
        return self._known.get(name)

    # --- queries ---

    def query(self, query: Query, name: str, outer: Scope | None) -> tuple[str, ...]:
        """Rules that derive the rows of a query; its columns."""
        match query:
            case Combined(how="UNION", left=left, right=right):
                columns = self.query(left, name, outer)
                self._same_width(query, columns, self.query(right, name, outer))
                return columns
            case Combined(how=how, left=left, right=right):
                one, other = self.names.fresh("left"), self.names.fresh("right")
                columns = self.query(left, one, outer)
                self._same_width(query, columns, self.query(right, other, outer))
                row = tuple(Var(column.capitalize()) for column in columns)
                second: lars.Formula = lars.Atom(other, row)
                body = (lars.Atom(one, row), lars.Not(second) if how == "EXCEPT" else second)
                self.rules.append(lars.Rule(lars.Atom(name, row), body))
                return columns
            case Select():
                return self._select(query, name)
        raise AssertionError(f"{query} is no query")

    def _same_width(self, query: Combined, one: tuple[str, ...], other: tuple[str, ...]) -> None:
        if len(one) != len(other):
            message = f"a query of {len(one)} columns and one of {len(other)}"
            self.say("H808", message, query.span, "select the same number of columns in both")

    def _select(self, query: Select, name: str) -> tuple[str, ...]:
        scope = self.scope(query, None)
        items = items_of(query, scope)
        bodies = self.bodies(query, scope)
        column: Callable[[Reference], Term] = scope.variable
        aggregate: Callable[[AggregateCall], Term] = self._no_aggregate
        groups = None
        if has_aggregates(query):
            groups = QueryGroups(query, scope, self.names.fresh("rows"), self.say)
            self.rules.extend(lars.Rule(groups.row, tuple(body)) for body in bodies)
            bodies, column, aggregate = groups.bodies(), groups.column, groups.value
        row: list[Term] = []
        computed: list[lars.Formula] = []
        for item in items:
            value = expression_value(item.expression, column, aggregate)
            if is_computed(item):
                own = Var(scope.variables.free((item.name or "value").capitalize()))
                computed.append(compare(own, "=", value))
                value = own
            row.append(value)
        more = [*computed, *(() if groups is None else groups.counted())]
        self.rules.extend(lars.Rule(lars.Atom(name, tuple(row)), (*body, *more)) for body in bodies)
        return columns_of(items)

    def scope(self, query: Select, outer: Scope | None) -> Scope:
        """The sources of a query."""
        variables = FreshNames([]) if outer is None else outer.variables
        scope = Scope(variables, self.report, self.source, outer)
        scope.is_complete = outer is None or outer.is_complete
        for source in query.sources:
            if source.alias in (r.alias for r in scope.relations):
                hint = "give one of them another name: `... AS other`"
                self.say("H804", f"two sources `{source.alias}`", source.span, hint)
            known = self._relation(source.name, source.span)
            if known is None:
                scope.is_complete = False
            else:
                scope.add(relation_of(self.say, source, known, scope))
        return scope

    # --- conditions ---

    def bodies(self, query: Select, scope: Scope) -> Alternatives:
        """The bodies of rules for the rows that a query selects from."""
        sources = [relation.condition for relation in scope.relations]
        found = alternatives(
            query.where,
            lambda expression: self.value(expression, scope),
            lambda part: self.exists(part, scope),
        )
        return [[*sources, *conditions] for conditions in found]

    def value(self, expression: Expression, scope: Scope) -> Term:
        """An expression as a term; an aggregate has no place in it."""
        return expression_value(expression, scope.variable, self._no_aggregate)

    def _no_aggregate(self, call: AggregateCall) -> Term:
        hint = "aggregates stand between SELECT and FROM, and after HAVING"
        self.say("H810", "an aggregate cannot stand here", call.span, hint)
        return Var("Unknown")

    def exists(self, part: Exists, outer: Scope) -> lars.Formula:
        """An atom that says whether a query has rows, with a predicate of its own."""
        name = self.names.fresh("exists")
        inners: list[tuple[Scope, list[lars.Formula]]] = []
        for select in self._selects(part.query):
            inner = self.scope(select, outer)
            wanted: list[lars.Formula] = []
            if part.wanted is not None:
                wanted = [self._member(part, select, inner)]
            inners.extend((inner, [*body, *wanted]) for body in self.bodies(select, inner))
        captured = {name: r for inner, _ in inners for name, r in inner.captured.items()}
        head = lars.Atom(name, tuple(Var(variable) for variable in sorted(captured)))
        around = list(dict.fromkeys(relation.condition for relation in captured.values()))
        self.rules.extend(lars.Rule(head, (*around, *body)) for _, body in inners)
        return head

    def _member(self, part: Exists, select: Select, inner: Scope) -> lars.Formula:
        """`expression IN (query)`: the expression is the only column of the query."""
        assert part.wanted is not None
        items = items_of(select, inner)
        if len(items) != 1:
            hint = "select one column after IN"
            self.say("H808", f"a query of {len(items)} columns after IN", part.span, hint)
        empty = Scope(inner.variables, self.report, self.source, inner.outer, [], inner.captured)
        right = self.value(items[0].expression, inner) if items else Var("Unknown")
        return compare(self.value(part.wanted, empty), "=", right)

    def _selects(self, query: Query) -> list[Select]:
        """The simple queries that together are an inner one."""
        match query:
            case Select() if has_aggregates(query):
                hint = "name the query with CREATE VIEW, and select from the view here"
                self.say("H802", "an aggregate inside of a condition", query.span, hint)
            case Select():
                return [query]
            case Combined(how="UNION", left=left, right=right):
                return [*self._selects(left), *self._selects(right)]
            case Combined(how=how, span=span):
                hint = "name the query with CREATE VIEW, and select from the view here"
                self.say("H802", f"{how} inside of a condition", span, hint)
        return []
