"""Clauses of LARS to terms, windows, formulas and heads, with a message for what is none.

The grammar makes a tree of parts of the tokens of a clause; the builder finds out what they mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar, cast

from lark import Lark, Token, Transformer, v_args

from horai.lang.core.diagnostics import Report, did_you_mean
from horai.lang.core.grammar import atom_text, fed, integer_value, outer, token_span
from horai.lang.core.printer import unquote
from horai.lang.core.source import SourceText
from horai.lang.core.terms import Compound, Constant, Float, Int, Span, Str, Term, Var, children
from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import MILLISECONDS, UNITS, Duration, unit_named
from horai.lang.lars.walk import atoms, subformulas


@dataclass(frozen=True, slots=True)
class ClausePart:
    """A piece of a clause: its kind, its value if it has one, and the pieces it is made of."""

    kind: str
    value: Any
    parts: tuple[ClausePart, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ParsedLarsClause:
    """Head and body of a clause; a constraint has no head."""

    head: ClausePart | None
    body: tuple[ClausePart, ...]


@v_args(inline=True)
class _Parts(Transformer[Token, Any]):
    """Grammar rules to parts. It keeps nothing between calls, so one instance serves all."""

    def fact(self, head: ClausePart, *_: Token) -> ParsedLarsClause:
        return ParsedLarsClause(head, ())

    def rule(self, head: ClausePart, _neck: Token, body: ClausePart) -> ParsedLarsClause:
        return ParsedLarsClause(head, body.parts)

    def constraint(self, _neck: Token, body: ClausePart) -> ParsedLarsClause:
        return ParsedLarsClause(None, body.parts)

    def body(self, conditions: ClausePart) -> ClausePart:
        return conditions

    def conditions(self, *items: ClausePart | Token) -> ClausePart:
        return _node("list", None, items)

    arguments = conditions

    def both(self, *items: ClausePart | Token) -> ClausePart:
        return _node("and", None, items)

    def either(self, *items: ClausePart | Token) -> ClausePart:
        return _node("or", None, items)

    def implies(self, *items: ClausePart | Token) -> ClausePart:
        return _node("implies", None, items)

    def negation(self, *items: ClausePart | Token) -> ClausePart:
        return _node("not", None, items)

    def modal(self, word: Token, formula: ClausePart) -> ClausePart:
        return _node(word.type.lower(), None, (word, formula))

    def reset(self, *items: ClausePart | Token) -> ClausePart:
        return _node("reset", None, items)

    def at(self, *items: ClausePart | Token) -> ClausePart:
        return _node("at", None, items)

    def within(self, *items: ClausePart | Token) -> ClausePart:
        return _node("within", None, items)

    def after_some(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "some", items)

    def after_always(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "always", items)

    def after_not(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after", "not", items)

    def after_at(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after_at", None, items)

    def after_at_window(self, *items: ClausePart | Token) -> ClausePart:
        return _node("after_at", None, items)

    def windows(self, *items: ClausePart | Token) -> ClausePart:
        return _node("windows", None, items)

    def window(self, *items: ClausePart | Token) -> ClausePart:
        inner = tuple(_sign(item) if isinstance(item, Token) else item for item in items[1:-1])
        return ClausePart("window", None, inner, outer(items[0], items[-1]))

    def comparison(self, left: ClausePart, sign: Token, right: ClausePart) -> ClausePart:
        return _node("comparison", str(sign), (left, right))

    def infix(self, left: ClausePart, sign: Token, right: ClausePart) -> ClausePart:
        return _node("infix", str(sign), (left, right))

    def prefix(self, sign: Token, operand: ClausePart) -> ClausePart:
        return _node("prefix", str(sign), (sign, operand))

    def name(self, token: Token) -> ClausePart:
        return _leaf("name", atom_text(token), token)

    def variable(self, token: Token) -> ClausePart:
        return _leaf("variable", str(token), token)

    def integer(self, token: Token) -> ClausePart:
        return _leaf("integer", integer_value(str(token)), token)

    def decimal(self, token: Token) -> ClausePart:
        return _leaf("decimal", float(token), token)

    def string(self, token: Token) -> ClausePart:
        return _leaf("string", unquote(str(token)), token)

    def call(self, name: Token, _open: Token, args: ClausePart, close: Token) -> ClausePart:
        return ClausePart("call", atom_text(name), args.parts, outer(name, close))

    def bracketed(self, opening: Token, inner: ClausePart, close: Token) -> ClausePart:
        return ClausePart("bracketed", None, (inner,), outer(opening, close))

    def set(self, *items: ClausePart | Token) -> ClausePart:
        return _node("set", None, items)

    def element(self, terms: ClausePart, *rest: ClausePart | Token) -> ClausePart:
        return _node("element", None, (terms, *rest))

    def aggregate(self, function: Token, elements: ClausePart) -> ClausePart:
        return _node("aggregate", str(function).lstrip("#"), (function, elements))

    def bounded_below(self, least: ClausePart, choice: ClausePart) -> ClausePart:
        return _node("bounded", (True, False), (least, choice))

    def bounded_above(self, choice: ClausePart, most: ClausePart) -> ClausePart:
        return _node("bounded", (False, True), (choice, most))

    def bounded(self, least: ClausePart, choice: ClausePart, most: ClausePart) -> ClausePart:
        return _node("bounded", (True, True), (least, choice, most))


def _node(kind: str, value: Any, items: tuple[ClausePart | Token, ...]) -> ClausePart:
    parts = tuple(item for item in items if isinstance(item, ClausePart))
    return ClausePart(kind, value, parts, outer(items[0], items[-1]))


def _leaf(kind: str, value: Any, token: Token) -> ClausePart:
    return ClausePart(kind, value, (), token_span(token))


def _sign(token: Token) -> ClausePart:
    return ClausePart("sign", str(token), (), token_span(token))


@cache
def _parser() -> Lark:
    text = files("horai.lang.lars").joinpath("lars.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", transformer=_Parts(), maybe_placeholders=False)


def parse_clause(tokens: list[Token]) -> ParsedLarsClause:
    """The clause that the tokens (full stop left out) spell; GrammarError when they spell none."""
    result = fed(_parser(), tokens)
    assert isinstance(result, ParsedLarsClause)
    return result


Say = Callable[[str, str, Span, str | None], None]
ToTerm = Callable[[ClausePart], Term | None]
_Size = tuple[int | None, str | None] | None
_W = TypeVar("_W", bound=lars.Window)

_windowtext_WORDS = ("hop", "tumbling", "per", "only", "from", "to", "inf")
_FORMS = "write [3 s], [3 #], [3 s hop 1 s], [+3 s], [1 # per p(X)], [only p] or [from 3 to 9]"


class _Wrong(Exception):
    """The window cannot be read; code, message, place and remedy."""

    def __init__(self, code: str, message: str, span: Span, hint: str | None) -> None:
        super().__init__(message)
        self.finding = (code, message, span, hint)


def read_window(part: ClausePart, term: ToTerm, say: Say) -> lars.Window | None:
    """The window of a part; None after saying what is wrong with it."""
    try:
        return _Reader(part, term).window()
    except _Wrong as wrong:
        say(*wrong.finding)
        return None


class _Reader:
    def __init__(self, window: ClausePart, term: ToTerm) -> None:
        self.whole = window
        self.parts = window.parts
        self.term = term
        self.at = 0

    def window(self) -> lars.Window:
        if self.takes("only"):
            return lars.FilterWindow(self.patterns(), self.whole.span)
        if self.takes("from"):
            first = self.time()
            if not self.takes("to"):
                raise self.wrong("`to` is missing in this window", "write [from 3 to 9]")
            return self.done(lars.IntervalWindow(first, self.time(), self.whole.span))
        past, future = self.sizes()
        if all(size is None or size[1] == "#" for size in (past, future)):
            return self.tuples(past, future)
        return self.times(past, future)

    def sizes(self) -> tuple[_Size, _Size]:
        """The past before the comma, and the future after the plus."""
        if not self.parts:
            raise self.wrong("this window has no size", _FORMS)
        past = None if self.sees("+") else self.size()
        future = None
        if past is None or self.takes(","):
            if not self.takes("+"):
                raise self.wrong("the second size of a window is about the future", "write `+`")
            future = self.size()
        return past, future

    def size(self) -> tuple[int | None, str | None]:
        """An amount and its unit: `#` for signals, None for time points."""
        amount = self.amount()
        if self.takes("#"):
            return amount, "#"
        word = self.peek()
        if word is None or word.kind != "name" or word.value in _windowtext_WORDS:
            return amount, None
        unit = unit_named(word.value)
        if unit is None:
            near = did_you_mean(word.value, UNITS)
            hint = f"did you mean `{near}`?" if near else f"units are {', '.join(MILLISECONDS)}"
            if word.value in ("tuple", "tuples", "signals"):
                hint = "a number of signals is written `#`: [3 #]"
            raise _Wrong("H602", f"`{word.value}` is no unit of time", word.span, hint)
        self.at += 1
        return amount, unit

    def amount(self) -> int | None:
        part = self.peek()
        if part is None:
            raise self.wrong("a size is missing in this window", _FORMS)
        self.at += 1
        if part.kind == "integer" and part.value >= 0:
            value: int = part.value
            return value
        if part.kind == "name" and part.value == "inf":
            return None
        hint = _FORMS
        if part.kind == "decimal":
            hint = "use a smaller unit: [500 ms] instead of [0.5 s]"
        elif part.kind == "variable":
            hint = "sizes of windows are numbers; they cannot depend on the data"
        raise _Wrong("H603", "the size of a window is a whole number", part.span, hint)

    def times(self, past: _Size, future: _Size) -> lars.TimeWindow:
        if "#" in {size[1] for size in (past, future) if size is not None}:
            raise self.wrong("time and number of signals cannot be mixed in a window", _FORMS)
        before = Duration(0) if past is None else Duration(*past)
        after = Duration(0) if future is None else Duration(*future)
        hop = None
        if self.takes("hop"):
            amount, unit = self.size()
            hop = Duration(amount, unit)
            if amount is None or amount == 0 or unit == "#":
                raise self.wrong("a window hops by a time above 0", "write [4 s hop 2 s]", "H604")
        elif self.takes("tumbling"):
            hop = before
            if before.amount in (None, 0) or future is not None:
                hint = "write [4 s tumbling]; windows with a future can hop"
                raise self.wrong("only a window over a past above 0 tumbles", hint, "H604")
        return self.done(lars.TimeWindow(before, after, hop, self.whole.span))

    def tuples(self, past: _Size, future: _Size) -> lars.TupleWindow | lars.PartitionWindow:
        before = 0 if past is None else past[0]
        after = 0 if future is None else future[0]
        if before == 0 and after == 0:
            raise self.wrong("a tuple window has at least one signal", "write [1 #]", "H604")
        if self.takes("per"):
            return lars.PartitionWindow(before, after, self.patterns(), self.whole.span)
        return self.done(lars.TupleWindow(before, after, self.whole.span))

    def patterns(self) -> tuple[lars.Pattern, ...]:
        found = [self.pattern()]
        while self.takes(","):
            found.append(self.pattern())
        self.end()
        return tuple(found)

    def pattern(self) -> lars.Pattern:
        part = self.peek()
        if part is not None and part.kind in ("name", "call"):
            self.at += 1
            if part.kind == "name":
                return lars.Pattern(part.value, None, part.span)
            args = [self.term(arg) for arg in part.parts]
            return lars.Pattern(
                part.value, tuple(arg for arg in args if arg is not None), part.span
            )
        span = self.whole.span if part is None else part.span
        raise _Wrong("H603", "a pattern of atoms is expected", span, "write tram or tram(Id, _)")

    def time(self) -> Term:
        part = self.peek()
        if part is None or part.kind not in ("integer", "variable"):
            raise self.wrong("a time is missing in this window", "write [from 3 to 9]")
        self.at += 1
        found = self.term(part)
        assert found is not None
        return found

    def peek(self) -> ClausePart | None:
        return self.parts[self.at] if self.at < len(self.parts) else None

    def sees(self, word: str) -> bool:
        part = self.peek()
        return part is not None and part.kind in ("name", "sign") and part.value == word

    def takes(self, word: str) -> bool:
        found = self.sees(word)
        self.at += found
        return found

    def done(self, window: _W) -> _W:
        self.end()
        return window

    def end(self) -> None:
        part = self.peek()
        if part is not None:
            raise _Wrong("H603", "this is not expected in a window", part.span, _FORMS)

    def wrong(self, message: str, hint: str, code: str = "H603") -> _Wrong:
        return _Wrong(code, message, self.whole.span, hint)


_MIRRORED: dict[lars.Sign, lars.Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CONDITION = "conditions are atoms, comparisons and formulas made of them"
_WORDS = {
    "integer": "a number",
    "decimal": "a number",
    "string": "a string",
    "variable": "a variable",
    "infix": "an expression",
    "prefix": "an expression",
    "set": "a set",
    "aggregate": "an aggregate without a comparison",
}


class Builder:
    """Reads the parts of one clause; what is wrong goes to the report and gives None."""

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report

    def say(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Note a finding."""
        self.report.add(code, message, self.source, span, hint)

    # --- terms ---

    def term(self, part: ClausePart) -> Term | None:
        """The term that a part says."""
        span = part.span
        match part.kind:
            case "name":
                return Constant(part.value, span)
            case "variable":
                return Var(part.value, span)
            case "integer":
                return Int(part.value, span)
            case "decimal":
                return Float(part.value, span)
            case "string":
                return Str(part.value, span)
            case "bracketed":
                return self.term(part.parts[0])
            case "call" | "infix" | "prefix":
                args = self.terms(part.parts)
                return None if args is None else Compound(part.value, args, span)
        hint = "arguments are constants, variables, numbers and expressions"
        self.say("H601", "a term is expected here, not a formula", span, hint)
        return None

    def terms(self, parts: tuple[ClausePart, ...]) -> tuple[Term, ...] | None:
        """The terms of several parts, None if one is none."""
        found = [self.term(part) for part in parts]
        kept = tuple(term for term in found if term is not None)
        return kept if len(kept) == len(found) else None

    # --- formulas ---

    def formulas(self, parts: tuple[ClausePart, ...]) -> tuple[lars.Formula, ...] | None:
        """The formulas of several parts, None if one is none."""
        found = [self.formula(part) for part in parts]
        kept = tuple(formula for formula in found if formula is not None)
        return kept if len(kept) == len(found) else None

    def formula(self, part: ClausePart) -> lars.Formula | None:
        """The formula that a part says."""
        match part.kind:
            case "name" | "call":
                return self.atom(part)
            case "bracketed":
                return self.formula(part.parts[0])
            case "and" | "or" | "implies" | "not" | "reset":
                return self.connective(part)
            case "some" | "always" | "at":
                return self.modal(part)
            case "within":
                return self.in_windows(part.parts[:1], self.formula(part.parts[1]), part.span)
            case "after" | "after_at":
                return self.written_after(part)
            case "comparison":
                return self.comparison(part)
        what = _WORDS.get(part.kind, "this")
        self.say("H600", f"a condition is expected here, not {what}", part.span, _CONDITION)
        return None

    def atom(self, part: ClausePart) -> lars.Formula | None:
        """An atom, or one of the words `true` and `false`."""
        if part.kind == "name" and part.value in ("true", "false"):
            return lars.Truth(part.value == "true", part.span)
        args = self.terms(part.parts)
        return None if args is None else lars.Atom(part.value, args, part.span)

    def connective(self, part: ClausePart) -> lars.Formula | None:
        """`not`, `reset`, and what joins several formulas."""
        inner = self.formulas(part.parts)
        if inner is None:
            return None
        match part.kind:
            case "and":
                return lars.And(inner, part.span)
            case "or":
                return lars.Or(inner, part.span)
            case "implies":
                return lars.Implies(inner[0], inner[1], part.span)
            case "not":
                return lars.Not(inner[0], part.span)
            case _:
                return lars.Reset(inner[0], part.span)

    def modal(self, part: ClausePart) -> lars.Formula | None:
        """`some`, `always` and `@T`. In `always a [3 s]` the window is outside of the modality."""
        inner = part.parts[-1]
        if inner.kind in ("after", "after_at"):
            if inner.kind == "after_at" or inner.value == "always":
                hint = "say `always`, `some` or a time once, before the atom or after it"
                self.say("H605", "two modalities for one window", part.span, hint)
                return None
            formula = self.modality(part, self.formula(inner.parts[0]))
            outer = self.in_windows(inner.parts[1].parts, formula, part.span)
            return _negated(outer) if inner.value == "not" else outer
        return self.modality(part, self.formula(inner))

    def modality(self, part: ClausePart, formula: lars.Formula | None) -> lars.Formula | None:
        """The modality of a part over a formula."""
        if formula is None:
            return None
        if part.kind == "at":
            time = self.term(part.parts[0])
            return None if time is None else lars.At(time, formula, part.span)
        return (lars.Some if part.kind == "some" else lars.Always)(formula, part.span)

    def written_after(self, part: ClausePart) -> lars.Formula | None:
        """`a [3 s]`, `a always in [3 s]`, `a at T [3 s]`, `a not in [3 s]`."""
        inner = self.formula(part.parts[0])
        if inner is None:
            return None
        if part.kind == "after_at":
            time = self.term(part.parts[1])
            if time is None:
                return None
            formula: lars.Formula = lars.At(time, inner, part.span)
            windows = part.parts[2].parts if len(part.parts) > 2 else ()
            return self.in_windows(windows, formula, part.span)
        formula = (lars.Always if part.value == "always" else lars.Some)(inner, part.span)
        found = self.in_windows(part.parts[1].parts, formula, part.span)
        return _negated(found) if part.value == "not" else found

    def in_windows(
        self, windows: tuple[ClausePart, ...], formula: lars.Formula | None, span: Span
    ) -> lars.Formula | None:
        """The formula in windows, the first one outermost."""
        found = [read_window(window, self.term, self.say) for window in windows]
        for window in reversed(found):
            if window is None or formula is None:
                return None
            formula = lars.Within(window, formula, span)
        return formula

    # --- comparisons and aggregates ---

    def comparison(self, part: ClausePart) -> lars.Formula | None:
        """`X < Y`, or an aggregate on one of the sides."""
        left, right = part.parts
        sign = cast(lars.Sign, part.value)
        if left.kind == "aggregate":
            return self.aggregate(left, sign, right, part.span)
        if right.kind == "aggregate":
            return self.aggregate(right, _MIRRORED.get(sign, sign), left, part.span)
        terms = self.terms(part.parts)
        return None if terms is None else lars.Comparison(sign, terms[0], terms[1], part.span)

    def aggregate(
        self, part: ClausePart, sign: lars.Sign, bound: ClausePart, span: Span
    ) -> lars.Formula | None:
        """`count { X : p(X) } > N`."""
        limit = self.term(bound)
        elements = [self.element(element) for element in part.parts[0].parts]
        kept = tuple(element for element in elements if element is not None)
        if limit is None or len(kept) < len(elements):
            return None
        return lars.Aggregate(cast(lars.Function, part.value), kept, sign, limit, span)

    def element(self, part: ClausePart) -> lars.Element | None:
        """`X, Y : f, g`."""
        terms = self.terms(part.parts[0].parts)
        condition = self.formulas(part.parts[1].parts) if len(part.parts) > 1 else ()
        if terms is None or condition is None:
            return None
        return lars.Element(terms, condition, part.span)


def _negated(formula: lars.Formula | None) -> lars.Formula | None:
    return None if formula is None else lars.Not(formula, formula.span)


_SIMPLE = "the head is an atom, an atom at a time, or a formula made of them"


def read_head(builder: Builder, part: ClausePart, is_fact: bool) -> lars.Head | None:
    """The head that a part says; None after saying what is wrong with it."""
    if part.kind in ("set", "bounded") or _is_counted_set(part):
        return _choice(builder, part)
    if part.kind in ("integer", "decimal", "string", "variable", "infix", "prefix"):
        builder.say("H606", "this cannot be the head of a rule", part.span, _SIMPLE)
        return None
    head = builder.formula(part)
    if head is None:
        return None
    for inner in subformulas(head):
        if isinstance(inner, lars.Comparison | lars.Aggregate):
            hint = "move the comparison to the body"
            builder.say("H606", "a head has no comparison", inner.span or part.span, hint)
            return None
    if isinstance(head, lars.Truth):
        builder.say("H606", "`true` and `false` are no heads", part.span, "write `:- body.`")
        return None
    return head if _ranges_fit(builder, head, part, is_fact) else None


def is_event_calculus(part: ClausePart) -> bool:
    """True for `initiatedAt(rich(X)=true, T)` and its kin."""
    return (
        part.kind == "call"
        and part.value in RESERVED_HEADS
        and any(arg.kind == "comparison" for arg in part.parts)
    )


def _ranges_fit(builder: Builder, head: lars.Head, part: ClausePart, is_fact: bool) -> bool:
    """Ranges abbreviate facts; elsewhere they would be terms that equal nothing."""
    written = [arg for atom in atoms(head) for arg in atom.args if lars.is_range(arg)]
    if written and not (is_fact and isinstance(head, lars.Atom)):
        hint = "write a fact of its own: number(1..9)."
        builder.say("H607", "a range stands only in a fact", part.span, hint)
        return False
    for term in written:
        if not all(isinstance(end, Int) for end in children(term)):
            hint = "both ends are whole numbers: number(1..9)."
            builder.say("H607", "this range has no end", term.span or part.span, hint)
            return False
    return True


def _is_counted_set(part: ClausePart) -> bool:
    return part.kind == "comparison" and any(side.kind == "set" for side in part.parts)


def _choice(builder: Builder, part: ClausePart) -> lars.Choice | None:
    bounds: tuple[Term | None, Term | None] = (None, None)
    chosen = part
    if part.kind == "bounded":
        has_least, has_most = part.value
        chosen = part.parts[1] if has_least else part.parts[0]
        least = builder.term(part.parts[0]) if has_least else None
        most = builder.term(part.parts[-1]) if has_most else None
        bounds = (least, most)
    elif part.kind == "comparison":
        found = _compared(builder, part)
        if found is None:
            return None
        chosen, bounds = found
    options = [_option(builder, element) for element in chosen.parts]
    kept = tuple(option for option in options if option is not None)
    if not options:
        builder.say("H608", "there is nothing to choose from", part.span, "write { a ; b }")
    if not options or len(kept) < len(options):
        return None
    return lars.Choice(kept, *bounds, span=part.span)


def _compared(
    builder: Builder, part: ClausePart
) -> tuple[ClausePart, tuple[Term | None, Term | None]] | None:
    """`{ a ; b } = 1` and its kin as bounds."""
    left, right = part.parts
    sign = part.value
    if right.kind == "set":
        left, right = right, left
        sign = {"<=": ">=", ">=": "<="}.get(sign, sign)
    bound = builder.term(right)
    if bound is None:
        return None
    match sign:
        case "=":
            return left, (bound, bound)
        case "<=":
            return left, (None, bound)
        case ">=":
            return left, (bound, None)
    hint = "write `1 { a ; b } 2`, `{ a ; b } = 1`, `<=` or `>=`"
    builder.say("H608", f"a choice is not bounded with `{sign}`", part.span, hint)
    return None


def _option(builder: Builder, element: ClausePart) -> lars.ChoiceOption | None:
    if len(element.parts[0].parts) != 1:
        hint = "separate options with `;`: { a ; b }"
        builder.say("H608", "several atoms in one option", element.parts[0].span, hint)
        return None
    chosen = builder.formula(element.parts[0].parts[0])
    condition = builder.formulas(element.parts[1].parts) if len(element.parts) > 1 else ()
    if chosen is None or condition is None:
        return None
    is_at = isinstance(chosen, lars.At) and isinstance(chosen.formula, lars.Atom)
    if not isinstance(chosen, lars.Atom | lars.At) or not (isinstance(chosen, lars.Atom) or is_at):
        hint = "write { a ; @T b }"
        builder.say("H608", "options are atoms, or atoms at a time", element.span, hint)
        return None
    return lars.ChoiceOption(chosen, condition, element.span)
