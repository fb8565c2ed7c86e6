"""What went wrong in a clause that the grammar refuses, in human words.

Each function below knows one usual mistake: it looks at the token in the way and its neighbours,
and either passes (None) or says what is wrong and hands back the clauses to go on with. An empty
list gives the clause up. The order of `_MISTAKES` matters: the surest come first.
"""

from __future__ import annotations

from horai.lang.expected import unexpected
from horai.lang.grammar import GrammarError
from horai.lang.trouble import CLOSERS, ENDS, OPENERS, STARTS, Clauses, Trouble

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
        trouble.say("H021", "`:-` stands inside brackets", trouble.span(at), hint)
        return []
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
    trouble.say("H021", "a second `:-` in one clause", trouble.span(at), hint)
    return []


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
        trouble.say("H010", "the body after `:-` is empty", trouble.span(at - 1), hint)
        return []
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
    trouble.say("H016", message, trouble.span(at), hint)
    return []


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
    span = (trouble.span(at - 1)[0], trouble.span(at)[1])
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
    span = (trouble.span(at - 1)[0], trouble.span(at)[1])
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
        trouble.say("H005", message, trouble.after(at - 1), hint)
        return []
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
    span = (trouble.span(at - 1)[0], trouble.span(at)[1])
    if trouble.kind(at - 2) != "FUNCTOR" or at < 2:
        trouble.say("H022", "nothing stands between the brackets", span, "write a term inside")
        return []
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
    span = (trouble.span(at - 1)[0], trouble.span(at)[1])
    trouble.say("H007", "a sign with a blank inside", span, f"write `{sign}`")
    return trouble.replaced(at - 1, "ARROW" if sign == "->" else "REL", sign, 2)


def _missing_operand(trouble: Trouble, at: int) -> Clauses | None:
    kind, before = trouble.kind(at), trouble.kind(at - 1)
    if before in _OPERATORS and (kind in ("END", "COMMA", "NECK") or kind in CLOSERS):
        sign = trouble.text(at - 1)
        message = f"something is missing after `{sign}`"
        trouble.say("H024", message, trouble.span(at - 1), f"add what `{sign}` applies to")
        return []
    if kind in _OPERATORS and kind not in ("SIGN", "NAF") and before not in ENDS:
        sign = trouble.text(at)
        message = f"something is missing before `{sign}`"
        trouble.say("H024", message, trouble.span(at), f"add what `{sign}` applies to")
        return []
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
