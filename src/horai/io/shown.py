"""Text of strangers as people may see it: it steers no terminal and gives no secret away."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from io import StringIO

LONGEST = 200
# An address that is taken for a path has one slash.
_USER = re.compile(r"(//|:/|\b(?:tcp|socket):)[^/\s?#]*@")
_QUERY = re.compile(r"((?://|:/)[^\s?#]*\?)[^\s#'\"]+")
# Control characters, those that turn the direction of writing, and halves of surrogate pairs.
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def redacted(text: str) -> str:
    """A text without users, passwords and queries of addresses in it.

    >>> redacted("kafka://me:word@host:9092/items, http://x/y?key=word")
    'kafka://***@host:9092/items, http://x/y?***'
    >>> redacted("http:/me:word@x/y?a and tcp:me:word@host:1, but not a@b")
    'http:/***@x/y?*** and tcp:***@host:1, but not a@b'
    """
    return _QUERY.sub(r"\1***", _USER.sub(r"\1***@", text)) if ":" in text or "//" in text else text


def printable(text: str) -> str:
    r"""A text in which what would steer a terminal is spelled out; ends of lines and tabs stay.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return STEERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def json_text(value: object, indent: int | None = None) -> str:
    r"""A value as JSON; letters stay as they are, and what would steer a terminal is escaped.

    >>> json_text(["é", "\x9b2J"])
    '["é","\\u009b2J"]'
    """
    separators = None if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
    return text if text.isascii() else STEERS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def shortened(text: str, limit: int = LONGEST) -> str:
    """The beginning of a text that is long, in one line.

    >>> shortened("a\\nb" * 100, 5)
    'a\\\\nb…'
    """
    some = printable(text[:limit].replace("\r", "\\r").replace("\n", "\\n"))
    return some if len(text) <= limit and len(some) <= limit else some[: limit - 1] + "…"


def csv_line(cells: Iterable[object]) -> str:
    r"""A line of CSV, without its end; a carriage return alone would end it for some who read it.

    >>> csv_line(["a", 1, "b\rc"])
    'a,1,"b\rc"'
    """
    out = StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()[:-2]
