"""LARS programs back to text that reads as the same program.

Windows stand before what they apply to: `[3 s] some a` is what `a [3 s]` abbreviates, and the short
form is used wherever it means the same.
"""

from __future__ import annotations

from horai.lang.core.printer import is_plain_word, quote, show_simple
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
)
from horai.lang.lars import syntax as lars

_RESERVED = frozenset(
    {"not", "some", "always", "reset", "at", "in", "mod", "true", "false", "count", "sum", "min"}
    | {"max", "hop", "tumbling", "per", "only", "from", "to", "inf"}
)
# How tightly the signs of expressions bind.
_BINDING = {"..": 1, "+": 2, "-": 2, "*": 3, "/": 3, "%": 3, "^": 4}


def show_program(program: lars.Program) -> str:
    """All rules as one text."""
    return "".join(f"{show_rule(rule)}\n" for rule in program.rules)


def show_rule(rule: lars.Rule) -> str:
    """A rule with its full stop.

    >>> recent = lars.Within(lars.TupleWindow(2), lars.Some(lars.Atom("b")))
    >>> show_rule(lars.Rule(lars.Atom("h"), (recent,)))
    'h :- b [2 #].'
    """
    body = ", ".join(show(condition) for condition in rule.body)
    if rule.head is None:
        return f":- {body}."
    head = show_head(rule.head)
    return f"{head} :- {body}." if body else f"{head}."


def show_head(head: lars.Head) -> str:
    """The text of a head."""
    if isinstance(head, lars.Choice):
        least = "" if head.least is None else f"{show_term(head.least)} "
        most = "" if head.most is None else f" {show_term(head.most)}"
        return f"{least}{{ {' ; '.join(map(_option, head.options))} }}{most}"
    if isinstance(head, lars.Or):
        return " ; ".join(show(part) for part in head.parts)
    return show(head)


def show(formula: lars.Formula) -> str:
    """The text of a formula as it stands among other conditions.

    >>> from horai.lang.lars.clock import Duration
    >>> show(lars.Within(lars.TimeWindow(Duration(3, "s")), lars.Always(lars.Atom("b"))))
    'always b [3 s]'
    """
    match formula:
        case lars.Atom(name=name, args=args):
            return _applied(name, args)
        case lars.Truth(value=value):
            return "true" if value else "false"
        case lars.Comparison(sign=sign, left=left, right=right):
            return f"{show_term(left)} {sign} {show_term(right)}"
        case lars.Aggregate(function=function, elements=elements, sign=sign, bound=bound):
            inner = " ; ".join(map(_element, elements))
            return f"{function} {{ {inner} }} {sign} {show_term(bound)}"
        case lars.And(parts=parts):
            return f"({', '.join(map(show, parts))})"
        case lars.Or(parts=parts):
            return f"({' ; '.join(map(show, parts))})"
        case lars.Implies(left=left_side, right=right_side):
            return f"({_guarded(left_side)} -> {_guarded(right_side)})"
        case lars.Within():
            return _within(formula)
        case lars.Not(formula=inner_formula):
            return f"not {show(inner_formula)}"
        case lars.Reset(formula=inner_formula):
            return f"reset {show(inner_formula)}"
        case _:
            return f"{_modality(formula)} {_operand(formula.formula)}"


def _within(formula: lars.Within) -> str:
    inner, window = formula.formula, show_window(formula.window)
    if isinstance(inner, lars.Some | lars.Always | lars.At) and isinstance(
        inner.formula, lars.Atom
    ):
        atom = show(inner.formula)
        before = "" if isinstance(inner, lars.Some) else f"{_modality(inner)} "
        return f"{before}{atom} {window}"
    return f"{window} {_after(inner)}"


def _modality(formula: lars.Some | lars.Always | lars.At) -> str:
    if isinstance(formula, lars.At):
        time = show_term(formula.time)
        return f"@{time}" if isinstance(formula.time, Var | Int) else f"@({time})"
    return "some" if isinstance(formula, lars.Some) else "always"


def _operand(formula: lars.Formula) -> str:
    """The operand of a modality: a window behind it would go outside."""
    return f"({show(formula)})" if isinstance(formula, lars.Within) else _after(formula)


def _after(formula: lars.Formula) -> str:
    """The operand of a time or a window: a sign would seem to belong to that."""
    is_compared = isinstance(formula, lars.Comparison | lars.Aggregate)
    return f"({show(formula)})" if is_compared else show(formula)


def _guarded(formula: lars.Formula) -> str:
    return f"({show(formula)})" if isinstance(formula, lars.Implies) else show(formula)


def _element(element: lars.Element) -> str:
    return _conditioned(", ".join(map(show_term, element.terms)), element.condition)


def _option(option: lars.ChoiceOption) -> str:
    return _conditioned(show(option.head), option.condition)


def _conditioned(text: str, condition: tuple[lars.Formula, ...]) -> str:
    return f"{text} : {', '.join(map(show, condition))}" if condition else text


def show_window(window: lars.Window) -> str:
    """The text of a window, brackets included."""
    return f"[{window.written(show_term)}]"


def show_term(term: Term, binding: int = 0) -> str:
    """The text of a term, in brackets when it binds weaker than what is around it."""
    match term:
        case Var() | Int() | Float() | Str():
            return show_simple(term)
        case Constant(name=name):
            return _name(name)
        case Compound(name=sign, args=(left, right)) if sign in _BINDING:
            own = _BINDING[sign]
            first = show_term(left, own + (sign == "^"))
            second = show_term(right, own + (sign != "^"))
            # `%` would start a comment before some operands; its other spelling never does.
            between = {"..": "..", "%": " mod "}.get(sign, f" {sign} ")
            text = f"{first}{between}{second}"
            return f"({text})" if own < binding else text
        case Compound(name="-" | "+", args=(operand,)):
            return f"({term.name}{show_term(operand, 5)})"
        case Compound(name=name, args=args):
            return _applied(name, args)
        case ListTerm():
            raise AssertionError("LARS has no lists")


def _applied(name: str, args: tuple[Term, ...]) -> str:
    return f"{_name(name)}({', '.join(map(show_term, args))})" if args else _name(name)


def _name(name: str) -> str:
    return name if is_plain_word(name) and name not in _RESERVED else quote(name)
