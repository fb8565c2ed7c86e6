"""Answers of LARS programs as tables, which travel between processes and become data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import pyarrow as pa

from horai.io import AnswerRow
from horai.lang.core.terms import Term
from horai.lang.lars.syntax import Atom
from horai.runtime.lars.answers import PointAnswer, PointAnswers, Said
from horai.runtime.values import parse_term, show

SCHEMA = pa.schema(
    [
        pa.field("kind", pa.string()),
        pa.field("query", pa.int64()),
        pa.field("model", pa.int32()),
        pa.field("name", pa.string()),
        pa.field("args", pa.list_(pa.string())),
        pa.field("op", pa.string()),
        pa.field("arrived", pa.int64()),
    ]
)


def table_of(rows: Iterable[AnswerRow]) -> pa.Table:
    """Rows at query times as a table; their arguments are source text."""
    listed = list(rows)
    columns = {name: [getattr(row, name) for row in listed] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)


def said_in(found: PointAnswers) -> pa.Table:
    """All that was said, and when; what says nothing at all is left out if it revises nothing."""
    return table_of(
        row._replace(arrived=one.arrived)
        for one in found.said
        if found.revisable or one.answer.models != ((),)
        for row in one.answer.rows(True, source_text)
    )


def said_by(table: pa.Table) -> Iterator[Said]:
    """What `said_in` wrote down."""
    models: dict[tuple[int, int], dict[int, list[Atom]]] = {}
    atoms: dict[tuple[str, tuple[str, ...]], Atom] = {}
    columns = (table.column(name).to_pylist() for name in SCHEMA.names)
    for kind, query, model, name, args, _, arrived in zip(*columns, strict=True):
        here = models.setdefault((arrived, query), {})
        if kind != "none":
            atom_list = here.setdefault(model, [])
            if kind == "atom":
                key = (name, tuple(args))
                if key not in atoms:
                    atoms[key] = Atom(name, tuple(map(parse_term, args)))
                atom_list.append(atoms[key])
    for (arrived, query), here in models.items():
        yield Said(arrived, PointAnswer(query, tuple(tuple(here[one]) for one in sorted(here))))


@lru_cache(maxsize=1 << 16)  # the same entities come again and again
def source_text(term: Term) -> str:
    """An argument as source text."""
    return show(term)
