"""The mistakes in a clause that the grammar refuses, in human words.

Each function below knows one usual mistake: it looks at the token in the way and its neighbours,
and either passes (None) or says what is wrong and hands back the clauses to go on with. An empty
list gives the clause up. The order of `_MISTAKES` matters: the surest come first. Where none is
sure, the message says what the grammar expected instead.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping

from lark import Token

from horai.lang.core.diagnostics import Report
from horai.lang.core.grammar import GrammarError, integer_value, token_span
from horai.lang.core.printer import BadEscape, unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import DEEPEST, Span

# Kinds of token after which a term may be complete, and with which one may start.
ENDS = frozenset({"NAME", "VAR", "INT", "FLOAT", "STR", "CUT", "RPAR", "RSQB", "RBRACE"})
STARTS = frozenset(
    {"NAME", "FUNCTOR", "VAR", "INT", "FLOAT", "STR", "CUT", "LPAR", "LSQB", "LBRACE", "NAF"}
)
OPENERS = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}
CLOSERS = {close: opening for opening, close in OPENERS.items()}
SIGNS = {"LPAR": "(", "RPAR": ")", "LSQB": "[", "RSQB": "]", "LBRACE": "{", "RBRACE": "}"}

Clauses = list[list[Token]]


class Trouble:
    """The tokens of a wrong clause, full stop included where there is one.

    `quiet` holds the lines that already have a finding about this clause: whatever the grammar
    trips over next on such a line is most likely the same mistake again.
    """

    def __init__(
        self, tokens: list[Token], source: SourceText, report: Report, quiet: set[int]
    ) -> None:
        self.tokens = tokens
        self.source = source
        self.report = report
        self.quiet = quiet

    def kind(self, index: int) -> str:
        """The kind of the token at an index; `END` outside the clause."""
        return self.tokens[index].type if 0 <= index < len(self.tokens) else "END"

    def text(self, index: int) -> str:
        """The token at an index as it was written."""
        return self.source.snippet(token_span(self.tokens[index]))

    def span(self, index: int) -> Span:
        """Where the token at an index stands; the place after the last one when there is none."""
        if index < len(self.tokens):
            return token_span(self.tokens[index])
        return self.after(len(self.tokens) - 1)

    def pair(self, index: int) -> Span:
        """Where a token and the one before it stand."""
        return (self.span(index - 1)[0], self.span(index)[1])

    @property
    def whole(self) -> Span:
        """Where the clause stands."""
        return (self.span(0)[0], self.span(len(self.tokens) - 1)[1])

    def after(self, index: int) -> Span:
        """The place right after a token, where something is missing."""
        end = token_span(self.tokens[index])[1]
        return (end, end)

    def line(self, index: int) -> int:
        """The line of a token."""
        return self.source.position(self.span(index)[0])[0]

    def place(self, index: int) -> str:
        """Line and column of a token, for messages."""
        line, column = self.source.position(self.span(index)[0])
        return f"line {line}, column {column}"

    def starts_line(self, index: int) -> bool:
        """True when only blanks stand before the token on its line."""
        start = self.span(index)[0]
        text = self.source.text
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def starts_clause(self, index: int) -> bool:
        """True when a new clause seems to start here: a name as far left as this clause."""
        if index == 0 or self.kind(index) not in ("NAME", "FUNCTOR") or not self.starts_line(index):
            return False
        columns = [self.source.position(self.span(i)[0])[1] for i in (0, index)]
        return columns[1] <= columns[0]

    def next_clause(self, index: int) -> Clauses:
        """The clauses of later lines that are left after a clause is given up at a token."""
        for later in range(index + 1, len(self.tokens)):
            if self.starts_clause(later) and self.kind(later - 1) not in ("COMMA", "NECK"):
                return [self.tokens[later:]]
        return []

    def depth(self, index: int) -> int:
        """How many brackets are open before a token."""
        kinds = [token.type for token in self.tokens[:index]]
        return sum(kind in OPENERS for kind in kinds) - sum(kind in CLOSERS for kind in kinds)

    def say(
        self, code: str, message: str, span: Span, hint: str | None = None, *, sure: bool = False
    ) -> Clauses:
        """Note a finding, unless its line already has one; with no more the clause is given up.

        What we are `sure` of is mended for certain: it is always said, and silences nothing.
        """
        line = self.source.position(span[0])[0]
        if sure or line not in self.quiet:
            self.report.add(code, message, self.source, span, hint)
        if not sure:
            self.quiet.add(line)
        return []

    def without(self, index: int) -> Clauses:
        """The clause without one token."""
        return [self.tokens[:index] + self.tokens[index + 1 :]]

    def replaced(self, index: int, kind: str, text: str, count: int = 1) -> Clauses:
        """The clause with another token in the place of some."""
        start, end = self.span(index)[0], self.span(index + count - 1)[1]
        new = Token(kind, text, start_pos=start, end_pos=end)
        return [[*self.tokens[:index], new, *self.tokens[index + count :]]]

    def inserted(self, index: int, kind: str, text: str) -> Clauses:
        """The clause with one more token before an index."""
        at = self.after(index - 1)
        new = Token(kind, text, start_pos=at[0], end_pos=at[1])
        return [[*self.tokens[:index], new, *self.tokens[index:]]]

    def split(self, index: int) -> Clauses:
        """Two clauses, the second from an index on."""
        at = self.after(index - 1)
        stop = Token("END", ".", start_pos=at[0], end_pos=at[1])
        return [[*self.tokens[:index], stop], self.tokens[index:]]


_TERM_KINDS = frozenset({"NAME", "FUNCTOR", "VAR", "INT", "LPAR"})


def unexpected(trouble: Trouble, error: GrammarError) -> Clauses:
    """Say what stands in the way and what could stand there; the clause is given up."""
    at = error.index
    ended = at >= len(trouble.tokens) or trouble.kind(at) == "END"
    message = "the clause ends too early" if ended else f"`{trouble.text(at)}` cannot stand here"
    hint = "put it in parentheses" if trouble.kind(at) == "NAF" else None
    if "IN" in (trouble.kind(at), trouble.kind(at - 1)):
        hint = "a window stands in brackets after its atom: `a(X) [5 s]`, `always a(X) in [5 s]`"
    wanted = _in_words(error.expected())
    return trouble.say("H001", f"{message}; expected {wanted}", trouble.span(at), hint)


def _in_words(expected: set[str]) -> str:
    words: list[str] = []
    if expected >= _TERM_KINDS:
        words.append("a term")
    elif "LPAR" in expected:
        words.append("`(`")
    if "LSQB" in expected and not words:
        words.append("a window such as `[5 s]`")
    for kind, sign in (("COMMA", ","), ("NECK", ":-"), ("RPAR", ")"), ("RSQB", "]"), ("BAR", "|")):
        if kind in expected:
            words.append(f"`{sign}`")
    if expected & {"REL", "ADD", "MUL", "SEMI"}:
        words.append("an operator")
    if "$END" in expected:
        words.append("the full stop")
    return " or ".join(words) if words else "something else"


_OPERATORS = frozenset({"REL", "ADD", "MUL", "POW", "SIGN", "NAF", "SEMI", "ARROW", "BAR"})
_WORDS = {
    "and": ("COMMA", ","),
    "or": ("SEMI", ";"),
    "if": ("NECK", ":-"),
    "when": ("NECK", ":-"),
}


def diagnose(trouble: Trouble, error: GrammarError) -> Clauses:
    """Say what is wrong; give back the clauses to go on with."""
    for mistake in _MISTAKES:
        mended = mistake(trouble, error.index)
        if mended is not None:
            return mended
    return unexpected(trouble, error)


def _missing_full_stop(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at - 1) in ENDS and (
        trouble.starts_clause(at) or _indented_clause(trouble, at)
    ):
        hint = f"write `.` before `{trouble.text(at)}` of line {trouble.line(at)}"
        trouble.say("H002", "a full stop is missing here", trouble.after(at - 1), hint)
        return trouble.split(at)
    return None


def _indented_clause(trouble: Trouble, at: int) -> bool:
    """True when a whole `head :- ...` starts on this line, although further right."""
    if not (at and trouble.kind(at) == "FUNCTOR" and trouble.starts_line(at)):
        return False
    if trouble.depth(at) > 0:
        return False
    depth = 0
    for index in range(at + 1, len(trouble.tokens)):
        kind = trouble.kind(index)
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if depth == 0:
            return trouble.kind(index + 1) == "NECK"
    return False


def _second_neck(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) != "NECK":
        return None
    if trouble.depth(at) > 0:
        if _stores_a_rule(trouble, at):
            # Storing is refused later, with a better reason; the sign only has to be read.
            return trouble.replaced(at, "COMMA", ",")
        hint = "close the brackets before `:-`"
        return trouble.say("H021", "`:-` stands inside brackets", trouble.span(at), hint)
    start = next((i for i in range(at - 1, 0, -1) if trouble.starts_line(i)), None)
    if start is not None and trouble.kind(start - 1) == "COMMA":
        hint = f"write `.` before `{trouble.text(start)}` of line {trouble.line(start)}"
        message = "this comma should be a full stop: a new rule starts on the next line"
        trouble.say("H002", message, trouble.span(start - 1), hint)
        first, second = trouble.split(start)
        return [[*first[:-2], first[-1]], second]
    if not any(token.type == "NECK" for token in trouble.tokens[:at]):
        return None
    hint = "end the first rule with a full stop; conditions are joined by `,`"
    return trouble.say("H021", "a second `:-` in one clause", trouble.span(at), hint)


def _stores_a_rule(trouble: Trouble, at: int) -> bool:
    """True inside `assertz((Head :- Body))` and the like."""
    opened: list[int] = []
    for index in range(at):
        if trouble.kind(index) in OPENERS:
            opened.append(index)
        elif trouble.kind(index) in CLOSERS:
            opened.pop()
    names = [trouble.text(i - 1) for i in opened if i and trouble.kind(i - 1) == "FUNCTOR"]
    return any(name.startswith(("assert", "retract")) for name in names)


def _empty_body(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) == "END" and trouble.kind(at - 1) == "NECK":
        hint = "write a condition after `:-`, or leave `:-` out to state a fact"
        return trouble.say("H010", "the body after `:-` is empty", trouble.span(at - 1), hint)
    return None


def _trailing_comma(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) == "END" and trouble.kind(at - 1) == "COMMA":
        message = "a comma before the end: a condition is missing or the comma is too much"
        hint = "remove the comma, or add the condition"
        trouble.say("H011", message, trouble.span(at - 1), hint)
        return trouble.without(at - 1)
    return None


def _chained_comparison(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) != "REL" or trouble.kind(at - 1) not in ENDS:
        return None
    sign, (before, middle) = trouble.text(at), _compared(trouble, at)
    hint = f"write two conditions: `... {before} {middle}, {middle} {sign} ...`"
    message = f"comparisons cannot be chained: `{sign}` follows another comparison"
    return trouble.say("H016", message, trouble.span(at), hint)


def _compared(trouble: Trouble, at: int) -> tuple[str, str]:
    """The sign of the comparison before one, and what stands between the two."""
    depth, first = 0, at
    while first > 0 and (depth or trouble.kind(first - 1) not in ("REL", "COMMA", "NECK")):
        first -= 1
        depth += (trouble.kind(first) in CLOSERS) - (trouble.kind(first) in OPENERS)
    sign = trouble.text(first - 1) if first and trouble.kind(first - 1) == "REL" else "<"
    middle = trouble.source.snippet((trouble.span(first)[0], trouble.span(at - 1)[1]))
    return sign, " ".join(middle.split())


def _capital_predicate(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) != "LPAR" or trouble.kind(at - 1) != "VAR":
        return None
    name = trouble.text(at - 1)
    small = name.lstrip("_")[:1].lower() + name.lstrip("_")[1:]
    if trouble.span(at - 1)[1] != trouble.span(at)[0] or not small:
        return None
    message = f"`{name}` is a variable, and a variable cannot have arguments"
    hint = f"names of predicates start with a small letter: `{small}`"
    trouble.say("H012", message, trouble.span(at - 1), hint)
    return trouble.replaced(at - 1, "FUNCTOR", small)


def _blank_before_arguments(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) != "LPAR" or trouble.kind(at - 1) != "NAME":
        return None
    if trouble.line(at) != trouble.line(at - 1):
        return None
    name = trouble.text(at - 1)
    message = f"a blank between `{name}` and its arguments"
    span = trouble.pair(at)
    trouble.say("H020", message, span, f"write `{name}(` without a blank")
    return trouble.replaced(at - 1, "FUNCTOR", name)


def _word_for_sign(trouble: Trouble, at: int) -> Clauses | None:
    if at >= len(trouble.tokens) or trouble.kind(at - 1) not in ENDS:
        return None
    word = trouble.text(at)
    if word.lower() not in _WORDS or trouble.kind(at) not in ("NAME", "VAR"):
        return None
    kind, sign = _WORDS[word.lower()]
    message = f"`{word}` is not a sign of the rule language"
    trouble.say("H007", message, trouble.span(at), f"write `{sign}`", sure=True)
    return trouble.replaced(at, kind, sign)


def _bar(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) != "BAR" or trouble.kind(at - 1) not in ENDS:
        return None
    hint = "alternatives are joined by `;`; `|` stands only before the rest of a list"
    trouble.say("H007", "`|` does not join conditions", trouble.span(at), hint)
    return trouble.replaced(at, "SEMI", ";")


def _digit_first(trouble: Trouble, at: int) -> Clauses | None:
    glued = at < len(trouble.tokens) and at > 0 and trouble.span(at - 1)[1] == trouble.span(at)[0]
    if not glued or trouble.kind(at - 1) not in ("INT", "FLOAT"):
        return None
    if trouble.kind(at) not in ("NAME", "VAR", "FUNCTOR"):
        return None
    whole = trouble.text(at - 1) + trouble.text(at)
    span = trouble.pair(at)
    hint = f"put it in quotes: '{whole}'"
    trouble.say("H023", f"`{whole}`: a name cannot start with a digit", span, hint)
    return trouble.replaced(at - 1, trouble.kind(at), f"'{whole}'", 2)


def _missing_comma(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) not in STARTS or trouble.kind(at - 1) not in ENDS:
        return None
    inside = trouble.depth(at) > 0
    what = "arguments" if inside else "conditions"
    left, right = trouble.text(at - 1), trouble.text(at)
    if not inside and not any(token.type == "NECK" for token in trouble.tokens[:at]):
        message = f"something is missing before `{right}`"
        hint = "write `:-` before conditions, `,` between them, `.` between clauses"
        return trouble.say("H005", message, trouble.after(at - 1), hint)
    hint = f"write `,` between `{left}` and `{right}`"
    if trouble.kind(at - 1) in CLOSERS:
        hint = f"write `,` before `{right}`"
    if inside and {trouble.kind(at - 1), trouble.kind(at)} <= {"NAME", "VAR", "INT"}:
        hint += f", or quotes around a name of several words: '{left} {right}'"
    message = f"a comma is missing between two {what}"
    trouble.say("H005", message, trouble.after(at - 1), hint)
    return trouble.inserted(at, "COMMA", ",")


def _empty_arguments(trouble: Trouble, at: int) -> Clauses | None:
    if (trouble.kind(at), trouble.kind(at - 1)) != ("RPAR", "LPAR"):
        return None
    span = trouble.pair(at)
    if trouble.kind(at - 2) != "FUNCTOR" or at < 2:
        return trouble.say(
            "H022", "nothing stands between the brackets", span, "write a term inside"
        )
    name = trouble.text(at - 2)
    message = f"`{name}()` has no arguments, so it has no brackets either"
    trouble.say("H022", message, span, f"write `{name}`")
    return trouble.replaced(at - 2, "NAME", name, 3)


def _lonely_comma(trouble: Trouble, at: int) -> Clauses | None:
    before = trouble.kind(at - 1)
    if trouble.kind(at) == "COMMA" and (before in ("COMMA", "NECK") or before in OPENERS):
        hint = "remove the comma, or add what is missing before it"
        trouble.say("H022", "nothing stands before this comma", trouble.span(at), hint)
        return trouble.without(at)
    if before == "COMMA" and trouble.kind(at) in CLOSERS:
        hint = "remove the comma, or add what is missing after it"
        trouble.say("H022", "nothing stands after this comma", trouble.span(at - 1), hint)
        return trouble.without(at - 1)
    return None


def _torn_operator(trouble: Trouble, at: int) -> Clauses | None:
    if trouble.kind(at) not in ("REL", "ADD") or trouble.kind(at - 1) not in ("REL", "ADD"):
        return None
    sign = trouble.text(at - 1) + trouble.text(at)
    if sign not in ("=<", ">=", "==", "=>", "<=", "->"):
        return None
    sign = {"=>": ">=", "<=": "=<"}.get(sign, sign)
    span = trouble.pair(at)
    trouble.say("H007", "a sign with a blank inside", span, f"write `{sign}`")
    return trouble.replaced(at - 1, "ARROW" if sign == "->" else "REL", sign, 2)


def _missing_operand(trouble: Trouble, at: int) -> Clauses | None:
    kind, before = trouble.kind(at), trouble.kind(at - 1)
    if before in _OPERATORS and (kind in ("END", "COMMA", "NECK") or kind in CLOSERS):
        sign = trouble.text(at - 1)
        message = f"something is missing after `{sign}`"
        return trouble.say("H024", message, trouble.span(at - 1), f"add what `{sign}` applies to")
    if kind in _OPERATORS and kind not in ("SIGN", "NAF") and before not in ENDS:
        sign = trouble.text(at)
        message = f"something is missing before `{sign}`"
        return trouble.say("H024", message, trouble.span(at), f"add what `{sign}` applies to")
    return None


_MISTAKES = (
    _missing_full_stop,
    _second_neck,
    _empty_body,
    _trailing_comma,
    _chained_comparison,
    _capital_predicate,
    _blank_before_arguments,
    _word_for_sign,
    _bar,
    _digit_first,
    _missing_comma,
    _empty_arguments,
    _lonely_comma,
    _torn_operator,
    _missing_operand,
)


def check_brackets(trouble: Trouble) -> Clauses | None:
    """None when the brackets match; otherwise the clauses to go on with."""
    opened: list[int] = []
    for index, token in enumerate(trouble.tokens):
        if token.type in OPENERS:
            opened.append(index)
            if len(opened) > DEEPEST:
                hint = "name the parts in rules of their own"
                return trouble.say("H017", "brackets nested too deeply", trouble.span(index), hint)
        elif token.type in CLOSERS:
            last = opened.pop() if opened else None
            if last is None or OPENERS[trouble.kind(last)] != token.type:
                return _wrong_close(trouble, last, index)
    return _never_closed(trouble, opened) if opened else None


def _wrong_close(trouble: Trouble, opened: int | None, index: int) -> Clauses:
    """A bracket that closes nothing, or one of another kind."""
    sign = SIGNS[trouble.kind(index)]
    if opened is None:
        hint = f"remove it, or add the missing `{SIGNS[CLOSERS[trouble.kind(index)]]}` before"
        trouble.say("H004", f"this `{sign}` closes nothing", trouble.span(index), hint)
    else:
        opening, wanted = SIGNS[trouble.kind(opened)], SIGNS[OPENERS[trouble.kind(opened)]]
        message = f"`{sign}` cannot close the `{opening}` of {trouble.place(opened)}"
        trouble.say("H004", message, trouble.span(index), f"write `{wanted}` first")
    return trouble.next_clause(index)


def _never_closed(trouble: Trouble, opened: list[int]) -> Clauses:
    innermost = opened[-1]
    opening = SIGNS[trouble.kind(innermost)]
    closing = SIGNS[OPENERS[trouble.kind(innermost)]]
    at = _closing_place(trouble, innermost)
    span = trouble.span(innermost)
    if trouble.kind(innermost - 1) == "FUNCTOR" and innermost > 0:
        span = (trouble.span(innermost - 1)[0], span[1])
    where = f"before `{trouble.text(at)}`" if at < len(trouble.tokens) else "at the end"
    if trouble.kind(at) == "END" and at < len(trouble.tokens):
        where = "before the full stop"
    elif trouble.starts_clause(at):
        where = f"at the end of line {trouble.line(at - 1)}"
    trouble.say("H003", f"this `{opening}` is never closed", span, f"add `{closing}` {where}")
    return trouble.inserted(at, OPENERS[trouble.kind(innermost)], closing)


def _closing_place(trouble: Trouble, opened: int) -> int:
    """Where the missing bracket most likely belongs."""
    for index in range(opened + 1, len(trouble.tokens)):
        if trouble.kind(index) in ("NECK", "END") or trouble.starts_clause(index):
            return index
    return len(trouble.tokens)


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
    return trouble.say(
        "H007", f"`{sign}` is not a sign of the rule language", token_span(token), hint
    )


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
        depth -= token.type in CLOSERS
        if depth <= 0:
            outside.append(token)
        depth += token.type in OPENERS
    return outside


def _bad_neck(trouble: Trouble, index: int, sign: str) -> Clauses:
    if sign in _REVERSED:
        message = f"`{sign}` does not make a rule: the head comes first, then `:-`"
        hint = "write `head :- conditions.`"
        return trouble.say("H006", message, trouble.span(index), hint)
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
        return trouble.say("H013", "a number cannot start with a full stop", span, hint)
    if trouble.depth(index) == 0 and after in ("NAME", "FUNCTOR", "NECK"):
        hint = "put a blank or a new line after the full stop"
        message = "a full stop ends a clause only before a blank or the end of a line"
        trouble.say("H013", message, span, hint)
        (ended,) = trouble.replaced(index, "END", ".")
        return [ended[: index + 1], ended[index + 1 :]]
    hint = "quote a name with a full stop inside ('a.b'); a decimal has digits on both sides (1.0)"
    return trouble.say("H013", "a full stop inside a clause", span, hint)


def _stray(trouble: Trouble, index: int, token: Token) -> Clauses:
    char = str(token)
    if char in _QUOTES:
        hint = "use the plain quote ' around atoms and \" around strings"
        message = f"the typographic quote {char} means nothing here"
        return trouble.say("H014", message, trouble.span(index), hint)
    name = unicodedata.name(char, "").lower() or "a control character"
    shown = f"`{char}` ({name})" if char.isprintable() else f"U+{ord(char):04X} ({name})"
    hint = "remove it, or put it inside quotes"
    return trouble.say(
        "H014", f"the character {shown} means nothing here", trouble.span(index), hint
    )


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
    return trouble.say("H009", "this block comment is never closed", (start, start + 2), hint)


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
    return trouble.say("H019", "this escape means nothing", (start, start + error.length), hint)


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
