"""Terms, atoms, comparisons and aggregates as clingo reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clingo import String

from horai.asp.numbers import COMPARISONS, FUNCTIONS
from horai.asp.plain import Measure, PlainRule, Refused
from horai.asp.symbols import Names, is_name, to_symbol
from horai.lang.lars.predicates import ARITHMETIC, is_computed
from horai.lang.lars.syntax import Atom, Comparison, Sign
from horai.lang.terms import Compound, Int, ListTerm, Term, Var, is_anonymous, is_ground

_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9_']*")
_MIRRORED: dict[Sign, Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NATIVE = frozenset("+-")


class Writer:
    """Writes parts of rules.

    With `is_numeric` all constants are numbers that clingo can compare by itself, and with
    `is_native` also add up, which is faster; otherwise it asks for every operation. With
    `has_decimals` there are numbers that it does not know as such.
    """

    def __init__(
        self, names: Names, *, is_numeric: bool, is_native: bool, has_decimals: bool
    ) -> None:
        self.names = names
        self.is_numeric = is_numeric
        self.is_native = is_native
        self.has_decimals = has_decimals
        self.counts = False
        """Whether every operation is counted: those of recursive rules might never end."""

    # --- terms and atoms ---

    def term(self, term: Term) -> str:
        """A term; expressions are computed."""
        match term:
            case Var(name=name):
                return _variable(term, name)
            case Compound(name=sign, args=args) if sign in ARITHMETIC:
                return self.expression(sign, args)
            case Compound(name=name, args=args) if not is_ground(term) or is_computed(term):
                inner = ",".join(self.term(arg) for arg in args)
                text = f"{name}({inner})" if is_name(name) else f"_applied({_text(name)},{inner})"
                return f"@counted({text})" if self.counts else text
            case ListTerm():
                raise AssertionError("LARS has no lists")
            case _:
                return str(to_symbol(term))

    def expression(self, sign: str, args: Sequence[Term]) -> str:
        """An arithmetic expression."""
        inner = [self.term(arg) for arg in args]
        if self.is_native and not self.counts and sign in _NATIVE:
            return f"({inner[0]}{sign}{inner[1]})" if len(inner) == 2 else f"({sign}{inner[0]})"
        text = f"@{FUNCTIONS[sign]}({','.join(inner)})"
        return f"@counted({text})" if self.counts else text

    def atom(self, atom: Atom) -> str:
        """An atom at the current time."""
        return self.applied(self.names.now(atom.name), atom.args)

    def pinned(self, atom: Atom, time: Term) -> str:
        """An atom at a time."""
        return self.applied(self.names.at(atom.name), (*atom.args, time))

    def helper(self, name: str, atom: Atom, time: Term | None) -> str:
        """The predicate of a window, with the arguments of an atom."""
        return self.applied(name, atom.args if time is None else (*atom.args, time))

    def applied(self, name: str, args: Sequence[Term]) -> str:
        """A name with arguments."""
        return f"{name}({','.join(map(self.term, args))})" if args else name

    # --- comparisons and aggregates ---

    def comparison(self, formula: Comparison) -> str:
        """A comparison."""
        left, right = self.term(formula.left), self.term(formula.right)
        if formula.sign in COMPARISONS and not self.is_numeric:
            return f"@{COMPARISONS[formula.sign]}({left},{right}) = 1"
        return f"{left} {formula.sign} {right}"

    def measure(
        self,
        measure: Measure,
        rows: Sequence[tuple[tuple[Term, ...], list[str]]],
        negated: bool,
        rule: PlainRule,
        total: str,
    ) -> str:
        """An aggregate, given its rows with their conditions as text, and a term that names it."""
        function = measure.function
        bound = self.term(measure.bound)
        sign = _MIRRORED.get(measure.sign, measure.sign)
        guard = ""
        if sign in COMPARISONS and not self.is_numeric and not isinstance(measure.bound, Int):
            # For clingo names are larger than all numbers; here they are not compared.
            if self.has_decimals:
                reason = f"{function} compared with what may be a decimal or a very large number"
                raise Refused(reason, rule.origin)
            if negated:
                raise Refused(f"`not` before {function} with what may be no number", rule.origin)
            guard = f", @is_number({bound}) = 1"
        if function == "count":
            text = f"{bound} {sign} #count {{ {self.rows(rows)} }}{guard}"
            return f"not {text}" if negated else text
        if self.has_decimals:
            raise Refused(f"{function} where there are decimals or very large numbers", rule.origin)
        if function == "sum":
            rows = [
                (terms, [*condition, f"@weigh({total},{self.term(terms[0])}) = 1"])
                if terms
                else (terms, condition)
                for terms, condition in rows
            ]
        # Nothing has no least and no largest one, where clingo would say it is #sup or #inf.
        limit = {"min": " < #sup", "max": " > #inf"}.get(function, "")
        text = f"{bound} {sign} #{function} {{ {self.rows(rows)} }}{limit}"
        if self.is_numeric:
            return f"not {text}" if negated else text
        if negated:
            raise Refused(f"`not` before {function} of what may be no numbers", rule.origin)
        others = [
            (terms, [*condition, f"@is_number({self.term(terms[0])}) = 0"])
            for terms, condition in rows
        ]
        return f"{text}, 0 = #count {{ {self.rows(others)} }}{guard}"

    def rows(self, rows: Sequence[tuple[tuple[Term, ...], list[str]]]) -> str:
        """The elements of an aggregate."""
        return " ; ".join(
            f"{','.join(map(self.term, terms))} : {', '.join(condition)}"
            for terms, condition in rows
        )


def _variable(term: Var, name: str) -> str:
    if is_anonymous(term):
        return "_"
    if _VARIABLE.fullmatch(name):
        return name
    # Letters that clingo does not read become numbers, between primes that no other name has.
    return "V'" + "".join(c if c.isascii() and c.isalnum() else f"'{ord(c)}'" for c in name)


def _text(name: str) -> str:
    return str(String(name))
