"""Continuous queries as LARS: relational algebra as rules, streams through windows.

A query becomes a rule for each alternative of its condition: sources are window atoms and facts,
equal columns the same variable, `NOT EXISTS` the negation of a rule of its own. Relations are sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from horai.lang.cql.syntax import (
    Call,
    Combined,
    Declaration,
    Exists,
    Expression,
    Insert,
    Query,
    Reference,
    Select,
    Statement,
    Untranslated,
    View,
)
from horai.lang.diagnostics import Diagnostic, did_you_mean, sort_key
from horai.lang.lars.syntax import (
    Atom,
    Formula,
    Not,
    Program,
    Rule,
)
from horai.lang.relative_codes import RELATIVE_CODES
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.terms import Span, Term, Var
from horai.relatives.building import compare
from horai.relatives.cql_conditions import (
    Alternatives,
    TooMany,
    alternatives,
    expression_value,
    untranslated_parts,
)
from horai.relatives.cql_groups import Groups, has_aggregates
from horai.relatives.cql_rows import columns_of, finished, is_computed, items_of
from horai.relatives.cql_scope import Scope
from horai.relatives.cql_sources import Known, read_source
from horai.relatives.names import Names

UNNAMED = "answer"


def translated(statements: Iterable[Statement], source: Source) -> tuple[Program, list[Diagnostic]]:
    """The program that derives the rows of all views, and what cannot be translated."""
    translation = Translation(list(statements), source)
    return translation.program(), sorted(translation.report.findings, key=sort_key)


class Translation:
    """Statements on their way to rules."""

    def __init__(self, statements: list[Statement], source: Source) -> None:
        self.report = Report(RELATIVE_CODES)
        self.source = source
        self.rules: list[Rule] = []
        self._statements = statements
        self._known: dict[str, Known] = {}
        named = [s.name for s in statements if isinstance(s, Declaration | View) and s.name]
        self.names = Names(named)

    def program(self) -> Program:
        """The rules for all statements."""
        for statement in self._statements:
            match statement:
                case Declaration(name=name, columns=columns, is_stream=is_stream, span=span):
                    self._declare(name, Known(name, columns, is_stream), span)
                case Insert():
                    self._insert(statement)
                case View(name=name, query=query, span=span):
                    own = self.names.free(UNNAMED) if name is None else name
                    try:
                        columns = self.query(query, own, None)
                    except TooMany:
                        hint = "split the query: name a part of it with CREATE VIEW"
                        self.say("H801", "a condition with too many alternatives", span, hint)
                        columns = ()
                    self._declare(own, Known(own, columns, False), span)
        return Program(tuple(finished(rule) for rule in self.rules))

    def say(self, code: str, message: str, span: Span | None, hint: str) -> None:
        """Note what is wrong."""
        self.report.add(code, message, self.source, span, hint)

    def _declare(self, name: str, known: Known, span: Span | None) -> None:
        if name in self._known:
            self.say("H804", f"`{name}` is declared already", span, "choose another name")
        self._known[name] = known

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
            self.rules.append(Rule(Atom(known.predicate, row)))

    def _relation(self, name: str, span: Span | None) -> Known | None:
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
            case Untranslated():
                self._untranslated(query)
                return ()
            case Combined(how="UNION", left=left, right=right):
                columns = self.query(left, name, outer)
                self._same_width(query, columns, self.query(right, name, outer))
                return columns
            case Combined(how=how, left=left, right=right):
                one, other = self.names.fresh("left"), self.names.fresh("right")
                columns = self.query(left, one, outer)
                self._same_width(query, columns, self.query(right, other, outer))
                row = tuple(Var(column.capitalize()) for column in columns)
                second: Formula = Atom(other, row)
                body = (Atom(one, row), Not(second) if how == "EXCEPT" else second)
                self.rules.append(Rule(Atom(name, row), body))
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
        aggregate: Callable[[Call], Term] = self._no_aggregate
        groups = None
        if has_aggregates(query):
            groups = Groups(query, scope, self.names.fresh("rows"), self.say)
            self.rules.extend(Rule(groups.row, tuple(body)) for body in bodies)
            bodies, column, aggregate = groups.bodies(), groups.column, groups.value
        row: list[Term] = []
        computed: list[Formula] = []
        for item in items:
            value = expression_value(item.expression, column, aggregate)
            if is_computed(item):
                own = Var(scope.variables.free((item.name or "value").capitalize()))
                computed.append(compare(own, "=", value))
                value = own
            row.append(value)
        more = [*computed, *(() if groups is None else groups.counted())]
        self.rules.extend(Rule(Atom(name, tuple(row)), (*body, *more)) for body in bodies)
        return columns_of(items)

    def scope(self, query: Select, outer: Scope | None) -> Scope:
        """The sources of a query."""
        variables = Names([]) if outer is None else outer.variables
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
                scope.add(read_source(self.say, source, known, scope))
        return scope

    def _untranslated(self, part: Untranslated) -> None:
        self.say("H802", part.what, part.span, part.hint)

    # --- conditions ---

    def bodies(self, query: Select, scope: Scope) -> Alternatives:
        """The bodies of rules for the rows that a query selects from."""
        for part in untranslated_parts(query.where):
            self._untranslated(part)
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

    def _no_aggregate(self, call: Call) -> Term:
        hint = "aggregates stand between SELECT and FROM, and after HAVING"
        self.say("H810", "an aggregate cannot stand here", call.span, hint)
        return Var("Unknown")

    def exists(self, part: Exists, outer: Scope) -> Formula:
        """An atom that says whether a query has rows, with a predicate of its own."""
        name = self.names.fresh("exists")
        inners: list[tuple[Scope, list[Formula]]] = []
        for select in self._selects(part.query):
            inner = self.scope(select, outer)
            wanted: list[Formula] = []
            if part.wanted is not None:
                wanted = [self._member(part, select, inner)]
            inners.extend((inner, [*body, *wanted]) for body in self.bodies(select, inner))
        captured = {name: r for inner, _ in inners for name, r in inner.captured.items()}
        head = Atom(name, tuple(Var(variable) for variable in sorted(captured)))
        around = list(dict.fromkeys(relation.condition for relation in captured.values()))
        self.rules.extend(Rule(head, (*around, *body)) for _, body in inners)
        return head

    def _member(self, part: Exists, select: Select, inner: Scope) -> Formula:
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
            case Untranslated():
                self._untranslated(query)
        return []
