"""Quoted atoms and strings: escapes read and written."""

from __future__ import annotations

import re

_SIMPLE = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "s": " ",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "\n": "",  # a backslash at the end of a line joins it with the next
}
_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]+)\\?|(?P<octal>[0-7]+)\\|u(?P<u4>[0-9a-fA-F]{4})"
    r"|U(?P<u8>[0-9a-fA-F]{8})|(?P<simple>.)|$)",
    re.DOTALL,
)
_PLAIN_WORD = re.compile(r"[^\W\d_]\w*")


class BadEscape(ValueError):
    """An escape that means nothing; `offset` and `length` say where in the quoted text."""

    def __init__(self, offset: int, length: int) -> None:
        super().__init__("unknown escape")
        self.offset = offset
        self.length = length


def unquote(quoted: str) -> str:
    """The text of a quoted atom or string, quotes included on input.

    >>> unquote("'It''s\\\\n'")
    "It's\\n"
    """
    quote = quoted[0]
    body = quoted[1:-1]
    if "\\" not in body:
        return body.replace(quote * 2, quote)
    out: list[str] = []
    at = 0
    while at < len(body):
        char = body[at]
        if char == "\\":
            value, length = _escape(body, at)
            out.append(value)
            at += length
        else:
            out.append(char)
            at += 2 if char == quote else 1
    return "".join(out)


def _escape(body: str, at: int) -> tuple[str, int]:
    found = _ESCAPE.match(body, at)
    assert found is not None
    length = max(1, found.end() - at)
    simple = found["simple"]
    if simple is not None:
        if simple not in _SIMPLE:
            raise BadEscape(at + 1, length)
        return _SIMPLE[simple], length
    digits = found["hex"] or found["u4"] or found["u8"]
    code = int(digits, 16) if digits else int(found["octal"] or "7777777", 8)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise BadEscape(at + 1, length)
    return chr(code), length


def quote(text: str, mark: str = "'") -> str:
    """The text between quotes, escaped so that it stays on one line.

    >>> quote("It's")
    "'It\\\\'s'"
    """
    return mark + "".join(_written(char, mark) for char in text) + mark


def _written(char: str, mark: str) -> str:
    if char == mark or char == "\\":
        return "\\" + char
    if char == "\n":
        return "\\n"
    if char == "\t":
        return "\\t"
    if char.isprintable():
        return char
    return f"\\x{ord(char):x}\\"


def is_plain_word(name: str) -> bool:
    """True for an atom that needs no quotes: a word that starts with a small letter."""
    return _PLAIN_WORD.fullmatch(name) is not None and not starts_variable(name)


def starts_variable(word: str) -> bool:
    """True for a word that reads as a variable: a capital letter or `_` comes first."""
    first = word[0]
    return first == "_" or first.isupper() or first.istitle()
