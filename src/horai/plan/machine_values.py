"""Comparisons, equations and arithmetic as instructions of a machine."""

from __future__ import annotations

from horai.lang.ec import syntax as ec
from horai.lang.printer import show
from horai.lang.terms import Compound, Float, Int, Term, Var
from horai.plan import opcodes as do
from horai.plan.machine_words import Env, NotCompiled, Words

_ARITHMETIC = {
    "+": do.ADD,
    "-": do.SUBTRACT,
    "*": do.MULTIPLY,
    "//": do.DIVIDE,
    "mod": do.MODULO,
    "min": do.SMALLER,
    "max": do.LARGER,
}
_COMPARISONS = {
    "<": (do.LESS, False),
    ">": (do.LESS, True),
    "=<": (do.AT_MOST, False),
    ">=": (do.AT_MOST, True),
    "=:=": (do.EVEN, False),
    "=\\=": (do.UNEVEN, False),
    "==": (do.SAME, False),
    "\\==": (do.DIFFER, False),
    "\\=": (do.DIFFER, False),
}


class Values(Words):
    """Makes the code that works with values."""

    def filter(self, literal: ec.Compare, env: Env, fail: int) -> None:
        """Code that compares two values."""
        if literal.op not in _COMPARISONS:
            raise NotCompiled(f"`{show(literal.term)}` compares terms in their standard order")
        operation, swapped = _COMPARISONS[literal.op]
        value = self.known if operation in (do.SAME, do.DIFFER) else self.number
        left, right = value(literal.left, env), value(literal.right, env)
        self.add(operation, *((right, left) if swapped else (left, right)), fail=fail)

    def unify(self, left: Term, right: Term, env: Env, fail: int) -> None:
        """Code for an equation, one side of which is known."""
        for one, other in ((left, right), (right, left)):
            found = self.find(other, env)
            if found is not None:
                self.match(one, found, env, fail)
                return
        raise NotCompiled(f"`{show(left)} = {show(right)}` leaves a variable open")

    def number(self, term: Term, env: Env) -> int:
        """The register of what an expression comes to."""
        match term:
            case Float():
                raise NotCompiled("it computes with decimals")
            case Int() | Var():
                return self.known(term, env)
            case Compound(name="-", args=(arg,)):
                return self._computed(do.SUBTRACT, Int(0), arg, env)
            case Compound(name=name, args=(left, right)) if name in _ARITHMETIC:
                return self._computed(_ARITHMETIC[name], left, right, env)
        raise NotCompiled(f"`{show(term)}` is computed only at run time")

    def _computed(self, operation: int, left: Term, right: Term, env: Env) -> int:
        first, second = self.number(left, env), self.number(right, env)
        found = self.register()
        self.add(operation, found, first, second)
        return found
