"""Where a query selects from: streams through windows, tables and views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from horai.lang.cql.syntax import Range, Rows, Untranslated
from horai.lang.cql.syntax import Source as From
from horai.lang.lars.syntax import Atom, Formula, PartitionWindow, Pattern, TimeWindow, Window
from horai.lang.terms import Span, Var
from horai.relatives.building import some
from horai.relatives.cql_scope import Relation, Scope

Say = Callable[[str, str, Span | None, str], None]  # code, message, place and hint of a mistake


@dataclass(frozen=True)
class Known:
    """A stream, table or view: its predicate and columns."""

    predicate: str
    columns: tuple[str, ...]
    is_stream: bool


def read_source(say: Say, source: From, known: Known, scope: Scope) -> Relation:
    """The condition that a source is, and the variables of its columns."""
    alias = source.alias.capitalize()
    columns = {c: Var(scope.variables.free(f"{alias}_{c}")) for c in known.columns}
    atom = Atom(known.predicate, tuple(columns.values()))
    condition: Formula = atom
    if known.is_stream and source.window is None:
        hint = f"choose one: `{source.name} [RANGE 10 s]`, `[ROWS 5]`, `[NOW]`, `[UNBOUNDED]`"
        say("H809", f"the stream `{source.name}` needs a window", source.span, hint)
    elif source.window is not None and not known.is_stream:
        say("H809", f"`{source.name}` is no stream", source.span, "leave the window out")
    elif source.window is not None:
        window = _window(say, source.window, known)
        if window is not None:
            condition = some(atom, window)
    return Relation(source.alias, condition, columns)


def _window(say: Say, window: Range | Rows | Untranslated, known: Known) -> Window | None:
    match window:
        case Range(length=length, slide=slide):
            return TimeWindow(length, hop=slide)
        case Rows(number=number, by=by):
            groups = {reference.column for reference in by}
            for reference in by:
                if reference.column not in known.columns:
                    hint = f"there are: {', '.join(known.columns)}"
                    say("H807", f"there is no column `{reference.column}`", reference.span, hint)
            args = tuple(
                Var(c.capitalize()) if c in groups else Var(f"_#{place}")
                for place, c in enumerate(known.columns)
            )
            return PartitionWindow(number, 0, (Pattern(known.predicate, args),))
        case Untranslated():
            say("H802", window.what, window.span, window.hint)
    return None
