"""Writes the TextMate grammars of the languages: `python scripts/make_grammars.py`.

Their words come from the languages themselves; a test says when the files are behind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from horai.lang.ec.builtins import BODY_LITERALS, BUILTINS, SPECIAL_HEADS

FOLDER = Path(__file__).parent.parent / "editors" / "vscode" / "syntaxes"
Pattern = dict[str, Any]

_NUMBER: Pattern = {
    "name": "constant.numeric",
    "match": r"\b(?:0'(?:\\.|.)|0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)",
}
_COMMON: list[Pattern] = [
    {"name": "string.quoted.single", "match": r"'(?:[^'\\]|''|\\.)*'"},
    {"name": "string.quoted.double", "match": r'"(?:[^"\\]|""|\\.)*"'},
    _NUMBER,
    {"name": "variable.other", "match": r"\b[A-Z_]\w*"},
    {"name": "entity.name.function", "match": r"\b[a-z]\w*(?=\()"},
    {"name": "constant.other", "match": r"\b[a-z]\w*"},
]


def _words(names: Any) -> str:
    return "|".join(sorted(names, key=lambda name: (-len(name), name)))


def _block(begin: str, end: str) -> Pattern:
    return {"name": "comment.block", "begin": begin, "end": end}


def event_calculus() -> Pattern:
    """The grammar of event descriptions."""
    conditions = {*BODY_LITERALS, *(name for name, _ in BUILTINS)}
    signs = r":-|->|\\\+|=:=|=\\=|\\==|\\=|==|=<|>=|@=<|@>=|@<|@>|//|\*\*|[-+*/^<>=;!|]"
    patterns = [
        {"name": "comment.line.percentage", "match": "%.*$"},
        _block(r"/\*", r"\*/"),
        {"name": "keyword.declaration", "match": rf"\b(?:{_words(SPECIAL_HEADS)})(?=\()"},
        {"name": "support.function", "match": rf"\b(?:{_words(conditions)})(?=\()"},
        {"name": "keyword.operator.word", "match": r"\b(?:is|mod|rem|not)\b"},
        *_COMMON,
        {"name": "keyword.operator", "match": signs},
    ]
    return {"name": "Horai", "scopeName": "source.horai", "patterns": patterns}


def lars() -> Pattern:
    """The grammar of LARS programs."""
    signs = r":-|->|!=|<>|<=|=<|>=|==|\.\.|\*\*|[-+*/^<>=;:@#|]"
    patterns = [
        _block(r"%\*", r"\*%"),
        _block(r"/\*", r"\*/"),
        {"name": "comment.line", "match": "(?:%|//).*$"},
        {"name": "keyword.control", "match": r"\b(?:some|always|reset|not|at|in)\b"},
        {"name": "support.function", "match": r"\b(?:count|sum|min|max)(?=\s*\{)"},
        *_COMMON,
        {"name": "keyword.operator", "match": signs},
    ]
    return {"name": "Horai LARS", "scopeName": "source.horai.lars", "patterns": patterns}


GRAMMARS = {"horai": event_calculus, "lars": lars}


def text_of(name: str) -> str:
    """The text of a grammar file."""
    return json.dumps(GRAMMARS[name](), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in GRAMMARS:
        (FOLDER / f"{name}.tmLanguage.json").write_text(text_of(name), encoding="utf-8")
