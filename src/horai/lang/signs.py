"""Mistakes inside single tokens: wrong signs, stray characters, quotes, numbers.

These are looked for before the grammar is tried, because it would stumble over them in places
that say nothing.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping

from lark import Token

from horai.lang.grammar import integer_value, token_span
from horai.lang.quoting import BadEscape, unquote
from horai.lang.trouble import ENDS, Clauses, Trouble

# Signs of other languages, and what to write instead.
_UNEQUAL = ("REL", "\\=", "write `\\=` for terms or `=\\=` for numbers")
_AND = ("COMMA", ",", "conditions are joined by `,`")
_OR = ("SEMI", ";", "alternatives are joined by `;` and put in parentheses")
_NOT = ("NAF", "\\+", "negation is written `\\+`")
_AT_MOST = ("REL", "=<", "less-or-equal is written `=<`")
_AT_LEAST = ("REL", ">=", "greater-or-equal is written `>=`")
INSTEAD = {
    **dict.fromkeys(("!=", "<>", "/=", "~=", "=/=", "=!=", "!==", "≠"), _UNEQUAL),
    **dict.fromkeys(("&&", "&", "/\\", "∧"), _AND),
    **dict.fromkeys(("||", "\\/", "∨"), _OR),
    **dict.fromkeys(("~", "¬"), _NOT),
    **dict.fromkeys(("<=", "≤"), _AT_MOST),
    **dict.fromkeys(("=>", "≥"), _AT_LEAST),
    "===": ("REL", "==", "identity is written `==`"),
    ":=": ("REL", "is", "a value is computed with `X is ...`"),
    "=:": ("REL", "=:=", "numbers are compared with `=:=`"),
}
_NECKS = frozenset({"<-", "←", ":=", "-->", "=:", ":", "::", "<=", "⇐", "<-->", "<=>"})
_REVERSED = frozenset({"=>", "==>", "→", "⇒"})
_QUOTES = frozenset("‘’‚‛“”„‟′″´«»")
_LARGEST = 2**63 - 1


Instead = Mapping[str, tuple[str, str, str]]
"""Signs of other languages: kind and text of what to read instead, and what to tell people."""


def check_tokens(trouble: Trouble, instead: Instead) -> Clauses | None:
    """None when every token is sound; otherwise the clauses to go on with."""
    for index, token in enumerate(trouble.tokens):
        if token.type == "BAD":
            return _bad_sign(trouble, index, token, instead)
        check = _CHECKS.get(token.type)
        mended = check(trouble, index, token) if check is not None else None
        if mended is not None:
            return mended
    return None


def _bad_sign(trouble: Trouble, index: int, token: Token, instead: Instead) -> Clauses:
    sign = str(token)
    if sign == ".":
        return _bad_stop(trouble, index)
    if sign == "*/":
        hint = "a block comment starts with `/*`; remove this one if there is no comment"
        trouble.say("H009", "`*/` ends a comment that never began", token_span(token), hint)
        return trouble.without(index)
    if _is_neck(trouble, index):
        return _bad_neck(trouble, index, sign)
    if sign in instead:
        kind, text, hint = instead[sign]
        message = f"`{sign}` is not a sign of the rule language"
        trouble.say("H007", message, token_span(token), hint, sure=True)
        return trouble.replaced(index, kind, text)
    hint = "if it belongs to a name, put the name in single quotes"
    if sign == "?-":
        hint = "rule files hold no queries: remove it"
    trouble.say("H007", f"`{sign}` is not a sign of the rule language", token_span(token), hint)
    return []


def _is_neck(trouble: Trouble, index: int) -> bool:
    """True when the sign stands between a head and a body."""
    sign = trouble.text(index)
    before = trouble.tokens[:index]
    return (
        (sign in _NECKS or sign in _REVERSED)
        and trouble.kind(index - 1) in ("NAME", "RPAR")
        and trouble.depth(index) == 0
        and not any(token.type in ("NECK", "COMMA", "REL") for token in _outside(before))
        and trouble.kind(0) in ("NAME", "FUNCTOR")
    )


def _outside(tokens: list[Token]) -> list[Token]:
    """The tokens that stand in no brackets."""
    outside: list[Token] = []
    depth = 0
    for token in tokens:
        depth -= token.type in ("RPAR", "RSQB", "RBRACE")
        if depth <= 0:
            outside.append(token)
        depth += token.type in ("LPAR", "LSQB", "LBRACE")
    return outside


def _bad_neck(trouble: Trouble, index: int, sign: str) -> Clauses:
    if sign in _REVERSED:
        message = f"`{sign}` does not make a rule: the head comes first, then `:-`"
        hint = "write `head :- conditions.`"
        trouble.say("H006", message, trouble.span(index), hint)
        return []
    split_neck = sign == ":" and trouble.text(min(index + 1, len(trouble.tokens) - 1)) == "-"
    if split_neck:
        span = (trouble.span(index)[0], trouble.span(index + 1)[1])
        trouble.say("H006", "`:-` must be written without a blank inside", span, "write `:-`")
        return trouble.replaced(index, "NECK", ":-", 2)
    message = f"`{sign}` stands where `:-` belongs"
    trouble.say("H006", message, trouble.span(index), "write `:-` between head and body")
    return trouble.replaced(index, "NECK", ":-")


def _bad_stop(trouble: Trouble, index: int) -> Clauses:
    span = trouble.span(index)
    after = trouble.kind(index + 1)
    glued = index + 1 < len(trouble.tokens) and trouble.span(index + 1)[0] == span[1]
    if glued and (after == "END" or trouble.text(index + 1) == "."):
        whole = (span[0], trouble.span(index + 1)[1])
        trouble.say("H013", "one full stop is enough", whole, "write a single `.`")
        return trouble.without(index)
    if after in ("INT", "FLOAT") and trouble.kind(index - 1) not in ENDS:
        number = trouble.text(index + 1)
        hint = f"write `0.{number}`"
        trouble.say("H013", "a number cannot start with a full stop", span, hint)
        return []
    if trouble.depth(index) == 0 and after in ("NAME", "FUNCTOR", "NECK"):
        hint = "put a blank or a new line after the full stop"
        message = "a full stop ends a clause only before a blank or the end of a line"
        trouble.say("H013", message, span, hint)
        return [[*trouble.tokens[:index], _stop(trouble, index)], trouble.tokens[index + 1 :]]
    hint = "quote a name with a full stop inside ('a.b'); a decimal has digits on both sides (1.0)"
    trouble.say("H013", "a full stop inside a clause", span, hint)
    return []


def _stop(trouble: Trouble, index: int) -> Token:
    start, end = trouble.span(index)
    return Token("END", ".", start_pos=start, end_pos=end)


def _stray(trouble: Trouble, index: int, token: Token) -> Clauses:
    char = str(token)
    if char in _QUOTES:
        hint = "use the plain quote ' around atoms and \" around strings"
        message = f"the typographic quote {char} means nothing here"
        trouble.say("H014", message, trouble.span(index), hint)
        return []
    name = unicodedata.name(char, "").lower() or "a control character"
    shown = f"`{char}` ({name})" if char.isprintable() else f"U+{ord(char):04X} ({name})"
    hint = "remove it, or put it inside quotes"
    trouble.say("H014", f"the character {shown} means nothing here", trouble.span(index), hint)
    return []


def _open_quote(trouble: Trouble, index: int, token: Token) -> Clauses:
    start = trouble.span(index)[0]
    mark = str(token)[0]
    span = (start, start + len(str(token).rstrip()))
    if mark == "`":
        hint = "use ' around atoms and \" around strings"
        trouble.say("H014", "the character ` means nothing here", (start, start + 1), hint)
    else:
        hint = f"add the closing {mark} on the same line"
        if index and trouble.kind(index - 1) in ENDS and trouble.span(index - 1)[1] == start:
            hint = "an apostrophe inside a name needs quotes around the name: 'it\\'s'"
        trouble.say("H008", f"this quote {mark} is never closed", span, hint)
    return trouble.next_clause(index)


def _open_comment(trouble: Trouble, index: int, token: Token) -> Clauses:
    start = trouble.span(index)[0]
    hint = "add `*/` where the comment ends; everything after it was passed over"
    trouble.say("H009", "this block comment is never closed", (start, start + 2), hint)
    return []


def _whole_number(trouble: Trouble, index: int, token: Token) -> Clauses | None:
    text = str(token)
    try:
        if len(text) < 80 and -_LARGEST - 1 <= integer_value(text) <= _LARGEST:
            return None
    except BadEscape as error:
        return _bad_escape(trouble, index, error, 1)
    hint = f"whole numbers lie between {-_LARGEST - 1} and {_LARGEST}"
    trouble.say("H018", "this number is too large", trouble.span(index), hint)
    # The nearest number there is: another one could be wrong for reasons of its own.
    return trouble.replaced(index, "INT", str(_LARGEST))


def _decimal(trouble: Trouble, index: int, token: Token) -> Clauses | None:
    if math.isfinite(float(token)):
        return None
    hint = "write the atom `inf` where infinity is meant"
    trouble.say("H018", "this number is too large", trouble.span(index), hint)
    return trouble.replaced(index, "FLOAT", "1.0e308")


def _quoted(trouble: Trouble, index: int, token: Token) -> Clauses | None:
    if token[0] not in "'\"" or "\\" not in token:
        return None
    try:
        unquote(str(token))
    except BadEscape as error:
        return _bad_escape(trouble, index, error, 0)
    return None


def _bad_escape(trouble: Trouble, index: int, error: BadEscape, shift: int) -> Clauses:
    start = trouble.span(index)[0] + shift + error.offset
    hint = "write `\\\\` for a backslash; escapes are \\n \\t \\' \\\" \\\\ \\xHH\\ \\uHHHH"
    trouble.say("H019", "this escape means nothing", (start, start + error.length), hint)
    return []


_CHECKS = {
    "STRAY": _stray,
    "BADQUOTE": _open_quote,
    "OPENCOMMENT": _open_comment,
    "INT": _whole_number,
    "FLOAT": _decimal,
    "NAME": _quoted,
    "FUNCTOR": _quoted,
    "STR": _quoted,
}
