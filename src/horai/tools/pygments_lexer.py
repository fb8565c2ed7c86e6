"""Colours for rules in documents: the languages of Horai for Pygments."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Token,
)

from horai.lang.ec.builtins import BODY_LITERALS, BUILTINS, SPECIAL_HEADS

_Rules = list[tuple[object, ...]]

_NUMBERS: _Rules = [
    (r"0'(?:''|\\.|[^\\'\n])", Number),
    (r"\d+\.\d+(?:[eE][+-]?\d+)?", Number.Float),
    (r"0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|\d+(?:_\d+)*", Number.Integer),
]
_TEXTS: _Rules = [
    (r"'(?:[^'\\\n]|''|\\.|\\\n)*'", String.Symbol),
    (r'"(?:[^"\\\n]|""|\\.|\\\n)*"', String.Double),
]
_NAMES: _Rules = [
    (r"[A-Z_]\w*", Name.Variable),
    (r"[^\W\d_]\w*(?=\()", Name.Function),
    (r"[^\W\d_]\w*", Name),
    (r"[()\[\]{},.|]", Punctuation),
    (r"\s+", Text.Whitespace),
]


class HoraiLexer(RegexLexer):
    """Event descriptions: the Event Calculus."""

    name = "Horai"
    aliases: ClassVar[list[str]] = ["horai", "event-calculus", "rtec"]
    filenames: ClassVar[list[str]] = ["*.ec"]
    tokens: ClassVar[dict[str, _Rules]] = {
        "root": [
            (r"%[^\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            *_NUMBERS,
            *_TEXTS,
            (words(sorted(SPECIAL_HEADS), prefix=r"\b", suffix=r"(?=\()"), Keyword.Declaration),
            (
                words(sorted({*BODY_LITERALS, *(n for n, _ in BUILTINS)}), r"\b", r"(?=\()"),
                Name.Builtin,
            ),
            (words(("is", "mod", "rem", "not"), r"\b", r"\b"), Operator.Word),
            (r":-|->|\\\+|=:=|=\\=|\\==|\\=|==|=<|>=|@=<|@>=|@<|@>|//|\*\*|[-+*/^<>=;!]", Operator),
            *_NAMES,
            (r".", Token.Error),
        ]
    }


class LarsLexer(RegexLexer):
    """LARS programs."""

    name = "Horai LARS"
    aliases: ClassVar[list[str]] = ["lars"]
    filenames: ClassVar[list[str]] = ["*.lars"]
    tokens: ClassVar[dict[str, _Rules]] = {
        "root": [
            (r"/\*(?:.|\n)*?\*/|%\*(?:.|\n)*?\*%", Comment.Multiline),
            (r"//[^\n]*|%[^\n]*", Comment.Single),
            *_NUMBERS,
            *_TEXTS,
            (words(("some", "always", "reset", "not", "at", "in"), r"\b", r"\b"), Keyword),
            (r"#?(?:count|sum|min|max)(?=\s*\{)", Name.Builtin),
            (r"@|#|:-|->|!=|<>|<=|=<|>=|==|\.\.|\*\*|[-+*/^<>=;:]", Operator),
            *_NAMES,
            (r".", Token.Error),
        ]
    }
