"""Answers of LARS programs as tables, which travel between processes and become data frames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from horai.lang.core.terms import Term
from horai.lang.lars.syntax import Atom
from horai.runtime.lars.job import Told
from horai.runtime.lars.result import LarsAnswer
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


class AnswerLine(NamedTuple):
    """An atom of an answer, or that there is no answer (`none`) or nothing in a model (`empty`)."""

    kind: str
    query: int
    model: int | None = None
    name: str | None = None
    args: tuple[str, ...] = ()
    op: str | None = None
    arrived: int | None = None


def table_of(lines: Iterable[AnswerLine]) -> pa.Table:
    """Lines as a table."""
    columns = list(zip(*lines, strict=True)) or [() for _ in SCHEMA]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def lines_of(answer: LarsAnswer, numbered: bool = True) -> Iterator[AnswerLine]:
    """An answer line by line."""
    if not answer.models:
        yield AnswerLine("none", answer.query)
    for number, model in enumerate(answer.models if numbered else answer.models[:1], 1):
        which = number if numbered else None
        for atom in model:
            yield AnswerLine("atom", answer.query, which, atom.name, tuple(map(_text, atom.args)))
        if not model and numbered:
            yield AnswerLine("empty", answer.query, which)


def said_in(said: Iterable[Told]) -> pa.Table:
    """All that was said, and when."""
    return table_of(
        line._replace(arrived=arrived) for arrived, answer in said for line in lines_of(answer)
    )


def said_by(table: pa.Table) -> list[Told]:
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
    return [
        Told(arrived, LarsAnswer(query, tuple(tuple(here[one]) for one in sorted(here))))
        for (arrived, query), here in models.items()
    ]


# --- forms of answers -------------------------------------------------------------------------


def formed(said: Iterable[Told], form: str, numbered: bool, revised: bool) -> Iterator[AnswerLine]:
    """What was said in one of the forms of answer; `revised` if answers may have changed."""
    if form == "changelog":
        yield from _revisions(said, numbered) if revised else _differences(said)
        return
    last: dict[int, LarsAnswer] = {}
    for arrived, answer in said:
        if form == "windows" and arrived == answer.query:
            yield from lines_of(answer, numbered)
        if not revised:
            last.clear()
        last[answer.query] = answer
    if form == "final":
        for answer in last.values():
            yield from lines_of(answer, numbered)


def _revisions(said: Iterable[Told], numbered: bool) -> Iterator[AnswerLine]:
    """How answers at each query time change as signals come."""
    before: dict[int, dict[AnswerLine, None]] = {}
    for arrived, answer in said:
        now = dict.fromkeys(lines_of(answer, numbered))
        then = before.get(answer.query, {})
        yield from (line._replace(op="-", arrived=arrived) for line in then if line not in now)
        yield from (line._replace(op="+", arrived=arrived) for line in now if line not in then)
        before[answer.query] = now


def _differences(said: Iterable[Told]) -> Iterator[AnswerLine]:
    """What comes and goes from one answer to the next."""
    then: dict[AnswerLine, None] = {}
    for _, answer in said:
        now = {line._replace(query=0): None for line in lines_of(answer, numbered=False)}
        for op, here, there in (("-", now, then), ("+", then, now)):
            for line in there:
                if line not in here and (line.kind == "atom" or op == "+"):
                    is_atom = line.kind == "atom"
                    yield line._replace(query=answer.query, op=op if is_atom else None)
        then = now


@lru_cache(maxsize=1 << 16)  # the same entities come again and again
def _text(term: Term) -> str:
    return show(term)
