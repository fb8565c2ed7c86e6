"""Reading LARS programs: text in; rules and all that is wrong out.

Every clause is read on its own, so that a bad one spoils no other and all mistakes show up at once.
The grammar makes a tree of parts of its tokens; the builder finds out what they mean.
Rules that read well and yet mean nothing are refused too: `always` without an end, patterns with
variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, cast

from lark import Lark, Token, Tree

from horai.lang.core.diagnostics import Diagnostic, Report, did_you_mean, sort_key
from horai.lang.core.grammar import (
    Scanner,
    atom_text,
    fed,
    functor_or_name,
    integer_value,
    token_pattern,
    token_span,
)
from horai.lang.core.mistakes import ENDS, Instead, Trouble
from horai.lang.core.printer import unquote
from horai.lang.core.reader import ClauseReader, clean, read_file
from horai.lang.core.source import SourceText
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    Span,
    Str,
    Term,
    Var,
    args_of,
    deeper,
    is_anonymous,
    subterms,
)
from horai.lang.ec.builtins import RESERVED_HEADS
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import MILLISECONDS, UNITS, Duration, unit_named
from horai.lang.lars.predicates import with_relations
from horai.lang.lars.walk import atoms, children, own_terms, subformulas

Part = Tree[Token]
"""A piece of a clause: `data` is its kind, children are pieces and tokens."""


def inner(part: Part) -> list[Part]:
    """The pieces that a piece is made of, signs and words between them left out."""
    return [child for child in part.children if isinstance(child, Tree)]


def word(part: Part) -> Token:
    """The first token of a piece: a name, a number, the sign between two others."""
    return next(child for child in part.children if isinstance(child, Token))


def name_of(part: Part) -> str:
    """What an atom or term is called."""
    return atom_text(word(part))


def place_of(part: Part | Token) -> Span:
    """Where a piece or a token stands: no sign or word of it was left out."""
    first = last = part
    while isinstance(first, Tree):
        first = first.children[0]
    while isinstance(last, Tree):
        last = last.children[-1]
    return (token_span(first)[0], token_span(last)[1])


@cache
def _parser() -> Lark:
    text = files("horai.lang.lars").joinpath("lars.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", lexer="basic", maybe_placeholders=False)


def head_and_body(clause: Part) -> tuple[Part | None, list[Part]]:
    """Head and conditions of a clause; a constraint has no head."""
    pieces = inner(clause)
    body = [] if clause.data == "fact" else inner(pieces[-1])
    return (None if clause.data == "constraint" else pieces[0]), body


_Size = tuple[int | None, str | None] | None
_WINDOW_WORDS = ("hop", "tumbling", "per", "only", "from", "to", "inf")
_FORMS = "write [3 s], [3 #], [3 s hop 1 s], [+3 s], [1 # per p(X)], [only p] or [from 3 to 9]"


class _Wrong(Exception):
    """The window cannot be read; code, message, place and remedy."""

    def __init__(self, code: str, message: str, span: Span, hint: str | None) -> None:
        super().__init__(message)
        self.finding = (code, message, span, hint)


class _WindowReader:
    """Reads what stands between the brackets of a window."""

    def __init__(self, window: Part, term: Callable[[Part], Term]) -> None:
        self.place = place_of(window)
        self.parts = window.children[1:-1]  # without the brackets
        self.term = term
        self.at = 0

    def read(self) -> lars.Window:
        """The window; raises `_Wrong` if it is none."""
        window = self.window()
        part = self.peek()
        if part is not None:
            raise _Wrong("H603", "this is not expected in a window", place_of(part), _FORMS)
        return window

    def window(self) -> lars.Window:
        if self.takes("only"):
            return lars.FilterWindow(self.patterns(), span=self.place)
        if self.takes("from"):
            first = self.time()
            if not self.takes("to"):
                raise self.wrong("`to` is missing in this window", "write [from 3 to 9]")
            return lars.IntervalWindow(first, self.time(), span=self.place)
        for name in lars.NAMED:
            if self.takes(name):
                return self.named(name)
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
        part = self.peek()
        if not isinstance(part, Tree) or part.data != "name" or name_of(part) in _WINDOW_WORDS:
            return amount, None
        name = name_of(part)
        unit = unit_named(name)
        if unit is None:
            near = did_you_mean(name, UNITS)
            hint = f"did you mean `{near}`?" if near else f"units are {', '.join(MILLISECONDS)}"
            if name in ("tuple", "tuples", "signals"):
                hint = "a number of signals is written `#`: [3 #]"
            raise _Wrong("H602", f"`{name}` is no unit of time", place_of(part), hint)
        self.at += 1
        return amount, unit

    def amount(self) -> int | None:
        part = self.peek()
        if part is None:
            raise self.wrong("a size is missing in this window", _FORMS)
        self.at += 1
        kind = part.data if isinstance(part, Tree) else "sign"
        if isinstance(part, Tree) and kind == "integer" and integer_value(word(part)) >= 0:
            return integer_value(word(part))
        if isinstance(part, Tree) and kind == "name" and name_of(part) == "inf":
            return None
        hint = _FORMS
        if kind == "decimal":
            hint = "use a smaller unit: [500 ms] instead of [0.5 s]"
        elif kind == "variable":
            hint = "sizes of windows are numbers; they cannot depend on the data"
        raise _Wrong("H603", "the size of a window is a whole number", place_of(part), hint)

    def named(self, name: str) -> lars.NamedWindow:
        amount, unit = self.size()
        if not amount or unit == "#":
            hint = f"write [{name} 1 d]"
            raise self.wrong(f"`{name}` needs a length of time above 0", hint, "H604")
        return lars.NamedWindow(name, Duration(amount, unit), span=self.place)

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
        return lars.TimeWindow(before, after, hop, span=self.place)

    def tuples(self, past: _Size, future: _Size) -> lars.TupleWindow | lars.PartitionWindow:
        before = 0 if past is None else past[0]
        after = 0 if future is None else future[0]
        if before == 0 and after == 0:
            raise self.wrong("a tuple window has at least one signal", "write [1 #]", "H604")
        if self.takes("per"):
            return lars.PartitionWindow(before, after, self.patterns(), span=self.place)
        return lars.TupleWindow(before, after, span=self.place)

    def patterns(self) -> tuple[lars.Pattern, ...]:
        found = [self.pattern()]
        while self.takes(","):
            found.append(self.pattern())
        return tuple(found)

    def pattern(self) -> lars.Pattern:
        part = self.peek()
        if isinstance(part, Tree) and part.data in ("name", "call"):
            self.at += 1
            args = None if part.data == "name" else tuple(map(self.term, inner(part)))
            return lars.Pattern(name_of(part), args, span=place_of(part))
        span = self.place if part is None else place_of(part)
        raise _Wrong("H603", "a pattern of atoms is expected", span, "write tram or tram(Id, _)")

    def time(self) -> Term:
        part = self.peek()
        if not isinstance(part, Tree) or part.data not in ("integer", "variable"):
            raise self.wrong("a time is missing in this window", "write [from 3 to 9]")
        self.at += 1
        return self.term(part)

    def peek(self) -> Part | Token | None:
        return self.parts[self.at] if self.at < len(self.parts) else None

    def sees(self, word: str) -> bool:
        part = self.peek()
        if isinstance(part, Tree):
            return part.data == "name" and name_of(part) == word
        return part == word

    def takes(self, word: str) -> bool:
        found = self.sees(word)
        self.at += found
        return found

    def wrong(self, message: str, hint: str, code: str = "H603") -> _Wrong:
        return _Wrong(code, message, self.place, hint)


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
    """Reads the parts of one head or body.

    What is wrong goes to the report and makes it `broken`; something stands in its place, so that
    all mistakes are told.
    """

    def __init__(self, source: SourceText, report: Report) -> None:
        self.source = source
        self.report = report
        self.broken = False

    def say(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Note a finding."""
        self.broken = True
        self.report.add(code, message, self.source, span, hint)

    # --- terms ---

    def term(self, part: Part) -> Term:
        """The term that a part says."""
        span = place_of(part)
        match part.data:
            case "name":
                return Constant(name_of(part), span)
            case "variable":
                return Var(str(word(part)), span)
            case "integer":
                return Int(integer_value(word(part)), span)
            case "decimal":
                return Float(float(word(part)), span)
            case "string":
                return Str(unquote(word(part)), span)
            case "bracketed":
                return self.term(inner(part)[0])
            case "call" | "infix" | "prefix":
                return Compound(name_of(part), self.terms(inner(part)), span)
        hint = "arguments are constants, variables, numbers and expressions"
        self.say("H601", "a term is expected here, not a formula", span, hint)
        return Constant("?", span)

    def terms(self, parts: list[Part]) -> tuple[Term, ...]:
        """The terms of several parts."""
        return tuple(map(self.term, parts))

    # --- formulas ---

    def formulas(self, parts: list[Part]) -> tuple[lars.Formula, ...]:
        """The formulas of several parts."""
        return tuple(map(self.formula, parts))

    def formula(self, part: Part) -> lars.Formula:
        """The formula that a part says."""
        span = place_of(part)
        match part.data:
            case "name" if name_of(part) in ("true", "false"):
                return lars.Truth(name_of(part) == "true", span=span)
            case "name" | "call":
                return lars.Atom(name_of(part), self.terms(inner(part)), span=span)
            case "bracketed":
                return self.formula(inner(part)[0])
            case "and":
                return lars.And(self.formulas(inner(part)), span=span)
            case "or":
                return lars.Or(self.formulas(inner(part)), span=span)
            case "implies":
                return lars.Implies(*self.formulas(inner(part)), span=span)
            case "not":
                return lars.Not(*self.formulas(inner(part)), span=span)
            case "reset":
                return lars.Reset(*self.formulas(inner(part)), span=span)
            case "some" | "always" | "at":
                return self.modal(part)
            case "within":
                window, formula = inner(part)
                return self.in_windows([window], self.formula(formula), span)
            case "after_some" | "after_always" | "after_not" | "after_at":
                return self.written_after(part)
            case "comparison":
                return self.comparison(part)
        what = _WORDS.get(part.data, "this")
        self.say("H600", f"a condition is expected here, not {what}", span, _CONDITION)
        return lars.Atom("?", span=span)

    def modal(self, part: Part) -> lars.Formula:
        """`some`, `always` and `@T`. In `always a [3 s]` the window is outside of the modality."""
        span, operand = place_of(part), inner(part)[-1]
        if not operand.data.startswith("after_"):
            return self.modality(part, self.formula(operand))
        if operand.data in ("after_at", "after_always"):
            hint = "say `always`, `some` or a time once, before the atom or after it"
            self.say("H605", "two modalities for one window", span, hint)
            return lars.Atom("?", span=span)
        atom, windows = inner(operand)
        outside = self.in_windows(inner(windows), self.modality(part, self.formula(atom)), span)
        return lars.Not(outside, span=span) if operand.data == "after_not" else outside

    def modality(self, part: Part, formula: lars.Formula) -> lars.Formula:
        """The modality of a part over a formula."""
        span = place_of(part)
        if part.data == "at":
            return lars.At(self.term(inner(part)[0]), formula, span=span)
        return (lars.Some if part.data == "some" else lars.Always)(formula, span=span)

    def written_after(self, part: Part) -> lars.Formula:
        """`a [3 s]`, `a always in [3 s]`, `a at T [3 s]`, `a not in [3 s]`."""
        span, (atom, *rest) = place_of(part), inner(part)
        formula = self.formula(atom)
        if part.data == "after_at":
            formula = lars.At(self.term(rest.pop(0)), formula, span=span)
        else:
            modality = lars.Always if part.data == "after_always" else lars.Some
            formula = modality(formula, span=span)
        found = self.in_windows(inner(rest[0]) if rest else [], formula, span)
        return lars.Not(found, span=span) if part.data == "after_not" else found

    def in_windows(self, windows: list[Part], formula: lars.Formula, span: Span) -> lars.Formula:
        """The formula in windows, the first one outermost."""
        for part in reversed(windows):
            window: lars.Window = lars.TimeWindow(lars.NONE)
            try:
                window = _WindowReader(part, self.term).read()
            except _Wrong as wrong:
                self.say(*wrong.finding)
            formula = lars.Within(window, formula, span=span)
        return formula

    # --- comparisons and aggregates ---

    def comparison(self, part: Part) -> lars.Formula:
        """`X < Y`, or an aggregate on one of the sides."""
        left, right = inner(part)
        sign, span = cast(lars.Sign, str(word(part))), place_of(part)
        if left.data == "aggregate":
            return self.aggregate(left, sign, right, span)
        if right.data == "aggregate":
            return self.aggregate(right, _MIRRORED.get(sign, sign), left, span)
        return lars.Comparison(sign, self.term(left), self.term(right), span=span)

    def aggregate(self, part: Part, sign: lars.Sign, bound: Part, span: Span) -> lars.Formula:
        """`count { X : p(X) } > N`."""
        limit = self.term(bound)
        elements = tuple(map(self.element, inner(inner(part)[0])))
        function = cast(lars.Function, word(part).lstrip("#"))
        return lars.Aggregate(function, elements, sign, limit, span=span)

    def element(self, part: Part) -> lars.Element:
        """`X, Y : f, g`."""
        written, *conditions = inner(part)
        terms = self.terms(inner(written))
        condition = self.formulas(inner(conditions[0])) if conditions else ()
        return lars.Element(terms, condition, span=place_of(part))


_SIMPLE = "the head is an atom, an atom at a time, or a formula made of them"


def read_head(builder: Builder, part: Part, is_fact: bool) -> lars.Head:
    """The head that a part says; says what is wrong with it."""
    span = place_of(part)
    if part.data == "set" or part.data.startswith("bounded") or _is_counted_set(part):
        return _choice(builder, part)
    if part.data in ("integer", "decimal", "string", "variable", "infix", "prefix"):
        builder.say("H606", "this cannot be the head of a rule", span, _SIMPLE)
        return lars.Atom("?", span=span)
    head = builder.formula(part)
    if builder.broken:
        return head
    for formula in subformulas(head):
        if isinstance(formula, lars.Comparison | lars.Aggregate):
            hint = "move the comparison to the body"
            builder.say("H606", "a head has no comparison", formula.span or span, hint)
            return head
    if isinstance(head, lars.Truth):
        builder.say("H606", "`true` and `false` are no heads", span, "write `:- body.`")
    _check_ranges_of(builder, head, span, is_fact)
    return head


def is_event_calculus(part: Part) -> bool:
    """True for `initiatedAt(rich(X)=true, T)` and its kin."""
    return (
        part.data == "call"
        and name_of(part) in RESERVED_HEADS
        and any(arg.data == "comparison" for arg in inner(part))
    )


def _check_ranges_of(builder: Builder, head: lars.Head, span: Span, is_fact: bool) -> None:
    """Ranges abbreviate facts; elsewhere they would be terms that equal nothing."""
    written = [arg for atom in atoms(head) for arg in atom.args if lars.is_range(arg)]
    if written and not (is_fact and isinstance(head, lars.Atom)):
        hint = "write a fact of its own: number(1..9)."
        builder.say("H607", "a range stands only in a fact", span, hint)
        return
    for term in written:
        if not all(isinstance(end, Int) for end in args_of(term)):
            hint = "both ends are whole numbers: number(1..9)."
            builder.say("H607", "this range has no end", term.span or span, hint)
            return


def _is_counted_set(part: Part) -> bool:
    return part.data == "comparison" and any(side.data == "set" for side in inner(part))


def _choice(builder: Builder, part: Part) -> lars.Choice:
    bounds: tuple[Term | None, Term | None] = (None, None)
    chosen, pieces = part, inner(part)
    if part.data.startswith("bounded"):
        (chosen,) = (piece for piece in pieces if piece.data == "set")
        least = None if pieces[0] is chosen else builder.term(pieces[0])
        most = None if pieces[-1] is chosen else builder.term(pieces[-1])
        bounds = (least, most)
    elif part.data == "comparison":
        chosen, bounds = _compared(builder, part)
    options = tuple(_option(builder, element) for element in inner(chosen))
    if not options:
        message = "there is nothing to choose from"
        builder.say("H608", message, place_of(part), "write { a ; b }")
    return lars.Choice(options, *bounds, span=place_of(part))


def _compared(builder: Builder, part: Part) -> tuple[Part, tuple[Term | None, Term | None]]:
    """`{ a ; b } = 1` and its kin as bounds."""
    left, right = inner(part)
    sign = str(word(part))
    if right.data == "set":
        left, right = right, left
        sign = {"<=": ">=", ">=": "<="}.get(sign, sign)
    bound = builder.term(right)
    if sign not in ("=", "<=", ">="):
        hint = "write `1 { a ; b } 2`, `{ a ; b } = 1`, `<=` or `>=`"
        builder.say("H608", f"a choice is not bounded with `{sign}`", place_of(part), hint)
    return left, (bound if sign != "<=" else None, bound if sign != ">=" else None)


def _option(builder: Builder, element: Part) -> lars.ChoiceOption:
    written, *conditions = inner(element)
    span = place_of(element)
    chosen: lars.Formula = lars.Atom("?", span=span)
    if len(inner(written)) != 1:
        hint = "separate options with `;`: { a ; b }"
        builder.say("H608", "several atoms in one option", place_of(written), hint)
    else:
        chosen = builder.formula(inner(written)[0])
    condition = builder.formulas(inner(conditions[0])) if conditions else ()
    atom = chosen.formula if isinstance(chosen, lars.At) else chosen
    if not isinstance(chosen, lars.Atom | lars.At) or not isinstance(atom, lars.Atom):
        message = "options are atoms, or atoms at a time"
        builder.say("H608", message, span, "write { a ; @T b }")
        return lars.ChoiceOption(lars.Atom("?"), condition, span=span)
    return lars.ChoiceOption(chosen, condition, span=span)


_NOWHERE = (0, 0)


def check_rule(rule: lars.Rule, builder: Builder) -> None:
    """Say what makes no sense in a rule, whatever the rest of the program is."""
    for part in rule.parts:
        _check_always(part, builder, has_end=False)
        for formula in subformulas(part):
            if isinstance(formula, lars.Within) and isinstance(formula.window, lars.FilterWindow):
                _check_patterns(formula.window, builder)
    _check_ranges(rule.body, builder)


def _check_always(part: lars.Head, builder: Builder, has_end: bool, windows: bool = False) -> None:
    """`always` speaks about all points; time has no last one, so a window must set an end."""
    if isinstance(part, lars.Always) and not has_end:
        hint = "add a window: `always a [5 s]`, or `always a [inf]` for everything so far"
        message = "`always` has no window"
        if windows:
            message = "`always` is about a window without a last point"
            hint = "[only p] and windows up to a signal to come have none; `[5 s]` and `[3 #]` do"
        builder.say("H609", message, part.span or _NOWHERE, hint)
        has_end = True
    if isinstance(part, lars.Reset):
        has_end, windows = False, False
    elif isinstance(part, lars.Within):
        has_end, windows = has_end or part.window.has_end, True
    for formula in children(part):
        _check_always(formula, builder, has_end, windows)


def _check_patterns(window: lars.FilterWindow, builder: Builder) -> None:
    for pattern in window.patterns:
        for term in pattern.args or ():
            for part in subterms(term):
                if isinstance(part, Var) and not is_anonymous(part):
                    span: Span = part.span or window.span or _NOWHERE
                    hint = "write `_` for any value; to compare values, use the condition itself"
                    builder.say("H610", f"the variable {part.name} in a filter", span, hint)


def _check_ranges(body: tuple[lars.Formula, ...], builder: Builder) -> None:
    for condition in body:
        for part in subformulas(condition):
            for term in own_terms(part):
                if any(lars.is_range(inner) for inner in subterms(term)):
                    span = term.span or part.span or _NOWHERE
                    hint = "write a fact of its own, number(1..9)., and ask for number(X)"
                    builder.say("H607", "a range stands only in a fact", span, hint)


_COMMENT = r"/\*.*?\*/|%\*.*?\*%|//[^\n]*+|%[^\n]*+"
_BLANKS = re.compile(r"\s*+")
# After a number, a variable or a bracket, and with one operand and nothing like prose after it.
_REMAINDER = re.compile(
    r"%[ \t]*(?:[A-Z_]\w*|[0-9]+|\([\w \t+*/^-]*\))[ \t]*(?=[-+*/^,.;)\]}=<>!]|\n|\Z)"
)
_SIGNS = {
    ":-": "NECK",
    ";": "SEMI",
    "|": "SEMI",
    "->": "ARROW",
    ",": "COMMA",
    ":": "COLON",
    "+": "ADD",
    "-": "ADD",
    "*": "MUL",
    "/": "MUL",
    "**": "POW",
    "^": "POW",
}
_BEFORE = {"some": "SOME", "always": "ALWAYS", "reset": "RESET", "not": "NAF"}
_BETWEEN = {"at": "ATW", "in": "IN", "mod": "MUL"}


class LarsScanner(Scanner):
    """Cuts texts of LARS programs into tokens.

    >>> [t.type for t in LarsScanner().clause("@T h :- b(X) [3 s], X % 2 = 0. % odd", 0)[0]]
    ['AT', 'VAR', 'NAME', 'NECK', 'FUNCTOR', 'LPAR', 'VAR', 'RPAR', 'LSQB', 'INT', 'NAME', 'RSQB',
     'COMMA', 'VAR', 'MUL', 'INT', 'REL', 'INT', 'END']
    """

    layout = re.compile(rf"(?:\s++|{_COMMENT})+", re.DOTALL)
    token = token_pattern(
        special=r"""(?P<AGGREGATE>\#?(?:count|sum|min|max)(?=\s*\{)) | (?P<DOTS>\.\.)
            | (?P<REST>%(?!\*)) | (?P<AT>@) | (?P<HASH>\#)""",
        end=r"\.(?=\s|%|//|/\*|\Z)",
        comment=r"/\*|%\*",
        mistaken=r"=:=|=\\=|\\==|\\=|\\[+]",
        operators=r":-|->|!=|<>|<=|=<|>=|==|[*][*]|[-+*/^<>=;,|:]",
        bad=r"[&~$?\\.≤≥≠∧∨¬←→⇒⇐⊞◇□▷]",
    )
    spelling: ClassVar[Mapping[str, str]] = {
        "=<": "<=",
        "==": "=",
        "<>": "!=",
        "**": "^",
        "|": ";",
        "mod": "%",
    }

    def skip(self, text: str, at: int, previous: str = "") -> int:
        # Mostly `%` starts a comment; where it is a sign, the token is right there.
        if previous in ("VAR", "INT", "FLOAT", "RPAR"):
            found = _BLANKS.match(text, at)
            start = found.end() if found else at
            if _REMAINDER.match(text, start):
                return start
        return super().skip(text, at)

    def word(self, word: str, before: list[Token], text: str, end: int) -> str:
        previous = before[-1].type if before else ""
        if word in _BEFORE:
            return _BEFORE[word]
        if word in _BETWEEN and previous in ENDS:
            return _BETWEEN[word]
        opens = text[self.skip(text, end) :][:1] == "["
        if word == "in" and previous in ("NAF", "ALWAYS") and opens:
            return "IN"
        return functor_or_name(text, end)

    def operator(self, sign: str, previous: str, text: str, end: int) -> tuple[str, int]:
        if sign in "+-" and previous not in ENDS:
            number = self.number_behind(text, end) if sign == "-" else None
            return number or ("SIGN", end)
        return _SIGNS.get(sign, "REL"), end


Result = tuple[lars.Program, list[Diagnostic]]

_UNEQUAL = ("REL", "!=", "write `!=`")
_AND = ("COMMA", ",", "conditions are joined by `,`")
_OR = ("SEMI", ";", "alternatives are joined by `;`")
_NOT = ("NAF", "not", "negation is written `not`")
_INSTEAD: Instead = {
    **dict.fromkeys(("/=", "~=", "=/=", "=!=", "!==", "≠", "\\=", "=\\=", "\\=="), _UNEQUAL),
    **dict.fromkeys(("&&", "&", "/\\", "∧"), _AND),
    **dict.fromkeys(("||", "\\/", "∨"), _OR),
    **dict.fromkeys(("~", "¬", "\\+"), _NOT),
    **dict.fromkeys(("===", "=:=", ":="), ("REL", "=", "write `=`")),
    "≤": ("REL", "<=", "less-or-equal is written `<=`"),
    **dict.fromkeys(("=>", "≥"), ("REL", ">=", "greater-or-equal is written `>=`")),
    "◇": ("SOME", "some", "write `some`, or just the window: `a [3 s]`"),
    "□": ("ALWAYS", "always", "write `always`"),
    "▷": ("RESET", "reset", "write `reset`"),
}


def read_text(text: str, name: str = "<text>", *, relations: bool = True) -> Result:
    """The program a text says, and all that is wrong with it.

    Without `relations`, atoms such as `leq(X, Y)` stay what they are.

    >>> program, findings = read_text("h :- b [2 s].")
    >>> len(program.rules), findings
    (1, [])
    """
    return read_sources([SourceText(name, clean(text))], relations=relations)


def read_files(paths: Iterable[Path | str], unsaved: Mapping[Path, str] | None = None) -> Result:
    """The program of several files together; texts that are `unsaved` stand for their files."""
    read = [read_file(path, unsaved) for path in paths]
    found = [finding for _, findings in read for finding in findings]
    return read_sources([source for source, _ in read], found)


def read_sources(
    sources: Iterable[SourceText], findings: Iterable[Diagnostic] = (), *, relations: bool = True
) -> Result:
    """The program of texts already in memory."""
    kept = tuple(sources)
    report = Report()
    report.extend(findings)
    rules: list[lars.Rule] = []
    for source in kept:
        reader = _Reader(source, report)
        reader.read_all()
        rules.extend(reader.rules)
    rules = with_relations(rules) if relations else rules
    return lars.Program(tuple(rules), kept), sorted(report.findings, key=sort_key)


class _Reader(ClauseReader[Part]):
    instead = _INSTEAD
    scanner = LarsScanner()

    def __init__(self, source: SourceText, report: Report) -> None:
        super().__init__(source, report)
        self.rules: list[lars.Rule] = []

    def parse(self, tokens: list[Token]) -> Part:
        """The clause that tokens spell."""
        result = fed(_parser(), tokens)
        assert isinstance(result, Tree)
        return result

    def accept(self, parsed: Part, trouble: Trouble) -> None:
        span = trouble.whole
        head_part, body_parts = head_and_body(parsed)
        parts = body_parts if head_part is None else [head_part, *body_parts]
        if deeper(parts, inner):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause is nested too deeply", span, hint)
            return
        builder, head_builder = (Builder(self.source, self.report) for _ in range(2))
        if head_part is not None and is_event_calculus(head_part):
            hint = "name the file .ec, and run it as an event description"
            place = place_of(head_part)
            builder.say("H611", "this is a rule of the Event Calculus", place, hint)
            return
        body = builder.formulas(body_parts)
        head = None
        if head_part is not None:
            head = read_head(head_builder, head_part, is_fact=not body_parts)
        if builder.broken or head_builder.broken:
            return
        # Windows behind a condition go around each other, without brackets that would be counted.
        if deeper(body, children):
            hint = "name the parts in rules of their own"
            trouble.say("H017", "this clause has too many windows around each other", span, hint)
            return
        rule = lars.Rule(head, body, self.source, span=span)
        check_rule(rule, builder)
        self.rules.append(rule)
