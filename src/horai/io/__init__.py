"""Streams in and out: narratives, CSV, Parquet, Arrow, JSON lines.

schema = InputSchema.of([InputType("go_to", "event", 2), InputType("working", "fluent", 1)])
narrative = read(["day.csv", "night.parquet"], schema)
narrative.tables         # typed Arrow tables, one per name, arity and form of row
narrative.dead_letters   # rows that could not be used, each with its reason
"""

from horai.io.answers import (
    AnswerBlock,
    AnswerFormat,
    AnswerKind,
    AnswerRow,
    AnswerTable,
    answer_table,
    write_answers,
)
from horai.io.items.read import read, read_object
from horai.io.items.rows import Item
from horai.io.items.tables import ItemTable, Narrative
from horai.io.letters import CODES, DeadLetter, InputError, write_dead_letters
from horai.io.schema import PARTS, Format, InputSchema, InputType, Kind, TypeColumns
from horai.io.terms import (
    Term,
    TermColumn,
    TermText,
    distinct,
    from_source,
    from_uniques,
    quote_atom,
    to_source,
)
from horai.io.times import UNITS, TimeScale, Unit, format_time

__all__ = [
    "CODES",
    "PARTS",
    "UNITS",
    "AnswerBlock",
    "AnswerFormat",
    "AnswerKind",
    "AnswerRow",
    "AnswerTable",
    "DeadLetter",
    "Format",
    "InputError",
    "InputSchema",
    "InputType",
    "Item",
    "ItemTable",
    "Kind",
    "Narrative",
    "Term",
    "TermColumn",
    "TermText",
    "TimeScale",
    "TypeColumns",
    "Unit",
    "answer_table",
    "distinct",
    "format_time",
    "from_source",
    "from_uniques",
    "quote_atom",
    "read",
    "read_object",
    "to_source",
    "write_answers",
    "write_dead_letters",
]
