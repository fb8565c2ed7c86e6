"""Streams in and out: narratives, CSV, Parquet, Arrow, JSON lines.

schema = InputSchema.of([InputType("go_to", "event", 2), InputType("working", "fluent", 1)])
narrative = read(["day.csv", "night.parquet"], schema)
narrative.tables         # typed Arrow tables, one per name, arity and form of row
narrative.dead_letters   # rows that could not be used, each with its reason
"""

from .answers import AnswerBlock, AnswerRow, AnswerTable
from .formats import Format
from .items import Counts, ItemTable, Narrative
from .letters import CODES, DeadLetter, InputError, write_dead_letters
from .read import read, read_object
from .rows import Item
from .schema import Form, InputSchema, InputType, Kind, RowForm
from .termcolumns import TermColumn, TermKind, distinct, from_uniques
from .terms import Term, TermText, from_source, quote_atom, to_source
from .times import UNITS, Clock, Unit, format_time
from .write import AnswerFormat, answer_table, json_line, write_answers

__all__ = [
    "CODES",
    "UNITS",
    "AnswerBlock",
    "AnswerFormat",
    "AnswerRow",
    "AnswerTable",
    "Clock",
    "Counts",
    "DeadLetter",
    "Form",
    "Format",
    "InputError",
    "InputSchema",
    "InputType",
    "Item",
    "ItemTable",
    "Kind",
    "Narrative",
    "RowForm",
    "Term",
    "TermColumn",
    "TermKind",
    "TermText",
    "Unit",
    "answer_table",
    "distinct",
    "format_time",
    "from_source",
    "from_uniques",
    "json_line",
    "quote_atom",
    "read",
    "read_object",
    "to_source",
    "write_answers",
    "write_dead_letters",
]
