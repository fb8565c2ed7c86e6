"""Parts of a clause to terms and formulas, with a message for what is neither."""

from __future__ import annotations

from typing import cast

from horai.lang.lars.grammar import Part
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Comparison,
    Element,
    Formula,
    Function,
    Implies,
    Not,
    Or,
    Reset,
    Sign,
    Some,
    Truth,
    Within,
)
from horai.lang.lars.windowtext import read_window
from horai.lang.report import Report
from horai.lang.source import Source
from horai.lang.terms import Atom as Constant
from horai.lang.terms import Compound, Float, Int, Span, Str, Term, Var

_MIRRORED: dict[Sign, Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
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

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report

    def say(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Note a finding."""
        self.report.add(code, message, self.source, span, hint)

    # --- terms ---

    def term(self, part: Part) -> Term | None:
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

    def terms(self, parts: tuple[Part, ...]) -> tuple[Term, ...] | None:
        """The terms of several parts, None if one is none."""
        found = [self.term(part) for part in parts]
        kept = tuple(term for term in found if term is not None)
        return kept if len(kept) == len(found) else None

    # --- formulas ---

    def formulas(self, parts: tuple[Part, ...]) -> tuple[Formula, ...] | None:
        """The formulas of several parts, None if one is none."""
        found = [self.formula(part) for part in parts]
        kept = tuple(formula for formula in found if formula is not None)
        return kept if len(kept) == len(found) else None

    def formula(self, part: Part) -> Formula | None:
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

    def atom(self, part: Part) -> Formula | None:
        """An atom, or one of the words `true` and `false`."""
        if part.kind == "name" and part.value in ("true", "false"):
            return Truth(part.value == "true", part.span)
        args = self.terms(part.parts)
        return None if args is None else Atom(part.value, args, part.span)

    def connective(self, part: Part) -> Formula | None:
        """`not`, `reset`, and what joins several formulas."""
        inner = self.formulas(part.parts)
        if inner is None:
            return None
        match part.kind:
            case "and":
                return And(inner, part.span)
            case "or":
                return Or(inner, part.span)
            case "implies":
                return Implies(inner[0], inner[1], part.span)
            case "not":
                return Not(inner[0], part.span)
            case _:
                return Reset(inner[0], part.span)

    def modal(self, part: Part) -> Formula | None:
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

    def modality(self, part: Part, formula: Formula | None) -> Formula | None:
        """The modality of a part over a formula."""
        if formula is None:
            return None
        if part.kind == "at":
            time = self.term(part.parts[0])
            return None if time is None else At(time, formula, part.span)
        return (Some if part.kind == "some" else Always)(formula, part.span)

    def written_after(self, part: Part) -> Formula | None:
        """`a [3 s]`, `a always in [3 s]`, `a at T [3 s]`, `a not in [3 s]`."""
        inner = self.formula(part.parts[0])
        if inner is None:
            return None
        if part.kind == "after_at":
            time = self.term(part.parts[1])
            if time is None:
                return None
            formula: Formula = At(time, inner, part.span)
            windows = part.parts[2].parts if len(part.parts) > 2 else ()
            return self.in_windows(windows, formula, part.span)
        formula = (Always if part.value == "always" else Some)(inner, part.span)
        found = self.in_windows(part.parts[1].parts, formula, part.span)
        return _negated(found) if part.value == "not" else found

    def in_windows(
        self, windows: tuple[Part, ...], formula: Formula | None, span: Span
    ) -> Formula | None:
        """The formula in windows, the first one outermost."""
        found = [read_window(window, self.term, self.say) for window in windows]
        for window in reversed(found):
            if window is None or formula is None:
                return None
            formula = Within(window, formula, span)
        return formula

    # --- comparisons and aggregates ---

    def comparison(self, part: Part) -> Formula | None:
        """`X < Y`, or an aggregate on one of the sides."""
        left, right = part.parts
        sign = cast(Sign, part.value)
        if left.kind == "aggregate":
            return self.aggregate(left, sign, right, part.span)
        if right.kind == "aggregate":
            return self.aggregate(right, _MIRRORED.get(sign, sign), left, part.span)
        terms = self.terms(part.parts)
        return None if terms is None else Comparison(sign, terms[0], terms[1], part.span)

    def aggregate(self, part: Part, sign: Sign, bound: Part, span: Span) -> Formula | None:
        """`count { X : p(X) } > N`."""
        limit = self.term(bound)
        elements = [self.element(element) for element in part.parts[0].parts]
        kept = tuple(element for element in elements if element is not None)
        if limit is None or len(kept) < len(elements):
            return None
        return Aggregate(cast(Function, part.value), kept, sign, limit, span)

    def element(self, part: Part) -> Element | None:
        """`X, Y : f, g`."""
        terms = self.terms(part.parts[0].parts)
        condition = self.formulas(part.parts[1].parts) if len(part.parts) > 1 else ()
        if terms is None or condition is None:
            return None
        return Element(terms, condition, part.span)


def _negated(formula: Formula | None) -> Formula | None:
    return None if formula is None else Not(formula, formula.span)
