"""Text of strangers as people may see it: it steers no terminal and gives no secret away."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from io import StringIO

LONGEST = 200
_USER = re.compile(r"(?<=//)[^/\s?#]*@")
_QUERY = re.compile(r"(//[^\s?#]*\?)[^\s#'\"]+")
# Control characters, those that turn the direction of writing, and halves of surrogate pairs.
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def redacted(text: str) -> str:
    """A text without users, passwords and queries of addresses in it.

    >>> redacted("kafka://me:word@host:9092/items, http://x/y?key=word")
    'kafka://***@host:9092/items, http://x/y?***'
    """
    return _QUERY.sub(r"\1***", _USER.sub("***@", text)) if "//" in text else text


def printable(text: str) -> str:
    r"""A text in which what would steer a terminal is spelled out; ends of lines and tabs stay.

    >>> printable("a\x1b[2Jb")
    'a\\x1b[2Jb'
    """
    return _STEERS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


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
