"""One line of text: decoding it and cutting it into fields."""

from __future__ import annotations

from .letters import BadRow
from .terms import BLANKS

QUOTE = '"'


def decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = raw[error.start : error.start + 1].hex()
        reason = f"byte {error.start + 1} (hex {bad}) is not UTF-8; save the file as UTF-8"
        raise BadRow("encoding", reason) from error


def split_fields(text: str, delimiter: str) -> list[str]:
    """The fields of a line without quotes and surrounding blanks.

    >>> split_fields('a| x y |"p|q"|"say ""hi"" "|5" pipe', "|")
    ['a', 'x y', 'p|q', 'say "hi" ', '5" pipe']
    """
    if QUOTE not in text:
        return [field.strip(BLANKS) for field in text.split(delimiter)]
    return [field for field, _ in scan_fields(text, delimiter)]


def scan_fields(text: str, delimiter: str) -> list[tuple[str, bool]]:
    """The fields of a line, each with whether it was quoted."""
    fields: list[tuple[str, bool]] = []
    at = 0
    while True:
        begin = at
        while begin < len(text) and text[begin] in BLANKS and text[begin] != delimiter:
            begin += 1
        if text.startswith(QUOTE, begin):
            field, stop = _quoted(text, begin + 1, delimiter)
            fields.append((field, True))
        else:
            found = text.find(delimiter, at)
            stop = len(text) if found < 0 else found
            fields.append((text[at:stop].strip(BLANKS), False))
        if stop >= len(text):
            return fields
        at = stop + 1


def _quoted(text: str, begin: int, delimiter: str) -> tuple[str, int]:
    """The field that opened just before `begin`, and where its delimiter stands."""
    parts: list[str] = []
    while True:
        close = text.find(QUOTE, begin)
        if close < 0:
            raise BadRow("quote", 'a field opens with " and does not close on this line')
        parts.append(text[begin:close])
        if not text.startswith(QUOTE, close + 1):
            break
        parts.append(QUOTE)
        begin = close + 2
    found = text.find(delimiter, close + 1)
    stop = len(text) if found < 0 else found
    if text[close + 1 : stop].strip(BLANKS):
        raise BadRow("quote", 'text after the closing " of a field; write "" for a " inside it')
    return "".join(parts), stop
