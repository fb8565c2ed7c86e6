"""From text to tokens, one clause at a time.

Prolog cannot be cut into tokens without looking around: `-` is a sign, an operator or an atom,
and a name is a functor only right before `(`. All of that is settled here, so that the grammar
(`prolog.lark`) stays a plain table of operator priorities.
"""

from __future__ import annotations

import re

from lark import Token

from horai.lang.core.printer import starts_variable

_LAYOUT = re.compile(r"(?:\s++|%[^\n]*+|/\*.*?\*/)+", re.DOTALL)

# Longest first; the signs that people write by mistake stand before the operators they contain.
_MISTAKEN = (
    "<-->|-->|<=>|==>|=!=|===|!==|=/=|=[.][.]|!=|<=|=>|<>|~=|/=|:=|=:(?!=)|&&|[|][|]|"
    r"<-(?!\s*[0-9])|::|[?]-|\\/|/\\|>>|<<|[*]/"
)
_MISTAKEN_CHARACTERS = r"[&~:@#$?\\.≤≥≠∧∨¬←→⇒⇐]"
_OPERATORS = r":-|->|\\\+|=:=|=\\=|\\==|\\=|==|=<|>=|@=<|@>=|@<|@>|//|[*][*]|[-+*/^<>=;,|]"
# U+FFFD counts as a letter: it stands for bytes that are no UTF-8, which were reported already.
_ESCAPE = r"\\(?:x[0-9a-fA-F]+\\?|[0-7]+\\|.|\n)"
_TOKEN = re.compile(
    rf"""
      (?P<FLOAT>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+))
    | (?P<CHAR>0'(?:''|{_ESCAPE}|[^\\'\n]))
    | (?P<RADIX>0(?:x[0-9a-fA-F]+|o[0-7]+|b[01]+))
    | (?P<INT>[0-9]+(?:_[0-9]+)*)
    | (?P<WORD>(?:[^\W\d]|\ufffd)(?:\w|\ufffd)*+)
    | (?P<QUOTED>'(?:[^'\\\n]|''|{_ESCAPE})*+')
    | (?P<STR>"(?:[^"\\\n]|""|{_ESCAPE})*+")
    | (?P<OPENQUOTE>['"`][^\n]*)
    | (?P<END>\.(?=\s|%|\Z))
    | (?P<OPENCOMMENT>/\*)
    | (?P<MISTAKEN>{_MISTAKEN})
    | (?P<OP>{_OPERATORS})
    | (?P<BAD>{_MISTAKEN_CHARACTERS})
    | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\]) | (?P<LBRACE>\{{) | (?P<RBRACE>\}})
    | (?P<CUT>!)
    | (?P<STRAY>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_INFIX = {
    ":-": "NECK",
    ";": "SEMI",
    "->": "ARROW",
    ",": "COMMA",
    "|": "BAR",
    "+": "ADD",
    "-": "ADD",
    "*": "MUL",
    "/": "MUL",
    "//": "MUL",
    "**": "POW",
    "^": "POW",
}
_INFIX_WORDS = {"is": "REL", "mod": "MUL", "rem": "MUL"}
_DIRECTIVE_WORDS = frozenset({"dynamic", "discontiguous", "multifile", "table", "initialization"})
_OPERAND_ENDS = frozenset(
    {"NAME", "VAR", "INT", "FLOAT", "STR", "RPAR", "RSQB", "RBRACE", "CUT", "BADQUOTE"}
)
_CLOSERS = frozenset(",)]|}")


def skip_layout(text: str, at: int) -> int:
    """The offset of the next token: blanks and comments are passed over."""
    found = _LAYOUT.match(text, at)
    return found.end() if found else at


def scan_clause(text: str, at: int) -> tuple[list[Token], int]:
    """The tokens of the clause that starts at an offset, and the offset after it.

    The last token is `END` unless the text ran out. Nothing raises: what cannot be read becomes
    a token of kind `BAD`, `STRAY`, `BADQUOTE` or `OPENCOMMENT`.

    >>> [t.type for t in scan_clause("p(-1, X) :- q.", 0)[0]]
    ['FUNCTOR', 'LPAR', 'INT', 'COMMA', 'VAR', 'RPAR', 'NECK', 'NAME', 'END']
    """
    tokens: list[Token] = []
    anonymous = 0
    previous = ""
    while True:
        at = skip_layout(text, at)
        found = _TOKEN.match(text, at)
        if found is None:
            return tokens, at
        kind = found.lastgroup or "STRAY"
        value, end = found.group(), found.end()
        if kind == "WORD":
            kind = _word_kind(value, previous, text, end)
            if len(tokens) == 1 and previous == "NECK" and value in _DIRECTIVE_WORDS:
                kind = _directive_kind(kind, text, end)
            if value == "_":
                anonymous += 1
                value = f"_#{anonymous}"
        elif kind == "QUOTED":
            kind = "FUNCTOR" if text[end : end + 1] == "(" else "NAME"
        elif kind == "OP":
            kind, end = _operator_kind(value, previous, text, end)
            value = text[at:end]
        elif kind in ("CHAR", "RADIX"):
            kind = "INT"
        elif kind == "MISTAKEN":
            kind = "BAD"
        elif kind == "OPENQUOTE":
            kind = "BADQUOTE"
        elif kind == "OPENCOMMENT":
            end = len(text)
        tokens.append(Token(kind, value, start_pos=at, end_pos=end))
        if kind == "END":
            return tokens, end
        previous = kind
        at = end


def _word_kind(word: str, previous: str, text: str, end: int) -> str:
    if starts_variable(word):
        return "VAR"
    if previous in _OPERAND_ENDS and word in _INFIX_WORDS:
        return _INFIX_WORDS[word]
    if word == "not" and not _closes(text, end):
        return "NAF"
    if text[end : end + 1] == "(":
        return "FUNCTOR"
    return "NAME"


def _directive_kind(kind: str, text: str, end: int) -> str:
    """`:- dynamic p/1.` has no brackets, unlike other directives."""
    return "DIRECTIVE" if kind == "NAME" and not _closes(text, end) else kind


def _operator_kind(sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
    if sign in (",", "|"):
        return _INFIX[sign], end
    if previous in _OPERAND_ENDS or sign == ":-":
        # `a \+ b` lacks a comma; the kind must not hide that.
        return ("NAF" if sign == "\\+" else _INFIX.get(sign, "REL")), end
    if sign == "\\+":
        return ("NAME" if _closes(text, end) else "NAF"), end
    after = text[end : end + 1]
    if sign == "-" and after.isdigit():
        found = _TOKEN.match(text, end)
        if found is not None and found.lastgroup in ("INT", "FLOAT", "RADIX", "CHAR"):
            return ("FLOAT" if found.lastgroup == "FLOAT" else "INT"), found.end()
    if after == "(":
        return "FUNCTOR", end
    if _closes(text, end):
        return "NAME", end
    return ("SIGN" if sign in "+-" else _INFIX.get(sign, "REL")), end


def _closes(text: str, at: int) -> bool:
    """True when an operand ends here, so that an operator before it stands for itself."""
    at = skip_layout(text, at)
    return at < len(text) and text[at] in _CLOSERS
