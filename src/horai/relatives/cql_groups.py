"""Groups of rows and their aggregates.

The rows that a query selects from have a predicate of their own. Of every group, an aggregate goes
over the different rows in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from horai.lang.cql.syntax import (
    Call,
    Constant,
    Exists,
    Expression,
    Operation,
    Reference,
    Select,
)
from horai.lang.lars.syntax import FUNCTIONS, Aggregate, Atom, Element, Formula, Function
from horai.lang.terms import Span, Term, Var
from horai.relatives.building import compare
from horai.relatives.cql_conditions import (
    Alternatives,
    alternatives,
    expression_value,
    untranslated_parts,
)
from horai.relatives.cql_scope import Scope

Say = Callable[[str, str, Span | None, str], None]


def has_aggregates(query: Select) -> bool:
    """Does a query have one row for each group?"""
    items = [item.expression for item in query.items]
    return bool(query.group) or query.having is not None or any(map(_calls, items))


def _calls(expression: Expression) -> bool:
    match expression:
        case Call():
            return True
        case Operation(left=left, right=right):
            return _calls(left) or _calls(right)
        case _:
            return False


class Groups:
    """The groups of a query."""

    def __init__(self, query: Select, scope: Scope, name: str, say: Say) -> None:
        self._query, self._scope, self._say = query, scope, say
        columns = [var for relation in scope.relations for var in relation.columns.values()]
        self.row = Atom(name, tuple(columns))
        self._keys = [scope.variable(reference) for reference in query.group]
        self._values: dict[Call, Var] = {}
        self._elements: dict[Var, tuple[Function, Element]] = {}

    def bodies(self) -> Alternatives:
        """For each alternative of `HAVING`: there is such a group, and it has this."""
        for part in untranslated_parts(self._query.having):
            self._say("H802", part.what, part.span, part.hint)
        found = alternatives(
            self._query.having,
            lambda part: expression_value(part, self.column, self.value),
            self._no_query,
        )
        nobody = (Var(f"_#{number}") for number in range(len(self.row.args)))
        args = (arg if arg in self._keys else next(nobody) for arg in self.row.args)
        here = [Atom(self.row.name, tuple(args))] if self._keys else []
        return [[*here, *conditions] for conditions in found]

    def _no_query(self, part: Exists) -> Formula:
        hint = "put it into WHERE, or name the grouped query with CREATE VIEW"
        self._say("H802", "a query inside of HAVING", part.span, hint)
        return Atom("unknown")

    def column(self, reference: Reference) -> Term:
        """A column of the groups."""
        var = self._scope.variable(reference)
        if var not in self._keys and var.name != "Unknown":
            hint = f"add `{reference.column}` to GROUP BY, or aggregate it: MIN({reference.column})"
            message = f"`{reference.column}` has no single value in a group"
            self._say("H810", message, reference.span, hint)
        return var

    def value(self, call: Call) -> Term:
        """The variable for the value of an aggregate."""
        if call not in self._values:
            var = Var(self._scope.variables.free(call.function.capitalize()))
            self._values[call] = var
            element = self._element(call)
            if element is not None:
                self._elements[var] = (cast(Function, call.function), element)
        return self._values[call]

    def _element(self, call: Call) -> Element | None:
        if call.function not in FUNCTIONS:
            hint = "select SUM and COUNT, and divide where the result is used"
            self._say("H802", f"there is no {call.function.upper()}", call.span, hint)
            return None
        every = tuple(arg for arg in self.row.args if arg not in self._keys) or self.row.args
        if call.argument is None:
            if call.function != "count":
                hint = "name a column"
                self._say("H801", f"{call.function.upper()} of what?", call.span, hint)
            return Element(every, (self.row,))
        term = expression_value(call.argument, self._scope.variable, self._nested)
        conditions: list[Formula] = [self.row]
        if not isinstance(call.argument, Reference | Constant):
            own = Var(self._scope.variables.free("Of"))
            conditions.append(compare(own, "=", term))
            term = own
        if call.function == "count" and not call.is_distinct:
            return Element(every, tuple(conditions))
        # Equal values of different rows are summed each; for the least it makes no difference.
        rest = every if call.function == "sum" and not call.is_distinct else ()
        return Element((term, *rest), tuple(conditions))

    def _nested(self, call: Call) -> Term:
        self._say("H810", "an aggregate of an aggregate", call.span, "name the inner one in a view")
        return Var("Unknown")

    def counted(self) -> Iterator[Formula]:
        """The conditions that give aggregates their values."""
        for var, (function, element) in self._elements.items():
            yield Aggregate(function, (element,), "=", var)
