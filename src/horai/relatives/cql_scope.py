"""Which column a name of a query means, and the variable that stands for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from horai.lang.cql.syntax import Reference
from horai.lang.diagnostics import did_you_mean
from horai.lang.lars.syntax import Formula
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.terms import Var
from horai.relatives.names import Names


@dataclass(frozen=True)
class Relation:
    """A source of rows: the condition that brings them, and a variable for each column."""

    alias: str
    condition: Formula
    columns: Mapping[str, Var]


@dataclass
class Scope:
    """The sources of a query, and the query around it.

    What an inner query takes from an outer one is `captured`: rules for the inner query need the
    sources of these variables, too.
    """

    variables: Names
    report: Report
    text: Source
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
        named = reference.column if reference.source is None else _written(reference)
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


def _written(reference: Reference) -> str:
    return f"{reference.source}.{reference.column}"
