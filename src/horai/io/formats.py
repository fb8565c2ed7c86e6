"""Which format a file has: by what the caller says, by its name, and by its first line."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, get_args

from .chunks import without_mark
from .csvfiles import guess_delimiter
from .headers import find_columns
from .letters import InputError
from .linetext import split_fields

Format = Literal["narrative", "csv", "jsonl", "parquet", "arrow"]
FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: dict[str, Format] = {
    ".txt": "narrative",
    ".narrative": "narrative",
    ".psv": "narrative",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def format_of(file: str) -> Format:
    """The format a file name stands for.

    >>> format_of("stream.csv.gz"), format_of("rows.feather")
    ('csv', 'arrow')
    """
    path = PurePath(file)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    found = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        known = " ".join(SUFFIXES)
        hint = f"name the format ({', '.join(FORMATS)}), or use one of {known}, also with .gz"
        raise InputError(file, "the file name does not tell its format", hint=hint)
    return found


def text_format(head: bytes, expected: Format, file: str, type_name: str | None) -> Format:
    """Narrative or CSV? A header that names type and time makes CSV, a `|` a narrative.

    `expected` is what the file name says; files of the original system are narratives in `.csv`.
    """
    line = first_line(head, file)
    delimiter = guess_delimiter(line, type_name)
    if delimiter == "|" and _in_narrative_order(split_fields(line, "|")):
        return "narrative"
    if delimiter is not None:
        return "csv"
    if expected == "narrative" or "|" in line or not line:
        return "narrative"
    hint = "start with a line such as type,time,a0,a1 or write rows as Type|Arrival|Time|Arg1"
    raise InputError(file, "no header names the columns, and there is no '|'", hint=hint)


def first_line(head: bytes, file: str) -> str:
    """The first line of a file that is not blank, without surrounding blanks."""
    rest = without_mark(head, file).lstrip(b" \t\r\n")
    return rest.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip()


def _in_narrative_order(names: list[str]) -> bool:
    """True for `type|arrival|time...`: rows need not be as long as such a header."""
    parts = find_columns(names).parts
    return [parts.get("type"), parts.get("arrival")] == [0, 1] and 2 in (
        parts.get("time"),
        parts.get("start"),
    )
